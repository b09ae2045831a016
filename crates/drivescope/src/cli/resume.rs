//! `--resume RUN`: goes on with a run that was interrupted or killed, as it was asked for.

use super::args::{Arguments, Command};
use super::begun_run::{self, Begun};
use super::stored::store_with_runs;
use super::{command_line, dry_run, output, settings, stored_request};
use crate::configuration;
use crate::error::UserError;
use crate::preserve::Preserving;
use crate::session::resume;
use crate::store::{RunWriter, Store, StoreError, StoredRun};
use crate::target_choice::{self, Chosen};
use clap::{FromArgMatches, Parser};
use experiment::Experiment;
use experiment::request::{DriveOptions, DriveRequest, Request, WritingOptions};
use experiment::verify::VerifyRequest;
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::run::Run;
use model::target::TargetKind;
use model::units::Nanos;
use model::workload::DataPattern;
use report::quantity::rough_time;
use std::path::Path;

/// Goes on with a run; the exit status. Beside its name are the consents to write, given for once, and where the result goes.
pub fn run(typed: &Request, name: &str, store: Option<&Path>) -> Result<u8, UserError> {
    refuse_other_options(typed, name)?;
    let typed = begun_run::of_drive(typed);
    let (given, shown) = (typed.drive(), &typed.drive().output);
    let store = store_with_runs(store)?;
    let kept = store.read(name)?;
    if kept.under_way {
        return Err(StoreError::UnderWay { id: kept.run.id }.into());
    }
    let mut request = match stored_request::of_run(&store, &kept.run.id)? {
        Some(request) => request,
        None => request_of(&kept.run)?,
    };
    if matches!(&request, Request::Verify(VerifyRequest { read_back: Some(_), .. })) {
        return Err(UserError::failure(format!(
            "run {} only compares. Begin a new run: {}",
            kept.run.id, kept.run.command
        )));
    }
    let Some(own) = request.of_drive_mut() else { return Err(unreadable(&kept.run)) };
    if own.name() != typed.name() {
        return Err(UserError::usage(format!(
            "run {} is one of `{experiment}`. Resume it with: drivescope {experiment} --resume {}",
            kept.run.id,
            kept.run.id,
            experiment = own.name()
        )));
    }
    renew(&mut own.drive_mut().writing, &given.writing, &kept.run)?;
    let drive = own.drive();
    if Path::new(&drive.target).is_dir() {
        return Err(UserError::failure(format!(
            "cannot resume run {}: its scratch file was removed when it ended. Begin a new run: {}",
            kept.run.id, kept.run.command
        )));
    }
    // A run of `verify` goes on with its own marks, as long as they are there.
    if own.name() == ExperimentName::Verify && drive.writing.preserve {
        return Err(UserError::failure(format!(
            "cannot resume run {}: its writes were undone when it stopped. Begin a new run: {}",
            kept.run.id, kept.run.command
        )));
    }
    output::check(shown, &[Path::new(&drive.target)])?;
    let mut supplies = begun_run::supplies(own)?;
    let chosen = target_choice::open(drive, own.bytes_beside_scratch())?;
    supplies.mark_key = key_of(&kept.run).unwrap_or(drive.seed.unwrap_or_default());
    let mut experiment = experiment::plan(own, begun_run::setup(drive, &chosen), &supplies)?;
    check_same(&kept.run, own, &chosen)?;
    if given.dry_run {
        resume::catch_up(experiment.as_mut(), &kept.run, &kept.series)?;
        dry_run::give(own.name(), &chosen.facts, &experiment.remaining(), shown)?;
        return Ok(begun_run::status(None));
    }
    let folder = store.folder().to_owned();
    let preserving = begun_run::preserving(own, &chosen, experiment.as_ref(), Some(&folder))?;
    let run = go_on(&store, &kept.run.id, chosen, experiment.as_mut(), preserving, drive.trace, given)?;
    Ok(output::judged(&run, shown, begun_run::status(Some(&run))))
}

fn go_on(
    store: &Store,
    id: &str,
    mut chosen: Chosen,
    experiment: &mut dyn Experiment,
    preserving: Option<Preserving>,
    trace: bool,
    given: &DriveOptions,
) -> Result<Run, UserError> {
    let resumed = take_up(store, id, experiment);
    let ((writer, kept, owed), preserving) = begun_run::or_without_journal(resumed, preserving)?;
    let end = resume::end_of(&kept.run.phases, &kept.series);
    chosen.rig.go_on_from(end);
    let mut run = kept.run;
    run.state_after.clear();
    run.environment.warnings.push(format!(
        "The run was interrupted after {} and resumed later; its clock does not count the time in between",
        rough_time(Nanos::new(end.get()))
    ));
    let begun = Begun { rig: chosen.rig, writer, run, trace, owed, preserving };
    begun_run::carry_out(begun, experiment, &given.output)
}

/// Opens a run to go on with, with the phase that it owes.
fn take_up(
    store: &Store,
    id: &str,
    experiment: &mut dyn Experiment,
) -> Result<(RunWriter, StoredRun, Option<Phase>), UserError> {
    let (writer, kept) = store.resume(id)?;
    for damage in &kept.damage {
        output::say(&damage.to_string());
    }
    let owed = resume::catch_up(experiment, &kept.run, &kept.series)?;
    Ok((writer, kept, owed))
}

fn refuse_other_options(typed: &Request, name: &str) -> Result<(), UserError> {
    let mut plain = typed.clone();
    let own = begun_run::of_drive_mut(&mut plain);
    own.drive_mut().writing = WritingOptions::default();
    // What is set by configuration was not typed.
    let experiment = own.name();
    let words = ["drivescope", experiment.name(), "--resume", name];
    let bare = settings::configured(&configuration::read()?)?.try_get_matches_from(words);
    if let Ok(bare) = bare.and_then(|matches| Arguments::from_arg_matches(&matches))
        && let Some(Command::Measure(bare)) = bare.command
        && command_line::of_request(&plain) == command_line::of_request(&bare)
    {
        return Ok(());
    }
    Err(UserError::usage(
        "--resume repeats the options of the run: it takes no target and no options but --write with its consents, --dry-run and output options",
    ))
}

fn request_of(run: &Run) -> Result<Request, UserError> {
    if let Some(words) = shlex::split(&run.command)
        && let Ok(Arguments { command: Some(Command::Measure(request)), .. }) =
            Arguments::try_parse_from(words)
    {
        return Ok(request);
    }
    Err(unreadable(run))
}

fn unreadable(run: &Run) -> UserError {
    UserError::failure(format!(
        "cannot resume run {}: its command `{}` is none that can be resumed. Begin a new run",
        run.id, run.command
    ))
}

fn key_of(run: &Run) -> Option<u64> {
    for summary in &run.phases {
        if let Some(workload) = &summary.phase.workload
            && let DataPattern::Marked(mark) = workload.data
        {
            return Some(mark.key);
        }
    }
    None
}

/// The consents of now take the place of those of then. Whether the run writes stays as it was.
fn renew(then: &mut WritingOptions, now: &WritingOptions, run: &Run) -> Result<(), UserError> {
    if then.write && !now.write {
        return Err(UserError::usage(format!(
            "run {} writes to {}, so resuming it needs consent again: add --write, with --confirm and --destroy-data as they \
             are needed",
            run.id, run.target.path
        )));
    }
    if now.write && !then.write {
        return Err(UserError::usage(format!("run {} only reads; leave --write out", run.id)));
    }
    if now.preserve != then.preserve {
        return Err(UserError::usage(format!(
            "run {} must be resumed with the options that it began with: {} --preserve",
            run.id,
            if then.preserve { "with" } else { "without" }
        )));
    }
    then.destroy_data = now.destroy_data;
    then.confirm = now.confirm.clone();
    Ok(())
}

/// Whether the target is the one of the run. The name of a run of a virtual drive is drawn from all that decides it.
fn check_same(run: &Run, own: &dyn DriveRequest, chosen: &Chosen) -> Result<(), UserError> {
    resume::check_same_target(run, &chosen.facts)?;
    if chosen.facts.kind != TargetKind::Sim {
        return Ok(());
    }
    if begun_run::begin(own.name(), run.command.clone(), own.drive(), chosen)?.id == run.id {
        return Ok(());
    }
    Err(UserError::failure(format!(
        "cannot resume run {}: the profile of {} or the version of drivescope has changed since. Begin a new run: {}",
        run.id, run.target.path, run.command
    )))
}
