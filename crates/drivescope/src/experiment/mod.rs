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
use model::workload::Pattern;
use preparation::verb;

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
    /// What they read at most; none where only the drive's rate bounds it.
    pub reads: Option<Bytes>,
    /// What they write at most; likewise.
    pub writes: Option<Bytes>,
}

impl Outlook {
    /// Phases as steps of one kind, in the order in which each kind first comes.
    pub fn of(phases: &[Phase]) -> Outlook {
        let mut outlook = Outlook::default();
        phases.iter().for_each(|phase| outlook.add(Step::of(phase)));
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
        self.steps.iter().fold(Nanos::ZERO, |sum, step| sum + step.time)
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
        Step { what: describe(phase), phases: 1, time: phase.stop.time.unwrap_or_default(), reads, writes }
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
            (self.reads, self.writes) = (reads, writes);
        }
        is_enough
    }

    fn add(&mut self, more: &Step) {
        self.phases += more.phases;
        self.time = self.time + more.time;
        self.reads = self.reads.zip(more.reads).map(|(sum, more)| sum + more);
        self.writes = self.writes.zip(more.writes).map(|(sum, more)| sum + more);
    }
}

fn describe(phase: &Phase) -> String {
    let Some(workload) = &phase.workload else { return phase.name.clone() };
    let block = workload.block_sizes.largest();
    match (phase.kind, &workload.pattern) {
        (PhaseKind::Measure, Pattern::Sequential) => {
            format!("{} {block} blocks in order, all over the range", verb(workload.mix))
        }
        (PhaseKind::Measure, _) => {
            format!("{} {block} blocks at random places, 1 to many at once", verb(workload.mix))
        }
        _ => phase.name.clone(),
    }
}
