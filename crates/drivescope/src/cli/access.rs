//! `drivescope access`.

use super::args::AccessArguments;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::access::{Access, AccessWish};
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &AccessArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run(name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, wish) = resolve::access(arguments)?;
    measure::run(&resolved, &arguments.experiment, store, |question| plan(wish, question))
}

/// The experiment that varies what was asked for.
pub(super) fn plan(wish: AccessWish, question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Access::new(question, wish)?))
}
