//! `drivescope sizes`.

use super::args::SizesArguments;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::sizes::{Sizes, SizesWish};
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &SizesArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("sizes", name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, wish) = resolve::sizes(arguments)?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| plan(wish, question))?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that goes through the sizes.
pub(super) fn plan(wish: SizesWish, question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Sizes::new(question, wish)?))
}
