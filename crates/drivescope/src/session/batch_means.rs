//! Whether the mean throughput of a phase is known precisely enough to stop.

use analysis::stats::mean::squares_about;
use analysis::stats::student::t_two_sided;

/// At twice this number neighbouring batches are merged, which bounds memory.
const BATCHES: usize = 32;
/// With fewer batches the width of the interval is itself too uncertain.
const BATCHES_MIN: usize = 16;

/// Batch means of the rate. Batches grow with the phase, until they are longer than the correlation between intervals (Law
/// and Kelton, "Simulation Modeling and Analysis", on batch means).
#[derive(Clone, Debug, Default)]
pub struct PrecisionWatch {
    batches: Vec<f64>,
    open_sum: f64,
    open_count: u32,
    intervals_per_batch: u32,
}

impl PrecisionWatch {
    pub fn add(&mut self, rate: f64) {
        self.intervals_per_batch = self.intervals_per_batch.max(1);
        self.open_sum += rate;
        self.open_count += 1;
        if self.open_count == self.intervals_per_batch {
            self.batches.push(self.open_sum / f64::from(self.open_count));
            (self.open_sum, self.open_count) = (0.0, 0);
        }
        if self.batches.len() == 2 * BATCHES {
            self.batches = self.batches.chunks(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
            self.intervals_per_batch *= 2;
        }
    }

    /// Half the width of the 95 % CI of the mean, as a share of it; none while there are too few batches.
    pub fn relative_half_width(&self) -> Option<f64> {
        let count = self.batches.len();
        if count < BATCHES_MIN {
            return None;
        }
        let mean = self.batches.iter().sum::<f64>() / count as f64;
        if mean <= 0.0 {
            return None;
        }
        let variance = squares_about(mean, &self.batches) / (count - 1) as f64;
        let half = t_two_sided(0.95, (count - 1) as f64) * (variance / count as f64).sqrt();
        Some(half / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    #[test]
    fn an_even_rate_is_known_at_once_and_a_ragged_one_later() {
        let mut even = PrecisionWatch::default();
        (0..BATCHES_MIN - 1).for_each(|_| even.add(5.0));
        assert_eq!(even.relative_half_width(), None);
        even.add(5.0);
        assert_eq!(even.relative_half_width(), Some(0.0));
    }

    #[test]
    fn memory_stays_the_same_and_the_width_is_that_of_the_mean() {
        let mut watch = PrecisionWatch::default();
        let mut prng = Prng::new(1, 0);
        let count = 100_000;
        (0..count).for_each(|_| watch.add(100.0 + 10.0 * prng.normal()));
        assert!(watch.batches.len() <= 2 * BATCHES);
        // The mean of n independent slices has a standard error of 10/√n: a half width of 1.96·10/√n/100 = 0.00062.
        let width = watch.relative_half_width().unwrap();
        assert!((0.0004..0.0010).contains(&width), "{width}");
    }
}
