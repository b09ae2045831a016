//! Throughput by the number of requests at a time: the measured curve, where more begins to cost more than it brings, and
//! what two other methods make of the same points. The experiment that measures it and the detectors both read it.

pub(crate) mod curve;
pub(crate) mod knee;
pub(crate) mod kneedle;
pub(crate) mod usl;

use curve::Curve;
use model::request::Operation;
use model::run::RunView;

/// By what share the most requests in flight measured complete more a second than the next fewer.
pub fn last_gain(run: &RunView<'_>, operation: Operation) -> Option<f64> {
    let curve = Curve::of(run, operation).ok()?;
    let (last, before) = curve.points.split_last()?;
    Some(last.iops().value / before.last()?.iops().value - 1.0)
}

/// Whether the knee is known to the factor of three that is stated.
pub fn is_knee_known(run: &RunView<'_>, operation: Operation) -> bool {
    let Ok(curve) = Curve::of(run, operation) else { return false };
    matches!(knee::knee(&curve), Some(knee) if knee.in_flight(&curve).is_conclusive())
}

/// Numbers of requests at a time on both sides of the knee so far, half way to the next that were measured, where finer points
/// say most; and the knee itself, to be measured again beside them. Empty when there is no knee, or no room next to it.
pub fn finer_numbers(run: &RunView<'_>, operation: Operation) -> Vec<u32> {
    let Ok(curve) = Curve::of(run, operation) else { return Vec::new() };
    let numbers: Vec<u64> = curve.points.iter().map(|point| point.at_once).collect();
    let Some(knee) = knee::knee(&curve) else { return Vec::new() };
    let at = numbers.iter().position(|&number| number == knee.at_once).unwrap_or(0);
    let below = at.checked_sub(1).map(|below| (numbers[below], numbers[at]));
    let above = numbers.get(at + 1).map(|&above| (numbers[at], above));
    let middle = |(low, high): (u64, u64)| {
        let middle = ((low as f64) * (high as f64)).sqrt().round() as u64;
        (low < middle && middle < high).then_some(middle)
    };
    let finer: Vec<u64> = [below, above].into_iter().flatten().filter_map(middle).collect();
    let with_knee = finer.iter().chain((!finer.is_empty()).then_some(&knee.at_once));
    with_knee.filter_map(|&number| u32::try_from(number).ok()).collect()
}
