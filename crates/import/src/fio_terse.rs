//! fio's `--minimal` of terse version 2 to 5: a line of fields for each job. It states neither the order of requests nor their size: they
//! come from the command above it, or from a job that is named after its mode.

use crate::error::ImportError;
use crate::figure::{Imported, Order};
use crate::fio::{self, Job, Options, Shape, Side, nearest_block, order_of};
use crate::text::{Field, Line, any_line, lines};
use model::request::Operation;

/// Of the shortest layout; what follows says nothing of a figure.
const FIELDS_MIN: usize = 60;
/// Where the numbers of a direction begin, in version 3, and how far the next direction is behind.
const FIRST: usize = 5;
const NEXT: usize = 41;
/// Version 5 has the count of bandwidths and the spread of requests per second besides.
const NEXT_5: usize = 47;
const DEPTHS: [(usize, u32); 7] = [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 64)];

pub(crate) fn fits(text: &str) -> bool {
    any_line(text, fields)
}

fn fields<'text>(line: Line<'text>) -> Option<(u32, Vec<Field<'text>>)> {
    let mut fields = line.by(';');
    if fields.len() < FIELDS_MIN {
        return None;
    }
    // A prompt or a name of a file may stand in front.
    let version: u32 = fields[0].text.rsplit([' ', ':']).next()?.parse().ok()?;
    if version == 2 {
        fields.insert(1, Field { text: "", ..fields[0] });
    }
    if (2..=5).contains(&version) { Some((version, fields)) } else { None }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "fio", ..Imported::default() };
    let mut options = Options::default();
    let mut jobs: Vec<Job> = Vec::new();
    let mut is_unordered = false;
    for line in lines(text) {
        let Some((version, fields)) = fields(line) else {
            if !jobs.is_empty() && line.text.contains("fio ") {
                fio::add(&mut imported, std::mem::take(&mut jobs), &options);
            }
            options.line(line);
            continue;
        };
        if imported.version.is_none() {
            let version = fields[1].text.trim_start_matches("fio-");
            imported.version = if version.is_empty() { None } else { Some(version.to_owned()) };
        }
        let job = job(version, &fields, &options)?;
        is_unordered |= job.shape.order == Order::Unknown;
        // A group that comes again is of another fio.
        if let Some(last) = jobs.last()
            && job.group < last.group
        {
            fio::add(&mut imported, std::mem::take(&mut jobs), &options);
        }
        jobs.push(job);
    }
    fio::add(&mut imported, jobs, &options);
    if is_unordered {
        imported.note("fio --minimal does not state whether requests were sequential or random. Import the fio command above the line.");
    }
    if imported.direct.is_none() {
        imported.note("fio --minimal does not state direct=1, so the page cache may have served requests.");
    }
    Ok(imported)
}

fn job(version: u32, fields: &[Field<'_>], options: &Options) -> Result<Job, ImportError> {
    let next = if version == 5 { NEXT_5 } else { NEXT };
    let directions: &[(usize, Operation)] = match version {
        2 | 3 => &[(0, Operation::Read), (1, Operation::Write)],
        _ => &[(0, Operation::Read), (1, Operation::Write), (2, Operation::Discard)],
    };
    let mut sides = Vec::new();
    for (at, operation) in directions {
        let from = FIRST + at * next;
        let Some([kib, _, per_second, milliseconds]) = fields.get(from..from + 4) else { continue };
        let bytes = kib.whole("a number of KiB")?.saturating_mul(1024);
        let seconds = milliseconds.whole("a runtime in ms")? as f64 / 1e3;
        let count = (per_second.number("requests per second")? * seconds).round() as u64;
        if bytes > 0 && seconds > 0.0 {
            let percentiles = percentiles(fields.get(from + 12..from + 32).unwrap_or_default());
            sides.push(Side { operation: *operation, bytes, count, seconds, percentiles });
        }
    }
    let name = fields[2].text;
    let lower = name.to_ascii_lowercase();
    let order = match options.mode() {
        Some(mode) => order_of(mode),
        None if lower.contains("rand") => Order::Random,
        None if lower.contains("seq") => Order::Sequential,
        None => order_of(&lower),
    };
    // Shares of the depths follow usr, sys, ctx, majf and minf behind the last direction.
    let depths = fields.get(FIRST + directions.len() * next + 5..).unwrap_or_default();
    let depth = options.number("iodepth").unwrap_or_else(|| most_common(depths));
    // The size of requests is that of most: bytes are of whole KiB, and their number is rounded.
    let block = |operation| {
        let side = sides.iter().find(|side| side.operation == operation)?;
        let mean = side.bytes.checked_div(side.count).unwrap_or(side.bytes);
        Some(options.block().unwrap_or_else(|| nearest_block(mean)))
    };
    let blocks = [block(Operation::Read), block(Operation::Write), block(Operation::Discard)];
    for (side, block) in sides.iter_mut().zip(blocks.into_iter().flatten()) {
        side.count = side.bytes / block.max(1);
    }
    Ok(Job {
        group: fields[3].whole("the number of a group")?,
        name: name.to_owned(),
        shape: Shape { order, blocks, depth },
        threads: options.jobs(),
        sides,
        syncs: None,
    })
}

fn percentiles(fields: &[Field<'_>]) -> fio::Percentiles {
    let mut all = Vec::new();
    for field in fields {
        let Some((percent, latency)) = field.text.split_once("%=") else { continue };
        if let (Some(percent), Some(latency)) = (crate::text::number(percent), crate::text::number(latency))
            && percent > 0.0
        {
            all.push((percent, latency * 1e3));
        }
    }
    all
}

fn most_common(shares: &[Field<'_>]) -> u32 {
    let mut most = (0.0, 1);
    for (at, depth) in DEPTHS {
        let share = shares.get(at).and_then(|field| crate::text::number(field.text.trim_end_matches('%')));
        if let Some(share) = share
            && share > most.0
        {
            most = (share, depth);
        }
    }
    most.1
}
