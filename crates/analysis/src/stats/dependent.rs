//! How much less a mean is worth when what it is the mean of depends on what was just before.
//!
//! A drive that another program uses for some seconds gives visits that are alike because they follow each other.
//! Formulas for independent visits then give intervals that are far too narrow: with a rate that wanders with a time
//! constant of 5 s, visits of 0.4 s and 95 % intervals, 39 % held the truth. The tests of `stratified` hold this.

use super::series::lagged_products;

/// Below this correlation of neighbours, and of the first three lags, they are taken for independent: testing costs
/// something, and so weak a correlation makes an interval a sixth too narrow at most.
const CORRELATION_MIN: f64 = 0.15;
/// A correlation of neighbours above this is not told from a drift, and inflates without bound.
const CORRELATION_MAX: f64 = 0.9;
/// Fewer deviations than this say nothing of their order.
const COUNT_MIN: usize = 12;
/// The share of the numbers beyond which lags are not looked at.
const LAG_SHARE_MAX: usize = 2;

/// By how much the variance of a mean exceeds that of as many independent numbers with the same `variance`; at least 1.
///
/// `deviations` are in order of time, each from a mean that was estimated from `free` fewer of them and scaled so that the product of two is, on
/// average, their covariance. The larger of two estimates: that of a first-order autoregression, freed from its bias (Kendall, Biometrika 41,
/// 1954); and the sum of autocovariances while pairs of them are positive and fall (Geyer 1992, section 3.3), enlarged by what the means took.
pub fn inflation(deviations: &[f64], variance: f64, free: f64) -> f64 {
    let count = deviations.len();
    if count < COUNT_MIN || variance <= 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| lagged_products(deviations, lag) / (count - lag) as f64 / variance;
    let neighbours = correlation(1);
    let near = (neighbours + correlation(2) + correlation(3)) / 3.0;
    if neighbours < CORRELATION_MIN && near < CORRELATION_MIN {
        return 1.0;
    }
    let unbiased = (neighbours.max(0.0) + (1.0 + 3.0 * neighbours) / free).clamp(0.0, CORRELATION_MAX);
    let (mut sum, mut smallest, mut lag) = (1.0, f64::INFINITY, 1);
    while lag + 1 < count / LAG_SHARE_MAX {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        smallest = smallest.min(pair);
        sum += 2.0 * smallest;
        lag += 2;
    }
    let kept = (1.0 - 1.5 * lag as f64 / count as f64).max(1.0 / 3.0);
    ((1.0 + unbiased) / (1.0 - unbiased)).max(sum / kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_alternate_or_are_few_or_alike_are_worth_their_number() {
        let alternating: Vec<f64> = (0..40).map(|index| if index % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(inflation(&alternating, 1.0, 20.0), 1.0);
        assert_eq!(inflation(&[1.0; 11], 1.0, 5.0), 1.0);
        assert_eq!(inflation(&[0.0; 40], 0.0, 20.0), 1.0);
    }

    /// Eight in a row alike are worth one: the variance of the mean is eight times that of independent ones.
    #[test]
    fn runs_of_the_same_are_worth_one_each() {
        let mut prng = model::prng::Prng::new(1, 0);
        let numbers: Vec<f64> =
            (0..200).flat_map(|_| std::iter::repeat_n(prng.normal(), 8).collect::<Vec<_>>()).collect();
        let inflated = inflation(&numbers, 1.0, 1600.0);
        assert!((8.0..16.0).contains(&inflated), "{inflated}");
    }
}
