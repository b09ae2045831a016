//! Where a host saw the throughput of a disk drop.
//!
//! A disk takes writes into its memory first, so it looks fast until its media cache and its memory behind that are full. How long
//! a flush then takes depends on what the cache held before: a ring clears its oldest writes first. The completions show the drop
//! itself: the moment before which more came than at a rate between both levels, and after which less came (the largest of the
//! cumulated differences; Page, "Continuous inspection schemes", 1954).

use super::fall::{Fall, PLACE_SHARE_MIN};
use super::history::History;
use super::piece::{Piece, bytes_of};
use crate::stats::CONFIDENCE;
use model::estimate::Estimate;
use model::request::Operation;
use model::run::RunView;

/// The fall is looked for in so many pieces to either side of the border that the rates of whole pieces show.
const PIECES_AROUND: usize = 2;

/// What was written when a host saw the rate fall, in bytes; none where no slices of time were kept.
pub fn seen_bytes(run: &RunView<'_>, history: &History<'_>, fall: &Fall) -> Option<Estimate> {
    let pieces = history.first();
    let border = fall.after.first;
    let (from, to) = (border.saturating_sub(PIECES_AROUND), (border + PIECES_AROUND).min(pieces.len()));
    let between = f64::midpoint(fall.before.cost.value, fall.after.cost.value).exp();
    let mut written = bytes_of(&pieces[..from]);
    let began_s = pieces.get(from)?.start_s;
    let (mut found, mut most) = (None, f64::NEG_INFINITY);
    for piece in &pieces[from..to] {
        let end = written + piece.bytes;
        for slice in run.series.intervals(piece.phase).filter(|slice| slice.operation == Operation::Write) {
            written += slice.bytes as f64;
            let ahead_s = written * between - (slice.end_ns() as f64 / 1e9 - began_s);
            if ahead_s >= most {
                (found, most) = (Some((written, slice.bytes as f64, piece, end)), ahead_s);
            }
        }
        written = end;
    }
    let (bytes, slice_bytes, piece, end) = found?;
    let half = slice_bytes.max(PLACE_SHARE_MIN * piece.bytes);
    // Where all of a piece was answered at the full rate it fell while the memory was written out.
    let (in_flush, unsure) =
        if bytes + slice_bytes >= end { (flushed(fall, piece), fall.in_memory_bytes) } else { (0.0, 0.0) };
    Some(Estimate {
        value: bytes + in_flush,
        low: bytes - half,
        high: bytes + half + unsure,
        confidence: CONFIDENCE,
        effective_count: fall.before.pieces() as f64,
    })
}

/// Of what was in the memory when a piece ended, as much as was written out at the rate before the fall.
fn flushed(fall: &Fall, piece: &Piece) -> f64 {
    let (fast, slow) = (fall.before.seconds_per_byte(), fall.after.seconds_per_byte());
    let most = fall.in_memory_bytes;
    ((most * slow - piece.flush_s) / (slow - fast)).clamp(0.0, most)
}
