//! A run as it was kept, and what its records say of what its facts do not hold.

use crate::document::{self, Facts};
use crate::error::{Damage, StoreError};
use crate::run_folder::{RUN_FILE, is_being_written};
use crate::stored_series::StoredSeries;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, Run, RunStatus, Series};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Debug)]
pub struct StoredRun {
    /// Its facts. The totals of its phases have the histograms of the histogram series; a phase that the program was killed in has the totals of
    /// its intervals. A run that has no end is interrupted. Its findings follow from the series.
    pub run: Run,
    pub series: StoredSeries,
    pub damage: Vec<Damage>,
    /// Whether a process writes it now. The series then grow from pass to pass.
    pub under_way: bool,
}

/// The name of a phase of which nothing but records was kept.
pub const LOST_PHASE: &str = "a phase that was not noted before the program was killed";

pub(crate) fn facts(folder: &Path) -> Result<Facts, StoreError> {
    let path = folder.join(RUN_FILE);
    let bytes = fs::read(&path).map_err(StoreError::system("read", &path))?;
    // Bytes that are no text fail as JSON, with the line where they do.
    let text = String::from_utf8_lossy(&bytes);
    match document::from_json(&text) {
        Ok(facts) => Ok(facts),
        Err(source) => Err(StoreError::Document { path, source }),
    }
}

pub(crate) fn read(id: &str, folder: &Path) -> Result<StoredRun, StoreError> {
    // First the lock: a writer that ends in between leaves final facts.
    let was_being_written = is_being_written(folder);
    let mut run = facts(folder)?.run;
    let mut damage = Vec::new();
    if run.id != id {
        damage.push(Damage::Renamed { folder: id.into(), id: run.id.clone() });
    }
    let under_way = run.finished.is_none() && was_being_written;
    if run.finished.is_none() {
        run.status = RunStatus::Interrupted;
    }
    let series = StoredSeries::open(folder, under_way, &mut damage)?;
    restore_unfinished_totals(&mut run.phases, &series, 0);
    restore_histograms(&mut run.phases, &series);
    Ok(StoredRun { run, series, damage, under_way })
}

/// With hundreds of phases the facts are not written at every one: after a kill records can be of phases that the facts
/// do not know. They get a phase each, since the next needs a number of its own.
pub(crate) fn add_lost_phases(run: &mut Run, series: &StoredSeries) {
    let first_lost = run.phases.len() as u32;
    let mut began: BTreeMap<u32, u64> = BTreeMap::new();
    for interval in series.all_intervals() {
        began.entry(interval.phase).or_insert(interval.start_ns);
    }
    let end = match began.keys().next_back() {
        Some(last) => last.saturating_add(1),
        None => 0,
    };
    let experiment = match run.phases.last() {
        Some(last) => last.phase.experiment.clone(),
        None => "".into(),
    };
    for number in first_lost..end {
        let phase = Phase {
            name: LOST_PHASE.into(),
            experiment: experiment.clone(),
            kind: PhaseKind::WarmUp,
            workload: None,
            stop: StopCondition::default(),
        };
        run.phases.push(PhaseSummary::begun(phase, began.get(&number).copied().unwrap_or_default()));
    }
    assert!(run.phases.len() as u32 >= end, "every record has a phase");
    restore_unfinished_totals(&mut run.phases[first_lost as usize..], series, first_lost);
}

/// A phase that the program was killed in has no totals in the facts: its intervals have them.
fn restore_unfinished_totals(phases: &mut [PhaseSummary], series: &StoredSeries, first: u32) {
    for (number, phase) in (first..).zip(phases) {
        if phase.stopped.is_some() || !phase.totals.is_empty() {
            continue;
        }
        let mut totals: BTreeMap<Operation, OperationTotals> = BTreeMap::new();
        for interval in series.intervals(number) {
            let operation = interval.operation;
            let total = totals.entry(operation).or_insert(OperationTotals::none(operation));
            total.operations = total.operations.saturating_add(interval.operations);
            total.bytes = total.bytes.saturating_add(interval.bytes);
            total.errors = total.errors.saturating_add(interval.errors);
            let end_ns = interval.end_ns();
            phase.duration_ns = phase.duration_ns.max(end_ns.saturating_sub(phase.start_ns));
        }
        phase.totals = totals.into_values().collect();
    }
}

fn restore_histograms(phases: &mut [PhaseSummary], series: &StoredSeries) {
    for record in series.histograms() {
        let Some(phase) = phases.get_mut(record.phase as usize) else { continue };
        let total = phase.totals.iter_mut().find(|total| total.operation == record.operation);
        if let Some(total) = total {
            total.histogram.merge(&record.histogram);
        }
    }
}
