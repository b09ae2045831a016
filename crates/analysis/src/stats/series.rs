//! Means of numbers that follow each other in time and depend on each other.

use super::mean::Mean;
use super::sample::Sample;

/// The mean of a stationary series, its variance by Geyer's initial monotone positive sequence (Geyer 1992,
/// "Practical Markov chain Monte Carlo", section 3.3): neighbouring autocovariances are added in pairs for as long as
/// the pairs stay positive, none above the one before. The number of observations that the series is worth never
/// counts as more than it has, although a series that alternates would be worth more.
pub fn mean_of_series(series: &Sample) -> Mean {
    let count = series.count() as f64;
    let effective = effective_count(series);
    Mean {
        value: series.mean(),
        variance: series.variance() / effective,
        degrees_of_freedom: (effective - 1.0).max(count.min(2.0) - 1.0),
    }
}

/// The sum of products of numbers so far apart.
pub(super) fn lagged_products(deviations: &[f64], lag: usize) -> f64 {
    let mut sum = 0.0;
    for (late, early) in deviations[lag..].iter().zip(deviations) {
        sum += late * early;
    }
    sum
}

/// How many independent observations the mean of a series is worth: between 1 and their number.
pub fn effective_count(series: &Sample) -> f64 {
    let (mean, count) = (series.mean(), series.count());
    let deviations: Vec<f64> = series.values().iter().map(|value| value - mean).collect();
    let autocovariance = |lag: usize| lagged_products(&deviations, lag) / count as f64;
    let variance = autocovariance(0);
    if variance == 0.0 {
        return count as f64;
    }
    let (mut sum, mut smallest) = (-variance, f64::INFINITY);
    for lag in (0..count - 1).step_by(2) {
        let pair = autocovariance(lag) + autocovariance(lag + 1);
        if pair <= 0.0 {
            break;
        }
        smallest = smallest.min(pair);
        sum += 2.0 * smallest;
    }
    if sum <= 0.0 { count as f64 } else { (count as f64 * variance / sum).clamp(1.0, count as f64) }
}

/// The mean of a series by the means of `batches` equal batches in a row, whose first values are dropped when the
/// series cannot be cut evenly (Conway 1963; 10 to 30 batches suffice: Schmeiser 1982). `None` when fewer than two
/// batches can be made.
pub fn batch_means(series: &Sample, batches: usize) -> Option<Mean> {
    let size = series.count().checked_div(batches)?;
    if size == 0 {
        return None;
    }
    let kept = &series.values()[series.count() - size * batches..];
    let means = kept.chunks(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let means = Sample::new(means)?;
    Some(Mean {
        value: means.mean(),
        variance: means.variance() / batches as f64,
        degrees_of_freedom: (batches - 1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// x' = ρ·x + ε has the variance 1/(1 − ρ²) and is worth n·(1 − ρ)/(1 + ρ) observations.
    fn autoregressive(prng: &mut Prng, count: usize, rho: f64) -> Sample {
        let mut value = prng.normal() / (1.0 - rho * rho).sqrt();
        let mut next = || {
            value = rho * value + prng.normal();
            value
        };
        Sample::new((0..count).map(|_| next()).collect()).unwrap()
    }

    #[test]
    fn a_dependent_series_is_worth_less() {
        let mut prng = Prng::new(1, 0);
        for (rho, share) in [(0.0, 1.0), (0.5, 1.0 / 3.0), (0.8, 1.0 / 9.0)] {
            let shares: Vec<f64> =
                (0..100).map(|_| effective_count(&autoregressive(&mut prng, 2000, rho)) / 2000.0).collect();
            let mean = shares.iter().sum::<f64>() / 100.0;
            assert!((mean / share - 1.0).abs() < 0.12, "{rho}: {mean} against {share}");
        }
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut prng = Prng::new(2, 0);
        let (mut geyer, mut batches) = (0, 0);
        for _ in 0..1000 {
            let series = autoregressive(&mut prng, 400, 0.5);
            geyer += u32::from(mean_of_series(&series).interval(0.95).covers(0.0));
            batches += u32::from(batch_means(&series, 20).unwrap().interval(0.95).covers(0.0));
        }
        // 95 % of 1000, with 3 standard deviations of a binomial and a point for the bias of short series.
        assert!((920..=970).contains(&geyer) && (920..=970).contains(&batches), "{geyer} {batches}");
    }

    #[test]
    fn a_constant_series_has_no_width() {
        let mean = mean_of_series(&Sample::new(vec![3.0; 5]).unwrap());
        assert_eq!((mean.value, mean.variance), (3.0, 0.0));
        assert!(batch_means(&Sample::new(vec![3.0; 5]).unwrap(), 6).is_none());
    }
}
