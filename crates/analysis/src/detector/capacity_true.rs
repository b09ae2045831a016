//! Whether a drive holds as much as it claims.
//! # What it finds
//! The real capacity, in bytes.
//! # Why it matters
//! Counterfeit sticks and cards claim more than they hold: writes past the end overwrite the start or are lost silently.
//! # How
//! Blocks that carry their offset are written. Where addresses wrap around, an offset never written shows another's block: their distance is the
//! capacity. Where writes are lost, the end is bisected until the last offset that holds and the first that does not are neighbours; so is the
//! end of a start that nothing wraps to, which the file system of a fake drive needs.
//! # Cannot tell when
//! Nothing was compared; only a part was probed; too few of the last probes were wrong; none held; or probes hold each other's data.
//! # Known problems
//! The quick test probes some hundred offsets and takes a drive to end once: one that loses an extent in its midst is
//! found by `--full`. A cache that keeps more writes than the test makes in between hides the end.
//! # References
//! Machado, "F3: an alternative to h2testw" (f3probe), 2010 to 2023: kinds of counterfeit drives, and how to tell them.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::integrity::{
    BLOCK_BYTES, Extent, Probes, TAIL_MIN, compared, compared_writes, extent, wrong_stretches,
};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    CapacityTrue, CapacityTrueUnknown, Finding, FindingCode, Outcome, PastTheEnd, WrongKind,
};
use model::run::RunView;
use model::units::Bytes;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::CapacityTrue], needs: &[Need::Phase], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if !compared(run).any(|(_, summary, _)| summary.phase.experiment == ExperimentName::Verify) {
        return Vec::new();
    }
    let evidence = compared(run).map(|(phase, summary, _)| summary.evidence(phase));
    vec![Finding::CapacityTrue(Outcome::of(capacity(run), evidence.take(3).collect()))]
}

fn capacity(run: &RunView<'_>) -> Result<CapacityTrue, CapacityTrueUnknown> {
    let claimed = run.target.capacity.get();
    let (capacity, past_the_end) = match extent(run).ok_or(CapacityTrueUnknown::NothingCompared)? {
        Extent::Wraps { period_bytes, spared: (from, to) } if period_bytes + from < claimed => {
            let (low, high) = ((period_bytes + from) as f64, (period_bytes + to) as f64);
            (Estimate { high, ..Estimate::exact(low) }, PastTheEnd::Wraps)
        }
        Extent::Ends { held_to, lost_from } => {
            (Estimate { high: lost_from as f64, ..Estimate::exact(held_to as f64) }, PastTheEnd::Lost)
        }
        Extent::Holds { .. } if let Some(first_byte) = redirected_from(run) => {
            return Err(CapacityTrueUnknown::Redirected { first_byte });
        }
        // The last block of a drive may be cut.
        Extent::Holds { to } if to >= claimed / BLOCK_BYTES * BLOCK_BYTES => {
            (Estimate::exact(claimed as f64), PastTheEnd::All)
        }
        Extent::Holds { to } | Extent::Wraps { period_bytes: to, .. } => {
            return Err(CapacityTrueUnknown::OnlyPart { held_to: Bytes::new(to) });
        }
        Extent::Unclear { wrong, held_to } => {
            return Err(CapacityTrueUnknown::TooFewLost { lost: wrong, held_to: Bytes::new(held_to) });
        }
        Extent::Nothing => return Err(CapacityTrueUnknown::NothingHeld),
    };
    let probes = if is_full(run) { None } else { Some(Probes::of(run).count()) };
    Ok(CapacityTrue { capacity, claimed_bytes: run.target.capacity, past_the_end, probes })
}

/// From where on places hold what was written for others, if chance would hardly leave all before them right.
fn redirected_from(run: &RunView<'_>) -> Option<u64> {
    let mut misplaced = Vec::new();
    for (number, _, _) in compared_writes(run) {
        for stretch in wrong_stretches(run.series.errors(number)) {
            if stretch.kind == WrongKind::Misplaced {
                misplaced.push(stretch.first);
            }
        }
    }
    if misplaced.len() < TAIL_MIN {
        return None;
    }
    let first_byte = *misplaced.iter().min()?;
    let behind = 1.0 - first_byte as f64 / run.target.capacity.as_f64();
    let chance = behind.powf(misplaced.len() as f64);
    (chance <= 0.5_f64.powf(TAIL_MIN as f64)).then_some(first_byte)
}

fn is_full(run: &RunView<'_>) -> bool {
    let mut bytes = 0;
    for (_, summary, _) in compared_writes(run) {
        bytes += summary.bytes();
    }
    bytes >= run.target.capacity.get()
}
