//! Whether requests wait for tokens as evenly as no drive completes them.

use super::course::Step;
use super::fitting::Fitting;
use crate::stats::evenness::chance_so_even;

/// No medium completes requests more evenly: its service times scatter by a tenth at least. A uniform wait of a
/// revolution within the access of a disk makes 0.19 (4.17 ± 2.4 ms of 12.7), pages of TLC flash that are read in one,
/// two or four steps more (Cai et al., Proc. IEEE 105, 2017).
const VARIATION_MIN: f64 = 0.1;
/// And the chance that one of so little scatter is as even as a bucket.
const CHANCE_MAX: f64 = 1e-3;

impl Fitting<'_> {
    /// Whether completions come too evenly for any drive while requests wait for tokens: in the stretch with most of them, which
    /// nothing chose for being even, or in that of one phase, where no border leaves a request uncertain. Writes say nothing of reads.
    pub(super) fn is_even(&self) -> bool {
        for within_phases in [false, true] {
            let Stretch { from, to, cost, requests } = self.longest_wait(within_phases);
            let range = self.range_around_the_line(from, to) / cost;
            let looks = (to - from) as f64;
            if requests > 0.0 && chance_so_even(range, requests, looks, VARIATION_MIN) <= CHANCE_MAX / 2.0 {
                return true;
            }
        }
        false
    }

    fn longest_wait(&self, within_phases: bool) -> Stretch {
        let (mut most, mut stretch, mut last) = (Stretch::EMPTY, Stretch::EMPTY, None);
        let are_reads_limited = self.limited_shapes().iter().any(|shape| !shape.writes);
        for &member in &self.members {
            let window = &self.windows[member];
            let writes_only = !self.asked.steps()[window.from..window.to].iter().any(Step::has_reads);
            if !self.is_at_credit(window.to - 1) || are_reads_limited && writes_only {
                continue;
            }
            let is_next = last == member.checked_sub(1) && window.cost == stretch.cost;
            let steps = self.asked.steps();
            let before = window.from.saturating_sub(1);
            if !is_next || within_phases && steps[before].phase != steps[window.to - 1].phase {
                stretch = Stretch { from: window.from, cost: window.cost, ..Stretch::EMPTY };
            }
            if within_phases && steps[window.from].phase != steps[window.to - 1].phase {
                last = None;
                continue;
            }
            stretch.to = window.to;
            stretch.requests += window.used / window.cost;
            last = Some(member);
            if stretch.requests > most.requests {
                most = stretch;
            }
        }
        most
    }

    fn range_around_the_line(&self, from: usize, to: usize) -> f64 {
        let deficits = &self.stretch.deficits[from..to];
        let (Some(&first), Some(&last)) = (deficits.first(), deficits.last()) else { return 0.0 };
        let slope = (last - first) / (deficits.len() as f64 - 1.0).max(1.0);
        let (mut low, mut high) = (0.0f64, 0.0f64);
        for (index, deficit) in deficits.iter().enumerate() {
            let off = deficit - first - slope * index as f64;
            (low, high) = (low.min(off), high.max(off));
        }
        high - low
    }
}

/// Windows at the credit that follow each other, with requests of one size: their steps.
#[derive(Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    cost: f64,
    requests: f64,
}

impl Stretch {
    const EMPTY: Stretch = Stretch { from: 0, to: 0, cost: 1.0, requests: 0.0 };
}
