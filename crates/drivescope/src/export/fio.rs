//! A run as fio's JSON, for tools that read that: fio-plot and many others.
//!
//! Phases that asked the same of the drive become one job: same operation, pattern, block size, threads, depth and, for
//! random access, the same share of the drive. fio-plot wants one file for each job, called after it, and takes all
//! files of a folder for one block size; into a single file go all jobs.
//!
//! Keys and units are fio 3's: rates in KiB/s (`bw`) and B/s (`bw_bytes`), times in milliseconds (`runtime`) and
//! nanoseconds (`clat_ns`). drivescope takes the time from submission to completion as one, so that `slat_ns` is zero
//! and `clat_ns` is `lat_ns`; processor time of the job is not split off and is zero.

use super::job::{Export, ExportJob, Goal, give, started_s, write_text};
use crate::error::UserError;
use model::experiment_name::EngineName;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, Run, Series};
use model::units::{GIB, KIB, MIB, NANOS_PER_SECOND, Nanos, Quantile};
use model::workload::{Caching, OperationMix, Pattern, Workload};
use report::hostile::harmless;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::slice;
use store::StoredRun;

pub const FIO: Export = Export {
    name: "fio",
    ending: None,
    about: "What fio would have written, for fio-plot and others",
    write,
};

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    let Goal::Folder(folder) = job.goal() else {
        let [name] = job.names() else {
            return Err(UserError::usage(
                "a document of fio holds one run. Name a folder for several: -o fio",
            ));
        };
        let stored = job.read(name)?;
        let jobs = jobs_of(&stored.run)?;
        return give(job, &text(&stored, &jobs), "");
    };
    for name in job.names() {
        let stored = job.read(name)?;
        let jobs = jobs_of(&stored.run)?;
        let run_folder = folder.join(&stored.run.id);
        for of_fio in &jobs {
            let path = run_folder.join(of_fio.folder(&stored.run)).join(of_fio.key.file_name());
            write_text(job, Some(&path), &text(&stored, slice::from_ref(of_fio)))?;
        }
        job.say(&plot_command(&stored.run, &jobs, &run_folder));
    }
    Ok(())
}

/// What to type for a picture: of the folder and kind of access that has the most files.
fn plot_command(run: &Run, jobs: &[Job<'_>], run_folder: &Path) -> String {
    let mut pictures: BTreeMap<(String, &str), Vec<&JobKey>> = BTreeMap::new();
    for job in jobs {
        pictures.entry((job.folder(run), job.key.rw)).or_default().push(&job.key);
    }
    let Some(((folder, rw), keys)) = pictures.into_iter().max_by_key(|(_, keys)| keys.len()) else {
        return String::new();
    };
    let depths: BTreeSet<u32> = keys.iter().map(|key| key.queue_depth).collect();
    let threads: BTreeSet<u32> = keys.iter().map(|key| key.threads).collect();
    format!(
        "a picture of it: fio-plot -i {} -T \"{folder}\" -l -r {rw} -d {} -n {}",
        run_folder.join(&folder).display(),
        words(&depths),
        words(&threads)
    )
}

fn words(numbers: &BTreeSet<u32>) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(" ")
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct JobKey {
    rw: &'static str,
    block_bytes: u64,
    /// Of random access: how much of the target it went over.
    span_bytes: Option<u64>,
    reads_of_1000: Option<u32>,
    queue_depth: u32,
    threads: u32,
}

struct Job<'run> {
    key: JobKey,
    phases: Vec<(u32, &'run PhaseSummary)>,
}

/// fio takes a sample of the rate this often by default (`bwavgtime`, `iopsavgtime`).
const SAMPLE_NS: u64 = 500_000_000;

const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Upper ends of the bins of `latency_ns` and `latency_us`; those of `latency_ms` go on to 2000.
const LATENCY_BINS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

fn text(stored: &StoredRun, jobs: &[Job<'_>]) -> String {
    let run = &stored.run;
    let started_s = started_s(run).unwrap_or(0);
    let values: Vec<Value> = jobs.iter().map(|job| job_value(stored, started_s, job)).collect();
    let document = json!({
        "fio version": format!("drivescope-{}", run.version),
        "timestamp": started_s,
        "timestamp_ms": started_s * 1000,
        "time": run.started,
        "global options": {},
        "jobs": values,
        "disk_util": [],
    });
    format!("{document:#}\n")
}

fn jobs_of(run: &Run) -> Result<Vec<Job<'_>>, UserError> {
    let mut jobs: BTreeMap<JobKey, Vec<(u32, &PhaseSummary)>> = BTreeMap::new();
    for (number, phase) in (0u32..).zip(&run.phases) {
        let is_measured = phase.phase.kind == PhaseKind::Measure && phase.operations() > 0;
        if is_measured && let Some(key) = phase.phase.workload.as_ref().and_then(JobKey::of) {
            jobs.entry(key).or_default().push((number, phase));
        }
    }
    if jobs.is_empty() {
        return Err(UserError::failure(format!(
            "run {} has nothing that fio could have measured: no phase with one block size, sequential or random",
            run.id
        )));
    }
    Ok(jobs.into_iter().map(|(key, phases)| Job { key, phases }).collect())
}

impl JobKey {
    /// None for what fio has no short word for: listed places, zones, a mix of sizes.
    fn of(workload: &Workload) -> Option<JobKey> {
        let is_random = workload.pattern.is_random()?;
        let rw = match (workload.mix, is_random) {
            (OperationMix::Commit(_), _) => return None,
            (OperationMix::Read, false) => "read",
            (OperationMix::Write, false) => "write",
            (OperationMix::Discard, false) => "trim",
            (OperationMix::ReadWrite { .. }, false) => "rw",
            (OperationMix::Read, true) => "randread",
            (OperationMix::Write, true) => "randwrite",
            (OperationMix::Discard, true) => "randtrim",
            (OperationMix::ReadWrite { .. }, true) => "randrw",
        };
        let reads_of_1000 = match workload.mix {
            OperationMix::ReadWrite { read_share } => Some((read_share * 1000.0).round() as u32),
            _ => None,
        };
        Some(JobKey {
            rw,
            block_bytes: workload.block_sizes.single()?.get(),
            span_bytes: if is_random { Some(workload.range.bytes().get()) } else { None },
            reads_of_1000,
            queue_depth: workload.queue_depth,
            threads: workload.threads,
        })
    }

    fn file_name(&self) -> String {
        format!("{}-{}-{}.json", self.rw, self.queue_depth, self.threads)
    }

    fn name(&self) -> String {
        format!("{}-{}-{}-{}", self.rw, size_text(self.block_bytes), self.queue_depth, self.threads)
    }
}

impl Job<'_> {
    /// Of all jobs with this block size and this share of the drive: `4k`, `4k-span-10-percent`, `4k-70-percent-reads`.
    fn folder(&self, run: &Run) -> String {
        let mut name = size_text(self.key.block_bytes);
        if let Some(span) = self.key.span_bytes {
            let percent = 100.0 * span as f64 / run.target.capacity.get().max(1) as f64;
            if percent < 99.0 {
                // Spans are round shares of a drive, to within a block.
                name.push_str(&format!("-span-{}-percent", (percent * 100.0).round() / 100.0));
            }
        }
        if let Some(reads) = self.key.reads_of_1000 {
            name.push_str(&format!("-{}-percent-reads", f64::from(reads) / 10.0));
        }
        name
    }
}

fn size_text(bytes: u64) -> String {
    for (unit, letter) in [(GIB, "g"), (MIB, "m"), (KIB, "k")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{letter}", bytes / unit);
        }
    }
    bytes.to_string()
}

fn job_value(stored: &StoredRun, started_s: u64, job: &Job<'_>) -> Value {
    let read = Direction::of(&stored.series, job, Operation::Read);
    let write = Direction::of(&stored.series, job, Operation::Write);
    let trim = Direction::of(&stored.series, job, Operation::Discard);
    let mut together = LatencyHistogram::small();
    for direction in [&read, &write, &trim] {
        together.merge(&direction.histogram);
    }
    let seconds = job.phases.iter().map(|(_, phase)| phase.duration_ns).sum::<u64>() / NANOS_PER_SECOND;
    let errors: u64 = job.phases.iter().map(|(_, phase)| phase.errors()).sum();
    let mut value = json!({
        "jobname": job.key.name(),
        "groupid": 0,
        "job_start": started_s * 1000,
        "error": 0,
        "total_err": errors,
        "eta": 0,
        "elapsed": seconds,
        "job options": options(&stored.run, job),
        "read": read.value(),
        "write": write.value(),
        "trim": trim.value(),
        "sync": { "total_ios": 0, "lat_ns": empty_latency() },
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": depth_levels(job.key.queue_depth),
    });
    for (name, bins) in ["latency_ns", "latency_us", "latency_ms"].into_iter().zip(latency_bins(&together)) {
        value[name] = bins;
    }
    value
}

fn options(run: &Run, job: &Job<'_>) -> Value {
    let (_, first) = job.phases.first().expect("a job has a phase");
    let workload = first.phase.workload.as_ref().expect("a job is made of workloads");
    let is_direct = workload.caching == Caching::Direct;
    let engine = match &run.environment.engine {
        EngineName::Uring => "io_uring",
        other => other.name(),
    };
    let mut options = json!({
        "name": job.key.name(),
        "filename": harmless(&run.target.path, usize::MAX),
        "ioengine": harmless(engine, usize::MAX),
        "rw": job.key.rw,
        "bs": size_text(job.key.block_bytes),
        "iodepth": job.key.queue_depth.to_string(),
        "numjobs": job.key.threads.to_string(),
        "direct": u8::from(is_direct).to_string(),
        "size": job.key.span_bytes.unwrap_or(run.target.capacity.get()).to_string(),
    });
    if let Some(reads) = job.key.reads_of_1000 {
        options["rwmixread"] = json!((reads / 10).to_string());
    }
    if workload.pattern == Pattern::RandomWithReplacement {
        options["norandommap"] = json!("1");
    }
    options
}

#[derive(Default)]
struct Direction {
    operations: u64,
    bytes: u64,
    errors: u64,
    duration_ns: u64,
    histogram: LatencyHistogram,
    operations_per_second: Samples,
    bytes_per_second: Samples,
    open: OpenSample,
}

#[derive(Default)]
struct OpenSample {
    nanos: u64,
    operations: u64,
    bytes: u64,
}

impl Direction {
    fn of(series: &dyn Series, job: &Job<'_>, operation: Operation) -> Direction {
        let mut direction = Direction { histogram: LatencyHistogram::small(), ..Direction::default() };
        for (number, phase) in &job.phases {
            if let Some(totals) = phase.totals_of(operation) {
                direction.add(phase, totals);
                direction.sample(series, *number, operation);
            }
        }
        direction
    }

    fn add(&mut self, phase: &PhaseSummary, totals: &OperationTotals) {
        self.operations += totals.operations;
        self.bytes += totals.bytes;
        self.errors += totals.errors;
        // A write is done when its flush is: so rates of writes are told everywhere.
        let flush_ns = if totals.operation == Operation::Write { phase.flush_ns() } else { 0 };
        self.duration_ns = self.duration_ns.saturating_add(phase.duration_ns).saturating_add(flush_ns);
        self.histogram.merge(&totals.histogram);
    }

    /// Slices together until they are as long as fio's samples, across phases, since many a phase is shorter.
    fn sample(&mut self, series: &dyn Series, phase: u32, operation: Operation) {
        for interval in series.intervals(phase) {
            if interval.operation != operation {
                continue;
            }
            self.open.nanos += interval.duration_ns;
            self.open.operations += interval.operations;
            self.open.bytes += interval.bytes;
            if self.open.nanos >= SAMPLE_NS {
                let seconds = Nanos::new(self.open.nanos).seconds();
                self.operations_per_second.add(self.open.operations as f64 / seconds);
                self.bytes_per_second.add(self.open.bytes as f64 / seconds);
                self.open = OpenSample::default();
            }
        }
    }

    fn value(&self) -> Value {
        let seconds = Nanos::new(self.duration_ns).seconds();
        let bytes_per_second = per_second(self.bytes, seconds);
        let latency = latency_value(&self.histogram);
        json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes / KIB,
            "bw_bytes": bytes_per_second.round() as u64,
            "bw": kib(bytes_per_second).round() as u64,
            "iops": per_second(self.operations, seconds),
            "runtime": self.duration_ns / 1_000_000,
            "total_ios": self.operations,
            "short_ios": 0,
            "drop_ios": 0,
            "total_err": self.errors,
            "slat_ns": empty_latency(),
            "clat_ns": latency,
            "lat_ns": latency,
            "bw_min": kib(self.bytes_per_second.low).round() as u64,
            "bw_max": kib(self.bytes_per_second.high).round() as u64,
            "bw_agg": if self.operations > 0 { 100.0 } else { 0.0 },
            "bw_mean": kib(self.bytes_per_second.mean),
            "bw_dev": kib(self.bytes_per_second.deviation()),
            "bw_samples": self.bytes_per_second.number,
            "iops_min": self.operations_per_second.low.round() as u64,
            "iops_max": self.operations_per_second.high.round() as u64,
            "iops_mean": self.operations_per_second.mean,
            "iops_stddev": self.operations_per_second.deviation(),
            "iops_samples": self.operations_per_second.number,
        })
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

fn kib(bytes: f64) -> f64 {
    bytes / KIB as f64
}

/// Mean and spread without keeping what was added (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    number: u64,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl Samples {
    fn add(&mut self, value: f64) {
        self.low = if self.number == 0 { value } else { self.low.min(value) };
        self.high = self.high.max(value);
        self.number += 1;
        let before = value - self.mean;
        self.mean += before / self.number as f64;
        self.squares += before * (value - self.mean);
    }

    fn deviation(&self) -> f64 {
        if self.number < 2 { 0.0 } else { (self.squares / (self.number - 1) as f64).sqrt() }
    }
}

fn empty_latency() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

fn latency_value(histogram: &LatencyHistogram) -> Value {
    let (Some(min), Some(max), Some(mean)) = (histogram.min(), histogram.max(), histogram.mean_ns()) else {
        return empty_latency();
    };
    let mut percentiles = Map::new();
    for percent in PERCENTILES {
        if let Some(latency) =
            Quantile::new(percent / 100.0).and_then(|quantile| histogram.quantile(quantile))
        {
            percentiles.insert(format!("{percent:.6}"), json!(latency.get()));
        }
    }
    json!({
        "min": min.get(),
        "max": max.get(),
        "mean": mean,
        "stddev": histogram.deviation_ns().unwrap_or(0.0),
        "N": histogram.count(),
        "percentile": percentiles,
    })
}

/// Shares in percent of the requests that took longer than the bin before and at most this: nano-, micro- and milliseconds.
fn latency_bins(histogram: &LatencyHistogram) -> [Value; 3] {
    let mut below = 0;
    let mut bins = [(1, &[][..]), (1000, &[][..]), (1_000_000, &[2000][..])].map(|(unit_ns, more)| {
        let mut bins = Map::new();
        for end in LATENCY_BINS.iter().chain(more) {
            let until = histogram.count_below(Nanos::new(end * unit_ns));
            bins.insert(end.to_string(), json!(percent(until - below, histogram.count())));
            below = until;
        }
        bins
    });
    bins[2].insert(">=2000".into(), json!(percent(histogram.count() - below, histogram.count())));
    bins.map(Value::Object)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// fio's levels of the depth; a closed loop holds its depth all the time.
fn depth_levels(depth: u32) -> Value {
    let levels = [(1, "1"), (2, "2"), (4, "4"), (8, "8"), (16, "16"), (32, "32"), (64, ">=64")];
    let reached = levels.iter().rposition(|(level, _)| *level <= depth);
    let mut shares = Map::new();
    for (number, (_, name)) in levels.into_iter().enumerate() {
        shares.insert(name.into(), json!(if Some(number) == reached { 100.0 } else { 0.0 }));
    }
    Value::Object(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_fio_writes_them() {
        assert_eq!(size_text(512), "512");
        assert_eq!(size_text(4096), "4k");
        assert_eq!(size_text(1 << 20), "1m");
        assert_eq!(size_text(1 << 30), "1g");
        assert_eq!(size_text(6144), "6k");
    }

    #[test]
    fn bins_hold_every_request_once() {
        let mut histogram = LatencyHistogram::default();
        [3, 900, 70_000, 70_000, 8_000_000, 3_000_000_000].into_iter().for_each(|ns| histogram.record(ns));
        let [nanos, micros, millis] = latency_bins(&histogram);
        let sixth = 100.0 / 6.0;
        assert_eq!(nanos["4"], json!(sixth));
        assert_eq!(nanos["1000"], json!(sixth));
        assert_eq!(micros["100"], json!(100.0 / 3.0));
        assert_eq!(millis["10"], json!(sixth));
        assert_eq!(millis[">=2000"], json!(sixth));
        assert_eq!(millis["2000"], json!(0.0));
    }

    #[test]
    fn samples_have_the_textbook_spread() {
        let mut samples = Samples::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|value| samples.add(value));
        assert_eq!((samples.mean, samples.low, samples.high), (5.0, 2.0, 9.0));
        assert!((samples.deviation() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }
}
