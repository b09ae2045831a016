//! What a detector is, and what a run must hold for it to be asked.

use crate::examined::Examined;
use crate::measured::{Visit, is_measurement, is_surveyed, measurements, random_groups, sequential_visits};
use crate::stated::EXPERIMENT;
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

pub struct Detector {
    pub codes: &'static [FindingCode],
    /// What the run must hold for its question to have been asked: any one of these.
    pub needs: &'static [Need],
    /// What it finds. Called only when one of the needs is met.
    pub detect: fn(&Examined<'_>) -> Vec<Finding>,
}

/// Whether a phase may tell how fast the drive is: those of some experiments change what they measure.
fn is_of_speed(visit: &Visit<'_>) -> bool {
    !matches!(
        visit.summary.phase.experiment,
        ExperimentName::Sustain | ExperimentName::Valleys | ExperimentName::Sizes
    )
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    Measurement,
    /// Measured sequential phases of that operation, of an experiment that leaves the drive as it is.
    Sequential(Operation),
    Random(Operation),
    Survey(Operation),
    /// Measured phases of that experiment. Who made the phases tells whether a question was asked.
    Asked(ExperimentName),
    Files,
    Phase,
}

impl Need {
    pub(super) const SURVEYED: &[Need] = &[Need::Survey(Operation::Read), Need::Survey(Operation::Write)];
    pub(super) const SURVEYED_OR_STATED: &[Need] =
        &[Need::Survey(Operation::Read), Need::Survey(Operation::Write), Need::Asked(EXPERIMENT)];

    pub fn is_met(&self, run: &RunView<'_>) -> bool {
        match self {
            Need::Phase => !run.phases.is_empty(),
            Need::Files => run.phases.iter().any(|summary| summary.files.is_some()),
            Need::Measurement => run.phases.iter().any(is_measurement),
            Need::Asked(experiment) => {
                measurements(run).any(|summary| summary.phase.experiment == *experiment)
            }
            Need::Sequential(operation) => sequential_visits(run, *operation).iter().any(is_of_speed),
            Need::Survey(operation) => is_surveyed(run, *operation),
            Need::Random(operation) => random_groups(run, *operation).values().flatten().any(is_of_speed),
        }
    }
}
