//! Whether blocks that failed fail again when they are read once more.

use model::plan::PhaseKind;
use model::range::ByteRange;
use model::record::ErrorRecord;
use model::request::{Operation, Status};
use model::run::RunView;

/// Of places of which every eighth is bad, so many reads meet one with 95.9 %: 1 − (7/8)^24.
pub const REREADS_MAX: usize = 24;

/// One failed read of each place, evenly over all of them. Requests that were never answered are left alone: each takes the system's timeout.
pub fn failed_reads(run: &RunView<'_>) -> Vec<ByteRange> {
    let mut failed: Vec<ByteRange> = Vec::new();
    for (phase, summary) in (0..).zip(run.phases) {
        if summary.errors() > 0 {
            failed.extend(run.series.errors(phase).filter_map(range_to_read));
        }
    }
    failed.sort_by_key(ByteRange::first);
    failed.dedup_by_key(|range| range.first());
    let apart = failed.len().div_ceil(REREADS_MAX).max(1);
    failed.into_iter().step_by(apart).collect()
}

fn range_to_read(error: ErrorRecord) -> Option<ByteRange> {
    match (error.operation, error.status) {
        (Operation::Read, Status::MediumError | Status::Short | Status::Other(_)) => {
            ByteRange::from_bytes(error.offset_bytes, u64::from(error.length_bytes))
        }
        _ => None,
    }
}

/// The rereads of a run. One that somebody skipped neither succeeded nor failed.
pub struct Rereads {
    pub made: usize,
    pub succeeded: usize,
    pub failed: usize,
}

impl Rereads {
    pub fn of(run: &RunView<'_>) -> Rereads {
        let mut rereads = Rereads { made: 0, succeeded: 0, failed: 0 };
        for summary in run.phases {
            if summary.phase.kind == PhaseKind::Reread {
                rereads.made += 1;
                rereads.failed += usize::from(summary.errors() > 0);
                rereads.succeeded += usize::from(summary.errors() == 0 && summary.operations() > 0);
            }
        }
        rereads
    }
}

/// How many rereads succeeded, if all that may be asked for did.
pub(crate) fn none_failed_again(run: &RunView<'_>) -> Option<usize> {
    let Rereads { succeeded, failed, .. } = Rereads::of(run);
    (succeeded >= REREADS_MAX && failed == 0).then_some(succeeded)
}
