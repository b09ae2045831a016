//! Lists about virtual drives: which there are, and what is true of one.

use super::tables::Table;
use crate::quantity::capacity;
use crate::style::{Style, paragraph};
use model::units::Bytes;

/// One virtual drive.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualDriveRow {
    /// By which it is opened.
    pub name: String,
    /// What kind of drive it is, in a word or two.
    pub kind: String,
    /// What it says it holds.
    pub capacity: Bytes,
    /// How it is connected; none where nothing lies between.
    pub link: Option<String>,
    /// What it is, in a line.
    pub description: String,
}

/// What is true of a drive for one code.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthRow {
    /// The word of the code.
    pub code: &'static str,
    /// What is true, as text.
    pub answer: String,
    /// What it depends on, if it does: a sentence that begins small and has no full stop.
    pub depends: Option<&'static str>,
}

/// The virtual drives there are.
pub fn virtual_drives_table(rows: &[VirtualDriveRow], style: Style) -> String {
    let cells = rows.iter().map(|row| {
        vec![
            style.name(&row.name),
            style.name(&row.kind),
            capacity(row.capacity),
            row.link.as_deref().map_or("-".into(), |link| style.name(link)),
        ]
    });
    let table = Table::new(["name", "kind", "size", "link"], 3, cells.collect(), style);
    let lines =
        table.lines(|index| paragraph("    ", &style.sentence(&rows[index].description), style.columns()));
    let hint = "Measure one: drivescope check sim:NAME. What it is made of: drivescope sim show NAME. What is true of it: \
                drivescope sim truth NAME.";
    format!("{}\n\n{}\n", lines.join("\n"), paragraph("", hint, style.columns()).join("\n"))
}

/// What is true of a drive.
pub fn truth_table(rows: &[TruthRow], style: Style) -> String {
    if rows.is_empty() {
        return "It has no mechanism, so there is nothing to find, and nothing must be found.\n".into();
    }
    let cells = rows.iter().map(|row| vec![row.code.to_string(), style.sentence(&row.answer)]);
    let table = Table::new(["finding", "truth"], 2, cells.collect(), style);
    let below = |index: usize| {
        rows[index].depends.map_or_else(Vec::new, |why| paragraph("    ", why, style.columns()))
    };
    let hint = "Computed from the profile, never by running the drive. A finding that is not listed cannot be computed. \
                With all digits, zones and regions: drivescope sim truth NAME --json";
    format!("{}\n\n{}\n", table.lines(below).join("\n"), paragraph("", hint, style.columns()).join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_something_depends_on_stays_within_the_page() {
        let row = |code, answer: &str, depends| TruthRow { code, answer: answer.into(), depends };
        let why = "they come after random writes, and go when all of it is overwritten in large pieces";
        let rows = [row("access-time", "100 µs", None), row("write-valleys", "it depends", Some(why))];
        let page = truth_table(&rows, Style { width: 60, colour: false, unicode: true });
        assert!(page.starts_with(
            "finding        truth\naccess-time    100 µs\nwrite-valleys  it depends\n    they come"
        ));
        assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
    }
}
