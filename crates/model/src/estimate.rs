//! A number with its uncertainty. No measured number travels without one.

/// A point estimate and the interval that holds the truth with the stated confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// In (0, 1): 0.95 is one in twenty outside.
    pub confidence: f64,
    /// How many independent observations it rests on; fewer than were made when they depend on each other.
    pub effective_count: f64,
}

impl Estimate {
    /// An exact number: capacity, a count.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value, confidence: 1.0, effective_count: f64::INFINITY }
    }

    /// Half the interval's width as a share of the value; infinite when the value is zero.
    pub fn relative_half_width(&self) -> f64 {
        if self.value == 0.0 { f64::INFINITY } else { (self.high - self.low) / 2.0 / self.value.abs() }
    }

    pub fn covers(&self, truth: f64) -> bool {
        (self.low..=self.high).contains(&truth)
    }

    /// The estimate of a function of it that only grows or only falls, such as a unit or a reciprocal.
    pub fn map_monotonic(&self, f: impl Fn(f64) -> f64) -> Estimate {
        let (a, b) = (f(self.low), f(self.high));
        Estimate { value: f(self.value), low: a.min(b), high: a.max(b), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reciprocal_swaps_the_ends() {
        let rate = Estimate { value: 100.0, low: 80.0, high: 125.0, confidence: 0.95, effective_count: 10.0 };
        let time = rate.map_monotonic(|rate| 1000.0 / rate);
        assert_eq!((time.low, time.value, time.high), (8.0, 10.0, 12.5));
        assert!(time.covers(8.0) && !time.covers(7.9));
        assert_eq!(Estimate::exact(0.0).relative_half_width(), f64::INFINITY);
    }
}
