//! YABS (yet-another-bench-script): its table of mixed random reads and writes, half each, as hosts post it.
//!
//! It runs fio with two jobs of 64 requests each. Until 2025 its MB were of 1000 KiB; the requests per second beside them tell which.

use crate::error::ImportError;
use crate::figure::{Imported, Order, Set, Transfer};
use crate::text::{Field, Line, above_zero, lines, number, unit_bytes};
use model::quantity_text::parse_size;
use model::request::Operation;

const QUEUE_DEPTH: u32 = 64;
const JOBS: u32 = 2;
/// Between MB of 10^6 bytes and of 1000 KiB, which is 2.4 % more.
const UNIT_LIMIT: f64 = 1.012;

pub(crate) fn fits(text: &str) -> bool {
    text.contains("fio Disk Speed Tests")
}

/// One column of the table: a size of requests.
struct Column {
    block: u64,
    /// Bytes and requests per second of reads, then of writes.
    sides: Vec<(Operation, f64, f64)>,
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "YABS", direct: Some(true), ..Imported::default() };
    let mut columns: Vec<Column> = Vec::new();
    let mut open = 0;
    for line in lines(text) {
        let cells = line.by('|');
        match cells[0].text {
            "Block Size" => {
                open = columns.len();
                for cell in &cells[1..] {
                    let size = cell.text.split_whitespace().next().and_then(|size| parse_size(size).ok());
                    let block = cell.needs(size, "a size such as 4k")?.get();
                    columns.push(Column { block, sides: Vec::new() });
                }
            }
            "Read" => rows(&mut columns[open..], &cells[1..], Operation::Read)?,
            "Write" => rows(&mut columns[open..], &cells[1..], Operation::Write)?,
            _ => partition(&mut imported, line),
        }
    }
    let unit = if median_ratio(&columns) > UNIT_LIMIT { 1.024 } else { 1.0 };
    for column in columns {
        let mut moved = Vec::new();
        for (operation, rate, _) in column.sides {
            let bytes = above_zero(rate * unit).unwrap_or(0);
            moved.push((operation, bytes / column.block.max(1), bytes));
        }
        let transfer = Transfer { moved, ..Transfer::of(Order::Random, Operation::Read, 0, column.block) };
        imported.sets.push(Set { figures: vec![transfer.deep(QUEUE_DEPTH, JOBS).figure(1.0)] });
    }
    imported.note("YABS reads and writes a file of 2 GB at random, half each, with 128 requests in flight.");
    Ok(imported)
}

/// Bytes that follow from requests over those that are stated; counts have two digits only, so that no single one decides.
fn median_ratio(columns: &[Column]) -> f64 {
    let mut ratios = Vec::new();
    for column in columns {
        for (_, rate, per_second) in &column.sides {
            if *rate > 0.0 {
                ratios.push(per_second * column.block as f64 / rate);
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
}

/// "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda1):".
fn partition(imported: &mut Imported, line: Line<'_>) {
    if let Some(field) = line.after("(Partition ")
        && imported.target.is_none()
    {
        imported.target = field.text.split(')').next().map(str::to_owned);
    }
}

/// "40.03 MB/s   (10.0k)" in each column.
fn rows(columns: &mut [Column], cells: &[Field<'_>], operation: Operation) -> Result<(), ImportError> {
    for (column, cell) in columns.iter_mut().zip(cells) {
        let what = "a rate and requests per second, as in `40.03 MB/s (10.0k)`";
        let (value, rest) = cell.number_and_rest(what)?;
        let (unit, per_second) = cell.needs(rest.split_once('('), what)?;
        let factor = cell.needs(unit_bytes(unit, 1000.0), what)?;
        let digits = per_second.trim_end_matches(')').trim();
        let short = digits.strip_suffix('k');
        let count = cell.needs(number(short.unwrap_or(digits)), what)?;
        let count = if short.is_some() { count * 1e3 } else { count };
        column.sides.push((operation, value * factor, count));
    }
    Ok(())
}
