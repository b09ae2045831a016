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

use super::wording::size;
use crate::stated::stated;
use model::estimate::Estimate;
use model::finding::{Datum, Finding};
use model::range::ByteRange;
use model::run::RunView;

/// Whether the run holds such figures.
pub(super) fn is_stated(run: &RunView<'_>) -> bool {
    !stated(run).is_empty()
}

/// What is said of a number without an interval.
fn remark(estimate: &Estimate) -> &'static str {
    if estimate.low.is_finite() { "" } else { " (a single figure)" }
}

/// "the first 25 %", "the last 53.7 GB", "42 % to 47 %", "all" of the drive.
fn place_words(run: &RunView<'_>, range: ByteRange) -> String {
    let capacity = run.target.capacity.0.max(1) as f64;
    // Small parts are told in bytes: nobody thinks in thousandths of a drive.
    let part = |bytes: u64| match bytes as f64 / capacity {
        share if share < 0.0995 => size(bytes),
        share => format!("{:.0} %", share * 100.0),
    };
    let (first, end) = (range.first().0, range.end().0);
    // A list ends before its last block, and a division leaves some bytes over.
    let to_the_end = run.target.capacity.0.saturating_sub(end) as f64 <= 0.02 * capacity;
    match (first == 0, to_the_end) {
        (true, true) => "all".into(),
        (true, false) => format!("the first {}", part(end)),
        (false, true) => format!("the last {}", part(run.target.capacity.0.saturating_sub(first))),
        _ => format!("{:.0} % to {:.0} %", first as f64 / capacity * 100.0, end as f64 / capacity * 100.0),
    }
}

/// The same with what else is known of how it came about.
fn remarked(finding: Finding, run: &RunView<'_>, estimate: &Estimate) -> Finding {
    finding
        .with_data("single_figure", Datum::Flag(!estimate.low.is_finite()))
        .with_data("through_page_cache", Datum::Flag(!run.environment.direct))
}
