//! What a run has written with marks, so that another can compare it.

use super::kind_of;
use model::plan::{Phase, StopCondition};
use model::run::PhaseSummary;
use model::workload::{DataPattern, OperationMix, Pattern, Workload};

/// Something that was written with a mark, and not again since.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    name: String,
    workload: Workload,
}

impl Marked {
    /// The phase that compares it.
    pub(super) fn reading(&self, experiment: &'static str) -> Phase {
        let workload = Workload { mix: OperationMix::Read, ..self.workload.clone() };
        Phase {
            name: self.name.clone(),
            experiment: experiment.into(),
            kind: kind_of(OperationMix::Read),
            workload: Some(workload),
            stop: match &self.workload.pattern {
                Pattern::Listed { offsets } => {
                    StopCondition { operations: Some(offsets.len() as u64), ..StopCondition::default() }
                }
                _ => StopCondition::one_pass(),
            },
        }
    }
}

/// What these phases wrote last, in the order in which it was first written. Of what was written to the same places twice only the
/// last is left; what was overwritten in part is left out, since a part of it could not be compared.
pub fn last_marked(phases: &[PhaseSummary]) -> Vec<Marked> {
    let mut marked: Vec<Marked> = Vec::new();
    for summary in phases.iter().filter(|summary| summary.stopped.is_some_and(|why| why.is_complete())) {
        let Some(workload) = summary.phase.workload.as_ref().filter(|workload| is_marking(workload)) else {
            continue;
        };
        let is_listed = |of: &Workload| of.pattern != Pattern::Sequential;
        marked.retain(|before| {
            // Single places lie apart from stretches as long as there are no stretches but the start.
            before.workload.pattern != workload.pattern
                || (!is_listed(workload) && !before.workload.range.overlaps(&workload.range))
        });
        if !is_listed(workload) {
            marked
                .retain(|before| !is_listed(&before.workload) || !covers_places(workload, &before.workload));
        }
        marked.push(Marked {
            name: format!("compare what was written: {}", summary.phase.name),
            workload: workload.clone(),
        });
    }
    marked
}

fn is_marking(workload: &Workload) -> bool {
    workload.mix == OperationMix::Write && matches!(workload.data, DataPattern::Marked(_))
}

/// Whether a stretch overwrites one of the places of a list.
fn covers_places(stretch: &Workload, listed: &Workload) -> bool {
    let Pattern::Listed { offsets } = &listed.pattern else { return false };
    offsets.iter().any(|offset| (stretch.range.first()..stretch.range.end()).contains(offset))
}
