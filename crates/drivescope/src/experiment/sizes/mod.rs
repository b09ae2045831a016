//! `sizes`: rate by the size of requests. Every point once in each round, in random order; points whose rounds do not agree are measured
//! again.

mod pace;
mod wish;

use super::preparation::{self, filled_range, phase, verb};
use super::{Experiment, Outlook, Question, Step};
use analysis::size_profile::{PointKey, SizeProfile};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use pace::Pace;
use std::collections::VecDeque;
use std::slice;

pub use wish::SizesWish;

/// The word on the command line, and in every phase.
pub const NAME: &str = "sizes";
/// Streams of the seed: of orders and of places.
const ORDER_STREAM: u64 = u64::MAX;
const PLACE_STREAM: u64 = u64::MAX - 1;
/// Sequential requests stay within this much from the start of the range, where a disk is equally fast.
const REGION: Bytes = Bytes::from_gib(2);
/// What a point goes through before it begins again, as ATTO's and HD Tune's file.
const STRETCH: Bytes = Bytes::from_mib(256);
/// How long a point is measured in a round.
const TIME: Nanos = Nanos::from_millis(500);
/// What a point moves in a round, if it writes or its requests are large: flash wears, and caches fill.
const BYTES_MAX: Bytes = Bytes::from_mib(128);
/// From this size on requests are large: few of them fit into the time of a point.
const LARGE: Bytes = Bytes::from_mib(1);
/// No drive is waited for that needs longer for them.
const LARGE_TIME_MAX: Nanos = Nanos::from_secs(30);
/// And so many requests are enough to know a mean.
const OPERATIONS_MAX: u64 = 50_000;
/// Sizes of random writes, those of HD Tune's random access.
const RANDOM_SIZES: [Bytes; 4] = [Bytes(512), Bytes::from_kib(4), Bytes::from_kib(64), Bytes::from_mib(1)];
/// Rounds of points that do not agree, besides the usual ones. All together they take no more than so many rounds of all points.
const ROUNDS_MORE_MAX: u32 = 6;
const REPEATED_MAX: u32 = 2;
const REPEATED: &str = "once more what does not agree, if there is any";
const FILL: Nanos = Nanos::from_secs(120);
const SETTLE: Nanos = Nanos::from_secs(2);
const WARM_UP: Nanos = Nanos::from_millis(500);
const RANGE_MIN: Bytes = Bytes::from_mib(64);

/// The experiment.
pub struct Sizes {
    question: Question,
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
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when there is no size to measure, or no room.
    pub fn new(question: Question, wish: SizesWish) -> Result<Sizes, String> {
        let logical = question.facts.logical_block;
        if question.range.bytes() < RANGE_MIN {
            return Err(format!(
                "the range holds {}; sizes need at least {RANGE_MIN}. Give a larger --range",
                question.range.bytes()
            ));
        }
        let fits = |size: &Bytes| {
            size.is_multiple_of(logical) && size.0 > 0 && size.0 * 4 <= question.range.bytes().0
        };
        let mut sizes: Vec<Bytes> = wish.sizes.iter().copied().filter(fits).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(size) = sizes.iter().find(|size| **size > BLOCK_BYTES_MAX) {
            return Err(format!("--sizes: {size} is above the largest request, {BLOCK_BYTES_MAX}"));
        }
        if sizes.is_empty() {
            return Err(format!(
                "--sizes: none of them is a multiple of the target's blocks of {logical} that fits into the range four times"
            ));
        }
        let points = points(&question, &sizes, &wish.depths);
        let mut preparation = VecDeque::new();
        if question.may_write {
            let region = region(question.range);
            preparation.extend(preparation::fill(
                NAME,
                &Question { range: region, ..question.clone() },
                FILL,
                SETTLE,
            ));
        }
        preparation.push_back(preparation::warm_up(
            NAME,
            region(question.range),
            preparation::random_block(&question.facts),
            WARM_UP,
        ));
        let usual = TIME.0 * points.len() as u64 * u64::from(wish.rounds);
        let share = question.time_limit.map_or(1.0, |limit| (0.6 * limit.0 as f64 / usual as f64).min(1.0));
        let mut planned = Sizes {
            rounds: wish.rounds,
            rounds_more: 0,
            repeats: None,
            points,
            order: Prng::new(question.seed, ORDER_STREAM),
            places: Prng::new(question.seed, PLACE_STREAM),
            time: Nanos((TIME.0 as f64 * share) as u64),
            preparation,
            queue: VecDeque::new(),
            region: None,
            pace: Pace::default(),
            question,
        };
        planned.repeats = planned.repeats_max();
        Ok(planned)
    }

    /// What repeated points may take.
    fn repeats_max(&self) -> Option<Step> {
        let rounds = self.rounds_of_all(REPEATED_MAX);
        let steps = Outlook::of(&rounds).steps;
        let none = Step {
            what: REPEATED.into(),
            phases: 0,
            time: Nanos::ZERO,
            likely: Nanos::ZERO,
            slow: Nanos::ZERO,
            reads: Some(Bytes::ZERO),
            writes: Some(Bytes::ZERO),
        };
        let all = steps.iter().fold(none, |mut sum, step| {
            sum.add(step);
            sum
        });
        Some(Step { likely: Nanos::ZERO, slow: Nanos::ZERO, ..all })
    }

    /// So many rounds of all points. Places are drawn later; what they take is the same everywhere.
    fn rounds_of_all(&self, rounds: u32) -> Vec<Phase> {
        let mut planned = self.copied();
        let region = region(self.question.range);
        // Not in the order in which they come, which is drawn: people look for a size.
        let rounds = (1..=rounds).flat_map(|round| self.points.iter().map(move |point| (round, point)));
        rounds.map(|(round, point)| planned.phase(point, round, region)).collect()
    }

    /// Keeps of what is planned again what may still be repeated.
    fn repeat(&mut self, open: Vec<PointKey>, region: ByteRange) {
        let before = self.queue.len();
        self.plan(open, self.rounds + self.rounds_more, region);
        let Some(mut left) = self.repeats.take() else { return self.queue.truncate(before) };
        self.queue.retain(|phase| left.take(&Outlook::of(slice::from_ref(phase))));
        self.repeats = Some(left);
    }

    /// What of the region holds data: all of it on a drive, what was filled of a scratch file.
    fn settle(&mut self, so_far: &RunView<'_>) -> Option<ByteRange> {
        let region = region(self.question.range);
        let filled = so_far.phases.first().and_then(|fill| fill.totals_of(Operation::Write));
        match filled.filter(|_| self.question.empty) {
            Some(filled) => filled_range(region, Bytes(filled.bytes)),
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
            (Pattern::Sequential, self.stretch(region, point.size))
        } else {
            (Pattern::RandomWithReplacement, self.question.range.align_inward(point.size))
        };
        let workload = Workload::new(range, pattern, mix, point.size, point.depth as u32);
        let stop = self.stop(point);
        phase(NAME, name(point, round), PhaseKind::Measure, Some(workload), stop)
    }

    /// Small requests go on for a while, large ones until enough are done: of these a time would cut off a part.
    fn stop(&self, point: &PointKey) -> StopCondition {
        let size = point.size.0;
        if point.size < LARGE {
            let stop = StopCondition { operations: Some(OPERATIONS_MAX), ..StopCondition::after(self.time) };
            return if point.operation == Operation::Read { stop } else { stop.or_bytes(BYTES_MAX) };
        }
        let count = (BYTES_MAX.0 / size).max(2 * point.depth);
        StopCondition { operations: Some(count), ..StopCondition::after(LARGE_TIME_MAX) }
    }

    /// A stretch that begins at a random place, so that no memory of the drive knows it from the point before.
    fn stretch(&mut self, region: ByteRange, size: Bytes) -> ByteRange {
        let unit = size.0.max(MIB);
        let bytes = STRETCH.0.min(region.bytes().0 / 2).max(size.0).next_multiple_of(size.0);
        let room = region.bytes().0.saturating_sub(bytes + unit) / unit;
        let first = region.first().0.next_multiple_of(unit) + self.places.below(room + 1) * unit;
        ByteRange::new(Offset(first), Bytes(bytes))
            .filter(|range| region.contains(range))
            .unwrap_or(region)
            .align_inward(size)
    }

    fn end(&self) -> Option<Nanos> {
        self.question.time_limit
    }
}

impl Experiment for Sizes {
    fn name(&self) -> &'static str {
        NAME
    }

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
                (1..=self.rounds).for_each(|round| self.plan(self.points.clone(), round, region));
                region
            }
        };
        let is_over = self.end().is_some_and(|end| so_far.elapsed() >= end);
        if self.queue.is_empty() && self.rounds_more < ROUNDS_MORE_MAX && !is_over {
            let open = SizeProfile::of(so_far).to_repeat(self.rounds as usize);
            self.rounds_more += 1;
            self.repeat(open, region);
        }
        if self.queue.is_empty() {
            self.repeats = None;
        }
        if is_over { None } else { self.queue.pop_front() }
    }

    fn outlook(&self) -> Outlook {
        let mut phases: Vec<Phase> = self.preparation.iter().cloned().collect();
        if self.region.is_none() {
            phases.extend(self.rounds_of_all(self.rounds));
        }
        phases.extend(self.queue.iter().cloned());
        let mut outlook = Outlook::known(&phases, |phase| self.pace.time_of(phase));
        outlook.steps.extend(self.repeats.clone());
        outlook
    }
}

impl Sizes {
    fn copied(&self) -> Sizes {
        Sizes {
            question: self.question.clone(),
            points: self.points.clone(),
            order: self.order.clone(),
            places: self.places.clone(),
            repeats: None,
            pace: self.pace.clone(),
            preparation: VecDeque::new(),
            queue: VecDeque::new(),
            ..*self
        }
    }
}

fn region(range: ByteRange) -> ByteRange {
    ByteRange::new(range.first(), REGION.min(range.bytes())).unwrap_or(range)
}

fn points(question: &Question, sizes: &[Bytes], depths: &[u32]) -> Vec<PointKey> {
    let mut operations = vec![Operation::Read];
    if question.may_write {
        operations.push(Operation::Write);
    }
    let mut points = Vec::new();
    for &operation in &operations {
        for &depth in depths {
            let depth = u64::from(depth);
            points.extend(sizes.iter().map(|&size| PointKey { operation, in_order: true, depth, size }));
        }
    }
    if question.may_write {
        let random = sizes.iter().copied().filter(|size| RANDOM_SIZES.contains(size));
        points.extend(random.map(|size| PointKey {
            operation: Operation::Write,
            in_order: false,
            depth: 1,
            size,
        }));
    }
    points
}

fn name(point: &PointKey, round: u32) -> String {
    let mix = if point.operation == Operation::Read { OperationMix::Read } else { OperationMix::Write };
    let place = if point.in_order { "in order" } else { "at random" };
    format!("{} {} {place}, {} at once, round {round}", verb(mix), point.size, point.depth)
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

    fn question(may_write: bool) -> Question {
        let facts = facts();
        Question {
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
        let sizes = Sizes::new(question(false), SizesWish::default()).unwrap();
        let outlook = sizes.outlook();
        assert_eq!(outlook.writes(), Some(Bytes::ZERO));
        // Eleven sizes below 1 MiB of half a second, and seven of 128 MiB or eight requests at 100 MB/s, at two depths in three rounds.
        assert!((40.0..120.0).contains(&outlook.likely_time().seconds()), "{:?}", outlook.likely_time());
        assert!(outlook.time().seconds() > 10.0 * outlook.likely_time().seconds());
        // Eighteen sizes, two depths, three rounds and two of repeats at most, and the warm-up.
        assert_eq!(outlook.phases(), 18 * 2 * (3 + 2) + 1);
    }

    #[test]
    fn sizes_below_a_block_are_left_out() {
        let mut question = question(true);
        question.facts.logical_block = Bytes(4096);
        let sizes = Sizes::new(question, SizesWish::default()).unwrap();
        assert!(sizes.points.iter().all(|point| point.size.0 >= 4096));
    }

    /// A stick of 6 MB/s: what a phase takes there.
    fn took(phase: &Phase) -> Nanos {
        let workload = phase.workload.as_ref().expect("no idle phase");
        let time = phase.stop.time.expect("every phase ends by a time");
        let bytes = phase.stop.bytes_max(workload).filter(|_| workload.block_sizes.largest() >= LARGE);
        bytes.map_or(time, |bytes| Nanos((bytes.0 as f64 / 6e6 * 1e9) as u64).min(time))
    }

    fn done(phase: Phase, start_ns: u64) -> PhaseSummary {
        PhaseSummary {
            start_ns,
            duration_ns: took(&phase).0,
            stopped: Some(StopReason::Passes),
            totals: vec![OperationTotals {
                operations: 8,
                bytes: (took(&phase).seconds() * 6e6) as u64,
                ..OperationTotals::none(Operation::Read)
            }],
            files: None,
            page_cache: None,
            phase,
        }
    }

    /// At 100 MB/s the large sizes take 68 s, and at 6 MB/s 17 min: after a round and a half that is known to a hundredth.
    #[test]
    fn what_is_ahead_of_a_slow_drive_is_told_by_what_it_has_shown() {
        let mut sizes = Sizes::new(question(false), SizesWish::default()).unwrap();
        let before = sizes.outlook();
        let environment = Environment::default();
        let (facts, series) = (facts(), MemorySeries::default());
        let (mut phases, mut now_ns, mut told) = (Vec::new(), 0, None);
        while phases.len() < 1 + 18 * 2 * 3 {
            let view =
                RunView { target: &facts, environment: &environment, phases: &phases, series: &series };
            let phase = sizes.next(&view).unwrap();
            if phases.len() == 1 + 18 * 3 {
                told = Some((took(&phase).seconds() + sizes.outlook().likely_time().seconds(), now_ns));
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
}
