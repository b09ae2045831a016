//! The interval of a share of independent observations.

use model::estimate::Estimate;
use statrs::distribution::{Beta, ContinuousCDF};

/// The share of `part` in `whole` with the interval of Clopper and Pearson, which covers at least as often as it says ("The use of
/// confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934).
pub fn share(part: u64, whole: u64, confidence: f64) -> Estimate {
    let (hits, others) = (part as f64, whole.saturating_sub(part) as f64);
    let tail = (1.0 - confidence) / 2.0;
    Estimate {
        value: hits / (whole as f64).max(1.0),
        low: if part == 0 { 0.0 } else { beta_quantile(hits, others + 1.0, tail).unwrap_or(0.0) },
        high: if part >= whole { 1.0 } else { beta_quantile(hits + 1.0, others, 1.0 - tail).unwrap_or(1.0) },
        confidence,
        effective_count: whole as f64,
    }
}

fn beta_quantile(a: f64, b: f64, chance: f64) -> Option<f64> {
    Some(Beta::new(a, b).ok()?.inverse_cdf(chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the tables of Clopper and Pearson, and "the rule of three" for none of 100.
    #[test]
    fn limits_are_those_of_the_tables() {
        let ten = share(1, 10, 0.95);
        assert!((ten.low - 0.0025).abs() < 1e-4 && (ten.high - 0.4450).abs() < 1e-4, "{ten:?}");
        let none = share(0, 100, 0.95);
        assert!(none.low == 0.0 && (none.high - 0.0362).abs() < 1e-4, "{none:?}");
        let all = share(100, 100, 0.95);
        assert!(all.high == 1.0 && (all.low - 0.9638).abs() < 1e-4, "{all:?}");
    }
}
