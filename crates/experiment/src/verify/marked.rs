//! What a run has written with marks, so that another can compare it.

use crate::preparation::phase;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::run::PhaseSummary;
use model::workload::{DataPattern, OperationMix, Pattern, Workload};

/// Something that was written with a mark, and not again since.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    name: String,
    workload: Workload,
}

impl Marked {
    pub(super) fn reading(&self) -> Phase {
        let workload = Workload { mix: OperationMix::Read, ..self.workload.clone() };
        let stop = match &self.workload.pattern {
            Pattern::Listed { offsets } => {
                StopCondition { operations: Some(offsets.len() as u64), ..StopCondition::default() }
            }
            _ => StopCondition::one_pass(),
        };
        phase(ExperimentName::Verify, self.name.clone(), kind_of(OperationMix::Read), workload, stop)
    }
}

/// What these phases wrote last, in the order in which it was first written. Of what was written to the same places twice only the
/// last is left; what was overwritten in part is left out, since a part of it could not be compared.
pub fn last_marked(phases: &[PhaseSummary]) -> Vec<Marked> {
    let mut marked: Vec<Marked> = Vec::new();
    for summary in phases {
        let (Some(workload), Some(stopped)) = (&summary.phase.workload, summary.stopped) else { continue };
        if !stopped.is_complete() || !is_marking(workload) {
            continue;
        }
        marked.retain(|before| !overwrites(workload, &before.workload));
        marked.push(Marked {
            name: format!("compare what was written: {}", summary.phase.name),
            workload: workload.clone(),
        });
    }
    marked
}

/// Single places lie apart from stretches as long as there are no stretches but the start.
fn overwrites(later: &Workload, before: &Workload) -> bool {
    match (later.pattern == Pattern::Sequential, before.pattern == Pattern::Sequential) {
        (true, true) => later.range.overlaps(&before.range),
        (true, false) => covers_places(later, before),
        (false, _) => later.pattern == before.pattern,
    }
}

fn is_marking(workload: &Workload) -> bool {
    workload.mix == OperationMix::Write && matches!(workload.data, DataPattern::Marked(_))
}

fn covers_places(stretch: &Workload, listed: &Workload) -> bool {
    let Pattern::Listed { offsets } = &listed.pattern else { return false };
    let range = stretch.range.first()..stretch.range.end();
    offsets.iter().any(|offset| range.contains(offset))
}

pub(super) fn kind_of(mix: OperationMix) -> PhaseKind {
    if mix == OperationMix::Write { PhaseKind::Precondition } else { PhaseKind::Verify }
}
