//! What more requests at a time bring.
//!
//! # What it finds
//! The most random requests per second over all depths measured, as a multiple of those of one at a time.
//! # Why it matters
//! A disk gains two or three times by choosing the nearest of many, a flash drive as many times as it has dies, a drive
//! behind a slow bridge nothing. It says whether to give a drive many threads.
//! # How
//! Requests per second in each round, by depth. The best of several looks better than it is, since chance helped to
//! choose it. So for each round the best depth is chosen by the *other* rounds and its number taken from this one, which
//! played no part in the choice. Means of logarithms over rounds, as in `stats::grouped`; the interval by the delta
//! method. A wrong choice makes the gain smaller, never larger. Where all depths above one are alike (F test), as on a disk that takes one
//! command at a time, there is no best to choose, and all of them together are compared with one. The depth named
//! is the least that is not clearly worse than the best.
//! Figures that another program stated are taken as they are: of one each, the best looks better than it is.
//! # Cannot tell when
//! One depth only was measured, or fewer than two rounds without failures; answers in no time. When this tool itself is the
//! limit, the gain is a lower bound, and the finding says so.
//! # Known problems
//! Depths are tried up to 64; a drive that gains more beyond is understated. Where this tool or the host is the limit, not the drive,
//! the gain is that of both. Rounds that end with their last request or byte include the time in which the queue runs empty, so
//! the gain is understated where such rounds take less than a hundred times the slowest request.
//! # References
//! Stone, "Cross-validatory choice and assessment of statistical predictions", JRSS B 36, 1974; Efron, "Tweedie's
//! formula and selection bias", JASA 106, 2011 (the winner's curse).

use super::stated;
use super::trust::Subject;
use super::wording::number;
use super::{Detector, Need};
use crate::concurrency::curve::{Curve, Point};
use crate::measured::{evidence_of, random_groups};
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::{Mean, satterthwaite};
use crate::stats::ratio::difference;
use crate::stats::sample::Sample;
use crate::stats::student::f_tail;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct ConcurrencyGain;

/// Up to this gain nobody would change a program for it; an interval that reaches further leaves it open.
const NO_GAIN_MAX: f64 = 1.5;
/// Depths that differ so much less often than once in twenty times by chance are not alike. Where they do differ, and it is not
/// noticed, they differ by about as much as their intervals are wide, and the gain is too small by half of that.
const ALIKE_LEVEL: f64 = 0.05;

struct Gain<'run> {
    /// A ratio.
    estimate: Estimate,
    /// The depth to name.
    best: usize,
    curve: Curve<'run>,
}

impl Detector for ConcurrencyGain {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ConcurrencyGain]
    }

    fn needs(&self) -> &'static [Need] {
        &[
            Need::Random(Operation::Read),
            Need::Random(Operation::Write),
            Need::Asked(crate::stated::EXPERIMENT),
        ]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) {
            return stated::gain(run);
        }
        let (read, write) = (gain(run, Operation::Read), gain(run, Operation::Write));
        let finding = match (&read, &write) {
            (Ok(read), Ok(write)) => {
                state(run, read, Operation::Read).with_data("write", Datum::record(details(write)))
            }
            (Ok(read), Err(_)) => state(run, read, Operation::Read),
            (Err(_), Ok(write)) => state(run, write, Operation::Write),
            (Err(why), Err(why_not_written)) => {
                let read_at_all = !random_groups(run, Operation::Read).is_empty();
                let why = if read_at_all { why } else { why_not_written };
                Finding::unknown(FindingCode::ConcurrencyGain, why.clone())
            }
        };
        vec![finding]
    }
}

fn gain<'run>(run: &RunView<'run>, operation: Operation) -> Result<Gain<'run>, String> {
    let curve = Curve::of(run, operation)?;
    let gain = times_one(&curve.points).ok_or("It takes two rounds at each depth.")?;
    let interval = gain.interval(CONFIDENCE);
    let least = curve.one().mean.value + interval.low;
    let best = least_of_the_best(&curve.points, least).ok_or("It takes another depth than one.")?;
    Ok(Gain { estimate: interval.map_monotonic(f64::exp), best, curve })
}

/// The logarithm of what more at a time bring, as a multiple of one.
fn times_one(points: &[Point<'_>]) -> Option<Mean> {
    let one = points.iter().find(|point| point.at_once == 1)?;
    let top = all_alike(points).or_else(|| best_by_other_rounds(points))?;
    Some(difference(&top, &one.mean))
}

/// The least depth above one whose interval reaches the best mean, so that more requests at a time bring nothing certain, and whose
/// own mean is no less than the gain says: a depth that was measured badly reaches far and does not bring what is said of it.
fn least_of_the_best(depths: &[Point<'_>], least: f64) -> Option<usize> {
    let most = depths
        .iter()
        .filter(|depth| depth.at_once > 1)
        .map(|depth| depth.mean.value)
        .max_by(f64::total_cmp)?;
    depths.iter().position(|depth| {
        let reaches = depth.mean.value >= least && depth.mean.interval(CONFIDENCE).high >= most;
        depth.at_once > 1 && (depth.mean.value == most || reaches)
    })
}

/// The logarithm of the rate of all depths above one, where they do not differ by more than chance makes them: then none of them is the
/// best, and each has measured the same. All count alike, since weights by variances that rest on a few rounds would make the
/// interval too narrow.
fn all_alike(points: &[Point<'_>]) -> Option<Mean> {
    let deeper: Vec<Mean> = points.iter().filter(|point| point.at_once > 1).map(|point| point.mean).collect();
    let means = Sample::new(deeper.iter().map(|mean| mean.value).collect())?;
    let (sum, within_dof) = satterthwaite(deeper.iter().map(|mean| (mean.variance, mean.degrees_of_freedom)));
    let count = deeper.len() as f64;
    let within = sum / count;
    let is_alike = within > 0.0 && f_tail(means.variance() / within, count - 1.0, within_dof) >= ALIKE_LEVEL;
    is_alike.then(|| Mean { value: means.mean(), variance: within / count, degrees_of_freedom: within_dof })
}

/// The logarithm of the best rate, each round's from the depth that is best by all other rounds. Long queues have fewer rounds, and
/// the knee has more: a round that the best has not is left out.
fn best_by_other_rounds(points: &[Point<'_>]) -> Option<Mean> {
    let deeper = || points.iter().filter(|point| point.at_once > 1);
    let rounds = deeper().map(|point| point.rounds.len()).max()?;
    let without = |point: &Point<'_>, left_out: usize| {
        let others = point.rounds.iter().enumerate().filter(|(round, _)| *round != left_out);
        let (sum, count) = others.fold((0.0, 0.0), |(sum, count), (_, mean)| (sum + mean.value, count + 1.0));
        if count > 0.0 { sum / count } else { f64::NEG_INFINITY }
    };
    let chosen: Vec<Mean> = (0..rounds)
        .filter_map(|round| {
            let best = deeper().max_by(|a, b| without(a, round).total_cmp(&without(b, round)))?;
            best.rounds.get(round).copied()
        })
        .collect();
    mean_of_visits(&chosen)
}

fn details(gain: &Gain<'_>) -> Vec<(&'static str, Datum)> {
    vec![
        ("gain", Datum::Number(gain.estimate.value)),
        ("low", Datum::Number(gain.estimate.low)),
        ("high", Datum::Number(gain.estimate.high)),
        (gain.curve.axis().name(), Datum::Integer(gain.curve.points[gain.best].at_once)),
        ("points", gain.curve.data()),
    ]
}

fn state(run: &RunView<'_>, gain: &Gain<'_>, operation: Operation) -> Finding {
    let best = &gain.curve.points[gain.best];
    // By the gain, which may rest on all depths: the rate of one depth beside it would not be that many times as high.
    let one = gain.curve.one().iops().value;
    let verb = if operation == Operation::Write { "writes" } else { "reads" };
    let limited = best.is_limited_by_tool(run);
    let mut statement = if gain.estimate.low > 1.0 {
        format!(
            "{} random {verb} at a time bring {} times as many per second as one: {} instead of {}.",
            best.at_once,
            number(gain.estimate.value),
            number(one * gain.estimate.value),
            number(one),
        )
    } else if gain.estimate.high <= NO_GAIN_MAX {
        format!(
            "More random {verb} at a time bring no gain: at best {} times as many per second, at a depth of {}.",
            number(gain.estimate.value),
            best.at_once
        )
    } else {
        format!(
            "Whether more random {verb} at a time bring a gain is not certain: {} times as many per second at a depth of {}, \
             but from {} to {} times is possible. Measure longer.",
            number(gain.estimate.value),
            best.at_once,
            number(gain.estimate.low),
            number(gain.estimate.high)
        )
    };
    if limited {
        statement.push_str(" This tool itself may be the limit, so the gain may be larger.");
    }
    let evidence = evidence_of(gain.curve.points.iter().flat_map(|depth| &depth.visits));
    let finding = Finding::number(FindingCode::ConcurrencyGain, gain.estimate, "ratio", statement, evidence);
    let finding = details(gain)
        .into_iter()
        .filter(|(name, _)| !["gain", "low", "high"].contains(name))
        .fold(finding, |finding, (name, datum)| finding.with_data(name, datum))
        .with_data("limited_by_tool", Datum::Flag(limited));
    let finding = match Curve::second(run, operation) {
        Some(second) => finding.with_data("points_by_threads", second.data()),
        None => finding,
    };
    Subject::of(run).qualify(finding)
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
}
