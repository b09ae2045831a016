//! How likely it is that something whose times scatter comes as evenly as was seen.
//!
//! Completions of a server whose service times scatter wander around their line as a random walk does: over `count` of
//! them, tied down at both ends, they range over V · c · √count, with c the coefficient of variation and V the range of
//! a Brownian bridge. Its distribution is that of Kuiper's statistic (Kuiper, "Tests concerning random points on a
//! circle", Proc. KNAW A 63, 1960). What a clock lets through ranges over one, however many come.

/// Below this the chance is less than 1e-15, and the series loses its digits.
const RANGE_MIN: f64 = 0.4;
/// Terms of the series: the next is below 1e-15 at [`RANGE_MIN`].
const TERMS: u32 = 12;

/// The probability that `count` completions, looked at `looks` times, range over no more than `range` of them, with service
/// times of that coefficient of variation; 0.5826 of a step for what lies between looks (Broadie, Glasserman and Kou 1997).
pub fn chance_so_even(range: f64, count: f64, looks: f64, variation: f64) -> f64 {
    let v = range / (variation * count.sqrt()) + 2.0 * 0.5826 / looks.sqrt();
    if v < RANGE_MIN {
        return 0.0;
    }
    let mut above = 0.0;
    for term in 1..=TERMS {
        let square = (f64::from(term) * v).powi(2);
        above += 2.0 * (4.0 * square - 1.0) * (-2.0 * square).exp();
    }
    (1.0 - above).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// The upper 5 % and 1 % of Kuiper's statistic are 1.747 and 2.001 (Stephens 1970, table 1).
    #[test]
    fn the_distribution_is_that_of_the_tables() {
        for (range, chance) in [(1.747, 0.95), (2.001, 0.99)] {
            assert!(
                (chance_so_even(range * 10.0, 100.0, f64::INFINITY, 1.0) - chance).abs() < 5e-4,
                "{range}"
            );
        }
        assert_eq!(chance_so_even(2.0, 1e6, 1e6, 0.1), 0.0);
        assert_eq!(chance_so_even(1.0, 4.0, 4.0, 0.1), 1.0);
    }

    /// Of servers that scatter by a tenth, as many are as even as it says: 5 % of 2000, within 4 standard deviations; also where
    /// one looks at every hundredth completion only.
    #[test]
    fn servers_that_scatter_are_so_even_as_often_as_it_says() {
        for apart in [1, 100] {
            let mut prng = Prng::new(5, 0);
            let count = 2000;
            let mut even = 0;
            for _ in 0..2000 {
                let mut walk = vec![0.0];
                for _ in 0..count {
                    walk.push(walk[walk.len() - 1] + 0.1 * prng.normal());
                }
                let end = walk[count];
                let (mut low, mut high) = (0.0f64, 0.0f64);
                for (index, place) in walk.iter().enumerate().step_by(apart) {
                    let off = place - end * index as f64 / count as f64;
                    (low, high) = (low.min(off), high.max(off));
                }
                let looks = (count / apart) as f64;
                even += usize::from(chance_so_even(high - low, count as f64, looks, 0.1) <= 0.05);
            }
            assert!((50..=139).contains(&even), "{even} of those looked at {apart} apart");
        }
    }
}
