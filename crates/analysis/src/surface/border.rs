//! Where a level ends and the next begins: the most likely place among all visits, and the interval around it.

use super::clump::Point;
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

pub(super) fn locate(points: &[Point], between: Range<usize>) -> Border {
    let points_between = &points[between.clone()];
    // Twice the likelihood's logarithm, up to a constant, for each number of points before the border.
    let likelihoods = likelihoods(points_between);
    let (mut best, mut most) = (1, 0.0);
    for (index, likelihood) in likelihoods.iter().enumerate() {
        if index == 0 || likelihood.total_cmp(&most).is_ge() {
            (best, most) = (index + 1, *likelihood);
        }
    }
    let (mut fewest, mut largest) = (None, best);
    for (index, likelihood) in likelihoods.iter().enumerate() {
        if *likelihood >= most - LIKELIHOOD_DROP {
            fewest = fewest.or(Some(index + 1));
            largest = index + 1;
        }
    }
    let before = points_between[best - 1].centre;
    Border {
        first_point: between.start + best,
        byte: ((before + points_between[best].centre) / 2.0) as u64,
        low: points_between[fewest.unwrap_or(best) - 1].centre as u64,
        high: points_between[largest].centre as u64,
    }
}

/// Of one to all but one of the points being before the border: what the two means explain of the squares.
fn likelihoods(points: &[Point]) -> Vec<f64> {
    let origin = points[0].clipped;
    let (mut weight_all, mut sum_all) = (0.0, 0.0);
    for point in points {
        weight_all += point.weight;
        sum_all += point.weight * (point.clipped - origin);
    }
    let (mut weight, mut sum) = (0.0, 0.0);
    let mut explained = Vec::with_capacity(points.len());
    for point in &points[..points.len() - 1] {
        weight += point.weight;
        sum += point.weight * (point.clipped - origin);
        explained.push(sum * sum / weight + (sum_all - sum).powi(2) / (weight_all - weight));
    }
    explained
}
