//! `--dry-run`: what a run would do, as a page or as a document.

use super::args::{OutputArguments, PageArguments};
use super::output;
use crate::error::UserError;
use crate::screen::plan;
use experiment::{Remaining, Step};
use model::experiment_name::ExperimentName;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};
use serde::Serialize;

/// Schema `drivescope.dry-run/1`. Keys may be added; none is renamed or changes its meaning or unit.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.dry-run/1")]
pub(super) struct DryRunDocument<'plan> {
    experiment: ExperimentName,
    target: &'plan TargetFacts,
    writes: bool,
    likely_ns: Option<Nanos>,
    /// None where bytes bound the run, and no time does.
    longest_ns: Option<Nanos>,
    /// None where time bounds the run, and no bytes do.
    bytes_read_max: Option<Bytes>,
    bytes_written_max: Option<Bytes>,
    phases: u32,
    steps: Vec<StepDocument<'plan>>,
}

/// All phases of one kind, which share a line of the page.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StepDocument<'plan> {
    what: &'plan str,
    phases: u32,
    likely_ns: Option<Nanos>,
    longest_ns: Option<Nanos>,
    bytes_read_max: Option<Bytes>,
    bytes_written_max: Option<Bytes>,
}

impl<'plan> StepDocument<'plan> {
    fn of(step: &'plan Step) -> StepDocument<'plan> {
        StepDocument {
            what: &step.what,
            phases: step.phases,
            likely_ns: Remaining::bounded(step.likely),
            longest_ns: Remaining::bounded(step.time),
            bytes_read_max: step.reads,
            bytes_written_max: step.writes,
        }
    }
}

pub fn give(
    experiment: ExperimentName,
    target: &TargetFacts,
    remaining: &Remaining,
    shown: &OutputArguments,
) -> Result<(), UserError> {
    let document = DryRunDocument {
        experiment,
        target,
        writes: remaining.writes() != Some(Bytes::ZERO),
        likely_ns: Remaining::bounded(remaining.likely_time()),
        longest_ns: Remaining::bounded(remaining.time()),
        bytes_read_max: remaining.reads(),
        bytes_written_max: remaining.writes(),
        phases: remaining.phases(),
        steps: remaining.steps.iter().map(StepDocument::of).collect(),
    };
    let arguments = PageArguments { json: shown.json.clone(), plain: shown.plain };
    output::give_page(|style| plan(target, remaining, style), &document, &arguments)
}
