//! Requests that failed.
//! # What it finds
//! The regions in which requests failed for a reason that lies with the drive: medium errors, timeouts, short transfers, and
//! any error number without a name.
//! # Why it matters
//! Data that cannot be read is lost, and a drive that has begun to lose sectors tends to lose more.
//! # How
//! The failed requests, sorted by offset and joined across gaps of up to 16 MiB: one flaw, such as a scratch over a few
//! tracks on each surface, is one region; and so is what was skipped between two failures because nothing could be read there. A
//! region is as fine as the requests that failed. Flushes have no offset, and of a commit nobody knows whether its write or its flush failed;
//! failures after the last success anywhere have another cause.
//! # Cannot tell when
//! Nothing failed: a check that samples part of a drive does not show that the rest is sound. A target that refuses
//! requests (permission, size, space) says nothing of the medium. All that failed timed out with others in flight, at several places, and
//! so many reads alone that some should have failed did not: the queue hangs, and not a block.
//! # Known problems
//! Of more than 10,000 errors in a phase only the number is kept.
//! # References
//! Bairavasundaram et al., "An analysis of latent sector errors in disk drives", SIGMETRICS 2007: 20 to 60 % within 10 MB.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::failed_again::none_failed_again;
use crate::measured::evidence_of_phases;
use crate::silence::Silence;
use model::finding::{BadBlocks, BadBlocksUnknown, BadRegion, Evidence, Finding, FindingCode, Outcome};
use model::record::ErrorRecord;
use model::request::{Operation, Status};
use model::run::RunView;
use model::units::MIB;
use model::workload::Pattern;

const JOIN_GAP_BYTES: u64 = 16 * MIB;
const LISTED_MAX: usize = 1000;
/// The chance that no read alone meets what others met in the queue, below which the queue is what fails.
const CHANCE_MAX: f64 = 1e-3;
/// Regions without which the queue is not blamed: a phase that fails at one place has met that place.
const QUEUE_REGIONS_MIN: usize = 3;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::BadBlocks], needs: &[Need::Phase], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let silence = Silence::of(run);
    let (mut of_medium, mut located, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for (phase, summary) in (0..).zip(run.phases) {
        if summary.errors() == 0 {
            continue;
        }
        for error in run.series.errors(phase) {
            if is_of_medium(error.status) {
                of_medium.push(error);
                if has_offset(&error, silence) {
                    located.push(error);
                }
            } else if error.status != Status::DeviceGone && !error.status.is_wrong_data() {
                refused.push(error);
            }
        }
    }
    let outcome = if let Some(alone) = alone_without_failure(run, &located) {
        Outcome::Unknown(BadBlocksUnknown::OnlyInQueue { failed: located.len(), alone })
    } else if let (false, Some(reread)) = (located.is_empty(), none_failed_again(run)) {
        Outcome::Unknown(BadBlocksUnknown::NotAgain { failed: located.len(), reread })
    } else if !located.is_empty() {
        Outcome::known(bad_blocks(run, &located, silence), evidence(run, &located))
    } else if let Some(first) = of_medium.first() {
        Outcome::Unknown(nowhere(first, of_medium.len(), silence))
    } else if let Some(first) = refused.first() {
        let (first_byte, status) = (first.offset_bytes, first.status);
        Outcome::Unknown(BadBlocksUnknown::Refused { failed: refused.len(), first_byte, status })
    } else {
        return Vec::new();
    };
    vec![Finding::BadBlocks(outcome)]
}

/// How many requests alone succeeded where all failures are timeouts of queued ones that cannot be chance.
fn alone_without_failure(run: &RunView<'_>, errors: &[ErrorRecord]) -> Option<u64> {
    let all_timed_out = errors.iter().all(|error| error.status == Status::TimedOut);
    if !all_timed_out || join(errors, &[(0, u64::MAX)]).len() < QUEUE_REGIONS_MIN {
        return None;
    }
    let (mut alone, mut queued, mut failed) = (0u64, 0u64, 0u64);
    for summary in run.phases {
        let Some(workload) = &summary.phase.workload else { continue };
        match (workload.in_flight_max(), summary.errors()) {
            (1, 0) => alone += summary.operations(),
            (1, _) => return None,
            (_, errors) => (queued, failed) = (queued + summary.operations() + errors, failed + errors),
        }
    }
    let chance = (1.0 - failed as f64 / queued.max(1) as f64).powf(alone as f64);
    (chance <= CHANCE_MAX).then_some(alone)
}

fn is_of_medium(status: Status) -> bool {
    matches!(status, Status::MediumError | Status::TimedOut | Status::Short | Status::Other(_))
}

fn has_offset(error: &ErrorRecord, silence: Option<Silence>) -> bool {
    let is_silent = matches!(silence, Some(silence) if error.at_ns >= silence.from_ns);
    !matches!(error.operation, Operation::Flush | Operation::Commit) && !is_silent
}

fn nowhere(first: &ErrorRecord, failed: usize, silence: Option<Silence>) -> BadBlocksUnknown {
    match silence {
        Some(silence) => BadBlocksUnknown::Silent { from_s: silence.from_ns as f64 / 1e9 },
        None => BadBlocksUnknown::OnlyDurability {
            operation: first.operation,
            failed,
            first_s: first.at_ns as f64 / 1e9,
        },
    }
}

fn bad_blocks(run: &RunView<'_>, errors: &[ErrorRecord], silence: Option<Silence>) -> BadBlocks {
    let counted: u64 = run.phases.iter().map(model::run::PhaseSummary::errors).sum();
    let after = match silence {
        Some(silence) => silence.failed,
        None => 0,
    };
    let mut regions = join(errors, &transferred(run));
    let regions_left_out = regions.len().saturating_sub(LISTED_MAX) as u64;
    regions.truncate(LISTED_MAX);
    BadBlocks {
        regions,
        errors: counted.saturating_sub(after).max(errors.len() as u64),
        regions_left_out,
        status: errors[0].status,
    }
}

fn evidence(run: &RunView<'_>, errors: &[ErrorRecord]) -> Vec<Evidence> {
    let mut phases: Vec<u32> = errors.iter().map(|error| error.phase).collect();
    phases.dedup();
    evidence_of_phases(run, &phases)
}

/// Where the phases got data from or to, in bytes from the first to before the end; a sequential one as far as it came.
fn transferred(run: &RunView<'_>) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    for summary in run.phases {
        if summary.bytes() == 0 {
            continue;
        }
        let Some(workload) = &summary.phase.workload else { continue };
        let (first_byte, mut end_byte) = (workload.range.first().get(), workload.range.end().get());
        // Single reads here and there, such as those that wake a drive, show no stretch to be readable.
        if workload.pattern != Pattern::Sequential && summary.errors() == 0 {
            continue;
        }
        if workload.pattern == Pattern::Sequential && summary.phase.stop.passes == Some(1) {
            let failed = summary.errors().saturating_mul(workload.block_sizes.largest().get());
            let reached = first_byte.saturating_add(summary.bytes()).saturating_add(failed);
            end_byte = end_byte.min(reached);
        }
        ranges.push((first_byte, end_byte));
    }
    ranges
}

fn join(errors: &[ErrorRecord], transferred: &[(u64, u64)]) -> Vec<BadRegion> {
    let mut sorted: Vec<&ErrorRecord> = errors.iter().collect();
    sorted.sort_unstable_by_key(|error| (error.offset_bytes, error.length_bytes));
    let mut regions: Vec<BadRegion> = Vec::new();
    for error in sorted {
        let first_byte = error.offset_bytes;
        let end_byte = first_byte.saturating_add(u64::from(error.length_bytes));
        match regions.last_mut() {
            Some(last) if is_joined(last, first_byte, transferred) => {
                last.bytes = last.bytes.max(end_byte - last.first_byte);
                last.count += 1;
            }
            _ => regions.push(BadRegion { first_byte, bytes: end_byte - first_byte, count: 1 }),
        }
    }
    regions
}

fn is_joined(region: &BadRegion, next_byte: u64, transferred: &[(u64, u64)]) -> bool {
    let end_byte = region.first_byte + region.bytes;
    next_byte <= end_byte.saturating_add(JOIN_GAP_BYTES)
        || !transferred.iter().any(|(first, end)| *first < next_byte && *end > end_byte)
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
        let whole = [(0, u64::MAX)];
        let regions = join(&[error(far), error(4096), error(0), error(4096)], &whole);
        assert_eq!(
            regions,
            [
                BadRegion { first_byte: 0, bytes: 8192, count: 3 },
                BadRegion { first_byte: far, bytes: 4096, count: 1 }
            ]
        );
    }

    /// A scan that skips over 10 GB probes them now and then; each probe failed.
    #[test]
    fn what_was_skipped_between_failures_is_one_region() {
        let probes = [error(1 << 30), error(2 << 30), error(4 << 30), error(8 << 30)];
        let read = [(0, 1 << 30), (3 << 30, (3 << 30) + 4096), ((8 << 30) + 4096, 1 << 40)];
        assert_eq!(
            join(&probes, &read),
            [
                BadRegion { first_byte: 1 << 30, bytes: (1 << 30) + 4096, count: 2 },
                BadRegion { first_byte: 4 << 30, bytes: (4 << 30) + 4096, count: 2 }
            ]
        );
    }

    proptest! {
        #[test]
        fn every_failure_is_in_one_place(offsets in prop::collection::vec(0u64..1 << 40, 1..60)) {
            let errors: Vec<ErrorRecord> = offsets.iter().map(|&offset| error(offset)).collect();
            let regions = join(&errors, &[(0, u64::MAX)]);
            prop_assert_eq!(regions.iter().map(|region| region.count).sum::<u64>(), errors.len() as u64);
            prop_assert!(regions.windows(2).all(|pair| pair[0].first_byte + pair[0].bytes + JOIN_GAP_BYTES < pair[1].first_byte));
            for offset in offsets {
                let inside = |region: &&BadRegion| (region.first_byte..region.first_byte + region.bytes).contains(&offset);
                prop_assert_eq!(regions.iter().filter(inside).count(), 1);
            }
        }
    }
}
