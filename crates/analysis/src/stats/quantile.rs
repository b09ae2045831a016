//! Quantiles with intervals that assume nothing of the distribution.

use model::estimate::Estimate;
use model::histogram::LatencyHistogram;
use model::units::Quantile;
use statrs::distribution::{ContinuousCDF, Normal};

/// Ranks, counted from 1 and not whole, between which the quantile lies with `confidence` (Hutson 1999, "Calculating nonparametric
/// confidence intervals for quantiles using fractional order statistics"). They are quantiles of a beta distribution, here by the expansion
/// of Cornish and Fisher, within a tenth of a rank of it; `None` with too few observations, as with five and a median.
pub fn interval_ranks(count: u64, quantile: f64, confidence: f64) -> Option<(f64, f64)> {
    let normal = Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence));
    let count = count as f64;
    let spread = normal * (count * quantile * (1.0 - quantile)).sqrt();
    let skew = (normal * normal - 1.0) * (1.0 - 2.0 * quantile) / 6.0;
    let middle = count * quantile + 0.5 + skew;
    let (low, high) = (middle - spread, middle + spread);
    (low >= 1.0 && high <= count).then_some((low, high))
}

/// The value at a rank that is not whole, in proportion between those of the whole ranks beside it.
pub fn at_rank(rank: f64, value_at: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let (below, above) = (value_at(rank.floor())?, value_at(rank.ceil())?);
    Some(below + rank.fract() * (above - below))
}

/// The value below which that share of sorted values lies, the nearest there is; none of no values.
pub fn at_share<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

/// A quantile of latencies with its interval, histogram's error included, in ns; `None` when there are too few.
pub fn of_histogram(histogram: &LatencyHistogram, quantile: Quantile, confidence: f64) -> Option<Estimate> {
    let count = histogram.count();
    let (low, high) = interval_ranks(count, quantile.get(), confidence)?;
    // The middle of a rank's step, so that rounding cannot reach the next rank.
    let at_whole =
        |rank: f64| Some(histogram.quantile(Quantile::new((rank - 0.5) / count as f64)?)?.as_f64());
    let value = histogram.quantile(quantile)?.get();
    let widened = 1.0 + model::histogram::RELATIVE_ERROR;
    Some(Estimate {
        value: value as f64,
        low: at_rank(low, at_whole)? / widened,
        high: at_rank(high, at_whole)? * widened,
        confidence,
        effective_count: count as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use proptest::prelude::*;

    #[test]
    fn a_share_of_sorted_values_is_one_of_them() {
        assert_eq!(at_share::<u64>(&[], 0.5), None);
        assert_eq!(at_share(&[7], 0.9), Some(7));
        assert_eq!(
            [0.0, 0.1, 0.5, 0.9, 1.0].map(|share| at_share(&[1, 2, 3, 4, 5], share)),
            [1, 1, 3, 5, 5].map(Some)
        );
    }

    /// Exact ones from scipy: `brentq(lambda r: beta.cdf(p, r, n + 1 - r) - tail)`.
    #[test]
    fn ranks_are_those_of_the_beta_distribution() {
        for (count, quantile, low, high) in [
            (6, 0.5, 1.194, 5.806),
            (10, 0.5, 2.475, 8.525),
            (100, 0.5, 40.723, 60.277),
            (1000, 0.9, 881.542, 918.699),
            (1500, 0.99, 1477.520, 1492.543),
            (20_000, 0.99, 19_772.468, 19_827.604),
            (1_000_000, 0.999, 998_938.084, 999_061.971),
        ] {
            let (found_low, found_high) = interval_ranks(count, quantile, 0.95).unwrap();
            assert!(
                (found_low - low).abs() < 0.1 && (found_high - high).abs() < 0.1,
                "{count}: {found_low} {found_high}"
            );
        }
        assert_eq!(interval_ranks(5, 0.5, 0.95), None);
        assert_eq!(interval_ranks(100, 0.99, 0.95), None);
    }

    #[test]
    fn the_median_of_a_histogram() {
        let mut histogram = LatencyHistogram::default();
        (1..=100).for_each(|latency| histogram.record(latency));
        let median = of_histogram(&histogram, Quantile::MEDIAN, 0.95).unwrap();
        assert_eq!(median.value, 50.0);
        assert!((median.low - 40.7).abs() < 0.2 && (median.high - 60.3).abs() < 0.3, "{median:?}");
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut prng = Prng::new(7, 0);
        for (count, quantile) in [(20, 0.5), (400, 0.9), (500, 0.99), (2000, 0.99)] {
            let (low, high) = interval_ranks(count, quantile, 0.95).unwrap();
            let mut covered = 0;
            for _ in 0..2000 {
                let mut drawn: Vec<f64> = (0..count).map(|_| prng.unit()).collect();
                drawn.sort_by(f64::total_cmp);
                let at = |rank| at_rank(rank, |whole| Some(drawn[whole as usize - 1])).unwrap();
                covered += u32::from((at(low)..at(high)).contains(&quantile));
            }
            // Three standard deviations to either side of 95 %.
            assert!((1871..=1929).contains(&covered), "{count} {quantile}: {covered}");
        }
    }

    proptest! {
        #[test]
        fn ranks_enclose_the_quantile(count in 1u64..5000, quantile in 0.01f64..0.99) {
            if let Some((low, high)) = interval_ranks(count, quantile, 0.95) {
                let expected = quantile * count as f64;
                prop_assert!(low >= 1.0 && high <= count as f64 && low < high);
                prop_assert!(low < expected + 1.0 && high > expected);
            }
        }
    }
}
