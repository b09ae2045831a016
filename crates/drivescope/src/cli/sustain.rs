//! `drivescope sustain`.

use super::args::SustainArguments;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::sustain::{Sustain, SustainWish};
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &SustainArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("sustain", name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, wish) = resolve::sustain(arguments)?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| plan(wish, question))?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that writes as was asked for.
pub(super) fn plan(wish: SustainWish, question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Sustain::new(question, wish)?))
}
