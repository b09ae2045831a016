//! ioping: its lines, its JSON, or its raw statistics. One request at a time; the first is a warm-up and is left out.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Request, Set, Transfer};
use crate::fio::nearest_block;
use crate::text::{Field, Line, above_zero, any_line, lines, number, position_of, rounded, unit_bytes};
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::units::Bytes;
use serde_json::Value;

pub(crate) fn fits(text: &str) -> bool {
    text.contains("ioping statistics ---")
        || any_line(text, request_of)
        || (text.trim_start().starts_with("[{") && text.contains("\"ignored\""))
}

/// "4 KiB <<< /dev/sdb (block device 931.5 GiB): request=2 time=9.12 ms": whether it reads, and the part from `request=` on.
fn request_of<'text>(line: Line<'text>) -> Option<(Operation, Field<'text>)> {
    let operation = match () {
        () if line.text.contains(" <<< ") => Operation::Read,
        () if line.text.contains(" >>> ") => Operation::Write,
        // Until 0.8, reads only.
        () if line.text.contains(" bytes from ") => Operation::Read,
        () => return None,
    };
    if line.text.contains("request=") { Some((operation, line.after("time=")?)) } else { None }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "ioping", ..Imported::default() };
    if text.trim_start().starts_with('[') {
        let mut requests = Vec::new();
        of_json(text, &mut imported, &mut requests)?;
        push(&mut imported, figure_of(requests));
    } else {
        of_lines(text, &mut imported)?;
    }
    imported.note(
        "ioping does not state the range that it measured: in a folder it is a file, which may be small.",
    );
    Ok(imported)
}

fn push(imported: &mut Imported, figure: Option<Figure>) {
    if let Some(figure) = figure {
        imported.sets.push(Set { figures: vec![figure] });
    }
}

/// Runs one after the other; one that only printed its end is known by its statistics.
fn of_lines(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut requests: Vec<Request> = Vec::new();
    for line in lines(text) {
        if line.text.contains("requests completed in") {
            let figure = figure_of(std::mem::take(&mut requests));
            let figure = if figure.is_some() { figure } else { of_statistics(line)? };
            push(imported, figure);
            continue;
        }
        let Some((operation, time)) = request_of(line) else { continue };
        if line.text.contains("request=1 ") {
            push(imported, figure_of(std::mem::take(&mut requests)));
        }
        let words = line.words();
        let at = position_of(&words, &["<<<", ">>>", "from"]);
        let before = line.needs(at.filter(|at| *at >= 2), "a size and its unit")?;
        if imported.target.is_none() {
            let target = words.get(before + 1).map(|word| word.text.trim_end_matches(':').to_owned());
            imported.target = target;
        }
        if line.text.contains("(warmup)") {
            continue;
        }
        let bytes = size_of(&words[before - 2], &words[before - 1])?;
        let latency_ns = time_of(&time)?;
        requests.push(Request { operation, completed_s: 0.0, latency_ns, first_byte: 0, bytes });
    }
    push(imported, figure_of(requests));
    Ok(())
}

fn size_of(size: &Field<'_>, unit: &Field<'_>) -> Result<u32, ImportError> {
    let factor = unit.needs(unit_bytes(unit.text, 1024.0), "KiB or another unit")?;
    let bytes = above_zero(size.number("a size")? * factor).and_then(|bytes| u32::try_from(bytes).ok());
    size.needs(bytes, "a size of at most 4 GiB")
}

/// Nanoseconds of a time such as "9.12 us" or "1.2 ms (slow)".
fn time_of(field: &Field<'_>) -> Result<u64, ImportError> {
    let mut words = field.text.split_whitespace();
    let what = "a time such as 9.12 ms";
    let value = field.needs(words.next().and_then(number), what)?;
    let factor = match words.next() {
        Some("ns") => 1.0,
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        Some("min") => 60e9,
        _ => return Err(field.error(what)),
    };
    field.needs(rounded(value * factor), what)
}

fn of_json(text: &str, imported: &mut Imported, requests: &mut Vec<Request>) -> Result<(), ImportError> {
    let all: Vec<Value> = match serde_json::from_str(text) {
        Ok(all) => all,
        Err(error) => return Err(ImportError::json(&error, 0)),
    };
    for entry in &all {
        if imported.target.is_none() {
            imported.target = entry["target"]["path"].as_str().map(str::to_owned);
            if entry["target"]["fstype"].as_str() == Some("block") {
                imported.capacity = entry["target"]["device_size"].as_u64().map(Bytes::new);
            }
            imported.measured_unix_s = entry["timestamp"].as_f64().and_then(rounded);
        }
        let io = &entry["io"];
        let (Some(latency_ns), Some(bytes)) = (io["time"].as_u64(), io["size"].as_u64()) else { continue };
        if io["ignored"].as_bool() == Some(true) {
            continue;
        }
        let operation =
            if io["operation"].as_str() == Some("write") { Operation::Write } else { Operation::Read };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        requests.push(Request { operation, completed_s: 0.0, latency_ns, first_byte: 0, bytes });
    }
    Ok(())
}

/// The requests one after the other, without the pauses between them, which say nothing of the drive.
fn figure_of(mut requests: Vec<Request>) -> Option<Figure> {
    let first = *requests.first()?;
    requests.retain(|request| request.operation == first.operation && request.bytes == first.bytes);
    let mut elapsed_ns = 0u64;
    let mut latencies = LatencyHistogram::default();
    for request in &mut requests {
        elapsed_ns = elapsed_ns.saturating_add(request.latency_ns);
        request.completed_s = elapsed_ns as f64 / 1e9;
        latencies.record(request.latency_ns);
    }
    let bytes = u64::from(first.bytes).saturating_mul(requests.len() as u64);
    let transfer = Transfer::of(Order::Random, first.operation, bytes, u64::from(first.bytes));
    if elapsed_ns == 0 {
        return None;
    }
    let figure = transfer.figure(elapsed_ns as f64 / 1e9);
    Some(Figure { latencies: Some(Box::new(latencies)), requests, ..figure })
}

/// "326.6 k requests completed in 841.8 ms, 1.25 GiB read, …": all there is of a run that only printed its end; until 0.8 no size.
fn of_statistics(line: Line<'_>) -> Result<Option<Figure>, ImportError> {
    let words = line.words();
    let after = position_of(&words, &["requests"]).unwrap_or(0);
    let factor = match words[..after].last().map(|word| word.text) {
        Some("k") => 1e3,
        Some("M") => 1e6,
        _ => 1.0,
    };
    let at = line.needs(after.checked_sub(if factor > 1.0 { 2 } else { 1 }), "a number of requests")?;
    let count = rounded(words[at].number("a number of requests")? * factor).unwrap_or(0);
    let Some(time) = line.after("completed in") else { return Ok(None) };
    let until_comma = Field { text: time.text.split(',').next().unwrap_or(""), ..time };
    let nanos = time_of(&until_comma)?;
    if count == 0 || nanos == 0 {
        return Ok(None);
    }
    let moved = position_of(&words, &["read,", "written,"]);
    let block = match moved.filter(|at| *at >= 2) {
        Some(at) => {
            let size = unit_bytes(words[at - 1].text, 1024.0).zip(number(words[at - 2].text));
            let mean = size.and_then(|(unit, size)| above_zero(unit * size / count as f64));
            nearest_block(words[at - 2].needs(mean, "a size")?)
        }
        None => 4096,
    };
    let operation = if line.text.contains(" written") { Operation::Write } else { Operation::Read };
    let transfer = Transfer::of(Order::Random, operation, count.saturating_mul(block), block);
    Ok(Some(transfer.figure(nanos as f64 / 1e9)))
}
