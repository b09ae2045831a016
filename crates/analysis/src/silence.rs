//! The moment from which no request succeeded any more, wherever it went. A drive that dies, or whatever lies between, often answers
//! everything with the error of a bad block, and goes on being listed: then its blocks say nothing.

use model::plan::StopReason;
use model::record::ErrorRecord;
use model::request::Status;
use model::run::{PhaseSummary, RunView};
use std::collections::BTreeSet;

/// Parts of the target, and how many of them have to fail. A flaw of a medium is one place or a few (20 to 60 % of errors lie within
/// 10 MB of another: Bairavasundaram et al., SIGMETRICS 2007), never a quarter of all parts while nothing succeeds.
const PARTS: u64 = 64;
const PARTS_MIN: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Silence {
    /// The first request of those that failed, since the run's clock began.
    pub from_ns: u64,
    pub phase: u32,
    pub failed: u64,
}

fn has_errors(summary: &PhaseSummary) -> bool {
    summary.errors() > 0
}

impl Silence {
    /// Of a run in which something succeeded before and nothing after.
    pub(crate) fn of(run: &RunView<'_>) -> Option<Silence> {
        let last = run.phases.iter().rposition(|summary| summary.operations() > 0)?;
        // Slices are read only where something failed: there may be a billion I/Os in them.
        if !run.phases[last..].iter().any(has_errors) {
            return None;
        }
        let of_last = u32::try_from(last).ok()?;
        // What failed within the slice of the last success is taken for what failed after it.
        let slices = run.series.intervals(of_last).filter(|slice| slice.operations > 0);
        let last_ns = slices.map(|slice| slice.start_ns).max()?;
        let mut first: Option<ErrorRecord> = None;
        let (mut parts, mut in_last) = (BTreeSet::new(), 0);
        for (phase, _) in (of_last..).zip(&run.phases[last..]).filter(|(_, summary)| has_errors(summary)) {
            for error in run.series.errors(phase) {
                if phase == of_last && error.at_ns < last_ns {
                    continue;
                }
                if !matches!(error.status, Status::MediumError | Status::TimedOut | Status::Other(_)) {
                    return None;
                }
                if first.as_ref().is_none_or(|first| error.at_ns < first.at_ns) {
                    first = Some(error);
                }
                let capacity = u128::from(run.target.capacity.get().max(1));
                parts.insert(u128::from(error.offset_bytes) * u128::from(PARTS) / capacity);
                in_last += u64::from(phase == of_last);
            }
        }
        let first = first?;
        // Where the run was ended for it, places elsewhere were asked and did not answer either.
        let ended_for_it = run.phases.last()?.stopped == Some(StopReason::DeviceGone);
        if !ended_for_it && parts.len() < PARTS_MIN {
            return None;
        }
        let in_later: u64 = run.phases[last + 1..].iter().map(PhaseSummary::errors).sum();
        Some(Silence { from_ns: first.at_ns, phase: first.phase, failed: in_last + in_later })
    }
}
