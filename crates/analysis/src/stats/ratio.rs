//! Ratios: of two sums over the same batches, and of two independent means.

use super::mean::{Mean, satterthwaite};
use model::estimate::Estimate;

/// Numerators and denominators that belong together: seconds and requests of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    pub numerator: f64,
    pub denominator: f64,
}

/// Σ numerators / Σ denominators, its variance from the residuals n − r·d of the batches (Cochran, "Sampling
/// Techniques", 3rd ed., section 6.4). Unlike the mean of the batches' ratios it does not favour batches with few
/// requests. `None` when the denominators add up to nothing. A single batch has no degree of freedom.
pub fn ratio_of_sums(batches: &[Pair]) -> Option<Mean> {
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for pair in batches {
        numerator += pair.numerator;
        denominator += pair.denominator;
    }
    let ratio = numerator / denominator;
    if denominator <= 0.0 || !ratio.is_finite() {
        return None;
    }
    let count = batches.len() as f64;
    let squares: f64 = batches.iter().map(|pair| (pair.numerator - ratio * pair.denominator).powi(2)).sum();
    let variance =
        if batches.len() < 2 { 0.0 } else { squares * count / (count - 1.0) / (denominator * denominator) };
    Some(Mean { value: ratio, variance, degrees_of_freedom: count - 1.0 })
}

/// The logarithm of a positive mean by the delta method: Var(ln x) ≈ Var(x)/x², for small standard errors.
pub fn logarithm(mean: &Mean) -> Option<Mean> {
    if mean.value <= 0.0 || mean.value.is_nan() {
        return None;
    }
    let variance = mean.variance / (mean.value * mean.value);
    Some(Mean { value: mean.value.ln(), variance, ..*mean })
}

pub fn difference(left: &Mean, right: &Mean) -> Mean {
    let (variance, degrees_of_freedom) =
        satterthwaite([(left.variance, left.degrees_of_freedom), (right.variance, right.degrees_of_freedom)]);
    Mean { value: left.value - right.value, variance, degrees_of_freedom }
}

/// The logarithm of the ratio of two independent positive means. Its exponential has an interval that is never
/// negative and is the same whichever of the two is on top. `None` unless both are positive.
pub fn log_ratio(top: &Mean, bottom: &Mean) -> Option<Mean> {
    Some(difference(&logarithm(top)?, &logarithm(bottom)?))
}

/// The ratio of two estimates whose errors are independent: relative half-widths add in squares, and on the logarithm.
pub fn quotient(top: &Estimate, bottom: &Estimate) -> Estimate {
    let value = top.value / bottom.value;
    let half = top.relative_half_width().hypot(bottom.relative_half_width());
    let effective_count = top.effective_count.min(bottom.effective_count);
    Estimate { value, low: value * (-half).exp(), high: value * half.exp(), effective_count, ..*top }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(numerator: f64, denominator: f64) -> Pair {
        Pair { numerator, denominator }
    }

    #[test]
    fn large_batches_weigh_more() {
        let ratio = ratio_of_sums(&[pair(10.0, 1.0), pair(10.0, 3.0)]).unwrap();
        assert_eq!(ratio.value, 5.0);
        // Residuals 5 and −5: 50·2/1/16.
        assert_eq!((ratio.variance, ratio.degrees_of_freedom), (6.25, 1.0));
        assert!(ratio_of_sums(&[pair(1.0, 0.0)]).is_none());
    }

    #[test]
    fn a_ratio_and_its_reverse_are_mirrored() {
        let top = Mean { value: 20.0, variance: 1.0, degrees_of_freedom: 4.0 };
        let bottom = Mean { value: 10.0, variance: 0.25, degrees_of_freedom: 4.0 };
        let (there, back) = (log_ratio(&top, &bottom).unwrap(), log_ratio(&bottom, &top).unwrap());
        assert!((there.value.exp() - 2.0).abs() < 1e-12 && (there.value + back.value).abs() < 1e-12);
        assert!((there.variance - 0.005).abs() < 1e-12 && (there.degrees_of_freedom - 8.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(
            batches in prop::collection::vec((0.1f64..10.0, 0.1f64..10.0), 2..20),
            seconds in 1e-3f64..1e3,
            bytes in 1e-3f64..1e9,
        ) {
            let plain: Vec<Pair> = batches.iter().map(|&(n, d)| pair(n, d)).collect();
            let scaled: Vec<Pair> = batches.iter().map(|&(n, d)| pair(n * seconds, d * bytes)).collect();
            let (plain, scaled) = (ratio_of_sums(&plain).unwrap(), ratio_of_sums(&scaled).unwrap());
            let expected = plain.scaled(seconds / bytes);
            prop_assert!((scaled.value / expected.value - 1.0).abs() < 1e-9);
            prop_assert!((scaled.variance - expected.variance).abs() <= 1e-6 * expected.variance + 1e-300);
        }

        #[test]
        fn batches_of_one_ratio_have_no_spread(ratio in 0.1f64..10.0, sizes in prop::collection::vec(0.5f64..9.0, 2..9)) {
            let batches: Vec<Pair> = sizes.iter().map(|&size| pair(ratio * size, size)).collect();
            let mean = ratio_of_sums(&batches).unwrap();
            prop_assert!((mean.value - ratio).abs() < 1e-9 && mean.variance < 1e-20);
        }
    }
}
