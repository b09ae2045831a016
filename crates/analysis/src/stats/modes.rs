//! How many peaks a histogram certainly has, without a word about the shape of any of them.
//!
//! Three stretches side by side show two peaks if the one in the middle holds fewer observations for its width than either of the others.
//! Of one peak the middle is at least as dense as one of its neighbours, so the number in it is binomial with at least the share of its
//! width: Chernoff's bound says how likely so few are. All triples of stretches count as tried, whether they were looked at or not.
//!
//! References: Dümbgen and Walther, "Multiscale inference about a density", Annals of Statistics 36, 2008 (conclusions that hold for all stretches
//! at once); Hoeffding, "Probability inequalities for sums of bounded random variables", 1963 (the bound).

/// Two peaks are told apart when between them there is less than half of what the lower one has, as of lines in a spectrum.
const DEPTH: f64 = 0.5;
/// The chance of finding a second peak where there is one, at any place: one in a thousand.
const CHANCE: f64 = 1e-3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub count: u64,
    /// How wide it is, in whatever measure "dense" is to be taken.
    pub width: f64,
}

/// Cells of one peak: from the first to before the end. Cells between two peaks belong to neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    pub first: usize,
    pub end: usize,
}

/// A dip, and how much speaks for it: the negative logarithm of the bound.
#[derive(Clone, Copy)]
struct Dip {
    first: usize,
    end: usize,
    score: f64,
}

/// What a dip must show, as a logarithm: `n` cells have n + 1 borders, of which a triple of stretches takes four, and all count as tried.
fn score_min(cells: usize) -> f64 {
    let borders = cells as f64 + 1.0;
    let triples = borders * (borders - 1.0) * (borders - 2.0) * (borders - 3.0) / 24.0;
    (triples.max(1.0) / CHANCE).ln()
}

/// The peaks, in order; one where no dip is certain, none of nothing.
pub fn peaks(cells: &[Cell]) -> Vec<Peak> {
    let Some(first) = cells.iter().position(|cell| cell.count > 0) else { return Vec::new() };
    let end = cells.len() - cells.iter().rev().position(|cell| cell.count > 0).unwrap_or(0);
    let sums = Sums::of(cells);
    let least = score_min(end - first);
    let (mut open, mut peaks) = (vec![Peak { first, end }], Vec::new());
    // What is split is looked at again, its right part last.
    while let Some(peak) = open.pop() {
        match sums.deepest_dip(peak) {
            Some(dip) if dip.score >= least => {
                open.push(Peak { first: dip.end, end: peak.end });
                open.push(Peak { first: peak.first, end: dip.first });
            }
            _ => peaks.push(peak),
        }
    }
    peaks
}

/// How many observations a second peak of `peak_width` needs to be seen for certain, with nothing in the `gap_width` before it.
pub fn needed(cells: usize, gap_width: f64, peak_width: f64) -> u64 {
    let middle = DEPTH * gap_width / (DEPTH * gap_width + peak_width);
    (score_min(cells) / -(1.0 - middle).ln()).ceil() as u64
}

/// What so large a part of all says for another share than `chance`, as a logarithm of likelihood.
fn likelihood(part: f64, all: f64, chance: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part * (part / all / chance).ln() }
}

struct Sums {
    counts: Vec<u64>,
    widths: Vec<f64>,
}

impl Sums {
    fn of(cells: &[Cell]) -> Sums {
        let (mut counts, mut widths) = (vec![0], vec![0.0]);
        for cell in cells {
            counts.push(counts[counts.len() - 1] + cell.count);
            widths.push(widths[widths.len() - 1] + cell.width);
        }
        Sums { counts, widths }
    }

    /// How much speaks for fewer observations between borders `a` and `b` than between `c` and `d`, for their width.
    fn score(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> f64 {
        let (few, many) =
            ((self.counts[b] - self.counts[a]) as f64, (self.counts[d] - self.counts[c]) as f64);
        let (few_width, many_width) = (self.widths[b] - self.widths[a], self.widths[d] - self.widths[c]);
        let all = few + many;
        let expected = DEPTH * few_width / (DEPTH * few_width + many_width);
        if all == 0.0 || few / all >= expected {
            return 0.0;
        }
        likelihood(few, all, expected) + likelihood(many, all, 1.0 - expected)
    }

    fn deepest_dip(&self, peak: Peak) -> Option<Dip> {
        let mut deepest: Option<Dip> = None;
        for first in peak.first + 1..peak.end {
            for end in first + 1..peak.end {
                let best = if let Some(dip) = deepest { dip.score } else { 0.0 };
                let mut left: f64 = 0.0;
                for from in peak.first..first {
                    left = left.max(self.score((first, end), (from, first)));
                }
                if left <= best {
                    continue;
                }
                let mut right: f64 = 0.0;
                for to in end + 1..=peak.end {
                    right = right.max(self.score((first, end), (end, to)));
                }
                let score = left.min(right);
                if score > best {
                    deepest = Some(Dip { first, end, score });
                }
            }
        }
        deepest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    fn cells(counts: &[u64]) -> Vec<Cell> {
        counts.iter().map(|&count| Cell { count, width: 1.0 }).collect()
    }

    #[test]
    fn a_gap_is_a_gap_only_when_enough_lies_on_either_side() {
        // 12 borders of 11 cells, of which a triple takes four: 495, and ln(495 / 0.001) = 13.11.
        assert!((score_min(11) - 13.11).abs() < 0.01);
        let peak = |first, end| Peak { first, end };
        let wide = [0, 500, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, 0];
        assert_eq!(peaks(&cells(&wide)), [peak(1, 2), peak(11, 12)]);
        // Nine empty cells at half the density are 4.5 cells: 1/5.5 for each in the last one, so that 8 are needed.
        assert_eq!(needed(11, 9.0, 1.0), 8);
        let few = |last| peaks(&cells(&[500, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])).len();
        assert_eq!((few(7), few(8)), (1, 2));
        assert_eq!(peaks(&cells(&[0, 0])), []);
        assert_eq!(peaks(&cells(&[7])), [peak(0, 1)]);
    }

    #[test]
    fn a_dip_to_more_than_half_is_none() {
        assert_eq!(peaks(&cells(&[10_000, 6_000, 10_000])).len(), 1);
        assert_eq!(peaks(&cells(&[10_000, 4_000, 10_000])).len(), 2);
        assert_eq!(peaks(&cells(&[9_000, 10, 9_000, 10, 9_000])).len(), 3);
    }

    /// Sums of draws have one peak, wherever it is. One false alarm in a thousand is allowed, and the bounds leave room to that.
    #[test]
    fn one_peak_is_not_taken_for_two() {
        let mut prng = Prng::new(11, 0);
        let mut alarms = 0;
        for number in 0..2000 {
            let mut counts = vec![0; 30];
            let draws = 1 + number % 4;
            for _ in 0..20 << (number % 7) {
                let sum: u64 = (0..draws).map(|_| prng.below(30)).sum();
                counts[(sum / draws) as usize] += 1;
            }
            alarms += usize::from(peaks(&cells(&counts)).len() > 1);
        }
        assert_eq!(alarms, 0);
    }
}
