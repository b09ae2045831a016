//! What all commands do that measure: open the target, plan, run, and give the result.

use super::args::{ExperimentArguments, OutputArguments};
use super::resolve::Resolved;
use super::{open_store, output};
use crate::control::Controls;
use crate::error::{UserError, exit};
use crate::experiment::{Experiment, Question, verify};
use crate::interrupt;
use crate::preserve::{self, Preserving};
use crate::screen::{LookAgain, Screen, plan};
use crate::session::Session;
use crate::stamp::{self, Occasion};
use crate::state;
use crate::store::{self, RunWriter};
use crate::target_choice::{self, Chosen};
use io::clock::MonotonicClock;
use io::load::overhead;
use io::rig::Rig;
use model::plan::Phase;
use model::run::{Run, RunStatus};
use model::target::TargetKind;
use std::path::Path;
use std::sync::Arc;

/// Runs an experiment that `plan_of` makes of the question, and gives its result; none when it was only planned.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(
    resolved: &Resolved,
    typed: &ExperimentArguments,
    store: Option<&Path>,
    plan_of: impl FnOnce(Question) -> Result<Box<dyn Experiment>, String>,
) -> Result<Option<Run>, UserError> {
    let ExperimentArguments { target: _, measuring, output: shown } = typed;
    output::check(shown, &[Path::new(&resolved.choice.target)])?;
    let chosen = target_choice::open(&resolved.choice)?;
    let mut experiment = plan_of(question(resolved, &chosen)).map_err(UserError::usage)?;
    if measuring.dry_run {
        print_plan(&chosen, experiment.as_ref(), shown)?;
        return Ok(None);
    }
    let preserving = preserving(resolved, &chosen, experiment.as_ref(), store)?;
    let begun = begin_in(experiment.name(), resolved, &chosen, store);
    let ((writer, run), preserving) = or_without_journal(begun, preserving)?;
    let begun = Begun { rig: chosen.rig, writer, run, trace: measuring.trace, owed: None, preserving };
    carry_out(begun, experiment.as_mut(), shown).map(Some)
}

/// What was begun with its journal; the journal goes where nothing was begun: it is empty.
pub(super) fn or_without_journal<T>(
    begun: Result<T, UserError>,
    preserving: Option<Preserving>,
) -> Result<(T, Option<Preserving>), UserError> {
    match begun {
        Ok(begun) => Ok((begun, preserving)),
        Err(error) => {
            preserving.map_or(Ok(()), Preserving::finish)?;
            Err(error)
        }
    }
}

/// The journal of a run that gives back what it overwrites. Data that another run still has to give back are said, and nothing is
/// written over them.
pub(super) fn preserving(
    resolved: &Resolved,
    chosen: &Chosen,
    experiment: &dyn Experiment,
    store: Option<&Path>,
) -> Result<Option<Preserving>, UserError> {
    let is_scratch = chosen.empty;
    let target = chosen.rig.target().filter(|_| !is_scratch);
    if let Some(warning) = preserve::look_for_unfinished(store, target, chosen.may_write)? {
        output::say(&warning);
    }
    let Some(choice) = &resolved.choice.preserve else { return Ok(None) };
    let whole = chosen.range.bytes();
    let wanted = experiment
        .preserved_at_once()
        .or_else(|| experiment.outlook().writes())
        .map_or(whole, |bytes| bytes.min(whole));
    let is_marked = experiment.name() == verify::NAME;
    let preserving = Preserving::begin(choice, store, &chosen.rig, wanted, is_marked)?;
    output::say(&preserving.announcement(wanted));
    Ok(Some(preserving))
}

/// A run that has begun in the store, with what its drive went through before.
pub(super) fn begin_in(
    experiment: &'static str,
    resolved: &Resolved,
    chosen: &Chosen,
    store: Option<&Path>,
) -> Result<(RunWriter, Run), UserError> {
    let store = open_store(store)?;
    let mut run = begin(experiment, resolved, chosen)?;
    let before = chosen.rig.target().and_then(|target| state::before(&store, target));
    run.state_before.extend(before.iter().flat_map(|before| before.sentences.clone()));
    let mut writer = store.begin(&run)?;
    if let Some(before) = before {
        writer.keep_note(before.note)?;
    }
    Ok((writer, run))
}

/// Says what an experiment would do.
pub(super) fn print_plan(
    chosen: &Chosen,
    experiment: &dyn Experiment,
    shown: &OutputArguments,
) -> Result<(), UserError> {
    output::print(&plan(&chosen.facts, &experiment.outlook(), output::page_style(shown.plain)))
}

/// A run that is in the store and can go on.
pub(super) struct Begun {
    pub rig: Rig,
    pub writer: RunWriter,
    pub run: Run,
    /// Whether to keep every I/O.
    pub trace: bool,
    /// A phase that was cut short and is done before anything else.
    pub owed: Option<Phase>,
    /// What keeps what is overwritten, to give it back.
    pub preserving: Option<Preserving>,
}

/// Runs an experiment to its end and gives the result.
pub(super) fn carry_out(
    begun: Begun,
    experiment: &mut dyn Experiment,
    shown: &OutputArguments,
) -> Result<Run, UserError> {
    let Begun { rig, writer, run, trace, owed, preserving } = begun;
    let controls = Arc::new(Controls::default());
    let look_again = findings_so_far(writer.folder());
    let mut screen = Screen::new(shown.quiet, shown.plain, Arc::clone(&controls), look_again);
    let interrupt = interrupt::flag()?;
    let events = &mut screen;
    let session =
        Session { rig, writer, run, events, interrupt, controls: &controls, trace, owed, preserving };
    let run = session.run(experiment);
    // The terminal is given back before anything is said.
    drop(screen);
    let run = run?;
    output::give(&run, shown)?;
    Ok(run)
}

/// Looks at what a run under way has stored, as `show` would, as long as that is little to read.
pub(super) fn findings_so_far(folder: &Path) -> LookAgain {
    let folder = folder.to_owned();
    Box::new(move || {
        if store::bytes_in(&folder) > store::LOOK_AGAIN_BYTES_MAX {
            return None;
        }
        let stored = store::read_folder(&folder).ok()?;
        Some(analysis::analyse(&stored.run.view(&stored.series)))
    })
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
        let then = if experiment != verify::NAME { ", which the run fills first" } else { "" };
        state_before.push(format!("A new scratch file{then}."));
    }
    Ok(stamp::begin(Occasion {
        experiment,
        command: resolved.command.clone(),
        seed: resolved.choice.seed,
        facts: chosen.facts.clone(),
        profile: chosen.profile.as_deref(),
        engine: chosen.rig.engine(),
        direct: chosen.rig.is_direct(),
        overhead,
        warnings: Vec::new(),
        state_before,
    }))
}

/// The exit status of a run that has ended, or that was only planned.
pub(super) fn status(run: Option<&Run>) -> u8 {
    match run.map(|run| run.status) {
        None | Some(RunStatus::Complete) => exit::SUCCESS,
        Some(RunStatus::Interrupted) => exit::INTERRUPTED,
        Some(RunStatus::Failed) => exit::FAILURE,
    }
}
