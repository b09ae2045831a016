//! How long tasks took so far.

use model::file_work::FileTask;
use model::plan::PhaseKind;
use model::run::PhaseSummary;
use model::units::{Bytes, BytesPerSecond, Nanos};

pub(super) fn slowest_first_write(done: &[PhaseSummary]) -> BytesPerSecond {
    let mut slowest = f64::INFINITY;
    for summary in done {
        if summary.phase.kind == PhaseKind::WarmUp {
            let seconds = Nanos::new(summary.lasting_ns()).seconds().max(1e-3);
            slowest = slowest.min(Bytes::new(summary.bytes()).as_f64() / seconds);
        }
    }
    BytesPerSecond::new(slowest)
}

pub(super) fn elapsed(done: &[PhaseSummary]) -> Nanos {
    match done.last() {
        Some(last) => Nanos::new(last.end_ns().saturating_add(last.flush_ns())),
        None => Nanos::ZERO,
    }
}

pub(super) fn time_of(done: &[PhaseSummary], wanted: &[FileTask], round: u32) -> Nanos {
    let mut time = Nanos::ZERO;
    for summary in done {
        let Some(work) = summary.files.as_deref() else { continue };
        let is_before = work.round + 1 == round && summary.phase.kind == PhaseKind::Measure;
        if is_before && wanted.contains(&work.task) {
            time = time.saturating_add(Nanos::new(summary.lasting_ns()));
        }
    }
    time
}
