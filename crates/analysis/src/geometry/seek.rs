//! How long the arm takes over which distance, from whether it was in time for a sector.
//!
//! A *hop* is a read of a place whose angle is known, right after another one. It took the command, the seek and the wait for the
//! sector: so command and seek took no more than the hop, and more than the hop less a turn. See `censored` for how a curve comes
//! of such bounds. Distances are shares of all cylinders.

use super::censored::{Bounds, Fit, Setting};
use super::{Density, Reading, Rotation, wrapped};
use crate::stats::bounded;
use model::estimate::Estimate;

/// Knots of the curve, as roots of the distance: short seeks grow with the root, long ones with the distance (Ruemmler and
/// Wilkes 1994), and both are smooth over the root.
const KNOTS: [f64; 13] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// How sharply curves bend over the root of the distance: published ones rise by 8 to 20 ms over all cylinders, with the
/// distance in the end; that bends twice as much in one unit.
const BEND_S: f64 = 40e-3;
/// The longest seeks known take 63 ms (ST-157A), those of the last thirty years up to 30: climbing begins in the middle.
const START_S: (f64, f64) = (4e-3, 12e-3);
/// Angles of one place may differ by this much when a drive turns a little unevenly; what a cache answered differs by anything.
const UNEVEN_TURNS: f64 = 0.02;
const HOPS_MIN: usize = 200;
/// Two-sided 95 % of a normal distribution.
const NORMAL_95: f64 = 1.96;
const STEPS: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    pub from: u64,
    pub to: u64,
    pub seconds: f64,
}

pub fn hops_of(readings: &[Reading], rotation: &Rotation) -> Vec<Hop> {
    let tolerance = rotation.tolerance_turns().max(UNEVEN_TURNS);
    let (mut hops, mut is_arm_elsewhere) = (Vec::new(), false);
    for reading in readings {
        // For what a cache answers the arm stays where it is; and it meets its angle one time in 25 by chance.
        let was_arm_elsewhere = std::mem::replace(&mut is_arm_elsewhere, rotation.is_cached(reading));
        let (Some((from, _)), Some(angle)) = (reading.before, rotation.angle(reading.offset)) else {
            continue;
        };
        let met = wrapped(rotation.phase(reading.completed_ns) - angle).abs() <= tolerance;
        if met && !was_arm_elsewhere && !is_arm_elsewhere {
            hops.push(Hop { from, to: reading.offset, seconds: reading.seconds() });
        }
    }
    hops
}

/// The time of command and seek over the share of all cylinders between two places.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    fit: Fit,
    hops: usize,
}

/// A basis of lines over the root of the distance.
fn shares_at(distance: f64) -> Vec<(usize, f64)> {
    let root = distance.clamp(0.0, 1.0).sqrt();
    let after = KNOTS.iter().position(|knot| *knot >= root).unwrap_or(KNOTS.len() - 1).max(1);
    let within = (root - KNOTS[after - 1]) / (KNOTS[after] - KNOTS[after - 1]);
    vec![(after - 1, 1.0 - within), (after, within)]
}

fn weights_at(distance: f64) -> Vec<f64> {
    let mut weights = vec![0.0; KNOTS.len()];
    for (knot, share) in shares_at(distance) {
        weights[knot] += share;
    }
    weights
}

/// The mean over all pairs of cylinders, as makers define it: of all pairs, those at a distance x have a share of 2(1 − x).
fn weights_of_mean() -> Vec<f64> {
    let mut weights = vec![0.0; KNOTS.len()];
    for step in 0..STEPS {
        let distance = (step as f64 + 0.5) / STEPS as f64;
        for (knot, share) in shares_at(distance) {
            weights[knot] += 2.0 * (1.0 - distance) * share / STEPS as f64;
        }
    }
    weights
}

fn setting(rotation: &Rotation, timing_s: f64) -> Setting {
    let bend = |window: &[f64], at: usize| {
        let (left, right) = (window[1] - window[0], window[2] - window[1]);
        let shares = vec![(at, 1.0 / left), (at + 1, -1.0 / left - 1.0 / right), (at + 2, 1.0 / right)];
        (shares, BEND_S * (left + right) / 2.0)
    };
    Setting {
        start_s: KNOTS.iter().map(|root| START_S.0 + root * root * START_S.1).collect(),
        smooth: KNOTS.windows(3).enumerate().map(|(at, window)| bend(window, at)).collect(),
        timing_s,
        reach_s: rotation.turn_s(),
    }
}

impl SeekCurve {
    pub fn of(hops: &[Hop], rotation: &Rotation, density: &Density) -> Option<SeekCurve> {
        if hops.len() < HOPS_MIN {
            return None;
        }
        let turn_s = rotation.turn_s();
        let bounds: Vec<Bounds> = hops
            .iter()
            .map(|hop| {
                let passing_s = density.turns_per_sector(hop.to).unwrap_or(0.0) * turn_s;
                let high_s = hop.seconds - passing_s;
                let distance = (density.share(hop.to) - density.share(hop.from)).abs();
                Bounds { low_s: high_s - turn_s, high_s, shares: shares_at(distance) }
            })
            .collect();
        // No moment is known better than a sector takes to pass, a two-thousandth of a turn at the least.
        let timing_s = turn_s * rotation.scatter_turns.max(1.0 / 2000.0);
        let fit = Fit::of(&bounds, &setting(rotation, timing_s))?;
        Some(SeekCurve { fit, hops: hops.len() })
    }

    /// The time over a share of the cylinders with the command, in seconds, and how much single ones scatter.
    pub fn at(&self, distance: f64) -> (f64, f64) {
        let value = self.fit.sum(&weights_at(distance)).0;
        (value, (value * self.fit.noise).abs())
    }

    /// The seek over a share of the cylinders, without the overhead of a command.
    pub fn seek(&self, distance: f64, overhead: &Estimate) -> Estimate {
        self.less(&weights_at(distance), overhead)
    }

    pub fn mean(&self, overhead: &Estimate) -> Estimate {
        self.less(&weights_of_mean(), overhead)
    }

    pub fn late_share(&self) -> f64 {
        self.fit.late
    }

    /// How much seeks scatter, as a share of their time.
    pub fn noise(&self) -> f64 {
        self.fit.noise
    }

    pub fn hops(&self) -> usize {
        self.hops
    }

    fn less(&self, weights: &[f64], overhead: &Estimate) -> Estimate {
        let (value, deviation) = self.fit.sum(weights);
        let (value, half) = (value - overhead.value, NORMAL_95 * deviation);
        let low = value - half.hypot(overhead.high - overhead.value);
        let high = value + half.hypot(overhead.value - overhead.low);
        bounded(value, low, high, self.hops as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_the_mean_are_those_of_all_pairs() {
        let weights = weights_of_mean();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        // The mean distance of two random places is a third of all, and the mean of its root 8/15.
        let mean_root: f64 = weights.iter().zip(KNOTS).map(|(weight, root)| weight * root).sum();
        assert!((mean_root - 8.0 / 15.0).abs() < 1e-4, "{mean_root}");
        assert_eq!(weights_at(1.0)[12], 1.0);
        assert_eq!(weights_at(0.25)[7], 1.0);
    }
}
