//! CrystalDiskMark from 3 on, and KDiskMark, which prints the same rows. Their MB are of 10^6 bytes. Of several loops they state one figure
//! each: CrystalDiskMark the best, KDiskMark the mean or as it was told.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Set, Transfer, Work};
use crate::text::{Field, Line, above_zero, lines, rounded};
use model::request::Operation;

pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| is_row(line.text) && line.text.contains("(Q"))
}

/// How long a measurement takes, unless the text tells.
const SECONDS: f64 = 5.0;

struct Row {
    order: Order,
    operation: Option<Operation>,
    block: u64,
    queue_depth: u32,
    threads: u32,
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "CrystalDiskMark", ..Imported::default() };
    let mut set = Set::default();
    let mut section = None;
    let (mut seconds, mut is_mixed) = (SECONDS, false);
    for line in lines(text) {
        let trimmed = line.text.trim();
        match trimmed {
            _ if trimmed.contains("DiskMark") => version(&mut imported, line),
            _ if trimmed.contains("[Read") => (section, is_mixed) = (Some(Operation::Read), false),
            _ if trimmed.contains("[Write") => (section, is_mixed) = (Some(Operation::Write), false),
            _ if trimmed.contains("[Mix") => (section, is_mixed) = (None, true),
            _ => {}
        }
        if is_row(trimmed) && !is_mixed {
            set.figures.push(row(line, section)?);
        }
        if let Some(field) = line.after("Measure")
            && line.text.contains("sec")
        {
            let mut words = field.text.trim_start_matches([':', ' ']).split_whitespace();
            seconds = match words.next().and_then(crate::text::number) {
                Some(number) if number > 0.0 => number,
                _ => SECONDS,
            };
        }
    }
    stretch(&mut set, seconds);
    imported.direct = Some(true);
    imported.notes.push(format!(
        "{} measures in a file at unknown offsets. A file of 1 GiB may fit into a cache of the drive.",
        imported.tool
    ));
    if imported.tool == "CrystalDiskMark" {
        imported.note("CrystalDiskMark states the best of its loops, not their mean.");
    }
    imported.sets.push(set);
    Ok(imported)
}

/// "CrystalDiskMark 8.0.4 x64", "KDiskMark (3.1.2)": the first that a version follows.
fn version(imported: &mut Imported, line: Line<'_>) {
    for tool in ["CrystalDiskMark", "KDiskMark"] {
        let Some(field) = line.after(tool) else { continue };
        let version = field.text.split_whitespace().next().unwrap_or("").trim_matches(['(', ')', ':']);
        if imported.version.is_none() && version.starts_with(is_digit) {
            (imported.tool, imported.version) = (tool, Some(version.to_owned()));
        }
        return;
    }
}

/// A row, also in a quotation, a comment or a string.
fn is_row(text: &str) -> bool {
    let Some((label, rate)) = text.rsplit_once(':') else { return false };
    rate.contains(" MB/s") && ["SEQ", "RND", "Sequential", "Random"].iter().any(|word| label.contains(word))
}

/// What was stated for a second was measured for as long as the text tells.
fn stretch(set: &mut Set, seconds: f64) {
    for figure in &mut set.figures {
        let Work::Transfer(transfer) = &mut figure.work else { continue };
        for (_, operations, bytes) in &mut transfer.moved {
            *bytes = rounded(*bytes as f64 * seconds).unwrap_or(*bytes);
            let block = transfer.block.get().max(1);
            *operations = (*bytes + block / 2) / block;
        }
        figure.seconds = seconds;
    }
}

fn row(line: Line<'_>, section: Option<Operation>) -> Result<Figure, ImportError> {
    let (label, _) = line.text.rsplit_once(" MB/s").unwrap_or((line.text, ""));
    let split = label.rsplit_once(':');
    let (label, _) = line.needs(split, "a row such as `SEQ 1MiB (Q= 8, T= 1): 560.0 MB/s`")?;
    let shape = shape(label, section);
    let operation = line.needs(shape.operation, "[Read] or [Write] above the row")?;
    // The value stands behind the last colon before the unit.
    let column = label.chars().count() + 2;
    let words = line.words();
    let value = words.iter().find(|word| word.column >= column).copied();
    let value = value.unwrap_or(Field { line: line.number, column, text: "" });
    let megabytes = value.number("a rate in MB/s")?;
    let bytes = value.needs(above_zero(megabytes * 1e6), "a rate above zero")?;
    let transfer = Transfer::of(shape.order, operation, bytes, shape.block);
    Ok(transfer.deep(shape.queue_depth, shape.threads).figure(1.0))
}

/// "SEQ    1MiB (Q=  8, T= 1)", "Random Read 4KiB (Q= 32,T= 1)", "Sequential Read", "Random Write 4KB (QD=32)".
fn shape(label: &str, section: Option<Operation>) -> Row {
    let upper = label.to_ascii_uppercase();
    let operation = match () {
        () if upper.contains("READ") => Some(Operation::Read),
        () if upper.contains("WRITE") => Some(Operation::Write),
        () => section,
    };
    let order = if upper.contains("SEQ") { Order::Sequential } else { Order::Random };
    let queue_depth = number_after(&upper, "Q=").or(number_after(&upper, "QD=")).unwrap_or(1);
    let block = size_in(&upper).unwrap_or(match (order, queue_depth) {
        // Version 5 reads in order in blocks of 128 KiB with a queue, and of 1 MiB without one.
        (Order::Sequential, 2..) => 128 << 10,
        (Order::Sequential, _) => 1 << 20,
        _ => 4096,
    });
    Row { order, operation, block, queue_depth, threads: number_after(&upper, "T=").unwrap_or(1) }
}

fn number_after(text: &str, mark: &str) -> Option<u32> {
    let (_, rest) = text.split_once(mark)?;
    let rest = rest.trim_start();
    let digits = rest.len() - rest.trim_start_matches(is_digit).len();
    rest[..digits].parse().ok()
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// The size of a request. Version 3 writes KB and means 1024 bytes.
fn size_in(upper: &str) -> Option<u64> {
    let compact = upper.replace(char::is_whitespace, "");
    for (unit, factor) in [("KIB", 1u64 << 10), ("MIB", 1 << 20), ("KB", 1 << 10), ("MB", 1 << 20)] {
        if let Some(at) = compact.find(unit) {
            let digits = &compact[compact[..at].trim_end_matches(is_digit).len()..at];
            let size = digits.parse::<u64>().ok()?.checked_mul(factor)?;
            return if size > 0 { Some(size) } else { None };
        }
    }
    None
}
