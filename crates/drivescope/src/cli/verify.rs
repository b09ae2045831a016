//! `drivescope verify`.

use super::args::VerifyArguments;
use super::resolve::VerifyAsked;
use super::stored::store_with_runs;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::verify::{NAME, Verify, VerifyWish, Work, last_marked};
use crate::experiment::{Experiment, Question};
use crate::session::resume::check_same_target;
use model::run::Run;
use model::target::{TargetFacts, TargetKind};
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &VerifyArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run(NAME, name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, asked) = resolve::verify(arguments)?;
    let written = asked.read_back.as_deref().map(|name| written_by(name, store)).transpose()?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| {
        plan(&asked, written, None, question)
    })?;
    Ok(measure::status(run.as_ref()))
}

/// The run that wrote what is to be compared.
pub(super) fn written_by(name: &str, store: Option<&Path>) -> Result<Run, UserError> {
    let store = store_with_runs(store)?;
    Ok(store.read(name)?.run)
}

/// The experiment; `written` is the run whose writes are compared, if only these are, and `key` the number by which a run that goes
/// on knows its own marks.
pub(super) fn plan(
    asked: &VerifyAsked,
    written: Option<Run>,
    key: Option<u64>,
    question: Question,
) -> Result<Box<dyn Experiment>, String> {
    let work = match written {
        Some(run) => Work::Read(to_compare(&run, &question.facts)?),
        None if asked.write_only => Work::Write,
        None => Work::Both,
    };
    if !question.may_write && !matches!(work, Work::Read(_)) {
        return Err(format!(
            "to verify is to write and to compare. Say --write if what is on {} may be lost, or name a folder for a scratch \
             file. To compare what a run wrote: --read-back RUN",
            question.facts.path
        ));
    }
    if question.facts.kind == TargetKind::Sim && matches!(work, Work::Read(_))
        || question.empty && work != Work::Both
    {
        return Err(
            "what a run wrote to it is gone with that run, so writing and comparing are one run there".into(),
        );
    }
    let is_virtual = question.facts.kind == TargetKind::Sim;
    let key = key.unwrap_or_else(|| if is_virtual { question.seed } else { drawn_key() });
    let wish = VerifyWish { full: asked.full, passes: asked.passes, preserves: asked.preserves, work, key };
    Ok(Box::new(Verify::new(question, wish)?))
}

/// A number that no run had before, below 2⁵³, so that every reader of JSON gets it whole: the keys of the standard library's
/// hasher are drawn from the system's randomness.
fn drawn_key() -> u64 {
    std::hash::RandomState::new().build_hasher().finish() >> 11
}

fn to_compare(run: &Run, now: &TargetFacts) -> Result<Vec<crate::experiment::verify::Marked>, String> {
    check_same_target(run, now)
        .map_err(|error| error.text.replace("cannot resume run", "cannot compare what was written by run"))?;
    let marked = last_marked(&run.phases);
    if marked.is_empty() {
        return Err(format!(
            "run {} wrote nothing that could be compared. Runs that did: drivescope runs, those of verify",
            run.id
        ));
    }
    Ok(marked)
}
