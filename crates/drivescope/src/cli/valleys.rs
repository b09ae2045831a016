//! `drivescope valleys`.

use super::args::ValleysArguments;
use super::{measure, output, resolve, resume, run_plan};
use crate::error::UserError;
use crate::experiment::valleys::{Condition, Valleys, ValleysWish};
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &ValleysArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("valleys", name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, wish) = resolve::valleys(arguments)?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| {
        for condition in &wish.conditions {
            if let Condition::File(file, _) = condition {
                run_plan::notes(file, &question).iter().for_each(|note| output::say(note));
            }
        }
        plan(wish, question)
    })?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that passes over the drive as was asked for.
pub(super) fn plan(wish: ValleysWish, question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Valleys::new(question, wish)?))
}
