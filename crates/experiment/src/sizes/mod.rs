//! `sizes`: rate by the size of requests. Every point once a round, in random order; rounds that disagree are measured again.

mod pace;
mod request;

use super::preparation::{self, Filling, filled_range, measure, verb};
use super::{Experiment, Remaining, Setup, Step};
use crate::error::PlanError;
use crate::request::{DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use analysis::size_profile::{PointKey, SizeSweep};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, RunView};
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use pace::{LARGE, Pace};
use std::collections::VecDeque;

pub use request::SizesRequest;

const ORDER_STREAM: u64 = u64::MAX;
const PLACE_STREAM: u64 = u64::MAX - 1;
/// Sequential requests stay within this much from the start of the range, where a disk is equally fast.
const REGION: Bytes = Bytes::from_gib(2);
/// What a point goes through before it begins again, as ATTO's and HD Tune's file.
const STRETCH: Bytes = Bytes::from_mib(256);
const TIME: Nanos = Nanos::from_millis(500);
/// What a point moves in a round, if it writes or its requests are large: flash wears, and caches fill.
const BYTES_MAX: Bytes = Bytes::from_mib(128);
/// No drive is waited for that needs longer for them.
const LARGE_TIME_MAX: Nanos = Nanos::from_secs(30);
/// And so many requests are enough to know a mean.
const OPERATIONS_MAX: u64 = 50_000;
/// Sizes of random writes, those of HD Tune's random access.
const RANDOM_SIZES: [Bytes; 4] =
    [Bytes::new(512), Bytes::from_kib(4), Bytes::from_kib(64), Bytes::from_mib(1)];
/// Rounds of points that do not agree, besides the usual ones. All together they take no more than so many rounds of all points.
const ROUNDS_MORE_MAX: u32 = 6;
const REPEATED_MAX: u32 = 2;
const REPEATED: &str = "repeats of outliers, if any";
const FILLING: Filling = Filling::of(120, 2);
const RANGE_MIN: Bytes = Bytes::from_mib(64);

#[derive(Clone)]
pub struct Sizes {
    setup: Setup,
    rounds: u32,
    rounds_more: u32,
    /// What rounds of points that do not agree may still take; nothing when there are no more.
    repeats: Option<Step>,
    points: Vec<PointKey>,
    order: Prng,
    places: Prng,
    time: Nanos,
    preparation: VecDeque<Phase>,
    queue: VecDeque<Phase>,
    /// Where sequential requests go; known when it is filled.
    region: Option<ByteRange>,
    pace: Pace,
}

impl Sizes {
    pub fn new(setup: Setup, request: &SizesRequest) -> Result<Sizes, PlanError> {
        let logical = setup.facts.logical_block;
        check_room(ExperimentName::Sizes, setup.range.bytes(), RANGE_MIN)?;
        let mut sizes = request.sizes();
        sizes.retain(|size| fits(*size, logical, setup.range));
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(&size) = sizes.iter().find(|size| **size > BLOCK_BYTES_MAX) {
            return Err(PlanError::BlockTooLarge { option: "--sizes", size, most: BLOCK_BYTES_MAX });
        }
        if sizes.is_empty() {
            return Err(PlanError::NoSizeFits { logical });
        }
        let points = points(&setup, &sizes, request.depths());
        let mut preparation = VecDeque::new();
        if setup.may_write {
            let region = region(setup.range);
            let setup = Setup { range: region, ..setup.clone() };
            let mut filling = FILLING;
            if let Some(limit) = setup.time_limit {
                // The other half is left to measure.
                filling.time = filling.time.min(limit / 2);
            }
            preparation.extend(preparation::fill(ExperimentName::Sizes, &setup, filling));
        }
        preparation.push_back(preparation::warm_up(
            ExperimentName::Sizes,
            region(setup.range),
            preparation::random_block(&setup.facts),
            preparation::WARM_UP,
        ));
        let usual = TIME * points.len() as u64 * u64::from(request.rounds());
        let share = match setup.time_limit {
            Some(limit) => (0.6 * limit.as_f64() / usual.as_f64()).min(1.0),
            None => 1.0,
        };
        let mut planned = Sizes {
            rounds: request.rounds(),
            rounds_more: 0,
            repeats: None,
            points,
            order: Prng::new(setup.seed, ORDER_STREAM),
            places: Prng::new(setup.seed, PLACE_STREAM),
            time: Nanos::new((TIME.as_f64() * share) as u64),
            preparation,
            queue: VecDeque::new(),
            region: None,
            pace: Pace::default(),
            setup,
        };
        planned.repeats = planned.repeats_max();
        Ok(planned)
    }

    fn repeats_max(&self) -> Option<Step> {
        let mut all = Step::if_any(REPEATED.into(), 0, Nanos::ZERO);
        for step in Remaining::of(&self.rounds_of_all(REPEATED_MAX)).steps {
            all.add(&step);
        }
        Some(Step { likely: Nanos::ZERO, slow: Nanos::ZERO, ..all })
    }

    /// So many rounds of all points. Places are drawn later; what they take is the same everywhere.
    fn rounds_of_all(&self, rounds: u32) -> Vec<Phase> {
        let mut planned = self.clone();
        let region = region(self.setup.range);
        let mut phases = Vec::new();
        // Not in the order in which they come, which is drawn: people look for a size.
        for round in 1..=rounds {
            for point in &self.points {
                phases.push(planned.phase(point, round, region));
            }
        }
        phases
    }

    /// Keeps of what is planned again what may still be repeated.
    fn repeat(&mut self, open: Vec<PointKey>, region: ByteRange) {
        let before = self.queue.len();
        self.plan(open, self.rounds + self.rounds_more, region);
        let Some(mut left) = self.repeats.take() else { return self.queue.truncate(before) };
        self.queue.retain(|phase| left.take(&Step::of(phase)));
        self.repeats = Some(left);
    }

    /// What of the region holds data: all of it on a drive, what was filled of a scratch file.
    fn settle(&mut self, so_far: &RunView<'_>) -> Option<ByteRange> {
        let region = region(self.setup.range);
        if !self.setup.empty {
            return Some(region);
        }
        match so_far.phases.first().and_then(written) {
            Some(written) => filled_range(region, Bytes::new(written.bytes)),
            None => Some(region),
        }
    }

    fn plan(&mut self, mut points: Vec<PointKey>, round: u32, region: ByteRange) {
        self.order.shuffle(&mut points);
        for point in points {
            let phase = self.phase(&point, round, region);
            self.queue.push_back(phase);
        }
    }

    fn phase(&mut self, point: &PointKey, round: u32, region: ByteRange) -> Phase {
        let mix = if point.operation == Operation::Read { OperationMix::Read } else { OperationMix::Write };
        let (pattern, range) = if point.in_order {
            (Pattern::Sequential, self.stretch(region, point))
        } else {
            (Pattern::RandomWithReplacement, self.setup.range.align_inward(point.size))
        };
        let workload = Workload::new(range, pattern, mix, point.size, point.depth as u32);
        measure(ExperimentName::Sizes, name(point, round), workload, self.stop(point))
    }

    /// Small requests go on for a while, large ones until enough are done: of these a time would cut off a part.
    fn stop(&self, point: &PointKey) -> StopCondition {
        if point.size < LARGE {
            let stop = StopCondition { operations: Some(OPERATIONS_MAX), ..StopCondition::after(self.time) };
            return if point.operation == Operation::Read { stop } else { stop.or_bytes(BYTES_MAX) };
        }
        StopCondition { operations: Some(operations(point)), ..StopCondition::after(LARGE_TIME_MAX) }
    }

    /// A stretch that begins at a random place, so that no memory of the drive knows it from the point before; and no shorter than
    /// what large requests move, which would find its beginning in the drive's cache again.
    fn stretch(&mut self, region: ByteRange, point: &PointKey) -> ByteRange {
        let size = point.size;
        let unit = size.get().max(MIB);
        let moved = if size < LARGE { Bytes::ZERO } else { size * operations(point) };
        let bytes = STRETCH.max(moved).get().min(region.bytes().get() / 2).max(size.get());
        let bytes = bytes.next_multiple_of(size.get());
        let room = region.bytes().get().saturating_sub(bytes + unit) / unit;
        let first = region.first().get().next_multiple_of(unit) + self.places.below(room + 1) * unit;
        match ByteRange::new(Offset::new(first), Bytes::new(bytes)) {
            Some(range) if region.contains(&range) => range.align_inward(size),
            _ => region.align_inward(size),
        }
    }
}

impl DriveRequest for SizesRequest {
    has_drive_options!(ExperimentName::Sizes);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        Ok(Box::new(Sizes::new(setup, self)?))
    }
}

impl Experiment for Sizes {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.pace.look(so_far);
        if let Some(phase) = self.preparation.pop_front() {
            return Some(phase);
        }
        let region = match self.region {
            Some(region) => region,
            None => {
                let region = self.settle(so_far)?;
                self.region = Some(region);
                for round in 1..=self.rounds {
                    self.plan(self.points.clone(), round, region);
                }
                region
            }
        };
        let left = match self.setup.time_limit {
            Some(limit) => limit.saturating_sub(so_far.elapsed()),
            None => Remaining::UNBOUNDED,
        };
        // What is shorter than a point is no sample.
        let is_over = left < self.time;
        if self.queue.is_empty() && self.rounds_more < ROUNDS_MORE_MAX && !is_over {
            let open = SizeSweep::of(so_far).to_repeat(self.rounds as usize);
            self.rounds_more += 1;
            self.repeat(open, region);
        }
        if self.queue.is_empty() {
            self.repeats = None;
        }
        let mut phase = if is_over { None } else { self.queue.pop_front() }?;
        phase.stop.time = phase.stop.time.map(|time| time.min(left));
        Some(phase)
    }

    fn remaining(&self) -> Remaining {
        let mut phases: Vec<Phase> = self.preparation.iter().cloned().collect();
        if self.region.is_none() {
            phases.extend(self.rounds_of_all(self.rounds));
        }
        phases.extend(self.queue.iter().cloned());
        let mut remaining = Remaining::default();
        for phase in &phases {
            let mut step = Step::of(phase);
            if let Some(time) = self.pace.time_of(phase) {
                step.likely = time.min(step.time);
                step.slow = step.likely;
            }
            remaining.add(step);
        }
        remaining.steps.extend(self.repeats.clone());
        remaining
    }
}

fn operations(point: &PointKey) -> u64 {
    (BYTES_MAX / point.size).max(2 * point.depth)
}

fn fits(size: Bytes, logical: Bytes, range: ByteRange) -> bool {
    size.is_multiple_of(logical) && !size.is_zero() && size <= range.bytes() / 4
}

fn written(fill: &PhaseSummary) -> Option<&OperationTotals> {
    fill.totals_of(Operation::Write)
}

fn region(range: ByteRange) -> ByteRange {
    ByteRange::new(range.first(), REGION.min(range.bytes())).unwrap_or(range)
}

fn points(setup: &Setup, sizes: &[Bytes], depths: &[u32]) -> Vec<PointKey> {
    let mut operations = vec![Operation::Read];
    if setup.may_write {
        operations.push(Operation::Write);
    }
    let mut points = Vec::new();
    for &operation in &operations {
        for &depth in depths {
            let depth = u64::from(depth);
            for &size in sizes {
                points.push(PointKey { operation, in_order: true, depth, size });
            }
        }
    }
    if setup.may_write {
        for &size in sizes {
            if RANDOM_SIZES.contains(&size) {
                points.push(PointKey { operation: Operation::Write, in_order: false, depth: 1, size });
            }
        }
    }
    points
}

fn name(point: &PointKey, round: u32) -> String {
    let mix = if point.operation == Operation::Read { OperationMix::Read } else { OperationMix::Write };
    let place = if point.in_order { "sequential" } else { "random" };
    format!("{} {} {place}, QD {}, round {round}", verb(mix), point.size, point.depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::StopReason;
    use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary};
    use model::target::TargetFacts;

    fn facts() -> TargetFacts {
        sim::open("constant", 1).expect("a drive that ships").facts().clone()
    }

    fn setup(may_write: bool) -> Setup {
        let facts = facts();
        Setup {
            range: ByteRange::whole(facts.capacity),
            facts,
            may_write,
            empty: false,
            seed: 1,
            time_limit: None,
            precision: None,
        }
    }

    #[test]
    fn without_consent_it_only_reads() {
        let sizes = Sizes::new(setup(false), &SizesRequest::default()).unwrap();
        let remaining = sizes.remaining();
        assert_eq!(remaining.writes(), Some(Bytes::ZERO));
        // Eleven sizes below 1 MiB of half a second, and seven of 128 MiB or eight requests at 100 MB/s, at two depths in three rounds.
        assert!((40.0..120.0).contains(&remaining.likely_time().seconds()), "{:?}", remaining.likely_time());
        assert!(remaining.time().seconds() > 10.0 * remaining.likely_time().seconds());
        // Eighteen sizes, two depths, three rounds and two of repeats at most, and the warm-up.
        assert_eq!(remaining.phases(), 18 * 2 * (3 + 2) + 1);
    }

    #[test]
    fn sizes_below_a_block_are_left_out() {
        let mut setup = setup(true);
        setup.facts.logical_block = Bytes::new(4096);
        let sizes = Sizes::new(setup, &SizesRequest::default()).unwrap();
        assert!(sizes.points.iter().all(|point| point.size.get() >= 4096));
    }

    /// A stick of 6 MB/s: what a phase takes there.
    fn took(phase: &Phase) -> Nanos {
        let workload = phase.workload.as_ref().expect("no idle phase");
        let time = phase.stop.time.expect("every phase ends by a time");
        let bytes = phase.stop.bytes_max(workload).filter(|_| workload.block_sizes.largest() >= LARGE);
        bytes.map_or(time, |bytes| Nanos::new((bytes.as_f64() / 6e6 * 1e9) as u64).min(time))
    }

    fn done(phase: Phase, start_ns: u64) -> PhaseSummary {
        PhaseSummary {
            duration_ns: took(&phase).get(),
            stopped: Some(StopReason::Passes),
            totals: vec![OperationTotals {
                operations: 8,
                bytes: (took(&phase).seconds() * 6e6) as u64,
                ..OperationTotals::none(Operation::Read)
            }],
            ..PhaseSummary::begun(phase, start_ns)
        }
    }

    /// At 100 MB/s the large sizes take 68 s, and at 6 MB/s 17 min: after a round and a half that is known to a hundredth.
    #[test]
    fn what_is_ahead_of_a_slow_drive_is_told_by_what_it_has_shown() {
        let mut sizes = Sizes::new(setup(false), &SizesRequest::default()).unwrap();
        let before = sizes.remaining();
        let environment = Environment::default();
        let (facts, series) = (facts(), MemorySeries::default());
        let (mut phases, mut now_ns, mut told) = (Vec::new(), 0, None);
        while phases.len() < 1 + 18 * 2 * 3 {
            let view =
                RunView { target: &facts, environment: &environment, phases: &phases, series: &series };
            let phase = sizes.next(&view).unwrap();
            if phases.len() == 1 + 18 * 3 {
                told = Some((took(&phase).seconds() + sizes.remaining().likely_time().seconds(), now_ns));
            }
            let summary = done(phase, now_ns);
            now_ns = summary.end_ns();
            phases.push(summary);
        }
        let all_s = now_ns as f64 / 1e9;
        assert!((before.slow_time().seconds() / all_s - 1.0).abs() < 0.1, "{:?} {all_s}", before.slow_time());
        let (told_s, at_ns) = told.unwrap();
        let left_s = (now_ns - at_ns) as f64 / 1e9;
        assert!((told_s / left_s - 1.0).abs() < 0.01, "{told_s} told, {left_s} taken");
    }

    #[test]
    fn a_time_limit_bounds_every_phase() {
        let limited = Setup { time_limit: Some(Nanos::from_secs(30)), ..setup(false) };
        let mut sizes = Sizes::new(limited, &SizesRequest::default()).unwrap();
        let environment = Environment::default();
        let (facts, series) = (facts(), MemorySeries::default());
        let (mut phases, mut now_ns) = (Vec::new(), 0);
        loop {
            let view =
                RunView { target: &facts, environment: &environment, phases: &phases, series: &series };
            let Some(phase) = sizes.next(&view) else { break };
            let summary = done(phase, now_ns);
            now_ns = summary.end_ns();
            phases.push(summary);
        }
        // The stick of 6 MB/s takes 30 s for a single point of 64 MiB.
        assert!((29_500_000_000..=30_000_000_000).contains(&now_ns), "{now_ns}");
    }
}
