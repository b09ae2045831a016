//! The mean over a range, whatever the density of visits: cells that hold a few places each, weighted by their widths.

use super::SurfaceMap;
use super::level::Level;
use super::place::{Place, Sorting};
use super::visit::Visit;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use crate::stats::stratified::{Stratum, stratified_mean};
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A cell is halved for as long as both halves hold this many places: two are needed for a spread, four for a good one.
const PLACES_MIN: usize = 4;
/// Fewer places than this say nothing of a range.
const RANGE_PLACES_MIN: usize = 8;
/// What is over of a group of surfaces, at its edge, makes a mean over so many bytes one standard deviation of the noise off: stripes of
/// 80 to 200 MB on two to ten surfaces, half a group on average.
const GROUP_BYTES: f64 = 200e6;
/// No clock and no link keeps time better: 100 ppm is what crystals are sold with.
const CLOCK_SHARE: f64 = 1e-4;
/// The edges are the first and the last hundredth.
const EDGE_SHARE: u64 = 100;

/// How fast a drive is at its start or at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Where that was seen.
    pub range: ByteRange,
    /// Mean seconds per byte there.
    pub seconds_per_byte: Estimate,
}

/// A place that a mean rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    centre: f64,
    seconds_per_byte: f64,
    start_ns: u64,
}

/// All places; slow ones too, for a pass goes over them, and suspects, since leaving out what is slow without knowing why makes a
/// mean too low. Visits that were disturbed are left out.
pub(super) fn spots(visits: &[Visit], sorting: &Sorting) -> Vec<Spot> {
    let spot = |place: &Place| {
        let of_place = place.visits.clone().filter(|&index| sorting.is_of_place(index));
        let values: Vec<f64> = of_place.map(|index| visits[index].seconds_per_byte).collect();
        let seconds_per_byte = values.iter().sum::<f64>() / values.len() as f64;
        Spot { centre: place.centre, seconds_per_byte, start_ns: visits[place.visits.start].start_ns }
    };
    sorting.places.iter().map(spot).collect()
}

/// The mean over a range of the spots in it.
pub(super) fn mean_over(range: ByteRange, spots: &[Spot]) -> Option<Mean> {
    let from = spots.partition_point(|spot| spot.centre < range.first().0 as f64);
    let to = spots.partition_point(|spot| spot.centre < range.end().0 as f64);
    let spots = &spots[from..to];
    if spots.len() < RANGE_PLACES_MIN {
        return None;
    }
    let mut strata = Vec::new();
    halve(range.first().0 as f64, range.end().0 as f64, 1.0, spots, &mut strata);
    stratified_mean(&strata)
}

fn halve(first: f64, end: f64, weight: f64, spots: &[Spot], strata: &mut Vec<Stratum>) {
    let middle = (first + end) / 2.0;
    let before = spots.partition_point(|spot| spot.centre < middle);
    if before >= PLACES_MIN && spots.len() - before >= PLACES_MIN {
        halve(first, middle, weight / 2.0, &spots[..before], strata);
        halve(middle, end, weight / 2.0, &spots[before..], strata);
        return;
    }
    let values = spots.iter().map(|spot| spot.seconds_per_byte).collect();
    if let Some(visits) = Sample::new(values) {
        let times = spots.iter().map(|spot| spot.start_ns).collect();
        strata.push(Stratum { weight, visits, times });
    }
}

/// Where a level ends within an edge, only what is surely of it counts, provided that the next differs by so many times the noise;
/// otherwise the interval holds both what is of it and all of the edge.
/// The means of six places on either side, the fewest that make a level, differ by chance by 0.58 of the noise, so that this is
/// five standard deviations. A smaller step was perhaps found because of the very visits that would then be the edge's.
const EDGE_STEP_DEVIATIONS: f64 = 3.0;

/// See [`SurfaceMap::edge`].
pub(super) fn edge(map: &SurfaceMap, start: bool) -> Option<Edge> {
    let hundredth = edge_range(map, start)?;
    let of = |range: ByteRange| {
        Some(Edge { range, seconds_per_byte: edge_interval(map, &mean_over(range, &map.spots)?) })
    };
    let outermost = outermost(map, start, hundredth);
    match outermost.and_then(|(range, is_clear)| Some((of(range)?, is_clear))) {
        None => of(hundredth),
        Some((outermost, true)) => Some(outermost),
        // It may be a step or chance: either mean may be the one of the edge.
        Some((outermost, false)) => {
            let all = of(hundredth)?;
            let (one, other) = (all.seconds_per_byte, outermost.seconds_per_byte);
            let both = Estimate { low: one.low.min(other.low), high: one.high.max(other.high), ..one };
            Some(Edge { seconds_per_byte: both, ..all })
        }
    }
}

/// The first or last hundredth. Where all of a small drive was read in pieces, a hundredth holds too few of them, and the edge is as
/// many as are needed, one after the other from the very edge on.
fn edge_range(map: &SurfaceMap, start: bool) -> Option<ByteRange> {
    let whole = map.range;
    let at_edge = |bytes: u64| {
        let first = if start { whole.first() } else { whole.first() + Bytes(whole.bytes().0 - bytes) };
        ByteRange::new(first, Bytes(bytes))
    };
    let hundredth = at_edge(whole.bytes().0 / EDGE_SHARE)?;
    let is_within =
        |spot: &&Spot| (hundredth.first().0 as f64..hundredth.end().0 as f64).contains(&spot.centre);
    if map.spots.iter().filter(is_within).count() >= RANGE_PLACES_MIN {
        return Some(hundredth);
    }
    match unbroken_from_edge(map, start) {
        Some(bytes) if bytes <= whole.bytes().0 / 2 => at_edge(bytes),
        _ => Some(hundredth),
    }
}

/// Requests that fill a queue are a sixteenth of a piece; more than four times that is a gap.
const GAP_PART: u64 = 4;

/// How many bytes as many visits cover as a mean needs, if they follow each other from the edge on without a gap.
fn unbroken_from_edge(map: &SurfaceMap, start: bool) -> Option<u64> {
    // Counted from the edge, whichever it is.
    let mut stretches: Vec<(u64, u64)> = map
        .visits
        .iter()
        .map(|visit| match start {
            true => {
                (visit.first_byte - map.range.first().0, visit.first_byte + visit.bytes - map.range.first().0)
            }
            false => (
                map.range.end().0.saturating_sub(visit.first_byte + visit.bytes),
                map.range.end().0 - visit.first_byte,
            ),
        })
        .collect();
    stretches.sort_unstable();
    stretches.dedup_by_key(|(from, _)| *from);
    let mut end = 0;
    for (from, to) in stretches.into_iter().take(RANGE_PLACES_MIN) {
        // The first requests of a phase, in which its queue fills, are in no visit.
        if from > end + (to - from) / GAP_PART {
            return None;
        }
        end = end.max(to);
    }
    Some(end)
}

/// What of an edge is surely of the outermost level, where a level ends within it, and whether that is clear.
fn outermost(map: &SurfaceMap, start: bool, edge: ByteRange) -> Option<(ByteRange, bool)> {
    let (first, end, is_clear) = match map.levels.as_slice() {
        [first, next, ..] if start => (edge.first().0, next.border_low, is_clear(map, first, next)),
        [.., before, last] if !start => (last.border_high, edge.end().0, is_clear(map, before, last)),
        _ => return None,
    };
    let range = ByteRange::new(Offset(first), Bytes(end.checked_sub(first)?))?;
    let is_within = edge.contains(&range) && range != edge;
    is_within.then_some((range, is_clear))
}

/// The zone that the edge lies in goes on, and the edge holds no whole number of the groups in which surfaces follow each other.
fn edge_interval(map: &SurfaceMap, mean: &Mean) -> Estimate {
    let bytes = map.range.bytes().0 / EDGE_SHARE;
    let unlike = map.noise * GROUP_BYTES / bytes.max(1) as f64 * mean.value;
    let unlike = unlike.min(map.noise * mean.value);
    let variance = mean.variance + unlike * unlike;
    interval(&Mean { variance, ..*mean })
}

/// Whether the step between two levels is more than chance makes of the places next to it.
fn is_clear(map: &SurfaceMap, one: &Level, next: &Level) -> bool {
    let step = (next.seconds_per_byte.value / one.seconds_per_byte.value).ln().abs();
    step > EDGE_STEP_DEVIATIONS * map.noise
}

/// The interval of Student's t, and at least what the clock is good for.
pub(super) fn interval(mean: &Mean) -> Estimate {
    let estimate = mean.interval(CONFIDENCE);
    let least = CLOCK_SHARE * mean.value;
    Estimate {
        low: estimate.low.min(mean.value - least),
        high: estimate.high.max(mean.value + least),
        ..estimate
    }
}

#[cfg(test)]
mod tests {
    use super::super::Visit;
    use super::*;
    use model::prng::Prng;
    use model::units::Offset;

    /// A terabyte that reads evenly but for noise of 2 %, with so many visits to each half of its first hundredth, of which the
    /// first happened to be slower by `step`.
    fn edge_of(visits: u64, step: f64) -> (usize, f64) {
        let range = ByteRange::new(Offset(0), Bytes(1_000_000_000_000)).expect("a range");
        let mut prng = Prng::new(3, 0);
        let mut all: Vec<Visit> = Vec::new();
        let mut add = |first_byte: u64, slower: f64| {
            let seconds_per_byte = 1e-8 * (1.0 + slower + 0.02 * prng.normal());
            let start_ns = all.len() as u64;
            all.push(Visit {
                phase: 0,
                first_byte,
                bytes: 8 << 20,
                seconds_per_byte,
                start_ns,
                longest_ns: 0,
            });
        };
        (0..400).for_each(|part| add(10_000_000_000 + part * 2_470_000_000, 0.0));
        (0..visits).for_each(|part| add(part * 5_000_000_000 / visits, step));
        (0..visits).for_each(|part| add(5_000_000_000 + part * 4_900_000_000 / visits, 0.0));
        let map = SurfaceMap::of_visits(range, all);
        (map.levels.len(), edge(&map, true).expect("enough visits").seconds_per_byte.value)
    }

    #[test]
    fn a_step_that_noise_may_make_does_not_cut_an_edge() {
        let (levels, value) = edge_of(60, 0.03);
        assert!(levels > 1, "a step was found");
        assert!((value / 1.015e-8 - 1.0).abs() < 0.005, "{value}");
    }

    /// 8 GB in pieces of 64 MiB, of which the first sixteen take twice as long: a hundredth holds one of them.
    #[test]
    fn a_small_drive_that_was_read_as_a_whole_has_edges() {
        let piece = 64u64 << 20;
        let range = ByteRange::new(Offset(0), Bytes(119 * piece)).expect("a range");
        let visit = |number: u64| Visit {
            phase: 0,
            first_byte: number * piece + piece / 16,
            bytes: piece - piece / 16,
            seconds_per_byte: if number < 16 { 2e-8 } else { 1e-8 },
            start_ns: number,
            longest_ns: 0,
        };
        let map = SurfaceMap::of_visits(range, (0..119).map(visit).collect());
        // The first piece begins where the queue was full.
        let start = edge(&map, true).expect("it was read");
        assert_eq!(start.range, ByteRange::new(Offset(0), Bytes(8 * piece)).expect("a range"));
        assert!((start.seconds_per_byte.value / 2e-8 - 1.0).abs() < 1e-9);
        let end = edge(&map, false).expect("it was read");
        assert_eq!(end.range.end(), range.end());
        assert!((end.seconds_per_byte.value / 1e-8 - 1.0).abs() < 1e-9);
        // With gaps between them so few are no edge.
        let map = SurfaceMap::of_visits(range, (0..119).step_by(2).map(visit).collect());
        assert_eq!(edge(&map, true), None);
    }

    #[test]
    fn a_clear_step_does() {
        let (levels, value) = edge_of(60, 0.2);
        assert!(levels > 1, "a step was found");
        assert!((value / 1.2e-8 - 1.0).abs() < 0.02, "{value}");
    }
}
