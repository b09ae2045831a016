//! AS SSD Benchmark: the text of its clipboard. Its MB are of 2^20 bytes, as its requests per second tell. Sequential requests are of
//! 16 MiB, the others of 4 KiB, alone or by 64 threads.

use crate::error::ImportError;
use crate::figure::{Imported, Order, Set, Transfer};
use crate::text::{Line, above_zero, lines};
use model::request::Operation;

const MIB: f64 = 1_048_576.0;
const SEQUENTIAL_BLOCK: u64 = 16 << 20;

pub(crate) fn fits(text: &str) -> bool {
    text.contains("AS SSD Benchmark") && lines(text).any(is_rate)
}

fn is_rate(line: Line<'_>) -> bool {
    let text = line.text.trim();
    (text.starts_with("Read:") || text.starts_with("Write:"))
        && (text.contains("MB/s") || text.contains(" ms"))
}

/// What a section measures: order, size of requests, threads.
fn section(text: &str) -> Option<(Order, u64, u32)> {
    match text.to_ascii_lowercase().trim_end_matches(':') {
        "sequential" | "seq" => Some((Order::Sequential, SEQUENTIAL_BLOCK, 1)),
        "4k" => Some((Order::Random, 4096, 1)),
        text if text.starts_with("4k-64") => Some((Order::Random, 4096, 64)),
        _ => None,
    }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "AS SSD Benchmark", direct: Some(true), ..Imported::default() };
    let (mut set, mut open) = (Set::default(), None);
    for line in lines(text) {
        let trimmed = line.text.trim();
        if let Some(version) = line.after("AS SSD Benchmark") {
            imported.version = version.text.split_whitespace().next().map(str::to_owned);
        } else if let Some(name) = trimmed.strip_prefix("Name:") {
            imported.drive = Some(name.trim().to_owned());
        } else if is_rate(line) {
            let Some((order, block, threads)) = open else { continue };
            let value = line.needs(line.after(":"), "a rate in MB/s")?;
            let (rate, unit) = value.number_and_rest("a rate in MB/s")?;
            let operation = if trimmed.starts_with("Read") { Operation::Read } else { Operation::Write };
            let Some(bytes) = above_zero(rate * MIB) else { continue };
            if unit.starts_with("MB/s") {
                let transfer = Transfer::of(order, operation, bytes, block).deep(1, threads);
                set.figures.push(transfer.figure(1.0));
            }
        } else if trimmed.ends_with(':') {
            open = section(trimmed);
        }
    }
    imported.sets.push(set);
    imported.note("AS SSD measures in a file of 1 GB at unknown offsets; its access times are left out.");
    Ok(imported)
}
