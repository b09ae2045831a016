//! What the makers say of their drives: a table that is compiled in, and how a drive's own name finds its row.
//!
//! The table is `data/datasheets.csv`: facts only, each row with its source. An empty field means that the figure is
//! not known here, never that it is zero; nothing was worked out from another figure, but MiB/s became MB/s.

mod model_name;
mod sheet;
mod table;

#[cfg(test)]
mod tests;

pub use model::finding::Certainty;
use model_name::normalised;
pub use sheet::{Datasheet, Kind, Recording};
use std::sync::LazyLock;

const TABLE_TEXT: &str = include_str!("../../data/datasheets.csv");

static TABLE: LazyLock<Vec<Datasheet>> = LazyLock::new(|| {
    table::parse(TABLE_TEXT).expect("the table that is compiled in parses: a test reads every row")
});

pub fn all() -> &'static [Datasheet] {
    &TABLE
}

/// The row for the model that a drive or the kernel reports; the most specific one if several fit.
///
/// Case, underscores for spaces, runs of spaces, a vendor's name in front (`ATA`, `WDC`, `SEAGATE` …) and the maker's
/// suffix (`-1CH166`) do not matter. A name that was cut short, as SCSI cuts it after 16 characters, is not completed.
pub fn find(model: &str) -> Option<&'static Datasheet> {
    let name = normalised(model);
    let fitting = all().iter().filter(|sheet| sheet.matcher.matches(&name));
    fitting.max_by_key(|sheet| sheet.matcher.specificity())
}
