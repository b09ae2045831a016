//! The buckets that a course may have gone through.

use super::asked::{Asked, Side, Unit, Window};
use super::bucket::{Bucket, RUN_MIN, WINDOWS_MIN};
use super::course::Course;
use super::fitting::Fitting;

const CANDIDATES: usize = 4;
const RUNS_MAX: usize = 3;
/// Windows that may contradict: the one in which the credit ends, and a stall now and then; fewer than one for four that wait.
pub(super) const CONTRADICTING_SHARE: f64 = 0.02;

pub(super) struct Fit {
    pub unit: Unit,
    pub bucket: Bucket,
    pub waits: Vec<bool>,
    contradicting: Vec<usize>,
    /// Whether the workload that waits for tokens is no faster with credit left: then the sustained rate is the drive's.
    is_as_slow_with_credit: bool,
}

impl Fit {
    pub(super) fn sizes(&self) -> usize {
        self.bucket.blocks.len()
    }

    /// Whether parts cost all sizes that wait for tokens what another unit does: one for each request, or whole parts of bytes.
    pub(super) fn is_the_same_in(&self, unit: Unit) -> bool {
        let (blocks, Some(part)) = (&self.bucket.blocks, self.unit.part()) else { return false };
        let mut is_the_same = true;
        for block in blocks {
            is_the_same &= match unit {
                Unit::Bytes => block.get().is_multiple_of(part.get()),
                _ => block.get().div_ceil(part.get()) == blocks[0].get().div_ceil(part.get()),
            };
        }
        is_the_same
    }

    /// Whether more windows contradict than may, of those in which nothing waits for the tokens of another bucket.
    pub(super) fn is_contradicted(&self, beside: Option<&Fit>) -> bool {
        if self.is_as_slow_with_credit {
            return true;
        }
        let mut contradicting = 0usize;
        for &window in &self.contradicting {
            contradicting += usize::from(beside.is_none_or(|other| !other.waits[window]));
        }
        let of_all = CONTRADICTING_SHARE * self.waits.len() as f64;
        contradicting as f64 > of_all.min(self.bucket.windows as f64 / 4.0).max(1.0)
    }
}

/// The one with even completions if there is any that nothing contradicts.
pub(super) fn fit(course: &Course, unit: Unit, side: Side) -> Option<Bucket> {
    Some(alone(&fits(course, unit, side), unit)?.bucket.clone())
}

pub(super) fn alone(fits: &[Fit], unit: Unit) -> Option<&Fit> {
    let mut best: Option<&Fit> = None;
    for fit in fits {
        if fit.unit != unit || fit.is_contradicted(None) {
            continue;
        }
        if best.is_none_or(|other| fit.bucket.explains_more(&other.bucket)) {
            best = Some(fit);
        }
    }
    best
}

/// Of buckets that were full at the start, and where none of these holds, of such as never were.
pub(super) fn fits(course: &Course, unit: Unit, side: Side) -> Vec<Fit> {
    let mut asked = Asked::of(course, unit, side);
    let windows = asked.windows();
    let mut fits = Vec::new();
    for lowest_deficit in [0.0, f64::NEG_INFINITY] {
        asked.lowest_deficit = lowest_deficit;
        for members in candidates(&windows) {
            for run in longest_runs(&members) {
                if let Some(fitting) = Fitting::of(&asked, &windows, run)
                    && let Some(bucket) = fitting.bucket()
                {
                    fits.push(Fit {
                        unit,
                        bucket,
                        waits: fitting.waits(),
                        contradicting: fitting.contradicting(),
                        is_as_slow_with_credit: fitting.is_as_slow_with_credit(),
                    });
                }
            }
        }
        if fits.iter().any(|fit| !fit.is_contradicted(None)) {
            break;
        }
    }
    fits
}

/// Windows of the same rate, the most frequent rate first.
pub(super) fn candidates(windows: &[Window]) -> Vec<Vec<usize>> {
    candidates_of(windows, |_| true, WINDOWS_MIN)
}

pub(super) fn candidates_of(
    windows: &[Window],
    counts: impl Fn(&Window) -> bool,
    at_least: usize,
) -> Vec<Vec<usize>> {
    let is_one = |&index: &usize| windows[index].used > 0.0 && counts(&windows[index]);
    let mut left: Vec<usize> = (0..windows.len()).filter(is_one).collect();
    let mut found = Vec::new();
    while found.len() < CANDIDATES {
        let alike = |&center: &usize| {
            let rate = windows[center].rate();
            left.iter().filter(|&&one| windows[one].is_at(rate)).count()
        };
        let Some(center) = left.iter().copied().max_by_key(alike) else { break };
        let rate = windows[center].rate();
        let (members, others) = left.iter().partition::<Vec<usize>, _>(|&&one| windows[one].is_at(rate));
        if members.len() < at_least {
            break;
        }
        left = others;
        found.push(members);
    }
    found
}

/// The first and the last of windows that follow each other, the most first: short windows do not tell the rate of a link from that of a limit.
fn longest_runs(members: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &member in members {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == member => *last = member,
            _ => runs.push((member, member)),
        }
    }
    runs.retain(|(first, last)| last - first + 1 >= RUN_MIN);
    runs.sort_by_key(|(first, last)| std::cmp::Reverse(last - first));
    runs.truncate(RUNS_MAX);
    runs
}
