//! Where a host saw the throughput of a disk drop.
//!
//! A disk takes writes into its memory first, so it looks fast until its media cache and its memory behind that are full. The
//! completions show the drop itself: the moment before which more came than at a rate between both levels, and after which less
//! came (the largest of the cumulated differences; Page, "Continuous inspection schemes", 1954).

use super::batch::{Batch, bytes_of};
use super::drop::{PLACE_SHARE_MIN, RateDrop};
use super::history::History;
use crate::stats::bounded;
use model::estimate::Estimate;
use model::request::Operation;
use model::run::RunView;

/// The drop is looked for in so many batches to either side of the border that the rates of whole batches show.
const PIECES_AROUND: usize = 2;

/// What was written when a host saw the rate drop, in bytes; none where no slices of time were kept.
pub fn seen_bytes(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Option<Estimate> {
    let batches = history.first();
    let border = drop.after.first;
    let (from, to) = (border.saturating_sub(PIECES_AROUND), (border + PIECES_AROUND).min(batches.len()));
    let between = f64::midpoint(drop.before.cost.value, drop.after.cost.value).exp();
    let mut written = bytes_of(&batches[..from]);
    let began_s = batches.get(from)?.start_s;
    let (mut found, mut most) = (None, f64::NEG_INFINITY);
    for batch in &batches[from..to] {
        let end = written + batch.bytes;
        for slice in run.slices(batch.phase, Operation::Write) {
            written += slice.bytes as f64;
            let ahead_s = written * between - (slice.end_ns() as f64 / 1e9 - began_s);
            if ahead_s >= most {
                (found, most) = (Some((written, slice.bytes as f64, batch, end)), ahead_s);
            }
        }
        written = end;
    }
    let (bytes, slice_bytes, batch, end) = found?;
    let half = slice_bytes.max(PLACE_SHARE_MIN * batch.bytes);
    // Where all of a batch was answered at the full rate it fell while the memory was written out.
    let (in_flush, unsure) =
        if bytes + slice_bytes >= end { (flushed(drop, batch), drop.in_memory_bytes) } else { (0.0, 0.0) };
    let count = drop.before.batches() as f64;
    Some(bounded(bytes + in_flush, bytes - half, bytes + half + unsure, count))
}

/// Of what was in the memory when a batch ended, as much as was written out at the rate before the drop.
fn flushed(drop: &RateDrop, batch: &Batch) -> f64 {
    let (fast, slow) = (drop.before.seconds_per_byte(), drop.after.seconds_per_byte());
    let most = drop.in_memory_bytes;
    ((most * slow - batch.flush_s) / (slow - fast)).clamp(0.0, most)
}
