//! What comparing reads say: which blocks are wrong and how, and how much a drive really holds.
//! ```text
//! errors of verify phases ─► stretches that are wrong ─┬─► wraps: places that show what was written elsewhere
//! places of verify phases ─► probed, held or not ──────┴─► extent: where the drive ends
//! ```
//! The experiment asks the same functions what to look at next.

mod extent;
mod stretch;

pub use extent::{Extent, Probes, TAIL_MIN, extent};
pub use stretch::{WrongStretch, union, wrong_stretches};

use model::payload::{JUDGED_BYTES, Mark};
use model::plan::PhaseKind;
use model::record::ErrorRecord;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::workload::DataPattern;

pub const BLOCK_BYTES: u64 = JUDGED_BYTES as u64;

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

/// Those that look for what this or an earlier run has written.
pub fn compared_writes<'run>(run: &RunView<'run>) -> impl Iterator<Item = (u32, &'run PhaseSummary, Mark)> {
    compared(run).filter(|(_, _, mark)| mark.generation > 0)
}

fn bytes_of(error: &ErrorRecord) -> (u64, u64) {
    (error.offset_bytes, error.offset_bytes.saturating_add(error.length_bytes.into()))
}

/// Where writes of marked data failed: what is found there says nothing of what was written.
pub fn not_written(run: &RunView<'_>) -> Vec<(u64, u64)> {
    let mut failed = Vec::new();
    for (number, summary) in (0..).zip(run.phases) {
        let Some(workload) = &summary.phase.workload else { continue };
        let marks = workload.mix.changes_data() && matches!(workload.data, DataPattern::Marked(_));
        if !marks || summary.errors() == 0 {
            continue;
        }
        for error in run.series.errors(number) {
            if error.operation == Operation::Write {
                failed.push(bytes_of(&error));
            }
        }
    }
    failed.sort_unstable();
    failed
}
