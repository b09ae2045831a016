//! Lists: the runs that are stored, the drives that are there.

use crate::quantity::capacity;
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use crate::terminal::method::readable_moment;
use model::run::RunStatus;
use model::units::Bytes;

/// One stored run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its name in the store.
    pub id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    /// What was measured: model or path.
    pub target: String,
    /// How it ended; none while it is under way.
    pub status: Option<RunStatus>,
    /// What was asked: "check", "surface".
    pub experiments: Vec<String>,
}

/// One drive, partition, volume or loop device of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRow {
    /// "/dev/sdb".
    pub path: String,
    /// What it calls itself.
    pub model: Option<String>,
    /// What tells it from others and must be known to write to it, as words: "serial number W1F0ABCD".
    pub identity: Vec<String>,
    /// How much it holds, if that can be read.
    pub capacity: Option<Bytes>,
    /// "disk", "flash", "virtual", "loop", "partition".
    pub kind: String,
    /// How it is connected.
    pub link: Option<String>,
    /// Who uses it, as clauses: "mounted at /data", "member of md0".
    pub used_by: Vec<String>,
    /// Its partitions.
    pub partitions: Vec<PartitionRow>,
    /// Why it can't be read, as a sentence; none when it can.
    pub reads_refused: Option<String>,
    /// Why it won't be written to, as sentences; empty when it may be.
    pub writes_refused: Vec<String>,
}

/// One partition of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRow {
    /// "/dev/sdb1".
    pub path: String,
    /// How much it holds.
    pub size: Bytes,
    /// "ext4 file system"; none when nothing is recognised.
    pub content: Option<String>,
    /// Who uses it, as clauses.
    pub used_by: Vec<String>,
}

/// The stored runs, in the order given.
pub fn runs_table(rows: &[RunRow], style: Style) -> String {
    if rows.is_empty() {
        return paragraph("", "There are no runs yet. Try: drivescope check TARGET", style.columns())
            .join("\n")
            + "\n";
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let moment = readable_moment(&style.name(&row.started));
            vec![
                style.name(&row.id),
                moment.trim_end_matches(" UTC").into(),
                row.status.map_or("running", RunStatus::name).into(),
                style.name(&row.experiments.join(", ")),
                style.name(&row.target),
            ]
        })
        .collect();
    let table = Table::new(["run", "started (UTC)", "status", "experiments", "target"], 3, cells, style);
    table.lines(|_| Vec::new()).join("\n") + "\n"
}

/// The drives of this machine, each with what may not be done to it and why.
pub fn drives_table(rows: &[DriveRow], style: Style) -> String {
    if rows.is_empty() {
        return paragraph(
            "",
            "No drive was found. Files and directories can be measured too.",
            style.columns(),
        )
        .join("\n")
            + "\n";
    }
    let or_dash = |text: &Option<String>| text.as_deref().map_or(NOTHING.into(), |text| style.name(text));
    let cells = rows.iter().map(|row| {
        vec![
            style.name(&row.path),
            row.capacity.map_or(NOTHING.into(), capacity),
            style.name(&row.kind),
            if row.reads_refused.is_none() { "yes" } else { "no" }.into(),
            if row.writes_refused.is_empty() { "yes" } else { "no" }.into(),
            or_dash(&row.link),
            if row.used_by.is_empty() { NOTHING.into() } else { style.sentence(&row.used_by.join(", ")) },
            or_dash(&row.model),
        ]
    });
    let header = ["path", "size", "kind", "read?", "write?", "link", "used by", "model"];
    let table = Table::new(header, 5, cells.collect(), style);
    let lines = table.lines(|index| below_drive(&rows[index], style));
    lines.join("\n") + "\n"
}

/// Serial number, partitions, and why not: what stands under the row of a drive.
fn below_drive(row: &DriveRow, style: Style) -> Vec<String> {
    let identity: Vec<String> = row.identity.iter().map(|words| style.name(words)).collect();
    let identity = (!identity.is_empty()).then(|| ("    ", identity.join(", ")));
    let partitions = row.partitions.iter().map(|partition| {
        let mut facts = vec![style.name(&partition.path), capacity(partition.size)];
        facts.extend(partition.content.iter().chain(&partition.used_by).map(|fact| style.sentence(fact)));
        ("    ", facts.join(", "))
    });
    let reads = row.reads_refused.iter().map(|why| ("    no reads: ", style.sentence(why)));
    let writes = row.writes_refused.iter().map(|why| ("    no writes: ", style.sentence(why)));
    let paragraphs = identity.into_iter().chain(partitions).chain(reads).chain(writes);
    paragraphs.flat_map(|(first, text)| paragraph(first, &text, style.columns())).collect()
}

/// Cells under a header, each column as wide as its widest cell. When that is wider than the page, the first
/// columns stay in the table and the others go onto a line below: a path or a run's name that is cut off is of no use.
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    columns: Vec<usize>,
    /// How many columns are in the table.
    shown: usize,
    style: Style,
}

const GAP: &str = "  ";
/// Stands where nothing is known.
const NOTHING: &str = "-";

impl Table {
    /// `essential` is the number of columns that are always in the table.
    pub(super) fn new<const N: usize>(
        header: [&str; N],
        essential: usize,
        rows: Vec<Vec<String>>,
        style: Style,
    ) -> Table {
        let header: Vec<String> = header.iter().map(|name| name.to_string()).collect();
        let mut columns: Vec<usize> = header.iter().map(|name| columns_of(name)).collect();
        for row in &rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                *column = (*column).max(columns_of(cell));
            }
        }
        let width = columns.iter().sum::<usize>() + GAP.len() * (N - 1);
        let shown = if width <= style.columns() { N } else { essential };
        Table { header, rows, columns, shown, style }
    }

    /// The lines of the table; `below` gives what follows a row.
    pub(super) fn lines(&self, below: impl Fn(usize) -> Vec<String>) -> Vec<String> {
        let mut lines = vec![self.style.paint(Tone::Heading, &self.line(&self.header))];
        for (index, row) in self.rows.iter().enumerate() {
            lines.push(self.line(row));
            let rest: Vec<&str> =
                row[self.shown..].iter().map(String::as_str).filter(|cell| *cell != NOTHING).collect();
            if !rest.is_empty() {
                lines.extend(paragraph("    ", &rest.join(", "), self.style.columns()));
            }
            lines.extend(below(index).iter().map(|line| self.style.paint(Tone::Faint, line)));
        }
        lines
    }

    fn line(&self, cells: &[String]) -> String {
        let shown = cells.iter().zip(&self.columns).take(self.shown);
        let cells: Vec<String> = shown.map(|(cell, columns)| pad_end(cell, *columns)).collect();
        cells.join(GAP).trim_end().to_string()
    }
}
