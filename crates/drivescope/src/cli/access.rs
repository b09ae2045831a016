//! `drivescope access`.

use super::args::AccessArguments;
use super::estimate::budget_page;
use super::{measure, output, resolve, resume};
use crate::error::UserError;
use crate::experiment::access::{Access, AccessWish};
use crate::experiment::{Experiment, Question};
use report::terminal::estimate_page;
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &AccessArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run("access", name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, wish) = resolve::access(arguments)?;
    let budget = resolve::latency_budget_of(arguments.grid.latency_budget.as_deref())?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| plan(wish, question))?;
    let shown = &arguments.experiment.output;
    if let (Some(run), Some(budget)) = (&run, budget)
        && shown.json.is_none()
    {
        let page = estimate_page(&budget_page(run, budget), output::page_style(shown.plain));
        output::print(&format!("\n{page}"))?;
    }
    Ok(measure::status(run.as_ref()))
}

/// The experiment that varies what was asked for.
pub(super) fn plan(wish: AccessWish, question: Question) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(Access::new(question, wish)?))
}
