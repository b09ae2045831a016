//! From which number of requests at a time more brings less than it costs.
//!
//! In a closed loop N requests are always under way, so throughput times latency is N (Little 1961). Going on to more, the gain in
//! throughput and the rise of latency, both as logarithms, add up to the growth of N: more brings as much as it costs where
//! throughput grows with the square root of N. There throughput over latency is largest, the "power" of Kleinrock ("Power and
//! deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979). That number is the knee.

use super::curve::{Curve, Point};
use crate::stats::mean::Mean;
use crate::stats::ratio::difference;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;

/// The knee, and between which numbers it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knee {
    /// Of the numbers measured, the one with the most throughput for its latency.
    pub at_once: u64,
    /// The least that may be it: of those not clearly worse, and of those that lie between it and the next measured.
    pub low: u64,
    pub high: u64,
    /// Whether the most that was measured is not clearly worse: then it may lie beyond.
    pub is_open: bool,
}

impl Knee {
    pub fn in_flight(&self, curve: &Curve<'_>) -> Estimate {
        let rounds = curve.points.iter().map(|point| point.rounds.len()).sum::<usize>() as f64;
        bounded(self.at_once as f64, self.low as f64, self.high as f64, rounds)
    }
}

pub(crate) fn knee(curve: &Curve<'_>) -> Option<Knee> {
    let best = curve.points.iter().max_by(|a, b| power(a).value.total_cmp(&power(b).value))?;
    let is_as_good = |point: &&Point<'_>| {
        let behind = difference(&power(best), &power(point)).interval(CONFIDENCE);
        point.at_once == best.at_once || behind.low <= 0.0
    };
    let first = curve.points.iter().position(|point| is_as_good(&point))?;
    let last = curve.points.iter().rposition(|point| is_as_good(&point))?;
    // Of a curve with one maximum it lies strictly between the neighbours of those that are as good.
    let below = first.checked_sub(1).map(|below| curve.points[below].at_once + 1);
    let above = curve.points.get(last + 1).map(|above| above.at_once - 1);
    Some(Knee {
        at_once: best.at_once,
        low: below.unwrap_or(curve.points[first].at_once),
        high: above.unwrap_or(curve.points[last].at_once),
        is_open: above.is_none(),
    })
}

/// The logarithm of throughput over latency, which by Little's law is throughput squared over the number under way.
fn power(point: &Point<'_>) -> Mean {
    let doubled = point.mean.scaled(2.0);
    Mean { value: doubled.value - (point.at_once as f64).ln(), ..doubled }
}

pub(crate) fn power_maximum(points: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let power = |(number, throughput): &(f64, f64)| throughput * throughput / number;
    let best = points.into_iter().max_by(|a, b| power(a).total_cmp(&power(b)))?;
    Some(best.0)
}
