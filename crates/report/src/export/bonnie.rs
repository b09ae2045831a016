//! A run as a line of bonnie++, so that `bon_csv2txt`, `bon_csv2html` and people's spreadsheets show it beside others.
//!
//! The columns are those of the manual page of `bon_csv2html` (Coker, bonnie++ 2.00a) and of bonnie++ 1.03. What
//! was not measured stays empty, as bonnie++ leaves what was switched off. Only a run of `files` has single bytes, rewriting and
//! files; none has processor time. Block rates are in KiB/s, seeks in requests a second.
//!
//! The lines have no quotes, and the tools that read them escape nothing: a name is reduced to what is harmless in
//! CSV, in a spreadsheet and in HTML.

use model::finding::FindingCode;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, KIB, NANOS_PER_SECOND, Nanos};
use model::workload::{Arrival, OperationMix, Pattern, Workload};
use std::collections::BTreeMap;

/// The two formats that are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BonnieFormat {
    /// 27 columns, of bonnie++ 1.03.
    V103,
    /// 50 columns, of bonnie++ 1.98 and 2.00.
    V198,
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

/// Seekers of bonnie++ by default: three in 1.x, five in 2.x.
const SEEKERS_V103: u64 = 3;
const SEEKERS_V198: u64 = 5;
/// bonnie++ seeks to blocks of 8 KiB. Up to here it is the seek that takes the time.
const SEEK_BLOCK_MAX: Bytes = Bytes::from_kib(16);
/// A line of 1.03 does not say how many seekers there were: others than about three would be something else.
const SEEKERS_FACTOR_MAX: f64 = 2.0;
/// A name longer than the tools' column is cut by them.
const NAME_BYTES_MAX: usize = 40;

/// What a run has of what bonnie++ measures.
struct Measured {
    name: String,
    file_size: String,
    put_block: Option<Block>,
    get_block: Option<Block>,
    seeks: BTreeMap<u64, Seeks>,
    through_files: Vec<(usize, String)>,
}

/// Reading or writing on and on.
struct Block {
    kib_per_second: String,
    latency_max: Option<Nanos>,
}

/// Random reads, so many at a time.
#[derive(Default)]
struct Seeks {
    requests: u64,
    duration_ns: u64,
    latency_max: Option<Nanos>,
}

/// The line of a run, with a line feed at its end.
pub fn line(run: &Run, format: BonnieFormat) -> String {
    let measured = Measured::of(run);
    let fields = match format {
        BonnieFormat::V103 => v103(&measured),
        BonnieFormat::V198 => v198(&measured, run.seed),
    };
    fields.join(",") + "\n"
}

/// Whether a run has anything of what bonnie++ measures.
pub fn measured_alike(run: &Run) -> bool {
    let measured = Measured::of(run);
    let any_file = !measured.through_files.is_empty();
    any_file || measured.put_block.is_some() || measured.get_block.is_some() || !measured.seeks.is_empty()
}

fn v103(measured: &Measured) -> Vec<String> {
    let mut fields = vec![String::new(); 27];
    fields[0] = measured.name.clone();
    fields[1] = measured.file_size.clone();
    let rate =
        |block: &Option<Block>| block.as_ref().map(|block| block.kib_per_second.clone()).unwrap_or_default();
    fields[4] = rate(&measured.put_block);
    fields[10] = rate(&measured.get_block);
    let fits = |(seekers, _): &(u64, &Seeks)| distance(*seekers, SEEKERS_V103) <= SEEKERS_FACTOR_MAX.ln();
    if let Some((_, seeks)) = measured.nearest_seeks(SEEKERS_V103).filter(fits) {
        fields[12] = seeks.per_second();
    }
    for (column, text) in &measured.through_files {
        let further = if *column <= columns::SEEKS { 7 } else { 11 };
        fields[column - further] = text.clone();
    }
    fields
}

fn v198(measured: &Measured, seed: u64) -> Vec<String> {
    let mut fields = vec![String::new(); columns::ALL];
    fields[0] = "1.98".into();
    fields[1] = "1.98".into();
    fields[columns::NAME] = measured.name.clone();
    fields[columns::CONCURRENCY] = "1".into();
    fields[columns::SEED] = seed.to_string();
    fields[columns::FILE_SIZE] = measured.file_size.clone();
    let mut block = |rate: usize, latency: usize, block: &Option<Block>| {
        if let Some(block) = block {
            fields[rate] = block.kib_per_second.clone();
            fields[latency] = latency_text(block.latency_max);
        }
    };
    block(columns::PUT_BLOCK, columns::PUT_BLOCK_LATENCY, &measured.put_block);
    block(columns::GET_BLOCK, columns::GET_BLOCK_LATENCY, &measured.get_block);
    if let Some((seekers, seeks)) = measured.nearest_seeks(SEEKERS_V198) {
        fields[columns::SEEK_PROC_COUNT] = seekers.to_string();
        fields[columns::SEEKS] = seeks.per_second();
        fields[columns::SEEKS_LATENCY] = latency_text(seeks.latency_max);
    }
    for (column, text) in &measured.through_files {
        fields[*column] = text.clone();
    }
    fields
}

impl Measured {
    fn of(run: &Run) -> Measured {
        Measured {
            name: name_of(run),
            file_size: file_size(run.target.capacity),
            put_block: Block::of(run, Operation::Write, FindingCode::WriteRateMean),
            get_block: Block::of(run, Operation::Read, FindingCode::ReadRateMean),
            seeks: seeks_by_seekers(run),
            through_files: through_files(run),
        }
    }

    /// The measurement with about so many at a time.
    fn nearest_seeks(&self, seekers: u64) -> Option<(u64, &Seeks)> {
        let by_distance = |a: &(&u64, &Seeks), b: &(&u64, &Seeks)| {
            distance(*a.0, seekers).total_cmp(&distance(*b.0, seekers))
        };
        self.seeks.iter().min_by(by_distance).map(|(seekers, seeks)| (*seekers, seeks))
    }
}

/// What was found through a file system, by column of 1.98.
fn through_files(run: &Run) -> Vec<(usize, String)> {
    let found = THROUGH_FILES.into_iter().filter_map(|(code, column)| {
        let finding = run.findings.iter().find(|finding| finding.code == code)?;
        let value = finding.estimate()?.value;
        let text = match code {
            FindingCode::FileSeeks => format!("{value:.1}"),
            _ if code.unit() == Some("B/s") => format!("{:.0}", value / KIB as f64),
            _ => format!("{value:.0}"),
        };
        (value.is_finite() && value > 0.0).then_some((column, text))
    });
    found.collect()
}

/// How far apart two numbers at a time are: twice as many is as far as half as many.
fn distance(seekers: u64, wanted: u64) -> f64 {
    (seekers as f64 / wanted as f64).ln().abs()
}

impl Block {
    /// The rate of a full pass as it was found, else of the sequential phases if all of them are of one size.
    fn of(run: &Run, operation: Operation, code: FindingCode) -> Option<Block> {
        let phases: Vec<&PhaseSummary> =
            run.phases.iter().filter(|phase| is_sequential(phase, operation)).collect();
        let found = run.findings.iter().find(|finding| finding.code == code);
        let found = found.and_then(|finding| finding.estimate()).map(|estimate| estimate.value);
        let rate = found.or_else(|| pooled_rate(&phases)).filter(|rate| rate.is_finite() && *rate > 0.0)?;
        let latencies = phases.iter().filter_map(|phase| phase.totals_of(operation)?.histogram.max());
        Some(Block { kib_per_second: format!("{:.0}", rate / KIB as f64), latency_max: latencies.max() })
    }
}

fn pooled_rate(phases: &[&PhaseSummary]) -> Option<f64> {
    let size = |phase: &PhaseSummary| phase.phase.workload.as_ref()?.block_sizes.single();
    let first = size(phases.first()?)?;
    if phases.iter().any(|phase| size(phase) != Some(first)) {
        return None;
    }
    let bytes: u64 = phases.iter().map(|phase| phase.bytes()).sum();
    let nanos: u64 = phases.iter().map(|phase| phase.lasting_ns()).fold(0, u64::saturating_add);
    (nanos > 0).then(|| bytes as f64 * NANOS_PER_SECOND as f64 / nanos as f64)
}

fn is_sequential(phase: &PhaseSummary, operation: Operation) -> bool {
    let only = |mix| match mix {
        OperationMix::Read => operation == Operation::Read,
        OperationMix::Write => operation == Operation::Write,
        _ => false,
    };
    measured_closed_loop(phase)
        .is_some_and(|workload| workload.pattern == Pattern::Sequential && only(workload.mix))
}

fn measured_closed_loop(phase: &PhaseSummary) -> Option<&Workload> {
    let workload = phase.phase.workload.as_ref()?;
    let is_measured = phase.phase.kind == PhaseKind::Measure && workload.arrival == Arrival::ClosedLoop;
    is_measured.then_some(workload)
}

/// Random reads of small blocks over most of the target, by how many were under way.
fn seeks_by_seekers(run: &Run) -> BTreeMap<u64, Seeks> {
    let mut seeks: BTreeMap<u64, Seeks> = BTreeMap::new();
    for phase in &run.phases {
        let Some(workload) = measured_closed_loop(phase).filter(|workload| seeks_like_bonnie(workload, run))
        else {
            continue;
        };
        let Some(reads) = phase.totals_of(Operation::Read) else { continue };
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
    let is_wide = workload.range.bytes().0 >= run.target.capacity.0 / 2;
    is_random && is_small && is_wide && workload.mix == OperationMix::Read
}

impl Seeks {
    fn per_second(&self) -> String {
        format!("{:.1}", self.requests as f64 * NANOS_PER_SECOND as f64 / self.duration_ns as f64)
    }
}

/// bonnie++ says `4G` of whole gibibytes and `300M` of all else.
fn file_size(capacity: Bytes) -> String {
    let mib = capacity.0 >> 20;
    if mib >= 1024 && mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}

/// As bonnie++ rounds: microseconds up to a tenth of a second, milliseconds up to ten, seconds.
fn latency_text(latency: Option<Nanos>) -> String {
    let Some(latency) = latency else { return String::new() };
    match latency.0 {
        nanos if nanos < 100_000_000 => format!("{}us", nanos / 1000),
        nanos if nanos < 10_000_000_000 => format!("{}ms", nanos / 1_000_000),
        nanos => format!("{}s", nanos / NANOS_PER_SECOND),
    }
}

/// What the drive calls itself, else where it was, else the machine. `name` alone would be taken for a heading.
fn name_of(run: &Run) -> String {
    let said = |text: &str| -> Option<String> {
        let plain = |character: char| match character {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | ':' | '/' | ' ' | '-' | '+' => character,
            _ => '_',
        };
        let text: String = text.trim().chars().map(plain).take(NAME_BYTES_MAX).collect();
        let text = text.trim_start_matches(['-', '+', ' ']).trim_end().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let model = run.target.model.as_deref().and_then(said);
    let name = model.or_else(|| said(&run.target.path)).unwrap_or_else(|| "drive".into());
    if name == "name" { "drive name".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_latencies_as_bonnie_writes_them() {
        assert_eq!(file_size(Bytes::from_gib(4)), "4G");
        assert_eq!(file_size(Bytes::from_mib(300)), "300M");
        assert_eq!(file_size(Bytes(2_000_398_934_016)), "1907729M");
        assert_eq!(latency_text(Some(Nanos(10_243_000))), "10243us");
        assert_eq!(latency_text(Some(Nanos(125_000_000))), "125ms");
        assert_eq!(latency_text(Some(Nanos(12_500_000_000))), "12s");
        assert_eq!(latency_text(None), "");
    }
}
