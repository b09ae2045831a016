//! `drivescope estimate`: how long a pass, a backup, a rebuild or a surface check will take, from runs that are kept.

use super::args::EstimateArguments;
use super::output;
use super::resolve::{EstimateWish, estimate as resolve};
use super::stored::{all_analysed, drive_name, drive_names};
use crate::error::{UserError, exit};
use analysis::estimate::{Basis, DriveRates, RateCurve, Work, WorkTime, rebuild, within_budget, work_time};
use model::range::ByteRange;
use model::run::Run;
use model::units::{Bytes, Nanos};
use report::json::estimate_document;
use report::quantity::{capacity, size};
use report::terminal::{
    EstimatePage, EstimatedBudget, EstimatedDrive, EstimatedRow, EstimatedWork, estimate_page,
};
use std::path::Path;

/// What holds for every estimate.
const ASSUMPTION: &str = "For drives that do nothing else meanwhile and large requests in order. Small files, other users, a \
                          slower link or copy program make it longer; whoever copies only what is in use is done sooner.";
/// What the ranges mean.
const CONFIDENCE: &str = "A range holds the true number with 95 % confidence.";
/// Of times without an upper end.
const WRITES_NOT_MEASURED: &str = "Where it says \"or more\", writes were not measured: they take as long as reads, or \
                                   longer. To measure them: drivescope surface TARGET --write.";

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, or the work does not fit on its drive.
pub fn run(arguments: &EstimateArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let wish = resolve(arguments)?;
    let runs = all_analysed(&wish.runs, store)?;
    let runs: Vec<Run> = runs.into_iter().map(|stored| stored.run).collect();
    let drives: Vec<DriveRates> = runs.iter().map(DriveRates::of).collect();
    if let Some(range) = wish.backup {
        must_fit(range, &runs)?;
    }
    let names = drive_names(&runs);
    let described =
        runs.iter().zip(&drives).zip(names).map(|((run, drive), name)| described(run, drive, name));
    let works = works(&wish, &drives);
    let is_open = works.iter().flat_map(|work| &work.rows).any(|row| row.is_open);
    let is_of_work = !works.is_empty();
    let notes = [is_of_work.then_some(ASSUMPTION), is_open.then_some(WRITES_NOT_MEASURED), Some(CONFIDENCE)];
    let page = EstimatePage {
        drives: described.collect(),
        works,
        budgets: wish.latency_budget.map_or(Vec::new(), |budget| budgets(&runs, budget)),
        notes: notes.into_iter().flatten().map(str::to_owned).collect(),
    };
    let is_known = page.works.iter().flat_map(|work| &work.rows).any(|row| row.outcome.is_ok())
        || page.budgets.iter().any(|budget| budget.outcome.is_ok());
    let text = |style| estimate_page(&page, style);
    output::give_page(text, || estimate_document(&page), &arguments.page)?;
    Ok(if is_known { exit::SUCCESS } else { exit::FAILURE })
}

/// How many requests a second each of these runs has within a latency.
fn budgets(runs: &[Run], budget: Nanos) -> Vec<EstimatedBudget> {
    let of_run = |(drive, run): (usize, &Run)| {
        let outcome = within_budget(run, budget.seconds());
        let outcome = outcome.map(|within| (within.at_once, within.iops, within.p99_s));
        EstimatedBudget { drive, budget_s: budget.seconds(), outcome }
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// The page of one run that was just made, about its latency alone.
pub(super) fn budget_page(run: &Run, budget: Nanos) -> EstimatePage {
    let runs = std::slice::from_ref(run);
    EstimatePage {
        drives: Vec::new(),
        works: Vec::new(),
        budgets: budgets(runs, budget),
        notes: vec![CONFIDENCE.to_owned()],
    }
}

/// Of several drives some may be too small; then their rows say so.
fn must_fit(range: ByteRange, runs: &[Run]) -> Result<(), UserError> {
    let fits = |run: &&Run| range.end().0 <= run.target.capacity.0;
    match runs.iter().max_by_key(|run| run.target.capacity) {
        Some(largest) if !runs.iter().any(|run| fits(&run)) => Err(UserError::usage(format!(
            "--backup: {} from byte {} on do not fit on {}, which holds {}. Give a smaller --backup or --from",
            size(range.bytes()),
            range.first().0,
            drive_name(largest),
            size(largest.target.capacity)
        ))),
        _ => Ok(()),
    }
}

fn works(wish: &EstimateWish, drives: &[DriveRates]) -> Vec<EstimatedWork> {
    let whole = |drive: &DriveRates| ByteRange::whole(drive.capacity);
    let can_write = drives.iter().any(|drive| drive.write.is_ok());
    let mut works = Vec::new();
    if wish.full_pass {
        works.push(of_each("full-read", "Read all of it once", drives, |drive| Work::Read(whole(drive))));
        if can_write {
            works.push(of_each("full-write", "Write all of it once", drives, |drive| {
                Work::Write(whole(drive))
            }));
        }
    }
    if let Some(range) = wish.backup {
        let what = format!("{}{}", capacity(range.bytes()), from(range));
        let to = format!("Write {what} (backup to it)");
        let of = format!("Read {what} (image or backup of it)");
        works.push(of_each("backup-read", &of, drives, |_| Work::Read(range)));
        works.push(of_each("backup-write", &to, drives, |_| Work::Write(range)));
    }
    if wish.rebuild {
        works.push(rebuilt(drives));
    }
    if wish.surface_check {
        let reads = "Check its surface by reading";
        works.push(of_each("surface-check", reads, drives, |drive| Work::Read(whole(drive))));
        if can_write {
            let both = "Check its surface by writing and reading back";
            works.push(of_each("surface-check-write", both, drives, |drive| {
                Work::WriteAndVerify(whole(drive))
            }));
        }
    }
    works
}

fn from(range: ByteRange) -> String {
    match range.first().0 {
        0 => String::new(),
        first => format!(" from {} on", capacity(Bytes(first))),
    }
}

fn of_each(
    name: &'static str,
    what: &str,
    drives: &[DriveRates],
    work: impl Fn(&DriveRates) -> Work,
) -> EstimatedWork {
    let rows = drives.iter().enumerate().map(|(index, drive)| {
        let work = work(drive);
        row(index, work.range(), work_time(drive, work))
    });
    EstimatedWork { name, what: what.into(), rows: rows.collect() }
}

/// Each drive by itself, and of several how long all of them take together.
fn rebuilt(drives: &[DriveRates]) -> EstimatedWork {
    let smallest = drives.iter().map(|drive| drive.capacity).min().unwrap_or(Bytes::ZERO);
    let range = ByteRange::whole(smallest);
    let what = if drives.len() == 1 { "Rebuild it in a RAID" } else { "Rebuild a RAID of them" };
    let mut work = of_each("rebuild", what, drives, |_| Work::Rebuild(range));
    if drives.len() > 1 {
        let together = match rebuild(drives) {
            Ok((slowest, time)) => row(slowest, range, Ok(time)),
            Err((index, why)) => row(index, range, Err(why)),
        };
        work.rows.push(EstimatedRow { is_of_all: true, ..together });
    }
    work
}

fn row(drive: usize, range: ByteRange, time: Result<WorkTime, String>) -> EstimatedRow {
    let is_of_reads = time.as_ref().is_ok_and(|time| time.writes_are_as_reads);
    let outcome = time.map(|time| (time.seconds, time.bytes_per_second));
    EstimatedRow { drive, is_of_all: false, range, outcome, is_open: is_of_reads }
}

fn described(run: &Run, drive: &DriveRates, name: String) -> EstimatedDrive {
    EstimatedDrive { name, capacity: run.target.capacity, run: run.id.clone(), basis: basis(drive) }
}

/// What is known of a drive's rates, and what to be careful about.
pub(super) fn basis(drive: &DriveRates) -> Vec<String> {
    let mut sentences = vec![rests_on("Reads", &drive.read)];
    if drive.write.is_ok() {
        sentences.push(rests_on("Writes", &drive.write));
    }
    sentences.extend(drive.cautions.iter().cloned());
    sentences
}

fn rests_on(what: &str, curve: &Result<RateCurve, String>) -> String {
    let curve = match curve {
        Ok(curve) => curve,
        Err(why) => return format!("{what} are not known: {why}"),
    };
    match curve.basis() {
        Basis::Zones(zones) => format!("{what}: {zones} zones."),
        Basis::Even => format!("{what} are equally fast everywhere."),
        Basis::Ends => format!(
            "{what}: start, end and mean only, so that a part is known to a wide range; `drivescope surface` finds the \
             zones."
        ),
        Basis::Mean => format!("{what}: the mean only."),
    }
}
