//! Times that are known to lie between two bounds a turn apart: the most likely curve through them.
//!
//! Whoever arrives at a track waits for the sector; so a read that took `t` tells that arriving took more than `t` less a turn and no more than
//! `t`. Each such pair of bounds says little, and thousands of them, wherever they lie, pin a curve down: with arrivals that scatter by σ around
//! it, n of them leave an error of √(T·σ/2n). For a given σ the logarithm of the likelihood is concave in the values of the curve at its knots,
//! so climbing finds its only top; climbing begins with a σ that is so wide that everything is within reach.
//!
//! A share of the reads was held up by something else (other load, a retry): for those only the upper bound holds.

use super::linear::{Matrix, factor, solved};
use crate::stats::bounded;
use model::estimate::Estimate;
use statrs::function::erf::erfc;

/// Bounds of one time, and the curve there: shares of the values at some knots.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) low_s: f64,
    pub(super) high_s: f64,
    pub(super) shares: Vec<(usize, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) start_s: Vec<f64>,
    /// Which combinations of values are small, and by what standard deviation: the curve is smooth.
    pub(super) smooth: Vec<(Vec<(usize, f64)>, f64)>,
    /// The standard deviation of a moment by itself, whatever the curve.
    pub(super) timing_s: f64,
    pub(super) reach_s: f64,
}

/// The most likely curve for each noise. Which noise is right is known by the few bounds near the curve: each counts by its likelihood.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The standard deviation of single times, as a share of the curve: the most likely.
    pub(super) noise: f64,
    pub(super) late: f64,
    tops: Vec<Top>,
}

#[derive(Clone, Debug)]
struct Top {
    height: f64,
    values_s: Vec<f64>,
    factor: Matrix,
}

/// Noises that are tried, as shares of the time: those of seeks are about 3 %.
const NOISES: [f64; 9] = [0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1];
/// What is thought of the share of held-up reads before any is seen, and the least and the most.
const LATE: f64 = 0.02;
const LATE_MIN: f64 = 0.002;
const LATE_MAX: f64 = 0.5;
/// Over how many turns a held-up read is equally likely to end.
const LATE_TURNS: f64 = 4.0;
/// Of what no rule explains: a read that a cache answered after all.
const STRAY: f64 = 1e-6;
const STEPS: usize = 25;
/// So many likelihoods, none below that of a stray, are multiplied before a logarithm is taken: 10⁻¹⁹² is still a number.
const FACTORS: usize = 32;
/// A normal number is so many deviations below or above with less than a ten-thousandth of the chance of a stray.
const SURELY: f64 = 6.5;

impl Fit {
    /// The most likely curve; none where the bounds do not fix one.
    pub(super) fn of(bounds: &[Bounds], setting: &Setting) -> Option<Fit> {
        let mut climb = Climb { bounds, setting, late: LATE };
        let mut values = setting.start_s.clone();
        let mut reach_s = setting.reach_s;
        while reach_s > 0.02 * setting.reach_s {
            values = climb.top(values, 0.0, reach_s)?.0;
            reach_s /= 2.0;
        }
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        for noise in NOISES {
            let (top, height) = climb.top(values.clone(), noise, setting.timing_s)?;
            climb.late = climb.late_share(&top, noise, setting.timing_s);
            if best.as_ref().is_none_or(|(best, _, _)| height > *best) {
                best = Some((height, noise, top));
            }
        }
        let (_, noise, top) = best?;
        climb.late = climb.late_share(&top, noise, setting.timing_s);
        let mut tops = Vec::new();
        for noise in NOISES {
            let (values_s, height) = climb.top(top.clone(), noise, setting.timing_s)?;
            let (_, hessian) = climb.slope(&values_s, noise, setting.timing_s);
            tops.push(Top { height, values_s, factor: factor(&hessian)? });
        }
        Some(Fit { noise, late: climb.late, tops })
    }

    pub(super) fn sum(&self, weights: &[f64]) -> (f64, f64) {
        let highest = self.tops.iter().map(|top| top.height).fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut first, mut second) = (0.0, 0.0, 0.0);
        for top in &self.tops {
            let likelihood = (top.height - highest).exp();
            let value: f64 = top.values_s.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            let solution = solved(&top.factor, weights);
            let variance: f64 = solution.iter().zip(weights).map(|(part, weight)| part * weight).sum();
            all += likelihood;
            first += likelihood * value;
            second += likelihood * (variance.max(0.0) + value * value);
        }
        let value = first / all;
        (value, (second / all - value * value).max(0.0).sqrt())
    }
}

/// By how much the logarithm of the likelihood falls off the ends of a 95 % interval: half of what the square of Student's t with 15 degrees of
/// freedom exceeds once in twenty times (Wilks 1938, who knows the scatter: here it is told by the 16 or so of 150 pairs that lie within it).
const FALL: f64 = 2.27;
/// Steps to a turn in which a single time is looked for.
const SINGLE_STEPS: usize = 4000;
/// One in ten of them first, and then all where these fall by no more than this: what lies between two falls by less.
const ROUGH_STEPS: usize = 10;
const ROUGH_FALL: f64 = 100.0;

/// The most likely single time within a turn, given bounds of it, and how far off it may be. Where nothing lies between two
/// bounds, everything between them is as likely, and the middle is taken.
pub(super) fn one_time(bounds: &[(f64, f64)], turn_s: f64, timing_s: f64) -> Estimate {
    let mut all = Vec::with_capacity(bounds.len());
    for &(low_s, high_s) in bounds {
        all.push(Bounds { low_s, high_s, shares: vec![(0, 1.0)] });
    }
    let timing_s = timing_s.max(turn_s / SINGLE_STEPS as f64);
    let setting = Setting { start_s: vec![0.0], smooth: Vec::new(), timing_s, reach_s: turn_s };
    let climb = Climb { bounds: &all, setting: &setting, late: LATE };
    let height_at = |step: usize| {
        let time = turn_s * step as f64 / SINGLE_STEPS as f64;
        let of_noise = |noise: &f64| climb.height(&[time], *noise, timing_s);
        NOISES.iter().map(of_noise).fold(f64::NEG_INFINITY, f64::max)
    };
    let rough: Vec<f64> = (0..=SINGLE_STEPS).step_by(ROUGH_STEPS).map(height_at).collect();
    let rough_top = rough.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_near = |height: &f64| *height >= rough_top - ROUGH_FALL;
    let first = ROUGH_STEPS * rough.iter().position(is_near).unwrap_or(0).saturating_sub(1);
    let last = ROUGH_STEPS * (rough.iter().rposition(is_near).unwrap_or(rough.len()) + 1);
    let (mut times, mut heights) = (Vec::new(), Vec::new());
    let mut top = f64::NEG_INFINITY;
    for step in first.max(1)..=last.min(SINGLE_STEPS) {
        let height = height_at(step);
        times.push(turn_s * step as f64 / SINGLE_STEPS as f64);
        heights.push(height);
        top = top.max(height);
    }
    let within = |fall: f64| -> (f64, f64) {
        let first = heights.iter().position(|height| *height >= top - fall).unwrap_or(0);
        let last = heights.iter().rposition(|height| *height >= top - fall).unwrap_or(0);
        (times[first], times[last])
    };
    let ((low, high), (top_low, top_high)) = (within(FALL), within(0.1));
    bounded((top_low + top_high) / 2.0, low, high, bounds.len() as f64)
}

struct Climb<'bounds> {
    bounds: &'bounds [Bounds],
    setting: &'bounds Setting,
    late: f64,
}

/// Of one pair of bounds: the likelihood, its slope over the curve, and the part of it that is being held up.
struct Likely {
    value: f64,
    slope: f64,
    late: f64,
}

impl Climb<'_> {
    fn top(&self, mut values: Vec<f64>, noise: f64, timing_s: f64) -> Option<(Vec<f64>, f64)> {
        let mut height = self.height(&values, noise, timing_s);
        for _ in 0..STEPS {
            let (slope, hessian) = self.slope(&values, noise, timing_s);
            let step = solved(&factor(&hessian)?, &slope);
            let mut scale = 1.0;
            let mut moved = false;
            while scale > 0.01 {
                let there: Vec<f64> =
                    values.iter().zip(&step).map(|(value, step)| value + scale * step).collect();
                let above = self.height(&there, noise, timing_s);
                if above > height {
                    moved = above - height > 1e-3;
                    (values, height) = (there, above);
                    break;
                }
                scale /= 3.0;
            }
            if !moved {
                break;
            }
        }
        Some((values, height))
    }

    fn likely(&self, bounds: &Bounds, values: &[f64], noise: f64, timing_s: f64) -> Likely {
        let at = weighted(&bounds.shares, values);
        let deviation = ((noise * at).powi(2) + timing_s * timing_s).sqrt();
        let (high, low) = ((bounds.high_s - at) / deviation, (bounds.low_s - at) / deviation);
        let below_high = below(high);
        let sound = (1.0 - self.late) * (below_high - below(low)).max(0.0);
        let late = self.late / LATE_TURNS * below_high;
        let slope =
            (1.0 - self.late) * (density(low) - density(high)) - self.late / LATE_TURNS * density(high);
        Likely { value: sound + late + STRAY, slope: slope / deviation, late }
    }

    fn height(&self, values: &[f64], noise: f64, timing_s: f64) -> f64 {
        let mut sum = 0.0;
        for bounds in self.bounds.chunks(FACTORS) {
            let mut likelihood = 1.0;
            for one in bounds {
                likelihood *= self.likely(one, values, noise, timing_s).value;
            }
            sum += f64::ln(likelihood);
        }
        let mut rough = 0.0;
        for (shares, deviation) in &self.setting.smooth {
            let bend = weighted(shares, values);
            rough += 0.5 * (bend / deviation) * (bend / deviation);
        }
        sum - rough
    }

    /// The slope of the height, and how sharply it bends, from the squares of single slopes (Berndt and others 1974): that is never negative.
    fn slope(&self, values: &[f64], noise: f64, timing_s: f64) -> (Vec<f64>, Matrix) {
        let size = values.len();
        let mut slope = vec![0.0; size];
        let mut bend = vec![vec![0.0; size]; size];
        for bounds in self.bounds {
            let likely = self.likely(bounds, values, noise, timing_s);
            let share_of_slope = likely.slope / likely.value;
            add(&mut slope, &mut bend, &bounds.shares, share_of_slope, share_of_slope * share_of_slope);
        }
        for (shares, deviation) in &self.setting.smooth {
            let rough = weighted(shares, values);
            let weight = 1.0 / (deviation * deviation);
            add(&mut slope, &mut bend, shares, -rough * weight, weight);
        }
        (slope, bend)
    }

    fn late_share(&self, values: &[f64], noise: f64, timing_s: f64) -> f64 {
        let mut late = 0.0;
        for bounds in self.bounds {
            let likely = self.likely(bounds, values, noise, timing_s);
            late += likely.late / likely.value;
        }
        let share = late / self.bounds.len().max(1) as f64;
        share.clamp(LATE_MIN, LATE_MAX)
    }
}

fn weighted(shares: &[(usize, f64)], values: &[f64]) -> f64 {
    shares.iter().map(|(knot, share)| share * values[*knot]).sum()
}

fn add(slope: &mut [f64], bend: &mut Matrix, shares: &[(usize, f64)], by: f64, weight: f64) {
    for (row, share) in shares {
        slope[*row] += share * by;
        for (column, other) in shares {
            bend[*row][*column] += share * other * weight;
        }
    }
}

fn below(deviations: f64) -> f64 {
    match deviations {
        above if above > SURELY => 1.0,
        under if under < -SURELY => 0.0,
        _ => 0.5 * erfc(-deviations / std::f64::consts::SQRT_2),
    }
}

fn density(deviations: f64) -> f64 {
    if deviations.abs() > SURELY {
        return 0.0;
    }
    (-0.5 * deviations * deviations).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// Arrivals at 5 ms that scatter by 3 %, seen only through which turn of 8 ms they were in; one in twenty is held up.
    #[test]
    fn a_time_is_found_through_bounds_a_turn_apart() {
        let mut prng = Prng::new(3, 1);
        let mut misses = 0;
        for _ in 0..40 {
            let bounds: Vec<Bounds> = (0..400)
                .map(|_| {
                    let held_up = if prng.unit() < 0.05 { 20.0 * prng.unit() } else { 0.0 };
                    let arrival = 5.0 * (1.0 + 0.03 * prng.normal()) + held_up;
                    let high = arrival + 8.0 * prng.unit();
                    Bounds { low_s: (high - 8.0) / 1e3, high_s: high / 1e3, shares: vec![(0, 1.0)] }
                })
                .collect();
            let setting = Setting { start_s: vec![9e-3], smooth: Vec::new(), timing_s: 1e-6, reach_s: 4e-3 };
            let fit = Fit::of(&bounds, &setting).expect("a time");
            let (value, deviation) = fit.sum(&[1.0]);
            assert!((value - 5e-3).abs() < 0.25e-3, "{value}");
            misses += usize::from((value - 5e-3).abs() > 1.96 * deviation);
        }
        assert!(misses <= 6, "{misses} of 40 intervals missed");
    }
}
