//! Members one after the other: the borders that part each two reads that different actuators answered.

use super::ARMS_MAX;

/// Of all pairs, those that no border parts: an actuator may answer twice within a moment now and then.
const STRAY_SHARE_MAX: f64 = 0.02;
/// With fewer pairs, a border may be anywhere in a tenth of the members around it, and several may be taken for one.
const PAIRS_MIN: usize = 20;
/// Parts of the range between which borders are looked for first; the nearest pairs then tell them closer.
const CELLS: usize = 512;

#[derive(Clone, Debug, PartialEq)]
pub struct Concatenation {
    /// Between which bytes each member after the first begins.
    pub borders: Vec<(u64, u64)>,
}

impl Concatenation {
    /// The fewest borders that part the reads of all pairs but strays; none where too few pairs show one of them.
    pub(super) fn of(pairs: &[(u64, u64)]) -> Option<Concatenation> {
        let (mut spans, mut from, mut to) = (Vec::new(), u64::MAX, 0);
        for &(one, other) in pairs {
            let (first, last) = (one.min(other), one.max(other));
            spans.push((first, last));
            (from, to) = (from.min(first), to.max(last + 1));
        }
        let cell_bytes = to.saturating_sub(from).div_ceil(CELLS as u64);
        let mut cells = Vec::new();
        for (first, last) in &spans {
            cells.push([first, last].map(|offset| ((offset - from) / cell_bytes) as usize));
        }
        let stray_max = (STRAY_SHARE_MAX * spans.len() as f64) as u32;
        let mut points = Vec::new();
        for at in Inside::of(&cells).fewest_borders(stray_max)? {
            points.push(from + at as u64 * cell_bytes);
        }
        let mut borders = Vec::new();
        for point in &points {
            let alone = parted_alone(*point, &points, &spans);
            if alone.len() < PAIRS_MIN {
                return None;
            }
            let (mut firsts, mut lasts): (Vec<u64>, Vec<u64>) = alone.into_iter().unzip();
            firsts.sort_unstable();
            lasts.sort_unstable();
            // The nearest to a border on either side may be a stray.
            borders.push((firsts[firsts.len() - 2], lasts[1]));
        }
        Some(Concatenation { borders })
    }

    /// The share of pairs of answers that come from different members, by where answers lie.
    pub(super) fn parted_share(&self, offsets: impl Iterator<Item = u64>) -> f64 {
        let mut answers = vec![0.0; self.borders.len() + 1];
        for offset in offsets {
            answers[self.borders.partition_point(|(first, last)| first + (last - first) / 2 <= offset)] +=
                1.0;
        }
        let all: f64 = answers.iter().sum();
        1.0 - answers.iter().map(|count| (count / all).powi(2)).sum::<f64>()
    }
}

struct Inside {
    /// `counts[cell][end]`: spans that begin in that cell or later and end before the cell `end`.
    counts: Vec<[u32; CELLS + 1]>,
}

impl Inside {
    fn of(spans: &[[usize; 2]]) -> Inside {
        let mut counts = vec![[0; CELLS + 1]; CELLS + 1];
        for [first, last] in spans {
            counts[*first][last + 1] += 1;
        }
        for first in (0..CELLS).rev() {
            for end in 1..=CELLS {
                counts[first][end] +=
                    counts[first][end - 1] + counts[first + 1][end] - counts[first + 1][end - 1];
            }
        }
        Inside { counts }
    }

    /// By dynamic programming over the last border: the least that is left within one member, for each number of members.
    fn fewest_borders(&self, stray_max: u32) -> Option<Vec<usize>> {
        let mut least = self.counts[0];
        let mut before: Vec<[usize; CELLS + 1]> = Vec::new();
        for _ in 1..ARMS_MAX {
            let (mut next, mut begins) = ([u32::MAX; CELLS + 1], [0; CELLS + 1]);
            for end in 1..=CELLS {
                for (begin, before) in least[..end].iter().enumerate() {
                    let left = before.saturating_add(self.counts[begin][end]);
                    if left < next[end] {
                        (next[end], begins[end]) = (left, begin);
                    }
                }
            }
            least = next;
            before.push(begins);
            if least[CELLS] <= stray_max {
                let mut borders = vec![CELLS];
                for begins in before.iter().rev() {
                    borders.push(begins[*borders.last()?]);
                }
                borders.reverse();
                borders.pop();
                return Some(borders);
            }
        }
        None
    }
}

fn parted_alone(point: u64, points: &[u64], spans: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut alone = Vec::new();
    for &(first, last) in spans {
        let mut within = points.iter().filter(|point| first < **point && **point <= last);
        if within.next() == Some(&point) && within.next().is_none() {
            alone.push((first, last));
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// Pairs of random places on different members, and some on the same one.
    fn pairs(begins: &[u64], count: usize, strays: usize, seed: u64) -> Vec<(u64, u64)> {
        let mut prng = Prng::new(seed, 0);
        let member = |place: u64| begins.partition_point(|begin| *begin <= place);
        let mut pairs = Vec::new();
        while pairs.len() < count + strays {
            let pair = (prng.below(1 << 40), prng.below(1 << 40));
            if (member(pair.0) != member(pair.1)) == (pairs.len() < count) {
                pairs.push(pair);
            }
        }
        pairs
    }

    #[test]
    fn members_one_after_the_other_are_counted_and_their_borders_are_where_they_are() {
        for begins in [vec![1 << 39], vec![1 << 37], vec![1 << 38, 3 << 38], vec![1 << 38, 2 << 38, 3 << 38]]
        {
            let mut held = 0;
            for seed in 0..20 {
                let found = Concatenation::of(&pairs(&begins, 400, 3, seed)).expect("enough pairs");
                assert_eq!(found.borders.len(), begins.len(), "{begins:?}, {seed}: {found:?}");
                for ((first, last), begin) in found.borders.iter().zip(&begins) {
                    held += usize::from((first..=last).contains(&begin));
                    assert!(last - first < 1 << 36, "{found:?}");
                }
            }
            assert!(held >= 19 * begins.len(), "{begins:?}: {held} of {}", 20 * begins.len());
        }
    }

    #[test]
    fn few_pairs_show_no_border() {
        assert_eq!(Concatenation::of(&pairs(&[1 << 39], 12, 0, 1)), None);
        assert_eq!(Concatenation::of(&[]), None);
    }

    #[test]
    fn of_two_halves_half_of_the_pairs_are_parted() {
        let found = Concatenation { borders: vec![(49, 51)] };
        assert!((found.parted_share(0..100) - 0.5).abs() < 1e-9);
        assert!((found.parted_share(45..55) - 0.5).abs() < 1e-9);
        assert_eq!(found.parted_share(0..40), 0.0);
    }
}
