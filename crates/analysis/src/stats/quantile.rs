//! Quantiles with intervals that assume nothing of the distribution.

use super::student::{chi_square_limit, t_two_sided};
use model::estimate::Estimate;
use model::histogram::LatencyHistogram;
use model::units::{Nanos, Quantile};
use statrs::distribution::{ContinuousCDF, Normal};

/// Ranks, counted from 1 and not whole, between which the quantile lies with `confidence` (Hutson 1999, "Calculating nonparametric
/// confidence intervals for quantiles using fractional order statistics"). They are quantiles of a beta distribution, here by the expansion
/// of Cornish and Fisher, within a tenth of a rank of it; `None` with too few observations, as with five and a median.
pub fn interval_ranks(count: u64, quantile: f64, confidence: f64) -> Option<(f64, f64)> {
    ranks_within(count as f64, quantile, normal_two_sided(confidence))
}

pub(super) fn normal_two_sided(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence))
}

fn ranks_within(count: f64, quantile: f64, deviations: f64) -> Option<(f64, f64)> {
    let spread = deviations * (count * quantile * (1.0 - quantile)).sqrt();
    let skew = (deviations * deviations - 1.0) * (1.0 - 2.0 * quantile) / 6.0;
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

/// How much more rounds differ than single latencies drawn at random would: the variance of counts over that of a binomial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    pub factor: f64,
    degrees_of_freedom: f64,
}

impl Dispersion {
    /// By how many of each round's latencies reach `bound`. Pearson's chi-square over its degrees of freedom (McCullagh and Nelder,
    /// "Generalized Linear Models", 2nd ed., section 4.5); none where chance makes as much of it in more than one of twenty times.
    pub fn of(rounds: &[&LatencyHistogram], bound: Nanos) -> Option<Dispersion> {
        let mut counts = Vec::with_capacity(rounds.len());
        let (mut above_all, mut all) = (0.0, 0.0);
        for round in rounds.iter().filter(|round| round.count() > 0) {
            let (above, count) = ((round.count() - round.count_below(bound)) as f64, round.count() as f64);
            counts.push((above, count));
            above_all += above;
            all += count;
        }
        let share = above_all / all;
        if counts.len() < 2 || share == 0.0 || share == 1.0 {
            return None;
        }
        let mut chi_square = 0.0;
        for (above, count) in &counts {
            chi_square += (above - count * share).powi(2) / (count * share * (1.0 - share));
        }
        let freedom = counts.len() - 1;
        if chi_square <= chi_square_limit(freedom) {
            return None;
        }
        Some(Dispersion { factor: chi_square / freedom as f64, degrees_of_freedom: freedom as f64 })
    }
}

/// A quantile of latencies with its interval, histogram's error included, in ns; `None` when there are too few.
pub fn of_histogram(histogram: &LatencyHistogram, quantile: Quantile, confidence: f64) -> Option<Estimate> {
    of_effective(histogram, quantile, confidence, histogram.count() as f64, normal_two_sided(confidence))
}

/// The same of latencies that were measured in rounds, which may differ: then the interval is that of as many fewer latencies, and where
/// these are too few, as far as the rounds' own quantiles go.
pub fn of_rounds(
    all: &LatencyHistogram,
    rounds: &[&LatencyHistogram],
    quantile: Quantile,
    confidence: f64,
) -> Option<Estimate> {
    let plain = of_histogram(all, quantile, confidence)?;
    let Some(dispersion) = Dispersion::of(rounds, Nanos::new(plain.value as u64)) else { return Some(plain) };
    let deviations = t_two_sided(confidence, dispersion.degrees_of_freedom);
    let effective_count = all.count() as f64 / dispersion.factor;
    if let Some(estimate) = of_effective(all, quantile, confidence, effective_count, deviations) {
        return Some(estimate);
    }
    let mut widest = Estimate { effective_count: rounds.len() as f64, ..plain };
    for round in rounds {
        if let Some(of_round) = round.quantile(quantile) {
            widest.low = widest.low.min(of_round.as_f64());
            widest.high = widest.high.max(of_round.as_f64());
        }
    }
    Some(widest)
}

fn of_effective(
    histogram: &LatencyHistogram,
    quantile: Quantile,
    confidence: f64,
    effective_count: f64,
    deviations: f64,
) -> Option<Estimate> {
    let (low, high) = ranks_within(effective_count, quantile.get(), deviations)?;
    // The middle of a rank's step, so that rounding cannot reach the next rank.
    let at_whole =
        |rank: f64| Some(histogram.quantile(Quantile::new((rank - 0.5) / effective_count)?)?.as_f64());
    let value = histogram.quantile(quantile)?.get();
    let widened = 1.0 + model::histogram::RELATIVE_ERROR;
    // The upper bound is a latency that was seen, known to a cell; the longest is known to the nanosecond and stands beside it.
    Some(Estimate {
        value: value as f64,
        low: at_rank(low, at_whole)? / widened,
        high: (at_rank(high, at_whole)? * widened).min(histogram.max()?.as_f64()),
        confidence,
        effective_count,
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
    fn no_upper_bound_lies_beyond_the_longest() {
        let mut histogram = LatencyHistogram::default();
        (0..1000).for_each(|_| histogram.record(550_000));
        (0..20).for_each(|_| histogram.record(550_300));
        let p99 = of_histogram(&histogram, Quantile::P99, 0.95).unwrap();
        assert!(p99.low > 540_000.0 && p99.high == 550_300.0, "{p99:?}");
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

    /// Rounds of 1000 latencies of which 1 % are slow, and the same with all slow ones in one of ten rounds.
    #[test]
    fn rounds_that_differ_widen_the_interval() {
        let round = |slow: u64| {
            let mut histogram = LatencyHistogram::default();
            (0..1000 - slow).for_each(|number| histogram.record(100_000 + number));
            (0..slow).for_each(|number| histogram.record(200_000 + 1000 * number));
            histogram
        };
        let p99 = |slow: [u64; 10]| {
            let rounds = slow.map(round);
            let mut all = LatencyHistogram::default();
            rounds.iter().for_each(|round| all.merge(round));
            (
                of_histogram(&all, Quantile::P99, 0.95),
                of_rounds(&all, &rounds.each_ref(), Quantile::P99, 0.95),
            )
        };
        let (plain, even) = p99([12; 10]);
        assert_eq!(plain, even);
        let (plain, uneven) = p99([20, 4, 20, 4, 20, 4, 20, 4, 20, 4]);
        let (plain, uneven) = (plain.unwrap(), uneven.unwrap());
        // 19 and 3 reach the quantile, each 8 off 11: a chi-square of 58.83 for 9 degrees of freedom.
        assert!((uneven.effective_count - 10_000.0 / (58.83 / 9.0)).abs() < 1.0, "{uneven:?}");
        assert!(uneven.low < plain.low && uneven.high > plain.high, "{plain:?} {uneven:?}");
        let (_, torn) = p99([120, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let torn = torn.unwrap();
        assert!(torn.low < 101_000.0 && torn.high > 300_000.0, "{torn:?}");
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
