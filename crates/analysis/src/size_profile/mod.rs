//! Throughput by block size, from several rounds of each, and which rounds are outliers: a valley, a cache cliff, garbage collection,
//! other I/O. The experiment repeats those, and the detectors give the curve with and without them.

use crate::measured::is_measurement;
use crate::stats::mean::Mean;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::SizePattern;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Quantile};
use model::workload::{Pattern, Workload};
use std::collections::BTreeMap;

pub const EXPERIMENT: ExperimentName = ExperimentName::Sizes;
/// An outlier round differs from the others by a tenth, which leaves room for the zones of a disk, or more where rounds scatter.
const SPOILT_SHARE: f64 = 0.1;
/// Chance alone hardly ever makes a round differ by so many standard deviations.
const NOISE_TIMES: f64 = 6.0;
/// Below this share of the slower of its neighbours a size is a dip.
const DIP_SHARE: f64 = 0.85;
/// The standard deviation of a normal variable is so many times its median absolute deviation.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Of two rounds nobody can say which is the spoilt one.
const ROUNDS_MIN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointKey {
    pub operation: Operation,
    pub in_order: bool,
    pub depth: u64,
    pub size: Bytes,
}

impl PointKey {
    pub fn pattern(&self) -> SizePattern {
        if self.in_order { SizePattern::Sequential } else { SizePattern::Random }
    }

    pub fn of(workload: &Workload) -> Option<PointKey> {
        let [operation] = *workload.mix.operations() else { return None };
        Some(PointKey {
            operation,
            in_order: workload.pattern == Pattern::Sequential,
            depth: workload.in_flight_max(),
            size: workload.block_sizes.single()?,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub phase: u32,
    /// Bytes per second; writes with the flush that makes them lasting.
    pub rate: f64,
    pub slowest_s: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub key: PointKey,
    pub rounds: Vec<Round>,
    pub spoilt: Vec<bool>,
    pub is_dip: bool,
    /// The mean latency of one request in seconds over the rounds that were not spoilt, and what 99 of 100 took at most.
    pub latency_s: f64,
    pub latency_p99_s: f64,
    /// The slowest of all, also of spoilt rounds.
    pub latency_s_max: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeSweep {
    pub points: Vec<Point>,
}

impl SizeSweep {
    pub fn of(run: &RunView<'_>) -> SizeSweep {
        let mut phases: BTreeMap<PointKey, Vec<(Round, &PhaseSummary)>> = BTreeMap::new();
        for (index, summary) in (0u32..).zip(run.phases) {
            if summary.phase.experiment == EXPERIMENT
                && is_measurement(summary)
                && let Some((key, round)) = round(index, summary)
            {
                phases.entry(key).or_default().push((round, summary));
            }
        }
        let noise = noise_by_kind(&phases);
        let mut profile = SizeSweep::default();
        for (key, phases) in phases {
            let noise = noise.get(&kind(&key)).copied().unwrap_or(0.0);
            profile.points.push(point(key, &phases, limit(noise)));
        }
        profile.mark_dips();
        profile
    }

    /// Those to be repeated: too few rounds agree, or a dip was seen in no more rounds than all have.
    pub fn to_repeat(&self, rounds: usize) -> Vec<PointKey> {
        let mut open = Vec::new();
        for point in &self.points {
            let clean = point.rounds.len() - point.spoilt_count();
            let disagrees = point.spoilt_count() > 0 && clean < ROUNDS_MIN + 1;
            if disagrees || (point.is_dip && point.rounds.len() <= rounds) {
                open.push(point.key);
            }
        }
        open
    }

    fn mark_dips(&mut self) {
        let rates: Vec<f64> = self.points.iter().map(Point::clean_rate).collect();
        for index in 1..self.points.len().saturating_sub(1) {
            let [before, point, after] =
                [&self.points[index - 1], &self.points[index], &self.points[index + 1]];
            let has_neighbours = is_of_one_curve(before, point) && is_of_one_curve(point, after);
            let lower = rates[index - 1].min(rates[index + 1]);
            // One round that is as quick as the neighbours shows that the size can be: then most rounds were spoilt.
            let quickest = point.rounds.iter().map(|round| round.rate).fold(0.0, f64::max);
            let is_dip = has_neighbours && point.key.in_order && quickest < DIP_SHARE * lower;
            self.points[index].is_dip = is_dip;
        }
    }
}

impl Point {
    pub fn clean_rate(&self) -> f64 {
        let clean = self.clean();
        clean.iter().sum::<f64>() / clean.len().max(1) as f64
    }

    pub fn estimate(&self) -> Estimate {
        let clean = self.clean();
        let value = self.clean_rate();
        if clean.len() < 2 {
            return bounded(value, 0.0, f64::INFINITY, clean.len() as f64);
        }
        let estimate = Mean::about(value, &clean).interval(CONFIDENCE);
        Estimate { low: estimate.low.max(0.0), ..estimate }
    }

    /// The mean rate of all rounds: what a sweep shows that looks at nothing.
    pub fn plain_rate(&self) -> f64 {
        self.rounds.iter().map(|round| round.rate).sum::<f64>() / self.rounds.len().max(1) as f64
    }

    pub fn spoilt_count(&self) -> usize {
        self.spoilt.iter().filter(|spoilt| **spoilt).count()
    }

    pub(crate) fn spoilt_phases(&self) -> Vec<u32> {
        self.rounds_that_are(true).map(|round| round.phase).collect()
    }

    fn clean(&self) -> Vec<f64> {
        self.rounds_that_are(false).map(|round| round.rate).collect()
    }

    fn rounds_that_are(&self, spoilt: bool) -> impl Iterator<Item = &Round> {
        let rounds = self.rounds.iter().zip(&self.spoilt);
        rounds.filter(move |(_, is)| **is == spoilt).map(|(round, _)| round)
    }
}

fn is_of_one_curve(one: &Point, other: &Point) -> bool {
    kind(&one.key) == kind(&other.key) && one.key.depth == other.key.depth
}

/// What scatters alike: one operation, in order or not.
type Kind = (Operation, bool);

fn kind(key: &PointKey) -> Kind {
    (key.operation, key.in_order)
}

fn round(phase: u32, summary: &PhaseSummary) -> Option<(PointKey, Round)> {
    let workload = summary.phase.workload.as_ref()?;
    let key = PointKey::of(workload)?;
    let totals = summary.totals_of(key.operation)?;
    // What was under way when the time was up is not counted, so neither is the time after the last that was.
    let moved_ns = match totals.stretch {
        Some(stretch) => stretch.last_ns.saturating_sub(summary.start_ns),
        None => summary.duration_ns,
    };
    let seconds = (moved_ns + summary.flush_ns()) as f64 / 1e9;
    if totals.operations == 0 || seconds <= 0.0 {
        return None;
    }
    let slowest_s = totals.histogram.max().unwrap_or_default().seconds();
    Some((key, Round { phase, rate: totals.bytes as f64 / seconds, slowest_s }))
}

fn point(key: PointKey, phases: &[(Round, &PhaseSummary)], limit: f64) -> Point {
    let rounds: Vec<Round> = phases.iter().map(|(round, _)| *round).collect();
    let spoilt = spoilt(&rounds, limit);
    let mut histogram = model::histogram::LatencyHistogram::default();
    for ((_, summary), spoilt) in phases.iter().zip(&spoilt) {
        if let (Some(totals), false) = (summary.totals_of(key.operation), *spoilt) {
            histogram.merge(&totals.histogram);
        }
    }
    let slowest = rounds.iter().map(|round| round.slowest_s).fold(0.0, f64::max);
    let mean_s = histogram.sum_ns() as f64 / 1e9 / histogram.count().max(1) as f64;
    let latency_p99_s = histogram.quantile(Quantile::P99).map_or(mean_s, model::units::Nanos::seconds);
    Point { key, rounds, spoilt, is_dip: false, latency_s: mean_s, latency_p99_s, latency_s_max: slowest }
}

/// Which rounds differ from the middle one by more than the limit, on a logarithmic scale. None of fewer than three.
fn spoilt(rounds: &[Round], limit: f64) -> Vec<bool> {
    let middle = middle(rounds.iter().map(|round| round.rate.ln()).collect());
    let enough = rounds.len() >= ROUNDS_MIN;
    rounds.iter().map(|round| enough && (round.rate.ln() - middle).abs() > limit).collect()
}

fn limit(noise: f64) -> f64 {
    (NOISE_TIMES * noise).max(-(1.0 - SPOILT_SHARE).ln())
}

/// How much rounds of one point scatter, on a logarithmic scale: the median over all points of a kind.
fn noise_by_kind(phases: &BTreeMap<PointKey, Vec<(Round, &PhaseSummary)>>) -> BTreeMap<Kind, f64> {
    let mut deviations: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    for (key, phases) in phases {
        if phases.len() < ROUNDS_MIN {
            continue;
        }
        let rates: Vec<f64> = phases.iter().map(|(round, _)| round.rate.ln()).collect();
        let middle = middle(rates.clone());
        let mut of_point: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
        // The middle one is not away from itself.
        of_point.sort_by(f64::total_cmp);
        deviations.entry(kind(key)).or_default().extend(of_point.into_iter().skip(1));
    }
    deviations.into_iter().map(|(kind, of_kind)| (kind, MAD_TO_SIGMA * middle(of_kind))).collect()
}

fn middle(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let at = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read in order of so many KiB, with its rounds.
    fn size_of(kib: u64, rates: &[f64]) -> Point {
        let key =
            PointKey { operation: Operation::Read, in_order: true, depth: 1, size: Bytes::from_kib(kib) };
        let rounds = rounds(rates);
        let spoilt = spoilt(&rounds, limit(0.002));
        Point { key, rounds, spoilt, is_dip: false, latency_s: 0.0, latency_p99_s: 0.0, latency_s_max: 0.0 }
    }

    #[test]
    fn a_size_of_which_one_round_is_as_quick_as_its_neighbours_is_no_dip() {
        let is_dip = |rates: &[f64]| {
            let points = vec![size_of(16, &[100.0; 4]), size_of(32, rates), size_of(64, &[101.0; 4])];
            let mut profile = SizeSweep { points };
            profile.mark_dips();
            profile.points[1].is_dip
        };
        assert!(is_dip(&[43.0, 43.1, 43.2, 43.1]));
        assert!(!is_dip(&[43.0, 43.1, 43.2, 43.1, 101.0]), "somebody else read meanwhile, most of the time");
    }

    fn rounds(rates: &[f64]) -> Vec<Round> {
        rates.iter().map(|&rate| Round { phase: 0, rate, slowest_s: 0.0 }).collect()
    }

    #[test]
    fn a_round_that_differs_from_the_others_is_spoilt() {
        let limit = limit(0.002);
        assert_eq!(spoilt(&rounds(&[70.0, 69.5, 40.0]), limit), [false, false, true]);
        assert_eq!(spoilt(&rounds(&[70.0, 65.0, 67.0]), limit), [false, false, false]);
        assert_eq!(spoilt(&rounds(&[70.0, 40.0]), limit), [false, false]);
        // Where rounds scatter by 5 % anyway, a quarter less is nothing.
        assert_eq!(spoilt(&rounds(&[100.0, 101.0, 75.0]), super::limit(0.05)), [false, false, false]);
    }
}
