//! A run that is planned, begun in the store and carried out: what new runs, resumed ones and purges share.

use super::output;
use super::stored::open_store;
use crate::control::Controls;
use crate::error::{UserError, exit};
use crate::interrupt;
use crate::pattern_file;
use crate::preserve::{self, PreserveChoice, Preserving};
use crate::screen::{LookAgain, Screen};
use crate::session::Session;
use crate::stamp::{self, Occasion};
use crate::state;
use crate::store::{self, RunWriter};
use crate::target_choice::Chosen;
use experiment::request::{DriveOptions, DriveRequest, OutputOptions, Request, Supplies, WritingOptions};
use experiment::{Experiment, Setup};
use io::clock::MonotonicClock;
use io::load::overhead;
use io::rig::Rig;
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::run::{Asked, Consent, Run, RunStatus};
use model::target::TargetKind;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Arc;

/// A number that nobody chose: the keys of the standard library's hasher are drawn from the system's randomness. Kept below
/// 2⁵³, so that every reader of JSON gets it whole.
pub(super) fn random_seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish() >> 11
}

pub(super) fn supplies(request: &dyn DriveRequest) -> Result<Supplies, UserError> {
    let mut supplies = Supplies::default();
    for name in request.plan_names() {
        match pattern_file::find(name) {
            Ok(plan) => supplies.plans.insert(name.to_string(), plan),
            Err(error) => return Err(UserError::usage(error.to_string())),
        };
    }
    Ok(supplies)
}

pub(super) fn of_drive(request: &Request) -> &dyn DriveRequest {
    request.of_drive().expect("all requests but that to a file system are to a drive")
}

pub(super) fn of_drive_mut(request: &mut Request) -> &mut dyn DriveRequest {
    request.of_drive_mut().expect("all requests but that to a file system are to a drive")
}

/// What was begun with its journal; the journal goes where nothing was begun: it is empty.
pub(super) fn or_without_journal<T>(
    begun: Result<T, UserError>,
    preserving: Option<Preserving>,
) -> Result<(T, Option<Preserving>), UserError> {
    match begun {
        Ok(begun) => Ok((begun, preserving)),
        Err(error) => {
            if let Some(journal) = preserving {
                journal.finish()?;
            }
            Err(error)
        }
    }
}

/// The journal of a run that gives back what it overwrites. Data that another run still has to give back are said, and not overwritten.
pub(super) fn preserving(
    own: &dyn DriveRequest,
    chosen: &Chosen,
    experiment: &dyn Experiment,
    store: Option<&Path>,
) -> Result<Option<Preserving>, UserError> {
    let target = if chosen.empty { None } else { chosen.rig.target() };
    if let Some(warning) = preserve::look_for_unfinished(store, target, chosen.may_write)? {
        output::say(&warning);
    }
    let writing = &own.drive().writing;
    if !writing.preserve {
        return Ok(None);
    }
    let choice = PreserveChoice { folder: writing.journal.clone(), anyway: writing.journal_anyway };
    let whole = chosen.range.bytes();
    let at_once = experiment.conduct().preserved_at_once.or(experiment.remaining().writes());
    let wanted = at_once.unwrap_or(whole).min(whole);
    let is_marked = own.name() == ExperimentName::Verify;
    let preserving = Preserving::begin(&choice, store, &chosen.rig, wanted, is_marked)?;
    output::say(&preserving.announcement(wanted));
    Ok(Some(preserving))
}

pub(super) fn begin_in(
    experiment: ExperimentName,
    command: String,
    drive: &DriveOptions,
    chosen: &Chosen,
    store: Option<&Path>,
) -> Result<(RunWriter, Run), UserError> {
    let store = open_store(store)?;
    let mut run = begin(experiment, command, drive, chosen)?;
    let Some(target) = chosen.rig.target() else { return Ok((store.begin(&run)?, run)) };
    let Some(before) = state::before(&store, target) else { return Ok((store.begin(&run)?, run)) };
    run.state_before.extend(before.sentences);
    let mut writer = store.begin(&run)?;
    writer.keep_note(before.note)?;
    Ok((writer, run))
}

pub(super) struct Begun {
    pub rig: Rig,
    pub writer: RunWriter,
    pub run: Run,
    pub trace: bool,
    pub owed: Option<Phase>,
    pub preserving: Option<Preserving>,
}

pub(super) fn carry_out(
    begun: Begun,
    experiment: &mut dyn Experiment,
    shown: &OutputOptions,
) -> Result<Run, UserError> {
    let Begun { rig, writer, run, trace, owed, preserving } = begun;
    let controls = Arc::new(Controls::default());
    let folder = writer.folder().to_owned();
    let finished_folder = writer.finished_folder().to_owned();
    let look_again = findings_so_far(&folder);
    let mut screen = Screen::new(shown.quiet, shown.plain, Arc::clone(&controls), look_again);
    let interrupt = interrupt::flag()?;
    let events = &mut screen;
    let session =
        Session { rig, writer, run, events, interrupt, controls: &controls, trace, owed, preserving };
    let run = session.run(experiment);
    drop(screen);
    let run = run?;
    output::give_measured(&run, &finished_folder, shown)?;
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

pub(super) fn setup(drive: &DriveOptions, chosen: &Chosen) -> Setup {
    Setup {
        facts: chosen.facts.clone(),
        range: chosen.range,
        may_write: chosen.may_write,
        empty: chosen.empty,
        seed: drive.seed.unwrap_or_default(),
        time_limit: drive.time_limit,
        precision: drive.precision.map(model::share::Share::get),
    }
}

/// The header of the run; measures what the tool itself costs, except in virtual time.
pub(super) fn begin(
    experiment: ExperimentName,
    command: String,
    drive: &DriveOptions,
    chosen: &Chosen,
) -> Result<Run, UserError> {
    let is_virtual = chosen.facts.kind == TargetKind::Sim;
    let overhead = if is_virtual { None } else { Some(overhead::measure(MonotonicClock::start())?) };
    let mut state_before = Vec::new();
    if chosen.empty {
        let then = if experiment != ExperimentName::Verify { ", which the run fills first" } else { "" };
        state_before.push(format!("A new scratch file{then}."));
    }
    let consent = match &drive.writing {
        WritingOptions { write: false, .. } => Consent::Read,
        WritingOptions { preserve: false, .. } => Consent::Overwrite,
        _ => Consent::Preserve,
    };
    Ok(stamp::begin(Occasion {
        asked: Asked { experiment, consent },
        command,
        seed: drive.seed.unwrap_or_default(),
        facts: chosen.facts.clone(),
        profile: chosen.profile.as_deref(),
        engine: chosen.rig.engine(),
        direct: chosen.rig.is_direct(),
        overhead,
        warnings: Vec::new(),
        state_before,
    }))
}

pub(super) fn status(run: Option<&Run>) -> u8 {
    match run {
        Some(Run { status: RunStatus::Interrupted, .. }) => exit::INTERRUPTED,
        Some(Run { status: RunStatus::Failed, .. }) => exit::FAILURE,
        _ => exit::SUCCESS,
    }
}
