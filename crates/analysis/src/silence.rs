//! The moment from which no request succeeded any more, wherever it went. A drive that dies, or whatever lies between, often answers
//! everything with the error of a bad block, and goes on being listed: then its blocks say nothing.

use model::plan::StopReason;
use model::record::ErrorRecord;
use model::request::Status;
use model::run::RunView;
use std::collections::BTreeSet;

/// Parts of the target, and how many of them have to fail. A flaw of a medium is one place or a few (20 to 60 % of errors lie within
/// 10 MB of another: Bairavasundaram et al., SIGMETRICS 2007); requests that fail in a quarter of all parts while none succeeds
/// anywhere have met something else.
const PARTS: u64 = 64;
const PARTS_MIN: usize = 16;

/// See the head of this file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Silence {
    /// The first request of those that failed, since the run's clock began.
    pub from_ns: u64,
    /// The phase in which that was.
    pub phase: u32,
    /// Requests that failed from then on.
    pub failed: u64,
}

impl Silence {
    /// Of a run in which something succeeded before and nothing after.
    pub(crate) fn of(run: &RunView<'_>) -> Option<Silence> {
        let last = run.phases.iter().rposition(|summary| summary.operations() > 0)?;
        // Slices are read only where something failed: there may be a billion I/Os in them.
        if run.phases[last..].iter().all(|summary| summary.errors() == 0) {
            return None;
        }
        let of_last = u32::try_from(last).ok()?;
        // What failed within the slice of the last success is taken for what failed after it.
        let slices = run.series.intervals(of_last).filter(|slice| slice.operations > 0);
        let last_ns = slices.map(|slice| slice.start_ns).max()?;
        let after = |error: &ErrorRecord| error.phase > of_last || error.at_ns >= last_ns;
        let phases = (of_last..).zip(&run.phases[last..]).filter(|(_, summary)| summary.errors() > 0);
        let errors: Vec<ErrorRecord> =
            phases.flat_map(|(phase, _)| run.series.errors(phase)).filter(after).collect();
        let first = errors.iter().min_by_key(|error| error.at_ns)?;
        let is_of_medium = |error: &ErrorRecord| {
            matches!(error.status, Status::MediumError | Status::TimedOut | Status::Other(_))
        };
        if !errors.iter().all(is_of_medium) {
            return None;
        }
        let part = |error: &ErrorRecord| {
            u128::from(error.offset_bytes) * u128::from(PARTS) / u128::from(run.target.capacity.0.max(1))
        };
        let parts: BTreeSet<u128> = errors.iter().map(part).collect();
        // Where the run was ended for it, places elsewhere were asked and did not answer either.
        let ended_for_it =
            run.phases.last().is_some_and(|summary| summary.stopped == Some(StopReason::DeviceGone));
        let in_last = errors.iter().filter(|error| error.phase == of_last).count() as u64;
        let in_later: u64 = run.phases[last + 1..].iter().map(|summary| summary.errors()).sum();
        (ended_for_it || parts.len() >= PARTS_MIN).then_some(Silence {
            from_ns: first.at_ns,
            phase: first.phase,
            failed: in_last + in_later,
        })
    }
}
