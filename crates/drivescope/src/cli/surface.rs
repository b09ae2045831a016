//! `drivescope surface`.

use super::args::SurfaceArguments;
use super::resolve::SurfaceWay;
use super::{measure, resolve, resume};
use crate::error::UserError;
use crate::experiment::surface::adaptive::Adaptive;
use crate::experiment::surface::areas::Areas;
use crate::experiment::surface::full::Full;
use crate::experiment::{Experiment, Question};
use model::workload::OperationMix;
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &SurfaceArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("surface", name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, way) = resolve::surface(arguments)?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| plan(way, question))?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that goes over the drive that way: reads, and then writes where they are allowed.
pub(super) fn plan(way: SurfaceWay, question: Question) -> Result<Box<dyn Experiment>, String> {
    let mut mixes = vec![OperationMix::Read];
    if question.may_write {
        mixes.push(OperationMix::Write);
    }
    Ok(match way {
        SurfaceWay::Adaptive => Box::new(Adaptive::new(question, mixes)?),
        SurfaceWay::Full { verify: true } => Box::new(Full::new(question, mixes)?.verified()?),
        SurfaceWay::Full { verify: false } => Box::new(Full::new(question, mixes)?),
        SurfaceWay::Areas(count, size) => Box::new(Areas::new(question, mixes, count, size)?),
    })
}
