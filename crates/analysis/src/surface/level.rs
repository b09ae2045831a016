//! Levels: the stretches of one rate each. Least squares with a price for each change of level, its minimum found exactly by
//! dynamic programming with pruning (PELT: Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear
//! computational cost", JASA 107, 2012); then each border is placed again by maximum likelihood among all visits.

use super::border::{Border, deviation, locate};
use super::clump::Clumps;
use super::sorting::SlowPlace;
use super::visit::{Visit, longest_ns, visits_from_to};
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use model::estimate::Estimate;
use model::range::ByteRange;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    pub first_byte: u64,
    pub bytes: u64,
    pub seconds_per_byte: Estimate,
    /// The earliest that it begins, with 95 %. The same as `first_byte` for the first level.
    pub border_low: u64,
    pub border_high: u64,
    pub visits: usize,
}

/// The chance that noise alone gives a change of level somewhere, roughly: 1 in 1000. See [`price`].
const FALSE_ALARM: f64 = 1e-3;
/// A level holds at least this share of the range; the narrowest zones of 60 hold 0.8 %.
const SHARE_MIN: f64 = 0.005;
const CLUMPS_MIN: usize = 6;
/// A level that is as much slower than both of its neighbours is no zone.
const SLOW_LEVEL_EXCESS: f64 = 0.2;
/// Levels may end at about so many places at first: without changes, pruning fails and the time grows with their square.
const CANDIDATES_MAX: usize = 1200;
/// One-sided 90 % of the normal distribution: what has this distance to the price is found in nine of ten cases.
const POWER_DEVIATIONS: f64 = 1.2816;

impl Level {
    pub fn end_byte(&self) -> u64 {
        self.first_byte + self.bytes
    }
}

/// What a change of level costs, in squared standard deviations: 2 ln n is the Schwarz criterion for its place and height (Yao
/// 1988); noise alone then gives one with a chance that falls slowly with n, so that 2 ln(1/α) is added.
fn price(clumps: usize) -> f64 {
    2.0 * (clumps.max(2) as f64).ln() + 2.0 * (1.0 / FALSE_ALARM).ln()
}

pub(super) fn fit(range: ByteRange, clumps: &Clumps) -> Vec<Level> {
    if clumps.clumps.len() < 2 {
        return Vec::new();
    }
    with_cuts(range, clumps, &changes(range, clumps))
}

fn with_cuts(range: ByteRange, clumps: &Clumps, cuts: &[usize]) -> Vec<Level> {
    let start = range.first().get();
    let mut borders = vec![Border { first_point: 0, byte: start, low: start, high: start }];
    let mut edges: Vec<usize> = cuts.iter().map(|&cut| clumps.clumps[cut].start).collect();
    edges.insert(0, 0);
    edges.push(clumps.points.len());
    let deviation = deviation(&clumps.points, &edges);
    for index in 1..edges.len() - 1 {
        let between = edges[index - 1]..edges[index + 1];
        let border = locate(&clumps.points, between, edges[index], deviation);
        edges[index] = border.first_point;
        borders.push(border);
    }
    let found = levels(range, clumps, &edges, &borders);
    match sliver(range, &found) {
        // Two borders moved towards each other until next to nothing was left: they are one.
        Some(border) => {
            let mut left = cuts.to_vec();
            left.remove(border);
            with_cuts(range, clumps, &left)
        }
        None => found,
    }
}

/// The number of the border to take away: of the shortest level that became shorter than half of what any holds, the one with the smaller
/// step. Half, since a border that is placed again moves as far as the next visit.
fn sliver(range: ByteRange, levels: &[Level]) -> Option<usize> {
    let shortest = (range.bytes().as_f64() * SHARE_MIN / 2.0) as u64;
    let mut found: Option<usize> = None;
    for (number, level) in levels.iter().enumerate() {
        let least = if let Some(found) = found { levels[found].bytes } else { shortest };
        if level.bytes < least {
            found = Some(number);
        }
    }
    match (found?, levels.len() - 1) {
        (_, 0) => None,
        (0, _) => Some(0),
        (number, last) if number == last => Some(number - 1),
        (number, _) => {
            let before = step(&levels[number - 1], &levels[number]);
            let after = step(&levels[number], &levels[number + 1]);
            Some(if before.total_cmp(&after).is_le() { number - 1 } else { number })
        }
    }
}

/// How far two levels are apart, as the logarithm of their ratio.
pub(super) fn step(one: &Level, other: &Level) -> f64 {
    (other.seconds_per_byte.value / one.seconds_per_byte.value).ln().abs()
}

/// The numbers of the clumps with which a level begins, but for the first.
fn changes(range: ByteRange, clumps: &Clumps) -> Vec<usize> {
    let count = clumps.clumps.len();
    let step = count.div_ceil(CANDIDATES_MAX).max(1);
    let mut candidates: Vec<usize> = (0..count).step_by(step).collect();
    candidates.push(count);
    let sums = Sums::of(clumps);
    let mut starts: Vec<f64> = clumps.clumps.iter().map(|clump| clumps.points[clump.start].centre).collect();
    starts[0] = range.first().as_f64();
    starts.push(range.end().as_f64());
    let shortest = range.bytes().as_f64() * SHARE_MIN;
    let price = price(count);
    let mut best = vec![f64::INFINITY; candidates.len()];
    let mut before = vec![0usize; candidates.len()];
    best[0] = -price;
    let (mut kept, mut waiting): (Vec<usize>, usize) = (Vec::new(), 0);
    for to in 1..candidates.len() {
        let end = candidates[to];
        while waiting < to
            && end - candidates[waiting] >= CLUMPS_MIN
            && starts[end] - starts[candidates[waiting]] >= shortest
        {
            if best[waiting].is_finite() {
                kept.push(waiting);
            }
            waiting += 1;
        }
        let mut costs = Vec::with_capacity(kept.len());
        for &from in &kept {
            let without_price = best[from] + sums.cost(candidates[from], end);
            if without_price + price < best[to] {
                best[to] = without_price + price;
                before[to] = from;
            }
            costs.push(without_price);
        }
        let (limit, mut costs) = (best[to], costs.into_iter());
        kept.retain(|_| matches!(costs.next(), Some(cost) if cost <= limit));
    }
    let mut cuts = Vec::new();
    let mut at = candidates.len() - 1;
    while at > 0 && best[at].is_finite() {
        at = before[at];
        if at > 0 {
            cuts.push(candidates[at]);
        }
    }
    cuts.reverse();
    cuts
}

/// Sums over the clumps before each: weights, weighted values, weighted squares.
struct Sums(Vec<[f64; 3]>);

impl Sums {
    fn of(clumps: &Clumps) -> Sums {
        // Values are taken from the first one, so that squares do not swallow differences.
        let origin = clumps.points[0].clipped;
        let mut sums = vec![[0.0; 3]];
        let mut sum = [0.0; 3];
        for clump in &clumps.clumps {
            for point in &clumps.points[clump.clone()] {
                let value = point.clipped - origin;
                sum[0] += point.weight;
                sum[1] += point.weight * value;
                sum[2] += point.weight * value * value;
            }
            sums.push(sum);
        }
        Sums(sums)
    }

    /// The weighted squares of deviations from the mean of the clumps `from..to`.
    fn cost(&self, from: usize, to: usize) -> f64 {
        let (before, until) = (self.0[from], self.0[to]);
        let (weight, sum) = (until[0] - before[0], until[1] - before[1]);
        (until[2] - before[2] - sum * sum / weight).max(0.0)
    }
}

fn levels(range: ByteRange, clumps: &Clumps, edges: &[usize], borders: &[Border]) -> Vec<Level> {
    let mut levels = Vec::new();
    for (number, edges) in edges.windows(2).enumerate() {
        let Border { byte, low, high, .. } = borders[number];
        let end_byte = borders.get(number + 1).map_or(range.end().get(), |border| border.byte);
        levels.push(Level {
            first_byte: byte,
            bytes: end_byte.saturating_sub(byte),
            seconds_per_byte: mean_of(clumps, edges[0]..edges[1]).interval(CONFIDENCE),
            border_low: low,
            border_high: high,
            visits: edges[1] - edges[0],
        });
    }
    levels
}

/// The mean time per byte of these places, with the variance from the differences between clumps.
fn mean_of(clumps: &Clumps, places: Range<usize>) -> Mean {
    let mut parts: Vec<(f64, f64)> = Vec::new();
    for clump in &clumps.clumps {
        let part = clump.start.max(places.start)..clump.end.min(places.end);
        let points = clumps.points.get(part).unwrap_or_default();
        if points.is_empty() {
            continue;
        }
        let (mut weight, mut sum) = (0.0, 0.0);
        for point in points {
            weight += point.weight;
            sum += point.seconds_per_byte;
        }
        parts.push((weight, sum / points.len() as f64));
    }
    let (mut weight, mut value, mut squares) = (0.0, 0.0, 0.0);
    for (part, one) in &parts {
        weight += part;
        value += part * one;
    }
    value /= weight;
    for (part, one) in &parts {
        squares += (part * (one - value)).powi(2);
    }
    let count = parts.len() as f64;
    let known = count > 1.0;
    Mean {
        value,
        variance: if known {
            squares / (weight * weight) * count / (count - 1.0)
        } else {
            clumps.variance * value * value
        },
        degrees_of_freedom: (count - 1.0).max(1.0),
    }
}

/// The smallest step between two stretches that are worth so many independent visits each, in standard deviations of these.
pub(super) fn step_found(clumps: usize, visits: f64) -> f64 {
    (price(clumps).sqrt() + POWER_DEVIATIONS) * (2.0 / visits.max(1.0)).sqrt()
}

/// Levels in a row that are much slower than both neighbours: zones step by some percent. Aged cells scatter so that they are several levels.
pub(super) fn slow_levels(levels: &[Level], visits: &[Visit]) -> Vec<SlowPlace> {
    let mut slow = Vec::new();
    let mut at = 1;
    while at < levels.len() {
        let before = &levels[at - 1];
        let count = levels[at..].iter().take_while(|level| level.is_much_slower_than(before)).count();
        let (within, after) = (&levels[at..at + count], levels.get(at + count));
        at += 1;
        // Where the next one is as much faster than the one before, another drive begins: what is slow is the inner end of the first.
        if let Some(after) = after
            && count > 0
            && !before.is_much_slower_than(after)
            && within.iter().all(|level| level.is_much_slower_than(after))
        {
            slow.push(slow_place(before, within, after, visits));
            at += count;
        }
    }
    slow
}

fn slow_place(before: &Level, within: &[Level], after: &Level, visits: &[Visit]) -> SlowPlace {
    let (first_byte, end_byte) = (within[0].first_byte, after.first_byte);
    let own = visits_from_to(visits, first_byte, end_byte);
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for level in within {
        bytes += level.bytes as f64;
        seconds += level.bytes as f64 * level.seconds_per_byte.value;
    }
    SlowPlace {
        first_byte,
        bytes: end_byte - first_byte,
        within_first_byte: within[0].border_low,
        within_end_byte: after.border_high,
        times_slower: seconds / bytes / (before.seconds_per_byte.value * after.seconds_per_byte.value).sqrt(),
        visits: own.len(),
        longest_ns: longest_ns(own),
    }
}

impl Level {
    fn is_much_slower_than(&self, other: &Level) -> bool {
        self.seconds_per_byte.value >= other.seconds_per_byte.value * (1.0 + SLOW_LEVEL_EXCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SurfaceMap, Visit};
    use super::*;

    /// Of a drive that takes so long for a byte in each sixth of its range.
    fn slow_places(nanoseconds_per_byte: [f64; 6]) -> Vec<SlowPlace> {
        let visit = |index: u64| Visit {
            phase: 0,
            first_byte: index * 200_000_000,
            bytes: 32 << 20,
            seconds_per_byte: 1e-9
                * nanoseconds_per_byte[index as usize / 100]
                * (1.0 + 0.001 * (index % 5) as f64),
            start_ns: index * 7919 % 600 * 100_000_000,
            longest_ns: 0,
        };
        let range = ByteRange::from_bytes(0, 120_000_000_000).expect("a range");
        SurfaceMap::of_visits(range, (0..600).map(visit).collect()).slow_places
    }

    #[test]
    fn what_is_slower_than_both_sides_is_slow_and_zones_are_not() {
        let bytes = |places: Vec<SlowPlace>| {
            places.iter().map(|place| place.bytes / 1_000_000_000).collect::<Vec<u64>>()
        };
        assert_eq!(bytes(slow_places([2.0, 2.0, 9.0, 10.0, 2.0, 2.0])), [40]);
        assert_eq!(bytes(slow_places([2.0, 3.0, 9.0, 3.0, 3.0, 3.0])), [20], "behind the first zone");
        assert!(slow_places([2.0, 2.5, 3.0, 3.5, 4.0, 4.5]).is_empty());
        assert!(slow_places([2.0, 2.5, 4.0, 1.0, 1.2, 2.0]).is_empty(), "two drives");
    }
}
