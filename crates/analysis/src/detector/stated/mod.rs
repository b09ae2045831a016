//! What follows from figures that other programs stated: the same findings as from measurements, with an interval where something was measured
//! again and without one where there is a single figure.

mod link;
mod random;
mod ratio;
mod sizes;
mod speed;

pub(super) use link::link;
pub(super) use random::{access, gain};
pub(super) use ratio::ratio;
pub(super) use sizes::sizes;
pub(super) use speed::{pass_time, rates};

use crate::stated::stated;
use model::estimate::Estimate;
use model::finding::{Datum, Finding};
use model::run::RunView;

/// Whether the run holds such figures.
pub(super) fn is_stated(run: &RunView<'_>) -> bool {
    !stated(run).is_empty()
}

/// What is said of a number without an interval.
fn remark(estimate: &Estimate) -> &'static str {
    if estimate.low.is_finite() { "" } else { " This is a single figure, so that it has no interval." }
}

/// The same with what else is known of how it came about.
fn remarked(finding: Finding, run: &RunView<'_>, estimate: &Estimate) -> Finding {
    finding
        .with_data("single_figure", Datum::Flag(!estimate.low.is_finite()))
        .with_data("through_page_cache", Datum::Flag(!run.environment.direct))
}
