//! What is still ahead: phases, their time, and what they read and write.

use crate::preparation::verb;
use model::plan::{Phase, PhaseKind};
use model::units::{Bytes, Nanos};
use model::workload::{Pattern, Workload};

/// For an idea of how long bytes take: of the disks and SSDs sold since 2010, sequential rates begin here.
pub(crate) const ASSUMED_BYTES_PER_SECOND: f64 = 100e6;
/// And of sticks and cards here: what a card of speed class 6 promises (SD Association).
pub const SLOW_BYTES_PER_SECOND: f64 = 6e6;
/// A disk moves 1 MiB in about the time that it takes to get there.
const LARGE_BLOCK: Bytes = Bytes::from_mib(1);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remaining {
    /// Steps of one kind, in the order in which they are done.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// For people: "random 4 KiB reads, 1 to 64 at once".
    pub what: String,
    pub phases: u32,
    pub time: Nanos,
    /// How long they likely take: less where they end with their bytes, and nothing where they only come if something is found.
    pub likely: Nanos,
    /// The same on a drive as slow as [`SLOW_BYTES_PER_SECOND`].
    pub slow: Nanos,
    /// What they read at most; none where only the drive's rate bounds it.
    pub reads: Option<Bytes>,
    pub writes: Option<Bytes>,
}

impl Remaining {
    pub const UNBOUNDED: Nanos = Nanos::new(u64::MAX);

    pub fn bounded(time: Nanos) -> Option<Nanos> {
        if time < Remaining::UNBOUNDED { Some(time) } else { None }
    }

    /// Phases as steps of one kind, in the order in which each kind first comes.
    pub fn of(phases: &[Phase]) -> Remaining {
        let mut remaining = Remaining::default();
        for phase in phases {
            remaining.add(Step::of(phase));
        }
        remaining
    }

    pub(crate) fn add(&mut self, next: Step) {
        for step in &mut self.steps {
            if step.what == next.what {
                return step.add(&next);
            }
        }
        self.steps.push(next);
    }

    /// Takes a step off those of its kind, and the kind away with its last.
    pub(crate) fn take(&mut self, done: &Step) {
        if let Some(step) = self.steps.iter_mut().find(|step| step.what == done.what) {
            step.take(done);
        }
        self.steps.retain(|step| step.phases > 0);
    }

    /// Makes all steps end within that time: the last first lose what they may take at most; then all are shortened alike.
    pub(crate) fn end_within(&mut self, time: Nanos) {
        for step in &mut self.steps {
            step.shorten_to(time);
        }
        let mut beyond = self.time().saturating_sub(time);
        for step in self.steps.iter_mut().rev() {
            let cut = beyond.min(step.time.saturating_sub(step.likely));
            step.time = step.time - cut;
            beyond = beyond - cut;
        }
        if beyond > Nanos::ZERO {
            // Step by step of what is left, so that the sum is the limit to the nanosecond.
            let (mut left, mut ahead) = (time, self.time());
            for step in &mut self.steps {
                let part = Nanos::new((left.as_f64() * (step.time.as_f64() / ahead.as_f64())) as u64);
                ahead = ahead - step.time;
                step.shorten_to(part);
                left = left - part;
            }
        }
    }

    pub fn time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.time))
    }

    pub fn likely_time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.likely))
    }

    pub fn slow_time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.slow))
    }

    pub fn phases(&self) -> u32 {
        self.steps.iter().map(|step| step.phases).sum()
    }

    pub fn writes(&self) -> Option<Bytes> {
        self.steps.iter().map(|step| step.writes).sum()
    }

    pub fn reads(&self) -> Option<Bytes> {
        self.steps.iter().map(|step| step.reads).sum()
    }
}

impl Step {
    /// It moves nothing, and takes its time on any drive.
    pub(crate) fn lasting(what: String, phases: u32, time: Nanos) -> Step {
        let none = Some(Bytes::ZERO);
        Step { what, phases, time, likely: time, slow: time, reads: none, writes: none }
    }

    /// It moves nothing, and only comes if something is found.
    pub(crate) fn if_any(what: String, phases: u32, time: Nanos) -> Step {
        Step { likely: Nanos::ZERO, slow: Nanos::ZERO, ..Step::lasting(what, phases, time) }
    }

    pub(crate) fn of(phase: &Phase) -> Step {
        // Where a sample lies, and so how short the end of the range cuts it, is drawn later: the bound counts.
        let (moves, usual, slow) = match &phase.workload {
            Some(workload) => (
                phase.stop.bytes.or(phase.stop.bytes_max(workload)),
                time_of_bytes(phase, workload, ASSUMED_BYTES_PER_SECOND),
                time_of_bytes(phase, workload, SLOW_BYTES_PER_SECOND),
            ),
            None => (Some(Bytes::ZERO), None, None),
        };
        let time = phase.stop.time.or(usual).unwrap_or_default();
        let none = Some(Bytes::ZERO);
        let (reads, writes) = if phase.changes_data() { (none, moves) } else { (moves, none) };
        Step {
            what: describe(phase),
            phases: 1,
            time,
            likely: usual.unwrap_or(time).min(time),
            slow: slow.unwrap_or(time).min(time),
            reads,
            writes,
        }
    }

    fn shorten_to(&mut self, time: Nanos) {
        self.time = self.time.min(time);
        self.likely = self.likely.min(time);
        self.slow = self.slow.min(time);
    }

    /// Takes the cost of something off this if there is enough left.
    pub(crate) fn take(&mut self, cost: &Step) -> bool {
        let (Some(reads), Some(writes)) = (left(self.reads, cost.reads), left(self.writes, cost.writes))
        else {
            return false;
        };
        let is_enough = self.phases >= cost.phases && self.time >= cost.time;
        if is_enough {
            self.phases -= cost.phases;
            self.time = self.time - cost.time;
            self.likely = self.likely.saturating_sub(cost.likely);
            self.slow = self.slow.saturating_sub(cost.slow);
            (self.reads, self.writes) = (Some(reads), Some(writes));
        }
        is_enough
    }

    pub(crate) fn add(&mut self, more: &Step) {
        self.phases += more.phases;
        self.time = self.time.saturating_add(more.time);
        self.likely = self.likely.saturating_add(more.likely);
        self.slow = self.slow.saturating_add(more.slow);
        self.reads = sum(self.reads, more.reads);
        self.writes = sum(self.writes, more.writes);
    }
}

fn sum(one: Option<Bytes>, other: Option<Bytes>) -> Option<Bytes> {
    Some(one? + other?)
}

fn left(of: Option<Bytes>, cost: Option<Bytes>) -> Option<Bytes> {
    of?.checked_sub(cost?)
}

fn sum_of(times: impl Iterator<Item = Nanos>) -> Nanos {
    times.fold(Nanos::ZERO, Nanos::saturating_add)
}

/// How long a phase takes for its bytes where a drive streams: in order, or in requests so large that seeks count for little.
fn time_of_bytes(phase: &Phase, workload: &Workload, bytes_per_second: f64) -> Option<Nanos> {
    let streams = workload.pattern == Pattern::Sequential || workload.block_sizes.largest() >= LARGE_BLOCK;
    let bytes = phase.stop.bytes_max(workload)?;
    if !streams {
        return None;
    }
    Nanos::from_secs_f64(bytes.as_f64() / bytes_per_second)
}

fn describe(phase: &Phase) -> String {
    let Some(workload) = &phase.workload else { return phase.name.clone() };
    let block = workload.block_sizes.largest();
    if workload.mix.commits().is_some() {
        return format!("commits of {block}, by method, committers and load");
    }
    match (phase.kind, &workload.pattern) {
        (PhaseKind::Measure, Pattern::Sequential) => {
            format!("{} sequential blocks of {block} over the range", verb(workload.mix))
        }
        (PhaseKind::Measure, _) => {
            format!("{} random blocks of {block}, QD 1 and above", verb(workload.mix))
        }
        _ => phase.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preparation;
    use model::plan::StopCondition;
    use model::range::ByteRange;
    use model::workload::OperationMix;

    fn step(block: Bytes, pattern: Pattern, stop: StopCondition) -> Step {
        let range = ByteRange::whole(Bytes::new(4_000_000_000));
        let workload = Workload::new(range, pattern, OperationMix::Write, block, 4);
        Step::of(&preparation::measure("test".into(), "it".into(), workload, stop))
    }

    /// 4 GB at 100 MB/s are 40 s.
    #[test]
    fn what_ends_with_its_bytes_likely_ends_before_its_time() {
        let bounded = StopCondition { time: Some(Nanos::from_secs(600)), ..StopCondition::one_pass() };
        let fill = step(Bytes::from_mib(1), Pattern::Sequential, bounded);
        assert_eq!((fill.likely, fill.time), (Nanos::from_secs(40), Nanos::from_secs(600)));
        let short = StopCondition { time: Some(Nanos::from_secs(5)), ..StopCondition::one_pass() };
        assert_eq!(step(Bytes::from_mib(1), Pattern::Sequential, short).likely, Nanos::from_secs(5));
        // Small requests at random places are as slow as the drive gets there.
        let small = step(Bytes::from_kib(4), Pattern::RandomWithReplacement, bounded);
        assert_eq!(small.likely, Nanos::from_secs(600));
    }

    fn lasting(likely_s: u64, time: Nanos) -> Step {
        Step {
            likely: Nanos::from_secs(likely_s),
            ..Step::of(&preparation::idle("test".into(), "it".into(), time))
        }
    }

    #[test]
    fn a_limit_bounds_what_is_likely_and_what_no_time_bounds() {
        let seconds = |remaining: &Remaining| {
            let of = |step: &Step| (step.likely.seconds(), step.time.seconds());
            remaining.steps.iter().map(of).collect::<Vec<_>>()
        };
        let steps = vec![lasting(10, Nanos::from_secs(15)), lasting(10, Nanos::from_secs(90))];
        let mut remaining = Remaining { steps };
        remaining.end_within(Nanos::from_secs(30));
        assert_eq!(seconds(&remaining), [(10.0, 15.0), (10.0, 15.0)]);
        remaining.end_within(Nanos::from_secs(10));
        assert_eq!(seconds(&remaining), [(5.0, 5.0), (5.0, 5.0)]);
        let steps = vec![lasting(60, Remaining::UNBOUNDED), lasting(0, Remaining::UNBOUNDED)];
        let mut remaining = Remaining { steps };
        remaining.end_within(Nanos::from_secs(30));
        assert_eq!(seconds(&remaining), [(30.0, 30.0), (0.0, 0.0)]);
    }
}
