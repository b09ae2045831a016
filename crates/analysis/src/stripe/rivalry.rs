//! Which reads are in each other's way: those on one drive wait for one another, those on different drives do not.
//!
//! Each answer is a race that one of the reads under way has won. If k of them lie on one drive, it serves one at a time, so each
//! of the k has a k-th of the chance of a read that has a drive for itself. A layout says for every read on which drive it lies,
//! and so gives every winner a probability; without a layout all under way have the same. The product over all answers is the
//! likelihood of the layout against none. Only the order of answers counts: in this partial likelihood of a proportional-hazards
//! model all that reads have in common cancels (zones, load, jitter).
//!
//! Drives that sort get quicker with more that wait: a read among k has the chance k^−s with some s of 0 to 1.

use super::crowd::{Crowd, Event};
use super::layout::{Layout, MEMBERS_MAX};

/// How much of its chance a read loses to those on its drive: exponents s. 0 is no layout at all.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Reads under way on one drive, at most: the depths that are used.
const WAITING_MAX: usize = 256;

/// How much better a layout explains who was answered when than no layout does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    pub layout: Layout,
    by_share: [f64; SHARES.len()],
}

impl Gain {
    pub(super) fn log_odds(&self) -> f64 {
        log_sum_exp(self.by_share.iter().copied()) - (SHARES.len() as f64).ln()
    }

    fn add(&mut self, more: &Gain) {
        for (sum, more) in self.by_share.iter_mut().zip(more.by_share) {
            *sum += more;
        }
    }
}

/// What the crowds say of all layouts, one by one, in the order of `layouts`.
pub(super) fn gains(crowds: &[Crowd], layouts: &[Layout]) -> Vec<Gain> {
    let tables = Tables::new();
    let mut gains = Vec::with_capacity(layouts.len());
    for layout in layouts {
        let mut sum = Gain { layout: *layout, by_share: [0.0; SHARES.len()] };
        for crowd in crowds {
            sum.add(&gain(crowd, *layout, &tables));
        }
        gains.push(sum);
    }
    gains
}

/// Powers of the number of those that wait for one drive.
struct Tables {
    /// Chance that a drive answers next: k^(1 − s).
    drive: Vec<[f64; SHARES.len()]>,
    log: Vec<f64>,
}

impl Tables {
    fn new() -> Tables {
        let (mut drive, mut log) = (Vec::new(), Vec::new());
        for waiting in 0..=WAITING_MAX {
            let power = |share: f64| if waiting == 0 { 0.0 } else { (waiting as f64).powf(1.0 - share) };
            drive.push(SHARES.map(power));
            log.push((waiting.max(1) as f64).ln());
        }
        Tables { drive, log }
    }
}

fn gain(crowd: &Crowd, layout: Layout, tables: &Tables) -> Gain {
    let members: Vec<usize> = crowd.reads().iter().map(|read| layout.member_of(read.offset_bytes)).collect();
    let mut waiting = [0usize; MEMBERS_MAX as usize];
    let mut under_way = 0usize;
    let mut chances = [0.0; SHARES.len()];
    let mut without_layout = 0.0;
    let mut among_rivals = 0.0;
    let mut all = LogProducts::default();
    for event in crowd.events() {
        let (Event::Asked(index) | Event::Answered(index)) = *event;
        let member = members[index];
        let before = waiting[member];
        let after = match event {
            Event::Asked(_) => (before + 1).min(WAITING_MAX),
            Event::Answered(_) => {
                without_layout += tables.log[under_way.min(WAITING_MAX)];
                among_rivals += tables.log[before];
                all.multiply(&chances);
                before - 1
            }
        };
        waiting[member] = after;
        under_way = if after > before { under_way + 1 } else { under_way - 1 };
        for (at, sum) in chances.iter_mut().enumerate() {
            *sum += tables.drive[after][at] - tables.drive[before][at];
        }
    }
    let logs = all.logs();
    let by_share = std::array::from_fn(|at| without_layout - SHARES[at] * among_rivals - logs[at]);
    Gain { layout, by_share }
}

/// Logarithms of products of the chances of all drives, share by share. A logarithm of each factor would take most of the time.
struct LogProducts {
    logs: [f64; SHARES.len()],
    products: [f64; SHARES.len()],
    factors: u32,
}

/// The chances of 16 drives add up to 1 to 16·256^0.75 = 2^10: a float holds the product of a hundred such numbers.
const FACTORS_MAX: u32 = 64;

impl Default for LogProducts {
    fn default() -> LogProducts {
        LogProducts { logs: [0.0; SHARES.len()], products: [1.0; SHARES.len()], factors: 0 }
    }
}

impl LogProducts {
    fn multiply(&mut self, factors: &[f64; SHARES.len()]) {
        for (product, factor) in self.products.iter_mut().zip(factors) {
            *product *= factor;
        }
        self.factors += 1;
        if self.factors == FACTORS_MAX {
            *self = LogProducts { logs: self.logs(), ..LogProducts::default() };
        }
    }

    fn logs(&self) -> [f64; SHARES.len()] {
        std::array::from_fn(|at| self.logs[at] + self.products[at].ln())
    }
}

/// The logarithm of a sum of exponentials; the largest alone may be too large for a float.
pub(super) fn log_sum_exp(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + logs.map(|log| (log - most).exp()).sum::<f64>().ln() }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    const TWO: Layout = Layout { members: 2, chunk_bytes: 4096 };

    #[test]
    fn a_winner_that_had_a_drive_for_itself_speaks_for_the_layout() {
        // Three under way: two on drive 0, one on drive 1, which wins: 1/2 against 1/3 at s = 1. Then two on drive 0: 1/2
        // either way. Then the last.
        let crowd = Crowd::new([read(4096, 0, 5), read(0, 0, 9), read(8192, 0, 12)]);
        let gains = gains(&[crowd.clone(), crowd], &[TWO]);
        assert!((gains[0].by_share[3] - 2.0 * (3.0f64 / 2.0).ln()).abs() < 1e-9, "{:?}", gains[0]);
        assert!(gains[0].by_share[0] > 0.0 && gains[0].by_share[0] < gains[0].by_share[3]);
    }

    #[test]
    fn a_winner_among_rivals_speaks_against_it() {
        // One of the two on drive 0 wins: 1/4 against 1/3. Then one on each: 1/2 either way.
        let crowd = Crowd::new([read(0, 0, 5), read(8192, 0, 9), read(4096, 0, 12)]);
        let gain = gains(&[crowd], &[TWO])[0];
        assert!((gain.by_share[3] - (3.0f64 / 4.0).ln()).abs() < 1e-9, "{gain:?}");
    }

    /// 200 rounds of the three reads of the first test, which is more factors than one product takes.
    #[test]
    fn many_answers_count_as_each_of_them_does() {
        let round = |start: u64| {
            [read(4096, start, start + 5), read(0, start, start + 9), read(8192, start, start + 12)]
        };
        let crowd = Crowd::new((0..200).flat_map(|number| round(20 * number)));
        let gain = gains(&[crowd], &[TWO])[0];
        assert!((gain.by_share[3] - 200.0 * (3.0f64 / 2.0).ln()).abs() < 1e-9, "{gain:?}");
    }

    #[test]
    fn the_mean_of_likelihoods_is_that_of_its_terms() {
        assert!((log_sum_exp([1000.0, 1000.0].into_iter()) - (1000.0 + 2.0f64.ln())).abs() < 1e-9);
        assert_eq!(log_sum_exp(std::iter::empty()), f64::NEG_INFINITY);
    }
}
