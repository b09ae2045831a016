//! `surface --full`: every block of the range once, in order; then what was slow again, at other times.
//!
//! A pass is cut into phases of some seconds. A stretch that cannot be read is walked around: forward in growing steps, and back by halves to
//! its end. What comes next follows from the phases that were run, and from nothing else, so that an interrupted pass goes on where it was.

mod bad_stretch;
mod coverage;
mod pace;
mod pass;
mod slow_stretch;
#[cfg(test)]
mod tests;

use crate::error::PlanError;
use crate::preparation::{self, Filling, SEQUENTIAL_DEPTH, filled, random_block, verb};
use crate::{Conduct, Experiment, Remaining, Setup, Step};
use model::experiment_name::ExperimentName;
use model::payload::Mark;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use pace::Pace;
use pass::{Pass, Purpose, Task};

/// A scratch file is measured as far as it was filled by then.
const FILLING: Filling = Filling::of(3600, 1);

#[derive(Clone)]
pub struct Full {
    setup: Setup,
    mixes: Vec<OperationMix>,
    verifies: bool,
    /// One for each mix; none before it is known how much there is to go over.
    passes: Vec<Pass>,
    is_awake: bool,
    filling: Vec<Phase>,
}

impl Full {
    pub fn new(setup: Setup, mixes: Vec<OperationMix>) -> Result<Full, PlanError> {
        if setup.range.align_inward(setup.facts.logical_block).is_empty() {
            return Err(PlanError::NoWholeBlock);
        }
        let mut full =
            Full { mixes, verifies: false, passes: Vec::new(), is_awake: false, filling: Vec::new(), setup };
        if full.setup.empty {
            full.filling = preparation::fill(ExperimentName::Surface, &full.setup, FILLING).into();
            full.filling.reverse();
        } else {
            full.passes = full.passes_over(full.setup.range);
        }
        Ok(full)
    }

    pub fn verified(mut self) -> Result<Full, PlanError> {
        if !self.mixes.contains(&OperationMix::Write) {
            return Err(PlanError::NothingToVerify);
        }
        self.verifies = true;
        if !self.passes.is_empty() {
            self.passes = self.passes_over(self.setup.range);
        }
        Ok(self)
    }

    fn passes_over(&self, range: ByteRange) -> Vec<Pass> {
        let mut passes = Vec::new();
        for mix in &self.mixes {
            passes.push(Pass::new(&self.setup.facts, range, PhaseKind::Measure, *mix));
        }
        if self.verifies {
            passes.push(Pass::new(&self.setup.facts, range, PhaseKind::Verify, OperationMix::Read));
        }
        passes
    }

    fn wake(&mut self) -> Option<Phase> {
        if std::mem::replace(&mut self.is_awake, true) {
            return None;
        }
        let block = random_block(&self.setup.facts);
        let range = self.setup.range.align_inward(block);
        if range.bytes() < block {
            return None;
        }
        Some(preparation::warm_up(ExperimentName::Surface, range, block, preparation::WARM_UP))
    }

    fn phase(&self, kind: PhaseKind, mix: OperationMix, task: &Task) -> Phase {
        let one_by_one = task.block == task.range.bytes() || task.purpose == Purpose::Look;
        let depth = if one_by_one { 1 } else { SEQUENTIAL_DEPTH };
        let is_compared = self.verifies && (kind == PhaseKind::Verify || mix == OperationMix::Write);
        let workload = Workload {
            alignment: self.setup.facts.logical_block,
            data: if is_compared {
                DataPattern::Marked(Mark { key: self.setup.seed, generation: 1 })
            } else {
                DataPattern::Incompressible
            },
            ..Workload::new(task.range, Pattern::Sequential, mix, task.block, depth)
        };
        let stop = StopCondition { time: Some(task.time), ..StopCondition::one_pass() };
        let name = self.name_of(verb_of(kind, mix), task);
        preparation::phase(ExperimentName::Surface, name, kind, workload, stop)
    }

    fn name_of(&self, verb: &str, task: &Task) -> String {
        let whole = self.setup.range;
        let share = |at: Offset| (at - whole.first()).as_f64() / whole.bytes().as_f64() * 100.0;
        match task.purpose {
            Purpose::Part => {
                format!("{verb} {:.1} % to {:.1} %", share(task.range.first()), share(task.range.end()))
            }
            Purpose::Sample => format!("{verb} a sample at {:.2} %", share(task.range.first())),
            Purpose::Look => {
                format!("{verb} failed region at byte {} in small blocks", task.range.first().get())
            }
            Purpose::Beside => format!("{verb} a sound region between"),
            Purpose::Again { number, count, round } => {
                format!("{verb} slow region {number} of {count} again, round {round}")
            }
        }
    }

    fn steps(&self, pass: &Pass) -> Vec<Step> {
        let pace = Pace::new(&self.setup.facts, pass);
        let verb = verb_of(pass.kind(), pass.mix());
        let mut steps = Vec::new();
        let bytes = pass.bytes_left();
        if bytes.get() > 0 {
            let what = format!("{verb} every block once");
            steps.push(step(pass.mix(), what, pass.parts_left(), pace.times_for(pass.gaps()), bytes));
        }
        let again: Vec<ByteRange> = pass.again().collect();
        if !again.is_empty() {
            let bytes = again.iter().map(ByteRange::bytes).sum();
            let time = pace.times_for(again.iter().copied());
            steps.push(step(
                pass.mix(),
                format!("{verb} slow regions again"),
                again.len() as u32,
                time,
                bytes,
            ));
        }
        steps
    }
}

impl Experiment for Full {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.passes.iter_mut().for_each(Pass::end);
        if self.setup.is_out_of_time(so_far) {
            return None;
        }
        if let Some(filling) = self.filling.pop() {
            return Some(filling);
        }
        if self.passes.is_empty() {
            self.passes = self.passes_over(filled(self.setup.range, so_far)?);
        }
        let index = self.passes.iter_mut().position(|pass| pass.next_task(so_far).is_some())?;
        if let Some(wake) = self.wake() {
            return Some(wake);
        }
        let pass = &mut self.passes[index];
        let task = pass.next_task(so_far)?;
        pass.begin(&task);
        let (kind, mix) = (pass.kind(), pass.mix());
        Some(self.phase(kind, mix, &task))
    }

    fn remaining(&self) -> Remaining {
        let mut remaining = Remaining::of(&self.filling);
        let planned = self.passes_over(self.setup.range);
        let passes = if self.passes.is_empty() { &planned } else { &self.passes };
        for pass in passes {
            remaining.steps.extend(self.steps(pass));
        }
        remaining
    }

    fn conduct(&self) -> Conduct {
        Conduct { completes_cut_phases: true, mapped_range: Some(self.setup.range), ..Conduct::default() }
    }
}

fn verb_of(kind: PhaseKind, mix: OperationMix) -> &'static str {
    if kind == PhaseKind::Verify { "compare" } else { verb(mix) }
}

fn step(mix: OperationMix, what: String, phases: u32, (time, slow): (Nanos, Nanos), bytes: Bytes) -> Step {
    let step = Step { slow, ..Step::lasting(what, phases, time) };
    let bytes = Some(bytes);
    if mix.changes_data() { Step { writes: bytes, ..step } } else { Step { reads: bytes, ..step } }
}
