//! Why the rate fell: a cache that is full, space that has to be won back, or heat.
//!
//! Three things make a flash drive slower while it is written, and from the rate alone they look the same. What is written next tells
//! them apart. Written in order, a drive that was short of free space soon has whole blocks of garbage and needs to move nothing, so
//! that it is fast again, while a full cache stays full. And a drive that was too warm cools while little is written, although it is
//! never idle, so that no cache is emptied.

use super::fall::Fall;
use super::history::{History, Piece};
use model::plan::PhaseKind;
use model::run::RunView;
use model::workload::{Arrival, Pattern, Workload};

/// Why the rate fell, as far as it was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A cache was full: nothing that was tried against another cause made the drive fast again, or nothing was tried.
    Cache,
    /// Space had to be won back: writes in order made it fast again.
    Collection,
    /// It had become warm: a time of few writes made it fast again.
    Heat,
}

/// Writes in order that are so much faster than those at random, as the logarithm of their ratio, need less space to be won back: 25 %. To
/// a drive whose cache is full they are as fast, since the cells are programmed at one rate.
const FASTER: f64 = 0.22;

/// Why the rate fell.
pub fn cause(run: &RunView<'_>, history: &History<'_>, fall: &Fall) -> Cause {
    if fall.bytes.value >= history.span as f64 && history.workload.pattern != Pattern::Sequential {
        // All of it was written as often as once: no cells are left that a cache could have been of.
        return Cause::Collection;
    }
    let halfway = f64::midpoint(fall.before.cost.value, fall.after.cost.value);
    let is_fast = |piece: &Piece| piece.seconds_per_byte().ln() < halfway;
    let is_faster = |piece: &Piece| piece.seconds_per_byte().ln() < fall.after.cost.value - FASTER;
    let end = history.first().last().map_or(0, |piece| piece.phase + 1);
    let in_order = run.phases.iter().enumerate().skip(end as usize).map_while(|(number, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        let fits = summary.phase.kind == PhaseKind::Measure && workload.pattern == Pattern::Sequential;
        fits.then(|| Piece::of(number as u32, summary))
    });
    if history.workload.pattern != Pattern::Sequential
        && in_order.last().flatten().is_some_and(|piece| is_faster(&piece))
    {
        return Cause::Collection;
    }
    let is_few = |&phase: &u32| {
        let summary = run.phases.get(phase as usize);
        summary.and_then(|summary| summary.phase.workload.as_ref()).is_some_and(is_trickle)
    };
    let after_few = history.streams.iter().skip(1).filter(|stream| stream.before.iter().any(is_few));
    match after_few.filter_map(|stream| stream.pieces.first()).any(is_fast) {
        true => Cause::Heat,
        false => Cause::Cache,
    }
}

/// Whether few requests come, at a rate that does not ask for the drive's.
fn is_trickle(workload: &Workload) -> bool {
    matches!(workload.arrival, Arrival::OpenLoop { .. })
}
