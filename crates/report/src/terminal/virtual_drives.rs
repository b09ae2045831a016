//! Lists about virtual drives: which there are, and what is true of one.

use super::tables::Table;
use crate::quantity::capacity;
use crate::style::{Style, paragraph};
use model::units::Bytes;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VirtualDriveRow {
    pub name: String,
    pub kind: String,
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    // None where nothing lies between.
    #[serde(rename = "interface")]
    pub link: Option<String>,
    pub description: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TruthRow {
    pub code: &'static str,
    pub answer: String,
    /// What it depends on, if it does: a sentence that begins small and has no full stop.
    pub depends: Option<&'static str>,
}

pub fn virtual_drives_table(rows: &[VirtualDriveRow], style: Style) -> String {
    let mut table = Table::new(&["name", "kind", "size", "link"], 3, style);
    for row in rows {
        let link = style.name(row.link.as_deref().unwrap_or("-"));
        let cells = vec![style.name(&row.name), style.name(&row.kind), capacity(row.capacity), link];
        table.row(cells, paragraph("    ", &style.sentence(&row.description), style.columns()));
    }
    let hint = "Measure one: drivescope check sim:NAME. Profile: drivescope sim show NAME. Ground truth: drivescope sim truth NAME.";
    with_hint(&table, hint, style)
}

fn with_hint(table: &Table, hint: &str, style: Style) -> String {
    format!("{}\n\n{}\n", table.lines().join("\n"), paragraph("", hint, style.columns()).join("\n"))
}

pub fn truth_table(rows: &[TruthRow], style: Style) -> String {
    if rows.is_empty() {
        return "It models no mechanism: nothing must be found.\n".into();
    }
    let mut table = Table::new(&["finding", "truth"], 2, style);
    for row in rows {
        let mut below = Vec::new();
        if let Some(why) = row.depends {
            below = paragraph("    ", why, style.columns());
        }
        table.row(vec![row.code.to_string(), style.sentence(&row.answer)], below);
    }
    let hint = "Computed from the profile, not by simulation. Findings without a closed form are omitted. All digits, zones and regions: drivescope sim truth NAME --json";
    with_hint(&table, hint, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_something_depends_on_stays_within_the_page() {
        let row = |code, answer: &str, depends| TruthRow { code, answer: answer.into(), depends };
        let why = "they come after random writes, and go when all of it is overwritten in large pieces";
        let rows = [row("access-time", "100 µs", None), row("write-valleys", "it depends", Some(why))];
        let page = truth_table(&rows, Style { width: 60, colour: false, unicode: true, draws: true });
        assert!(page.starts_with(
            "finding        truth\naccess-time    100 µs\nwrite-valleys  it depends\n    they come"
        ));
        assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
    }
}
