//! Numbers drawn from ranges. Each topic of a drive has its own stream: one draw more leaves the others alone.

use crate::generator::family::Family;
use model::prng::Prng;

/// What has been drawn has as many digits: enough to differ, and short enough to be read.
const DIGITS: i32 = 4;

pub(super) type Range = (f64, f64);

pub(super) struct Draws {
    prng: Prng,
}

impl Draws {
    pub(super) fn new(family: Family, seed: u64, topic: &[u8; 8]) -> Draws {
        let drive = Prng::new(seed, family as u64).next_u64();
        Draws { prng: Prng::new(drive, u64::from_le_bytes(*topic)) }
    }

    pub(super) fn even(&mut self, (low, high): Range) -> f64 {
        rounded(low + (high - low) * self.prng.unit()).clamp(low, high)
    }

    /// Uniform in its logarithm: for what spans powers of ten, as many below the geometric mean as above.
    pub(super) fn by_ratio(&mut self, (low, high): Range) -> f64 {
        rounded(low * (high / low).powf(self.prng.unit())).clamp(low, high)
    }

    pub(super) fn count(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.prng.below(high - low + 1)
    }

    pub(super) fn count_u32(&mut self, (low, high): (u32, u32)) -> u32 {
        self.count((u64::from(low), u64::from(high))) as u32
    }

    pub(super) fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.prng.below(items.len() as u64) as usize]
    }

    pub(super) fn weighted<T: Copy>(&mut self, items: &[(u64, T)]) -> T {
        let mut left = self.prng.below(items.iter().map(|(weight, _)| weight).sum());
        for &(weight, item) in items {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        items[items.len() - 1].1
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.prng.below(100) < percent
    }
}

pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let behind_point = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(behind_point.abs());
    if behind_point >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(rounded(0.141_669_3), 0.1417);
        assert_eq!(rounded(7219.13), 7219.0);
        assert_eq!(rounded(123_456.0), 123_500.0);
        assert_eq!(rounded(3.14159e-5), 3.142e-5);
        assert_eq!([rounded(0.0), rounded(-2.345_67)], [0.0, -2.346]);
    }

    #[test]
    fn all_of_a_range_is_met_and_nothing_else() {
        let mut draws = Draws::new(Family::Flash, 1, b"any test");
        let even: Vec<f64> = (0..2000).map(|_| draws.even((2.0, 2.25))).collect();
        assert!(even.iter().all(|value| (2.0..=2.25).contains(value)));
        assert!(even.iter().any(|&value| value < 2.005) && even.iter().any(|&value| value > 2.245));
        let ratio: Vec<f64> = (0..2000).map(|_| draws.by_ratio((1.0, 10_000.0))).collect();
        let small = ratio.iter().filter(|&&value| value < 100.0).count();
        assert!(small.abs_diff(1000) < 112, "half of them, within 5 standard deviations: {small}");
        let counts: Vec<u64> = (0..200).map(|_| draws.count((3, 5))).collect();
        assert!([3, 4, 5].iter().all(|count| counts.contains(count)));
        assert!(counts.iter().all(|count| (3..=5).contains(count)));
        let words: Vec<&str> = (0..1000).map(|_| draws.weighted(&[(90, "often"), (10, "rarely")])).collect();
        let rare = words.iter().filter(|&&word| word == "rarely").count();
        assert!(rare.abs_diff(100) < 48, "a tenth, within 5 standard deviations: {rare}");
    }
}
