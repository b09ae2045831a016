//! From which number of requests at a time more brings less than it costs.
//!
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
//! The knee is one of the numbers measured. Its interval holds for curves with one maximum, and makes no allowance for several comparisons, so it is rather too wide
//! than too narrow.
//! # References
//! Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979; Little, "A
//! proof for the queuing formula L = λW", Operations Research 9, 1961; Gunther, "Guerrilla Capacity Planning", Springer 2007;
//! Satopää et al., "Finding a 'Kneedle' in a haystack", ICDCS Workshops 2011.

use super::trust::Subject;
use super::wording::{number, short_time};
use super::{Detector, Need};
use crate::concurrency::curve::{Curve, Point};
use crate::concurrency::knee::{Knee, knee};
use crate::concurrency::kneedle::sharpest_bend;
use crate::concurrency::usl::Usl;
use crate::measured::{Axis, evidence_of, random_groups};
use crate::stats::CONFIDENCE;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct ConcurrencyKnee;

/// A curve of two points is a line.
const POINTS_MIN: usize = 3;
/// The law does not describe a curve from which it is further off than this: two neighbouring numbers at a time seldom differ by
/// more.
const LAW_ERROR_MAX: f64 = 0.25;
/// So much of the most there is, is as good as the most for somebody who only wants throughput.
const MOST_SHARE: f64 = 0.95;

impl Detector for ConcurrencyKnee {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ConcurrencyKnee]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Random(Operation::Read), Need::Random(Operation::Write)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let is_read = !random_groups(run, Operation::Read).is_empty();
        let operation = if is_read { Operation::Read } else { Operation::Write };
        if random_groups(run, operation).len() < POINTS_MIN {
            // Whoever measures one or two numbers at a time asks for no knee.
            return Vec::new();
        }
        let finding =
            found(run, operation).unwrap_or_else(|why| Finding::unknown(FindingCode::ConcurrencyKnee, why));
        vec![finding]
    }
}

fn found(run: &RunView<'_>, operation: Operation) -> Result<Finding, String> {
    let curve = Curve::of(run, operation)?;
    if curve.points.len() < POINTS_MIN {
        return Err(format!(
            "It takes {POINTS_MIN} numbers of requests at a time, and {} were measured.",
            curve.points.len()
        ));
    }
    let knee = knee(&curve).ok_or("No number of requests at a time was measured.")?;
    if point(&curve, knee.at_once).is_some_and(|point| point.is_limited_by_tool(run)) {
        return Err("This tool itself may be the limit at that many requests a second, not the drive.".into());
    }
    let estimate = Estimate {
        value: knee.at_once as f64,
        low: knee.low as f64,
        high: knee.high as f64,
        confidence: CONFIDENCE,
        effective_count: curve.points.iter().map(|point| point.rounds.len()).sum::<usize>() as f64,
    };
    let others = Others::of(&curve);
    let mut statement = balance(&curve, knee);
    if knee.is_open {
        let most = curve.points.iter().map(|point| point.at_once).max().unwrap_or(knee.at_once);
        let open = format!(" More than {most} at a time were not tried, and may be better still.");
        statement.push_str(&open);
    }
    statement.push_str(&others.sentence(&curve, knee));
    let evidence = evidence_of(curve.points.iter().flat_map(|point| &point.visits));
    let finding = Finding::number(FindingCode::ConcurrencyKnee, estimate, "count", statement, evidence)
        .with_advice(advice(&curve, knee))
        .with_data("axis", Datum::Text(curve.axis().name().into()));
    let finding =
        others.data().into_iter().fold(finding, |finding, (name, datum)| finding.with_data(name, datum));
    Ok(Subject::of(run).qualify(finding))
}

fn point<'curve, 'run>(curve: &'curve Curve<'run>, at_once: u64) -> Option<&'curve Point<'run>> {
    curve.points.iter().find(|point| point.at_once == at_once)
}

/// Latency in a closed loop, by Little's law, in seconds.
fn latency_s(point: &Point<'_>) -> f64 {
    point.at_once as f64 / point.iops().value
}

/// What the knee brings against one at a time, or what two would cost if it is one.
fn balance(curve: &Curve<'_>, knee: Knee) -> String {
    let (one, next) = (curve.one(), &curve.points[1]);
    let percent = |share: f64| format!("{:.0}", 100.0 * share.max(0.0));
    match point(curve, knee.at_once).filter(|point| point.at_once > 1) {
        None => format!(
            "One request at a time is the best balance: {} bring {} % more per second, and each takes {} % longer.",
            next.at_once,
            percent(next.iops().value / one.iops().value - 1.0),
            percent(latency_s(next) / latency_s(one) - 1.0),
        ),
        Some(at) => format!(
            "Past {} at a time more brings less than it costs: {} bring {} per second, each in {}; one at a time brings {}, each in {}.",
            at.at_once,
            at.at_once,
            number(at.iops().value),
            short_time(latency_s(at)),
            number(one.iops().value),
            short_time(latency_s(one)),
        ),
    }
}

fn advice(curve: &Curve<'_>, knee: Knee) -> String {
    let of = |number: u64| match (curve.axis(), number) {
        (Axis::Depth, 1) => "one request at a time".to_string(),
        (Axis::Depth, _) => format!("{number} requests at a time"),
        (Axis::Threads, 1) => "one thread".to_string(),
        (Axis::Threads, _) => format!("{number} threads"),
    };
    let most = curve.points.iter().map(|point| point.iops().value).fold(0.0, f64::max);
    let enough = curve.points.iter().find(|point| point.iops().value >= MOST_SHARE * most);
    match enough.filter(|point| point.at_once > knee.at_once) {
        Some(point) => format!(
            "Where somebody waits for each answer, use {}; where only the number per second counts, {}: that brings {} per second, each in {}.",
            of(knee.at_once),
            of(point.at_once),
            number(point.iops().value),
            short_time(latency_s(point)),
        ),
        None => format!("Use {}; more bring nothing that is worth it.", of(knee.at_once)),
    }
}

/// What other methods make of the same points.
struct Others {
    law: Option<(Usl, f64)>,
    law_knee: Option<f64>,
    bend: Option<f64>,
}

impl Others {
    fn of(curve: &Curve<'_>) -> Others {
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|point| (point.at_once as f64, point.iops().value)).collect();
        let law = Usl::fit(&points);
        Others {
            law: law.map(|law| (law, law.error_max(&points))),
            law_knee: law.and_then(|law| law.knee(points.iter().map(|point| point.0))),
            bend: sharpest_bend(&points),
        }
    }

    fn sentence(&self, curve: &Curve<'_>, knee: Knee) -> String {
        let numbers: Vec<u64> = curve.points.iter().map(|point| point.at_once).collect();
        let is_near = |other: f64| is_within_a_step(&numbers, knee, other);
        let law = match (self.law, self.law_knee) {
            (Some((_, error)), _) if error > LAW_ERROR_MAX => {
                format!("the universal scalability law does not fit (up to {} % off)", number(100.0 * error))
            }
            (Some(_), Some(other)) if is_near(other) => "the universal scalability law agrees".into(),
            (Some(_), Some(other)) => {
                format!("the universal scalability law, drawn through all points, puts it at {other}")
            }
            _ => "the universal scalability law needs more points".to_string(),
        };
        let bend = match self.bend {
            Some(other) if is_near(other) => "Kneedle agrees".into(),
            Some(other) => format!(
                "Kneedle puts it at {other}, since it looks for the sharpest bend and not for what a request costs"
            ),
            None => "Kneedle sees no bend".to_string(),
        };
        let mut letters = law.chars();
        let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        format!(" {capital}{}; {bend}.", letters.as_str())
    }

    fn data(&self) -> Vec<(&'static str, Datum)> {
        let mut data = Vec::new();
        if let Some((law, error)) = self.law {
            let mut parts = vec![
                ("alpha", Datum::Number(law.alpha)),
                ("beta", Datum::Number(law.beta)),
                ("error_max", Datum::Number(error)),
            ];
            parts.extend(self.law_knee.map(|knee| ("knee", Datum::Number(knee))));
            data.push(("scalability_law", Datum::record(parts)));
        }
        data.extend(self.bend.map(|bend| ("kneedle", Datum::Number(bend))));
        data
    }
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
