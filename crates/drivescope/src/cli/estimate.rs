//! `drivescope estimate`: how long a pass, a backup, a rebuild or a surface check will take, from stored runs.

use super::args::EstimateArguments;
use super::output;
use super::stored::{all_analysed, drive_name, drive_names};
use crate::error::{UserError, exit};
use analysis::estimate::{
    Basis, DriveRates, RateCurve, RateUnknown, Work, WorkTime, depths_without_p99, rebuild, within_budget,
    work_time,
};
use model::range::ByteRange;
use model::run::Run;
use model::units::{Bytes, Nanos, Offset};
use report::json::estimate_document;
use report::quantity::{documented_capacity, size};
use report::terminal::{
    EstimatePage, EstimatedBudget, EstimatedDrive, EstimatedRow, EstimatedWork, Told, estimate_page,
};
use std::path::Path;

const ASSUMPTION: &str = "Assumes large sequential requests and no background load. Small files, other users, a slower link or copy \
                          program take longer; copying only used space takes less.";
const CONFIDENCE: &str = "Ranges are 95 % CIs.";
const WRITES_NOT_MEASURED: &str = "\"or more\": writes were not measured; they take at least as long as reads. To measure them: \
                                   drivescope surface TARGET --write.";

pub fn run(arguments: &EstimateArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let backup = backup(arguments)?;
    let runs = all_analysed(&arguments.runs, store)?;
    let runs: Vec<Run> = runs.into_iter().map(|stored| stored.run).collect();
    let drives: Vec<DriveRates> = runs.iter().map(DriveRates::of).collect();
    if let Some(range) = backup {
        must_fit(range, &runs)?;
    }
    let names = drive_names(&runs);
    let works = works(arguments, backup, &drives);
    let mut described = Vec::new();
    for ((run, drive), name) in runs.iter().zip(&drives).zip(names) {
        let (capacity, run) = (run.target.capacity, run.id.clone());
        // A latency budget rests on no throughput.
        let basis = if works.is_empty() { Vec::new() } else { basis(drive) };
        described.push(EstimatedDrive { name, capacity, run, basis });
    }
    let mut notes = Vec::new();
    if !works.is_empty() {
        notes.push(ASSUMPTION.to_owned());
    }
    if works.iter().flat_map(|work| &work.rows).any(|row| row.is_open) {
        notes.push(WRITES_NOT_MEASURED.to_owned());
    }
    notes.push(CONFIDENCE.to_owned());
    let budgets = match arguments.latency_budget {
        Some(budget) => budgets(&runs, budget),
        None => Vec::new(),
    };
    let page = EstimatePage { drives: described, works, budgets, notes };
    let mut is_known = page.budgets.iter().any(|budget| budget.outcome.is_ok());
    for row in page.works.iter().flat_map(|work| &work.rows) {
        is_known |= matches!(row.outcome, Told::Known(_));
    }
    output::give_page(|style| estimate_page(&page, style), &estimate_document(&page), &arguments.page)?;
    Ok(if is_known { exit::SUCCESS } else { exit::FAILURE })
}

fn budgets(runs: &[Run], budget: Nanos) -> Vec<EstimatedBudget> {
    let mut budgets = Vec::new();
    for (drive, run) in runs.iter().enumerate() {
        let outcome = match within_budget(run, budget.seconds()) {
            Ok(within) => Ok((within.at_once, within.iops, within.p99_s)),
            Err(why) => Err(why),
        };
        let without_p99 = depths_without_p99(run);
        budgets.push(EstimatedBudget { drive, budget_s: budget.seconds(), outcome, without_p99 });
    }
    budgets
}

pub(super) fn budget_page(run: &Run, budget: Nanos) -> EstimatePage {
    let runs = std::slice::from_ref(run);
    EstimatePage {
        drives: Vec::new(),
        works: Vec::new(),
        budgets: budgets(runs, budget),
        notes: vec![CONFIDENCE.to_owned()],
    }
}

/// Of several drives only the largest must be large enough; the rows of the others say so.
fn must_fit(range: ByteRange, runs: &[Run]) -> Result<(), UserError> {
    match runs.iter().max_by_key(|run| run.target.capacity) {
        Some(largest) if range.end().get() > largest.target.capacity.get() => Err(UserError::usage(format!(
            "--backup: {} from byte {} on do not fit on {}, which has {}. Give a smaller --backup or --from",
            size(range.bytes()),
            range.first().get(),
            drive_name(largest),
            size(largest.target.capacity)
        ))),
        _ => Ok(()),
    }
}

fn backup(arguments: &EstimateArguments) -> Result<Option<ByteRange>, UserError> {
    let Some(size) = arguments.backup else { return Ok(None) };
    match ByteRange::new(Offset::START + arguments.from.unwrap_or(Bytes::ZERO), size) {
        None => Err(UserError::usage("--from: the backup would end past 64 bits")),
        range => Ok(range),
    }
}

fn works(
    arguments: &EstimateArguments,
    backup: Option<ByteRange>,
    drives: &[DriveRates],
) -> Vec<EstimatedWork> {
    let EstimateArguments { full_pass, rebuild, surface_check, latency_budget, .. } = *arguments;
    // Without any option, all that needs no size is asked for.
    let is_all = !full_pass && backup.is_none() && !rebuild && !surface_check && latency_budget.is_none();
    let can_write = drives.iter().any(|drive| drive.write.is_ok());
    let mut works = Vec::new();
    if full_pass || is_all {
        works.push(of_each("full-read", "Read the whole drive", drives, None, Work::Read));
        if can_write {
            works.push(of_each("full-write", "Write the whole drive", drives, None, Work::Write));
        }
    }
    if let Some(range) = backup {
        let what = format!("{}{}", documented_capacity(range.bytes()), from(range));
        let to = format!("Write {what} (backup to it)");
        let of = format!("Read {what} (image or backup of it)");
        works.push(of_each("backup-read", &of, drives, Some(range), Work::Read));
        works.push(of_each("backup-write", &to, drives, Some(range), Work::Write));
    }
    if rebuild || is_all {
        works.push(rebuilt(drives));
    }
    if surface_check || is_all {
        let reads = "Check its surface by reading";
        works.push(of_each("surface-check", reads, drives, None, Work::Read));
        if can_write {
            let both = "Check its surface by writing and reading back";
            works.push(of_each("surface-check-write", both, drives, None, Work::WriteAndVerify));
        }
    }
    works
}

fn from(range: ByteRange) -> String {
    match range.first().get() {
        0 => String::new(),
        first => format!(" from {} on", documented_capacity(Bytes::new(first))),
    }
}

fn of_each(
    name: &'static str,
    what: &str,
    drives: &[DriveRates],
    range: Option<ByteRange>,
    work: fn(ByteRange) -> Work,
) -> EstimatedWork {
    let mut rows = Vec::new();
    for (index, drive) in drives.iter().enumerate() {
        let work = work(range.unwrap_or(ByteRange::whole(drive.capacity)));
        rows.push(row(index, work.range(), work_time(drive, work)));
    }
    EstimatedWork { name, what: what.into(), rows }
}

fn rebuilt(drives: &[DriveRates]) -> EstimatedWork {
    let smallest = drives.iter().map(|drive| drive.capacity).min().unwrap_or(Bytes::ZERO);
    let range = ByteRange::whole(smallest);
    let what = if drives.len() == 1 { "Rebuild it in a RAID" } else { "Rebuild a RAID of them" };
    let mut work = of_each("rebuild", what, drives, Some(range), Work::Rebuild);
    if drives.len() > 1 {
        let (slowest, time) = match rebuild(drives) {
            Ok((slowest, time)) => (slowest, Ok(time)),
            Err((index, why)) => (index, Err(why)),
        };
        work.rows.push(EstimatedRow { is_of_all: true, ..row(slowest, range, time) });
    }
    work
}

fn row(drive: usize, range: ByteRange, time: Result<WorkTime, RateUnknown>) -> EstimatedRow {
    let (outcome, is_open) = match time {
        Ok(time) => (Told::Known((time.seconds, time.bytes_per_second)), time.writes_are_as_reads),
        Err(why) => (Told::Unknown(why.to_string()), false),
    };
    EstimatedRow { drive, is_of_all: false, range, outcome, is_open }
}

pub(super) fn basis(drive: &DriveRates) -> Vec<String> {
    let mut sentences = vec![rests_on("Reads", &drive.read)];
    if drive.write.is_ok() {
        sentences.push(rests_on("Writes", &drive.write));
    }
    sentences.extend_from_slice(&drive.cautions);
    sentences
}

fn rests_on(what: &str, curve: &Result<RateCurve, RateUnknown>) -> String {
    let curve = match curve {
        Ok(curve) => curve,
        Err(why) => return format!("{what} are unknown: {why}"),
    };
    match curve.basis() {
        Basis::Zones(zones) => format!("{what}: {zones} zones."),
        Basis::Even => format!("{what} are equally fast everywhere."),
        Basis::Ends => format!(
            "{what}: start, end and mean only, so the time of a part is uncertain; `drivescope surface` finds the zones."
        ),
        Basis::Mean => format!("{what}: the mean only."),
    }
}
