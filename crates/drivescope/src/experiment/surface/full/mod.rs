//! `surface --full`: every block of the range once, in order; then what was slow again, at other times.
//!
//! A pass is cut into phases of some seconds. A stretch that cannot be read is walked around: forward in growing steps,
//! and back by halves to its end. What comes next follows from the phases that were run, and from nothing else, so that
//! an interrupted pass goes on where it was.

mod bad_stretch;
mod coverage;
mod pace;
mod pass;
mod slow_stretch;
#[cfg(test)]
mod tests;

use super::NAME;
use crate::experiment::preparation::{self, SEQUENTIAL_DEPTH, filled_range, random_block, verb};
use crate::experiment::{Experiment, Outlook, Question, Step};
use model::payload::Mark;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use pace::Pace;
use pass::{Pass, Purpose, Task};

/// Wakes a drive that sleeps.
const WARM_UP: Nanos = Nanos::from_millis(500);
/// A scratch file is measured as far as it was filled by then.
const FILL: Nanos = Nanos::from_secs(3600);
const SETTLE: Nanos = Nanos::from_secs(1);

/// The experiment.
#[derive(Clone)]
pub struct Full {
    question: Question,
    mixes: Vec<OperationMix>,
    /// Whether what was written is read back and compared.
    verifies: bool,
    /// One for each mix; none before it is known how much there is to go over.
    passes: Vec<Pass>,
    is_awake: bool,
    /// What comes before, the last first.
    filling: Vec<Phase>,
}

impl Full {
    /// Plans a pass for each of the mixes, in their order.
    ///
    /// # Errors
    /// A sentence for a person when there is nothing to go over.
    pub fn new(question: Question, mixes: Vec<OperationMix>) -> Result<Full, String> {
        if question.range.align_inward(question.facts.logical_block).is_empty() {
            return Err("the range to go over holds no whole block. Give a larger --range".into());
        }
        let mut full = Full {
            mixes,
            verifies: false,
            passes: Vec::new(),
            is_awake: false,
            filling: Vec::new(),
            question,
        };
        if full.question.empty {
            full.filling = preparation::fill(NAME, &full.question, FILL, SETTLE).into();
            full.filling.reverse();
        } else {
            full.passes = full.passes_over(full.question.range);
        }
        Ok(full)
    }

    /// The same with one more pass, which reads what was written and compares it.
    ///
    /// # Errors
    /// A sentence for a person when nothing is written.
    pub fn verified(mut self) -> Result<Full, String> {
        if !self.mixes.contains(&OperationMix::Write) {
            return Err("there is nothing to verify, since nothing is written. Add --write".into());
        }
        self.verifies = true;
        if !self.passes.is_empty() {
            self.passes = self.passes_over(self.question.range);
        }
        Ok(self)
    }

    fn passes_over(&self, range: ByteRange) -> Vec<Pass> {
        let measured = self.mixes.iter().map(|&mix| (PhaseKind::Measure, mix));
        let verified = self.verifies.then_some((PhaseKind::Verify, OperationMix::Read));
        let passes = measured.chain(verified);
        passes.map(|(kind, mix)| Pass::new(&self.question.facts, range, kind, mix)).collect()
    }

    /// A few random reads, unless the range has no room for them.
    fn wake(&mut self) -> Option<Phase> {
        if std::mem::replace(&mut self.is_awake, true) {
            return None;
        }
        let block = random_block(&self.question.facts);
        let range = self.question.range.align_inward(block);
        (range.bytes() >= block).then(|| preparation::warm_up(NAME, range, block, WARM_UP))
    }

    fn phase(&self, kind: PhaseKind, mix: OperationMix, task: &Task) -> Phase {
        let one_by_one = task.block == task.range.bytes() || task.purpose == Purpose::Look;
        let depth = if one_by_one { 1 } else { SEQUENTIAL_DEPTH };
        let is_compared = self.verifies && (kind == PhaseKind::Verify || mix == OperationMix::Write);
        let workload = Workload {
            alignment: self.question.facts.logical_block,
            data: if is_compared {
                DataPattern::Marked(Mark { key: self.question.seed, generation: 1 })
            } else {
                DataPattern::Incompressible
            },
            ..Workload::new(task.range, Pattern::Sequential, mix, task.block, depth)
        };
        let stop = StopCondition { time: Some(task.time), ..StopCondition::one_pass() };
        preparation::phase(NAME, self.name_of(verb_of(kind, mix), task), kind, Some(workload), stop)
    }

    fn name_of(&self, verb: &str, task: &Task) -> String {
        let whole = self.question.range;
        let share = |at: Offset| (at - whole.first()).0 as f64 / whole.bytes().0 as f64 * 100.0;
        match task.purpose {
            Purpose::Part => {
                format!("{verb} {:.1} % to {:.1} %", share(task.range.first()), share(task.range.end()))
            }
            Purpose::Sample => format!("{verb} a sample at {:.2} %", share(task.range.first())),
            Purpose::Look => format!("{verb} what failed at byte {} in small blocks", task.range.first().0),
            Purpose::Beside => format!("{verb} a sound stretch in between"),
            Purpose::Again { number, count, round } => {
                format!("{verb} slow stretch {number} of {count} again, round {round}")
            }
        }
    }

    fn steps(&self, pass: &Pass) -> Vec<Step> {
        let pace = Pace::new(&self.question.facts, pass);
        let verb = verb_of(pass.kind(), pass.mix());
        let mut steps = Vec::new();
        let bytes = pass.bytes_left();
        if bytes.0 > 0 {
            let what = format!("{verb} every block once");
            steps.push(step(pass.mix(), what, pass.parts_left(), pace.times_for(pass.gaps()), bytes));
        }
        let again: Vec<ByteRange> = pass.again().collect();
        if !again.is_empty() {
            let bytes = again.iter().map(|range| range.bytes()).sum();
            let time = pace.times_for(again.iter().copied());
            steps.push(step(
                pass.mix(),
                format!("{verb} what was slow again"),
                again.len() as u32,
                time,
                bytes,
            ));
        }
        steps
    }
}

impl Experiment for Full {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let spent = so_far.elapsed();
        self.passes.iter_mut().for_each(Pass::end);
        if self.question.time_limit.is_some_and(|limit| spent >= limit) {
            return None;
        }
        if let Some(filling) = self.filling.pop() {
            return Some(filling);
        }
        if self.passes.is_empty() {
            let filled = so_far.phases.first().map_or(0, |fill| fill.bytes());
            self.passes = self.passes_over(filled_range(self.question.range, Bytes(filled))?);
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

    fn outlook(&self) -> Outlook {
        let mut outlook = Outlook::of(&self.filling);
        let planned = self.passes_over(self.question.range);
        let passes = if self.passes.is_empty() { &planned } else { &self.passes };
        outlook.steps.extend(passes.iter().flat_map(|pass| self.steps(pass)));
        outlook
    }

    fn mapped_range(&self) -> Option<ByteRange> {
        Some(self.question.range)
    }

    fn completes_cut_phases(&self) -> bool {
        true
    }
}

fn verb_of(kind: PhaseKind, mix: OperationMix) -> &'static str {
    if kind == PhaseKind::Verify { "compare" } else { verb(mix) }
}

fn step(mix: OperationMix, what: String, phases: u32, (time, slow): (Nanos, Nanos), bytes: Bytes) -> Step {
    let (reads, writes) = if mix.changes_data() { (Bytes::ZERO, bytes) } else { (bytes, Bytes::ZERO) };
    Step { what, phases, time, likely: time, slow, reads: Some(reads), writes: Some(writes) }
}
