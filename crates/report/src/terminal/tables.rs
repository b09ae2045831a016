//! Lists: the runs that are stored, the drives that are there.

use crate::quantity::capacity;
use crate::quantity::readable_moment;
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use model::run::RunStatus;
use model::units::Bytes;

#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub id: String,
    pub started: String,
    pub target: String,
    /// How it ended; none while it is under way.
    pub status: Option<RunStatus>,
    pub experiments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DriveRow {
    pub path: String,
    pub model: Option<String>,
    /// What tells it from others and must be known to write to it, as words: "serial number W1F0ABCD".
    pub identity: Vec<String>,
    pub capacity: Option<Bytes>,
    /// One of "disk", "flash", "virtual", "loop" and "partition".
    pub kind: String,
    pub link: Option<String>,
    /// Who uses it, as clauses: "mounted at /data", "member of md0".
    pub used_by: Vec<String>,
    pub partitions: Vec<PartitionRow>,
    /// Why it can't be read, as a sentence; none when it can.
    pub reads_refused: Option<String>,
    /// Why it won't be written to, as sentences; empty when it may be.
    pub writes_refused: Vec<String>,
    /// A list excludes it from writes, whatever is confirmed.
    pub is_never_written: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRow {
    pub path: String,
    pub size: Bytes,
    /// "ext4 file system"; none when nothing is recognised.
    pub content: Option<String>,
    pub used_by: Vec<String>,
}

/// The runs of these rows, and how many older ones are not shown.
pub fn runs_table(rows: &[RunRow], older: usize, style: Style) -> String {
    if rows.is_empty() {
        return lines_of("No runs yet. Try: drivescope check TARGET", style);
    }
    let mut table = Table::new(&["run", "started (UTC)", "status", "experiments", "target"], 3, style);
    for row in rows {
        let moment = readable_moment(&style.name(&row.started));
        let cells = vec![
            style.name(&row.id),
            moment.trim_end_matches(" UTC").into(),
            row.status.map_or("running", RunStatus::name).into(),
            style.name(&row.experiments.join(", ")),
            style.name(&row.target),
        ];
        table.row(cells, Vec::new());
    }
    let mut text = table.lines().join("\n") + "\n";
    if older > 0 {
        text += &lines_of(&format!("Older runs not shown: {older}. All: drivescope runs --all"), style);
    }
    text
}

fn lines_of(text: &str, style: Style) -> String {
    paragraph("", text, style.columns()).join("\n") + "\n"
}

/// The drives of this machine, each with what may not be done to it and why.
pub fn drives_table(rows: &[DriveRow], style: Style) -> String {
    if rows.is_empty() {
        return lines_of("No drives found. Files and directories can be measured too.", style);
    }
    let header = ["path", "size", "kind", "read?", "write?", "link", "used by", "model"];
    let mut table = Table::new(&header, 5, style);
    for row in rows {
        let used_by = row.used_by.join(", ");
        let cells = vec![
            style.name(&row.path),
            row.capacity.map_or(NOTHING.into(), capacity),
            style.name(&row.kind),
            if row.reads_refused.is_none() { "yes" } else { "no" }.into(),
            match (row.is_never_written, row.writes_refused.is_empty()) {
                (true, _) => "never",
                (false, true) => "yes",
                (false, false) => "no",
            }
            .into(),
            style.name(row.link.as_deref().unwrap_or(NOTHING)),
            if used_by.is_empty() { NOTHING.into() } else { style.sentence(&used_by) },
            style.name(row.model.as_deref().unwrap_or(NOTHING)),
        ];
        table.row(cells, below_drive(row, style));
    }
    table.lines().join("\n") + "\n"
}

/// Serial number, partitions, and why not: what stands under the row of a drive.
fn below_drive(row: &DriveRow, style: Style) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if !row.identity.is_empty() {
        let identity: Vec<String> = row.identity.iter().map(|words| style.name(words)).collect();
        paragraphs.push(("    ", identity.join(", ")));
    }
    for partition in &row.partitions {
        let mut facts = vec![style.name(&partition.path), capacity(partition.size)];
        for fact in partition.content.iter().chain(&partition.used_by) {
            facts.push(style.sentence(fact));
        }
        paragraphs.push(("    ", facts.join(", ")));
    }
    if let Some(why) = &row.reads_refused {
        paragraphs.push(("    no reads: ", style.sentence(why)));
    }
    for why in &row.writes_refused {
        paragraphs.push(("    no writes: ", style.sentence(why)));
    }
    let mut lines = Vec::new();
    for (first, text) in paragraphs {
        lines.extend(paragraph(first, &text, style.columns()));
    }
    lines
}

/// Cells under a header, each column as wide as its widest cell. When that is wider than the page, the first
/// columns stay in the table and the others go onto a line below: a path or a run's name that is cut off is of no use.
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<(Vec<String>, Vec<String>)>,
    columns: Vec<usize>,
    essential: usize,
    style: Style,
}

const GAP: &str = "  ";
const NOTHING: &str = "-";

impl Table {
    pub(super) fn new(header: &[&str], essential: usize, style: Style) -> Table {
        let columns = header.iter().map(|name| columns_of(name)).collect();
        let header = header.iter().map(ToString::to_string).collect();
        Table { header, rows: Vec::new(), columns, essential, style }
    }

    pub(super) fn row(&mut self, cells: Vec<String>, below: Vec<String>) {
        for (column, cell) in self.columns.iter_mut().zip(&cells) {
            *column = (*column).max(columns_of(cell));
        }
        self.rows.push((cells, below));
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let width = self.columns.iter().sum::<usize>() + GAP.len() * (self.columns.len() - 1);
        let shown = if width <= self.style.columns() { self.columns.len() } else { self.essential };
        let mut lines = vec![self.style.paint(Tone::Heading, &self.line(&self.header[..shown]))];
        for (cells, below) in &self.rows {
            lines.push(self.line(&cells[..shown]));
            let mut rest = Vec::new();
            for (name, cell) in self.header[shown..].iter().zip(&cells[shown..]) {
                if cell != NOTHING {
                    rest.push(format!("{name} {cell}"));
                }
            }
            if !rest.is_empty() {
                lines.extend(paragraph("    ", &rest.join(", "), self.style.columns()));
            }
            for line in below {
                lines.push(self.style.paint(Tone::Faint, line));
            }
        }
        lines
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = Vec::new();
        for (cell, columns) in cells.iter().zip(&self.columns) {
            line.push(pad_end(cell, *columns));
        }
        line.join(GAP).trim_end().to_string()
    }
}
