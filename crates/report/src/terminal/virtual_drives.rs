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
        return "Nothing is true of it: it has no mechanism, and nothing must be found on it.\n".into();
    }
    let cells = rows.iter().map(|row| vec![row.code.to_string(), style.sentence(&row.answer)]);
    let table = Table::new(["finding", "truth"], 2, cells.collect(), style);
    table.lines(|_| Vec::new()).join("\n") + "\n"
}
