//! fio job files of the simple kind: jobs that read or write one target in turn. Format: fio's HOWTO (version 3). What is not
//! supported is refused with its line; what makes no difference here is in `WITHOUT_EFFECT`.
//!
//! Other than in fio, requests always bypass the page cache, and a `rate` is an open loop that charges stalls.

use super::flaw::{Flaw, Reason, at_line, count, in_key, not_a, percent};
use super::types::{Amount, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX, THREADS_MAX};
use std::collections::BTreeMap;

const JOBS_MAX: usize = 500;
const NAME_LETTERS_MAX: usize = 200;
const BLOCK_BYTES: Bytes = Bytes::from_kib(4);

/// Options that change nothing here: who carries requests, how a report looks, what is the case anyway.
const WITHOUT_EFFECT: &str = "ioengine, filename, directory, name, description, group_reporting, invalidate, thread, randrepeat, \
    randseed, allrandrepeat, refill_buffers, disable_lat, disable_clat, disable_slat, clocksource, \
    gtod_reduce, new_group, write_bw_log, write_lat_log, write_iops_log, log_avg_msec, registerfiles, \
    fixedbufs";

const KNOWN: &str = "rw, bs, bssplit, iodepth, numjobs, size, io_size, offset, runtime, time_based, rate, rate_iops, \
    rwmixread, rwmixwrite, norandommap, direct, loops, stonewall, wait_for_previous, ramp_time, \
    blockalign";

type Options = BTreeMap<String, (usize, String)>;

struct Section {
    name: String,
    number: usize,
    options: Options,
}

pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    let (mut global, mut jobs) = (Options::new(), Vec::<Section>::new());
    // `[global]` may come several times.
    for section in sections(text)? {
        if section.name == "global" {
            global.extend(section.options);
            continue;
        }
        if jobs.len() >= JOBS_MAX {
            return Err(Reason::TooMany { most: JOBS_MAX, what: "jobs" }.at(section.number));
        }
        jobs.push(section);
    }
    let Some(first) = jobs.first() else { return Err(Reason::NoJob.into()) };
    let mut steps = Job { own: &first.options, global: &global }.steps(&first.name)?;
    for pair in jobs.windows(2) {
        let [first, second] = pair else { continue };
        let job = Job { own: &second.options, global: &global };
        if !job.is_set("stonewall") && !job.is_set("wait_for_previous") {
            let (first, number) = (first.name.clone(), second.number);
            return Err(Reason::Simultaneous { first, second: second.name.clone() }.at(number));
        }
        steps.extend(job.steps(&second.name)?);
    }
    Ok(PatternFile { steps, ..PatternFile::default() })
}

fn sections(text: &str) -> Result<Vec<Section>, Flaw> {
    let mut sections = Vec::<Section>::new();
    for (index, raw) in text.lines().enumerate() {
        let (number, line) = (index + 1, raw.trim());
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']') else { return Err(Reason::OpenSection.at(number)) };
            let name = name.trim().chars().take(NAME_LETTERS_MAX).collect();
            sections.push(Section { name, number, options: Options::new() });
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let Some(section) = sections.last_mut() else {
            return Err(Reason::BeforeSections(key.trim().into()).at(number));
        };
        section.options.insert(plain(key.trim()), (number, without_comment(value).into()));
    }
    Ok(sections)
}

/// Only ` #` and ` ;` begin a comment behind a value.
fn without_comment(value: &str) -> &str {
    let value = value.trim();
    let end = [value.find(" #"), value.find(" ;")].into_iter().flatten().min();
    value[..end.unwrap_or(value.len())].trim()
}

fn plain(key: &str) -> String {
    match key {
        "readwrite" => "rw",
        "blocksize" => "bs",
        "blocksize_range" => "bsrange",
        "filesize" => "size",
        "iops_rate" => "rate_iops",
        other => other,
    }
    .to_ascii_lowercase()
}

fn is_listed(option: &str, list: &str) -> bool {
    list.split(", ").any(|known| known == option)
}

struct Job<'file> {
    own: &'file Options,
    global: &'file Options,
}

impl Job<'_> {
    fn get(&self, key: &str) -> Option<(usize, &str)> {
        let (number, value) = self.own.get(key).or(self.global.get(key))?;
        Some((*number, value))
    }

    /// A flag is set by its name alone or by 1.
    fn is_set(&self, key: &str) -> bool {
        !matches!(self.get(key), None | Some((_, "0")))
    }

    fn read<Value, Wrong: Into<Reason>>(
        &self,
        key: &'static str,
        read: fn(&str) -> Result<Value, Wrong>,
    ) -> Result<Option<Value>, Flaw> {
        let Some((number, value)) = self.get(key) else { return Ok(None) };
        at_line(number, in_key(key, read(value))).map(Some)
    }

    fn count(&self, key: &'static str, most: u32) -> Result<Option<u32>, Flaw> {
        let Some((number, value)) = self.get(key) else { return Ok(None) };
        at_line(number, in_key(key, count(value, most))).map(Some)
    }

    fn check_all_known(&self) -> Result<(), Flaw> {
        for (option, (number, _)) in self.global.iter().chain(self.own) {
            if !is_listed(option, KNOWN) && !is_listed(option, WITHOUT_EFFECT) {
                let unknown = Reason::UnknownOption { option: option.clone(), supported: KNOWN };
                return Err(unknown.at(*number));
            }
        }
        match self.get("direct") {
            Some((number, "0")) => at_line(number, in_key("direct", Err(Reason::Buffered))),
            _ => Ok(()),
        }
    }

    fn steps(&self, name: &str) -> Result<Vec<PatternStep>, Flaw> {
        self.check_all_known()?;
        let load = self.load()?;
        let stop = self.stop(load.threads)?;
        let mut steps = Vec::new();
        if let Some(time) = self.read("ramp_time", time)? {
            steps.push(PatternStep {
                name: format!("{name}, ramp"),
                kind: PhaseKind::WarmUp,
                load: Some(load.clone()),
                stop: Stop { time: Some(time), ..Stop::default() },
            });
        }
        steps.push(PatternStep { name: name.into(), kind: PhaseKind::Measure, load: Some(load), stop });
        Ok(steps)
    }

    fn load(&self) -> Result<Load, Flaw> {
        let (shape, by_direction) = self.read("rw", direction)?.unwrap_or((Shape::Sequential, Some(1.0)));
        let shape = match shape {
            Shape::RandomOnce if self.is_set("norandommap") => Shape::Random,
            shape => shape,
        };
        let read_share = self.read("rwmixread", percent)?;
        let write_share = self.read("rwmixwrite", percent)?;
        let reads = match (by_direction.or(read_share), write_share) {
            (Some(reads), _) => reads,
            (None, Some(writes)) => 1.0 - writes,
            (None, None) => 0.5,
        };
        let blocks = match self.read("bssplit", block_split)? {
            Some(blocks) => blocks,
            None => vec![(self.read("bs", block)?.unwrap_or(BLOCK_BYTES), 1.0)],
        };
        let threads = self.count("numjobs", THREADS_MAX)?.unwrap_or(1);
        Ok(Load {
            from: self.read("offset", amount)?.unwrap_or(Amount::Share(0.0)),
            over: self.read("size", amount)?,
            shape,
            alignment: self.read("blockalign", block)?,
            reads: Some(reads),
            data: DataPattern::Incompressible,
            depth: self.count("iodepth", QUEUE_DEPTH_MAX)?.unwrap_or(1),
            threads,
            per_second: self.per_second(&blocks, threads)?,
            blocks,
        })
    }

    /// fio's rates are those of each of `numjobs`.
    fn per_second(&self, blocks: &[(Bytes, f64)], threads: u32) -> Result<Option<f64>, Flaw> {
        let mut mean = 0.0;
        for (size, share) in blocks {
            mean += size.as_f64() * share;
        }
        let (rate, requests) = (self.read("rate", size)?, self.count("rate_iops", u32::MAX)?);
        Ok(match (requests, rate) {
            (Some(requests), _) => Some(f64::from(requests) * f64::from(threads)),
            (None, Some(rate)) => Some(rate.as_f64() / mean * f64::from(threads)),
            (None, None) => None,
        })
    }

    /// fio ends a job when it has moved its size, for each of `numjobs`, or its time is up; with `time_based` only then.
    fn stop(&self, threads: u32) -> Result<Stop, Flaw> {
        // A runtime of zero is none.
        let time = match self.read("runtime", time)? {
            Some(Nanos::ZERO) => None,
            time => time,
        };
        match self.get("time_based") {
            Some((number, value)) if value != "0" => {
                return if time.is_some() {
                    Ok(Stop { time, ..Stop::default() })
                } else {
                    Err(Reason::TimeBasedWithoutTime.at(number))
                };
            }
            _ => {}
        }
        let loops = self.count("loops", u32::MAX)?.unwrap_or(1);
        let times = u64::from(threads) * u64::from(loops);
        let bytes = match self.read("io_size", amount)? {
            None => return Ok(Stop { time, passes: Some(times), ..Stop::default() }),
            Some(Amount::Bytes(bytes)) => Amount::Bytes(Bytes::new(bytes.get().saturating_mul(times))),
            Some(Amount::Share(share)) => Amount::Share(share * times as f64),
        };
        Ok(Stop { time, bytes: Some(bytes), ..Stop::default() })
    }
}

fn direction(text: &str) -> Result<(Shape, Option<f64>), Reason> {
    match text {
        "read" => Ok((Shape::Sequential, Some(1.0))),
        "write" => Ok((Shape::Sequential, Some(0.0))),
        "randread" => Ok((Shape::RandomOnce, Some(1.0))),
        "randwrite" => Ok((Shape::RandomOnce, Some(0.0))),
        "rw" | "readwrite" => Ok((Shape::Sequential, None)),
        "randrw" => Ok((Shape::RandomOnce, None)),
        other => Err(not_a("one of read, write, randread, randwrite, rw, randrw", other).into()),
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches(is_digit).len())
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// A size as fio reads it by default: `k`, `m`, `g`, `t` are powers of 1024, with or without a `b`; `ki` is refused.
fn size(text: &str) -> Result<Bytes, Reason> {
    let lower = text.to_ascii_lowercase();
    if lower.contains(',') {
        return Err(Reason::ValuesByOperation(text.into()));
    }
    let (number, unit) = split_digits(&lower);
    let power = match unit {
        "" | "b" => Some(0),
        "k" | "kb" => Some(1),
        "m" | "mb" => Some(2),
        "g" | "gb" => Some(3),
        "t" | "tb" => Some(4),
        "ki" | "kib" | "mi" | "mib" | "gi" | "gib" | "ti" | "tib" => {
            return Err(Reason::DecimalUnit { text: text.into(), unit: unit.into() });
        }
        _ => None,
    };
    if let (Ok(number), Some(power)) = (number.parse::<u64>(), power)
        && let Some(bytes) = number.checked_mul(1024u64.pow(power))
        && bytes > 0
    {
        return Ok(Bytes::new(bytes));
    }
    Err(not_a("a size such as 4k, 1m or 10g", text).into())
}

fn block(text: &str) -> Result<Bytes, Reason> {
    let block = size(text)?;
    if block > BLOCK_BYTES_MAX { Err(Reason::AboveLargest(format!("`{text}`"))) } else { Ok(block) }
}

fn amount(text: &str) -> Result<Amount, Reason> {
    match text.strip_suffix('%') {
        Some(number) => Ok(Amount::Share(percent(number)?)),
        // An offset may be nothing.
        None if text == "0" => Ok(Amount::Bytes(Bytes::ZERO)),
        None => Ok(Amount::Bytes(size(text)?)),
    }
}

fn time(text: &str) -> Result<Nanos, Reason> {
    let (number, unit) = split_digits(text);
    let each = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => Some(1_000),
        "ms" | "msec" => Some(1_000_000),
        "" | "s" | "sec" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        "d" => Some(86_400_000_000_000),
        _ => None,
    };
    if let (Ok(number), Some(each)) = (number.parse::<u64>(), each)
        && let Some(nanos) = number.checked_mul(each)
    {
        return Ok(Nanos::new(nanos));
    }
    Err(not_a("a time such as 60, 90s, 10m or 2h", text).into())
}

/// `4k/10:64k/50:32k/40`; shares that are left out divide what is left among them.
fn block_split(text: &str) -> Result<Vec<(Bytes, f64)>, Reason> {
    if text.contains(',') {
        return Err(Reason::SplitsByOperation);
    }
    let (mut parts, mut given, mut open) = (Vec::new(), 0.0, 0);
    for part in text.split(':') {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = if share.is_empty() { None } else { Some(percent(share)?) };
        match share {
            Some(share) => given += share,
            None => open += 1,
        }
        parts.push((block(size)?, share));
    }
    if given > 1.0 + 1e-9 || (open == 0 && given < 1.0 - 1e-3) {
        let percent = format!("{:.0}", given * 100.0);
        return Err(Reason::SharesSum { shares: "the shares".into(), percent });
    }
    let each = (1.0 - given).max(0.0) / f64::from(open.max(1));
    let mut blocks = Vec::new();
    for (size, share) in parts {
        blocks.push((size, share.unwrap_or(each)));
    }
    Ok(blocks)
}
