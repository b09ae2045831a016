//! What comparing reads say: which blocks are wrong and how, and how much a drive really holds.
//!
//! ```text
//! errors of verify phases ─► stretches that are wrong ─┬─► wraps: places that show what was written elsewhere
//! places of verify phases ─► probed, held or not ──────┴─► extent: where the drive ends
//! ```
//! The experiment asks the same functions what to look at next.

mod extent;
mod stretch;

pub use extent::{Extent, Probes, TAIL_MIN, extent};
pub use stretch::{WrongKind, WrongStretch, union, wrong_stretches};

use model::payload::{JUDGED_BYTES, Mark};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::workload::DataPattern;

/// Blocks are counted by this size.
pub const BLOCK_BYTES: u64 = JUDGED_BYTES as u64;

/// The phases that compared what they read, with their numbers.
pub fn compared<'run>(run: &RunView<'run>) -> impl Iterator<Item = (u32, &'run PhaseSummary, Mark)> {
    let phases = (0..).zip(run.phases).filter(|(_, summary)| summary.phase.kind == PhaseKind::Verify);
    phases.filter_map(|(number, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        match workload.data {
            DataPattern::Marked(mark) => Some((number, summary, mark)),
            _ => None,
        }
    })
}

/// Where writes of marked data failed: what is found there says nothing of what was written.
pub fn not_written(run: &RunView<'_>) -> Vec<(u64, u64)> {
    let is_marking = |summary: &PhaseSummary| {
        summary.phase.workload.as_ref().is_some_and(|workload| {
            workload.mix.changes_data() && matches!(workload.data, DataPattern::Marked(_))
        })
    };
    let marking = (0..).zip(run.phases).filter(|(_, summary)| is_marking(summary) && summary.errors() > 0);
    let errors = marking.flat_map(|(number, _)| run.series.errors(number));
    let failed = errors.filter(|error| error.operation == Operation::Write);
    let mut failed: Vec<(u64, u64)> = failed
        .map(|error| (error.offset_bytes, error.offset_bytes.saturating_add(error.length_bytes.into())))
        .collect();
    failed.sort_unstable();
    failed
}
