//! A statistical sample: at least two finite numbers, checked once.

use super::mean::squares_about;

/// At least two finite numbers, in the order in which they were observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample(Vec<f64>);

/// The factor that makes the median absolute deviation of normal numbers their standard deviation: 1/Φ⁻¹(3/4).
const MAD_TO_SD: f64 = 1.482_602_218_505_602;
/// The first and the last decile of normal numbers are so many standard deviations apart: 2 Φ⁻¹(9/10).
const DECILES_APART: f64 = 2.563_103_131_089_201;

impl Sample {
    pub fn new(values: Vec<f64>) -> Option<Sample> {
        if values.len() >= 2 && values.iter().copied().all(f64::is_finite) {
            Some(Sample(values))
        } else {
            None
        }
    }

    pub fn values(&self) -> &[f64] {
        &self.0
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn variance(&self) -> f64 {
        squares_about(self.mean(), &self.0) / (self.0.len() - 1) as f64
    }

    /// The median of values, or 0 where they are too few for a sample.
    pub fn median_or_zero(values: Vec<f64>) -> f64 {
        Sample::new(values).as_ref().map_or(0.0, Sample::median)
    }

    /// The median: the middle number, or the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        median_of(self.0.clone())
    }

    /// The median absolute deviation from the median, scaled to the standard deviation of normal numbers.
    pub fn scaled_mad(&self) -> f64 {
        let median = self.median();
        MAD_TO_SD * median_of(self.0.iter().map(|value| (value - median).abs()).collect())
    }

    /// From the first decile to the last, scaled to the standard deviation of normal numbers. Unlike the median absolute deviation it
    /// sees a kind of numbers that is rarer than every second, and is not moved by one that is rarer than every tenth.
    pub fn scaled_deciles(&self) -> f64 {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        (values[(last * 9 + 5) / 10] - values[(last + 5) / 10]) / DECILES_APART
    }
}

/// The upper median; the values are in another order then. 0 for none.
pub fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let at = values.len() / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { (values[middle - 1] + values[middle]) / 2.0 } else { values[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of nine numbers the first decile is the second, the last the eighth.
    #[test]
    fn a_rarer_kind_of_numbers_shows_in_the_deciles() {
        let sample = |values: [f64; 9]| Sample::new(values.to_vec()).unwrap();
        let two_kinds = sample([5.0, 5.0, 7.563_103_131_089_201, 5.0, 5.0, 7.6, 5.0, 5.0, 5.0]);
        assert_eq!(two_kinds.scaled_mad(), 0.0);
        assert!((two_kinds.scaled_deciles() - 1.0).abs() < 1e-12);
        assert_eq!(sample([5.0, 5.0, 5.0, 5.0, 99.0, 5.0, 5.0, 5.0, 5.0]).scaled_deciles(), 0.0);
    }

    #[test]
    fn a_sample_is_two_finite_numbers() {
        assert!(Sample::new(vec![1.0]).is_none());
        assert!(Sample::new(vec![1.0, f64::NAN]).is_none());
        let sample = Sample::new(vec![1.0, 2.0, 3.0, 4.0, 100.0]).unwrap();
        assert_eq!((sample.mean(), sample.median()), (22.0, 3.0));
        assert_eq!(sample.variance(), 1902.5);
        // Deviations from 3: 2 1 0 1 97; their median is 1.
        assert!((sample.scaled_mad() - 1.4826).abs() < 1e-4);
        assert_eq!(Sample::new(vec![4.0, 1.0]).unwrap().median(), 2.5);
    }
}
