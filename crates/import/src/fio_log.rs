//! fio's logs of bandwidth, requests per second and latency: lines of time in ms, value, direction, block size, and offset where it was logged.
//! Only the name of the file says which of the three it is. Bandwidths are KiB a second, latencies ns since fio 2.99.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Request, Set, Slice, Transfer};
use crate::text::{Line, lines};
use model::histogram::LatencyHistogram;
use model::request::Operation;

const LINES_TO_TELL: usize = 4;

#[derive(Clone, Copy)]
pub(crate) enum LogKind {
    Bandwidth,
    Iops,
    Latency,
}

pub(crate) fn fits(text: &str) -> bool {
    let mut has_lines = false;
    for line in filled(text).take(LINES_TO_TELL) {
        if entry(line).is_err() {
            return false;
        }
        has_lines = true;
    }
    has_lines
}

fn filled(text: &str) -> impl Iterator<Item = Line<'_>> {
    lines(text).filter(|line| !line.text.trim().is_empty())
}

impl LogKind {
    pub(crate) fn is_named(self, file_name: &str) -> bool {
        let parts: &[&str] = match self {
            LogKind::Bandwidth => &["_bw."],
            LogKind::Iops => &["_iops."],
            LogKind::Latency => &["_lat.", "_clat.", "_slat."],
        };
        parts.iter().any(|part| file_name.contains(part))
    }
}

struct Entry {
    milliseconds: u64,
    value: u64,
    operation: Operation,
    block: u64,
    offset: Option<u64>,
}

fn entry(line: Line<'_>) -> Result<Entry, ImportError> {
    let fields = line.by(',');
    if !(4..=8).contains(&fields.len()) {
        return Err(line.error("a time, a value, a direction and a block size, with commas between"));
    }
    let operation = match fields[2].text {
        "0" => Operation::Read,
        "1" => Operation::Write,
        "2" => Operation::Discard,
        _ => return Err(fields[2].error("0 for a read, 1 for a write or 2 for a trim")),
    };
    Ok(Entry {
        milliseconds: fields[0].whole("a time in ms")?,
        value: fields[1].whole("a value")?,
        operation,
        block: fields[3].whole("a block size")?,
        // The fifth column is an offset, and the sixth a priority; an older log ends before it.
        offset: if fields.len() >= 5 { Some(fields[4].whole("an offset")?) } else { None },
    })
}

pub(crate) fn read(text: &str, kind: LogKind) -> Result<Imported, ImportError> {
    let mut entries = Vec::new();
    for line in filled(text) {
        entries.push(entry(line)?);
    }
    let mut imported = Imported { tool: "fio", ..Imported::default() };
    for operation in [Operation::Read, Operation::Write] {
        let of: Vec<&Entry> = entries.iter().filter(|entry| entry.operation == operation).collect();
        let figure = match kind {
            LogKind::Latency => of_latencies(&of, operation),
            LogKind::Iops => of_rates(&of, operation, requests_and_their_bytes),
            LogKind::Bandwidth => of_rates(&of, operation, bytes_and_their_requests),
        };
        if let Some(figure) = figure {
            imported.sets.push(Set { figures: vec![figure] });
        }
    }
    imported.notes.push("fio logs state neither queue depth nor whether direct I/O was used.".into());
    Ok(imported)
}

fn order_of(entries: &[&Entry]) -> Order {
    let mut offsets = Vec::new();
    for entry in entries {
        if let Some(offset) = entry.offset {
            offsets.push((offset, entry.block));
        }
    }
    let moves = offsets.iter().any(|(offset, _)| *offset != 0);
    if !moves || offsets.len() < 3 {
        return Order::Unknown;
    }
    let mut follows = 0;
    for pair in offsets.windows(2) {
        follows += usize::from(pair[0].0.checked_add(pair[0].1) == Some(pair[1].0));
    }
    if follows * 10 >= (offsets.len() - 1) * 9 { Order::Sequential } else { Order::Random }
}

fn requests_and_their_bytes(entry: &Entry) -> (u64, u64) {
    (entry.value, entry.value.saturating_mul(entry.block.max(1)))
}

/// Of an entry that counts in KiB: how many requests it was, and their bytes.
fn bytes_and_their_requests(entry: &Entry) -> (u64, u64) {
    let bytes = entry.value.saturating_mul(1024);
    (bytes.checked_div(entry.block).unwrap_or(0), bytes)
}

/// A log of means over equal windows: each line is a slice that ends at its time. Where every request was logged, the windows are
/// shorter than the clock of the log, and the blocks of a millisecond are added up.
fn of_rates(
    entries: &[&Entry],
    operation: Operation,
    per_second: fn(&Entry) -> (u64, u64),
) -> Option<Figure> {
    let is_of_requests = entries.windows(2).any(|pair| pair[0].milliseconds == pair[1].milliseconds);
    let mut slices: Vec<Slice> = Vec::new();
    let mut before_ms = 0;
    for entry in entries {
        if entry.milliseconds < before_ms {
            continue;
        }
        let window_s = (entry.milliseconds - before_ms) as f64 / 1e3;
        if is_of_requests
            && window_s == 0.0
            && let Some(last) = slices.last_mut()
        {
            (last.bytes, last.operations) = (last.bytes.saturating_add(entry.block), last.operations + 1);
        } else if is_of_requests || window_s > 0.0 {
            let (operations, bytes) = if is_of_requests {
                (1, entry.block)
            } else {
                let (operations, bytes) = per_second(entry);
                ((operations as f64 * window_s).round() as u64, (bytes as f64 * window_s).round() as u64)
            };
            let start_s = before_ms as f64 / 1e3;
            slices.push(Slice { operation, start_s, seconds: window_s, bytes, operations });
        }
        before_ms = entry.milliseconds;
    }
    let (mut bytes, mut operations) = (0u64, 0u64);
    for slice in &slices {
        bytes = bytes.saturating_add(slice.bytes);
        operations = operations.saturating_add(slice.operations);
    }
    let seconds = before_ms as f64 / 1e3;
    if bytes == 0 || seconds <= 0.0 {
        return None;
    }
    let block = largest_block(entries);
    let transfer = Transfer {
        moved: vec![(operation, operations, bytes)],
        ..Transfer::of(order_of(entries), operation, bytes, block)
    };
    let figure = Figure::of(format!("{} over time", operation.name()), transfer, seconds);
    Some(Figure { slices, ..figure })
}

fn largest_block(entries: &[&Entry]) -> u64 {
    entries.iter().map(|entry| entry.block).max().unwrap_or(0)
}

/// A log of single requests. How many were under way follows from how long they took together.
fn of_latencies(entries: &[&Entry], operation: Operation) -> Option<Figure> {
    let mut latencies = LatencyHistogram::default();
    let (mut bytes, mut busy_s) = (0u64, 0.0);
    let mut requests = Vec::with_capacity(entries.len());
    for entry in entries {
        latencies.record(entry.value);
        bytes = bytes.saturating_add(entry.block);
        busy_s += entry.value as f64 / 1e9;
        requests.push(Request {
            operation,
            completed_s: entry.milliseconds as f64 / 1e3,
            latency_ns: entry.value,
            first_byte: entry.offset.unwrap_or(0),
            bytes: u32::try_from(entry.block).unwrap_or(u32::MAX),
        });
    }
    let last_s = entries.iter().map(|entry| entry.milliseconds).max()? as f64 / 1e3;
    // The log's clock shows whole milliseconds: what was over within one took as long as its latencies.
    let seconds = if last_s > 0.0 { last_s } else { busy_s };
    if seconds <= 0.0 || bytes == 0 {
        return None;
    }
    let depth = (busy_s / seconds).round().clamp(1.0, 4096.0) as u32;
    let block = largest_block(entries);
    let transfer = Transfer {
        moved: vec![(operation, requests.len() as u64, bytes)],
        ..Transfer::of(order_of(entries), operation, bytes, block)
    };
    let figure = Figure::of(format!("{} one by one", operation.name()), transfer.deep(depth, 1), seconds);
    Some(Figure { latencies: Some(Box::new(latencies)), requests, ..figure })
}
