//! Quantiles of Student's t and of chi-square, and tail probabilities of Fisher's F.

use super::CONFIDENCE;
use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

/// The value that a t-distributed number with `degrees_of_freedom` exceeds in absolute value with the probability
/// 1 − `confidence`. Infinite when there is less than a degree of freedom in a thousand: nothing is known then.
pub fn t_two_sided(confidence: f64, degrees_of_freedom: f64) -> f64 {
    // The search for a quantile does not end for an infinite number; from a million on it is the normal one.
    let degrees_of_freedom = degrees_of_freedom.min(1e6);
    match StudentsT::new(0.0, 1.0, degrees_of_freedom) {
        Ok(t) if degrees_of_freedom >= 1e-3 => t.inverse_cdf(0.5 + confidence / 2.0),
        _ => f64::INFINITY,
    }
}

/// The probability that an F-distributed number with these degrees of freedom is above `f`.
pub fn f_tail(f: f64, numerator_dof: f64, denominator_dof: f64) -> f64 {
    match FisherSnedecor::new(numerator_dof, denominator_dof) {
        Ok(distribution) if f.is_finite() => distribution.sf(f),
        _ => 0.0,
    }
}

/// The sum of squares of `freedom` normal numbers is larger once in twenty times, to a hundredth (Wilson and Hilferty 1931).
pub fn chi_square_limit(freedom: usize) -> f64 {
    let freedom = freedom as f64;
    let part = 2.0 / (9.0 * freedom);
    let deviations = t_two_sided(2.0 * CONFIDENCE - 1.0, f64::INFINITY);
    freedom * (1.0 - part + deviations * part.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the tables of any statistics book.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (dof, t) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (30.0, 2.042), (1e6, 1.960)] {
            assert!((t_two_sided(0.95, dof) - t).abs() < 0.001, "{dof}");
        }
        assert_eq!(t_two_sided(0.95, 0.0), f64::INFINITY);
        assert!((t_two_sided(0.95, f64::INFINITY) - 1.960).abs() < 0.001);
        // The upper 5 % of F(2, 10) is 4.103.
        assert!((f_tail(4.103, 2.0, 10.0) - 0.05).abs() < 1e-4);
    }
}
