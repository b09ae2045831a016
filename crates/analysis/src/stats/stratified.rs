//! The mean over a range that was cut into strata, with two or more random visits to each.
//!
//! The mean of the strata's means, weighted by their sizes, with the variance Σ W²·s²/n from the differences within
//! the strata (Cochran, "Sampling Techniques", 3rd ed., section 5.4). What differs between strata costs nothing, which
//! is why a rate that falls from one end to the other can be averaged from so few visits. Degrees of freedom by
//! Satterthwaite's formula (Cochran's equation 5.16). Where visits that follow each other are alike, whatever their places, the
//! variance is larger by [`inflation`].

use super::dependent::inflation;
use super::mean::{Mean, satterthwaite};
use super::sample::Sample;

/// What was seen in one stratum.
#[derive(Clone, Debug)]
pub struct Stratum {
    /// Its share of the whole.
    pub weight: f64,
    /// Two or more visits at random places in it.
    pub visits: Sample,
    /// When each of them was, in any unit: only the order counts.
    pub times: Vec<u64>,
}

/// However much visits depend on each other, two rounds of them show more than a single difference does.
const DEPENDENT_DOF_MIN: f64 = 3.0;

/// The mean over all strata. `None` when there are none or their weights do not add up to 1.
pub fn stratified_mean(strata: &[Stratum]) -> Option<Mean> {
    let whole: f64 = strata.iter().map(|stratum| stratum.weight).sum();
    if (whole - 1.0).abs() > 1e-6 {
        return None;
    }
    let (variance, degrees_of_freedom) =
        satterthwaite(strata.iter().map(|Stratum { weight, visits, .. }| {
            let count = visits.count() as f64;
            (weight * weight * visits.variance() / count, count - 1.0)
        }));
    let value = strata.iter().map(|stratum| stratum.weight * stratum.visits.mean()).sum();
    let inflated = inflation_over_time(strata);
    if inflated == 1.0 {
        return Some(Mean { value, variance, degrees_of_freedom });
    }
    let visits: usize = strata.iter().map(|stratum| stratum.visits.count()).sum();
    let worth = (visits as f64 / inflated - 1.0).max(DEPENDENT_DOF_MIN);
    Some(Mean { value, variance: variance * inflated, degrees_of_freedom: degrees_of_freedom.min(worth) })
}

/// By how much the order in time of the visits' deviations from their stratum's mean inflates the variance.
fn inflation_over_time(strata: &[Stratum]) -> f64 {
    let (mut deviations, mut squares, mut free) = (Vec::new(), 0.0, 0.0);
    for Stratum { visits, times, .. } in strata {
        let (mean, count) = (visits.mean(), visits.count() as f64);
        // A deviation holds 1 − 1/n of its own visit.
        let scale = count / (count - 1.0);
        deviations
            .extend(visits.values().iter().zip(times).map(|(value, time)| (*time, scale * (value - mean))));
        squares += visits.variance() * (count - 1.0);
        free += count - 1.0;
    }
    deviations.sort_by_key(|(time, _)| *time);
    let deviations: Vec<f64> = deviations.into_iter().map(|(_, deviation)| deviation).collect();
    inflation(&deviations, squares / free, free)
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
        let stratum = |weight, visits: [f64; 2]| Stratum {
            weight,
            visits: Sample::new(visits.to_vec()).unwrap(),
            times: vec![0, 1],
        };
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

    /// How often the interval over 24 strata, visited `rounds` times in shuffled rounds, holds the mean of what visits see:
    /// `seen` gives that from the place and the number of the visit.
    fn coverage(rounds: usize, mut seen: impl FnMut(&mut Prng, f64, u64) -> f64, truth: f64) -> f64 {
        let mut prng = Prng::new(5, 0);
        let mut once = || {
            let mut visits = vec![(Vec::new(), Vec::new()); 24];
            let mut time = 0;
            for _ in 0..rounds {
                let mut order: Vec<usize> = (0..24).collect();
                prng.shuffle(&mut order);
                for stratum in order {
                    let place = (stratum as f64 + prng.unit()) / 24.0;
                    visits[stratum].0.push(seen(&mut prng, place, time));
                    visits[stratum].1.push(time);
                    time += 1;
                }
            }
            let stratum =
                |(values, times)| Stratum { weight: 1.0 / 24.0, visits: Sample::new(values).unwrap(), times };
            let strata: Vec<Stratum> = visits.into_iter().map(stratum).collect();
            stratified_mean(&strata).unwrap().interval(0.95).covers(truth)
        };
        (0..1000).filter(|_| once()).count() as f64 / 1000.0
    }

    #[test]
    fn a_falling_rate_is_covered() {
        let covered = coverage(2, |_, place, _| place, 0.5);
        assert!((0.925..=0.985).contains(&covered), "{covered}");
    }

    /// Visits 0.45 s apart to a rate that falls over the range and wanders with time constants of 0.2 to 5 s, alone
    /// and with independent noise. It was 34 to 83 % from 1 s on before their order counted; two rounds are too few for 95 %.
    #[test]
    fn a_rate_that_wanders_is_covered() {
        for (tau_s, noise) in [(0.2, 0.0), (1.0, 0.0), (5.0, 0.0), (1.0, 1.0), (5.0, 0.5)] {
            for rounds in [2, 4] {
                let rho = f64::exp(-0.45 / tau_s);
                let mut state = 0.0;
                let seen = |prng: &mut Prng, place: f64, time: u64| {
                    let fresh = if time == 0 { 1.0 } else { (1.0 - rho * rho).sqrt() };
                    state = if time == 0 { 0.0 } else { rho * state } + fresh * prng.normal();
                    place + state + noise * prng.normal()
                };
                let covered = coverage(rounds, seen, 0.5);
                assert!((0.87..=0.99).contains(&covered), "{tau_s} s, {noise}, {rounds} rounds: {covered}");
            }
        }
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
