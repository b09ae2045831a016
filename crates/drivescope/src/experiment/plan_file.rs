//! `run`: the steps of a file of patterns, one after the other. It asks no question of its own; the detectors look at
//! what the phases did.

use super::preparation::{self, filled_range};
use super::{ASSUMED_BYTES_PER_SECOND, Experiment, Outlook, Question, Step};
use crate::pattern_file::PatternFile;
use model::plan::Phase;
use model::request::Operation;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::OperationMix;
use std::collections::VecDeque;

/// The word on the command line, and in every phase.
pub const NAME: &str = "run";
/// A scratch file is filled first, for no longer than this.
const FILL: Nanos = Nanos::from_secs(600);
const SETTLE: Nanos = Nanos::from_secs(5);

/// The experiment.
pub struct PlanRun {
    question: Question,
    file: PatternFile,
    each: Option<Nanos>,
    preparation: VecDeque<Phase>,
    /// What is still to be done; laid out anew when it is known what of a scratch file was filled.
    steps: VecDeque<Phase>,
    has_begun: bool,
}

impl PlanRun {
    /// Lays the steps out on the range, each of `each` long if that is given.
    ///
    /// # Errors
    /// A sentence for a person when a step cannot be run there, or writes where nothing may be written.
    pub fn new(question: Question, file: PatternFile, each: Option<Nanos>) -> Result<PlanRun, String> {
        if file.writes() && !question.may_write {
            return Err(format!(
                "the plan {} writes, and {} may only be read. Add --write if what is on it may be lost, or name a folder to \
                 write to a scratch file in it",
                file.name, question.facts.path
            ));
        }
        let steps = file.phases(NAME, question.range, &question.facts, each)?.into();
        let mut preparation = VecDeque::new();
        if question.empty {
            preparation.extend(preparation::fill(NAME, &question, FILL, SETTLE));
        }
        Ok(PlanRun { question, file, each, preparation, steps, has_begun: false })
    }

    /// What of a scratch file was filled is all there is.
    fn begin(&mut self, so_far: &RunView<'_>) {
        self.has_begun = true;
        if !self.question.empty {
            return;
        }
        let fill = so_far.phases.first().and_then(|fill| fill.totals_of(Operation::Write));
        let range = filled_range(self.question.range, Bytes(fill.map_or(0, |totals| totals.bytes)));
        let steps =
            range.and_then(|range| self.file.phases(NAME, range, &self.question.facts, self.each).ok());
        self.steps = steps.unwrap_or_default().into();
    }
}

impl Experiment for PlanRun {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.preparation.pop_front() {
            return Some(phase);
        }
        if !self.has_begun {
            self.begin(so_far);
        }
        let left = self.question.time_limit.map(|limit| limit.saturating_sub(so_far.elapsed()));
        if left == Some(Nanos::ZERO) {
            return None;
        }
        let mut phase = self.steps.pop_front()?;
        phase.stop.time = [phase.stop.time, left].into_iter().flatten().min();
        Some(phase)
    }

    fn outlook(&self) -> Outlook {
        let preparation = Outlook::of(&Vec::from(self.preparation.clone())).steps;
        Outlook { steps: preparation.into_iter().chain(self.steps.iter().map(step)).collect() }
    }
}

/// A step is called by its name. How long one takes that ends with its bytes or its range depends on the drive; for an
/// idea of it a rate is assumed.
fn step(phase: &Phase) -> Step {
    let bytes = phase.workload.as_ref().and_then(|workload| phase.stop.bytes_max(workload));
    let mix = phase.workload.as_ref().map(|workload| workload.mix);
    let by_bytes = bytes.and_then(|bytes| Nanos::from_secs_f64(bytes.0 as f64 / ASSUMED_BYTES_PER_SECOND));
    let what = match (phase.stop.time, by_bytes) {
        (None, Some(_)) => format!("{}; the time is that at 100 MB/s", phase.name),
        _ => phase.name.clone(),
    };
    let moves = |does: bool| if does { bytes } else { Some(Bytes::ZERO) };
    let both = matches!(mix, Some(OperationMix::ReadWrite { .. }));
    let time = phase.stop.time.or(by_bytes).unwrap_or_default();
    Step {
        what,
        phases: 1,
        time,
        likely: time,
        slow: time,
        reads: moves(both || mix == Some(OperationMix::Read)),
        // What is discarded is lost as what is overwritten is.
        writes: moves(both || matches!(mix, Some(OperationMix::Write | OperationMix::Discard))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_file;
    use model::plan::PhaseKind;
    use model::range::ByteRange;
    use model::run::{Environment, MemorySeries};

    fn question(may_write: bool) -> Question {
        let facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
        let range = ByteRange::whole(facts.capacity);
        Question { facts, range, may_write, empty: false, seed: 1, time_limit: None, precision: None }
    }

    #[test]
    fn the_steps_come_in_order_and_then_none() {
        let plan = pattern_file::named("jesd219").unwrap();
        let mut run = PlanRun::new(question(true), plan.clone(), Some(Nanos::from_secs(60))).unwrap();
        assert_eq!(run.outlook().phases(), 2);
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let facts = question(true).facts;
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        let kinds: Vec<PhaseKind> = std::iter::from_fn(|| run.next(&view)).map(|phase| phase.kind).collect();
        assert_eq!(kinds, [PhaseKind::Precondition, PhaseKind::Measure]);
        let refused = PlanRun::new(question(false), plan, None).err().unwrap();
        assert!(refused.contains("Add --write"), "{refused}");
    }

    #[test]
    fn a_time_limit_cuts_the_last_step() {
        let plan = pattern_file::named("mixed-writes").unwrap();
        let question = Question { time_limit: Some(Nanos::from_secs(10)), ..question(true) };
        let facts = question.facts.clone();
        let mut run = PlanRun::new(question, plan, None).unwrap();
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        assert_eq!(run.next(&view).unwrap().stop.time, Some(Nanos::from_secs(10)));
    }
}
