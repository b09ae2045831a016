//! What all commands do that measure: open the target, plan, run, and give the result.

use super::args::{MeasuringArguments, OutputArguments};
use super::resolve::Resolved;
use super::{open_store, output};
use crate::error::{UserError, exit};
use crate::experiment::{Experiment, Question};
use crate::interrupt;
use crate::screen::{Screen, plan};
use crate::session::Session;
use crate::stamp::{self, Occasion};
use crate::target_choice::{self, Chosen};
use io::clock::MonotonicClock;
use io::load::overhead;
use model::run::{Run, RunStatus};
use model::target::TargetKind;
use std::path::Path;

/// Runs an experiment that `plan_of` makes of the question; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(
    resolved: &Resolved,
    measuring: &MeasuringArguments,
    shown: &OutputArguments,
    store: Option<&Path>,
    plan_of: impl FnOnce(Question) -> Result<Box<dyn Experiment>, String>,
) -> Result<u8, UserError> {
    let chosen = target_choice::open(&resolved.choice)?;
    let mut experiment = plan_of(question(resolved, &chosen)).map_err(UserError::usage)?;
    if measuring.dry_run {
        let page = plan(&chosen.facts, &experiment.outlook(), output::page_style(shown.plain));
        output::print(&page)?;
        return Ok(exit::SUCCESS);
    }
    let store = open_store(store)?;
    let run = begin(experiment.name(), resolved, &chosen)?;
    let writer = store.begin(&run)?;
    let mut screen = Screen::new(shown.quiet, shown.plain);
    let session = Session {
        rig: chosen.rig,
        writer,
        run,
        events: &mut screen,
        interrupt: interrupt::flag()?,
        trace: measuring.trace,
        owed: None,
    };
    let run = session.run(experiment.as_mut())?;
    output::give(&run, shown)?;
    Ok(status(&run))
}

/// What the experiment is asked.
pub(super) fn question(resolved: &Resolved, chosen: &Chosen) -> Question {
    Question {
        facts: chosen.facts.clone(),
        range: chosen.range,
        may_write: chosen.may_write,
        empty: chosen.empty,
        seed: resolved.choice.seed,
        time_limit: resolved.time_limit,
        precision: resolved.precision,
    }
}

/// The header of the run; measures what the tool itself costs, except in virtual time.
pub(super) fn begin(
    experiment: &'static str,
    resolved: &Resolved,
    chosen: &Chosen,
) -> Result<Run, UserError> {
    let is_virtual = chosen.facts.kind == TargetKind::Sim;
    let overhead = if is_virtual { None } else { Some(overhead::measure(MonotonicClock::start())?) };
    let mut state_before = Vec::new();
    if chosen.empty {
        state_before.push("A new scratch file, which the run fills first.".to_string());
    }
    Ok(stamp::begin(Occasion {
        experiment,
        command: resolved.command.clone(),
        seed: resolved.choice.seed,
        facts: chosen.facts.clone(),
        profile: chosen.profile.as_deref(),
        rig: &chosen.rig,
        overhead,
        warnings: Vec::new(),
        state_before,
    }))
}

/// The exit status of a run that has ended.
pub(super) fn status(run: &Run) -> u8 {
    match run.status {
        RunStatus::Complete => exit::SUCCESS,
        RunStatus::Interrupted => exit::INTERRUPTED,
        RunStatus::Failed => exit::FAILURE,
    }
}
