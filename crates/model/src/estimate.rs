//! A number with its uncertainty. No measured number travels without one.

use serde::Serialize;

/// A number with its interval. An end is null where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NumberDocument"))]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    // In (0, 1): 0.95 is one in twenty outside.
    pub confidence: f64,
    /// How many independent observations it rests on; fewer than were made when they depend on each other.
    #[serde(skip)]
    pub effective_count: f64,
}

/// Where the upper end of an interval is more than this times the lower, the value may as well be another one.
const SPAN_MAX: f64 = 3.0;

impl Estimate {
    /// An exact number: capacity, a count.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value, confidence: 1.0, effective_count: f64::INFINITY }
    }

    /// Half the interval's width as a share of the value; infinite when the value is zero.
    pub fn relative_half_width(&self) -> f64 {
        if self.value == 0.0 { f64::INFINITY } else { (self.high - self.low) / 2.0 / self.value.abs() }
    }

    /// Whether it says something: its interval does not hold zero, and spans a factor of three at most; or it is exact, a lower bound, or a
    /// figure of others that came without an interval. Anything else is neither stated nor computed with.
    pub fn is_conclusive(&self) -> bool {
        let Estimate { value, low, high, .. } = *self;
        let has_no_interval = low == f64::NEG_INFINITY && high == f64::INFINITY;
        let is_lower_bound = low == value && high == f64::INFINITY;
        let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
        low == high || has_no_interval || is_lower_bound || low * high > 0.0 && most <= SPAN_MAX * least
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
    fn an_interval_that_spans_zero_or_a_factor_of_more_than_three_says_nothing() {
        let says = |low, value, high| Estimate { low, high, ..Estimate::exact(value) }.is_conclusive();
        assert!(says(1.0, 2.0, 3.0) && says(-3.0, -2.0, -1.0) && says(0.0, 0.0, 0.0) && says(5.0, 5.0, 5.0));
        assert!(!says(1.0, 2.0, 3.1) && !says(-3.1, -2.0, -1.0) && !says(1.0, 1.0, 999.0));
        assert!(!says(0.0, 0.8e6, 3052e6) && !says(-1.0, 1.0, 2.0) && !says(1.0, 2.0, f64::INFINITY));
        assert!(!says(f64::NAN, 1.0, 2.0) && !says(0.0, 0.0, 1.0));
        assert!(says(f64::NEG_INFINITY, 5.0, f64::INFINITY), "a figure of others");
        assert!(says(7.0, 7.0, f64::INFINITY) && says(0.0, 0.0, f64::INFINITY), "at least so many");
    }

    #[test]
    fn a_reciprocal_swaps_the_ends() {
        let rate = Estimate { value: 100.0, low: 80.0, high: 125.0, confidence: 0.95, effective_count: 10.0 };
        let time = rate.map_monotonic(|rate| 1000.0 / rate);
        assert_eq!((time.low, time.value, time.high), (8.0, 10.0, 12.5));
        assert!(time.covers(8.0) && !time.covers(7.9));
        assert_eq!(Estimate::exact(0.0).relative_half_width(), f64::INFINITY);
    }
}
