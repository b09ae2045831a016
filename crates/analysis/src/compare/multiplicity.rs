//! Which of many differences stand.
//!
//! The rule of Benjamini and Hochberg ("Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995): of m probabilities in
//! rising order, all up to the last that is at most q·k/m stand. On average no more than q of those that stand are none;
//! if nothing differs at all, the probability that any stands is at most q. It holds for independent figures and for those that
//! rise and fall together, as rates of one drive do (Benjamini and Yekutieli, Ann. Stat. 29, 2001).

/// The largest probability that stands; none does when it is negative.
pub(crate) fn threshold(probabilities: &[f64], false_share: f64) -> f64 {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let stands =
        |(index, probability): &(usize, f64)| *probability <= false_share * (index + 1) as f64 / count;
    sorted.into_iter().enumerate().rev().find(stands).map_or(-1.0, |(_, probability)| probability)
}

/// The confidence that intervals of those that stand need, so that on average no more than `false_share` of them miss: 1 − q·R/m
/// (Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals", JASA 100, 2005).
pub(super) fn confidence_of_chosen(chosen: usize, all: usize, false_share: f64) -> f64 {
    1.0 - false_share * (chosen.max(1) as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the paper of 1995, section 3.2: of 15 probabilities four stand at 0.05.
    #[test]
    fn the_example_of_the_paper() {
        let probabilities = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        assert_eq!(threshold(&probabilities, 0.05), 0.0095);
        assert!(threshold(&[0.5, 0.9], 0.05) < 0.0 && threshold(&[], 0.05) < 0.0);
        assert_eq!(confidence_of_chosen(4, 16, 0.05), 0.9875);
    }
}
