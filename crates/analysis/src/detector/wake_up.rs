//! Wake-up from standby.
//! # What it finds
//! The latency of the first read of the run, when the drive was in standby.
//! # Why it matters
//! The first request after a pause waits that long; programs with shorter timeouts fail.
//! # How
//! The first of the random reads that warm the drive up. Awake it takes some tens of milliseconds; half a second is late.
//! # Cannot tell when
//! The warm-up reads were not traced one by one.
//! # Known problems
//! A drive that has trouble with the very first offset looks asleep.
//! # References
//! ATA/ATAPI Command Set (ACS-3), power management: a drive in standby takes up to 30 s to answer.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, random_visits};
use model::finding::{Finding, FindingCode, Outcome, WakeUp};
use model::plan::PhaseKind;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::Nanos;

/// No seek and revolution takes so long.
const LATE: Nanos = Nanos::from_millis(500);
/// Later reads that must have completed in time, so that it was standby and not the drive's way.
const OTHERS_MIN: u64 = 30;
const IN_TIME_SHARE_MIN: f64 = 0.99;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::WakeUp], needs: &[Need::Phase], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some((phase, latency)) = first_latency(run) else { return Vec::new() };
    if latency < LATE || !others_are_in_time(run) {
        return Vec::new();
    }
    let wake_up = WakeUp { latency_s: latency.seconds() };
    vec![Finding::WakeUp(Outcome::known(wake_up, evidence_of_phases(run, &[phase])))]
}

fn first_latency(run: &RunView<'_>) -> Option<(u32, Nanos)> {
    let (phase, _) = (0u32..).zip(run.phases).find(|(_, summary)| summary.phase.kind == PhaseKind::WarmUp)?;
    let done = run.series.ios(phase).filter(IoRecord::is_done);
    let first = done.min_by_key(|io| io.submitted_ns)?;
    Some((phase, Nanos::new(first.completed_ns.saturating_sub(first.intended_ns))))
}

fn others_are_in_time(run: &RunView<'_>) -> bool {
    let (mut count, mut in_time) = (0, 0);
    for sample in random_visits(run, Operation::Read) {
        if sample.workload.in_flight_max() > 1 {
            continue;
        }
        if let Some(totals) = sample.summary.totals_of(Operation::Read) {
            count += totals.histogram.count();
            in_time += totals.histogram.count_below(LATE);
        }
    }
    count >= OTHERS_MIN && in_time as f64 >= IN_TIME_SHARE_MIN * count as f64
}
