//! What more requests at a time bring.
//! # What it finds
//! The most random requests per second over all depths measured, as a multiple of those of one at a time.
//! # Why it matters
//! A disk gains two or three times by choosing the nearest of many, a flash drive as many times as it has dies, a drive
//! behind a slow bridge nothing. It says whether to give a drive many threads.
//! # How
//! Requests per second in each round, by depth, from when the queue has been gone through once. The best of several looks better than it is,
//! since chance helped to choose it. So for each round the best depth is chosen by the *other* rounds and its number taken from this one, which
//! played no part in the choice. Means of logarithms over rounds, as in `stats::grouped`; the interval by the delta method. Where all depths
//! above one are alike (F test), as on a disk without command queueing, there is no best to choose, and all of them together are compared with
//! one. The depth named is the least that is not clearly worse than the best. Figures of another program are taken as they are.
//! # Cannot tell when
//! One depth only was measured, or fewer than two rounds without failures; answers in no time; other I/O. When this tool itself is the
//! limit, the gain is a lower bound, and the finding says so.
//! # Known problems
//! Depths are tried up to 1000; a drive that gains more beyond is understated. Rounds that end with their last request or byte include the time
//! in which the queue runs empty, so the gain is understated where such rounds take less than a hundred times the slowest request.
//! # References
//! Stone, "Cross-validatory choice", JRSS B 36, 1974; Efron, "Tweedie's formula", JASA 106, 2011.

use super::detect::{Detector, Need};
use super::stated;
use super::trust::doubts;
use crate::concurrency::curve::{Curve, Point};
use crate::examined::Examined;
use crate::measured::{Visit, evidence_of, host_delay_s, random_groups};
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::{Mean, satterthwaite};
use crate::stats::ratio::difference;
use crate::stats::sample::Sample;
use crate::stats::student::f_tail;
use model::estimate::Estimate;
use model::finding::{ConcurrencyGain, ConcurrencyUnknown, Finding, FindingCode, Outcome, WriteGain};
use model::request::Operation;
use model::run::RunView;

/// Depths that differ so much less often than once in twenty times by chance are not alike. Where they do differ, and it is not
/// noticed, they differ by about as much as their intervals are wide, and the gain is too small by half of that.
const ALIKE_LEVEL: f64 = 0.05;
/// A deeper queue is advised for no smaller gain in IOPS: data sheets state them to two digits, in which 2 % do not show.
const GAIN_SHOWN_MIN: f64 = 0.02;

struct Gain<'run> {
    estimate: Estimate,
    best: usize,
    curve: Curve<'run>,
}

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::ConcurrencyGain],
    needs: &[
        Need::Random(Operation::Read),
        Need::Random(Operation::Write),
        Need::Asked(crate::stated::EXPERIMENT),
    ],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::gain(run);
    }
    let outcome = match (gain(run, Operation::Read), gain(run, Operation::Write)) {
        (Ok(read), write) => known(run, &read, Operation::Read, write.ok().as_ref()),
        (Err(_), Ok(write)) => known(run, &write, Operation::Write, None),
        (Err(read), Err(write)) => {
            let is_read = !random_groups(run, Operation::Read).is_empty();
            Outcome::Unknown(if is_read { read } else { write })
        }
    };
    vec![Finding::ConcurrencyGain(outcome).with_caveats(&doubts(run))]
}

fn gain<'run>(run: &Examined<'run>, operation: Operation) -> Result<Gain<'run>, ConcurrencyUnknown> {
    let curve = Curve::undisturbed(run, operation)?;
    let (seen, best) = gain_of(&curve).ok_or(ConcurrencyUnknown::TooFewRounds)?;
    // A queue hides what the host adds to each single request.
    let one = curve.one();
    let host_share = host_delay_s(run, one.visits.iter().map(Visit::summary)) * one.iops().value;
    let estimate = Estimate { low: seen.low * (1.0 - host_share).max(0.0), ..seen };
    Ok(Gain { estimate, best, curve })
}

/// The gain, and which point has it with the fewest requests in flight.
pub(super) fn gain_of(curve: &Curve<'_>) -> Option<(Estimate, usize)> {
    let interval = with_cut_requests(times_one(&curve.points)?.interval(CONFIDENCE), curve.one());
    let least = curve.one().mean.value + interval.low;
    let best = least_of_the_best(&curve.points, least)?;
    Some((interval.map_monotonic(f64::exp), best))
}

/// At least as wide as the request at queue depth 1 that the end of a round cuts; of deeper queues it is less.
fn with_cut_requests(gain: Estimate, one: &Point<'_>) -> Estimate {
    let cut = match one.operations_per_round() {
        operations if operations > 1.0 => f64::ln_1p(1.0 / (operations - 1.0)),
        _ => 0.0,
    };
    Estimate { low: gain.low.min(gain.value - cut), high: gain.high.max(gain.value + cut), ..gain }
}

fn known(
    run: &RunView<'_>,
    gain: &Gain<'_>,
    operation: Operation,
    write: Option<&Gain<'_>>,
) -> Outcome<ConcurrencyGain> {
    let second = Curve::second(run, operation);
    let conclusion = ConcurrencyGain {
        gain: gain.estimate,
        is_read: operation == Operation::Read,
        best: gain.curve.in_flight(gain.best),
        points: gain.curve.conclusions(),
        limited_by_tool: Some(gain.curve.points[gain.best].is_limited_by_tool(run)),
        points_by_threads: second.as_ref().map(Curve::conclusions),
        write: write.map(Gain::of_writes),
        imported: None,
    };
    Outcome::known(conclusion, evidence_of(gain.curve.points.iter().flat_map(|point| &point.visits)))
}

impl Gain<'_> {
    fn of_writes(&self) -> WriteGain {
        WriteGain {
            gain: self.estimate.value,
            low: self.estimate.low,
            high: self.estimate.high,
            best: self.curve.in_flight(self.best),
            points: self.curve.conclusions(),
        }
    }
}

/// The logarithm of what more at a time bring, as a multiple of one.
fn times_one(points: &[Point<'_>]) -> Option<Mean> {
    let one = points.iter().find(|point| point.at_once == 1)?;
    let top = match all_alike(points) {
        Some(top) => top,
        None => best_by_other_rounds(points)?,
    };
    Some(difference(&top, &one.mean))
}

/// The least depth above one whose interval comes within [`GAIN_SHOWN_MIN`] of the best mean, so that a deeper queue brings nothing certain,
/// and whose own mean is as near to what the gain says: a depth that was measured badly reaches far and does not bring what is said of it.
fn least_of_the_best(depths: &[Point<'_>], least: f64) -> Option<usize> {
    let mut most: Option<f64> = None;
    for depth in deeper(depths) {
        most = Some(most.unwrap_or(f64::NEG_INFINITY).max(depth.mean.value));
    }
    let most = most?;
    let shown = f64::ln_1p(-GAIN_SHOWN_MIN);
    for (index, depth) in depths.iter().enumerate() {
        let reaches =
            depth.mean.value >= least + shown && depth.mean.interval(CONFIDENCE).high >= most + shown;
        if depth.at_once > 1 && (depth.mean.value == most || reaches) {
            return Some(index);
        }
    }
    None
}

fn deeper<'points, 'run>(points: &'points [Point<'run>]) -> impl Iterator<Item = &'points Point<'run>> {
    points.iter().filter(|point| point.at_once > 1)
}

/// The logarithm of the rate of all depths above one, where chance makes their differences: then none is the best. All count alike,
/// since weights by variances that rest on a few rounds would make the interval too narrow.
fn all_alike(points: &[Point<'_>]) -> Option<Mean> {
    let (mut values, mut parts) = (Vec::new(), Vec::new());
    for Point { mean, .. } in deeper(points) {
        values.push(mean.value);
        parts.push((mean.variance, mean.degrees_of_freedom));
    }
    let count = values.len() as f64;
    let means = Sample::new(values)?;
    let (sum, within_dof) = satterthwaite(parts);
    let within = sum / count;
    let is_alike = within > 0.0 && f_tail(means.variance() / within, count - 1.0, within_dof) >= ALIKE_LEVEL;
    let mean = Mean { value: means.mean(), variance: within / count, degrees_of_freedom: within_dof };
    if is_alike { Some(mean) } else { None }
}

/// The logarithm of the best rate, each round's from the depth that is best by all others. Rounds that the best lacks are left out.
fn best_by_other_rounds(points: &[Point<'_>]) -> Option<Mean> {
    let rounds = deeper(points).map(|point| point.rounds.len()).max()?;
    let mut chosen = Vec::new();
    for round in 0..rounds {
        let mut best: Option<(f64, &Point<'_>)> = None;
        for point in deeper(points) {
            let mean = mean_without(point, round);
            if best.is_none_or(|(most, _)| mean.total_cmp(&most).is_ge()) {
                best = Some((mean, point));
            }
        }
        chosen.extend(best?.1.rounds.get(round));
    }
    mean_of_visits(&chosen)
}

fn mean_without(point: &Point<'_>, left_out: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (round, mean) in point.rounds.iter().enumerate() {
        if round != left_out {
            sum += mean.value;
            count += 1.0;
        }
    }
    if count > 0.0 { sum / count } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// A point with a mean of so many per second and a standard deviation of its logarithm.
    fn point<'run>(at_once: u64, per_second: f64, deviation: f64) -> Point<'run> {
        let mean = Mean { value: per_second.ln(), variance: deviation * deviation, degrees_of_freedom: 4.0 };
        Point { at_once, visits: Vec::new(), rounds: Vec::new(), mean, operation: Operation::Read }
    }

    /// A depth as `check` measures it on a disk: three rounds of some 130 reads, of which six batches tell how they scatter, 3 %.
    fn measured<'run>(at_once: u64, per_second: f64, prng: &mut Prng) -> Point<'run> {
        let round = |prng: &mut Prng| {
            let batches = (0..6).map(|_| per_second.ln() + 0.03 * 6f64.sqrt() * prng.normal()).collect();
            let batches = Sample::new(batches).unwrap();
            let variance = batches.variance() / 6.0;
            Mean { value: batches.mean(), variance, degrees_of_freedom: 5.0 }
        };
        let rounds: Vec<Mean> = (0..3).map(|_| round(prng)).collect();
        let mean = mean_of_visits(&rounds).unwrap();
        Point { at_once, visits: Vec::new(), rounds, mean, operation: Operation::Read }
    }

    /// Gains of 1000 disks of these rates: how many intervals hold `truth`, the mean, and how many are further than 6 % from it.
    fn gains(rates: [f64; 7], truth: f64) -> (usize, f64, usize) {
        let mut prng = Prng::new(7, 0);
        let (mut held, mut sum, mut off) = (0, 0.0, 0);
        for _ in 0..1000 {
            let points: Vec<Point<'_>> =
                (0..7).map(|power| measured(1 << power, rates[power], &mut prng)).collect();
            let gain = times_one(&points).unwrap();
            let interval = gain.interval(CONFIDENCE).map_monotonic(f64::exp);
            held += usize::from(interval.covers(truth));
            sum += interval.value;
            off += usize::from((interval.value / truth - 1.0).abs() > 0.06);
        }
        (held, sum / 1000.0, off)
    }

    /// Of the best of six depths that are alike, 27 in 1000 were further than 6 % from 1.
    #[test]
    fn a_disk_that_takes_one_at_a_time_gains_nothing() {
        let (held, mean, off) = gains([80.0; 7], 1.0);
        assert!(
            (920..=985).contains(&held) && (mean - 1.0).abs() < 0.005 && off <= 5,
            "{held}, {mean}, {off}"
        );
    }

    /// A disk that sorts its queue has depths that differ, and the best of them is chosen as before.
    #[test]
    fn a_disk_that_sorts_its_queue_gains_what_its_best_depth_brings() {
        let (held, mean, _) = gains([80.0, 84.0, 96.0, 112.0, 132.0, 156.0, 180.0], 2.25);
        assert!((910..=985).contains(&held) && (mean / 2.25 - 1.0).abs() < 0.01, "{held}, {mean}");
    }

    /// 7 at a time were measured so badly that their interval reaches what 1000 bring; 5.6 times as many is not 19 times.
    #[test]
    fn the_depth_that_is_named_brings_what_is_said_of_it() {
        let points = [
            point(1, 5765.0, 0.1),
            point(7, 32_342.0, 0.5),
            point(64, 104_000.0, 0.05),
            point(1000, 111_031.0, 0.05),
        ];
        let least = (14.0 * 5765.0_f64).ln();
        assert_eq!(least_of_the_best(&points, least).map(|best| points[best].at_once), Some(64));
        assert_eq!(
            least_of_the_best(&points[..2], least).map(|best| points[best].at_once),
            Some(7),
            "the only one"
        );
        assert_eq!(least_of_the_best(&points[..1], least), None);
    }

    /// An SSD that is measured to 0.1 % has 1 % more at a depth that makes its latency five times as long.
    #[test]
    fn a_gain_that_shows_in_no_data_sheet_takes_no_deeper_queue() {
        let points = [point(1, 17_690.0, 5e-4), point(200, 452_500.0, 5e-4), point(1000, 457_100.0, 5e-4)];
        let least = (25.80 * 17_690.0_f64).ln();
        assert_eq!(least_of_the_best(&points, least).map(|best| points[best].at_once), Some(200));
    }
}
