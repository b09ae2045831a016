//! The mean of repeated visits to the same thing, when each visit also knows its own spread.
//!
//! With two or three visits, their differences alone give an interval many times too wide (t with one degree of freedom is 12.7). The spread
//! within the visits is known much better, but says nothing about drift between them. So the difference is tested first, and the spreads are
//! pooled if the visits differ by no more: "sometimes pooling" (Bancroft and Han, "A note on pooling variances", JASA 78, 1983). At a level of
//! 0.25, 95 % intervals covered 84 % at worst with two visits, 91 % at 0.5; with three and more 92 % at 0.25. The tests below hold this.

use super::mean::{Mean, satterthwaite};
use super::sample::Sample;
use super::student::f_tail;

/// Below this probability three and more visits are taken to differ.
const POOLING_LEVEL: f64 = 0.25;
const POOLING_LEVEL_OF_TWO: f64 = 0.5;

/// The mean over two or more visits, each counting the same. `None` with fewer.
pub fn mean_of_visits(visits: &[Mean]) -> Option<Mean> {
    let means = Sample::new(visits.iter().map(|visit| visit.value).collect())?;
    let count = visits.len() as f64;
    let (between, between_dof) = (means.variance(), count - 1.0);
    let apart = Mean { value: means.mean(), variance: between / count, degrees_of_freedom: between_dof };
    if visits.iter().any(|visit| visit.degrees_of_freedom < 1.0) {
        return Some(apart);
    }
    let (sum, within_dof) =
        satterthwaite(visits.iter().map(|visit| (visit.variance, visit.degrees_of_freedom)));
    let within = sum / count;
    if !within_dof.is_finite() || within == 0.0 {
        return Some(apart);
    }
    let level = if visits.len() == 2 { POOLING_LEVEL_OF_TWO } else { POOLING_LEVEL };
    if f_tail(between / within, between_dof, within_dof) < level {
        return Some(apart);
    }
    let dof = between_dof + within_dof;
    let pooled = (between * between_dof + within * within_dof) / dof;
    Some(Mean { variance: pooled / count, degrees_of_freedom: dof, ..apart })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// `visits` visits of 10 normal numbers, whose means drift by `drift` standard errors from visit to visit.
    fn coverage(visits: usize, drift: f64) -> (f64, f64) {
        let mut prng = Prng::new(3, 0);
        let (mut covered, mut width) = (0.0, 0.0);
        for _ in 0..2000 {
            let visits: Vec<Mean> = (0..visits)
                .map(|_| {
                    let shift = drift * prng.normal() / 10f64.sqrt();
                    let sample = Sample::new((0..10).map(|_| shift + prng.normal()).collect()).unwrap();
                    Mean { value: sample.mean(), variance: sample.variance() / 10.0, degrees_of_freedom: 9.0 }
                })
                .collect();
            let estimate = mean_of_visits(&visits).unwrap().interval(0.95);
            covered += f64::from(u8::from(estimate.covers(0.0))) / 2000.0;
            width += (estimate.high - estimate.low) / 2000.0;
        }
        (covered, width)
    }

    #[test]
    fn intervals_cover_with_and_without_drift() {
        for visits in [2, 3, 5] {
            for drift in [0.0, 1.0, 2.0, 5.0] {
                let (covered, width) = coverage(visits, drift);
                assert!((0.90..=0.985).contains(&covered), "{visits} {drift}: {covered} {width}");
            }
        }
    }

    #[test]
    fn one_visit_is_none() {
        assert!(mean_of_visits(&[Mean { value: 1.0, variance: 1.0, degrees_of_freedom: 9.0 }]).is_none());
    }
}
