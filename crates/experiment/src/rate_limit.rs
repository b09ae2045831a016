//! What decides about a rate limit that the phases of an experiment leave open.

use crate::preparation::{self, sequential_block};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

/// Between the sizes of random requests and of sequential ones, so that it differs from either.
const BLOCK: Bytes = Bytes::from_kib(64);
/// Enough in flight to reach the rate that larger requests reach with less.
const DEPTH: u32 = 32;
const TIME: Nanos = Nanos::from_secs(2);

/// Reads of another size: they tell requests from bytes, and a limit from a drive that got slower. They are no sample.
pub fn deciding(experiment: ExperimentName, so_far: &RunView<'_>, range: ByteRange) -> Option<Phase> {
    let met = analysis::limit::undecided(so_far)?;
    let logical = so_far.target.logical_block;
    let block = if met == BLOCK { sequential_block(range, logical) } else { BLOCK };
    if block == met || block > range.bytes() {
        return None;
    }
    let reads =
        Workload::new(range.align_inward(block), Pattern::Sequential, OperationMix::Read, block, DEPTH);
    let name = "read other sizes, to tell a rate limit".into();
    Some(preparation::phase(experiment, name, PhaseKind::WarmUp, reads, StopCondition::after(TIME)))
}
