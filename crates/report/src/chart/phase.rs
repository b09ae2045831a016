//! What charts ask of a phase.

use model::plan::PhaseKind;
use model::run::PhaseSummary;
use model::workload::Workload;

pub(super) fn measured(summary: &PhaseSummary) -> Option<&Workload> {
    if summary.phase.kind == PhaseKind::Measure { summary.phase.workload.as_ref() } else { None }
}

pub(crate) fn start_s(summary: &PhaseSummary) -> f64 {
    summary.start_ns as f64 / 1e9
}

pub(crate) fn seconds(summary: &PhaseSummary) -> f64 {
    summary.duration_ns as f64 / 1e9
}
