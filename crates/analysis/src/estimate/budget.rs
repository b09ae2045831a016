//! The most IOPS whose 99th percentile of latency stays within a budget.

use crate::stats::bounded;
use model::estimate::Estimate;
use model::finding::{ConcurrencyPoint, Finding, FindingCode, Outcome, of_code};
use model::planning::NoBudget;
use model::run::Run;

#[derive(Clone, Debug, PartialEq)]
pub struct WithinBudget {
    pub at_once: u64,
    pub iops: Estimate,
    pub p99_s: f64,
}

/// The queue depth with the most IOPS of those measured whose 99th percentile of latency is at most `budget_s` seconds.
pub fn within_budget(run: &Run, budget_s: f64) -> Result<WithinBudget, NoBudget> {
    let gain = match of_code(&run.findings, FindingCode::ConcurrencyGain) {
        Some(Finding::ConcurrencyGain(Outcome::Known(known))) => &known.conclusion,
        Some(Finding::ConcurrencyGain(Outcome::Unknown(reason))) => return Err(NoBudget::Unknown(*reason)),
        Some(Finding::ConcurrencyGain(Outcome::Inconclusive(_))) => return Err(NoBudget::Inconclusive),
        _ => return Err(NoBudget::NotMeasured),
    };
    let points: Vec<WithinBudget> = gain.points.iter().filter_map(operating_point).collect();
    let fastest = points.iter().map(|point| point.p99_s).fold(f64::INFINITY, f64::min);
    let within = points.into_iter().filter(|point| point.p99_s <= budget_s);
    match within.max_by(|a, b| a.iops.value.total_cmp(&b.iops.value)) {
        Some(most) => Ok(most),
        None if fastest.is_finite() => Err(NoBudget::AllSlower { p99_s: fastest }),
        None => Err(NoBudget::TooFewRequests),
    }
}

/// Queue depths that no budget can be checked against, since too few requests completed for a 99th percentile.
pub fn depths_without_p99(run: &Run) -> Vec<u64> {
    let Some(Finding::ConcurrencyGain(Outcome::Known(known))) =
        of_code(&run.findings, FindingCode::ConcurrencyGain)
    else {
        return Vec::new();
    };
    let points = known.conclusion.points.iter();
    points.filter(|point| point.p99_s.is_none()).map(|point| point.in_flight.count()).collect()
}

fn operating_point(point: &ConcurrencyPoint) -> Option<WithinBudget> {
    let iops = bounded(point.iops, point.low?, point.high?, f64::INFINITY);
    Some(WithinBudget { at_once: point.in_flight.count(), iops, p99_s: point.p99_s? })
}
