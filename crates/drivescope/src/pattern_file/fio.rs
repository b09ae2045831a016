//! fio job files of the simple kind: jobs that read or write one target, one after the other. Format: fio's HOWTO
//! (Axboe and others, version 3). What is not supported is refused with its line, never passed over in silence; what
//! makes no difference here is named in a list below.
//!
//! Where this program differs from fio: requests always go past the page cache; a `rate` is an open loop, so that
//! a stall is charged to every request that it kept waiting.

use super::{Amount, Flaw, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX, THREADS_MAX};
use std::collections::BTreeMap;

const JOBS_MAX: usize = 500;
const NAME_LETTERS_MAX: usize = 200;
/// fio's own, where a file gives none.
const BLOCK_BYTES: Bytes = Bytes::from_kib(4);

/// Options that change nothing here: who carries requests, how a report looks, what is the case anyway.
const WITHOUT_EFFECT: [&str; 24] = [
    "ioengine",
    "filename",
    "directory",
    "name",
    "description",
    "group_reporting",
    "invalidate",
    "thread",
    "randrepeat",
    "randseed",
    "allrandrepeat",
    "refill_buffers",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "clocksource",
    "gtod_reduce",
    "new_group",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "log_avg_msec",
    "registerfiles",
    "fixedbufs",
];

/// The options of one section, with the line of each.
type Options = BTreeMap<String, (usize, String)>;

struct Job {
    name: String,
    number: usize,
    options: Options,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    let (global, jobs) = sections(text)?;
    if jobs.is_empty() {
        return Err((None, "it has no job: no section such as [my-job] beside [global]".into()));
    }
    let mut steps = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let options = Merged { own: &job.options, global: &global };
        let waits = options.is_set("stonewall") || options.is_set("wait_for_previous");
        if index > 0 && !waits {
            let reason = format!(
                "jobs `{}` and `{}` would run at the same time, which is not supported; put `stonewall` into the second",
                jobs[index - 1].name,
                job.name
            );
            return Err((Some(job.number), reason));
        }
        steps.extend(options.steps(&job.name)?);
    }
    Ok(PatternFile { name: String::new(), description: String::new(), steps, notes: Vec::new() })
}

/// `[global]`, which may come several times, and the jobs.
fn sections(text: &str) -> Result<(Options, Vec<Job>), Flaw> {
    let (mut global, mut jobs, mut section) = (Options::new(), Vec::<Job>::new(), None);
    for (index, raw) in text.lines().enumerate() {
        let number = index + 1;
        let flaw = |reason: String| (Some(number), reason);
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').ok_or_else(|| flaw("a section ends with ]".into()))?.trim();
            section = Some(name.to_owned());
            if name != "global" {
                if jobs.len() >= JOBS_MAX {
                    return Err(flaw(format!("more than {JOBS_MAX} jobs")));
                }
                let name = name.chars().take(NAME_LETTERS_MAX).collect();
                jobs.push(Job { name, number, options: Options::new() });
            }
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        // Only ` #` and ` ;` begin a comment behind a value.
        let value =
            value.split(" #").next().unwrap_or_default().split(" ;").next().unwrap_or_default().trim();
        let options = match section.as_deref() {
            None => return Err(flaw(format!("`{key}` stands before the first section"))),
            Some("global") => &mut global,
            Some(_) => &mut jobs.last_mut().ok_or_else(|| flaw("an option without a job".into()))?.options,
        };
        options.insert(plain(key), (number, value.to_owned()));
    }
    Ok((global, jobs))
}

/// One name for options that have two.
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

/// The options of a job, with those of `[global]` where it has none of its own.
struct Merged<'file> {
    own: &'file Options,
    global: &'file Options,
}

/// What this reader takes.
const KNOWN: [&str; 21] = [
    "rw",
    "bs",
    "bssplit",
    "iodepth",
    "numjobs",
    "size",
    "io_size",
    "offset",
    "runtime",
    "time_based",
    "rate",
    "rate_iops",
    "rwmixread",
    "rwmixwrite",
    "norandommap",
    "direct",
    "loops",
    "stonewall",
    "wait_for_previous",
    "ramp_time",
    "blockalign",
];

impl Merged<'_> {
    fn get(&self, key: &str) -> Option<(usize, &str)> {
        let found = self.own.get(key).or_else(|| self.global.get(key));
        found.map(|(number, value)| (*number, value.as_str()))
    }

    /// A flag is set by its name alone or by 1.
    fn is_set(&self, key: &str) -> bool {
        self.get(key).is_some_and(|(_, value)| value != "0")
    }

    /// Reads an option, if it is there; what is wrong with it is said with its line.
    fn read<Value>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Result<Value, String>,
    ) -> Result<Option<Value>, Flaw> {
        let Some((number, value)) = self.get(key) else { return Ok(None) };
        read(value).map(Some).map_err(|reason| (Some(number), format!("{key}: {reason}")))
    }

    fn check_all_known(&self) -> Result<(), Flaw> {
        for (key, (number, _)) in self.global.iter().chain(self.own) {
            if !KNOWN.contains(&key.as_str()) && !WITHOUT_EFFECT.contains(&key.as_str()) {
                let reason = format!(
                    "option `{key}` is not supported. Supported are {}; or use a plan file",
                    KNOWN.join(", ")
                );
                return Err((Some(*number), reason));
            }
        }
        Ok(())
    }

    fn steps(&self, name: &str) -> Result<Vec<PatternStep>, Flaw> {
        self.check_all_known()?;
        if let Some((number, "0")) = self.get("direct") {
            let reason =
                "direct: requests through the page cache are not supported; remove it or set it to 1".into();
            return Err((Some(number), reason));
        }
        let load = self.load()?;
        let stop = self.stop(&load)?;
        let ramp = self.read("ramp_time", time)?.map(|time| PatternStep {
            name: format!("{name}, ramp"),
            kind: PhaseKind::WarmUp,
            load: Some(load.clone()),
            stop: Stop { time: Some(time), ..Stop::default() },
        });
        let step = PatternStep { name: name.into(), kind: PhaseKind::Measure, load: Some(load), stop };
        Ok(ramp.into_iter().chain([step]).collect())
    }

    fn load(&self) -> Result<Load, Flaw> {
        let (shape, reads) = self.read("rw", direction)?.unwrap_or((Shape::Sequential, Some(1.0)));
        let shape = match shape {
            Shape::RandomOnce if self.is_set("norandommap") => Shape::Random,
            shape => shape,
        };
        let read_share = self.read("rwmixread", percent)?;
        let write_share = self.read("rwmixwrite", percent)?;
        let reads = reads.or(read_share).or(write_share.map(|share| 1.0 - share)).unwrap_or(0.5);
        let split = self.read("bssplit", block_split)?;
        let blocks = match split {
            Some(blocks) => blocks,
            None => vec![(self.read("bs", block)?.unwrap_or(BLOCK_BYTES), 1.0)],
        };
        let threads = self.read("numjobs", |text| count(text, THREADS_MAX))?.unwrap_or(1);
        let mean: f64 = blocks.iter().map(|(size, share)| size.0 as f64 * share).sum();
        let by_rate = self.read("rate", size)?.map(|rate| rate.0 as f64 / mean);
        let by_requests = self.read("rate_iops", |text| count(text, u32::MAX))?.map(f64::from);
        let per_second = by_requests.or(by_rate).map(|each| each * f64::from(threads));
        Ok(Load {
            from: self.read("offset", amount)?.unwrap_or(Amount::Share(0.0)),
            over: self.read("size", amount)?,
            shape,
            blocks,
            alignment: self.read("blockalign", block)?,
            reads: Some(reads),
            data: DataPattern::Incompressible,
            depth: self.read("iodepth", |text| count(text, QUEUE_DEPTH_MAX))?.unwrap_or(1),
            threads,
            per_second,
        })
    }

    /// fio ends a job when it has moved its size, or its time is up; with `time_based` only then. Each of `numjobs` moves
    /// that size.
    fn stop(&self, load: &Load) -> Result<Stop, Flaw> {
        let runtime = self.read("runtime", time)?.filter(|time| time.0 > 0);
        if self.is_set("time_based") {
            if runtime.is_none() {
                let number = self.get("time_based").map(|(number, _)| number);
                return Err((number, "time_based needs `runtime`".into()));
            }
            return Ok(Stop { time: runtime, ..Stop::default() });
        }
        let loops = self.read("loops", |text| count(text, u32::MAX))?.unwrap_or(1);
        let times = u64::from(load.threads) * u64::from(loops);
        let moved = self.read("io_size", amount)?;
        let bytes = match moved {
            Some(Amount::Bytes(bytes)) => Some(Amount::Bytes(Bytes(bytes.0.saturating_mul(times)))),
            Some(Amount::Share(share)) => Some(Amount::Share(share * times as f64)),
            None => None,
        };
        let passes = bytes.is_none().then_some(times);
        Ok(Stop { time: runtime, bytes, operations: None, passes })
    }
}

/// Where requests go and what share of them reads; none where that is told apart.
fn direction(text: &str) -> Result<(Shape, Option<f64>), String> {
    match text {
        "read" => Ok((Shape::Sequential, Some(1.0))),
        "write" => Ok((Shape::Sequential, Some(0.0))),
        "randread" => Ok((Shape::RandomOnce, Some(1.0))),
        "randwrite" => Ok((Shape::RandomOnce, Some(0.0))),
        "rw" | "readwrite" => Ok((Shape::Sequential, None)),
        "randrw" => Ok((Shape::RandomOnce, None)),
        other => Err(format!("`{other}` is not one of read, write, randread, randwrite, rw, randrw")),
    }
}

/// A size as fio reads it by default: a number, and `k`, `m`, `g`, `t` for powers of 1024, with or without a `b`. Its `ki`
/// stands for 1000 then, which nobody expects, so that is refused.
fn size(text: &str) -> Result<Bytes, String> {
    let wrong = || format!("`{text}` is not a size such as 4k, 1m or 10g");
    let lower = text.to_ascii_lowercase();
    if lower.contains(',') {
        return Err(format!(
            "`{text}`: values apart for reads, writes and trims are not supported; give one"
        ));
    }
    let digits = lower.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let power = match unit {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        "ki" | "kib" | "mi" | "mib" | "gi" | "gib" | "ti" | "tib" => {
            return Err(format!(
                "`{text}`: by default fio takes {unit} for a power of 1000; write {} for a power of 1024",
                &unit[..1]
            ));
        }
        _ => return Err(wrong()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1024u64.pow(power)));
    bytes.filter(|bytes| *bytes > 0).map(Bytes).ok_or_else(wrong)
}

fn block(text: &str) -> Result<Bytes, String> {
    let block = size(text)?;
    if block > BLOCK_BYTES_MAX {
        Err(format!("`{text}` is above the largest, {BLOCK_BYTES_MAX}"))
    } else {
        Ok(block)
    }
}

/// A size, or percents of what there is.
fn amount(text: &str) -> Result<Amount, String> {
    match text.strip_suffix('%') {
        Some(number) => percent(number).map(Amount::Share),
        // An offset may be nothing.
        None if text == "0" => Ok(Amount::Bytes(Bytes::ZERO)),
        None => size(text).map(Amount::Bytes),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=100.0).contains(&number) => Ok(number / 100.0),
        _ => Err(format!("`{text}` is not a number from 0 to 100")),
    }
}

fn count(text: &str, max: u32) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a whole number from 1 to {max}")),
    }
}

/// A time: seconds, or with `us`, `ms`, `s`, `m`, `h`, `d`.
fn time(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("`{text}` is not a time such as 60, 90s, 10m or 2h");
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let nanos: u64 = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(nanos)).map(Nanos).ok_or_else(wrong)
}

/// `4k/10:64k/50:32k/40`; shares that are left out divide what is left among them.
fn block_split(text: &str) -> Result<Vec<(Bytes, f64)>, String> {
    if text.contains(',') {
        return Err("splits apart for reads and writes are not supported; give one".into());
    }
    let part = |part: &str| -> Result<(Bytes, Option<f64>), String> {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = if share.is_empty() { None } else { Some(percent(share)?) };
        Ok((block(size)?, share))
    };
    let parts = text.split(':').map(part).collect::<Result<Vec<_>, String>>()?;
    let given: f64 = parts.iter().filter_map(|(_, share)| *share).sum();
    let open = parts.iter().filter(|(_, share)| share.is_none()).count();
    if given > 1.0 + 1e-9 || (open == 0 && given < 1.0 - 1e-3) {
        return Err(format!("the shares add up to {:.0} %, not to 100 %", given * 100.0));
    }
    let each = (1.0 - given).max(0.0) / open.max(1) as f64;
    Ok(parts.into_iter().map(|(size, share)| (size, share.unwrap_or(each))).collect())
}
