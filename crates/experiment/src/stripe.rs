//! Part of other experiments: is this one drive or several? Random reads at QD 1, and then at a higher one.

use super::preparation::{measure, random_block};
use super::{Experiment, Remaining, Setup, Step};
use analysis::stripe::{Reads, Verdict};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

const STREAM: u64 = u64::from_le_bytes(*b"stripes_");
/// Below this a cache may hold so much of the range that its answers are those of memory.
const RANGE_MIN: Bytes = Bytes::from_mib(256);
const SINGLES: usize = 64;
/// Many at a time on disks: twice as many as the drives that volumes usually have, so that few of them are idle, and
/// no more, so that reads on one drive are few enough to be told from those of others.
const ARMS_DEPTH: u32 = 16;
/// The first of these tells one actuator from several: of independent answers, some 15 pairs are expected within a millisecond.
const ARMS_ROUNDS: [usize; 13] = [128, 128, 768, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024];
/// Within a hundredth of the range hardly any member of a concatenation ends. 512 reads tell 1 − 1/2 to 0.15, after 2,048 over all of it.
const NARROW_PART: u64 = 100;
const NARROW_READS: usize = 512;
const READS_BEFORE_NARROW: usize = 2048;
/// Of a smaller range, a drive's cache would hold much of a hundredth.
const NARROW_OF_MIN: Bytes = Bytes::from_mib(100 * 1024);
/// Without an arm it takes so many that controllers and links of all drives are busy, and requests that they are busy with.
const STILL_DEPTH: u32 = 64;
const STILL_BLOCK: Bytes = Bytes::from_kib(16);
const STILL_ROUNDS: [usize; 6] = [4096; 6];
const STILL_TIME_MAX: Nanos = Nanos::from_secs(2);
/// A phase that takes longer is cut and says what it says.
const PHASE_TIME_MAX: Nanos = Nanos::from_secs(10);
const TIME_MAX: Nanos = Nanos::from_secs(45);
const LIKELY_TIME: Nanos = Nanos::from_secs(4);

pub struct Stripe {
    experiment: ExperimentName,
    range: ByteRange,
    logical_block: Bytes,
    block: Bytes,
    prng: Prng,
    time_max: Nanos,
    began: Option<Nanos>,
    reads: Reads,
    /// Of the phases asked for, how many there are, and the number of the last in the run.
    asked: usize,
    last: Option<usize>,
    is_over: bool,
}

impl Stripe {
    /// Plans it; none where the range is so small that a cache may answer.
    pub fn new(setup: &Setup, experiment: ExperimentName) -> Option<Stripe> {
        let block = random_block(&setup.facts);
        let range = setup.range.align_inward(block.max(STILL_BLOCK));
        if range.bytes() < RANGE_MIN {
            return None;
        }
        Some(Stripe {
            experiment,
            range,
            logical_block: setup.facts.logical_block,
            block,
            prng: Prng::new(setup.seed, STREAM),
            time_max: match setup.time_limit {
                Some(limit) => TIME_MAX.min(limit / 3),
                None => TIME_MAX,
            },
            began: None,
            reads: Reads::over(range),
            asked: 0,
            last: None,
            is_over: false,
        })
    }

    fn take(&mut self, so_far: &RunView<'_>) {
        let Some(last) = self.last.take() else { return };
        // A phase that was cut and done again is the later one.
        let last = last.max(so_far.phases.len().saturating_sub(1));
        let ios = so_far.series.ios(last as u32);
        if self.asked == 1 {
            self.reads.add_singles(last as u32, ios);
        } else {
            let workload = so_far.phases[last].phase.workload.as_ref().expect("reads were asked for");
            self.reads.add_crowd(last as u32, workload, ios);
        }
    }

    fn listed(&mut self, name: String, range: ByteRange, block: Bytes, count: usize, depth: u32) -> Phase {
        let is_still = self.asked > 0 && !self.reads.has_arm();
        let time = if is_still { STILL_TIME_MAX } else { PHASE_TIME_MAX }.min(self.time_max);
        let places = range.bytes() / block;
        let offsets = (0..count).map(|_| range.first() + block * self.prng.below(places)).collect();
        let workload = Workload::new(range, Pattern::Listed { offsets }, OperationMix::Read, block, depth);
        let stop =
            StopCondition { time: Some(time), operations: Some(count as u64), ..StopCondition::default() };
        self.asked += 1;
        measure(self.experiment.clone(), name, workload, stop)
    }

    fn crowd(&mut self) -> Option<Phase> {
        let round = self.reads.crowds.len();
        let (rounds, depth, block): (&[usize], u32, Bytes) = if self.reads.has_arm() {
            (&ARMS_ROUNDS, ARMS_DEPTH, self.block)
        } else {
            (&STILL_ROUNDS, STILL_DEPTH, STILL_BLOCK.max(self.logical_block))
        };
        let count = *rounds.get(round)?;
        let name = format!("reads at QD {depth}, round {}", round + 1);
        Some(self.listed(name, self.range, block, count, depth))
    }

    fn narrow_crowd(&mut self) -> Phase {
        let part = self.range.part(self.prng.below(NARROW_PART), NARROW_PART).align_inward(self.block);
        let name = format!("reads of a small part at QD {ARMS_DEPTH}");
        self.listed(name, part, self.block, NARROW_READS, ARMS_DEPTH)
    }

    fn is_told(verdict: &Verdict) -> bool {
        match verdict {
            Verdict::One | Verdict::Mirror { .. } | Verdict::Stripe { .. } | Verdict::Concatenation(_) => {
                true
            }
            Verdict::Still { layout, .. } => layout.is_some(),
            Verdict::Open { more_helps, .. } => !more_helps,
        }
    }

    fn is_narrow_next(&self, verdict: &Verdict) -> bool {
        self.range.bytes() >= NARROW_OF_MIN
            && self.reads.answers() >= READS_BEFORE_NARROW
            && self.reads.needs_narrow(verdict)
    }

    fn decide(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let began = *self.began.get_or_insert(so_far.elapsed());
        if self.asked == 0 {
            return Some(self.listed("single reads".into(), self.range, self.block, SINGLES, 1));
        }
        let time_max = if self.reads.has_arm() { self.time_max } else { self.time_max.min(STILL_TIME_MAX) };
        let is_late = so_far.elapsed().saturating_sub(began) >= time_max;
        if is_late {
            return None;
        }
        if self.asked > 1 {
            let verdict = self.reads.verdict();
            if Stripe::is_told(&verdict) {
                return None;
            }
            if self.is_narrow_next(&verdict) {
                return Some(self.narrow_crowd());
            }
        }
        self.crowd()
    }
}

impl Experiment for Stripe {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.take(so_far);
        let next = if self.is_over { None } else { self.decide(so_far) };
        self.is_over = next.is_none();
        self.last = if self.is_over { None } else { Some(so_far.phases.len()) };
        next
    }

    fn remaining(&self) -> Remaining {
        if self.is_over {
            return Remaining::default();
        }
        let rounds = ARMS_ROUNDS.len() + 1;
        let reads: usize = ARMS_ROUNDS.iter().sum::<usize>().max(STILL_ROUNDS.iter().sum::<usize>() * 4);
        let what = "random reads at QD 1 and above, to detect several members".into();
        let step = Step::lasting(what, rounds.saturating_sub(self.asked) as u32, self.time_max);
        let likely = LIKELY_TIME.min(self.time_max);
        let reads = Some(self.block * (reads + SINGLES) as u64);
        Remaining { steps: vec![Step { likely, slow: likely, reads, ..step }] }
    }

    fn needs_trace(&self, _phase: &Phase) -> bool {
        true
    }
}
