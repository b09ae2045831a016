//! Rate limits with burst credit, as cloud volumes, hypervisors and cgroups set them.
//! # What it finds
//! Whether a token bucket lies between host and drive: its burst credit, its refill, and whether it counts requests, parts of large ones, or bytes.
//! # Why it matters
//! Credit makes a short test fast and the day after slow. Who knows it leaves idle time, makes requests larger, or buys more.
//! # How
//! The deficit, what was used and did not come back yet, follows from the series of all phases and the refill alone. Where
//! requests wait for tokens it stands at the credit: at every queue depth, size and offset, and again after idle time. The refill
//! is the rate at which most windows of the run agree; see `limit::bucket`. A limit is stated when the deficit never exceeds the
//! credit, at most 2 % of windows contradict, some workload was faster before, completions at the limit come more evenly than any
//! drive's (error 0.1 %, `stats::evenness`), and two workloads that read met it, or one met it again after a refill. It has changed
//! where that holds up to some moment, the workloads that it limited have another constant rate from there on, and both explain more windows.
//! Of two limits, of requests and of bytes, either may contradict the other where something waits for its tokens. A bucket that was not full
//! when the run began shows where credit that came back exceeds what there was.
//! # Cannot tell when
//! The credit was not used up, or is worth fewer than 50 requests. One workload met it once: a drive that gets slower for good
//! may look the same. One block size met it: requests are not told from bytes. Writes alone met it, and nothing came back: a full cache is likelier.
//! # Known problems
//! Large requests that count as several use credit faster than it is told apart: it must be worth 50 of the largest.
//! Experiments that suspect a limit read on at it for up to 10 s, since evenness needs a thousand completions, and rest for credit to come back.
//! A bucket that was not full when the run began and won nothing back holds more than is said. Two limits of requests are one. Windows at a
//! second limit that last less than 2 s contradict the first. A limit that changes within two seconds of being met is told with too large a credit.
//! # References
//! Turner, "New directions in communications", IEEE Communications Magazine 24, 1986 (the leaky bucket); Lindley, "The theory of
//! queues with a single server", Proc. Cambridge Phil. Soc. 48, 1952; QEMU, docs/throttle.txt; Linux, blk-throttle.

use crate::limit::Limit;
use crate::measured::evidence_across;
use model::finding::{
    CliffCause, Finding, IdleRecoveryUnknown, LimitedOperations, Outcome, RateLimit, WriteCliff,
};
use model::run::RunView;

/// The limits of a run as findings. They come first, since other detectors get the part of the run on one side of them.
pub(super) fn found(run: &RunView<'_>, limits: &[Limit]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for limit in limits {
        let phases = (0u32..).zip(run.phases);
        let at_limit = phases.filter(|(phase, _)| limit.limited_s[*phase as usize] > 0.0);
        findings.push(Finding::RateLimit(Outcome::of(limit.found.clone(), evidence_across(at_limit))));
    }
    findings
}

/// A drop to the rate of a limit is the limit's: no cache was full, and what idle time gives back is credit.
pub(super) fn explain_drop(findings: &mut [Finding], limits: &[Limit]) {
    let mut is_explained = false;
    for limit in limits {
        for finding in findings.iter_mut() {
            if let (Finding::WriteCliff(Outcome::Known(known)), Ok(found)) = (finding, &limit.found)
                && is_at(&known.conclusion, found)
            {
                known.conclusion.cause = CliffCause::RateLimit;
                is_explained = true;
            }
        }
    }
    for finding in findings {
        if is_explained && matches!(finding, Finding::IdleRecovery(_)) {
            *finding = Finding::IdleRecovery(Outcome::Unknown(IdleRecoveryUnknown::NotACache));
        }
    }
}

fn is_at(cliff: &WriteCliff, limit: &RateLimit) -> bool {
    let block_share = limit.bytes_each(cliff.writes.block);
    limit.operations != LimitedOperations::Reads
        && cliff.after_low <= limit.sustained.high * block_share
        && limit.sustained.low * block_share <= cliff.after_high
}
