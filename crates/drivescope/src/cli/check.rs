//! `drivescope check`.

use super::args::CheckArguments;
use super::{measure, resolve};
use crate::error::UserError;
use crate::experiment::check::Check;
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &CheckArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let resolved = resolve::check(arguments)?;
    measure::run(&resolved, &arguments.measuring, &arguments.output, store, plan)
}

/// The experiment that answers a question.
pub(super) fn plan(question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Check::new(question)?))
}
