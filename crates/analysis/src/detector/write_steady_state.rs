//! Throughput of sustained random writes.
//! # What it finds
//! The throughput to which random writes settle, once steady by SNIA's two criteria.
//! # Why it matters
//! The first minutes say little of a load that goes on: random writes to flash settle at a tenth, to SMR at a thirtieth.
//! # How
//! The last half of what was written is cut into five rounds of equal bytes. Steady: their rates lie within 20 % of their mean,
//! and their line of least squares moves by at most 10 % of it. Half of all leaves time to settle.
//! # Cannot tell when
//! The criteria are not met; flash was written over less than twice, before which free space hides the cost of garbage
//! collection; a cliff came too late, or a disk may have a media cache to fill. Nothing is said where the writes ended with the search for a cliff.
//! # Known problems
//! The slope is over the window, as in SNIA. fio's `iops_slope` is per sample: 10 % there are 40 % over the window.
//! # References
//! SNIA, "Solid State Storage (SSS) Performance Test Specification", version 2.0.2, 2020: steady state, preconditioning.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::moving_parts::turns;
use crate::recording::Probes;
use crate::stats::CONFIDENCE;
use crate::sustained::{
    DISK_SETTLED, History, Standing, WRITTEN_OVER_MIN, rounds, standing, steady_bytes_max,
};
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, Outcome, WriteSteadyState, WriteSteadyStateUnknown};
use model::run::RunView;
use model::units::Bytes;
use model::workload::Pattern;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::WriteSteadyState],
    needs: &[Need::Asked(ExperimentName::Sustain)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some(history) = History::of(run) else { return Vec::new() };
    if history.workload.pattern == Pattern::Sequential {
        return Vec::new();
    }
    let outcome = match steady_state(run, &history) {
        Ok(steady) => Outcome::known(steady, evidence_of_phases(run, &history.first_phases())),
        Err(reason) if was_asked(&history) => Outcome::Unknown(reason),
        Err(_) => return Vec::new(),
    };
    vec![Finding::WriteSteadyState(outcome).with_caveats(&doubts(run))]
}

/// Whether writes went on past a certain cliff, or past the search for one.
fn was_asked(history: &History<'_>) -> bool {
    history.written() >= WRITTEN_OVER_MIN * history.span as f64 || history.went_on()
}

fn steady_state(
    run: &RunView<'_>,
    history: &History<'_>,
) -> Result<WriteSteadyState, WriteSteadyStateUnknown> {
    if history.is_in_no_time(run) {
        return Err(WriteSteadyStateUnknown::NoTime);
    }
    let rounds = rounds(history.first()).ok_or(WriteSteadyStateUnknown::TooShort)?;
    let is_disk = turns(run) == Some(true);
    let times_written = history.written() / history.span as f64;
    if !is_disk && times_written < WRITTEN_OVER_MIN {
        return Err(WriteSteadyStateUnknown::TooLittleWritten { times: times_written });
    }
    let limit = steady_bytes_max(Bytes::new(history.span), is_disk);
    let limit = if history.written() >= limit.as_f64() { Some(limit) } else { None };
    if let Standing::Falling = standing(history.first()) {
        return Err(WriteSteadyStateUnknown::StillFalling { limit });
    }
    let (range_ratio, slope_ratio) = (rounds.range_ratio, rounds.slope_ratio);
    if !rounds.are_steady() {
        return Err(WriteSteadyStateUnknown::Unsteady { range_ratio, slope_ratio, limit });
    }
    let probes = Probes::of(run, &ExperimentName::Sustain);
    if history.written() < DISK_SETTLED
        && matches!(probes, Some(probes) if probes.may_have_media_cache_to_fill(run))
    {
        return Err(WriteSteadyStateUnknown::CacheToFill);
    }
    Ok(WriteSteadyState {
        rate: rounds.mean.interval(CONFIDENCE),
        rounds: rounds.bytes_per_second,
        range_ratio,
        slope_ratio,
        written_bytes: history.written(),
        times_written,
    })
}
