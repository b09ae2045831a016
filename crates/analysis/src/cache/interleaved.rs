//! How interleaved streams look as a workload, which also is of single reads a pause apart, as pairs are.

use model::workload::{Arrival, Pattern, Workload};

/// With fewer streams the reads may be pairs.
const STREAMS_MIN: usize = 4;

/// Whether the second half of the reads are the blocks behind those of the first, the last one first.
pub(super) fn is_of_streams(workload: &Workload) -> bool {
    let Pattern::Listed { offsets } = &workload.pattern else { return false };
    let block = workload.block_sizes.largest().get();
    let (first, second) = offsets.split_at(offsets.len() / 2);
    let is_single = matches!(workload.arrival, Arrival::OpenLoop { .. }) && workload.in_flight_max() == 1;
    is_single
        && first.len() >= STREAMS_MIN
        && first.len() == second.len()
        && first.iter().rev().zip(second).all(|(read, behind)| read.get() + block == behind.get())
}
