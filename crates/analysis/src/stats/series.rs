//! Means of numbers that follow each other in time and depend on each other.

use super::quantile::normal_two_sided;
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

/// How numbers next to each other correlate. It takes them in pairs, as deviations from their mean, and holds none.
#[derive(Default)]
pub struct Neighbours {
    squares: f64,
    products: f64,
    pairs: f64,
}

impl Neighbours {
    pub fn add(&mut self, deviation: f64, next: f64) {
        self.squares += f64::midpoint(deviation.powi(2), next.powi(2));
        self.products += deviation * next;
        self.pairs += 1.0;
    }

    /// Whether by more than `correlation`, which chance alone makes of independent numbers once in 1 / `chance` series.
    pub fn correlate_by_more_than(&self, correlation: f64, chance: f64) -> bool {
        let most = correlation + normal_two_sided(1.0 - 2.0 * chance) / self.pairs.sqrt();
        self.pairs > 0.0 && self.products > self.squares * most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    const READS_MS: [f64; 12] = [9.0, 14.0, 11.0, 8.0, 13.0, 10.0, 15.0, 12.0, 7.0, 16.0, 9.5, 12.5];

    /// Ten series of 30, some numbers of which are larger by 12.
    fn correlate(is_slow: impl Fn(usize) -> bool) -> bool {
        let mut reads_ms = Vec::new();
        for index in 0..300 {
            reads_ms.push(READS_MS[index % 12] + if is_slow(index) { 12.0 } else { 0.0 });
        }
        let mean = reads_ms.iter().sum::<f64>() / 300.0;
        let mut neighbours = Neighbours::default();
        for pair in reads_ms.chunks(30).flat_map(|series| series.windows(2)) {
            neighbours.add(pair[0] - mean, pair[1] - mean);
        }
        neighbours.correlate_by_more_than(0.1, 0.001)
    }

    #[test]
    fn large_numbers_that_follow_each_other_correlate() {
        assert!(!correlate(|_| false));
        assert!(correlate(|index| index % 100 < 12), "12 in a row of each 100");
        assert!(!correlate(|index| index % 8 == 3), "the same share, none next to another");
        let mut alike = Neighbours::default();
        assert!(!alike.correlate_by_more_than(0.1, 0.001), "none");
        alike.add(0.0, 0.0);
        assert!(!alike.correlate_by_more_than(0.1, 0.001), "all the same");
    }

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
