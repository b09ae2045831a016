//! A run as a line of bonnie++, so that `bon_csv2txt`, `bon_csv2html` and people's spreadsheets show it beside others.
//!
//! The columns are those of the manual page of `bon_csv2html` (Coker, bonnie++ 2.00a) and of bonnie++ 1.03. What
//! was not measured stays empty, as bonnie++ leaves what was switched off. Only a run of `files` has single bytes, rewriting and
//! files; none has processor time. Block rates are in KiB/s, seeks in requests a second.
//!
//! The lines have no quotes, and the tools that read them escape nothing: names are reduced to what is harmless.

use super::job::{Export, ExportJob, all_runs, give};
use crate::error::UserError;
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, KIB, NANOS_PER_SECOND, Nanos};
use model::workload::{Arrival, OperationMix, Pattern, Workload};
use std::collections::BTreeMap;

pub const BONNIE_1_03: Export = Export {
    name: "bonnie-1.03",
    ending: None,
    about: "A line for each run as bonnie++ 1.03 writes it",
    write: write_1_03,
};
pub const BONNIE_1_98: Export = Export {
    name: "bonnie-1.98",
    ending: None,
    about: "A line for each run as bonnie++ 1.98 and 2.00 write it",
    write: write_1_98,
};

fn write_1_03(job: &dyn ExportJob) -> Result<(), UserError> {
    write_lines(job, fields_1_03)
}

fn write_1_98(job: &dyn ExportJob) -> Result<(), UserError> {
    write_lines(job, fields_1_98)
}

fn write_lines(job: &dyn ExportJob, fields: fn(&Measured, &Run) -> Vec<String>) -> Result<(), UserError> {
    let mut lines = String::new();
    for run in all_runs(job)? {
        let measured = Measured::of(&run);
        if measured.is_empty() {
            job.say(&format!(
                "run {} has nothing that bonnie++ measures: its line holds its name only. `check` and `access` measure that",
                run.id
            ));
        }
        lines.push_str(&fields(&measured, &run).join(","));
        lines.push('\n');
    }
    give(job, &lines, "bonnie.csv")
}

/// Columns of 1.98: place of the first of each pair or triple.
mod columns {
    pub const NAME: usize = 2;
    pub const CONCURRENCY: usize = 3;
    pub const SEED: usize = 4;
    pub const FILE_SIZE: usize = 5;
    pub const SEEK_PROC_COUNT: usize = 8;
    pub const PUT_BLOCK: usize = 11;
    pub const GET_BLOCK: usize = 17;
    pub const SEEKS: usize = 19;
    pub const PUT_BLOCK_LATENCY: usize = 39;
    pub const GET_BLOCK_LATENCY: usize = 42;
    pub const SEEKS_LATENCY: usize = 43;
    pub const ALL: usize = 50;
}

/// What `drivescope files` measures as bonnie++ does, through a file system: the column of 1.98 for each. 1.03 has the same in the
/// same order, the first six seven columns and the others eleven columns further to the front.
const THROUGH_FILES: [(FindingCode, usize); 12] = [
    (FindingCode::FilePerByteWriteRate, 9),
    (FindingCode::FileWriteRate, columns::PUT_BLOCK),
    (FindingCode::FileRewriteRate, 13),
    (FindingCode::FilePerByteReadRate, 15),
    (FindingCode::FileReadRate, columns::GET_BLOCK),
    (FindingCode::FileSeeks, columns::SEEKS),
    (FindingCode::FileCreateRate, 26),
    (FindingCode::FileStatRate, 28),
    (FindingCode::FileDeleteRate, 30),
    (FindingCode::FileRandomCreateRate, 32),
    (FindingCode::FileRandomStatRate, 34),
    (FindingCode::FileRandomDeleteRate, 36),
];

/// Block rates of a drive: the finding that has one, and the columns of 1.98 for the rate and for its latency.
const BLOCKS: [(Operation, FindingCode, usize, usize); 2] = [
    (Operation::Write, FindingCode::WriteRateMean, columns::PUT_BLOCK, columns::PUT_BLOCK_LATENCY),
    (Operation::Read, FindingCode::ReadRateMean, columns::GET_BLOCK, columns::GET_BLOCK_LATENCY),
];

/// Seekers of bonnie++ by default: three in 1.x, five in 2.x.
const SEEKERS_V103: u64 = 3;
const SEEKERS_V198: u64 = 5;
/// bonnie++ seeks to blocks of 8 KiB. Up to here it is the seek that takes the time.
const SEEK_BLOCK_MAX: Bytes = Bytes::from_kib(16);
/// A line of 1.03 does not say how many seekers there were: others than about three would be something else.
const SEEKERS_FACTOR_MAX: f64 = 2.0;
/// A name longer than the tools' column is cut by them.
const NAME_BYTES_MAX: usize = 40;

struct Measured {
    name: String,
    file_size: String,
    /// What was measured by column of 1.98, as rates of blocks and what goes through files.
    rates: Vec<(usize, String)>,
    latencies: Vec<(usize, String)>,
    seeks: BTreeMap<u64, Seeks>,
}

#[derive(Default)]
struct Seeks {
    requests: u64,
    duration_ns: u64,
    latency_max: Option<Nanos>,
}

fn fields_1_03(measured: &Measured, _: &Run) -> Vec<String> {
    let mut fields = vec![String::new(); 27];
    fields[0] = measured.name.clone();
    fields[1] = measured.file_size.clone();
    if let Some((seekers, seeks)) = measured.nearest_seeks(SEEKERS_V103)
        && distance(seekers, SEEKERS_V103) <= SEEKERS_FACTOR_MAX.ln()
    {
        fields[12] = seeks.per_second();
    }
    for (column, text) in &measured.rates {
        let further = if *column <= columns::SEEKS { 7 } else { 11 };
        fields[column - further] = text.clone();
    }
    fields
}

fn fields_1_98(measured: &Measured, run: &Run) -> Vec<String> {
    let mut fields = vec![String::new(); columns::ALL];
    fields[0] = "1.98".into();
    fields[1] = "1.98".into();
    fields[columns::NAME] = measured.name.clone();
    fields[columns::CONCURRENCY] = "1".into();
    fields[columns::SEED] = run.seed.to_string();
    fields[columns::FILE_SIZE] = measured.file_size.clone();
    if let Some((seekers, seeks)) = measured.nearest_seeks(SEEKERS_V198) {
        fields[columns::SEEK_PROC_COUNT] = seekers.to_string();
        fields[columns::SEEKS] = seeks.per_second();
        fields[columns::SEEKS_LATENCY] = latency_text(seeks.latency_max);
    }
    for (column, text) in measured.rates.iter().chain(&measured.latencies) {
        fields[*column] = text.clone();
    }
    fields
}

impl Measured {
    fn of(run: &Run) -> Measured {
        let (mut rates, mut latencies) = (Vec::new(), Vec::new());
        for (operation, code, rate_column, latency_column) in BLOCKS {
            if let Some((rate, latency_max)) = block_rate(run, operation, code) {
                rates.push((rate_column, format!("{:.0}", rate / KIB as f64)));
                latencies.push((latency_column, latency_text(latency_max)));
            }
        }
        rates.extend(through_files(run));
        let file_size = file_size(run.target.capacity);
        Measured { name: name_of(run), file_size, rates, latencies, seeks: seeks_by_seekers(run) }
    }

    fn is_empty(&self) -> bool {
        self.rates.is_empty() && self.seeks.is_empty()
    }

    fn nearest_seeks(&self, seekers: u64) -> Option<(u64, &Seeks)> {
        let mut nearest: Option<(u64, &Seeks)> = None;
        for (&measured, seeks) in &self.seeks {
            let best = nearest.map_or(f64::INFINITY, |(best, _)| distance(best, seekers));
            if distance(measured, seekers) < best {
                nearest = Some((measured, seeks));
            }
        }
        nearest
    }
}

fn through_files(run: &Run) -> Vec<(usize, String)> {
    let mut fields = Vec::new();
    for (code, column) in THROUGH_FILES {
        let Some(value) = positive(run, code) else { continue };
        let text = match code {
            FindingCode::FileSeeks => format!("{value:.1}"),
            _ if code.unit() == Some("B/s") => format!("{:.0}", value / KIB as f64),
            _ => format!("{value:.0}"),
        };
        fields.push((column, text));
    }
    fields
}

fn positive(run: &Run, code: FindingCode) -> Option<f64> {
    let finding = run.findings.iter().find(|finding| finding.code() == code)?;
    let value = finding.estimate()?.value;
    if value.is_finite() && value > 0.0 { Some(value) } else { None }
}

/// How far apart two numbers at a time are: twice as many is as far as half as many.
fn distance(seekers: u64, wanted: u64) -> f64 {
    (seekers as f64 / wanted as f64).ln().abs()
}

/// The rate of a full pass as it was found, else of the sequential phases if all of them are of one size; and the longest latency.
fn block_rate(run: &Run, operation: Operation, code: FindingCode) -> Option<(f64, Option<Nanos>)> {
    let mut phases: Vec<&PhaseSummary> = run.phases.iter().collect();
    phases.retain(|phase| is_sequential(phase, operation));
    let rate = positive(run, code).or(pooled_rate(&phases))?;
    let latencies = phases.iter().filter_map(|phase| phase.totals_of(operation)?.histogram.max());
    Some((rate, latencies.max()))
}

fn pooled_rate(phases: &[&PhaseSummary]) -> Option<f64> {
    let first = block_of(phases.first()?)?;
    if phases.iter().any(|phase| block_of(phase) != Some(first)) {
        return None;
    }
    let bytes: u64 = phases.iter().map(|phase| phase.bytes()).sum();
    let nanos = phases.iter().map(|phase| phase.lasting_ns()).fold(0, u64::saturating_add);
    if bytes == 0 || nanos == 0 {
        return None;
    }
    Some(bytes as f64 * NANOS_PER_SECOND as f64 / nanos as f64)
}

fn block_of(phase: &PhaseSummary) -> Option<Bytes> {
    phase.phase.workload.as_ref()?.block_sizes.single()
}

fn is_sequential(phase: &PhaseSummary, operation: Operation) -> bool {
    let Some(workload) = measured_closed_loop(phase) else { return false };
    workload.pattern == Pattern::Sequential
        && workload.mix.operations() == [operation]
        && workload.mix != OperationMix::Discard
}

fn measured_closed_loop(phase: &PhaseSummary) -> Option<&Workload> {
    let workload = phase.phase.workload.as_ref()?;
    let is_measured = phase.phase.kind == PhaseKind::Measure && workload.arrival == Arrival::ClosedLoop;
    if is_measured { Some(workload) } else { None }
}

fn seeks_by_seekers(run: &Run) -> BTreeMap<u64, Seeks> {
    let mut seeks: BTreeMap<u64, Seeks> = BTreeMap::new();
    for phase in &run.phases {
        let (Some(workload), Some(reads)) = (measured_closed_loop(phase), phase.totals_of(Operation::Read))
        else {
            continue;
        };
        if !seeks_like_bonnie(workload, run) {
            continue;
        }
        let pooled = seeks.entry(workload.in_flight_max()).or_default();
        pooled.requests += reads.operations;
        pooled.duration_ns += phase.duration_ns;
        pooled.latency_max = pooled.latency_max.max(LatencyHistogram::max(&reads.histogram));
    }
    seeks.retain(|_, pooled| pooled.requests > 0 && pooled.duration_ns > 0);
    seeks
}

fn seeks_like_bonnie(workload: &Workload, run: &Run) -> bool {
    let is_random = workload.pattern.is_random() == Some(true);
    let is_small = workload.block_sizes.single().is_some_and(|size| size <= SEEK_BLOCK_MAX);
    // Shorter seeks take less time: half of the target is the least that says something of all of it.
    let is_wide = workload.range.bytes().get() >= run.target.capacity.get() / 2;
    is_random && is_small && is_wide && workload.mix == OperationMix::Read
}

impl Seeks {
    fn per_second(&self) -> String {
        format!("{:.1}", self.requests as f64 * NANOS_PER_SECOND as f64 / self.duration_ns as f64)
    }
}

fn file_size(capacity: Bytes) -> String {
    let mib = capacity.get() >> 20;
    if mib >= 1024 && mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}

/// As bonnie++ rounds: microseconds up to a tenth of a second, milliseconds up to ten, seconds.
fn latency_text(latency: Option<Nanos>) -> String {
    let Some(latency) = latency else { return String::new() };
    match latency.get() {
        nanos if nanos < 100_000_000 => format!("{}us", nanos / 1000),
        nanos if nanos < 10_000_000_000 => format!("{}ms", nanos / 1_000_000),
        nanos => format!("{}s", nanos / NANOS_PER_SECOND),
    }
}

/// What the drive calls itself, else where it was. `name` alone would be taken for a heading.
fn name_of(run: &Run) -> String {
    for name in [run.target.model.as_deref().unwrap_or_default(), &run.target.path] {
        let name = plain(name);
        if !name.is_empty() {
            return if name == "name" { "drive name".into() } else { name };
        }
    }
    "drive".into()
}

fn plain(text: &str) -> String {
    let text: String = text.trim().chars().map(plain_character).take(NAME_BYTES_MAX).collect();
    text.trim_start_matches(['-', '+', ' ']).trim_end().to_owned()
}

fn plain_character(character: char) -> char {
    match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | ':' | '/' | ' ' | '-' | '+' => character,
        _ => '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_latencies_as_bonnie_writes_them() {
        assert_eq!(file_size(Bytes::from_gib(4)), "4G");
        assert_eq!(file_size(Bytes::from_mib(300)), "300M");
        assert_eq!(file_size(Bytes::new(2_000_398_934_016)), "1907729M");
        assert_eq!(latency_text(Some(Nanos::new(10_243_000))), "10243us");
        assert_eq!(latency_text(Some(Nanos::new(125_000_000))), "125ms");
        assert_eq!(latency_text(Some(Nanos::new(12_500_000_000))), "12s");
        assert_eq!(latency_text(None), "");
    }
}
