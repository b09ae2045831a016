//! `drivescope geometry`.

use super::args::GeometryArguments;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::geometry::Geometry;
use crate::experiment::{Experiment, Question};
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &GeometryArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("geometry", name, None, &arguments.experiment, store);
    }
    let resolved = resolve::geometry(arguments)?;
    let run = measure::run(&resolved, &arguments.experiment, store, plan)?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that answers a question.
pub(super) fn plan(question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Geometry::new(question)?))
}
