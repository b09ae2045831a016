//! From which number of requests at a time more brings less than it costs.
//!
//! In a closed loop N requests are always under way, so throughput times latency is N (Little 1961). Going on to more, the gain in
//! throughput and the rise of latency, both as logarithms, add up to the growth of N: more brings as much as it costs where
//! throughput grows with the square root of N. There throughput over latency is largest, the "power" of Kleinrock ("Power and
//! deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979). That number is the knee.

use super::curve::{Curve, Point};
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::ratio::difference;

/// The knee, and between which numbers it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knee {
    /// Of the numbers measured, the one with the most throughput for its latency.
    pub at_once: u64,
    /// The least that is not clearly worse.
    pub low: u64,
    /// The most that is not clearly worse.
    pub high: u64,
}

/// The knee of a curve; none without points.
pub(crate) fn knee(curve: &Curve<'_>) -> Option<Knee> {
    let best = curve.points.iter().max_by(|a, b| power(a).value.total_cmp(&power(b).value))?;
    let is_as_good = |point: &&Point<'_>| {
        let behind = difference(&power(best), &power(point)).interval(CONFIDENCE);
        point.at_once == best.at_once || behind.low <= 0.0
    };
    let good: Vec<u64> = curve.points.iter().filter(is_as_good).map(|point| point.at_once).collect();
    Some(Knee { at_once: best.at_once, low: *good.first()?, high: *good.last()? })
}

/// The logarithm of throughput over latency, which by Little's law is throughput squared over the number under way.
fn power(point: &Point<'_>) -> Mean {
    let doubled = point.mean.scaled(2.0);
    Mean { value: doubled.value - (point.at_once as f64).ln(), ..doubled }
}

/// The number with the largest power of a throughput curve given at numbers.
pub(crate) fn power_maximum(points: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let power = |(number, throughput): &(f64, f64)| throughput * throughput / number;
    let best = points.into_iter().max_by(|a, b| power(a).total_cmp(&power(b)))?;
    Some(best.0)
}
