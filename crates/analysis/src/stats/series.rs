//! Means of numbers that follow each other in time and depend on each other.

use super::sample::Sample;

pub(super) fn lagged_products(deviations: &[f64], lag: usize) -> f64 {
    let mut sum = 0.0;
    for (late, early) in deviations[lag..].iter().zip(deviations) {
        sum += late * early;
    }
    sum
}

/// How many independent observations the mean of a stationary series is worth, by Geyer's initial monotone positive sequence (Geyer
/// 1992, "Practical Markov chain Monte Carlo", section 3.3): neighbouring autocovariances in pairs while they are positive.
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
    fn numbers_that_do_not_vary_are_all_worth_one() {
        assert_eq!(effective_count(&Sample::new(vec![3.0; 5]).unwrap()), 5.0);
    }
}
