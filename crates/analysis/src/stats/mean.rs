//! A mean with the variance of that mean and how well the variance itself is known.

use super::student::t_two_sided;
use model::estimate::Estimate;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub value: f64,
    /// The variance of the mean, not of what it is the mean of.
    pub variance: f64,
    /// On how many free deviations the variance rests; infinite when it is known.
    pub degrees_of_freedom: f64,
}

impl Mean {
    /// Of independent numbers about their mean or the value that they scatter about; of at least two.
    pub fn about(value: f64, numbers: &[f64]) -> Mean {
        let count = numbers.len() as f64;
        let variance = squares_about(value, numbers) / (count - 1.0) / count;
        Mean { value, variance, degrees_of_freedom: count - 1.0 }
    }

    pub fn interval(&self, confidence: f64) -> Estimate {
        let half = if self.variance == 0.0 {
            0.0
        } else {
            t_two_sided(confidence, self.degrees_of_freedom) * self.variance.sqrt()
        };
        Estimate {
            value: self.value,
            low: self.value - half,
            high: self.value + half,
            confidence,
            effective_count: self.degrees_of_freedom + 1.0,
        }
    }

    pub fn scaled(&self, factor: f64) -> Mean {
        Mean { value: self.value * factor, variance: self.variance * factor * factor, ..*self }
    }
}

pub fn squares_about(value: f64, numbers: &[f64]) -> f64 {
    let mut squares = 0.0;
    for number in numbers {
        squares += (number - value).powi(2);
    }
    squares
}

/// The sum of independent variances and its degrees of freedom, by matching the first two moments (Satterthwaite 1946):
/// (Σ v)² / Σ v²/ν. Parts are (variance, degrees of freedom).
pub fn satterthwaite(parts: impl IntoIterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (variance, dof) in parts {
        sum += variance;
        squares += variance * variance / dof;
    }
    (sum, if squares > 0.0 { sum * sum / squares } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_ten_values() {
        let mean = Mean { value: 10.0, variance: 4.0, degrees_of_freedom: 9.0 };
        let estimate = mean.interval(0.95);
        assert!((estimate.high - 14.524).abs() < 0.001 && (estimate.low - 5.476).abs() < 0.001);
        assert_eq!(estimate.effective_count, 10.0);
    }

    #[test]
    fn equal_parts_add_their_degrees_of_freedom() {
        assert_eq!(satterthwaite([(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]), (3.0, 3.0));
        assert_eq!(satterthwaite([(1.0, 5.0), (0.0, 5.0)]), (1.0, 5.0));
        assert_eq!(satterthwaite([(0.0, 5.0)]), (0.0, f64::INFINITY));
    }
}
