//! A virtual drive measured in virtual time: a closed loop over any drive, and the phases that `check` makes.
#![allow(dead_code, reason = "each test file uses a part of it")]

use analysis::analyse;
use analysis::surface::SurfaceMap;
use model::finding::{Conclusion, Finding, FindingCode, Outcome, SurveyUnknown};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::record::{ERROR_RECORDS_MAX, ErrorRecord, INTERVAL_NS, IntervalLatency, IntervalRecord};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::run::{CompletionStretch, Environment, MemorySeries, OperationTotals, PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, MIB, Nanos, Offset, Quantile};
use model::workload::{OperationMix, Pattern, Workload};
use sim::Drive;

/// Keeps phases on a quick drive short.
const OPERATIONS_MAX: u64 = 6_000;

/// 1 MiB, or less on a range so small that its areas would hold only a few of them.
fn sequential_block(range: ByteRange) -> Bytes {
    let mut block = MIB;
    while block > 4096 && block * 32 > range.bytes().get() {
        block /= 2;
    }
    Bytes::new(block)
}

/// The block and the length of a visit of `surface`: 12 MiB in blocks of 1 MiB, less on a range that is small.
fn surface_visit(range: ByteRange) -> (Bytes, Bytes) {
    let mut block = MIB;
    while block > 4096 && block * 12 * 100 > range.bytes().get() {
        block /= 2;
    }
    (Bytes::new(block), Bytes::new(block * 12))
}

/// A run on a virtual drive.
pub struct Bench {
    pub target: TargetFacts,
    pub environment: Environment,
    pub phases: Vec<PhaseSummary>,
    pub series: MemorySeries,
    drive: Box<dyn Drive>,
    now: Instant,
    prng: Prng,
    experiment: &'static str,
}

/// What one phase does while it runs.
struct Slice {
    start_ns: u64,
    bytes: u64,
    errors: u64,
    offset_first: u64,
    offset_end: u64,
    latencies: Vec<u64>,
}

impl Bench {
    pub fn new(drive: Box<dyn Drive>, seed: u64) -> Bench {
        let environment = Environment { engine: "sim".into(), direct: true, ..Environment::default() };
        Bench {
            target: drive.facts().clone(),
            environment,
            phases: Vec::new(),
            series: MemorySeries::default(),
            drive,
            now: Instant::START,
            prng: Prng::new(seed, 0x6265_6e63),
            experiment: "check",
        }
    }

    /// From here on phases are those of that experiment.
    pub fn ask(&mut self, experiment: &'static str) {
        self.experiment = experiment;
    }

    pub fn view(&self) -> RunView<'_> {
        RunView {
            target: &self.target,
            environment: &self.environment,
            phases: &self.phases,
            series: &self.series,
        }
    }

    pub fn whole(&self) -> ByteRange {
        ByteRange::whole(self.target.capacity)
    }

    /// Sequential visits at depth 4 as `check` plans them: shuffled rounds with a visit to each stratum of `range`, as long as the stratum from
    /// a random place in it, and three visits to each edge, half as long from a random place in its first half.
    pub fn sequential(&mut self, range: ByteRange, mix: OperationMix, rounds: usize) {
        let block = sequential_block(range);
        let room = range.bytes().get() / (block.get() * 8);
        let strata = (range.bytes().get() / (1024 * MIB)).clamp(8, 24).min(room).max(1);
        let edge = (range.bytes().get() / 100).max(256 * MIB).min(range.bytes().get() / strata) / block.get()
            * block.get();
        let edge = Bytes::new(edge).max(block);
        let start = ByteRange::new(range.first(), edge).unwrap();
        let end = ByteRange::new(Offset::new(range.end().get() - edge.get()), edge).unwrap();
        for _ in 0..rounds {
            let mut stretches: Vec<ByteRange> =
                (0..strata).map(|index| self.stretch(range, range.part(index, strata), block)).collect();
            for _ in 0..3 {
                stretches.extend([self.half_of(start, block), self.half_of(end, block)]);
            }
            self.prng.shuffle(&mut stretches);
            for stretch in stretches {
                let workload = Workload::new(stretch, Pattern::Sequential, mix, block, 4);
                let stop = StopCondition { time: Some(Nanos::from_millis(400)), ..StopCondition::one_pass() };
                let stop =
                    if mix == OperationMix::Write { stop.or_bytes(Bytes::new(128 * MIB)) } else { stop };
                self.run(PhaseKind::Measure, workload, stop);
            }
        }
    }

    /// Short sequential visits as `surface` makes them, in random order: one to a random place in each of `spread` equal parts
    /// and `edge` to each hundredth at the ends. Then `rounds` times what the map so far asks for: suspects again, and 12 visits
    /// to each border that is not known to 0.5 % of the capacity, up to `spread` in a round.
    pub fn surface(&mut self, range: ByteRange, mix: OperationMix, spread: u64, edge: u64, rounds: usize) {
        self.experiment = "surface";
        let (block, length) = surface_visit(range);
        let hundredth = Bytes::new((range.bytes().get() / 100).max(length.get()));
        let start = ByteRange::new(range.first(), hundredth).unwrap();
        let end = ByteRange::new(Offset::new(range.end().get() - hundredth.get()), hundredth).unwrap();
        self.warm_up(range);
        // One from the very start and one to the very end, so that the run tells how far its range goes.
        let last =
            ByteRange::new(Offset::new((range.end().get() - length.get()) / 512 * 512), length).unwrap();
        let mut visits: Vec<ByteRange> = vec![ByteRange::new(range.first(), length).unwrap(), last];
        for index in 0..spread {
            visits.push(self.short_visit(range, range.part(index, spread), length));
        }
        for _ in 0..edge {
            visits.extend([self.short_visit(range, start, length), self.short_visit(range, end, length)]);
        }
        self.visit_all(visits, mix, block);
        for _ in 0..rounds {
            let Ok(map) = SurfaceMap::of(&self.view(), mix.operations()[0]) else { return };
            let mut visits = map.suspects().to_vec();
            // As many anywhere as in a round of the experiment.
            visits.extend((0..24).map(|index| self.short_visit(range, range.part(index, 24), length)));
            for border in map.uncertain_borders(0.005) {
                if visits.len() as u64 + 12 > spread {
                    break;
                }
                visits.extend((0..12).map(|_| self.short_visit(range, border, length)));
            }
            self.visit_all(visits, mix, block);
        }
    }

    /// All of a range in order, in that many phases, as `surface --full` reads it.
    pub fn surface_in_full(&mut self, range: ByteRange, parts: u64) {
        self.experiment = "surface";
        self.warm_up(range);
        for part in 0..parts {
            let part = range.part(part, parts);
            let workload = Workload::new(part, Pattern::Sequential, OperationMix::Read, Bytes::new(MIB), 4);
            self.run(PhaseKind::Measure, workload, StopCondition::one_pass());
        }
    }

    fn short_visit(&mut self, range: ByteRange, within: ByteRange, length: Bytes) -> ByteRange {
        let first = within.first().get() + self.prng.below((within.bytes().get() / 4096).max(1)) * 4096;
        let first = first.min(range.end().get() - length.get()) / 4096 * 4096;
        ByteRange::new(Offset::new(first), length).unwrap()
    }

    fn visit_all(&mut self, mut visits: Vec<ByteRange>, mix: OperationMix, block: Bytes) {
        self.prng.shuffle(&mut visits);
        for visit in visits {
            let workload = Workload::new(visit, Pattern::Sequential, mix, block, 4);
            self.run(PhaseKind::Measure, workload, StopCondition::one_pass());
        }
    }

    fn half_of(&mut self, edge: ByteRange, block: Bytes) -> ByteRange {
        let half = Bytes::new(edge.bytes().get() / 2 / 4096 * 4096);
        if half < block {
            return edge;
        }
        ByteRange::new(edge.first() + Bytes::new(self.prng.below(half.get() / 4096) * 4096), half).unwrap()
    }

    /// From a random place in the stratum on, as long as the stratum; at the end of the range, to its end.
    fn stretch(&mut self, range: ByteRange, stratum: ByteRange, block: Bytes) -> ByteRange {
        let shortest = Bytes::new(block.get() * 4).min(range.bytes());
        let first = stratum.first().get() + self.prng.below((stratum.bytes().get() / 4096).max(1)) * 4096;
        let first =
            Offset::new(first.min(range.end().get() - shortest.get()) / 4096 * 4096).max(range.first());
        ByteRange::new(first, stratum.bytes().max(shortest).min(range.end() - first)).unwrap()
    }

    /// Random 4 KiB at each depth in shuffled rounds, as long as `check` takes: longer where parts move.
    pub fn random(&mut self, range: ByteRange, mix: OperationMix, depths: &[u32], rounds: usize) {
        for _ in 0..rounds {
            let mut order = depths.to_vec();
            self.prng.shuffle(&mut order);
            for depth in order {
                let usual = if depth == 1 { 1000 } else { 400 };
                let millis = if self.mechanical() { (2 * usual).max(25 * u64::from(depth)) } else { usual };
                let workload =
                    Workload::new(range, Pattern::RandomWithReplacement, mix, Bytes::new(4096), depth);
                self.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(millis)));
            }
        }
    }

    /// Whether the warm-up says so; without one, the target.
    fn mechanical(&self) -> bool {
        let warm_up = self.phases.first().filter(|summary| summary.phase.kind == PhaseKind::WarmUp);
        match warm_up.and_then(|summary| summary.totals[0].histogram.quantile(Quantile::MEDIAN)) {
            Some(median) => median >= Nanos::from_millis(1),
            None => self.target.rotational.unwrap_or(true),
        }
    }

    pub fn check(&mut self, writes: bool) {
        let whole = self.whole();
        self.warm_up(whole);
        self.sequential(whole, OperationMix::Read, 2);
        if writes {
            self.sequential(whole, OperationMix::Write, 2);
        }
        let rounds = if self.mechanical() { 3 } else { 6 };
        self.random(whole, OperationMix::Read, &[1, 2, 4, 8, 16, 32, 64], rounds);
    }

    fn warm_up(&mut self, range: ByteRange) {
        let warm_up =
            Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, Bytes::new(4096), 1);
        self.run(PhaseKind::WarmUp, warm_up, StopCondition::after(Nanos::from_millis(500)));
    }

    /// What the host takes between phases.
    pub fn pause(&mut self, time: Nanos) {
        self.now += time;
    }

    /// One phase in a closed loop: issues until the stop condition holds, then drains; what is done after its time is not counted.
    pub fn run(&mut self, kind: PhaseKind, workload: Workload, stop: StopCondition) {
        let phase = self.phases.len() as u32;
        let began = self.now;
        let operation = workload.mix.operations()[0];
        let mut loop_ = Loop::new(phase, began, operation, &workload, stop);
        let mut stopped = None;
        let mut free: Vec<u32> = (0..workload.queue_depth).rev().collect();
        let end_ns = stop.time.map_or(u64::MAX, |time| (began + time).get());
        let mut late_bytes = 0;
        loop {
            while stopped.is_none() && !free.is_empty() {
                stopped = loop_.reached(self.now);
                if stopped.is_none() {
                    let tag = free.pop().unwrap();
                    let request = loop_.next_request(Tag(tag), &workload, &mut self.prng);
                    loop_.submitted[tag as usize] = (self.now.get(), request);
                    self.drive.submit(request, self.now);
                }
            }
            let Some(at) = self.drive.next_completion_at() else { break };
            self.now = at;
            while let Some(completion) = self.drive.take_completion(at) {
                free.push(completion.tag.0);
                if completion.completed_ns > end_ns {
                    late_bytes += u64::from(completion.transferred_bytes);
                    continue;
                }
                loop_.count(completion, &mut self.series);
                if completion.status == Status::DeviceGone {
                    stopped = Some(StopReason::DeviceGone);
                }
            }
        }
        // As the recorder does: a slice has its full length, although the phase may end within it.
        let full_ns = loop_.slice.start_ns + INTERVAL_NS;
        loop_.close_slice(full_ns, &mut self.series);
        self.phases.push(PhaseSummary {
            duration_ns: self.now.get().min(end_ns) - began.get(),
            stopped,
            late_bytes,
            totals: vec![loop_.totals],
            ..PhaseSummary::begun(
                Phase {
                    name: String::new(),
                    experiment: self.experiment.into(),
                    kind,
                    workload: Some(workload),
                    stop,
                },
                began.get(),
            )
        });
    }
}

struct Loop {
    phase: u32,
    began: Instant,
    stop: StopCondition,
    issued: u64,
    block: u64,
    range_blocks: u64,
    slice: Slice,
    submitted: Vec<(u64, Request)>,
    totals: OperationTotals,
}

impl Loop {
    fn new(
        phase: u32,
        began: Instant,
        operation: Operation,
        workload: &Workload,
        stop: StopCondition,
    ) -> Loop {
        let none = Request { tag: Tag(0), operation, offset_bytes: 0, length_bytes: 0 };
        let totals = OperationTotals {
            operation,
            operations: 0,
            bytes: 0,
            errors: 0,
            histogram: Default::default(),
            stretch: None,
        };
        Loop {
            phase,
            began,
            stop,
            issued: 0,
            block: workload.block_sizes.largest().get(),
            range_blocks: workload.range.bytes().get() / workload.block_sizes.largest().get(),
            slice: Slice::at(began.get()),
            submitted: vec![(0, none); workload.queue_depth as usize],
            totals,
        }
    }

    fn reached(&self, now: Instant) -> Option<StopReason> {
        if self.stop.time.is_some_and(|time| now.since(self.began) >= time) {
            return Some(StopReason::Time);
        }
        if self.stop.bytes.is_some_and(|bytes| self.issued * self.block >= bytes.get()) {
            return Some(StopReason::Bytes);
        }
        if self.stop.passes.is_some_and(|passes| self.issued >= passes * self.range_blocks) {
            return Some(StopReason::Passes);
        }
        (self.issued >= OPERATIONS_MAX).then_some(StopReason::Operations)
    }

    fn next_request(&mut self, tag: Tag, workload: &Workload, prng: &mut Prng) -> Request {
        let block = workload.block_sizes.largest().get();
        let index = match workload.pattern {
            Pattern::Sequential => self.issued % self.range_blocks,
            _ => prng.below(self.range_blocks),
        };
        self.issued += 1;
        Request {
            tag,
            operation: workload.mix.operations()[0],
            offset_bytes: workload.range.first().get() + index * block,
            length_bytes: block as u32,
        }
    }

    fn count(&mut self, completion: Completion, series: &mut MemorySeries) {
        while completion.completed_ns >= self.slice.start_ns + INTERVAL_NS {
            self.close_slice(self.slice.start_ns + INTERVAL_NS, series);
        }
        let (submitted_ns, request) = self.submitted[completion.tag.0 as usize];
        if !completion.status.is_done() {
            self.totals.errors += 1;
            self.slice.errors += 1;
            if self.totals.errors as usize <= ERROR_RECORDS_MAX {
                series.errors.push(ErrorRecord {
                    phase: self.phase,
                    at_ns: completion.completed_ns,
                    operation: request.operation,
                    offset_bytes: request.offset_bytes,
                    length_bytes: request.length_bytes,
                    status: completion.status,
                });
            }
            return;
        }
        let latency_ns = completion.completed_ns - submitted_ns;
        self.totals.operations += 1;
        self.totals.bytes += u64::from(request.length_bytes);
        self.totals.histogram.record(latency_ns);
        let one = CompletionStretch::of_one(completion.completed_ns, u64::from(request.length_bytes));
        self.totals.stretch = Some(self.totals.stretch.map_or(one, |so_far| so_far.joined(one)));
        self.slice.bytes += u64::from(request.length_bytes);
        self.slice.offset_first = self.slice.offset_first.min(request.offset_bytes);
        self.slice.offset_end =
            self.slice.offset_end.max(request.offset_bytes + u64::from(request.length_bytes));
        self.slice.latencies.push(latency_ns);
    }

    fn close_slice(&mut self, end_ns: u64, series: &mut MemorySeries) {
        let slice = std::mem::replace(&mut self.slice, Slice::at(end_ns));
        series.intervals.push(slice.record(self.phase, self.totals.operation, end_ns));
    }
}

impl Slice {
    fn at(start_ns: u64) -> Slice {
        Slice { start_ns, bytes: 0, errors: 0, offset_first: u64::MAX, offset_end: 0, latencies: Vec::new() }
    }

    fn record(mut self, phase: u32, operation: Operation, end_ns: u64) -> IntervalRecord {
        self.latencies.sort_unstable();
        let count = self.latencies.len();
        let latency = (count > 0).then(|| IntervalLatency {
            min_ns: self.latencies[0],
            mean_ns: self.latencies.iter().sum::<u64>() as f64 / count as f64,
            p50_ns: self.latencies[(count - 1) / 2],
            p99_ns: self.latencies[(count - 1) * 99 / 100],
            max_ns: self.latencies[count - 1],
        });
        IntervalRecord {
            phase,
            operation,
            start_ns: self.start_ns,
            duration_ns: end_ns - self.start_ns,
            operations: count as u64,
            bytes: self.bytes,
            errors: self.errors,
            offset_first: if count > 0 { self.offset_first } else { 0 },
            offset_end: self.offset_end,
            latency,
        }
    }
}

/// The finding of that code, if there is one.
pub fn find(bench: &Bench, code: FindingCode) -> Option<Finding> {
    analyse(&bench.view()).into_iter().find(|finding| finding.code() == code)
}

pub fn value(bench: &Bench, code: FindingCode) -> Option<f64> {
    find(bench, code)?.estimate().map(|estimate| estimate.value)
}

/// What a finding of that type says.
pub fn conclusion<C: Conclusion>(bench: &Bench, code: FindingCode) -> C {
    let finding = find(bench, code).unwrap();
    let Some(known) = finding.as_known::<C>() else { panic!("{finding:?}") };
    known.conclusion.clone()
}

/// Why a finding of that type is not known.
pub fn reason<C: Conclusion>(bench: &Bench, code: FindingCode) -> C::Unknown {
    let finding = find(bench, code).unwrap();
    let Some(Outcome::Unknown(reason)) = finding.as_outcome::<C>() else { panic!("{finding:?}") };
    reason.clone()
}

/// Why throughput, zones or regions are not known.
pub fn survey_reason(bench: &Bench, code: FindingCode) -> SurveyUnknown {
    match find(bench, code).unwrap() {
        Finding::ReadRateOuter(Outcome::Unknown(reason))
        | Finding::ReadRateInner(Outcome::Unknown(reason))
        | Finding::ReadRateMean(Outcome::Unknown(reason))
        | Finding::WriteRateOuter(Outcome::Unknown(reason))
        | Finding::WriteRateInner(Outcome::Unknown(reason))
        | Finding::WriteRateMean(Outcome::Unknown(reason))
        | Finding::FullPassTime(Outcome::Unknown(reason))
        | Finding::ZoneRatio(Outcome::Unknown(reason))
        | Finding::ZoneCount(Outcome::Unknown(reason))
        | Finding::ZoneTable(Outcome::Unknown(reason))
        | Finding::InterfaceLimit(Outcome::Unknown(reason))
        | Finding::SlowRegions(Outcome::Unknown(reason))
        | Finding::UnmappedRanges(Outcome::Unknown(reason)) => reason,
        other => panic!("{other:?}"),
    }
}
