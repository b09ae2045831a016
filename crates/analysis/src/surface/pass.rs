//! The mean over a range, whatever the density of visits: cells that hold a few places each, weighted by their widths.

use super::noise;
use super::sorting::Sorting;
use super::visit::Visit;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use crate::stats::stratified::{Stratum, independent_mean, inflated_over_time, stratified_mean};
use model::estimate::Estimate;
use model::range::ByteRange;

/// A cell is halved for as long as both halves hold this many places: two are needed for a spread, four for a good one.
const PLACES_MIN: usize = 4;
/// Fewer places than this say nothing of a range.
pub(super) const RANGE_PLACES_MIN: usize = 8;
/// No clock and no link keeps time better: 100 ppm is what crystals are sold with. And while the queue of a sample drains, no
/// command follows: of what SATA needs for three, 8 µs, and the 28 ms of the shortest samples, that of 8 MiB at 300 MB/s.
const KNOWN_SHARE: f64 = 1e-4 + 3e-4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub centre: f64,
    seconds_per_byte: f64,
    start_ns: u64,
}

/// All places but disturbed visits; slow ones too, for a pass goes over them, and suspects, since leaving them out biases a mean.
pub(super) fn spots(visits: &[Visit], sorting: &Sorting) -> Vec<Spot> {
    let mut spots = Vec::new();
    for place in &sorting.places {
        let seconds_per_byte = sorting.seconds_per_byte(place, visits);
        let start_ns = visits[place.visits.start].start_ns;
        spots.push(Spot { centre: place.centre, seconds_per_byte, start_ns });
    }
    spots
}

/// Of a part of a level, in which all places are alike.
pub(super) fn mean_over(range: ByteRange, spots: &[Spot]) -> Option<Mean> {
    stratified_mean(&strata(range, within(range, spots)?))
}

/// Of all levels. Each spot stands for what is nearest to it, since places are denser where borders are looked for. To the noise of visits
/// comes the step between neighbours, as if the border lay anywhere between them.
pub(super) fn pass_mean(range: ByteRange, spots: &[Spot]) -> Option<Mean> {
    let spots = within(range, spots)?;
    let strata = strata(range, spots);
    let stratified = independent_mean(&strata)?;
    let steps = spots.windows(2).map(|pair| pair[1].seconds_per_byte - pair[0].seconds_per_byte);
    let steps = Sample::new(steps.collect())?;
    let noise_variance = noise::scale(&steps).powi(2) / 2.0;
    let (first, whole) = (range.first().as_f64(), range.bytes().as_f64());
    let (mut value, mut variance, mut from) = (0.0, 0.0, first);
    for (index, spot) in spots.iter().enumerate() {
        let next = spots.get(index + 1);
        let until = next.map_or(range.end().as_f64(), |next| f64::midpoint(spot.centre, next.centre));
        let share = (until - from) / whole;
        value += share * spot.seconds_per_byte;
        variance += share * share * noise_variance;
        if let (Some(next), Some(step)) = (next, steps.values().get(index)) {
            let gap = (next.centre - spot.centre) / whole;
            variance += gap * gap / 12.0 * (step * step - 2.0 * noise_variance).max(0.0);
        }
        from = until;
    }
    Some(inflated_over_time(Mean { value, variance, ..stratified }, &strata))
}

fn within(range: ByteRange, spots: &[Spot]) -> Option<&[Spot]> {
    let from = spots.partition_point(|spot| spot.centre < range.first().as_f64());
    let to = spots.partition_point(|spot| spot.centre < range.end().as_f64());
    (to - from >= RANGE_PLACES_MIN).then_some(&spots[from..to])
}

fn strata(range: ByteRange, spots: &[Spot]) -> Vec<Stratum> {
    let mut strata = Vec::new();
    halve(range.first().as_f64(), range.end().as_f64(), 1.0, spots, &mut strata);
    strata
}

fn halve(first: f64, end: f64, weight: f64, spots: &[Spot], strata: &mut Vec<Stratum>) {
    let middle = (first + end) / 2.0;
    let before = spots.partition_point(|spot| spot.centre < middle);
    if before >= PLACES_MIN && spots.len() - before >= PLACES_MIN {
        halve(first, middle, weight / 2.0, &spots[..before], strata);
        halve(middle, end, weight / 2.0, &spots[before..], strata);
        return;
    }
    if let Some(visits) = Sample::new(spots.iter().map(|spot| spot.seconds_per_byte).collect()) {
        let times = spots.iter().map(|spot| spot.start_ns).collect();
        strata.push(Stratum { weight, visits, times });
    }
}

/// The interval of Student's t, and at least what clock and samples are good for.
pub(crate) fn interval(mean: &Mean) -> Estimate {
    let estimate = mean.interval(CONFIDENCE);
    let least = KNOWN_SHARE * mean.value;
    Estimate {
        low: estimate.low.min(mean.value - least),
        high: estimate.high.max(mean.value + least),
        ..estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use model::units::{Bytes, Offset};

    /// Thirty zones at 300 random places, and twelve more around each of three borders. The mean of cells was covered 898 times.
    #[test]
    fn a_pass_over_many_zones_is_covered() {
        let capacity = 1e12;
        let range = ByteRange::new(Offset::START, Bytes::new(capacity as u64)).expect("a range");
        let mut prng = Prng::new(8, 0);
        let mut covered = 0;
        for _ in 0..1000 {
            let mut borders: Vec<f64> = (0..29).map(|_| prng.unit()).collect();
            borders.sort_by(f64::total_cmp);
            let level = |place: f64| 1.0 + 0.03 * borders.partition_point(|border| *border < place) as f64;
            let truth = 1.0 + 0.03 * borders.iter().map(|border| 1.0 - border).sum::<f64>();
            let mut places: Vec<f64> = (0..300).map(|_| prng.unit()).collect();
            for border in [borders[5], borders[14], borders[23]] {
                places.extend((0..12).map(|_| (border + 0.004 * prng.normal()).clamp(0.0, 0.999_999)));
            }
            places.sort_by(f64::total_cmp);
            let mut spots = Vec::new();
            for place in places {
                let seconds_per_byte = level(place) * (1.0 + 0.005 * prng.normal());
                spots.push(Spot {
                    centre: place * capacity,
                    seconds_per_byte,
                    start_ns: prng.below(1 << 40),
                });
            }
            covered +=
                i32::from(pass_mean(range, &spots).expect("places").interval(CONFIDENCE).covers(truth));
        }
        assert!((930..=985).contains(&covered), "{covered} of 1000");
    }
}
