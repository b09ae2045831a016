//! What idle time recovers of a write cache.
//! # What it finds
//! Bytes that can be written at full throughput again for each second of idle time, once the drive has started to clean.
//! # Why it matters
//! It says how long to pause after a burst so that an SMR disk or flash with a small cache never becomes slow.
//! # How
//! After the cliff the drive is left idle for times of different length, in random order, and written until throughput is down
//! again. As much of that was at full throughput as explains its time. A line through these volumes by idle time, zero until a
//! delay, gives the rate; all delays that fit the volumes within their errors make its interval.
//! # Cannot tell when
//! There was no cliff, or not of a cache; no idle time recovered anything, or only one did, so that nothing shows the delay.
//! # Known problems
//! Idle times that recover nine tenths of the cache and more are left out: they may be longer than it takes.
//! # References
//! SNIA, "SSS Performance Test Specification", 2.0.2, 2020: host idle recovery; Aghayev et al., "Skylight", FAST 2015.

use super::detect::{Detector, Need};
use super::trust::{doubts, is_behind_layers};
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::stats::student::t_two_sided;
use crate::stats::{CONFIDENCE, bounded};
use crate::sustained::{Cause, History, RateDrop, Regained, Standing, cause, regained, standing};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, IdlePoint, IdleRecovery, IdleRecoveryUnknown, Outcome};

/// From this share of the cache on, idle time may have recovered all of it.
const FULL_SHARE: f64 = 0.9;
/// Delays that are tried, up to the longest idle time.
const DELAYS: usize = 400;
/// How well two volumes of the same idle time agree, as a share.
const SCATTER_MIN: f64 = 0.03;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::IdleRecovery], needs: &[Need::Asked(ExperimentName::Sustain)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some(history) = History::of(run) else { return Vec::new() };
    let Standing::Fell(drop) = standing(history.first()) else {
        return Vec::new();
    };
    let points = regained(run, &history, &drop);
    if points.is_empty() {
        return Vec::new();
    }
    let recovery = match cause(run, &history, &drop) {
        Cause::Cache => recovery(&drop, &points),
        _ if is_behind_layers(run.target) => Err(IdleRecoveryUnknown::NotTheDrive),
        _ => Err(IdleRecoveryUnknown::NotACache),
    };
    let outcome = Outcome::of(recovery, evidence_of_phases(run, &history.phases_between()));
    vec![Finding::IdleRecovery(outcome).with_caveats(&doubts(run))]
}

fn recovery(drop: &RateDrop, points: &[Regained]) -> Result<IdleRecovery, IdleRecoveryUnknown> {
    let longest_s = points.iter().map(|point| point.rest_s).fold(0.0, f64::max);
    let down: Vec<&Regained> = points.iter().filter(|point| point.is_down).collect();
    if !down.iter().copied().any(Regained::is_some) {
        return Err(
            all_or_nothing(drop, points).unwrap_or(IdleRecoveryUnknown::NothingRecovered { longest_s })
        );
    }
    let partial: Vec<&Regained> =
        down.into_iter().filter(|point| point.bytes < FULL_SHARE * drop.bytes.value).collect();
    let (rate, delay_s) = line_through(&partial).ok_or(IdleRecoveryUnknown::OnePoint { longest_s })?;
    Ok(IdleRecovery {
        rate,
        points: points.iter().map(|point| IdlePoint { idle_s: point.rest_s, bytes: point.bytes }).collect(),
        delay_s,
        cache_bytes: drop.bytes.value,
        cached_rate: drop.before.rate().value,
    })
}

/// Where a rest won back the whole cache, and no shorter one a part of it.
fn all_or_nothing(drop: &RateDrop, points: &[Regained]) -> Option<IdleRecoveryUnknown> {
    let (mut nothing_s, mut all_s) = (None, f64::INFINITY);
    for point in points {
        if point.is_down {
            nothing_s = Some(point.rest_s.max(nothing_s.unwrap_or(0.0)));
        } else if point.bytes >= FULL_SHARE * drop.bytes.value {
            all_s = all_s.min(point.rest_s);
        }
    }
    all_s.is_finite().then_some(IdleRecoveryUnknown::AllOrNothing { nothing_s, all_s })
}

#[derive(Clone, Copy)]
struct Fit {
    delay_s: f64,
    slope: f64,
    variance: f64,
    residual: f64,
}

/// The rate and the delay of a line that is zero until a delay.
fn line_through(points: &[&Regained]) -> Option<(Estimate, f64)> {
    if points.iter().filter(|point| point.is_some()).count() < 2 {
        return None;
    }
    let longest_s = points.iter().map(|point| point.rest_s).fold(0.0, f64::max);
    let fits: Vec<Fit> =
        (0..DELAYS).filter_map(|index| fit(points, longest_s * index as f64 / DELAYS as f64)).collect();
    let best = *fits.iter().min_by(|one, other| one.residual.total_cmp(&other.residual))?;
    let free = (points.len() as f64 - 2.0).max(1.0);
    // What scatters more than its errors say has larger ones.
    let scale = (best.residual / free).max(1.0);
    let t = t_two_sided(CONFIDENCE, free);
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for fit in fits {
        if fit.residual <= best.residual + t * t * scale {
            let half = t * (fit.variance * scale).sqrt();
            low = low.min((fit.slope - half).max(0.0));
            high = high.max(fit.slope + half);
        }
    }
    let rate = bounded(best.slope, low, high, points.len() as f64);
    (best.slope > 0.0).then_some((rate, best.delay_s))
}

fn fit(points: &[&Regained], delay_s: f64) -> Option<Fit> {
    let (mut products, mut squares) = (0.0, 0.0);
    for point in points {
        products += weight(point) * after_delay_s(point, delay_s) * point.bytes;
        squares += weight(point) * after_delay_s(point, delay_s).powi(2);
    }
    if squares <= 0.0 {
        return None;
    }
    let slope = products / squares;
    let mut residual = 0.0;
    for point in points {
        residual += weight(point) * (point.bytes - slope * after_delay_s(point, delay_s)).powi(2);
    }
    Some(Fit { delay_s, slope, variance: 1.0 / squares, residual })
}

fn weight(point: &Regained) -> f64 {
    point.error_bytes.hypot(SCATTER_MIN * point.bytes).max(1.0).powi(-2)
}

fn after_delay_s(point: &Regained, delay_s: f64) -> f64 {
    (point.rest_s - delay_s).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sustained::Batch;

    #[test]
    fn a_line_begins_after_its_delay() {
        let point = |rest_s: f64| Regained {
            rest_s,
            bytes: 2e6 * (rest_s - 8.0_f64).max(0.0),
            error_bytes: 1e5,
            is_down: true,
        };
        let points = [1.0, 5.0, 10.0, 25.0, 50.0].map(point);
        let (line, delay_s) = line_through(&points.iter().collect::<Vec<_>>()).unwrap();
        assert!((line.value / 2e6 - 1.0).abs() < 0.01 && (delay_s - 8.0).abs() < 0.3);
        assert!(line.low < 2e6 && 2e6 < line.high && line.high < 2.4e6, "{} to {}", line.low, line.high);
        assert!(line_through(&points.iter().take(3).collect::<Vec<_>>()).is_none());
    }

    /// A volume that was told "no idle time recovered any cache", after each of which all of it was written at the full rate.
    #[test]
    fn a_rest_that_wins_back_everything_wins_back_something() {
        let batch = |phase: u32| {
            let rate = if phase < 20 { 400e6 } else { 40e6 };
            Batch { phase, start_s: 0.0, bytes: 40e6, seconds: 40e6 / rate, flush_s: 0.0 }
        };
        let batches: Vec<Batch> = (0..40).map(batch).collect();
        let Standing::Fell(drop) = standing(&batches) else { panic!("it fell") };
        let all = |rest_s| Regained { rest_s, bytes: 960e6, error_bytes: 1e6, is_down: false };
        let nothing = |rest_s| Regained { rest_s, bytes: 0.0, error_bytes: 1e6, is_down: true };
        let why = |points: &[Regained]| recovery(&drop, points).unwrap_err();
        assert_eq!(
            why(&[all(10.0), all(5.0)]),
            IdleRecoveryUnknown::AllOrNothing { nothing_s: None, all_s: 5.0 }
        );
        assert_eq!(
            why(&[nothing(1.0), all(10.0), nothing(2.0)]),
            IdleRecoveryUnknown::AllOrNothing { nothing_s: Some(2.0), all_s: 10.0 }
        );
        assert_eq!(why(&[nothing(1.0)]), IdleRecoveryUnknown::NothingRecovered { longest_s: 1.0 });
    }
}
