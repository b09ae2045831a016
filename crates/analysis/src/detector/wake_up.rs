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
use crate::measured::evidence_of_phases;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
use model::plan::PhaseKind;
use model::run::RunView;

/// See the head of this file.
pub(super) struct WakeUp;

/// An answer from there on is late: no seek and turn takes so long.
const LATE_NS: u64 = 500_000_000;
/// Others that must have been answered in time, so that it was sleep and not the drive's way.
const OTHERS_MIN: usize = 5;

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
    let mut ios: Vec<_> = run.series.ios(phase).filter(|io| io.status.is_done()).collect();
    ios.sort_by_key(|io| io.submitted_ns);
    let latencies: Vec<u64> = ios.iter().map(|io| io.completed_ns - io.intended_ns).collect();
    let (&first, others) = latencies.split_first()?;
    let is_asleep =
        first >= LATE_NS && others.len() >= OTHERS_MIN && others.iter().all(|&other| other < LATE_NS);
    is_asleep.then(|| {
        let seconds = first as f64 / 1e9;
        let statement = format!(
            "The drive slept: its first answer took {}, all others after it less than half a second.",
            short_time(seconds)
        );
        let evidence = evidence_of_phases(run, &[phase]);
        Finding::number(FindingCode::WakeUp, Estimate::exact(seconds), "s", statement, evidence).with_advice(
            "Programs that use it after a pause need time limits longer than that, or keep it awake.",
        )
    })
}
