//! How much single visits scatter around the level of the places near them.

use super::place::Place;
use crate::stats::sample::Sample;

/// What is known of the noise.
pub(super) struct Noise {
    /// The robust standard deviation of the logarithm of a visit's time per byte.
    pub visit: f64,
    /// For each place, the median of the places around it: its level, roughly, whatever it is itself.
    pub local: Vec<f64>,
}

/// The local level is the median of at least this many places to either side and the place itself: a fiftieth of the range at 1000
/// visits, of which a slow region holds less than half up to a hundredth of the range.
const NEIGHBOURS_MIN: usize = 10;
/// And of so large a part of all places to either side. Of many visits to a small disk some twenty lie on a few surfaces, and
/// their median jumps from one to the other.
const NEIGHBOURS_SHARE: usize = 90;
/// No drive is steadier, and a clock and a queue have their steps: what differs by less is the same.
pub(super) const NOISE_MIN: f64 = 1e-3;

/// The noise of places in order.
pub(super) fn of(places: &[Place]) -> Noise {
    let local: Vec<f64> = (0..places.len()).map(|index| local_median(places, index)).collect();
    let residuals: Vec<f64> = places.iter().zip(&local).map(|(place, local)| place.value - local).collect();
    let visit = Sample::new(residuals).map_or(0.0, |sample| sample.scaled_mad());
    Noise { visit: visit.max(NOISE_MIN), local }
}

/// Near the ends the window is shifted, not cut, so that it stays as long.
fn local_median(places: &[Place], index: usize) -> f64 {
    let neighbours = NEIGHBOURS_MIN.max(places.len() / NEIGHBOURS_SHARE);
    let length = (2 * neighbours + 1).min(places.len());
    let from = index.saturating_sub(neighbours).min(places.len() - length);
    let mut values: Vec<f64> = places[from..from + length].iter().map(|place| place.value).collect();
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
