//! The mean of numbers in groups whose shares are known beforehand: each group counts by its share and not by how many happened to
//! fall into it, so that only the spread within groups is left (Cochran, "Sampling Techniques", 3rd ed., 5A.9).

use super::mean::{Mean, satterthwaite};
use super::sample::Sample;

/// The mean over groups that are all equally likely. `None` when one of them has fewer than two numbers, which tell no spread.
pub fn mean_of_equal_groups(groups: &[Vec<f64>]) -> Option<Mean> {
    let count = groups.len() as f64;
    let (mut value, mut parts) = (0.0, Vec::new());
    for group in groups {
        let sample = Sample::new(group.clone())?;
        let size = group.len() as f64;
        parts.push((sample.variance() / size / (count * count), size - 1.0));
        value += sample.mean();
    }
    let (variance, degrees_of_freedom) = satterthwaite(parts);
    let value = value / count;
    (count > 0.0).then_some(Mean { value, variance, degrees_of_freedom })
}

pub type Grouped = (usize, f64);

/// The same of each of several visits, whose groups are too small by themselves: what a group means is taken from all visits, and a visit is
/// off the mean of all by as much as its numbers are off those of their groups. All have the variance of so large a part of the whole.
/// `None` when one of the groups has fewer than `least` numbers, or a visit less than half as many as another.
pub fn means_of_visits(visits: &[Vec<Grouped>], groups: usize, least: usize) -> Option<Vec<Mean>> {
    let mut all = vec![Vec::new(); groups];
    for (group, number) in visits.iter().flatten() {
        all[*group].push(*number);
    }
    let (fewest, most) = (visits.iter().map(Vec::len).min()?, visits.iter().map(Vec::len).max()?);
    let is_even = fewest > 0 && 2 * fewest >= most;
    if !is_even || all.iter().any(|group| group.len() < least) {
        return None;
    }
    let whole = mean_of_equal_groups(&all)?;
    let of_groups: Vec<f64> =
        all.iter().map(|group| group.iter().sum::<f64>() / group.len() as f64).collect();
    let count = visits.len() as f64;
    let mut means = Vec::with_capacity(visits.len());
    for visit in visits {
        let mut off = 0.0;
        for (group, number) in visit {
            off += number - of_groups[*group];
        }
        means.push(Mean {
            value: whole.value + off / visit.len() as f64,
            variance: whole.variance * count,
            degrees_of_freedom: whole.degrees_of_freedom / count,
        });
    }
    Some(means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::grouped::mean_of_visits;
    use model::prng::Prng;

    #[test]
    fn a_group_counts_by_its_share() {
        let mean = mean_of_equal_groups(&[vec![1.0, 1.0, 1.0, 1.0], vec![3.0, 5.0]]).unwrap();
        // (1 + 4) / 2; the variance of the second mean is 1, a quarter of it counts.
        assert_eq!((mean.value, mean.variance, mean.degrees_of_freedom), (2.5, 0.25, 1.0));
        assert_eq!(mean_of_equal_groups(&[vec![1.0], vec![3.0, 5.0]]), None);
        assert_eq!(mean_of_equal_groups(&[]), None);
    }

    /// Six visits of 60 numbers that fall into 20 groups, each visit off by `drift`: how many of 1000 intervals hold the mean.
    fn held(drift: f64) -> usize {
        let mut prng = Prng::new(5, 0);
        let mut visit = || -> Vec<Grouped> {
            let off = drift * prng.normal();
            let mut number = || {
                let group = prng.below(20) as usize;
                (group, 10.0 * group as f64 + off + prng.normal())
            };
            (0..60).map(|_| number()).collect()
        };
        let mut holds = || {
            let visits: Vec<Vec<Grouped>> = (0..6).map(|_| visit()).collect();
            let means = means_of_visits(&visits, 20, 2).expect("no group is empty");
            mean_of_visits(&means).expect("six visits").interval(0.95).covers(95.0)
        };
        (0..1000).filter(|_| holds()).count()
    }

    /// Groups of three numbers to a visit; a visit may be off by as much as its own numbers scatter.
    #[test]
    fn intervals_of_visits_cover_with_and_without_drift() {
        for drift in [0.0, 0.13, 0.5] {
            let held = held(drift);
            assert!((915..=975).contains(&held), "{drift}: {held}");
        }
    }

    #[test]
    fn visits_of_which_one_is_short_have_no_mean_in_common() {
        let long: Vec<Grouped> = (0..10).map(|number| (number % 2, 1.0)).collect();
        assert!(means_of_visits(&[long.clone(), long.clone()], 2, 5).is_some());
        assert!(means_of_visits(&[long.clone(), long[..4].to_vec()], 2, 5).is_none());
        assert!(means_of_visits(&[long.clone(), long], 2, 11).is_none(), "too few in a group");
        assert!(means_of_visits(&[], 2, 0).is_none());
    }

    #[test]
    fn intervals_cover() {
        let mut prng = Prng::new(11, 0);
        let mut covered = 0;
        for _ in 0..2000 {
            let mut groups = vec![Vec::new(); 5];
            for _ in 0..100 {
                let group = prng.below(5) as usize;
                groups[group].push(10.0 * group as f64 + prng.normal());
            }
            covered += i32::from(mean_of_equal_groups(&groups).unwrap().interval(0.95).covers(20.0));
        }
        assert!((1870..=1930).contains(&covered), "{covered}");
    }
}
