//! Where a level ends and the next begins: the most likely place among all visits, and the interval around it.

use super::clump::Point;
use super::noise::{NOISE_MIN, scale};
use crate::stats::sample::{Sample, middle};
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    pub first_point: usize,
    pub byte: u64,
    /// The earliest offset, with a confidence of 95 %.
    pub low: u64,
    pub high: u64,
}

/// By how much twice the logarithm of the likelihood may be below its maximum within a 95 % interval for a place of change:
/// −2 ln(1 − √0.95) (Hansen 2000, "Sample splitting and threshold estimation", Econometrica 68, table 1: 7.35).
const LIKELIHOOD_DROP: f64 = 7.35;

/// What is further off counts as that far: a lost revolution makes a visit of 0.1 s a twentieth slower, which is more than zones differ.
const CLIP_DEVIATIONS: f64 = 5.0;

/// How far visits of one level are from their median, as one standard deviation of the logarithm.
pub(super) fn deviation(points: &[Point], edges: &[usize]) -> f64 {
    let mut residuals = Vec::new();
    for level in edges.windows(2) {
        let points = &points[level[0]..level[1]];
        let median = median(points);
        for point in points {
            residuals.push(point.value - median);
        }
    }
    Sample::new(residuals).as_ref().map_or(0.0, scale).max(NOISE_MIN)
}

/// Between two levels that a cut has told apart, whose visits deviate by so much.
pub(super) fn locate(points: &[Point], between: Range<usize>, cut: usize, deviation: f64) -> Border {
    let before = centre(&points[between.start..cut], deviation);
    let after = centre(&points[cut..between.end], deviation);
    let points_between = &points[between.clone()];
    let mut costs = costs(points_between, [before, after], deviation);
    // Between levels of which less than half differ nothing tells where: the cut is all there is.
    if (before - after).abs() < deviation / 2.0 {
        costs.fill(f64::INFINITY);
        costs[cut - between.start - 1] = 0.0;
    }
    let (mut best, mut least) = (1, f64::INFINITY);
    for (index, cost) in costs.iter().enumerate() {
        if cost.total_cmp(&least).is_le() {
            (best, least) = (index + 1, *cost);
        }
    }
    let (mut fewest, mut largest) = (None, best);
    for (index, cost) in costs.iter().enumerate() {
        if *cost <= least + LIKELIHOOD_DROP {
            fewest = fewest.or(Some(index + 1));
            largest = index + 1;
        }
    }
    let (last, first) = (points_between[best - 1].centre, points_between[best].centre);
    Border {
        first_point: between.start + best,
        byte: ((last + first) / 2.0) as u64,
        low: points_between[fewest.unwrap_or(best) - 1].centre as u64,
        high: points_between[largest].centre as u64,
    }
}

/// Less twice the likelihood's logarithm, up to a constant, of one to all but one of the points being before the border.
fn costs(points: &[Point], [before, after]: [f64; 2], deviation: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut costs = Vec::with_capacity(points.len());
    for point in &points[..points.len() - 1] {
        sum += cost(point, before, deviation) - cost(point, after, deviation);
        costs.push(sum);
    }
    costs
}

fn cost(point: &Point, centre: f64, deviation: f64) -> f64 {
    let deviations = ((point.value - centre) / deviation).abs().min(CLIP_DEVIATIONS);
    point.share * deviations * deviations
}

/// The mean of what is clipped to near the median, which is as certain as a mean and as hardly moved by what is far off as a median (Huber).
fn centre(points: &[Point], deviation: f64) -> f64 {
    let (median, limit) = (median(points), 2.0 * deviation);
    let (mut sum, mut weight) = (0.0, 0.0);
    for point in points {
        sum += point.share * point.value.clamp(median - limit, median + limit);
        weight += point.share;
    }
    sum / weight
}

fn median(points: &[Point]) -> f64 {
    middle(&mut points.iter().map(|point| point.value).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use crate::surface::{SurfaceMap, Visit};
    use model::prng::Prng;
    use model::range::ByteRange;

    const ZONE_BYTES: u64 = 20_000_000_000;

    /// Zones differ by 3 %, visits by 0.15 %, and one in eleven loses a revolution: 68 of 161 borders were within their intervals of 95 %.
    #[test]
    fn lost_revolutions_move_no_border() {
        let (mut held, mut all) = (0, 0);
        for seed in 0..10 {
            let mut prng = Prng::new(seed, 0);
            let mut visits = Vec::new();
            for number in 0..18 * 12 {
                let first_byte = ZONE_BYTES / 12 * number + prng.below(ZONE_BYTES / 13);
                let zone = (first_byte / ZONE_BYTES) as i32;
                let lost = if prng.unit() < 0.09 { 1.05 } else { 1.0 };
                visits.push(Visit {
                    phase: 0,
                    first_byte,
                    bytes: 8 << 20,
                    seconds_per_byte: 1.03_f64.powi(zone) * lost * (1.0 + 0.0015 * prng.normal()) / 75e6,
                    start_ns: prng.below(1 << 40),
                    longest_ns: 0,
                });
            }
            let range = ByteRange::from_bytes(0, 18 * ZONE_BYTES).expect("a range");
            for level in &SurfaceMap::of_visits(range, visits).levels[1..] {
                let borders_before = level.border_high / ZONE_BYTES * ZONE_BYTES;
                held += usize::from(borders_before >= level.border_low);
                all += 1;
            }
        }
        assert!(all >= 160 && held as f64 >= 0.9 * all as f64, "{held} of {all}");
    }
}
