//! `drivescope run`: the steps of a plan, an Iometer file or a fio job file.

use super::args::RunPlanArguments;
use super::{measure, output, resolve, resume};
use crate::error::{UserError, exit};
use crate::experiment::plan_file::{NAME, PlanRun};
use crate::experiment::{Experiment, Question};
use crate::pattern_file::{self, PatternFile};
use model::units::Nanos;
use report::style::paragraph;
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &RunPlanArguments, store: Option<&Path>) -> Result<u8, UserError> {
    if arguments.list {
        output::print(&list(output::width()))?;
        return Ok(exit::SUCCESS);
    }
    if let Some(name) = &arguments.experiment.measuring.resume {
        return resume::run(NAME, name, Some(&arguments.writing), &arguments.experiment, store);
    }
    let (resolved, file, each) = resolve::run_plan(arguments)?;
    output::check(
        &arguments.experiment.output,
        &arguments.plan.as_deref().map(Path::new).into_iter().collect::<Vec<_>>(),
    )?;
    let run = measure::run(&resolved, &arguments.experiment, store, |question| {
        notes(&file, &question).iter().for_each(|note| output::say(note));
        plan(file, each, question)
    })?;
    Ok(measure::status(run.as_ref()))
}

/// The experiment that takes the steps.
pub(super) fn plan(
    file: PatternFile,
    each: Option<Nanos>,
    question: Question,
) -> Result<Box<dyn Experiment>, String> {
    Ok(Box::new(PlanRun::new(question, file, each)?))
}

/// Where it does less or something else than the file asks for.
pub(super) fn notes(file: &PatternFile, question: &Question) -> Vec<String> {
    let block = question.facts.logical_block;
    let rounded = file.has_sizes_below(block).then(|| {
        format!(
            "sizes that are no multiple of the target's blocks of {block} are rounded up to the next that is"
        )
    });
    file.notes.iter().cloned().chain(rounded).collect()
}

fn list(columns: usize) -> String {
    let mut page = String::from("Plans that come with drivescope\n");
    for plan in pattern_file::shipped() {
        let lines = paragraph(&format!("  {:19}", plan.name), &plan.description, columns);
        page += &format!("{}\n", lines.join("\n"));
    }
    page + "\nRun one: drivescope run NAME TARGET --write. What a file of your own may hold: docs/patterns.md\n"
}
