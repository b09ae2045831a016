//! Where a level ends and the next begins: the most likely place among all visits, and the interval around it.

use super::SurfaceMap;
use super::clump::Point;
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use std::ops::Range;

/// A border and where it may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// The first place past it.
    pub first_point: usize,
    /// Most likely.
    pub byte: u64,
    /// The earliest, with 95 %.
    pub low: u64,
    /// The latest.
    pub high: u64,
}

/// By how much twice the logarithm of the likelihood may be below its maximum within a 95 % interval for a place of change:
/// −2 ln(1 − √0.95) (Hansen 2000, "Sample splitting and threshold estimation", Econometrica 68, table 1: 7.35).
const LIKELIHOOD_DROP: f64 = 7.35;

/// The border between the two levels that these points are.
pub(super) fn locate(points: &[Point], between: Range<usize>) -> Border {
    let points_between = &points[between.clone()];
    // Twice the likelihood's logarithm, up to a constant, for each number of points before the border.
    let likelihoods = likelihoods(points_between);
    let (best, most) = likelihoods
        .iter()
        .enumerate()
        .max_by(|left, right| left.1.total_cmp(right.1))
        .map_or((1, 0.0), |(index, likelihood)| (index + 1, *likelihood));
    let likely = |&count: &usize| likelihoods[count - 1] >= most - LIKELIHOOD_DROP;
    let counts = 1..points_between.len();
    let fewest = counts.clone().find(likely).unwrap_or(best);
    let largest = counts.rev().find(likely).unwrap_or(best);
    let centre = |index: usize| points_between[index].centre;
    Border {
        first_point: between.start + best,
        byte: ((centre(best - 1) + centre(best)) / 2.0) as u64,
        low: centre(fewest - 1) as u64,
        high: centre(largest) as u64,
    }
}

/// Of one to all but one of the points being before the border: what the two means explain of the squares.
fn likelihoods(points: &[Point]) -> Vec<f64> {
    let origin = points[0].clipped;
    let (weight_all, sum_all) = points.iter().fold((0.0, 0.0), |(weight, sum), point| {
        (weight + point.weight, sum + point.weight * (point.clipped - origin))
    });
    let (mut weight, mut sum) = (0.0, 0.0);
    let explained = points[..points.len() - 1].iter().map(|point| {
        weight += point.weight;
        sum += point.weight * (point.clipped - origin);
        sum * sum / weight + (sum_all - sum).powi(2) / (weight_all - weight)
    });
    explained.collect()
}

/// See [`SurfaceMap::uncertain_borders`].
pub(super) fn uncertain(map: &SurfaceMap, precision_of_capacity: f64) -> Vec<ByteRange> {
    let widest = map.range.bytes().0 as f64 * precision_of_capacity;
    let mut borders: Vec<(f64, ByteRange)> = map
        .levels
        .windows(2)
        .filter_map(|pair| {
            let step = (pair[1].seconds_per_byte.value / pair[0].seconds_per_byte.value).ln().abs();
            let bytes = pair[1].border_high.checked_sub(pair[1].border_low)?;
            let range = ByteRange::new(Offset(pair[1].border_low), Bytes(bytes))?;
            (bytes as f64 > widest).then_some((step, range))
        })
        .collect();
    borders.sort_by(|left, right| right.0.total_cmp(&left.0));
    borders.into_iter().map(|(_, range)| range).collect()
}
