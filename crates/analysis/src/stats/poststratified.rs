//! The mean of numbers that fall into groups whose shares are known beforehand: each group counts by its share and not by how many
//! happened to fall into it, so that only the spread within the groups is left (Cochran, "Sampling Techniques", 3rd ed., section
//! 5A.9).

use super::mean::{Mean, satterthwaite};
use super::sample::Sample;

/// The mean over groups that are all equally likely. `None` when one of them has fewer than two numbers, which tell no spread.
pub fn mean_of_equal_groups(groups: &[Vec<f64>]) -> Option<Mean> {
    let samples: Vec<Sample> = groups
        .iter()
        .map(|group| Sample::new(group.clone()).filter(|_| group.len() >= 2))
        .collect::<Option<_>>()?;
    let count = samples.len() as f64;
    let part = |(sample, group): (&Sample, &Vec<f64>)| {
        let size = group.len() as f64;
        (sample.variance() / size / (count * count), size - 1.0)
    };
    let (variance, degrees_of_freedom) = satterthwaite(samples.iter().zip(groups).map(part));
    let value = samples.iter().map(Sample::mean).sum::<f64>() / count;
    (count > 0.0).then_some(Mean { value, variance, degrees_of_freedom })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    #[test]
    fn a_group_counts_by_its_share() {
        let mean = mean_of_equal_groups(&[vec![1.0, 1.0, 1.0, 1.0], vec![3.0, 5.0]]).unwrap();
        // (1 + 4) / 2; the variance of the second mean is 1, a quarter of it counts.
        assert_eq!((mean.value, mean.variance, mean.degrees_of_freedom), (2.5, 0.25, 1.0));
        assert_eq!(mean_of_equal_groups(&[vec![1.0], vec![3.0, 5.0]]), None);
        assert_eq!(mean_of_equal_groups(&[]), None);
    }

    /// What differs between groups only is no uncertainty.
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
