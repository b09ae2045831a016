//! Requests that failed.
//!
//! # What it finds
//! The ranges in which requests failed for a reason that lies with the drive: medium errors, no answer in time, fewer
//! bytes than asked for, and any error number without a name.
//! # Why it matters
//! What cannot be read is lost, and a drive that has begun to lose blocks tends to lose more.
//! # How
//! The failed requests, sorted by place and joined across gaps of up to 16 MiB: what one flaw touches, such as a scratch
//! over a few tracks on each surface, is one range. A range is as fine as the requests that failed. A flush that fails has no place, and
//! what fails from the moment on from which nothing succeeds anywhere is no place either.
//! # Cannot tell when
//! Nothing failed: a check that visits part of a drive does not show that the rest is sound. When a target refused
//! requests (no permission, wrong size, no space), that says nothing of the medium.
//! # Known problems
//! A check reads a small part of a drive: no failed request says little of the rest. Of more than 10,000 errors in a phase the places of the
//! later ones are not kept, only their number.
//! # References
//! Bairavasundaram et al., "An analysis of latent sector errors in disk drives", SIGMETRICS 2007: 20 to 60 % of errors
//! lie within 10 MB of another.

use super::wording::size;
use super::{Detector, Need};
use crate::measured::evidence_of_phases;
use crate::silence::Silence;
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode};
use model::record::ErrorRecord;
use model::request::{Operation, Status};
use model::run::RunView;
use model::units::MIB;

/// See the head of this file.
pub(super) struct BadBlocks;

const JOIN_GAP_BYTES: u64 = 16 * MIB;
/// Ranges listed in a finding; all are counted.
const LISTED_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Region {
    first_byte: u64,
    end_byte: u64,
    requests: u64,
}

impl Detector for BadBlocks {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::BadBlocks]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let with_errors = run.phases.iter().enumerate().filter(|(_, summary)| summary.errors() > 0);
        let (of_medium, others): (Vec<ErrorRecord>, Vec<ErrorRecord>) = with_errors
            .flat_map(|(phase, _)| run.series.errors(phase as u32))
            .partition(|error| is_of_medium(error.status));
        let silence = Silence::of(run);
        let has_place = |error: &ErrorRecord| {
            error.operation != Operation::Flush && silence.is_none_or(|silence| error.at_ns < silence.from_ns)
        };
        let in_places: Vec<ErrorRecord> = of_medium.iter().copied().filter(has_place).collect();
        match (in_places.is_empty(), of_medium.first()) {
            (false, _) => vec![found(run, &join(&in_places), &in_places, silence)],
            (true, Some(first)) => vec![nowhere(first, of_medium.len(), silence)],
            (true, None) => refused(&others).into_iter().collect(),
        }
    }
}

fn is_of_medium(status: Status) -> bool {
    matches!(status, Status::MediumError | Status::TimedOut | Status::Short | Status::Other(_))
}

/// Failures that say nothing of the medium: nothing could be told, and why.
fn refused(errors: &[ErrorRecord]) -> Option<Finding> {
    let is_told_elsewhere =
        |error: &&ErrorRecord| error.status == Status::DeviceGone || error.status.is_wrong_data();
    let mut errors = errors.iter().filter(|error| !is_told_elsewhere(error));
    let first = errors.next()?;
    let why = format!(
        "{} requests failed, the first at byte {} with: {}. That says nothing of the medium.",
        errors.count() + 1,
        first.offset_bytes,
        first.status.describe()
    );
    Some(Finding::unknown(FindingCode::BadBlocks, why))
}

/// Failures without a place.
fn nowhere(first: &ErrorRecord, failed: usize, silence: Option<Silence>) -> Finding {
    let why = match silence {
        Some(silence) => format!(
            "From {:.1} s on no request succeeded, wherever it went, and before that none failed: that says nothing of single blocks.",
            silence.from_ns as f64 / 1e9
        ),
        None => format!(
            "{failed} flushes failed, the first {:.1} s after the start, which says nothing of a place: what was written before may not \
             be kept.",
            first.at_ns as f64 / 1e9
        ),
    };
    Finding::unknown(FindingCode::BadBlocks, why)
}

fn found(run: &RunView<'_>, regions: &[Region], errors: &[ErrorRecord], silence: Option<Silence>) -> Finding {
    let counted: u64 = run.phases.iter().map(|summary| summary.errors()).sum();
    let before = counted.saturating_sub(silence.map_or(0, |silence| silence.failed));
    let failed = before.max(errors.len() as u64);
    let statement = format!(
        "{failed} requests failed, in {} {}; the first at byte {} ({}): {}.",
        regions.len(),
        if regions.len() == 1 { "place" } else { "places" },
        regions[0].first_byte,
        size(regions[0].first_byte),
        errors[0].status.describe(),
    );
    let listed = regions.iter().take(LISTED_MAX).map(|region| {
        Datum::record([
            ("first_byte", Datum::Integer(region.first_byte)),
            ("bytes", Datum::Integer(region.end_byte - region.first_byte)),
            ("count", Datum::Integer(region.requests)),
        ])
    });
    Finding::number(
        FindingCode::BadBlocks,
        Estimate::exact(regions.len() as f64),
        "count",
        statement,
        evidence(run, errors),
    )
    .with_advice(
        "Copy what you need from the drive now. Then look at its SMART counters (`smartctl -a`): if reallocated or \
         pending sectors grow, replace it.",
    )
    .with_data("regions", Datum::List(listed.collect()))
    .with_data("errors", Datum::Integer(failed))
    .with_data("regions_left_out", Datum::Integer(regions.len().saturating_sub(LISTED_MAX) as u64))
}

fn evidence(run: &RunView<'_>, errors: &[ErrorRecord]) -> Vec<Evidence> {
    let mut phases: Vec<u32> = errors.iter().map(|error| error.phase).collect();
    phases.dedup();
    evidence_of_phases(run, &phases)
}

fn join(errors: &[ErrorRecord]) -> Vec<Region> {
    let mut spans: Vec<(u64, u64)> = errors
        .iter()
        .map(|error| (error.offset_bytes, error.offset_bytes.saturating_add(u64::from(error.length_bytes))))
        .collect();
    spans.sort_unstable();
    let mut regions: Vec<Region> = Vec::new();
    for (first_byte, end_byte) in spans {
        match regions.last_mut() {
            Some(last) if first_byte <= last.end_byte.saturating_add(JOIN_GAP_BYTES) => {
                last.end_byte = last.end_byte.max(end_byte);
                last.requests += 1;
            }
            _ => regions.push(Region { first_byte, end_byte, requests: 1 }),
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::Operation;
    use proptest::prelude::*;

    fn error(offset_bytes: u64) -> ErrorRecord {
        ErrorRecord {
            phase: 0,
            at_ns: 0,
            operation: Operation::Read,
            offset_bytes,
            length_bytes: 4096,
            status: Status::MediumError,
        }
    }

    #[test]
    fn neighbours_are_one_place() {
        let far = 64 * MIB;
        let regions = join(&[error(far), error(4096), error(0), error(4096)]);
        assert_eq!(
            regions,
            [
                Region { first_byte: 0, end_byte: 8192, requests: 3 },
                Region { first_byte: far, end_byte: far + 4096, requests: 1 }
            ]
        );
    }

    proptest! {
        #[test]
        fn every_failure_is_in_one_place(offsets in prop::collection::vec(0u64..1 << 40, 1..60)) {
            let errors: Vec<ErrorRecord> = offsets.iter().map(|&offset| error(offset)).collect();
            let regions = join(&errors);
            prop_assert_eq!(regions.iter().map(|region| region.requests).sum::<u64>(), errors.len() as u64);
            prop_assert!(regions.windows(2).all(|pair| pair[0].end_byte + JOIN_GAP_BYTES < pair[1].first_byte));
            for offset in offsets {
                let inside = |region: &&Region| (region.first_byte..region.end_byte).contains(&offset);
                prop_assert_eq!(regions.iter().filter(inside).count(), 1);
            }
        }
    }
}
