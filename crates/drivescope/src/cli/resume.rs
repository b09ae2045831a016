//! `--resume RUN`: goes on with a run that was interrupted or killed. What it does is what its own command says.

use super::args::{
    Arguments, Command, ExperimentArguments, OutputArguments, VerifyArguments, WritingArguments,
};
use super::measure::Begun;
use super::resolve::{self, Resolved};
use super::stored::store_with_runs;
use super::{access, check, geometry, measure, output, run_plan, sizes, surface, sustain, valleys, verify};
use crate::error::UserError;
use crate::experiment::{Experiment, Question};
use crate::preserve::Preserving;
use crate::session::resume;
use crate::store::{Store, StoreError};
use crate::target_choice::{self, Chosen};
use clap::Parser;
use model::run::Run;
use model::target::TargetKind;
use model::units::Nanos;
use model::workload::{DataPattern, Workload};
use report::quantity::rough_time;
use std::path::Path;

/// What a stored command asks for.
struct Repeated {
    resolved: Resolved,
    trace: bool,
    plan_of: PlanOf,
}

/// What makes an experiment of a question.
type PlanOf = Box<dyn FnOnce(Question) -> Result<Box<dyn Experiment>, String>>;

/// Goes on with a run of that command; the exit status. Consent to write is given anew with `writing`: it was given once, for once.
///
/// # Errors
/// When there is no such run, it is complete, its target is not the one it was, or it cannot be gone on with.
pub fn run(
    command: &str,
    name: &str,
    writing: Option<&WritingArguments>,
    typed: &ExperimentArguments,
    store: Option<&Path>,
) -> Result<u8, UserError> {
    let (dry_run, shown) = (typed.measuring.dry_run, &typed.output);
    let store = store_with_runs(store)?;
    let kept = store.read(name)?;
    if kept.under_way {
        return Err(StoreError::UnderWay { id: kept.run.id }.into());
    }
    let Repeated { resolved, trace, plan_of } = repeated(&kept.run, writing)?;
    if Path::new(&resolved.choice.target).is_dir() {
        return Err(UserError::failure(format!(
            "cannot resume run {}: its scratch file was removed when it ended. Begin a new run: {}",
            kept.run.id, kept.run.command
        )));
    }
    output::check(shown, &[Path::new(&resolved.choice.target)])?;
    let chosen = target_choice::open(&resolved.choice)?;
    let mut experiment = plan_of(measure::question(&resolved, &chosen)).map_err(UserError::usage)?;
    check_same(&kept.run, experiment.name(), &resolved, &chosen)?;
    if experiment.name() != command {
        return Err(UserError::usage(format!(
            "run {} is one of `{}`. Go on with it by: drivescope {} --resume {}",
            kept.run.id,
            experiment.name(),
            experiment.name(),
            kept.run.id
        )));
    }
    if dry_run {
        resume::catch_up(experiment.as_mut(), &kept.run, &kept.series)?;
        measure::print_plan(&chosen, experiment.as_ref(), shown)?;
        return Ok(measure::status(None));
    }
    let folder = store.folder().to_owned();
    let preserving = measure::preserving(&resolved, &chosen, experiment.as_ref(), Some(&folder))?;
    go_on(&store, &kept.run.id, chosen, experiment.as_mut(), trace, preserving, shown)
}

fn go_on(
    store: &Store,
    id: &str,
    mut chosen: Chosen,
    experiment: &mut dyn Experiment,
    trace: bool,
    preserving: Option<Preserving>,
    shown: &OutputArguments,
) -> Result<u8, UserError> {
    let resumed = store.resume(id).map_err(UserError::from).and_then(|(writer, kept)| {
        kept.damage.iter().for_each(|damage| output::say(damage));
        let owed = resume::catch_up(experiment, &kept.run, &kept.series)?;
        Ok((writer, kept, owed))
    });
    let ((writer, kept, owed), preserving) = measure::or_without_journal(resumed, preserving)?;
    let end = resume::end_of(&kept.run.phases, &kept.series);
    chosen.rig.go_on_from(end);
    let mut run = kept.run;
    run.state_after.clear();
    run.environment.warnings.push(format!(
        "The run was interrupted after {} and resumed later; its clock does not count the time in between",
        rough_time(Nanos(end.0))
    ));
    let begun = Begun { rig: chosen.rig, writer, run, trace, owed, preserving };
    let run = measure::carry_out(begun, experiment, shown)?;
    Ok(measure::status(Some(&run)))
}

/// A run of `verify` goes on with its own marks.
fn verify_again(run: &Run, typed: &VerifyArguments) -> Result<Repeated, UserError> {
    let (resolved, asked) = resolve::verify(typed)?;
    if let Some(name) = &asked.read_back {
        return Err(UserError::failure(format!(
            "run {} only compares, so begin it anew: drivescope verify {} --read-back {name}",
            run.id, run.target.path
        )));
    }
    if typed.writing.preserve {
        // The marks that it looks for were overwritten when the data were given back.
        return Err(UserError::failure(format!(
            "cannot resume run {}: what it had written was given back when it stopped, so begin it anew: {}",
            run.id, run.command
        )));
    }
    let key = key_of(run);
    let plan_of: PlanOf = Box::new(move |question| verify::plan(&asked, None, key, question));
    Ok(Repeated::new(&typed.experiment, resolved, plan_of))
}

/// The number by which a run knows its own marks, if it has made any.
fn key_of(run: &Run) -> Option<u64> {
    let workloads = run.phases.iter().filter_map(|summary| summary.phase.workload.as_ref());
    let key = |workload: &Workload| match workload.data {
        DataPattern::Marked(mark) => Some(mark.key),
        _ => None,
    };
    workloads.filter_map(key).next()
}

/// What the command of a run asks for. It was written by this program, but may have been altered since.
fn repeated(run: &Run, writing: Option<&WritingArguments>) -> Result<Repeated, UserError> {
    let unreadable = || {
        UserError::failure(format!(
            "cannot resume run {}: its command `{}` is none that can be resumed. Begin a new run",
            run.id, run.command
        ))
    };
    let arguments =
        words(&run.command).and_then(|words| Arguments::try_parse_from(words).ok()).ok_or_else(unreadable)?;
    match arguments.command {
        Some(Command::Check(mut typed)) => {
            typed.writing.renew(run, writing)?;
            Ok(Repeated::new(&typed.experiment, resolve::check(&typed)?, Box::new(check::plan)))
        }
        Some(Command::Surface(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, way) = resolve::surface(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| surface::plan(way, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Access(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, wish) = resolve::access(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| access::plan(wish, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Sustain(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, wish) = resolve::sustain(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| sustain::plan(wish, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Valleys(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, wish) = resolve::valleys(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| valleys::plan(wish, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Run(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, file, each) = resolve::run_plan(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| run_plan::plan(file, each, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Sizes(mut typed)) => {
            typed.writing.renew(run, writing)?;
            let (resolved, wish) = resolve::sizes(&typed)?;
            let plan_of: PlanOf = Box::new(move |question| sizes::plan(wish, question));
            Ok(Repeated::new(&typed.experiment, resolved, plan_of))
        }
        Some(Command::Verify(mut typed)) => {
            typed.writing.renew(run, writing)?;
            verify_again(run, &typed)
        }
        Some(Command::Geometry(typed)) => {
            Ok(Repeated::new(&typed.experiment, resolve::geometry(&typed)?, Box::new(geometry::plan)))
        }
        _ => Err(unreadable()),
    }
}

impl Repeated {
    fn new(typed: &ExperimentArguments, resolved: Resolved, plan_of: PlanOf) -> Repeated {
        Repeated { resolved, trace: typed.measuring.trace, plan_of }
    }
}

impl WritingArguments {
    /// The consents of now take the place of those of then. Whether the run writes stays as it was.
    fn renew(&mut self, run: &Run, now: Option<&WritingArguments>) -> Result<(), UserError> {
        let writes_now = now.is_some_and(|now| now.write);
        if self.write && !writes_now {
            return Err(UserError::usage(format!(
                "run {} writes to {}, so going on with it needs the consent again: add --write, with --confirm and \
                 --destroy-data as they are needed",
                run.id, run.target.path
            )));
        }
        if writes_now && !self.write {
            return Err(UserError::usage(format!("run {} only reads; leave --write out", run.id)));
        }
        if now.is_some_and(|now| now.preserve != self.preserve) {
            return Err(UserError::usage(format!(
                "run {} is gone on with as it was begun: {} --preserve",
                run.id,
                if self.preserve { "with" } else { "without" }
            )));
        }
        self.destroy_data = now.is_some_and(|now| now.destroy_data);
        self.confirm = now.and_then(|now| now.confirm.clone());
        Ok(())
    }
}

/// Whether the target is the one of the run. The name of a run of a virtual drive is drawn from all that decides it.
fn check_same(
    run: &Run,
    experiment: &'static str,
    resolved: &Resolved,
    chosen: &Chosen,
) -> Result<(), UserError> {
    resume::check_same_target(run, &chosen.facts)?;
    if chosen.facts.kind != TargetKind::Sim {
        return Ok(());
    }
    let repeated = Resolved { command: run.command.clone(), ..resolved.clone() };
    if measure::begin(experiment, &repeated, chosen)?.id == run.id {
        return Ok(());
    }
    Err(UserError::failure(format!(
        "cannot resume run {}: the profile of {} or the version of drivescope is another one since. Begin a new run: {}",
        run.id, run.target.path, run.command
    )))
}

/// The words of a command as a shell reads them, as far as commands of runs need it: plain words and single quotes.
/// None when a quote has no end.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' => words.extend(word.take()),
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inside => quoted.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::super::resolve::quoted;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_command_is_read_as_a_shell_reads_it() {
        let command = r"drivescope surface '/tmp/it'\''s a disk' --full --seed 7";
        let expected = ["drivescope", "surface", "/tmp/it's a disk", "--full", "--seed", "7"];
        assert_eq!(words(command).unwrap(), expected);
        assert_eq!(words("drivescope 'surface"), None);
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(typed in prop::collection::vec("\\PC{1,20}", 1..5)) {
            let command: Vec<String> = typed.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(words(&command.join(" ")), Some(typed));
        }
    }
}
