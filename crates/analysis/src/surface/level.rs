//! Levels: the stretches of one rate each. Least squares with a price for each change of level, its minimum found exactly by
//! dynamic programming with pruning (PELT: Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear
//! computational cost", JASA 107, 2012); then each border is placed again by maximum likelihood among all visits.

use super::SurfaceMap;
use super::border::{Border, locate};
use super::clump::Clumps;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use model::estimate::Estimate;
use model::range::ByteRange;
use std::ops::Range;

/// A stretch of one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Where it begins, most likely.
    pub first_byte: u64,
    /// How long it is.
    pub bytes: u64,
    /// The time of each byte, in seconds.
    pub seconds_per_byte: Estimate,
    /// The earliest that it begins, with 95 %. The same as `first_byte` for the first level.
    pub border_low: u64,
    /// The latest.
    pub border_high: u64,
    /// The places visited that it rests on.
    pub visits: usize,
}

/// The chance that noise alone gives a change of level somewhere, roughly: 1 in 1000. See [`price`].
const FALSE_ALARM: f64 = 1e-3;
/// A level holds at least this share of the range; the narrowest zones of 60 hold 0.8 %.
const SHARE_MIN: f64 = 0.005;
/// And so many clumps.
const CLUMPS_MIN: usize = 6;
/// Where levels may end is looked for in about so many places at first, since without any change the pruning does not help and
/// the time grows with their square.
const CANDIDATES_MAX: usize = 1200;
/// One-sided 90 % of the normal distribution: what has this distance to the price is found in nine of ten cases.
const POWER_DEVIATIONS: f64 = 1.2816;

impl Level {
    /// The first position past it.
    pub fn end_byte(&self) -> u64 {
        self.first_byte + self.bytes
    }
}

/// What a change of level costs, in squared standard deviations: 2 ln n is the Schwarz criterion for its place and height (Yao
/// 1988); noise alone then gives one with a chance that falls slowly with n, so that 2 ln(1/α) is added.
fn price(clumps: usize) -> f64 {
    2.0 * (clumps.max(2) as f64).ln() + 2.0 * (1.0 / FALSE_ALARM).ln()
}

/// Levels from places in order.
pub(super) fn fit(range: ByteRange, clumps: &Clumps) -> Vec<Level> {
    if clumps.clumps.len() < 2 {
        return Vec::new();
    }
    with_cuts(range, clumps, &changes(range, clumps))
}

/// Levels that begin near these clumps.
fn with_cuts(range: ByteRange, clumps: &Clumps, cuts: &[usize]) -> Vec<Level> {
    let mut borders: Vec<Border> = Vec::new();
    let mut edges: Vec<usize> = cuts.iter().map(|&cut| clumps.clumps[cut].start).collect();
    edges.insert(0, 0);
    edges.push(clumps.points.len());
    for index in 1..edges.len() - 1 {
        let border = locate(&clumps.points, edges[index - 1]..edges[index + 1]);
        edges[index] = border.first_point;
        borders.push(border);
    }
    let found = levels(range, clumps, &edges, &borders);
    match sliver(range, &found) {
        // Two borders moved towards each other until next to nothing was left: they are one.
        Some(border) => {
            let left = cuts.iter().enumerate().filter(|(index, _)| *index != border);
            with_cuts(range, clumps, &left.map(|(_, cut)| *cut).collect::<Vec<usize>>())
        }
        None => found,
    }
}

/// The number of the border to take away: of the shortest level that became shorter than half of what any holds, the one with the smaller
/// step. Half, since a border that is placed again moves as far as the next visit.
fn sliver(range: ByteRange, levels: &[Level]) -> Option<usize> {
    let shortest = (range.bytes().0 as f64 * SHARE_MIN / 2.0) as u64;
    let (number, _) = levels
        .iter()
        .enumerate()
        .filter(|(_, level)| levels.len() > 1 && level.bytes < shortest)
        .min_by_key(|(_, level)| level.bytes)?;
    let step = |border: usize| {
        let [before, after] = [border, border + 1].map(|level| levels[level].seconds_per_byte.value);
        (after / before).ln().abs()
    };
    let borders = [number.checked_sub(1), (number + 1 < levels.len()).then_some(number)];
    borders.into_iter().flatten().min_by(|left, right| step(*left).total_cmp(&step(*right)))
}

/// The numbers of the clumps with which a level begins, but for the first.
fn changes(range: ByteRange, clumps: &Clumps) -> Vec<usize> {
    let count = clumps.clumps.len();
    let step = count.div_ceil(CANDIDATES_MAX).max(1);
    let mut candidates: Vec<usize> = (0..count).step_by(step).collect();
    candidates.push(count);
    let sums = Sums::of(clumps);
    let start_of = |clump: usize| match clumps.clumps.get(clump) {
        Some(points) if clump > 0 => clumps.points[points.start].centre,
        Some(_) => range.first().0 as f64,
        None => range.end().0 as f64,
    };
    let shortest = range.bytes().0 as f64 * SHARE_MIN;
    let is_long =
        |from: usize, to: usize| to - from >= CLUMPS_MIN && start_of(to) - start_of(from) >= shortest;
    let price = price(count);
    let mut best = vec![f64::INFINITY; candidates.len()];
    let mut before = vec![0usize; candidates.len()];
    best[0] = -price;
    let (mut kept, mut waiting): (Vec<usize>, usize) = (Vec::new(), 0);
    for to in 1..candidates.len() {
        while waiting < to && is_long(candidates[waiting], candidates[to]) {
            if best[waiting].is_finite() {
                kept.push(waiting);
            }
            waiting += 1;
        }
        let cost = |from: usize| best[from] + sums.cost(candidates[from], candidates[to]);
        let costs: Vec<f64> = kept.iter().map(|&from| cost(from)).collect();
        for (&from, &without_price) in kept.iter().zip(&costs) {
            if without_price + price < best[to] {
                best[to] = without_price + price;
                before[to] = from;
            }
        }
        let limit = best[to];
        let mut costs = costs.into_iter();
        kept.retain(|_| costs.next().is_some_and(|cost| cost <= limit));
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
        let [weight, sum, squares]: [f64; 3] =
            std::array::from_fn(|part| self.0[to][part] - self.0[from][part]);
        (squares - sum * sum / weight).max(0.0)
    }
}

fn levels(range: ByteRange, clumps: &Clumps, edges: &[usize], borders: &[Border]) -> Vec<Level> {
    let first = Border { first_point: 0, byte: range.first().0, low: range.first().0, high: range.first().0 };
    let all: Vec<Border> = std::iter::once(first).chain(borders.iter().copied()).collect();
    let ends = all.iter().skip(1).map(|border| border.byte).chain([range.end().0]);
    let pairs = all.iter().zip(ends).zip(edges.windows(2));
    pairs
        .map(|((border, end_byte), edges)| Level {
            first_byte: border.byte,
            bytes: end_byte.saturating_sub(border.byte),
            seconds_per_byte: mean_of(clumps, edges[0]..edges[1]).interval(CONFIDENCE),
            border_low: border.low,
            border_high: border.high,
            visits: edges[1] - edges[0],
        })
        .collect()
}

/// The mean time per byte of these places, with the variance from the differences between clumps.
fn mean_of(clumps: &Clumps, places: Range<usize>) -> Mean {
    let of_level = clumps.clumps.iter().filter_map(|clump| {
        let part = clump.start.max(places.start)..clump.end.min(places.end);
        let points = clumps.points.get(part).filter(|points| !points.is_empty())?;
        let weight: f64 = points.iter().map(|point| point.weight).sum();
        let value = points.iter().map(|point| point.seconds_per_byte).sum::<f64>() / points.len() as f64;
        Some((weight, value))
    });
    let parts: Vec<(f64, f64)> = of_level.collect();
    let weight: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let value = parts.iter().map(|(weight, value)| weight * value).sum::<f64>() / weight;
    let squares: f64 = parts.iter().map(|(weight, one)| (weight * (one - value)).powi(2)).sum();
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

/// See [`SurfaceMap::step_found`].
pub(super) fn step_found(map: &SurfaceMap, share_of_range: f64) -> f64 {
    let places = map.weight * share_of_range;
    (price(map.clumps).sqrt() + POWER_DEVIATIONS) * (2.0 / places.max(1.0)).sqrt() * map.noise
}
