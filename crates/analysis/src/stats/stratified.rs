//! The mean over a range that was cut into strata, with two or more random visits to each.
//!
//! The mean of the strata's means, weighted by their sizes, with the variance Σ W²·s²/n from the differences within
//! the strata (Cochran, "Sampling Techniques", 3rd ed., section 5.4). What differs between strata costs nothing, which
//! is why a rate that falls from one end to the other can be averaged from so few visits. Degrees of freedom by
//! Satterthwaite's formula (Cochran's equation 5.16).

use super::mean::{Mean, satterthwaite};
use super::sample::Sample;

/// What was seen in one stratum.
#[derive(Clone, Debug)]
pub struct Stratum {
    /// Its share of the whole.
    pub weight: f64,
    /// Two or more visits at random places in it.
    pub visits: Sample,
}

/// The mean over all strata. `None` when there are none or their weights do not add up to 1.
pub fn stratified_mean(strata: &[Stratum]) -> Option<Mean> {
    let whole: f64 = strata.iter().map(|stratum| stratum.weight).sum();
    if (whole - 1.0).abs() > 1e-6 {
        return None;
    }
    let (variance, degrees_of_freedom) = satterthwaite(strata.iter().map(|Stratum { weight, visits }| {
        let count = visits.count() as f64;
        (weight * weight * visits.variance() / count, count - 1.0)
    }));
    let value = strata.iter().map(|stratum| stratum.weight * stratum.visits.mean()).sum();
    Some(Mean { value, variance, degrees_of_freedom })
}

/// Cuts `[0, 1)` into the most equal strata of which each has two or more of the `places`, and gives for each stratum
/// the indexes of its places. Empty when not even the whole has two.
pub fn finest_strata(places: &[f64]) -> Vec<Vec<usize>> {
    (1..=places.len() / 2)
        .rev()
        .map(|count| {
            let mut strata = vec![Vec::new(); count];
            for (index, place) in places.iter().enumerate() {
                strata[((place * count as f64) as usize).min(count - 1)].push(index);
            }
            strata
        })
        .find(|strata| strata.iter().all(|stratum| stratum.len() >= 2))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use proptest::prelude::*;

    #[test]
    fn two_strata_by_hand() {
        let stratum =
            |weight, visits: [f64; 2]| Stratum { weight, visits: Sample::new(visits.to_vec()).unwrap() };
        let mean = stratified_mean(&[stratum(0.25, [1.0, 3.0]), stratum(0.75, [10.0, 10.0])]).unwrap();
        // s² = 2 in the first: (1/4)²·2/2.
        assert_eq!((mean.value, mean.variance, mean.degrees_of_freedom), (8.0, 0.0625, 1.0));
        assert!(stratified_mean(&[stratum(0.5, [1.0, 1.0])]).is_none());
    }

    #[test]
    fn strata_are_found_again_from_the_places_visited() {
        let mut prng = Prng::new(4, 0);
        for rounds in [2, 3] {
            let places: Vec<f64> =
                (0..24 * rounds).map(|visit| (f64::from(visit % 24) + prng.unit()) / 24.0).collect();
            let strata = finest_strata(&places);
            assert_eq!(strata.len(), 24);
            assert!(strata.iter().all(|stratum| stratum.len() == rounds as usize));
        }
        assert!(finest_strata(&[0.5]).is_empty());
    }

    #[test]
    fn a_falling_rate_is_covered() {
        let mut prng = Prng::new(5, 0);
        let covered = (0..1000)
            .filter(|_| {
                let strata: Vec<Stratum> = (0..24)
                    .map(|stratum| {
                        let visit = || (f64::from(stratum) + prng.unit()) / 24.0;
                        let visits = Sample::new(std::iter::repeat_with(visit).take(2).collect()).unwrap();
                        Stratum { weight: 1.0 / 24.0, visits }
                    })
                    .collect();
                stratified_mean(&strata).unwrap().interval(0.95).covers(0.5)
            })
            .count();
        assert!((925..=975).contains(&covered), "{covered}");
    }

    proptest! {
        #[test]
        fn each_place_is_in_one_stratum(places in prop::collection::vec(0.0f64..1.0, 2..80)) {
            let strata = finest_strata(&places);
            let mut members: Vec<usize> = strata.concat();
            members.sort_unstable();
            prop_assert_eq!(members, (0..places.len()).collect::<Vec<_>>());
            prop_assert!(strata.iter().all(|stratum| stratum.len() >= 2));
        }
    }
}
