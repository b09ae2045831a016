//! From the results of other programs to the records of a run: a phase for each figure, one after the other.

use crate::error::UserError;
use crate::store::RunWriter;
use analysis::datasheet::{self, Kind};
use analysis::stated::EXPERIMENT;
use import::{Figure, Imported, Order, Place, Request, Set, Slice, Transfer, Work};
use model::commit::{CommitMethod, Commits, Log};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::range_choice::RangeChoice;
use model::record::{
    HistogramRecord, INTERVAL_NS, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use model::run::{Environment, OperationTotals, PhaseSummary, Run};
use model::target::{TargetFacts, TargetKind};
use model::units::{Bytes, Nanos, Offset};
use model::workload::{Caching, OperationMix, Pattern, Workload};

/// Of a longer series by LBA, neighbouring figures are merged into one phase and kept as its intervals.
const PLACES_MAX: usize = 256;
/// A run holds all its phases in memory.
const FIGURES_MAX: usize = 20_000;

pub struct Source {
    pub name: String,
    pub imported: Imported,
}

#[derive(Clone, Debug, Default)]
pub struct Telling {
    pub model: Option<String>,
    pub capacity: Option<Bytes>,
    pub positions: Vec<RangeChoice>,
    pub partitions: bool,
    pub turns: Option<bool>,
}

pub struct Records {
    pub target: TargetFacts,
    pub environment: Environment,
    caching: Caching,
    main: Option<CommitMethod>,
    now_ns: u64,
    phases: Vec<PhaseSummary>,
    intervals: Vec<IntervalRecord>,
    ios: Vec<IoRecord>,
    telemetry: Vec<TelemetryRecord>,
}

pub fn records(sources: &[Source], telling: &Telling) -> Result<Records, UserError> {
    let target = target(sources, telling);
    let (mut sets, mut figures, mut direct) = (Vec::new(), 0, true);
    for Source { imported, .. } in sources {
        for set in &imported.sets {
            figures += set.figures.len();
            sets.push(set);
        }
        direct &= imported.direct == Some(true);
    }
    if figures > FIGURES_MAX * PLACES_MAX || sets.len() > FIGURES_MAX {
        return Err(UserError::failure(format!(
            "there are {figures} figures in these files, more than drivescope takes into one run. Import them in parts"
        )));
    }
    let mut methods =
        sets.iter().flat_map(|set| &set.figures).filter_map(|figure| Some(figure.commits?.method));
    // PostgreSQL's own choice on Linux, and that of etcd.
    let main = if methods.clone().any(|method| method == CommitMethod::Fdatasync) {
        Some(CommitMethod::Fdatasync)
    } else {
        methods.next()
    };
    let mut places = places(&sets, telling, target.capacity)?.into_iter();
    let mut records = Records {
        environment: environment(sources, telling, &target, direct),
        target,
        caching: if direct { Caching::Direct } else { Caching::Buffered },
        main,
        now_ns: 0,
        phases: Vec::new(),
        intervals: Vec::new(),
        ios: Vec::new(),
        telemetry: Vec::new(),
    };
    for set in &sets {
        let place = if lacks_place(set) { places.next() } else { None };
        for figure in joined(&set.figures) {
            records.add(&figure, place);
        }
    }
    Ok(records)
}

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
        for totals in &summary.totals {
            if totals.histogram.count() == 0 {
                continue;
            }
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
    let (mut model, mut path, mut capacity) = (telling.model.clone(), None::<String>, telling.capacity);
    let mut has_place = !telling.positions.is_empty() || telling.partitions;
    for Source { imported, .. } in sources {
        model = model.or(imported.drive.clone());
        // Beside the file of one program, the device of another is what was measured.
        let is_better =
            imported.target.as_deref().is_some_and(is_device) && !path.as_deref().is_some_and(is_device);
        path = if is_better { imported.target.clone() } else { path.or(imported.target.clone()) };
        capacity = capacity.or(imported.capacity);
        for figure in imported.sets.iter().flat_map(|set| &set.figures) {
            has_place |= figure.place.is_some();
        }
    }
    let mut turns = telling.turns;
    if let Some(sheet) = model.as_deref().and_then(datasheet::find) {
        turns = turns.or(Some(sheet.kind == Kind::HardDisk));
        capacity = capacity.or(Some(Bytes::new((sheet.capacity_gb * 1e9) as u64)));
    }
    let path = path.unwrap_or(sources[0].name.clone());
    let is_drive = is_device(&path) || has_place || model.is_some();
    let kind = if is_drive { TargetKind::Device } else { TargetKind::File };
    let capacity = capacity.unwrap_or(Bytes::ZERO);
    TargetFacts { model, rotational: turns, ..TargetFacts::unidentified(kind, path, capacity) }
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

fn environment(sources: &[Source], telling: &Telling, target: &TargetFacts, direct: bool) -> Environment {
    let (mut programs, mut warnings): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut files, mut host) = (Vec::new(), None);
    let (mut is_of_sheet, mut is_undated) = (telling.capacity.is_none() && !target.capacity.is_zero(), true);
    for Source { name, imported } in sources {
        if !files.contains(&name.as_str()) {
            files.push(name.as_str());
        }
        host = host.or(imported.host.clone());
        is_of_sheet &= imported.capacity.is_none();
        is_undated &= imported.measured_unix_s.is_none();
        let program = match &imported.version {
            Some(version) => format!("{} {version}", imported.tool),
            None => imported.tool.to_string(),
        };
        if !programs.contains(&program) {
            programs.push(program);
        }
        for note in &imported.notes {
            if !warnings.contains(note) {
                warnings.push(note.clone());
            }
        }
    }
    if is_of_sheet {
        warnings.push("The capacity is that of the data sheet of this model.".into());
    }
    if is_undated {
        warnings.push(
            "The files lack the date of the measurement: the date of this run is that of its import.".into(),
        );
    }
    Environment {
        host: host.unwrap_or_default(),
        kernel: "none".into(),
        engine: programs.join(", ").into(),
        engine_features: vec![format!("imported from {}", files.join(", "))],
        direct,
        warnings,
        ..Environment::default()
    }
}

fn lacks_place(set: &Set) -> bool {
    set.figures.iter().any(|figure| matches!(figure.work, Work::Transfer(_)) && figure.place.is_none())
}

fn places(sets: &[&Set], telling: &Telling, capacity: Bytes) -> Result<Vec<Place>, UserError> {
    let count = sets.iter().filter(|set| lacks_place(set)).count();
    if !telling.partitions && telling.positions.is_empty() {
        return Ok(Vec::new());
    }
    if capacity.get() == 0 {
        return Err(UserError::usage(
            "ranges of results need the size of the drive: add --capacity, such as --capacity 3TB",
        ));
    }
    let whole = ByteRange::whole(capacity);
    if telling.partitions {
        let mut places = Vec::new();
        for part in 0..count as u64 {
            let range = whole.part(part, count as u64);
            places.push(Place { first_byte: range.first().get(), bytes: range.bytes().get() });
        }
        return Ok(places);
    }
    if telling.positions.len() != count {
        return Err(UserError::usage(format!(
            "{count} results lack the range that they were measured in, and --position is given {} times. Give it once for each, in their order",
            telling.positions.len()
        )));
    }
    let mut places = Vec::new();
    for choice in &telling.positions {
        places.push(place_on(*choice, whole)?);
    }
    Ok(places)
}

fn place_on(choice: RangeChoice, whole: ByteRange) -> Result<Place, UserError> {
    let capacity = whole.bytes().get();
    let (first, end) = match choice {
        RangeChoice::Shares(from, to) => ((from * capacity as f64) as u64, (to * capacity as f64) as u64),
        RangeChoice::Bytes(from, to) => (from.get(), to.get()),
    };
    if end > capacity || first >= end {
        return Err(UserError::usage(format!(
            "a --position from byte {first} to {end} does not lie on a drive of {capacity} bytes"
        )));
    }
    Ok(Place { first_byte: first, bytes: end - first })
}

fn joined(figures: &[Figure]) -> Vec<Figure> {
    if figures.len() <= PLACES_MAX || !figures.iter().all(is_of_series) {
        return figures.to_vec();
    }
    figures.chunks(figures.len().div_ceil(PLACES_MAX)).filter_map(one_of).collect()
}

fn is_of_series(figure: &Figure) -> bool {
    figure.place.is_some() && figure.slices.is_empty() && figure.requests.is_empty()
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

impl Records {
    fn add(&mut self, figure: &Figure, place: Option<Place>) {
        let phase = self.phases.len() as u32;
        let start_ns = self.now_ns;
        let seconds = figure.commits.map_or(figure.seconds, |commits| commits.seconds);
        let duration_ns = Nanos::from_secs_f64(seconds).unwrap_or_default().get().max(1);
        let range = range_of(figure.place.or(place));
        let (workload, totals, stop) = match (&figure.work, figure.commits) {
            (_, Some(commits)) => self.commits(figure, commits, range),
            (Work::Files(count), None) => (None, Vec::new(), after(*count)),
            (Work::Flushes(count), None) => {
                (None, vec![total(Operation::Flush, *count, 0, figure)], after(*count))
            }
            (Work::Transfer(transfer), None) => {
                let mut bytes = Bytes::ZERO;
                for (_, _, moved) in &transfer.moved {
                    bytes = bytes.saturating_add(Bytes::new(*moved));
                }
                let stop = StopCondition { bytes: Some(bytes), ..StopCondition::default() };
                (Some(workload(transfer, range, self.caching)), totals(transfer, figure), stop)
            }
        };
        self.series(figure, phase, start_ns, duration_ns, range);
        if let Some(share) = figure.cpu_share {
            self.telemetry.push(TelemetryRecord {
                at_ns: start_ns,
                own_cpu_share: Some(share),
                ..TelemetryRecord::default()
            });
        }
        let phase = Phase {
            name: figure.name.clone(),
            experiment: EXPERIMENT,
            kind: PhaseKind::Measure,
            workload,
            stop,
        };
        self.phases.push(PhaseSummary {
            duration_ns,
            stopped: Some(StopReason::Bytes),
            totals,
            ..PhaseSummary::begun(phase, start_ns)
        });
        self.now_ns = start_ns.saturating_add(duration_ns);
    }

    fn commits(
        &self,
        figure: &Figure,
        import::Commits { method, write, .. }: import::Commits,
        range: ByteRange,
    ) -> (Option<Workload>, Vec<OperationTotals>, StopCondition) {
        let (count, bytes, log) = match &figure.work {
            Work::Transfer(Transfer { moved, .. }) => (moved[0].1, moved[0].2, Log::Overwrite),
            // fio states what it wrote as a figure of its own.
            Work::Files(count) | Work::Flushes(count) => (*count, 0, Log::Preallocated),
        };
        let is_main = self.main == Some(method);
        let mix = OperationMix::Commit(Commits { method, log, is_main, beside: None, application: None });
        let workload = Workload::new(range, Pattern::Sequential, mix, write, 1);
        let workload = Workload { caching: self.caching, ..workload };
        (Some(workload), vec![total(Operation::Commit, count, bytes, figure)], after(count))
    }

    fn series(&mut self, figure: &Figure, phase: u32, start_ns: u64, duration_ns: u64, range: ByteRange) {
        let Work::Transfer(transfer) = &figure.work else { return };
        if figure.commits.is_some() {
            return;
        }
        if !figure.requests.is_empty() {
            return self.requests(&figure.requests, phase, start_ns);
        }
        let whole = IntervalRecord {
            phase,
            operation: Operation::Read,
            start_ns,
            duration_ns,
            operations: 0,
            bytes: 0,
            errors: 0,
            offset_first: range.first().get(),
            offset_end: range.end().get(),
            latency: None,
        };
        if figure.slices.is_empty() {
            for &(operation, operations, bytes) in &transfer.moved {
                self.intervals.push(IntervalRecord { operation, operations, bytes, ..whole });
            }
        }
        for slice in &figure.slices {
            self.intervals.push(IntervalRecord {
                operation: slice.operation,
                start_ns: start_ns.saturating_add((slice.start_s * 1e9) as u64),
                duration_ns: ((slice.seconds * 1e9) as u64).max(1),
                operations: slice.operations,
                bytes: slice.bytes,
                ..whole
            });
        }
    }

    /// Single requests as in a trace, and their intervals. A clock of whole milliseconds may complete a request before it
    /// was submitted: all are delayed by the largest such difference.
    fn requests(&mut self, requests: &[Request], phase: u32, start_ns: u64) {
        let mut delay_ns = 0;
        for request in requests {
            delay_ns = delay_ns.max(request.latency_ns.saturating_sub(end_ns(request)));
        }
        let mut slice: Option<(u64, Vec<&Request>)> = None;
        for request in requests {
            let completed_ns = start_ns.saturating_add(end_ns(request)).saturating_add(delay_ns);
            let submitted_ns = completed_ns.saturating_sub(request.latency_ns);
            self.ios.push(IoRecord {
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
        let (mut first, mut end, mut bytes) = (u64::MAX, 0, 0);
        for request in &members {
            histogram.record(request.latency_ns);
            first = first.min(request.first_byte);
            end = end.max(request.first_byte.saturating_add(u64::from(request.bytes)));
            bytes += u64::from(request.bytes);
        }
        self.intervals.push(IntervalRecord {
            phase,
            operation: members[0].operation,
            start_ns: start_ns.saturating_add(number.saturating_mul(INTERVAL_NS)),
            duration_ns: INTERVAL_NS,
            operations: members.len() as u64,
            bytes,
            errors: 0,
            offset_first: first,
            offset_end: end,
            latency: IntervalLatency::of(&histogram),
        });
    }
}

fn after(operations: u64) -> StopCondition {
    StopCondition { operations: Some(operations), ..StopCondition::default() }
}

fn end_ns(request: &Request) -> u64 {
    (request.completed_s * 1e9) as u64
}

fn range_of(place: Option<Place>) -> ByteRange {
    let Place { first_byte, bytes } = place.unwrap_or(Place { first_byte: 0, bytes: 0 });
    ByteRange::new(Offset::new(first_byte), Bytes::new(bytes)).unwrap_or(ByteRange::whole(Bytes::ZERO))
}

fn workload(transfer: &Transfer, range: ByteRange, caching: Caching) -> Workload {
    let pattern = match transfer.order {
        Order::Sequential => Pattern::Sequential,
        Order::Random => Pattern::RandomWithReplacement,
        // Neither sequential nor random: no finding rests on it.
        Order::Unknown => Pattern::Mixed { random_share: 0.0 },
    };
    let (reads, writes) = (count_of(transfer, Operation::Read), count_of(transfer, Operation::Write));
    let mix = match (reads, writes) {
        (0, 0) => OperationMix::Discard,
        (_, 0) => OperationMix::Read,
        (0, _) => OperationMix::Write,
        _ => OperationMix::ReadWrite { read_share: reads as f64 / (reads as f64 + writes as f64) },
    };
    let threads = transfer.threads;
    Workload { threads, caching, ..Workload::new(range, pattern, mix, transfer.block, transfer.queue_depth) }
}

fn count_of(transfer: &Transfer, operation: Operation) -> u64 {
    for (moved, count, _) in &transfer.moved {
        if *moved == operation {
            return *count;
        }
    }
    0
}

fn total(operation: Operation, operations: u64, bytes: u64, figure: &Figure) -> OperationTotals {
    let histogram = match &figure.latencies {
        Some(latencies) => (**latencies).clone(),
        None => LatencyHistogram::small(),
    };
    OperationTotals { operation, operations, bytes, errors: 0, histogram, stretch: None }
}

fn totals(transfer: &Transfer, figure: &Figure) -> Vec<OperationTotals> {
    let mut totals = Vec::new();
    for &(operation, operations, bytes) in &transfer.moved {
        totals.push(total(operation, operations, bytes, figure));
    }
    totals.sort_by_key(|totals| totals.operation.number());
    totals
}
