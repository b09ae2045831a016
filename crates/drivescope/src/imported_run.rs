//! From what other programs stated to the records of a run: where each figure lies, one phase for each, one after the other.

use crate::error::UserError;
use crate::store::RunWriter;
use crate::target_choice::RangeChoice;
use analysis::datasheet::{self, Kind};
use analysis::stated::EXPERIMENT;
use import::{Figure, Imported, Order, Place, Request, Set, Slice, Transfer, Work};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::record::{
    HistogramRecord, INTERVAL_NS, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use model::run::{Environment, OperationTotals, PhaseSummary, Run};
use model::target::{TargetFacts, TargetKind};
use model::units::{Bytes, Nanos, Offset};
use model::workload::{Caching, OperationMix, Pattern, Workload};

/// Places of one series that become phases of their own; of more, neighbours are joined, and their figures stay as slices.
const PLACES_MAX: usize = 256;
/// More results are no page that somebody made, and a run holds all its phases in memory.
const FIGURES_MAX: usize = 20_000;

/// One file.
pub struct Source {
    /// Its name, harmless.
    pub name: String,
    /// What stands in it.
    pub imported: Imported,
}

/// What the files do not tell.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    /// The model of the drive.
    pub model: Option<String>,
    /// How much it holds.
    pub capacity: Option<Bytes>,
    /// Where each result was measured that does not say it.
    pub positions: Vec<RangeChoice>,
    /// Whether the results are of equal partitions.
    pub partitions: bool,
    /// Whether it turns.
    pub turns: Option<bool>,
}

/// A run without its header.
pub struct Records {
    /// What was measured.
    pub target: TargetFacts,
    /// By what, and what must be known of it.
    pub environment: Environment,
    phases: Vec<PhaseSummary>,
    intervals: Vec<IntervalRecord>,
    ios: Vec<IoRecord>,
    telemetry: Vec<TelemetryRecord>,
}

/// The records of all files together.
///
/// # Errors
/// When positions do not fit the results, or there are too many.
pub fn records(sources: &[Source], telling: &Telling) -> Result<Records, UserError> {
    let target = target(sources, telling);
    let sets: Vec<&Set> = sources.iter().flat_map(|source| &source.imported.sets).collect();
    let figures: usize = sets.iter().map(|set| set.figures.len()).sum();
    if figures > FIGURES_MAX * PLACES_MAX || sets.len() > FIGURES_MAX {
        return Err(UserError::failure(format!(
            "there are {figures} figures in these files, more than drivescope takes into one run. Import them in parts"
        )));
    }
    let direct = sources.iter().all(|source| source.imported.direct == Some(true));
    let mut builder = Builder::new(if direct { Caching::Direct } else { Caching::Buffered });
    let mut places = places(&sets, telling, target.capacity)?.into_iter();
    for set in &sets {
        let place = if lacks_place(set) { places.next() } else { None };
        for figure in joined(&set.figures) {
            builder.add(&figure, place);
        }
    }
    let environment = environment(sources, telling, &target, direct);
    Ok(Records { target, environment, ..builder.records })
}

/// Keeps the records in the store and in the run.
///
/// # Errors
/// When they cannot be written.
pub fn keep(records: &Records, run: &mut Run, writer: &mut RunWriter) -> Result<(), UserError> {
    run.phases = records.phases.clone();
    for record in &records.intervals {
        writer.append_interval(record)?;
    }
    writer.append_trace(&records.ios)?;
    for record in &records.telemetry {
        writer.append_telemetry(record)?;
    }
    for (phase, summary) in (0u32..).zip(&records.phases) {
        for totals in summary.totals.iter().filter(|totals| totals.histogram.count() > 0) {
            writer.append_histogram(&HistogramRecord {
                phase,
                operation: totals.operation,
                start_ns: summary.start_ns,
                duration_ns: summary.duration_ns,
                histogram: totals.histogram.clone(),
            })?;
        }
    }
    Ok(())
}

fn target(sources: &[Source], telling: &Telling) -> TargetFacts {
    let of = |pick: fn(&Imported) -> Option<String>| sources.iter().find_map(|source| pick(&source.imported));
    let model = telling.model.clone().or_else(|| of(|imported| imported.drive.clone()));
    let sheet = model.as_deref().and_then(datasheet::find);
    let stated = sheet.map(|sheet| Bytes((sheet.capacity_gb * 1e9) as u64));
    let told = telling.capacity.or_else(|| sources.iter().find_map(|source| source.imported.capacity));
    let path = of(|imported| imported.target.clone()).unwrap_or_else(|| sources[0].name.clone());
    let figures = || sources.iter().flat_map(|source| &source.imported.sets).flat_map(|set| &set.figures);
    let on_device = path.starts_with("/dev/");
    let has_place =
        !telling.positions.is_empty() || telling.partitions || figures().any(|figure| figure.place.is_some());
    let turns = telling.turns.or_else(|| sheet.map(|sheet| sheet.kind == Kind::HardDisk));
    let kind = if on_device || has_place || model.is_some() { TargetKind::Device } else { TargetKind::File };
    let capacity = told.or(stated).unwrap_or(Bytes::ZERO);
    TargetFacts { model, rotational: turns, ..TargetFacts::unidentified(kind, path, capacity) }
}

fn environment(sources: &[Source], telling: &Telling, target: &TargetFacts, direct: bool) -> Environment {
    let mut programs: Vec<String> = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    for Source { imported, .. } in sources {
        let version = imported.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
        let program = format!("{}{version}", imported.tool);
        if !programs.contains(&program) {
            programs.push(program);
        }
        for note in &imported.notes {
            if !warnings.contains(note) {
                warnings.push(note.clone());
            }
        }
    }
    if telling.capacity.is_none()
        && sources.iter().all(|source| source.imported.capacity.is_none())
        && target.capacity.0 > 0
    {
        warnings.push("The capacity is the one that the maker of this model states.".into());
    }
    if sources.iter().all(|source| source.imported.measured_unix_s.is_none()) {
        warnings.push(
            "The files do not say when it was measured: the date of this run is that of its import.".into(),
        );
    }
    let files: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let host = sources.iter().find_map(|source| source.imported.host.clone());
    Environment {
        host: host.unwrap_or_default(),
        kernel: "none".into(),
        engine: programs.join(", "),
        engine_features: vec![format!("imported from {}", files.join(", "))],
        direct,
        warnings,
        ..Environment::default()
    }
}

fn lacks_place(set: &Set) -> bool {
    let moves = |figure: &Figure| matches!(figure.work, Work::Transfer(_)) && figure.place.is_none();
    set.figures.iter().any(moves)
}

/// The places of the results that do not say theirs, in their order; none when nobody says them.
fn places(sets: &[&Set], telling: &Telling, capacity: Bytes) -> Result<Vec<Place>, UserError> {
    let count = sets.iter().filter(|set| lacks_place(set)).count();
    if !telling.partitions && telling.positions.is_empty() {
        return Ok(Vec::new());
    }
    if capacity.0 == 0 {
        return Err(UserError::usage(
            "where a result lies on a drive follows from its size: give --capacity too, such as --capacity 3TB",
        ));
    }
    let whole = ByteRange::whole(capacity);
    if telling.partitions {
        let parts = (0..count as u64).map(|part| whole.part(part, count as u64));
        return Ok(parts.map(|part| Place { first_byte: part.first().0, bytes: part.bytes().0 }).collect());
    }
    if telling.positions.len() != count {
        return Err(UserError::usage(format!(
            "there are {count} results that do not say where they were measured, and {} times --position. Give it once for each, in their order",
            telling.positions.len()
        )));
    }
    telling.positions.iter().map(|choice| place_on(*choice, whole)).collect()
}

fn place_on(choice: RangeChoice, whole: ByteRange) -> Result<Place, UserError> {
    let capacity = whole.bytes().0;
    let (first, end) = match choice {
        RangeChoice::Shares(from, to) => ((from * capacity as f64) as u64, (to * capacity as f64) as u64),
        RangeChoice::Bytes(from, to) => (from.0, to.0),
    };
    if end > capacity || first >= end {
        return Err(UserError::usage(format!(
            "a --position from byte {first} to {end} does not lie on a drive of {capacity} bytes"
        )));
    }
    Ok(Place { first_byte: first, bytes: end - first })
}

/// The figures of a set. Of a long series of places neighbours are put together, each member a slice of the whole.
fn joined(figures: &[Figure]) -> Vec<Figure> {
    let is_of_series =
        |figure: &Figure| figure.place.is_some() && figure.slices.is_empty() && figure.requests.is_empty();
    if figures.len() <= PLACES_MAX || !figures.iter().all(is_of_series) {
        return figures.to_vec();
    }
    figures.chunks(figures.len().div_ceil(PLACES_MAX)).filter_map(one_of).collect()
}

fn one_of(chunk: &[Figure]) -> Option<Figure> {
    let (first, last) = (chunk.first()?, chunk.last()?);
    let (from, to) = (first.place?, last.place?);
    let Work::Transfer(shape) = &first.work else { return None };
    let mut whole = first.clone();
    let (mut seconds, mut bytes, mut operations) = (0.0, 0u64, 0u64);
    for figure in chunk {
        let Work::Transfer(Transfer { moved, .. }) = &figure.work else { continue };
        let (operation, count, size) = *moved.first()?;
        whole.slices.push(Slice {
            operation,
            start_s: seconds,
            seconds: figure.seconds,
            bytes: size,
            operations: count,
        });
        seconds += figure.seconds;
        (bytes, operations) = (bytes.saturating_add(size), operations.saturating_add(count));
    }
    whole.seconds = seconds;
    whole.place = Some(Place {
        first_byte: from.first_byte,
        bytes: to.first_byte.saturating_add(to.bytes) - from.first_byte,
    });
    let moved = vec![(shape.moved.first()?.0, operations, bytes)];
    whole.work = Work::Transfer(Transfer { moved, ..shape.clone() });
    Some(whole)
}

struct Builder {
    records: Records,
    caching: Caching,
    now_ns: u64,
}

impl Builder {
    fn new(caching: Caching) -> Builder {
        let target =
            target(&[Source { name: String::new(), imported: Imported::default() }], &Telling::default());
        let records = Records {
            target,
            environment: Environment::default(),
            phases: Vec::new(),
            intervals: Vec::new(),
            ios: Vec::new(),
            telemetry: Vec::new(),
        };
        Builder { records, caching, now_ns: 0 }
    }

    fn add(&mut self, figure: &Figure, place: Option<Place>) {
        let phase = self.records.phases.len() as u32;
        let start_ns = self.now_ns;
        let duration_ns = Nanos::from_secs_f64(figure.seconds).map_or(0, |time| time.0).max(1);
        let range = range_of(figure.place.or(place));
        let (workload, totals, stop) = match &figure.work {
            Work::Files(count) => {
                (None, Vec::new(), StopCondition { operations: Some(*count), ..StopCondition::default() })
            }
            Work::Transfer(transfer) => {
                let bytes = transfer.moved.iter().map(|(_, _, bytes)| *bytes).fold(0, u64::saturating_add);
                let stop = StopCondition { bytes: Some(Bytes(bytes)), ..StopCondition::default() };
                (Some(workload(transfer, range, self.caching)), totals(transfer, figure), stop)
            }
        };
        self.series(figure, phase, start_ns, duration_ns, range);
        if let Some(share) = figure.cpu_share {
            self.records.telemetry.push(TelemetryRecord {
                at_ns: start_ns,
                own_cpu_share: Some(share),
                ..TelemetryRecord::default()
            });
        }
        let phase = Phase {
            name: figure.name.clone(),
            experiment: EXPERIMENT.into(),
            kind: PhaseKind::Measure,
            workload,
            stop,
        };
        self.records.phases.push(PhaseSummary {
            phase,
            start_ns,
            duration_ns,
            stopped: Some(StopReason::Bytes),
            totals,
            files: None,
            page_cache: None,
        });
        self.now_ns = start_ns.saturating_add(duration_ns);
    }

    fn series(&mut self, figure: &Figure, phase: u32, start_ns: u64, duration_ns: u64, range: ByteRange) {
        let Work::Transfer(transfer) = &figure.work else { return };
        if !figure.requests.is_empty() {
            return self.requests(&figure.requests, phase, start_ns);
        }
        let interval = |operation, start_ns, duration_ns, operations, bytes| IntervalRecord {
            phase,
            operation,
            start_ns,
            duration_ns,
            operations,
            bytes,
            errors: 0,
            offset_first: range.first().0,
            offset_end: range.end().0,
            latency: None,
        };
        if figure.slices.is_empty() {
            let whole = transfer
                .moved
                .iter()
                .map(|(operation, count, bytes)| interval(*operation, start_ns, duration_ns, *count, *bytes));
            return self.records.intervals.extend(whole);
        }
        for slice in &figure.slices {
            let at_ns = start_ns.saturating_add((slice.start_s * 1e9) as u64);
            let length_ns = ((slice.seconds * 1e9) as u64).max(1);
            self.records.intervals.push(interval(
                slice.operation,
                at_ns,
                length_ns,
                slice.operations,
                slice.bytes,
            ));
        }
    }

    /// Single requests as in a trace, and slices out of them. A clock of whole milliseconds may end a request before it can have begun: all are
    /// moved on by what is missing.
    fn requests(&mut self, requests: &[Request], phase: u32, start_ns: u64) {
        let end_ns = |request: &Request| (request.completed_s * 1e9) as u64;
        let missing = requests
            .iter()
            .map(|request| request.latency_ns.saturating_sub(end_ns(request)))
            .max()
            .unwrap_or(0);
        let mut slice: Option<(u64, Vec<&Request>)> = None;
        for request in requests {
            let completed_ns = start_ns.saturating_add(end_ns(request)).saturating_add(missing);
            let submitted_ns = completed_ns.saturating_sub(request.latency_ns);
            self.records.ios.push(IoRecord {
                intended_ns: submitted_ns,
                submitted_ns,
                completed_ns,
                offset_bytes: request.first_byte,
                length_bytes: request.bytes,
                phase,
                status: Status::Done,
                operation: request.operation,
            });
            let number = (completed_ns - start_ns) / INTERVAL_NS;
            match &mut slice {
                Some((open, members)) if *open == number => members.push(request),
                _ => {
                    self.close(slice.take(), phase, start_ns);
                    slice = Some((number, vec![request]));
                }
            }
        }
        self.close(slice, phase, start_ns);
    }

    fn close(&mut self, slice: Option<(u64, Vec<&Request>)>, phase: u32, start_ns: u64) {
        let Some((number, members)) = slice else { return };
        let mut histogram = LatencyHistogram::small();
        members.iter().for_each(|request| histogram.record(request.latency_ns));
        let first = members.iter().map(|request| request.first_byte).min().unwrap_or(0);
        let end =
            members.iter().map(|request| request.first_byte.saturating_add(u64::from(request.bytes))).max();
        self.records.intervals.push(IntervalRecord {
            phase,
            operation: members[0].operation,
            start_ns: start_ns.saturating_add(number.saturating_mul(INTERVAL_NS)),
            duration_ns: INTERVAL_NS,
            operations: members.len() as u64,
            bytes: members.iter().map(|request| u64::from(request.bytes)).sum(),
            errors: 0,
            offset_first: first,
            offset_end: end.unwrap_or(0),
            latency: IntervalLatency::of(&histogram),
        });
    }
}

/// An empty range is a place that nobody knows.
fn range_of(place: Option<Place>) -> ByteRange {
    let known = place.and_then(|place| ByteRange::new(Offset(place.first_byte), Bytes(place.bytes)));
    known.unwrap_or(ByteRange::whole(Bytes::ZERO))
}

fn workload(transfer: &Transfer, range: ByteRange, caching: Caching) -> Workload {
    let pattern = match transfer.order {
        Order::Sequential => Pattern::Sequential,
        Order::Random => Pattern::RandomWithReplacement,
        // Neither in order nor at random: no finding rests on it.
        Order::Unknown => Pattern::Mixed { random_share: 0.0 },
    };
    let of =
        |operation| transfer.moved.iter().find(|(of, ..)| *of == operation).map_or(0, |(_, count, _)| *count);
    let (reads, writes) = (of(Operation::Read), of(Operation::Write));
    let mix = match (reads, writes) {
        (0, 0) => OperationMix::Discard,
        (_, 0) => OperationMix::Read,
        (0, _) => OperationMix::Write,
        _ => OperationMix::ReadWrite { read_share: reads as f64 / (reads as f64 + writes as f64) },
    };
    let threads = transfer.threads;
    Workload { threads, caching, ..Workload::new(range, pattern, mix, transfer.block, transfer.queue_depth) }
}

fn totals(transfer: &Transfer, figure: &Figure) -> Vec<OperationTotals> {
    let mut moved = transfer.moved.clone();
    moved.sort_by_key(|(operation, ..)| operation.number());
    let latencies =
        || figure.latencies.as_ref().map_or_else(LatencyHistogram::small, |latencies| (**latencies).clone());
    let totals = moved.into_iter().map(|(operation, operations, bytes)| OperationTotals {
        operation,
        operations,
        bytes,
        errors: 0,
        histogram: latencies(),
        stretch: None,
    });
    totals.collect()
}
