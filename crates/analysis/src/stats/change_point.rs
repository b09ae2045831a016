//! Where a series of numbers changes its level.

use super::sample::Sample;

/// How many neighbours to either side a number is compared with, and how many robust deviations make an outlier (Hampel).
const NEIGHBOURS: usize = 3;
const OUTLIER_DEVIATIONS: f64 = 3.0;
const COUNT_MIN: usize = 4;

/// The standard deviation of the numbers around their levels, from the differences of neighbours: a change of level spoils only one
/// of these, and half of all may be spoilt. For independent numbers a difference has twice the variance of one.
pub fn noise(values: &[f64]) -> Option<f64> {
    if values.len() < COUNT_MIN {
        return None;
    }
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Some(Sample::new(differences)?.scaled_mad() / std::f64::consts::SQRT_2)
}

/// The same numbers with each that stands alone replaced by the median of its neighbourhood: a stall is no change of level. `noise` is
/// their standard deviation. Up to three in a row that differ from all around them go with it.
pub fn without_outliers(values: &[f64], noise: f64) -> Vec<f64> {
    let mut calm = Vec::with_capacity(values.len());
    for (index, &value) in values.iter().enumerate() {
        let from = index.saturating_sub(NEIGHBOURS);
        let to = (index + NEIGHBOURS + 1).min(values.len());
        let median = Sample::new(values[from..to].to_vec()).as_ref().map_or(value, Sample::median);
        calm.push(if (value - median).abs() > OUTLIER_DEVIATIONS * noise { median } else { value });
    }
    calm
}

/// Where each stretch of one level begins: the partition with the least sum of squares around the means of its stretches, each of
/// `shortest` numbers at least, and 2·σ²·ln n for each change (Jackson et al. 2005, "An algorithm for optimal partitioning of data on
/// an interval"; Killick, Fearnhead and Eckley 2012 for the penalty). `noise` is σ, with what dependence adds to it.
pub fn stretches(values: &[f64], noise: f64, shortest: usize) -> Vec<usize> {
    let count = values.len();
    let shortest = shortest.max(1);
    if count < 2 * shortest {
        return if count == 0 { Vec::new() } else { vec![0] };
    }
    let penalty = 2.0 * noise * noise * (count as f64).ln();
    let (sums, squares) = cumulated(values);
    let mut best = vec![f64::INFINITY; count + 1];
    let mut begins = vec![0; count + 1];
    best[0] = -penalty;
    for to in shortest..=count {
        for from in 0..=to - shortest {
            if from > 0 && from < shortest {
                continue;
            }
            let sum = sums[to] - sums[from];
            let cost = (squares[to] - squares[from] - sum * sum / (to - from) as f64).max(0.0);
            let total = best[from] + cost + penalty;
            if total < best[to] {
                best[to] = total;
                begins[to] = from;
            }
        }
    }
    let mut starts = Vec::new();
    let mut end = count;
    while end > 0 {
        end = begins[end];
        starts.push(end);
    }
    starts.reverse();
    starts
}

/// Sums of all numbers before each, and of their squares, around the first so that little is lost to rounding.
fn cumulated(values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
    let (mut sum, mut square) = (0.0, 0.0);
    for value in values {
        let value = value - values[0];
        sum += value;
        square += value * value;
        sums.push(sum);
        squares.push(square);
    }
    (sums, squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use proptest::prelude::*;

    fn levels(prng: &mut Prng, levels: &[(usize, f64)]) -> Vec<f64> {
        levels
            .iter()
            .flat_map(|&(count, level)| std::iter::repeat_n(level, count))
            .map(|level| level + prng.normal())
            .collect()
    }

    #[test]
    fn levels_are_found_where_they_change() {
        let mut prng = Prng::new(1, 0);
        let values = levels(&mut prng, &[(40, 0.0), (30, 5.0), (50, 2.0)]);
        let noise = noise(&values).unwrap();
        assert!((0.7..1.4).contains(&noise), "{noise}");
        let found = stretches(&values, noise, 3);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].abs_diff(40) <= 1 && found[2].abs_diff(70) <= 2, "{found:?}");
    }

    /// By the penalty, one series in some tens of one level would be cut; a fall must be large as well, which is not asked for here.
    #[test]
    fn one_level_is_seldom_cut() {
        let mut prng = Prng::new(2, 0);
        let cut = (0..200)
            .filter(|_| {
                let values = levels(&mut prng, &[(100, 0.0)]);
                stretches(&values, 1.2, 3).len() > 1
            })
            .count();
        assert!(cut <= 30, "{cut} of 200");
    }

    #[test]
    fn a_stall_is_no_change_of_level() {
        let mut values = vec![1.0, 1.01, 0.99, 1.0, 9.0, 1.0, 1.02, 0.98, 1.0, 1.0];
        let calm = without_outliers(&values, noise(&values).unwrap());
        assert!(calm.iter().all(|value| (0.9..1.1).contains(value)), "{calm:?}");
        values.truncate(3);
        assert_eq!(noise(&values), None);
        assert_eq!(stretches(&[], 1.0, 3), Vec::<usize>::new());
        assert_eq!(stretches(&values, 1.0, 3), [0]);
    }

    proptest! {
        #[test]
        fn stretches_cover_everything_and_none_is_too_short(
            values in prop::collection::vec(-1e3..1e3_f64, 1..80), noise in 0.0..100.0_f64, shortest in 1..6_usize,
        ) {
            let starts = stretches(&values, noise, shortest);
            prop_assert_eq!(starts[0], 0);
            let ends = starts.iter().skip(1).copied().chain([values.len()]);
            for (start, end) in starts.iter().zip(ends) {
                prop_assert!(end >= start + shortest || starts.len() == 1);
            }
        }
    }
}
