//! What all commands do that measure a drive: open the target, plan, run, and give the result.

use super::begun_run::{self, Begun};
use super::estimate::budget_page;
use super::stored::store_with_runs;
use super::{command_line, dry_run, files, output, power_cut, resume, stored_request};
use crate::error::{UserError, exit};
use crate::session::resume::check_same_target;
use crate::target_choice;
use experiment::request::{Request, Supplies};
use experiment::verify::{Marked, VerifyRequest, last_marked};
use model::run::Run;
use model::target::{TargetFacts, TargetKind};
use model::units::Bytes;
use report::style::paragraph;
use report::terminal::estimate_page;
use std::path::Path;

pub fn run(mut request: Request, store: Option<&Path>) -> Result<u8, UserError> {
    match &request {
        Request::Files(files) => return files::run(files, store),
        Request::Verify(verify) if verify.power_cut.is_some() => return power_cut::run(verify),
        Request::Run(run) if run.list => {
            output::print(&plan_list(output::width()))?;
            return Ok(exit::SUCCESS);
        }
        _ => {}
    }
    let own = begun_run::of_drive_mut(&mut request);
    own.drive().check()?;
    if let Some(name) = own.drive().resume.clone() {
        return resume::run(&request, &name, store);
    }
    own.drive_mut().seed.get_or_insert_with(begun_run::random_seed);
    let run = run_new(&request, store)?;
    if let (Request::Access(access), Some(run)) = (&request, &run)
        && let (Some(budget), None, None) =
            (access.latency_budget, &access.drive.output.json, &access.drive.output.line)
    {
        let page = estimate_page(&budget_page(run, budget), output::page_style(access.drive.output.plain));
        output::print(&format!("\n{page}"))?;
    }
    let status = begun_run::status(run.as_ref());
    match &run {
        Some(run) => Ok(output::judged(run, &begun_run::of_drive(&request).drive().output, status)),
        None => Ok(status),
    }
}

fn run_new(request: &Request, store: Option<&Path>) -> Result<Option<Run>, UserError> {
    let own = begun_run::of_drive(request);
    let drive = own.drive();
    let mut supplies = begun_run::supplies(own)?;
    let mut written = None;
    if let Request::Verify(VerifyRequest { read_back: Some(name), .. }) = request {
        written = Some(store_with_runs(store)?.read(name)?.run);
    }
    // No result may be written over what the run is made from.
    let mut sources = vec![Path::new(&drive.target)];
    sources.extend(own.plan_names().into_iter().map(Path::new));
    output::check(&drive.output, &sources)?;
    let chosen = target_choice::open(drive, own.bytes_beside_scratch())?;
    notes(&supplies, chosen.facts.logical_block);
    let is_virtual = chosen.facts.kind == TargetKind::Sim;
    supplies.mark_key = if is_virtual { drive.seed.unwrap_or_default() } else { begun_run::random_seed() };
    if let Some(run) = written {
        supplies.marked = Some(to_compare(&run, &chosen.facts)?);
    }
    let mut experiment = experiment::plan(own, begun_run::setup(drive, &chosen), &supplies)?;
    if drive.dry_run {
        dry_run::give(own.name(), &chosen.facts, &experiment.remaining(), &drive.output)?;
        return Ok(None);
    }
    let preserving = begun_run::preserving(own, &chosen, experiment.as_ref(), store)?;
    let command = command_line::of_request(request);
    let begun = begun_run::begin_in(own.name(), command, drive, &chosen, store);
    let ((writer, run), preserving) = begun_run::or_without_journal(begun, preserving)?;
    stored_request::keep(writer.folder(), request)?;
    let begun = Begun { rig: chosen.rig, writer, run, trace: drive.trace, owed: None, preserving };
    begun_run::carry_out(begun, experiment.as_mut(), &drive.output).map(Some)
}

/// Says where a plan does less or something else than its file asks for.
fn notes(supplies: &Supplies, block: Bytes) {
    for plan in supplies.plans.values() {
        for note in &plan.notes {
            output::say(note);
        }
        if plan.has_sizes_below(block) {
            output::say(&format!(
                "sizes that are no multiple of the target's blocks of {block} are rounded up to the next that is"
            ));
        }
    }
}

fn plan_list(columns: usize) -> String {
    let mut page = String::from("Plans that come with drivescope\n");
    for plan in experiment::pattern_file::shipped() {
        let lines = paragraph(&format!("  {:19}", plan.name), &plan.description, columns);
        page += &format!("{}\n", lines.join("\n"));
    }
    page + "\nRun one: drivescope run NAME TARGET --write. Keys of your own plan: docs/reference/plans.md\n"
}

fn to_compare(run: &Run, now: &TargetFacts) -> Result<Vec<Marked>, UserError> {
    if let Err(error) = check_same_target(run, now) {
        let text = error.text.replace("cannot resume run", "cannot compare what was written by run");
        return Err(UserError::usage(text));
    }
    let marked = last_marked(&run.phases);
    if marked.is_empty() {
        return Err(UserError::usage(format!(
            "run {} wrote nothing that could be compared. Runs that did: drivescope runs, those of verify",
            run.id
        )));
    }
    Ok(marked)
}
