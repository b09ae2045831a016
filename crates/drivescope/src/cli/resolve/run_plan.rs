//! What the options of `run` mean.

use super::super::args::RunPlanArguments;
use super::{Resolved, experiment, option, quoted};
use crate::error::UserError;
use crate::pattern_file::{self, PatternFile};
use model::quantity_text::parse_duration;
use model::units::Nanos;

/// Reads the options of `run`, and the plan.
///
/// # Errors
/// Names the option or the line of the plan that makes no sense.
pub fn run_plan(arguments: &RunPlanArguments) -> Result<(Resolved, PatternFile, Option<Nanos>), UserError> {
    let RunPlanArguments { plan, experiment: typed, each: each_text, list: _, writing } = arguments;
    let plan = plan.as_deref().ok_or_else(|| UserError::usage("name a plan; --list shows some"))?;
    let each = option("--each", each_text.as_deref(), |text| match parse_duration(text)? {
        Nanos::ZERO => Err(UserError::usage("a step of no time shows nothing; give a time such as 60s")),
        each => Ok(each),
    })?;
    let file = pattern_file::find(plan).map_err(|error| UserError::usage(error.to_string()))?;
    let own = each_text.as_ref().map_or_else(Vec::new, |typed| vec!["--each".into(), quoted(typed)]);
    let resolved = experiment(&format!("run {}", quoted(plan)), &own, typed, Some(writing))?;
    Ok((resolved, file, each))
}
