//! CrystalDiskMark from 3 on, and KDiskMark, which prints the same rows. Their MB are of 10^6 bytes. Of several loops they state one figure
//! each: CrystalDiskMark the best, KDiskMark the mean or as it was told.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Set, Transfer, Work};
use crate::text::{Field, Line, lines, rounded};
use model::request::Operation;

/// Whether it looks like one.
pub(crate) fn fits(text: &str) -> bool {
    text.contains("CrystalDiskMark") || text.contains("KDiskMark")
}

/// What a row is about, from its words.
struct Row {
    order: Order,
    operation: Option<Operation>,
    block: u64,
    queue_depth: u32,
    threads: u32,
}

/// Reads all rows.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "CrystalDiskMark", ..Imported::default() };
    let mut set = Set::default();
    let mut section = None;
    let (mut seconds, mut is_mixed) = (1.0, false);
    for line in lines(text) {
        let trimmed = line.text.trim();
        match trimmed {
            _ if trimmed.starts_with("CrystalDiskMark") || trimmed.starts_with("KDiskMark") => {
                let tool = if trimmed.starts_with('K') { "KDiskMark" } else { "CrystalDiskMark" };
                imported.tool = tool;
                let version = trimmed[tool.len()..].split_whitespace().next().unwrap_or("");
                let version = version.trim_matches(|c| matches!(c, '(' | ')' | ':'));
                imported.version = (!version.is_empty()).then(|| version.to_owned());
            }
            _ if trimmed.starts_with('[') && trimmed.ends_with(']') => {
                is_mixed = trimmed.starts_with("[Mix");
                section = match trimmed {
                    _ if trimmed.starts_with("[Read") => Some(Operation::Read),
                    _ if trimmed.starts_with("[Write") => Some(Operation::Write),
                    _ => None,
                };
            }
            _ if trimmed.contains("MB/s") && is_row(trimmed) && !is_mixed => {
                set.figures.push(row(line, section)?);
            }
            _ => {}
        }
        if let Some(field) = line.after("Measure").filter(|_| line.text.contains("sec")) {
            let text = field.text.trim_start_matches([':', ' ']);
            seconds = text
                .split_whitespace()
                .next()
                .and_then(crate::text::number)
                .filter(|s| *s > 0.0)
                .unwrap_or(1.0);
        }
    }
    stretch(&mut set, seconds);
    imported.direct = Some(true);
    imported.notes.push(format!(
        "{} measures in a file: where on the drive it lay is not known, and a file of 1 GiB may fit into a cache of the drive.",
        imported.tool
    ));
    if imported.tool == "CrystalDiskMark" {
        imported.notes.push("CrystalDiskMark states the best of its loops, not their mean.".into());
    }
    imported.sets.push(set);
    Ok(imported)
}

fn is_row(text: &str) -> bool {
    ["SEQ", "RND", "Sequential", "Random"].iter().any(|word| text.starts_with(word))
}

/// What was stated for a second was measured for as long as the text tells.
fn stretch(set: &mut Set, seconds: f64) {
    for figure in &mut set.figures {
        let Work::Transfer(transfer) = &mut figure.work else { continue };
        for (_, operations, bytes) in &mut transfer.moved {
            *bytes = rounded(*bytes as f64 * seconds).unwrap_or(*bytes);
            *operations = *bytes / transfer.block.0.max(1);
        }
        figure.seconds = seconds;
    }
}

fn row(line: Line<'_>, section: Option<Operation>) -> Result<Figure, ImportError> {
    let (label, _) = line.text.rsplit_once(" MB/s").unwrap_or((line.text, ""));
    let (label, _) = label
        .rsplit_once(':')
        .ok_or_else(|| line.error("a row such as `SEQ 1MiB (Q= 8, T= 1): 560.0 MB/s`"))?;
    let shape = shape(label, section).ok_or_else(|| line.error("a row such as `SEQ 1MiB (Q= 8, T= 1)`"))?;
    let operation = shape.operation.ok_or_else(|| line.error("[Read] or [Write] above the row"))?;
    // The value stands behind the last colon before the unit.
    let column = label.chars().count() + 2;
    let words = line.words();
    let value = words.iter().find(|word| word.column >= column).copied();
    let value = value.unwrap_or(Field { line: line.number, column, text: "" });
    let megabytes = value.number("a rate in MB/s")?;
    let bytes = rounded(megabytes * 1e6)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| value.error("a rate above zero"))?;
    let order = if shape.order == Order::Random { "random" } else { "sequential" };
    let name = format!("{order} {}", operation.name());
    let transfer =
        Transfer::of(shape.order, operation, bytes, shape.block).deep(shape.queue_depth, shape.threads);
    Ok(Figure::of(name, Work::Transfer(transfer), 1.0))
}

/// "SEQ    1MiB (Q=  8, T= 1)", "Random Read 4KiB (Q= 32,T= 1)", "Sequential Read", "Random Write 4KB (QD=32)".
fn shape(label: &str, section: Option<Operation>) -> Option<Row> {
    let upper = label.to_ascii_uppercase();
    let operation = match () {
        () if upper.contains("READ") => Some(Operation::Read),
        () if upper.contains("WRITE") => Some(Operation::Write),
        () => section,
    };
    let order = if upper.trim().starts_with('S') { Order::Sequential } else { Order::Random };
    let after = |mark: &str| {
        let rest = upper.split_once(mark)?.1.trim_start();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let queue_depth = after("Q=").or_else(|| after("QD=")).unwrap_or(1);
    let block = size_in(&upper).unwrap_or(match (order, queue_depth) {
        // Version 5 reads in order in blocks of 128 KiB with a queue, and of 1 MiB without one.
        (Order::Sequential, 2..) => 128 << 10,
        (Order::Sequential, _) => 1 << 20,
        _ => 4096,
    });
    Some(Row { order, operation, block, queue_depth, threads: after("T=").unwrap_or(1) })
}

/// The size of a request. Version 3 writes KB and means 1024 bytes.
fn size_in(upper: &str) -> Option<u64> {
    let compact: String = upper.chars().filter(|c| !c.is_whitespace()).collect();
    let (at, factor) = [("KIB", 1u64 << 10), ("MIB", 1 << 20), ("KB", 1 << 10), ("MB", 1 << 20)]
        .into_iter()
        .find_map(|(unit, factor)| Some((compact.find(unit)?, factor)))?;
    let digits = compact[..at].len() - compact[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    compact[at - digits..at].parse::<u64>().ok()?.checked_mul(factor).filter(|size| *size > 0)
}
