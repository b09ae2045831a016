//! How long a drive took to wake up.
//!
//! # What it finds
//! The time from the first read of the run to its answer, when the drive slept.
//! # Why it matters
//! Whoever comes first after a pause waits that long; programs with shorter time limits fail. The rest of the run is not touched by it.
//! # How
//! The first read is one of the random reads that wake the drive before anything is measured. A drive that is awake answers within some
//! tens of milliseconds; half a second is the limit from which answers are counted as late elsewhere.
//! # Cannot tell when
//! The reads before the measurement were not kept one by one.
//! # Known problems
//! A drive that has trouble with the very first place looks asleep.
//! # References
//! ATA/ATAPI Command Set (ACS-3), power management: a drive in standby takes up to 30 s to answer.

use super::wording::short_time;
use super::{Detector, Need};
use crate::measured::{evidence_of_phases, random_visits};
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::RunView;
use model::units::Nanos;

/// See the head of this file.
pub(super) struct WakeUp;

/// An answer from there on is late: no seek and turn takes so long.
const LATE_NS: u64 = 500_000_000;
/// Others that must have been answered in time, so that it was sleep and not the drive's way.
const OTHERS_MIN: u64 = 30;
const IN_TIME_SHARE_MIN: f64 = 0.99;

impl Detector for WakeUp {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::WakeUp]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        found(run).into_iter().collect()
    }
}

fn found(run: &RunView<'_>) -> Option<Finding> {
    let (phase, _) = (0u32..).zip(run.phases).find(|(_, summary)| summary.phase.kind == PhaseKind::WarmUp)?;
    let done = run.series.ios(phase).filter(|io| io.status.is_done());
    let first = done.min_by_key(|io| io.submitted_ns)?;
    let first_ns = first.completed_ns.saturating_sub(first.intended_ns);
    if first_ns < LATE_NS || !others_are_in_time(run) {
        return None;
    }
    let seconds = first_ns as f64 / 1e9;
    let statement = format!(
        "The drive slept: its first answer took {}, and those after it hardly any time.",
        short_time(seconds)
    );
    let evidence = evidence_of_phases(run, &[phase]);
    let finding = Finding::number(FindingCode::WakeUp, Estimate::exact(seconds), "s", statement, evidence)
        .with_advice(
            "Programs that use it after a pause need time limits longer than that, or must keep it awake.",
        );
    Some(finding)
}

/// Whether single reads that were measured later were answered in time.
fn others_are_in_time(run: &RunView<'_>) -> bool {
    let (mut count, mut in_time) = (0, 0);
    for visit in
        random_visits(run, Operation::Read).iter().filter(|visit| visit.workload.in_flight_max() == 1)
    {
        if let Some(totals) = visit.summary.totals_of(Operation::Read) {
            count += totals.histogram.count();
            in_time += totals.histogram.count_below(Nanos(LATE_NS));
        }
    }
    count >= OTHERS_MIN && in_time as f64 >= IN_TIME_SHARE_MIN * count as f64
}
