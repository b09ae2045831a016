//! `run`: the steps of a file of patterns in order. It asks no question; the detectors look at what they did.

use super::composition::Prepared;
use super::preparation::Filling;
use super::{ASSUMED_BYTES_PER_SECOND, Experiment, Remaining, Setup, Step};
use crate::error::PlanError;
use crate::pattern_file::PatternFile;
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use clap::Args;
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::OperationMix;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A scratch file is filled first, for no longer than this.
const FILLING: Filling = Filling::of(600, 5);

/// Which plan, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRequest {
    /// A plan: its name (--list shows those that come with drivescope), or a file: .toml, Iometer's .icf, fio's .fio or .job
    #[arg(required_unless_present_any = ["list", "resume"])]
    pub plan: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// How long each step takes that has no bytes, operations or passes to end by; instead of what the plan says
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub each: Option<Nanos>,

    /// Only list the plans that come with drivescope
    #[arg(long)]
    #[serde(skip)]
    pub list: bool,
}

impl DriveRequest for RunRequest {
    has_drive_options!(ExperimentName::Run);

    fn plan_names(&self) -> Vec<&str> {
        self.plan.iter().map(String::as_str).collect()
    }

    fn plan(&self, setup: Setup, supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        if self.each == Some(Nanos::ZERO) {
            return Err(PlanError::Zero { option: "--each", example: "a time such as 60s" });
        }
        let name = self.plan.as_deref().ok_or(PlanError::NoPlan)?;
        Ok(Box::new(PlanRun::new(setup, supplies.plan(name)?.clone(), self.each)?))
    }
}

pub struct PlanRun {
    setup: Setup,
    file: PatternFile,
    each: Option<Nanos>,
    prepared: Prepared,
    /// What is still to be done; laid out anew when it is known what of a scratch file was filled.
    steps: VecDeque<Phase>,
    has_begun: bool,
}

impl PlanRun {
    pub fn new(setup: Setup, file: PatternFile, each: Option<Nanos>) -> Result<PlanRun, PlanError> {
        if file.writes() && !setup.may_write {
            return Err(PlanError::NeedsWrite {
                experiment: ExperimentName::Run,
                path: setup.facts.path.clone(),
            });
        }
        let steps = file.phases(ExperimentName::Run, setup.range, &setup.facts, each)?.into();
        let prepared = Prepared::new(ExperimentName::Run, &setup, FILLING);
        Ok(PlanRun { setup, file, each, prepared, steps, has_begun: false })
    }

    /// What of a scratch file was filled is all there is.
    fn begin(&mut self, so_far: &RunView<'_>) {
        self.has_begun = true;
        if !self.setup.empty {
            return;
        }
        self.steps.clear();
        if let Some(range) = self.prepared.range(self.setup.range, so_far)
            && let Ok(steps) = self.file.phases(ExperimentName::Run, range, &self.setup.facts, self.each)
        {
            self.steps = steps.into();
        }
    }
}

impl Experiment for PlanRun {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.prepared.next() {
            return Some(phase);
        }
        if !self.has_begun {
            self.begin(so_far);
        }
        let left = self.setup.time_limit.map(|limit| limit.saturating_sub(so_far.elapsed()));
        if left == Some(Nanos::ZERO) {
            return None;
        }
        let mut phase = self.steps.pop_front()?;
        phase.stop.time = [phase.stop.time, left].into_iter().flatten().min();
        Some(phase)
    }

    fn remaining(&self) -> Remaining {
        let mut steps = self.prepared.steps();
        steps.extend(self.steps.iter().map(step));
        Remaining { steps }
    }
}

/// A step is called by its name. How long one takes that ends with its bytes depends on the drive: a rate is assumed.
fn step(phase: &Phase) -> Step {
    let (bytes, reads, writes) = match &phase.workload {
        // What is discarded is lost as what is overwritten is.
        Some(workload) => (
            phase.stop.bytes_max(workload),
            workload.mix != OperationMix::Write && workload.mix != OperationMix::Discard,
            workload.mix.changes_data(),
        ),
        None => (None, false, false),
    };
    let by_bytes = bytes.and_then(|bytes| Nanos::from_secs_f64(bytes.as_f64() / ASSUMED_BYTES_PER_SECOND));
    let what = match (phase.stop.time, by_bytes) {
        (None, Some(_)) => format!("{}; the time is that at 100 MB/s", phase.name),
        _ => phase.name.clone(),
    };
    let none = Some(Bytes::ZERO);
    let time = phase.stop.time.or(by_bytes).unwrap_or_default();
    let (reads, writes) = (if reads { bytes } else { none }, if writes { bytes } else { none });
    Step { reads, writes, ..Step::lasting(what, 1, time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_file;
    use model::plan::PhaseKind;
    use model::range::ByteRange;
    use model::run::{Environment, MemorySeries};

    fn setup(may_write: bool) -> Setup {
        let facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
        let range = ByteRange::whole(facts.capacity);
        Setup { facts, range, may_write, empty: false, seed: 1, time_limit: None, precision: None }
    }

    #[test]
    fn the_steps_come_in_order_and_then_none() {
        let plan = pattern_file::named("jesd219").unwrap();
        let mut run = PlanRun::new(setup(true), plan.clone(), Some(Nanos::from_secs(60))).unwrap();
        assert_eq!(run.remaining().phases(), 2);
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let facts = setup(true).facts;
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        let kinds: Vec<PhaseKind> = std::iter::from_fn(|| run.next(&view)).map(|phase| phase.kind).collect();
        assert_eq!(kinds, [PhaseKind::Precondition, PhaseKind::Measure]);
        let refused = PlanRun::new(setup(false), plan, None).err().unwrap();
        assert!(matches!(refused, PlanError::NeedsWrite { .. }), "{refused}");
    }

    #[test]
    fn a_time_limit_cuts_the_last_step() {
        let plan = pattern_file::named("mixed-writes").unwrap();
        let setup = Setup { time_limit: Some(Nanos::from_secs(10)), ..setup(true) };
        let facts = setup.facts.clone();
        let mut run = PlanRun::new(setup, plan, None).unwrap();
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        assert_eq!(run.next(&view).unwrap().stop.time, Some(Nanos::from_secs(10)));
    }
}
