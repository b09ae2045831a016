//! From which number of requests at a time more brings less than it costs.
//! # What it finds
//! The number of threads, or depth of the queue, with the most throughput for its latency, and between which numbers it lies.
//! # Why it matters
//! Throughput may go on rising for long past it, but every request then waits longer than the rise is worth. It is the number to
//! give a program that somebody waits for; one that nobody waits for may take the number with the most throughput.
//! # How
//! Requests a second and latency multiply to the number under way. More brings as much as it costs where throughput grows with
//! its square root; there throughput over latency is largest. The interval holds all numbers measured that are not clearly
//! worse than the best. Two other methods look at the same points: the universal scalability law, fitted and asked the same, and
//! Kneedle, which looks for the sharpest bend. Where they name another number, the finding says so and why.
//! # Cannot tell when
//! Fewer than three numbers were measured in two rounds each without failures; answers in no time; this tool is the limit.
//! # Known problems
//! The knee is one of the numbers measured. Its interval, without allowance for several comparisons, is rather too wide than too narrow.
//! # References
//! Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979; Little, "A
//! proof for the queuing formula L = λW", Operations Research 9, 1961; Gunther, "Guerrilla Capacity Planning", Springer 2007;
//! Satopää et al., "Finding a 'Kneedle' in a haystack", ICDCS Workshops 2011.

use super::concurrency_gain::gain_of;
use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::concurrency::curve::{Curve, Point};
use crate::concurrency::knee::{Knee, knee};
use crate::concurrency::kneedle::sharpest_bend;
use crate::concurrency::usl::Usl;
use crate::examined::Examined;
use crate::measured::{evidence_of, random_groups};
use model::finding::{
    ConcurrencyAxis, ConcurrencyKnee, ConcurrencyUnknown, Evidence, Finding, FindingCode, InFlight,
    OperatingPoint, OtherKnee, Outcome, ScalabilityLaw,
};
use model::request::Operation;

const POINTS_MIN: usize = 3;
/// Further off than this the law does not describe a curve: two neighbouring numbers seldom differ by more.
const LAW_ERROR_MAX: f64 = 0.25;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::ConcurrencyKnee],
    needs: &[Need::Random(Operation::Read), Need::Random(Operation::Write)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let is_read = !random_groups(run, Operation::Read).is_empty();
    let operation = if is_read { Operation::Read } else { Operation::Write };
    if random_groups(run, operation).len() < POINTS_MIN {
        return Vec::new();
    }
    let outcome = match saturation_point(run, operation) {
        Ok((knee, evidence)) => Outcome::known(knee, evidence),
        Err(reason) => Outcome::Unknown(reason),
    };
    vec![Finding::ConcurrencyKnee(outcome).with_caveats(&doubts(run))]
}

fn saturation_point(
    run: &Examined<'_>,
    operation: Operation,
) -> Result<(ConcurrencyKnee, Vec<Evidence>), ConcurrencyUnknown> {
    let curve = Curve::undisturbed(run, operation)?;
    let points = &curve.points;
    let too_few = ConcurrencyUnknown::TooFewDepths { have: points.len(), need: POINTS_MIN };
    if points.len() < POINTS_MIN {
        return Err(too_few);
    }
    let knee = knee(&curve).ok_or(too_few)?;
    let at = points.iter().find(|point| point.at_once == knee.at_once).ok_or(too_few)?;
    if at.is_limited_by_tool(run) {
        return Err(ConcurrencyUnknown::LimitedByTool);
    }
    let pairs: Vec<(f64, f64)> =
        points.iter().map(|point| (point.at_once as f64, point.iops().value)).collect();
    let scalability_law = scalability_law(&pairs);
    let kneedle = sharpest_bend(&pairs);
    let conclusion = ConcurrencyKnee {
        in_flight: knee.in_flight(&curve),
        knee: at.operating_point(),
        one: curve.one().operating_point(),
        next: points[1].operating_point(),
        most: most(&curve, knee),
        open_beyond: if knee.is_open { points.last().map(|point| point.at_once) } else { None },
        axis: match curve.in_flight(0) {
            InFlight::Depth(_) => ConcurrencyAxis::Depth,
            InFlight::Threads(_) => ConcurrencyAxis::Threads,
        },
        disagreeing: disagreeing(points, knee, scalability_law, kneedle),
        scalability_law,
        kneedle,
    };
    Ok((conclusion, evidence_of(points.iter().flat_map(|point| &point.visits))))
}

/// The fewest requests in flight that nothing certainly exceeds, if they are more than at the knee and certainly bring more than one.
fn most(curve: &Curve<'_>, knee: Knee) -> Option<OperatingPoint> {
    let (gain, best) = gain_of(curve)?;
    let best = &curve.points[best];
    if best.at_once > knee.at_once && gain.low > 1.0 { Some(best.operating_point()) } else { None }
}

fn scalability_law(pairs: &[(f64, f64)]) -> Option<ScalabilityLaw> {
    let law = Usl::fit(pairs)?;
    let knee = law.knee(pairs.iter().map(|pair| pair.0));
    Some(ScalabilityLaw { alpha: law.alpha, beta: law.beta, error_max: law.error_max(pairs), knee })
}

/// The other methods that put the knee further than a step away. A law that does not fit says nothing.
fn disagreeing(
    points: &[Point<'_>],
    knee: Knee,
    law: Option<ScalabilityLaw>,
    kneedle: Option<f64>,
) -> Vec<OtherKnee> {
    let numbers: Vec<u64> = points.iter().map(|point| point.at_once).collect();
    let mut others = Vec::new();
    if let Some(ScalabilityLaw { knee: Some(other), error_max, .. }) = law
        && error_max <= LAW_ERROR_MAX
        && !is_within_a_step(&numbers, knee, other)
    {
        others.push(OtherKnee::ScalabilityLaw(other));
    }
    if let Some(other) = kneedle
        && !is_within_a_step(&numbers, knee, other)
    {
        others.push(OtherKnee::Kneedle(other));
    }
    others
}

/// Whether a number is in the interval of the knee or next to it among those measured.
fn is_within_a_step(numbers: &[u64], knee: Knee, other: f64) -> bool {
    let low = numbers.iter().rev().find(|&&number| number < knee.low).unwrap_or(&knee.low);
    let high = numbers.iter().find(|&&number| number > knee.high).unwrap_or(&knee.high);
    (*low as f64..=*high as f64).contains(&other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_measured_is_a_step_away() {
        let numbers = [1, 2, 5, 10, 25];
        let knee = Knee { at_once: 5, low: 3, high: 9, is_open: false };
        assert!(is_within_a_step(&numbers, knee, 10.0) && is_within_a_step(&numbers, knee, 2.0));
        assert!(!is_within_a_step(&numbers, knee, 25.0) && !is_within_a_step(&numbers, knee, 1.0));
        assert!(is_within_a_step(&numbers, Knee { at_once: 1, low: 1, high: 1, is_open: false }, 1.0));
    }
}
