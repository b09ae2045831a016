//! `verify`: does it store what it is told, all of it?
//!
//! ```text
//! quick   mark the start ─► look for it further on (wraps?) ─► write probes twice, then others to push them out of caches
//!                        ─► read the probes ─► close in on the end, if there is one ─► compare the start
//! full    the same, and if the drive does not lie: write all of it, compare all of it, in parts
//! read    compare what an earlier run wrote last, after the drive was detached for instance
//! ```
//! Places past the start are written only when it is known that they are no others than they seem: on a drive that wraps they
//! would overwrite what nobody has looked at.

mod marked;
mod places;

pub use marked::{Marked, last_marked};

use crate::experiment::preparation::SEQUENTIAL_DEPTH;
use crate::experiment::{Experiment, Outlook, Question};
use analysis::integrity::{self, Extent, TAIL_MIN};
use model::payload::Mark;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, GIB, Nanos, Offset};
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use places::{Places, between, drawn};
use std::collections::VecDeque;

/// The word on the command line.
pub const NAME: &str = "verify";

/// The end is closed in on by a factor of [`CLOSER`] + 1 each time: from a drive of 2⁶⁴ bytes to a block in nine.
const ROUNDS_MAX: u32 = 10;
const CLOSER: u64 = 63;
/// A part that is written, and one that is compared, at a time: what is done again when a run is killed.
const PART: Bytes = Bytes::from_gib(4);
/// The same where each part is saved and given back: how large the journal gets.
const PART_PRESERVED: Bytes = Bytes(GIB / 2);
/// What a drive is taken to move in a second, for the estimate of time before anything is known.
const RATE_EXPECTED: f64 = 100e6;
/// And how long a single place takes.
const PLACE_EXPECTED_S: f64 = 0.008;

/// What is wished for.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyWish {
    /// Whether every block is written and compared.
    pub full: bool,
    /// How often everything is written and compared, in full.
    pub passes: u32,
    /// Whether what was there is given back, so that each part is done with before the next.
    pub preserves: bool,
    /// Which part of the work.
    pub work: Work,
    /// Of the marks, unless the run has some.
    pub key: u64,
}

/// Which part of the work is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Writing and reading.
    Both,
    /// Only writing: the reading follows in another run.
    Write,
    /// Only reading what was written before.
    Read(Vec<Marked>),
}

/// The experiment.
pub struct Verify {
    question: Question,
    wish: VerifyWish,
    places: Places,
    stage: Stage,
    /// What the start holds, and whatever else was written.
    generation: u32,
    /// Past this byte the drive has nothing.
    end: Offset,
    rounds: u32,
    queue: VecDeque<Phase>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Start,
    Hunted,
    Probed,
    Closing,
    Full { pass: u32 },
    Done,
}

impl Verify {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when there is no room for it.
    pub fn new(question: Question, wish: VerifyWish) -> Result<Verify, String> {
        let places = Places::new(&question)?;
        let stage = if matches!(wish.work, Work::Read(_)) { Stage::Done } else { Stage::Start };
        let mut verify = Verify {
            end: places.range.end(),
            generation: 1,
            rounds: 0,
            queue: VecDeque::new(),
            stage,
            places,
            question,
            wish,
        };
        if let Work::Read(written) = &verify.wish.work {
            verify.queue = written.iter().map(|written| written.reading(NAME)).collect();
        }
        Ok(verify)
    }

    /// A part that could not be saved was not written, so that it cannot be compared.
    fn drop_untested(&mut self, so_far: &RunView<'_>) {
        let Some(last) = so_far.phases.last().filter(|last| is_untested(last)) else { return };
        let range = |phase: &Phase| phase.workload.as_ref().map(|workload| workload.range);
        let next = self.queue.front();
        if next.is_some_and(|next| next.kind == PhaseKind::Verify && range(next) == range(&last.phase)) {
            self.queue.pop_front();
        }
    }

    /// Plans what comes next by what was seen; whether there is anything.
    fn go_on(&mut self, so_far: &RunView<'_>) -> bool {
        match self.stage {
            Stage::Start => {
                self.queue.extend(self.opening());
                self.stage = Stage::Hunted;
            }
            Stage::Hunted => {
                if let Some(Extent::Wraps { real_bytes }) = integrity::extent(so_far) {
                    self.end = self.end.min(Offset(real_bytes));
                }
                let probing = self.probing();
                self.queue.extend(probing);
                self.stage = Stage::Probed;
            }
            Stage::Probed => self.close_in(so_far),
            Stage::Closing => {
                let lies = self.end < self.places.range.end()
                    || !matches!(integrity::extent(so_far), Some(Extent::Holds { .. }));
                self.stage = if self.wish.full && !lies { Stage::Full { pass: 1 } } else { Stage::Done };
            }
            Stage::Full { pass } => {
                self.generation += 1;
                self.queue.extend(self.whole(self.generation));
                self.stage =
                    if pass < self.wish.passes { Stage::Full { pass: pass + 1 } } else { Stage::Done };
            }
            Stage::Done => return false,
        }
        true
    }

    /// The start is marked, and looked for everywhere else.
    fn opening(&self) -> Vec<Phase> {
        let mut phases = vec![self.start(OperationMix::Write, "mark the start")];
        phases.extend(self.hunt());
        phases.extend(self.hunt_at_end());
        phases
    }

    fn hunt(&self) -> Option<Phase> {
        let (range, stride, block) = self.places.hunted()?;
        let mut workload =
            Workload::new(range, Pattern::Strided { stride }, OperationMix::Read, block, places::DEPTH);
        workload.data = self.mark(0);
        let operations = Some(range.bytes().0.div_ceil(stride.0));
        let stop = StopCondition { operations, ..StopCondition::default() };
        Some(phase("look for the start further on", PhaseKind::Verify, workload, stop))
    }

    /// A drive that is short by less than two places of the hunt are apart.
    fn hunt_at_end(&self) -> Option<Phase> {
        let (range, _, block) = self.places.hunted()?;
        let last = Offset(range.end().0 - block.0);
        let pattern = Pattern::Listed { offsets: vec![last] };
        let mut workload = Workload::new(range, pattern, OperationMix::Read, block, 1);
        workload.data = self.mark(0);
        let stop = StopCondition { operations: Some(1), ..StopCondition::default() };
        Some(phase("look for the start at the end", PhaseKind::Verify, workload, stop))
    }

    /// Places all over the rest are written twice, so that a write that is lost shows the one before; then the start again, which
    /// pushes them out of caches; then they are read.
    fn probing(&mut self) -> Vec<Phase> {
        let probes = drawn(&self.places, self.end, self.question.seed);
        if probes.is_empty() {
            return Vec::new();
        }
        let mut phases = vec![
            self.listed(&probes, OperationMix::Write, 1, "write places all over it"),
            self.listed(&probes, OperationMix::Write, 2, "write them once more"),
        ];
        phases.extend(self.push_out());
        if self.wish.work == Work::Both {
            phases.push(self.listed(&probes, OperationMix::Read, 2, "compare the places"));
            phases.push(self.start(OperationMix::Read, "compare the start"));
        }
        phases
    }

    /// The start once more: as much as caches of drives hold.
    fn push_out(&mut self) -> Option<Phase> {
        self.generation += 1;
        Some(self.start(OperationMix::Write, "write the start, which empties caches"))
    }

    fn close_in(&mut self, so_far: &RunView<'_>) {
        self.rounds += 1;
        let (from, to, count) = match integrity::extent(so_far) {
            Some(Extent::Ends { held_to, lost_from }) if held_to < lost_from => (held_to, lost_from, CLOSER),
            Some(Extent::Unclear { held_to, .. }) => (held_to, self.end.0, 2 * TAIL_MIN as u64),
            _ => (0, 0, 0),
        };
        let probes = between(&self.places, from, to, count);
        if self.rounds > ROUNDS_MAX || probes.is_empty() || self.wish.work != Work::Both {
            if self.wish.work == Work::Both && self.rounds > 1 {
                self.queue.push_back(self.start(OperationMix::Read, "compare the start"));
            }
            self.stage = Stage::Closing;
            return;
        }
        self.queue.push_back(self.listed(&probes, OperationMix::Write, 2, "write closer to the end"));
        let pushing = self.push_out();
        self.queue.extend(pushing);
        self.queue.push_back(self.listed(&probes, OperationMix::Read, 2, "compare closer to the end"));
    }

    /// All of it: written and then compared; part by part where each is given back.
    fn whole(&self, generation: u32) -> Vec<Phase> {
        let size = if self.wish.preserves { PART_PRESERVED } else { PART };
        let parts = self.places.parts(size);
        let part =
            |range: &ByteRange, mix| self.sequential(*range, mix, generation, self.name_of(*range, mix));
        let write = |range: &ByteRange| part(range, OperationMix::Write);
        let read = |range: &ByteRange| part(range, OperationMix::Read);
        if self.wish.work == Work::Write {
            parts.iter().map(write).collect()
        } else if self.wish.preserves {
            parts.iter().flat_map(|range| [write(range), read(range)]).collect()
        } else {
            parts.iter().map(write).chain(parts.iter().map(read)).collect()
        }
    }

    fn name_of(&self, range: ByteRange, mix: OperationMix) -> String {
        let whole = self.places.range;
        let share = |at: Offset| (at.0 - whole.first().0) as f64 / whole.bytes().0 as f64 * 100.0;
        let verb = if mix == OperationMix::Write { "write" } else { "compare" };
        format!("{verb} {:.1} % to {:.1} %", share(range.first()), share(range.end()))
    }

    fn mark(&self, generation: u32) -> DataPattern {
        DataPattern::Marked(Mark { key: self.wish.key, generation })
    }

    fn start(&self, mix: OperationMix, name: &str) -> Phase {
        self.sequential(self.places.start, mix, self.generation, name.into())
    }

    fn sequential(&self, range: ByteRange, mix: OperationMix, generation: u32, name: String) -> Phase {
        let mut workload =
            Workload::new(range, Pattern::Sequential, mix, self.places.large_block(range), SEQUENTIAL_DEPTH);
        workload.alignment = self.places.grid;
        workload.data = self.mark(generation);
        let kind = kind_of(mix);
        Phase {
            name,
            experiment: NAME.into(),
            kind,
            workload: Some(workload),
            stop: StopCondition::one_pass(),
        }
    }

    fn listed(&self, offsets: &[Offset], mix: OperationMix, generation: u32, name: &str) -> Phase {
        let pattern = Pattern::Listed { offsets: offsets.to_vec() };
        let mut workload = Workload::new(self.places.range, pattern, mix, self.places.block, places::DEPTH);
        workload.alignment = self.places.grid;
        workload.data = self.mark(generation);
        let stop = StopCondition { operations: Some(offsets.len() as u64), ..StopCondition::default() };
        phase(name, kind_of(mix), workload, stop)
    }

    /// What is ahead if the drive does not lie.
    fn ahead(&self) -> Vec<Phase> {
        let mut rest = Verify {
            queue: VecDeque::new(),
            question: self.question.clone(),
            wish: self.wish.clone(),
            places: self.places,
            ..*self
        };
        let mut phases: Vec<Phase> = self.queue.iter().cloned().collect();
        if rest.stage == Stage::Start {
            phases.extend(rest.opening());
            rest.stage = Stage::Hunted;
        }
        if rest.stage == Stage::Hunted {
            phases.extend(rest.probing());
            rest.stage = Stage::Probed;
        }
        let passes = match rest.stage {
            Stage::Done => 0,
            Stage::Full { pass } => rest.wish.passes + 1 - pass,
            _ if rest.wish.full => rest.wish.passes,
            _ => 0,
        };
        (0..passes).for_each(|_| phases.extend(rest.whole(2)));
        phases
    }
}

impl Experiment for Verify {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.drop_untested(so_far);
        let is_late = self.question.time_limit.is_some_and(|limit| so_far.elapsed() >= limit);
        // What was not written to its end cannot be compared.
        let is_broken = so_far.phases.last().is_some_and(|last| {
            let writes = last.phase.workload.as_ref().is_some_and(|workload| workload.mix.changes_data());
            writes && last.stopped.is_some_and(|why| !why.is_complete()) && !is_untested(last)
        });
        if is_late || is_broken {
            return None;
        }
        loop {
            if let Some(phase) = self.queue.pop_front() {
                return Some(phase);
            }
            if !self.go_on(so_far) {
                return None;
            }
        }
    }

    fn outlook(&self) -> Outlook {
        let phases = self.ahead();
        let mut outlook = Outlook::of(&phases);
        for step in &mut outlook.steps {
            let bytes = step.reads.unwrap_or_default() + step.writes.unwrap_or_default();
            let of_step = phases.iter().filter(|phase| phase.name == step.what);
            let places: usize = of_step
                .filter_map(|phase| match &phase.workload.as_ref()?.pattern {
                    Pattern::Listed { offsets } => Some(offsets.len()),
                    Pattern::Strided { .. } => phase.stop.operations.map(|count| count as usize),
                    _ => None,
                })
                .sum();
            let seconds = bytes.0 as f64 / RATE_EXPECTED + places as f64 * PLACE_EXPECTED_S;
            step.time = Nanos::from_secs_f64(seconds).unwrap_or_default();
            step.likely = step.time;
        }
        join_parts(outlook)
    }

    fn preserved_at_once(&self) -> Option<Bytes> {
        let places = places::COUNT_MAX.saturating_mul(self.places.block.0);
        Some(self.places.start.bytes() + PART_PRESERVED + Bytes(places))
    }

    /// Part by part when all of it is written; before that the start is written again and again.
    fn is_done_with(&self, phase: &Phase) -> bool {
        let is_part = phase.name.ends_with(" %");
        self.wish.preserves && is_part && phase.kind == PhaseKind::Verify
    }

    fn mapped_range(&self) -> Option<ByteRange> {
        Some(self.question.range)
    }
}

/// Whether a part was not written, because what is there could not be saved.
fn is_untested(last: &PhaseSummary) -> bool {
    let writes = last.phase.workload.as_ref().is_some_and(|workload| workload.mix.changes_data());
    writes
        && last.phase.name.ends_with(" %")
        && last.stopped == Some(StopReason::Errors)
        && last.totals.is_empty()
}

/// One line for all parts that are written, and one for all that are compared.
fn join_parts(outlook: Outlook) -> Outlook {
    let mut joined = Outlook::default();
    for mut step in outlook.steps {
        for verb in ["write", "compare"] {
            if step.what.starts_with(verb) && step.what.ends_with(" %") {
                step.what = format!("{verb} every block");
            }
        }
        joined.add(step);
    }
    joined
}

fn kind_of(mix: OperationMix) -> PhaseKind {
    if mix == OperationMix::Write { PhaseKind::Precondition } else { PhaseKind::Verify }
}

fn phase(name: &str, kind: PhaseKind, workload: Workload, stop: StopCondition) -> Phase {
    Phase { name: name.into(), experiment: NAME.into(), kind, workload: Some(workload), stop }
}
