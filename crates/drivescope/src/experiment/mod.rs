//! Experiments: questions put to a drive. One file each, one shape for all.
//!
//! An experiment yields one phase after the other and may choose the next by what it has seen, which gives adaptive
//! experiments, progress, estimates of the remaining time, and replay from a single shape.

pub mod access;
pub mod check;
pub mod files;
pub mod geometry;
pub mod plan_file;
mod preparation;
pub mod purge;
pub mod sizes;
pub mod surface;
pub mod sustain;
pub mod valleys;
pub mod verify;

use model::plan::{Phase, PhaseKind};
use model::range::ByteRange;
use model::run::RunView;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};
use model::workload::{Pattern, Workload};
use preparation::verb;

/// For an idea of how long bytes take: of the disks and SSDs sold since 2010, sequential rates begin here.
const ASSUMED_BYTES_PER_SECOND: f64 = 100e6;
/// And of sticks and cards here: what a card of speed class 6 promises (SD Association).
pub const SLOW_BYTES_PER_SECOND: f64 = 6e6;
/// A disk moves 1 MiB in about the time that it takes to get there.
const LARGE_BLOCK: Bytes = Bytes::from_mib(1);

/// What an experiment is given.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is known of the target.
    pub facts: TargetFacts,
    /// Nothing outside is touched.
    pub range: ByteRange,
    /// Whether phases may write.
    pub may_write: bool,
    /// Whether the range holds nothing yet, so that it has to be filled before it can be read.
    pub empty: bool,
    /// Of all randomness.
    pub seed: u64,
    /// About how long to take.
    pub time_limit: Option<Nanos>,
    /// How narrow the intervals shall be, to either side, as a share of the value.
    pub precision: Option<f64>,
}

/// A question put to a drive.
pub trait Experiment {
    /// The word on the command line, and in every phase that it yields.
    fn name(&self) -> &'static str;

    /// The next phase, by what was seen so far; none when the question is answered.
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase>;

    /// What is still ahead, as far as can be told now.
    fn outlook(&self) -> Outlook;

    /// The range of which a map is shown while it goes on; none where there is little to see on one.
    fn mapped_range(&self) -> Option<ByteRange> {
        None
    }

    /// Whether it needs every single I/O of that phase, and not only slices of time.
    fn needs_trace(&self, _phase: &Phase) -> bool {
        false
    }

    /// Whether it may be left alone between two phases for as long as somebody likes. Not where what the drive does in such
    /// a rest, or without one, is what is measured.
    fn may_rest(&self) -> bool {
        true
    }

    /// How much it overwrites before [`Experiment::is_done_with`] lets it be given back; none where that is all it writes.
    fn preserved_at_once(&self) -> Option<Bytes> {
        None
    }

    /// Whether what was overwritten up to the end of that phase may be given back, since no later phase looks at it.
    fn is_done_with(&self, _phase: &Phase) -> bool {
        false
    }

    /// Whether it asks by itself for the rest of a phase that was cut short, when a run is resumed. If not, such a phase
    /// is done again as a whole.
    fn completes_cut_phases(&self) -> bool {
        false
    }
}

/// What is ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Steps of one kind, in the order in which they are done.
    pub steps: Vec<Step>,
}

/// Phases of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// For people: "random 4 KiB reads, 1 to 64 at once".
    pub what: String,
    /// How many phases.
    pub phases: u32,
    /// How long they take at most.
    pub time: Nanos,
    /// How long they likely take: less where they end with their bytes, and nothing where they only come if something is found.
    pub likely: Nanos,
    /// The same on a drive as slow as [`SLOW_BYTES_PER_SECOND`].
    pub slow: Nanos,
    /// What they read at most; none where only the drive's rate bounds it.
    pub reads: Option<Bytes>,
    /// What they write at most; likewise.
    pub writes: Option<Bytes>,
}

impl Outlook {
    /// The time of what no time bounds.
    pub const UNBOUNDED: Nanos = Nanos(u64::MAX);

    /// Phases as steps of one kind, in the order in which each kind first comes.
    pub fn of(phases: &[Phase]) -> Outlook {
        Outlook::known(phases, |_| None)
    }

    /// The same where of some phases it is known how long they take.
    fn known(phases: &[Phase], time_of: impl Fn(&Phase) -> Option<Nanos>) -> Outlook {
        let mut outlook = Outlook::default();
        for phase in phases {
            let mut step = Step::of(phase);
            if let Some(time) = time_of(phase) {
                step.likely = time.min(step.time);
                step.slow = step.likely;
            }
            outlook.add(step);
        }
        outlook
    }

    /// Adds a step to those of its kind.
    fn add(&mut self, next: Step) {
        match self.steps.iter_mut().find(|step| step.what == next.what) {
            Some(step) => step.add(&next),
            None => self.steps.push(next),
        }
    }

    /// How long it takes at most.
    pub fn time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.time))
    }

    /// How long it likely takes.
    pub fn likely_time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.likely))
    }

    /// How long it likely takes on a slow drive.
    pub fn slow_time(&self) -> Nanos {
        sum_of(self.steps.iter().map(|step| step.slow))
    }

    /// How many phases.
    pub fn phases(&self) -> u32 {
        self.steps.iter().map(|step| step.phases).sum()
    }

    /// What is written at most; none where only the drive's rate bounds it.
    pub fn writes(&self) -> Option<Bytes> {
        self.steps.iter().map(|step| step.writes).sum()
    }

    /// What is read at most; none where only the drive's rate bounds it.
    pub fn reads(&self) -> Option<Bytes> {
        self.steps.iter().map(|step| step.reads).sum()
    }
}

impl Step {
    fn of(phase: &Phase) -> Step {
        // Where a visit lies, and so how short the end of the range cuts it, is drawn later: the bound counts.
        let moves = phase.workload.as_ref().map_or(Some(Bytes::ZERO), |workload| {
            phase.stop.bytes.or_else(|| phase.stop.bytes_max(workload))
        });
        let writes_data = phase.workload.as_ref().is_some_and(|workload| workload.mix.changes_data());
        let (reads, writes) =
            if writes_data { (Some(Bytes::ZERO), moves) } else { (moves, Some(Bytes::ZERO)) };
        let at = |rate| phase.workload.as_ref().and_then(|workload| time_of_bytes(phase, workload, rate));
        let (usual, slow) = (at(ASSUMED_BYTES_PER_SECOND), at(SLOW_BYTES_PER_SECOND));
        let time = phase.stop.time.or(usual).unwrap_or_default();
        let within = |bytes: Option<Nanos>| bytes.map_or(time, |likely| likely.min(time));
        Step {
            what: describe(phase),
            phases: 1,
            time,
            likely: within(usual),
            slow: within(slow),
            reads,
            writes,
        }
    }

    /// Takes the cost of something off this if there is enough left.
    fn take(&mut self, cost: &Outlook) -> bool {
        let left = |of: Option<Bytes>, cost: Option<Bytes>| of?.0.checked_sub(cost?.0).map(Bytes);
        let (reads, writes) = (left(self.reads, cost.reads()), left(self.writes, cost.writes()));
        let is_enough =
            self.phases >= cost.phases() && self.time >= cost.time() && reads.is_some() && writes.is_some();
        if is_enough {
            self.phases -= cost.phases();
            self.time = self.time.saturating_sub(cost.time());
            self.likely = self.likely.saturating_sub(cost.likely_time());
            self.slow = self.slow.saturating_sub(cost.slow_time());
            (self.reads, self.writes) = (reads, writes);
        }
        is_enough
    }

    fn add(&mut self, more: &Step) {
        self.phases += more.phases;
        self.time = sum_of([self.time, more.time]);
        self.likely = sum_of([self.likely, more.likely]);
        self.slow = sum_of([self.slow, more.slow]);
        self.reads = self.reads.zip(more.reads).map(|(sum, more)| sum + more);
        self.writes = self.writes.zip(more.writes).map(|(sum, more)| sum + more);
    }
}

/// With what no time bounds, nothing does.
fn sum_of(times: impl IntoIterator<Item = Nanos>) -> Nanos {
    Nanos(times.into_iter().fold(0, |sum: u64, time| sum.saturating_add(time.0)))
}

/// How long a phase takes for its bytes where a drive streams: in order, or in requests so large that getting to their places
/// counts for little.
fn time_of_bytes(phase: &Phase, workload: &Workload, bytes_per_second: f64) -> Option<Nanos> {
    let streams = workload.pattern == Pattern::Sequential || workload.block_sizes.largest() >= LARGE_BLOCK;
    let bytes = phase.stop.bytes_max(workload).filter(|_| streams)?;
    Nanos::from_secs_f64(bytes.0 as f64 / bytes_per_second)
}

fn describe(phase: &Phase) -> String {
    let Some(workload) = &phase.workload else { return phase.name.clone() };
    let block = workload.block_sizes.largest();
    match (phase.kind, &workload.pattern) {
        (PhaseKind::Measure, Pattern::Sequential) => {
            format!("{} blocks of {block} in order, all over the range", verb(workload.mix))
        }
        (PhaseKind::Measure, _) => {
            format!("{} blocks of {block} at random places, 1 to many at once", verb(workload.mix))
        }
        _ => phase.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::StopCondition;
    use model::workload::OperationMix;

    fn step(block: Bytes, pattern: Pattern, stop: StopCondition) -> Step {
        let range = ByteRange::whole(Bytes(4_000_000_000));
        let workload = Workload::new(range, pattern, OperationMix::Write, block, 4);
        Step::of(&preparation::phase("test", "it".into(), PhaseKind::Measure, Some(workload), stop))
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
}
