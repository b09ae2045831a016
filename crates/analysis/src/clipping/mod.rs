//! Steady-state random writes over parts of a drive that a run filled and then wrote at random.

use crate::stats::CONFIDENCE;
use crate::sustained::{Batch, WRITTEN_OVER_MIN, rounds};
use model::estimate::Estimate;
use model::plan::PhaseKind;
use model::range::ByteRange;
use model::run::RunView;
use model::workload::{OperationMix, Pattern};

#[derive(Clone, Debug, PartialEq)]
pub struct UsedPart {
    pub range: ByteRange,
    pub batches: Vec<Batch>,
}

impl UsedPart {
    /// What was written at random, in bytes.
    pub fn written(&self) -> f64 {
        self.batches.iter().map(|batch| batch.bytes).sum()
    }

    pub fn steady_rate(&self) -> Option<Estimate> {
        let has_enough = self.written() >= WRITTEN_OVER_MIN * self.range.bytes().as_f64();
        let rounds = rounds(&self.batches).filter(|rounds| has_enough && rounds.are_steady())?;
        Some(rounds.mean.interval(CONFIDENCE))
    }
}

pub fn used_parts(run: &RunView<'_>) -> Vec<UsedPart> {
    let mut parts: Vec<UsedPart> = Vec::new();
    let mut is_open = false;
    for (number, summary) in (0..).zip(run.phases) {
        let Some(workload) = summary.phase.workload.as_ref() else { continue };
        let writes = workload.mix == OperationMix::Write;
        match (summary.phase.kind, &workload.pattern) {
            (PhaseKind::Precondition, Pattern::Sequential) if writes => {
                parts.push(UsedPart { range: workload.range, batches: Vec::new() });
                is_open = true;
            }
            (PhaseKind::Measure, Pattern::RandomWithReplacement) if writes && is_open => {
                let own = parts.last_mut().filter(|part| part.range == workload.range);
                if let Some(part) = own {
                    part.batches.extend(Batch::of(number, summary));
                }
            }
            _ => is_open = false,
        }
    }
    parts.retain(|part| !part.batches.is_empty());
    parts
}
