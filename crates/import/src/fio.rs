//! What fio's outputs have in common: its jobs with their sides, and how they become figures. Jobs of one group ran at the same time.

use crate::figure::{Commits, Figure, Imported, Order, Place, Set, Transfer, Work};
use crate::text::{Line, above_zero, number, rounded};
use model::commit::CommitMethod;
use model::histogram::LatencyHistogram;
use model::quantity_text::parse_size;
use model::request::Operation;
use model::units::Bytes;
use serde_json::Value;
use std::collections::BTreeMap;

/// So many results keep their latencies, which take up to 60 KB each.
pub(crate) const WITH_LATENCIES_MAX: usize = 1000;
/// A drive does not complete more requests than that; sums of their latencies fit.
pub(crate) const REQUESTS_MAX: u64 = 1 << 50;
/// Options that say something of a figure; all others are passed over.
const OPTIONS: [&str; 13] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "iodepth",
    "numjobs",
    "direct",
    "filename",
    "offset",
    "size",
    "fsync",
    "fdatasync",
    "group_reporting",
];

/// One job, or all of a group that fio reports as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    pub group: u64,
    pub name: String,
    pub shape: Shape,
    pub threads: u32,
    pub sides: Vec<Side>,
    pub syncs: Option<Syncs>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub order: Order,
    pub blocks: [Option<u64>; 3],
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub operation: Operation,
    pub bytes: u64,
    /// Requests; 0 when the text does not tell.
    pub count: u64,
    pub seconds: f64,
    pub percentiles: Percentiles,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Syncs {
    pub count: u64,
    pub mean_ns: f64,
    pub percentiles: Percentiles,
}

pub(crate) type Percentiles = Vec<(f64, f64)>;

impl Default for Shape {
    fn default() -> Shape {
        Shape { order: Order::Unknown, blocks: [None; 3], depth: 1 }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    given: BTreeMap<&'static str, String>,
}

impl Options {
    /// Those of a job in fio's JSON, before those that hold for all jobs.
    pub(crate) fn of_job(job: &Value, global: &Value) -> Options {
        let mut options = Options::default();
        for name in OPTIONS {
            if let Some(value) = job[name].as_str().or(global[name].as_str()) {
                options.given.insert(name, value.to_owned());
            }
        }
        options
    }

    pub(crate) fn line(&mut self, line: Line<'_>) {
        let words = line.words();
        let is_command = |word: &str| word == "fio" || word.ends_with("/fio");
        if words.windows(2).any(|pair| is_command(pair[0].text) && pair[1].text.starts_with('-')) {
            self.given.clear();
        }
        for (at, word) in words.iter().enumerate() {
            let bare = word.text.trim_start_matches(['-', '–', '—']);
            let has_dash = bare.len() < word.text.len();
            if !has_dash && words.len() > 1 {
                continue;
            }
            let next = words.get(at + 1).map_or("", |next| next.text);
            let (name, value) = bare.split_once('=').unwrap_or((bare, next));
            if let Some(name) = OPTIONS.into_iter().find(|known| *known == name)
                && (!value.is_empty() || name == "group_reporting")
            {
                let value = value.trim_end_matches(['\\', ';']).trim_matches(['"', '\'']);
                self.given.insert(name, value.to_owned());
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    pub(crate) fn jobs(&self) -> u32 {
        if self.get("group_reporting").is_some() { self.number("numjobs").unwrap_or(1) } else { 1 }
    }

    /// A size; fio takes `k` and `KiB` for 1024 bytes, as we do.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        Some(parse_size(self.get(name)?).ok()?.get())
    }

    pub(crate) fn mode(&self) -> Option<&str> {
        self.get("rw").or(self.get("readwrite"))
    }

    pub(crate) fn block(&self) -> Option<u64> {
        self.size("bs").or(self.size("blocksize"))
    }

    pub(crate) fn direct(&self) -> Option<bool> {
        Some(self.get("direct")? != "0")
    }

    /// How many writes fio did for each flush.
    pub(crate) fn writes_per_sync(&self) -> Option<u64> {
        self.get("fdatasync").or(self.get("fsync"))?.parse().ok().filter(|writes| *writes > 0)
    }
}

pub(crate) fn order_of(mode: &str) -> Order {
    match mode {
        _ if mode.starts_with("rand") => Order::Random,
        "read" | "write" | "rw" | "readwrite" | "trim" => Order::Sequential,
        _ => Order::Unknown,
    }
}

pub(crate) fn add(imported: &mut Imported, jobs: Vec<Job>, options: &Options) {
    if let Some(direct) = options.direct() {
        imported.direct = Some(imported.direct.unwrap_or(true) && direct);
    }
    if imported.target.is_none() {
        imported.target = options.get("filename").map(str::to_owned);
    }
    let mut merged: Vec<Job> = Vec::new();
    for job in jobs {
        match merged.last_mut() {
            Some(last) if last.group == job.group && last.shape == job.shape && same_sides(last, &job) => {
                last.join(job);
            }
            Some(last) if last.group == job.group => {
                imported.note(format!(
                    "fio ran the jobs {} and {} at the same time: their figures share the drive.",
                    short(&last.name),
                    short(&job.name)
                ));
                merged.push(job);
            }
            _ => merged.push(job),
        }
    }
    for mut job in merged {
        if imported.sets.len() >= WITH_LATENCIES_MAX {
            for side in &mut job.sides {
                side.percentiles.clear();
            }
            if let Some(syncs) = &mut job.syncs {
                syncs.percentiles.clear();
            }
        }
        let mut figures = Vec::new();
        figures.extend(job.transfer(options));
        let transfer = figures.first();
        let syncs = job.syncs.as_ref().and_then(|syncs| syncs.figure(transfer, options));
        note_writes(imported, syncs.as_ref());
        figures.extend(syncs);
        if !figures.is_empty() {
            imported.sets.push(Set { figures });
        }
    }
}

fn same_sides(one: &Job, other: &Job) -> bool {
    let operations = |job: &Job| job.sides.iter().map(|side| side.operation).collect::<Vec<_>>();
    operations(one) == operations(other)
}

pub(crate) fn short(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(40).collect()
}

impl Job {
    fn join(&mut self, other: Job) {
        self.threads = self.threads.saturating_add(other.threads);
        for (mine, its) in self.sides.iter_mut().zip(other.sides) {
            mine.bytes = mine.bytes.saturating_add(its.bytes);
            mine.count = mine.count.saturating_add(its.count);
            mine.seconds = mine.seconds.max(its.seconds);
            // Percentiles of several jobs cannot be added up.
            mine.percentiles.clear();
        }
        if let (Some(mine), Some(its)) = (&mut self.syncs, other.syncs) {
            let count = mine.count.saturating_add(its.count);
            let sum = mine.mean_ns * mine.count as f64 + its.mean_ns * its.count as f64;
            (mine.mean_ns, mine.count) = (sum / (count as f64).max(1.0), count);
            mine.percentiles.clear();
        }
    }

    fn transfer(&self, options: &Options) -> Option<Figure> {
        let (mut moved, mut seconds) = (Vec::new(), 0.0f64);
        for side in &self.sides {
            if side.bytes > 0 {
                moved.push((side.operation, side.count, side.bytes));
                seconds = seconds.max(side.seconds);
            }
        }
        let (operation, count, bytes) = *moved.first()?;
        let place = match operation {
            Operation::Read => 0,
            Operation::Write => 1,
            _ => 2,
        };
        // A byte stands for a size that nobody tells.
        let block =
            self.shape.blocks[place].or(bytes.checked_div(count).map(nearest_block)).unwrap_or(1).max(1);
        for (_, count, bytes) in &mut moved {
            if *count == 0 {
                *count = *bytes / block;
            }
        }
        let latencies = match (self.sides.as_slice(), moved.len()) {
            (sides, 1) => sides.iter().find(|side| side.bytes > 0).and_then(Side::latencies),
            _ => None,
        };
        let order = self.shape.order;
        let transfer = Transfer { moved, ..Transfer::of(order, operation, bytes, block) };
        let transfer = transfer.deep(self.shape.depth, self.threads);
        let place = if self.threads > 1 { None } else { place_of(options, order, bytes) };
        let figure = transfer.figure(seconds).at(place);
        Some(Figure { latencies: latencies.map(Box::new), ..figure })
    }
}

impl Side {
    fn latencies(&self) -> Option<LatencyHistogram> {
        distribution(&self.percentiles, self.count)
    }
}

impl Syncs {
    /// Flushes one after the other: as long as they took together. They are commits if each write of one thread had one.
    pub(crate) fn figure(&self, transfer: Option<&Figure>, options: &Options) -> Option<Figure> {
        let seconds = self.mean_ns * self.count as f64 / 1e9;
        if self.count == 0 || seconds <= 0.0 {
            return None;
        }
        let latencies = distribution(&self.percentiles, self.count).map(Box::new);
        let commits = transfer.and_then(|transfer| self.commits(transfer, options));
        Some(Figure { latencies, commits, ..Figure::of("flush", Work::Flushes(self.count), seconds) })
    }

    fn commits(&self, figure: &Figure, options: &Options) -> Option<Commits> {
        let Work::Transfer(transfer) = &figure.work else { return None };
        let [(Operation::Write, writes, _)] = transfer.moved[..] else { return None };
        // Without a command both options lead to the same words in the output; the usual recipe has fdatasync.
        let method = match options.get("fsync") {
            Some(_) if options.get("fdatasync").is_none() => CommitMethod::Fsync,
            _ => CommitMethod::Fdatasync,
        };
        // fio does not flush after the last write.
        let is_each = self.count.abs_diff(writes) <= 1;
        let is_one = transfer.threads == 1 && transfer.queue_depth == 1 && transfer.block.get() > 1;
        let write = Bytes::new(transfer.block.get());
        if is_each && is_one { Some(Commits { method, write, seconds: figure.seconds }) } else { None }
    }
}

pub(crate) fn note_writes(imported: &mut Imported, syncs: Option<&Figure>) {
    if matches!(syncs, Some(figure) if figure.commits.is_some()) {
        imported.note("fio's sync latencies are those of the flush alone: a commit takes its write longer.");
    }
}

/// Where on a device it was. A part of a target in percent says nothing without its size.
pub(crate) fn place_of(options: &Options, order: Order, bytes: u64) -> Option<Place> {
    if !options.get("filename")?.starts_with("/dev/") {
        return None;
    }
    let first_byte = match options.get("offset") {
        Some(_) => options.size("offset")?,
        None => 0,
    };
    match (order, options.size("size")) {
        (Order::Sequential, size) => Some(Place { first_byte, bytes: bytes.min(size.unwrap_or(bytes)) }),
        (_, Some(size)) => Some(Place { first_byte, bytes: size }),
        _ => None,
    }
}

/// A distribution with those percentiles. Between two of them all latencies are the higher one, as in fio's own buckets.
pub(crate) fn distribution(percentiles: &[(f64, f64)], count: u64) -> Option<LatencyHistogram> {
    if percentiles.is_empty() || count == 0 || count > REQUESTS_MAX {
        return None;
    }
    let (mut histogram, mut done) = (LatencyHistogram::default(), 0);
    for (at, (percent, latency)) in percentiles.iter().enumerate() {
        let is_last = at + 1 == percentiles.len();
        let until =
            if is_last { count } else { rounded((count as f64 * percent / 100.0).ceil())?.min(count) };
        histogram.record_many(above_zero(*latency).unwrap_or(1), until.saturating_sub(done));
        done = done.max(until);
    }
    histogram.shrink();
    Some(histogram)
}

/// The power of two or the multiple of 512 bytes that a mean size is closest to, within 2 %.
pub(crate) fn nearest_block(mean: u64) -> u64 {
    let power = mean.max(1).next_power_of_two();
    for block in [power, power / 2, mean.div_ceil(512).saturating_mul(512)] {
        if block > 0 && mean.abs_diff(block) * 50 <= block {
            return block;
        }
    }
    mean.max(1)
}

pub(crate) fn unit_ns(text: &str) -> Option<f64> {
    [("(nsec)", 1.0), ("(usec)", 1e3), ("(msec)", 1e6), ("(sec)", 1e9)]
        .into_iter()
        .find_map(|(unit, factor)| text.contains(unit).then_some(factor))
}

/// "12.5", "16.2k", "1.1M": as fio shortens counts and latencies.
pub(crate) fn shortened(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => return None,
    };
    Some(number(digits)? * factor)
}
