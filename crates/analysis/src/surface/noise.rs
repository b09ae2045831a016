//! How much single visits scatter around the level of the places near them.

use super::place::Place;
use crate::stats::sample::{Sample, middle};

pub(super) struct Noise {
    /// The robust standard deviation of the logarithm of a visit's time per byte.
    pub visit: f64,
    /// For each place, the median of the places around it: its level, roughly, whatever it is itself.
    pub local: Vec<f64>,
}

/// The local level is the median of at least this many places to either side and the place itself: a fiftieth of the range at 1000
/// visits, of which a slow region holds less than half up to a hundredth of the range.
const NEIGHBOURS_MIN: usize = 10;
/// And of so large a part of all places to either side: on a small disk some twenty visits lie on a few surfaces.
const NEIGHBOURS_SHARE: usize = 90;
/// No drive is steadier, and a clock and a queue have their steps: what differs by less is the same.
pub(super) const NOISE_MIN: f64 = 1e-3;

pub(super) fn of(places: &[Place]) -> Noise {
    let local: Vec<f64> = (0..places.len()).map(|index| local_median(places, index)).collect();
    let residuals = places.iter().zip(&local).map(|(place, local)| place.value - local).collect();
    let visit = Sample::new(residuals).as_ref().map_or(0.0, scale);
    Noise { visit: visit.max(NOISE_MIN), local }
}

/// The standard deviation as the middle half of the residuals tells it, or the middle four fifths where these tell a larger one. Of a
/// disk whose surfaces are alike most visits in a zone cross as many ends of tracks, and some cross one more and take a fiftieth longer:
/// the half then lies within one kind of visit, and the other kind would look like steps between zones.
pub(super) fn scale(residuals: &Sample) -> f64 {
    residuals.scaled_mad().max(residuals.scaled_deciles())
}

/// Near the ends the window is shifted, not cut, so that it stays as long.
fn local_median(places: &[Place], index: usize) -> f64 {
    let neighbours = NEIGHBOURS_MIN.max(places.len() / NEIGHBOURS_SHARE);
    let length = (2 * neighbours + 1).min(places.len());
    let from = index.saturating_sub(neighbours).min(places.len() - length);
    let mut values: Vec<f64> = places[from..from + length].iter().map(|place| place.value).collect();
    middle(&mut values)
}

#[cfg(test)]
mod tests {
    use crate::surface::{SurfaceMap, Visit};
    use model::prng::Prng;
    use model::range::ByteRange;
    use model::units::{Bytes, Offset};

    /// A zone: its share of the range, its mean rate in MB/s, and what share of its visits take longer.
    type Zone = (f64, f64, f64);

    /// How many levels are told of zones some of whose visits take longer by that share.
    fn levels_told(
        zones: &[Zone],
        longer_by: f64,
        visits_to: impl Fn(f64) -> [usize; 2],
        seed: u64,
    ) -> usize {
        let capacity = 1e12;
        let mut prng = Prng::new(seed, 0);
        let (mut visits, mut from) = (Vec::new(), 0.0);
        for &(share, rate, longer) in zones {
            let [at_start, everywhere] = visits_to(share);
            for number in 0..at_start + everywhere {
                let within = if number < at_start { 0.1 * prng.unit() } else { prng.unit() };
                let longer_by = longer_by * rate / 150.0;
                let times = if prng.unit() < longer { 1.0 + longer_by } else { 1.0 };
                let times = times / (1.0 + longer_by * longer) * (1.0 + 2e-5 * prng.normal());
                visits.push(Visit {
                    phase: 0,
                    first_byte: ((from + share * within) * (capacity - 1e8)) as u64,
                    bytes: 8 << 20,
                    seconds_per_byte: times / (rate * 1e6),
                    start_ns: prng.below(1 << 40),
                    longest_ns: 0,
                });
            }
            from += share;
        }
        let range = ByteRange::new(Offset::START, Bytes::new(capacity as u64)).expect("a range");
        SurfaceMap::of_visits(range, visits).levels.len()
    }

    /// A disk whose surfaces are alike: visits cross three or four ends of tracks, which make one longer by a fiftieth, and how many
    /// cross four is another share in each zone. Twelve zones were told of seven.
    #[test]
    fn visits_of_two_kinds_are_no_zones() {
        let zones =
            [(0.02, 109.4, 0.1), (0.38, 104.4, 0.3), (0.05, 95.8, 0.2), (0.25, 86.5, 0.5), (0.3, 74.5, 0.15)];
        let visits_to = |share: f64| [0, (500.0 * share) as usize];
        let right = (0..20).filter(|&seed| levels_told(&zones, 0.02, visits_to, seed) == zones.len()).count();
        assert!(right >= 19, "{right} of 20");
    }

    /// The same where two of five visits are next to borders, of which the level around them is now one kind, now the other: 17 to 19 zones were
    /// told of 16 in 12 of 80 cases.
    #[test]
    fn visits_next_to_borders_are_no_zones() {
        let zones = [
            (0.1, 157.7, 0.6),
            (0.115, 152.4, 0.83),
            (0.08, 146.2, 0.0),
            (0.098, 142.2, 0.2),
            (0.071, 136.6, 0.34),
            (0.06, 128.0, 0.7),
            (0.067, 124.4, 0.82),
            (0.057, 119.7, 0.04),
            (0.04, 114.0, 0.5),
            (0.032, 109.3, 0.85),
            (0.053, 106.0, 0.9),
            (0.06, 101.7, 0.3),
            (0.031, 94.0, 0.8),
            (0.061, 90.3, 0.2),
            (0.032, 81.4, 0.1),
            (0.043, 76.4, 0.6),
        ];
        let visits_to = |share: f64| [25, (600.0 * share) as usize];
        let right = (0..80).filter(|&seed| levels_told(&zones, 0.03, visits_to, seed) == zones.len()).count();
        assert!(right >= 76, "{right} of 80");
    }
}
