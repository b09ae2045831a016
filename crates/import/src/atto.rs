//! ATTO Disk Benchmark: a rate of writes and one of reads for each size of request. Its table names the unit in its head; without one, rates
//! are KB of 1024 bytes, as in version 2, which prints sizes as bare numbers of KB.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Set, Transfer};
use crate::text::{Field, Line, above_zero, lines, number, unit_bytes};
use model::request::Operation;

/// The queue depth of version 2 and later, unless the text tells another.
const QUEUE_DEPTH: u32 = 4;

pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| line.text.contains("ATTO") && !line.text.contains("CrystalDiskMark"))
}

struct Table {
    unit: f64,
    write_first: bool,
    queue_depth: u32,
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "ATTO Disk Benchmark", direct: Some(true), ..Imported::default() };
    let mut table = Table { unit: 1024.0, write_first: true, queue_depth: QUEUE_DEPTH };
    let mut set = Set::default();
    for line in lines(text) {
        let lower = line.text.to_ascii_lowercase();
        if let Some(field) = line.after("ATTO Disk Benchmark") {
            imported.version =
                field.text.split_whitespace().next().map(|word| word.trim_start_matches('v').to_owned());
        } else if let Some(field) = line.after("Queue Depth").or(line.after("queue depth")) {
            let depth = field.text.trim_start_matches([':', '=', ' ', ',']);
            table.queue_depth = depth.parse().unwrap_or(table.queue_depth);
        } else if lower.contains("write") && lower.contains("read") {
            head(&mut table, &lower);
        } else if let Some((size, rest)) = size_and_rest(line) {
            set.figures.extend(row(line, size, &rest, &table)?);
        }
    }
    imported.note("ATTO measures in a file at unknown offsets and runs each size once, briefly. A disturbed size looks slow.");
    imported.sets.push(set);
    Ok(imported)
}

fn head(table: &mut Table, lower: &str) {
    table.write_first = lower.find("write") < lower.find("read");
    for (mark, unit) in
        [("gb/s", 1e9), ("mb/s", 1e6), ("gib/s", 1_073_741_824.0), ("mib/s", 1_048_576.0), ("kb/s", 1024.0)]
    {
        if lower.contains(mark) {
            table.unit = unit;
            return;
        }
    }
}

fn size_and_rest<'text>(line: Line<'text>) -> Option<(u64, Vec<Field<'text>>)> {
    let fields: Vec<Field<'text>> = if line.text.contains(',') { line.by(',') } else { line.words() };
    let first = fields.first()?;
    let (value, unit) = first.number_and_rest("").ok()?;
    let (unit, rest) = match (unit, fields.get(1)) {
        ("", Some(next)) if unit_bytes(next.text, 1024.0).is_some() => (next.text, &fields[2..]),
        ("", _) => ("KB", &fields[1..]),
        (unit, _) => (unit, &fields[1..]),
    };
    let size = above_zero(value * unit_bytes(unit, 1024.0)?)?;
    if rest.len() >= 2 { Some((size, rest.to_vec())) } else { None }
}

fn row(line: Line<'_>, size: u64, rest: &[Field<'_>], table: &Table) -> Result<Vec<Figure>, ImportError> {
    let mut rates = Vec::new();
    let mut at = 0;
    while rates.len() < 2 {
        let field = line.needs(rest.get(at), "a rate of writes and one of reads")?;
        at += 1;
        let (value, unit) = field.number_and_rest("a rate of writes or reads")?;
        let mut unit = unit;
        if let Some(next) = rest.get(at)
            && unit.is_empty()
            && number(next.text).is_none()
        {
            unit = next.text;
            at += 1;
        }
        let factor = if unit.is_empty() {
            table.unit
        } else {
            field.needs(unit_bytes(unit, 1000.0), "a rate and its unit")?
        };
        rates.push((field, value * factor));
    }
    let operations = match table.write_first {
        true => [Operation::Write, Operation::Read],
        false => [Operation::Read, Operation::Write],
    };
    let mut figures = Vec::new();
    for (operation, (field, rate)) in operations.into_iter().zip(rates) {
        // A rate of nothing is one that was not measured.
        let Some(bytes) = above_zero(rate) else {
            if rate == 0.0 {
                continue;
            }
            return Err(field.error("a rate that a drive can have"));
        };
        let transfer = Transfer::of(Order::Sequential, operation, bytes, size).deep(table.queue_depth, 1);
        figures.push(transfer.figure(1.0));
    }
    Ok(figures)
}
