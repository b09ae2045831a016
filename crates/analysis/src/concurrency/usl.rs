//! The universal scalability law: throughput X(N) = λN / (1 + α(N−1) + βN(N−1)), with α for what must be done one at a time and β for
//! what requests cost each other (Gunther, "Guerrilla Capacity Planning", Springer 2007, ch. 5).

use super::knee::power_maximum;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usl {
    lambda: f64,
    /// Share that must be done one at a time, at least 0.
    pub alpha: f64,
    /// What requests cost each other, at least 0.
    pub beta: f64,
}

impl Usl {
    /// The law through (number at a time, throughput), by least squares of N·X(1)/X(N) − 1 = α(N−1) + βN(N−1), each point with the
    /// weight that makes its relative error count. The first point is one at a time. None with fewer than three points.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Option<Usl> {
        let &(one, lambda) = points.first()?;
        if points.len() < 3 || one != 1.0 || lambda <= 0.0 || lambda.is_nan() {
            return None;
        }
        let (mut aa, mut ab, mut bb, mut ay, mut by) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(number, throughput) in &points[1..] {
            let slowdown = number * lambda / throughput;
            let a = (number - 1.0) / slowdown;
            let b = number * (number - 1.0) / slowdown;
            let y = (slowdown - 1.0) / slowdown;
            (aa, ab, bb) = (aa + a * a, ab + a * b, bb + b * b);
            (ay, by) = (ay + a * y, by + b * y);
        }
        let determinant = aa * bb - ab * ab;
        let free = ((ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant);
        let (alpha, beta) = match free {
            (alpha, beta) if alpha >= 0.0 && beta >= 0.0 => (alpha, beta),
            (alpha, _) if alpha >= 0.0 => ((ay / aa).max(0.0), 0.0),
            _ => (0.0, (by / bb).max(0.0)),
        };
        (alpha.is_finite() && beta.is_finite()).then_some(Usl { lambda, alpha, beta })
    }

    pub(crate) fn throughput(&self, number: f64) -> f64 {
        self.lambda * number / (1.0 + self.alpha * (number - 1.0) + self.beta * number * (number - 1.0))
    }

    /// Of these numbers the one from which more brings less than it costs.
    pub(crate) fn knee(&self, numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
        power_maximum(numbers.into_iter().map(|number| (number, self.throughput(number))))
    }

    pub(crate) fn error_max(&self, points: &[(f64, f64)]) -> f64 {
        let error = |&(number, throughput): &(f64, f64)| (self.throughput(number) / throughput - 1.0).abs();
        points.iter().map(error).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NUMBERS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 25.0, 100.0, 250.0, 1000.0];

    #[test]
    fn without_contention_throughput_grows_with_the_number() {
        let points = NUMBERS.map(|number| (number, 100.0 * number));
        let usl = Usl::fit(&points).unwrap();
        assert!(usl.alpha.abs() < 1e-12 && usl.beta.abs() < 1e-12, "{usl:?}");
        assert_eq!(usl.knee(NUMBERS), Some(1000.0));
    }

    #[test]
    fn two_points_are_no_law() {
        assert_eq!(Usl::fit(&[(1.0, 5.0), (2.0, 9.0)]), None);
    }

    proptest! {
        #[test]
        fn a_law_is_found_again(alpha in 0.0f64..0.9, beta in 0.0f64..0.01) {
            let law = Usl { lambda: 120.0, alpha, beta };
            let points = NUMBERS.map(|number| (number, law.throughput(number)));
            let found = Usl::fit(&points).unwrap();
            prop_assert!((found.alpha - alpha).abs() < 1e-6 && (found.beta - beta).abs() < 1e-6, "{found:?}");
            prop_assert!(found.error_max(&points) < 1e-6);
        }
    }
}
