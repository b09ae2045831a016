//! fio's plain text of 1.x, 2.x and 3.x: what people paste most. The line of a job's start names mode, size and depth; a summary without
//! it still gives throughput. A command or a job file above it tells what else is known.
//!
//! Sizes are printed with three or four digits, so that bytes come from requests where these are known and both agree.

use crate::error::ImportError;
use crate::figure::Imported;
use crate::fio::{self, Job, Options, Shape, Side, Syncs, order_of, shortened, unit_ns};
use crate::text::{Line, lines, number, rounded, unit_bytes};
use model::request::Operation;
use std::collections::BTreeMap;

/// Printed sizes and counted requests are of the same bytes within this share; else short requests or a ramp lie between.
const ROUNDING: f64 = 0.05;
/// How many flushes there were, where only their latencies were pasted: about those of the usual recipe for etcd.
const SYNCS_ASSUMED: u64 = 10_000;
const SIDES: [(&str, Operation); 3] =
    [("read", Operation::Read), ("write", Operation::Write), ("trim", Operation::Discard)];

pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| {
        let text = bare(line.text);
        text.contains("(groupid=")
            || text.starts_with("Run status group")
            || text.starts_with("sync percentiles (")
            || side_of(text).is_some()
    })
}

/// A line without what mail, comments and lists put in front of it.
fn bare(text: &str) -> &str {
    text.trim_start_matches(['>', '#', '*', ' ', '\t', '│']).trim_end()
}

/// "read: IOPS=…" or "read : io=…", also in a cell of a table: the direction, and what follows.
fn side_of(text: &str) -> Option<(Operation, &str)> {
    let (word, rest) = text.split_once(':')?;
    let word = word.trim_end();
    let (_, operation) = SIDES.into_iter().find(|(name, _)| {
        matches!(word.strip_suffix(name), Some(before) if before.is_empty() || before.ends_with([' ', '|']))
    })?;
    let is_side = rest.contains("IOPS=") || rest.contains("iops=");
    is_side.then_some((operation, rest))
}

/// Whose percentiles the next lines list, with their unit.
#[derive(Clone, Copy, PartialEq)]
enum Listed {
    Side(f64),
    Sync(f64),
    Nothing,
}

struct Reader {
    imported: Imported,
    options: Options,
    shapes: BTreeMap<String, Shape>,
    jobs: Vec<Job>,
    /// Requests of the last job, and its flushes, as the text counts them.
    issued: Vec<u64>,
    listed: Listed,
    in_status: bool,
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let imported = Imported { tool: "fio", ..Imported::default() };
    let mut reader = Reader {
        imported,
        options: Options::default(),
        shapes: BTreeMap::new(),
        jobs: Vec::new(),
        issued: Vec::new(),
        listed: Listed::Nothing,
        in_status: false,
    };
    for line in lines(text) {
        reader.line(line)?;
    }
    reader.finish();
    let mut imported = reader.imported;
    if imported.direct.is_none() {
        imported.note("The text has no direct=1, so the page cache may have served requests.");
    } else if imported.direct == Some(false) {
        imported.note("fio ran without direct=1, so the page cache may have served requests.");
    }
    Ok(imported)
}

impl Reader {
    fn line(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = bare(line.text);
        if text.contains(": (g=") || is_version(text) {
            // A start behind results is of another fio.
            if !self.jobs.is_empty() {
                self.finish();
            }
            self.start(text);
        } else if text.contains("(groupid=") {
            if self.in_status {
                self.finish();
            }
            self.result(text);
        } else if text.starts_with("Run status group") {
            self.close();
            self.in_status = true;
        } else if self.in_status && (text.starts_with("READ:") || text.starts_with("WRITE:")) {
            self.summary(text);
        } else if let Some((operation, rest)) = side_of(text) {
            self.side(line, operation, rest)?;
        } else if let Some(counts) = text.strip_prefix("issued").and_then(|rest| rest.split_once("total=")) {
            self.issued = counted(counts.1);
        } else if text.contains("th=[") {
            self.percentiles(text);
        } else {
            self.other(line, text);
        }
        Ok(())
    }

    fn other(&mut self, line: Line<'_>, text: &str) {
        let unit = unit_ns(text);
        if let Some(unit) = unit
            && text.contains("percentiles")
        {
            self.listed = match text {
                _ if text.starts_with("clat") || text.starts_with("lat") => Listed::Side(unit),
                _ if text.starts_with("sync") => Listed::Sync(unit),
                _ => Listed::Nothing,
            };
        } else if let Some(unit) = unit
            && text.starts_with("sync (")
            && let Some(mean) = value(text, "avg=").and_then(shortened)
        {
            if self.jobs.is_empty() {
                self.jobs.push(Job { threads: 1, ..Job::default() });
            }
            let job = self.jobs.last_mut().expect("a job was added");
            job.syncs = Some(Syncs { mean_ns: mean * unit, ..Syncs::default() });
        } else if let (Some(depth), Some(job)) = (value(text, "depth="), self.jobs.last_mut())
            && text.starts_with("latency")
        {
            job.shape.depth = depth.parse().unwrap_or(job.shape.depth);
        } else {
            let is_command = text.contains("fio ") && !self.jobs.is_empty();
            if is_command {
                self.finish();
            }
            self.options.line(Line { text, ..line });
        }
    }

    /// "fio-3.33", "NAME: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=libaio, iodepth=32".
    fn start(&mut self, text: &str) {
        let Some((name, rest)) = text.split_once(": (g=") else {
            if self.imported.version.is_none() {
                let words = text.trim_start_matches("fio").trim_start_matches(['-', ' ']);
                self.imported.version = words.split_whitespace().next().map(str::to_owned);
            }
            return;
        };
        let order = order_of(value(rest, "rw=").unwrap_or("").split([':', ')']).next().unwrap_or(""));
        let depth = value(rest, "iodepth=").unwrap_or_default().parse().unwrap_or(1);
        let shape = Shape { order, blocks: blocks(rest), depth };
        self.shapes.insert(fio::short(name), shape);
    }

    /// "NAME: (groupid=0, jobs=4): err= 0: pid=1: …".
    fn result(&mut self, text: &str) {
        self.close();
        let (name, rest) = text.split_once(": (groupid=").unwrap_or(("", text));
        let name = fio::short(name);
        let group = rest.trim_start_matches(is_no_digit).split(is_no_digit).next().unwrap_or("");
        let threads = value(rest, "jobs=").and_then(|jobs| jobs.trim_end_matches([')', ':']).parse().ok());
        let shape = self.shapes.get(&name).cloned().unwrap_or_else(|| self.only_shape());
        if !matches!(value(rest, "err="), None | Some("0" | "0:")) {
            self.imported.note(format!("fio's job {name} ended with an error."));
        }
        let group = group.parse().unwrap_or(0);
        self.jobs.push(Job { group, name, shape, threads: threads.unwrap_or(1), ..Job::default() });
    }

    /// One start is of all that is reported, whatever its name; else the options tell.
    fn only_shape(&self) -> Shape {
        if let Some(shape) = self.shapes.values().next()
            && self.shapes.len() == 1
        {
            return shape.clone();
        }
        Shape {
            order: order_of(self.options.mode().unwrap_or("")),
            blocks: [self.options.block(); 3],
            depth: self.options.number("iodepth").unwrap_or(1),
        }
    }

    fn side(&mut self, line: Line<'_>, operation: Operation, rest: &str) -> Result<(), ImportError> {
        let expected = "a size and a runtime, as in `io=…, runtime=…msec` or `(…MiB/…msec)`";
        let (size, time) = match (value(rest, "io="), value(rest, "runtime=")) {
            (Some(size), Some(time)) => (size, time),
            _ => match rest.rsplit_once('(').and_then(|(_, last)| last.split(')').next()?.split_once('/')) {
                Some(pair) => pair,
                None => return Err(line.error(expected)),
            },
        };
        let bytes = line.needs(bytes_of(size), expected)?;
        let seconds = line.needs(seconds_of(time), expected)?;
        let iops = value(rest, "IOPS=").or(value(rest, "iops=")).and_then(shortened);
        let count = iops.and_then(|iops| rounded(iops * seconds)).unwrap_or(0);
        self.listed = Listed::Nothing;
        if self.jobs.is_empty() || matches!(self.jobs.last(), Some(job) if has(job, operation)) {
            // The line of the job itself was not pasted.
            self.close();
            let (group, shape) = (self.jobs.len() as u64, self.only_shape());
            let threads = self.options.jobs();
            self.jobs.push(Job { group, shape, threads, ..Job::default() });
        }
        let job = self.jobs.last_mut().expect("a job was added");
        job.sides.push(Side { operation, bytes, count, seconds, percentiles: Vec::new() });
        Ok(())
    }

    /// Of a text without jobs: "READ: bw=…, io=26.7GiB (28.6GB), run=300014-300014msec", "READ: io=…, aggrb=…, mint=…msec, maxt=…msec".
    fn summary(&mut self, text: &str) {
        if self.jobs.iter().any(|job| !job.sides.is_empty() && !job.name.starts_with("group ")) {
            return;
        }
        let longest = value(text, "run=").and_then(|run| run.split_once('-')).map(|(_, most)| most);
        let (Some(bytes), Some(seconds)) =
            (value(text, "io=").and_then(bytes_of), longest.or(value(text, "maxt=")).and_then(seconds_of))
        else {
            return;
        };
        let operation = if text.starts_with("READ") { Operation::Read } else { Operation::Write };
        if self.jobs.last().is_none_or(|job| has(job, operation) || operation == Operation::Read) {
            let (group, shape) = (self.jobs.len() as u64, self.only_shape());
            let name = format!("group {group}");
            self.jobs.push(Job { group, name, shape, threads: 1, ..Job::default() });
        }
        let job = self.jobs.last_mut().expect("a job was added");
        job.sides.push(Side { operation, bytes, count: 0, seconds, percentiles: Vec::new() });
    }

    fn percentiles(&mut self, text: &str) {
        let Some(job) = self.jobs.last_mut() else { return };
        let (list, unit) = match (self.listed, job.sides.last_mut(), &mut job.syncs) {
            (Listed::Side(unit), Some(side), _) => (&mut side.percentiles, unit),
            (Listed::Sync(unit), _, Some(syncs)) => (&mut syncs.percentiles, unit),
            _ => return,
        };
        for part in text.split(']') {
            let Some((percent, latency)) = part.split_once("th=[") else { continue };
            let percent = number(percent.trim_start_matches(['|', ',', ' ', '\t', '>']));
            if let (Some(percent), Some(latency)) = (percent, shortened(latency.trim())) {
                list.push((percent, latency * unit));
            }
        }
    }

    /// The last job is complete: its counts hold for its sides.
    fn close(&mut self) {
        let issued = std::mem::take(&mut self.issued);
        self.listed = Listed::Nothing;
        let Some(job) = self.jobs.last_mut() else { return };
        for side in &mut job.sides {
            let place = SIDES.iter().position(|(_, operation)| *operation == side.operation).unwrap_or(0);
            let Some(count) = issued.get(place).copied().filter(|count| *count > 0) else { continue };
            let Some(block) = job.shape.blocks[place] else {
                side.count = count;
                continue;
            };
            let exact = count.saturating_mul(block);
            if (exact as f64 - side.bytes as f64).abs() <= side.bytes as f64 * ROUNDING {
                (side.count, side.bytes) = (count, exact);
            }
        }
        let written = job.sides.iter().find(|side| side.operation == Operation::Write);
        if let (Some(syncs), Some(written)) = (&mut job.syncs, written) {
            let told = issued.get(3).copied().unwrap_or(0);
            // fio counts no flushes of its own accord: there is one for each so many writes.
            let writes = written.count / self.options.writes_per_sync().unwrap_or(1);
            syncs.count = if told > 0 { told } else { writes };
        } else if let Some(syncs) = &mut job.syncs {
            syncs.count = SYNCS_ASSUMED;
            self.imported.note(format!(
                "The text does not say how many flushes fio timed: {SYNCS_ASSUMED} are assumed. Their latencies do not depend on it."
            ));
        }
    }

    fn finish(&mut self) {
        self.close();
        let jobs = std::mem::take(&mut self.jobs);
        fio::add(&mut self.imported, jobs, &self.options);
        self.shapes.clear();
        self.in_status = false;
    }
}

fn has(job: &Job, operation: Operation) -> bool {
    job.sides.iter().any(|side| side.operation == operation)
}

fn is_version(text: &str) -> bool {
    let rest = text.strip_prefix("fio-").or(text.strip_prefix("fio "));
    matches!(rest, Some(rest) if !rest.starts_with(is_no_digit) && (1..40).contains(&rest.len()))
}

fn is_no_digit(letter: char) -> bool {
    !letter.is_ascii_digit()
}

fn is_letter_or_digit(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic()
}

/// What stands behind a mark: up to a comma, a blank or a parenthesis.
fn value<'text>(text: &'text str, mark: &str) -> Option<&'text str> {
    // `io=` is not the end of another name.
    let (at, _) = text.match_indices(mark).find(|(at, _)| !text[..*at].ends_with(is_letter_or_digit))?;
    let rest = text[at + mark.len()..].trim_start();
    let rest = rest.split([',', ' ', '\t', '(', ';']).next()?;
    if rest.is_empty() { None } else { Some(rest) }
}

/// "982350,328370,0,0", "r=110525114/w=0/d=0, short=…", "4847/4803": reads, writes, trims and flushes.
fn counted(text: &str) -> Vec<u64> {
    let word = text.split_whitespace().next().unwrap_or("");
    let numbers = word.split([',', '/']).map(|part| part.trim_start_matches(is_no_digit));
    numbers.map_while(|part| part.parse().ok()).take(4).collect()
}

/// "bs=4K-4K/8K-8K/4K-4K", "bs=(R) 16.0KiB-16.0KiB, (W) …": one size for each direction, unless it varies.
fn blocks(text: &str) -> [Option<u64>; 3] {
    let Some((_, sizes)) = text.split_once("bs=") else { return [None; 3] };
    let sizes = sizes.split("ioengine").next().unwrap_or("");
    let mut all = [None; 3];
    for (place, range) in sizes.split(['/', ',']).filter(|range| range.contains('-')).take(3).enumerate() {
        let range = range.trim().trim_start_matches(['(', 'R', 'W', 'T', ')', ' ']);
        if let Some((least, most)) = range.split_once('-')
            && least == most
        {
            all[place] = bytes_of(least);
        }
    }
    // Version 1 prints reads and writes only, and some posts one size for all.
    [all[0], all[1].or(all[0]), all[2].or(all[0])]
}

/// "431739MB", "60.0GiB", "96.0kB". All but `kB` of version 3 are of 1024 bytes.
fn bytes_of(text: &str) -> Option<u64> {
    let digits = text.trim_start().trim_end_matches(is_letter);
    let unit = text.trim_start()[digits.len()..].trim();
    let base = if unit == "kB" { 1000.0 } else { 1024.0 };
    let factor = if unit.is_empty() { 1.0 } else { unit_bytes(unit, base)? };
    rounded(number(digits.trim())? * factor)
}

fn seconds_of(text: &str) -> Option<f64> {
    let digits = text.trim().trim_end_matches(')').trim_end_matches(is_letter);
    let unit = &text.trim()[digits.len()..];
    let factor = if unit.starts_with("sec") { 1.0 } else { 1e-3 };
    Some(number(digits)? * factor)
}
