//! Quantiles with intervals that assume nothing of the distribution.

use model::estimate::Estimate;
use model::histogram::LatencyHistogram;
use model::units::Quantile;
use statrs::distribution::{ContinuousCDF, Normal};

/// Ranks, counted from 1, between which the quantile lies with at least `confidence`: the number of observations
/// below it is binomial (David and Nagaraja, "Order Statistics", 3rd ed., section 7.1). `None` when there are too few
/// observations for any two of them to say so, as with five and a median.
pub fn interval_ranks(count: u64, quantile: f64, confidence: f64) -> Option<(u64, u64)> {
    let tail = (1.0 - confidence) / 2.0;
    let low = binomial_quantile(count, quantile, tail);
    let high = count - binomial_quantile(count, 1.0 - quantile, tail) + 1;
    (low >= 1 && high <= count).then_some((low, high))
}

/// The value below which that share of sorted values lies, the nearest there is; none of no values.
pub fn at_share<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

/// The largest k with P(X < k) ≤ `tail`, for X the number of successes of `count`. By the exact sum up to a thousand,
/// by the normal curve with continuity correction above.
fn binomial_quantile(count: u64, success: f64, tail: f64) -> u64 {
    if count > 1000 {
        let normal = Normal::standard().inverse_cdf(tail);
        let (mean, spread) = (count as f64 * success, (count as f64 * success * (1.0 - success)).sqrt());
        return (mean + normal * spread - 0.5).floor().max(0.0) as u64;
    }
    let log_odds = (success / (1.0 - success)).ln();
    let mut log_term = count as f64 * (1.0 - success).ln();
    let mut below = 0.0;
    for successes in 0..count {
        below += log_term.exp();
        if below > tail {
            return successes;
        }
        log_term += ((count - successes) as f64 / (successes + 1) as f64).ln() + log_odds;
    }
    count
}

/// A quantile of latencies with its interval, in nanoseconds; the interval includes the histogram's own error.
/// `None` when there are too few for an interval.
pub fn of_histogram(histogram: &LatencyHistogram, quantile: Quantile, confidence: f64) -> Option<Estimate> {
    let count = histogram.count();
    let (low, high) = interval_ranks(count, quantile.get(), confidence)?;
    // The middle of a rank's step, so that rounding cannot reach the next rank.
    let at = |rank: u64| histogram.quantile(Quantile::new((rank as f64 - 0.5) / count as f64)?);
    let value = histogram.quantile(quantile)?.get();
    let widened = 1.0 + model::histogram::RELATIVE_ERROR;
    Some(Estimate {
        value: value as f64,
        low: at(low)?.as_f64() / widened,
        high: at(high)?.as_f64() * widened,
        confidence,
        effective_count: count as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use proptest::prelude::*;

    /// David and Nagaraja's own example values, and the smallest counts: six for a median at 95 %.
    #[test]
    fn a_share_of_sorted_values_is_one_of_them() {
        assert_eq!(at_share::<u64>(&[], 0.5), None);
        assert_eq!(at_share(&[7], 0.9), Some(7));
        assert_eq!(
            [0.0, 0.1, 0.5, 0.9, 1.0].map(|share| at_share(&[1, 2, 3, 4, 5], share)),
            [1, 1, 3, 5, 5].map(Some)
        );
    }

    #[test]
    fn ranks_are_those_of_the_binomial() {
        assert_eq!(interval_ranks(5, 0.5, 0.95), None);
        assert_eq!(interval_ranks(6, 0.5, 0.95), Some((1, 6)));
        assert_eq!(interval_ranks(10, 0.5, 0.95), Some((2, 9)));
        assert_eq!(interval_ranks(100, 0.5, 0.95), Some((40, 61)));
        assert_eq!(interval_ranks(100, 0.99, 0.95), None);
        // 5000 ± 1.96·50, one further out on each side for continuity.
        assert_eq!(interval_ranks(10_000, 0.5, 0.95), Some((4901, 5100)));
    }

    #[test]
    fn the_median_of_a_histogram() {
        let mut histogram = LatencyHistogram::default();
        (1..=100).for_each(|latency| histogram.record(latency));
        let median = of_histogram(&histogram, Quantile::MEDIAN, 0.95).unwrap();
        assert_eq!(median.value, 50.0);
        assert!((median.low - 40.0).abs() < 0.2 && (median.high - 61.0).abs() < 0.3, "{median:?}");
    }

    #[test]
    fn intervals_cover_at_least_as_often_as_they_say() {
        let mut prng = Prng::new(7, 0);
        for (count, quantile) in [(20, 0.5), (400, 0.9), (2000, 0.99)] {
            let (low, high) = interval_ranks(count, quantile, 0.95).unwrap();
            let covered = (0..1000)
                .filter(|_| {
                    let below = (0..count).filter(|_| prng.unit() < quantile).count() as u64;
                    (low..high).contains(&below)
                })
                .count();
            // Ranks are whole, so it is rarely 95 % exactly; 3 standard deviations below are 93 %.
            assert!((930..=990).contains(&covered), "{count} {quantile}: {covered}");
        }
    }

    proptest! {
        #[test]
        fn ranks_enclose_the_quantile(count in 1u64..5000, quantile in 0.01f64..0.99) {
            if let Some((low, high)) = interval_ranks(count, quantile, 0.95) {
                let expected = quantile * count as f64;
                prop_assert!(low >= 1 && high <= count && low < high);
                prop_assert!((low as f64) < expected + 1.0 && high as f64 > expected);
            }
        }
    }
}
