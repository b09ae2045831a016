//! How fast a drive is at its start and at its end.

use super::level::{self, Level};
use super::map::SurfaceMap;
use super::pass::{RANGE_PLACES_MIN, interval, mean_over};
use crate::stats::mean::Mean;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

const EDGE_SHARE: u64 = 100;
/// What is over of a group of surfaces (2 to 10 of 80 to 200 MB) makes an edge's mean one standard deviation of the noise off.
const GROUP_BYTES: f64 = 200e6;
/// Where a level ends within an edge, only what is surely of it counts, provided that the next differs by so many times the noise;
/// otherwise the interval holds both what is of it and all of the edge.
/// The means of six places on either side, the fewest that make a level, differ by chance by 0.58 of the noise: this is five deviations.
const EDGE_STEP_DEVIATIONS: f64 = 3.0;
/// Requests that fill a queue are a sixteenth of a piece; more than four times that is a gap.
const GAP_PART: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub range: ByteRange,
    pub seconds_per_byte: Estimate,
}

impl SurfaceMap {
    /// The edge at the start or at the end of the range, from the visits that lie within it. None with fewer than eight.
    pub fn edge(&self, start: bool) -> Option<Edge> {
        let edge = edge(self, start)?;
        Some(Edge { seconds_per_byte: self.without_load(self.as_sampled(edge.seconds_per_byte)), ..edge })
    }
}

fn edge(map: &SurfaceMap, start: bool) -> Option<Edge> {
    let hundredth = edge_range(map, start)?;
    let Some((range, is_clear)) = outermost(map, start, hundredth) else {
        return edge_over(map, hundredth);
    };
    let Some(outermost) = edge_over(map, range) else { return edge_over(map, hundredth) };
    if is_clear {
        return Some(outermost);
    }
    // It may be a step or chance: either mean may be the one of the edge.
    let all = edge_over(map, hundredth)?;
    let (one, other) = (all.seconds_per_byte, outermost.seconds_per_byte);
    let both = Estimate { low: one.low.min(other.low), high: one.high.max(other.high), ..one };
    Some(Edge { seconds_per_byte: both, ..all })
}

fn edge_over(map: &SurfaceMap, range: ByteRange) -> Option<Edge> {
    Some(Edge { range, seconds_per_byte: edge_interval(map, &mean_over(range, &map.spots)?) })
}

/// The first or last hundredth; where all of a small drive was read in pieces, as many of them as are needed.
fn edge_range(map: &SurfaceMap, start: bool) -> Option<ByteRange> {
    let whole = map.range.bytes().get();
    let hundredth = at_edge(map, start, whole / EDGE_SHARE)?;
    let within = hundredth.first().as_f64()..hundredth.end().as_f64();
    let mut spots = 0;
    for spot in &map.spots {
        spots += usize::from(within.contains(&spot.centre));
    }
    if spots >= RANGE_PLACES_MIN {
        return Some(hundredth);
    }
    match unbroken_from_edge(map, start) {
        Some(bytes) if bytes <= whole / 2 => at_edge(map, start, bytes),
        _ => Some(hundredth),
    }
}

fn at_edge(map: &SurfaceMap, start: bool, bytes: u64) -> Option<ByteRange> {
    let bytes = Bytes::new(bytes);
    let behind = if start { Bytes::ZERO } else { map.range.bytes() - bytes };
    ByteRange::new(map.range.first() + behind, bytes)
}

/// How many bytes as many visits cover as a mean needs, if they follow each other from the edge on without a gap.
fn unbroken_from_edge(map: &SurfaceMap, start: bool) -> Option<u64> {
    let (first, end) = (map.range.first().get(), map.range.end().get());
    // Counted from the edge, whichever it is.
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for visit in &map.visits {
        let visit_end = visit.first_byte + visit.bytes;
        stretches.push(match start {
            true => (visit.first_byte - first, visit_end - first),
            false => (end.saturating_sub(visit_end), end - visit.first_byte),
        });
    }
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
        [first, next, ..] if start => (edge.first().get(), next.border_low, is_clear(map, first, next)),
        [.., before, last] if !start => (last.border_high, edge.end().get(), is_clear(map, before, last)),
        _ => return None,
    };
    let range = ByteRange::new(Offset::new(first), Bytes::new(end.checked_sub(first)?))?;
    let is_within = edge.contains(&range) && range != edge;
    is_within.then_some((range, is_clear))
}

/// The zone that the edge lies in goes on, and the edge holds no whole number of the groups in which surfaces follow each other.
fn edge_interval(map: &SurfaceMap, mean: &Mean) -> Estimate {
    let bytes = map.range.bytes().get() / EDGE_SHARE;
    let unlike = map.noise * GROUP_BYTES / bytes.max(1) as f64 * mean.value;
    let unlike = unlike.min(map.noise * mean.value);
    let variance = mean.variance + unlike * unlike;
    interval(&Mean { variance, ..*mean })
}

/// Whether the step between two levels is more than chance makes of the places next to it.
fn is_clear(map: &SurfaceMap, one: &Level, next: &Level) -> bool {
    level::step(one, next) > EDGE_STEP_DEVIATIONS * map.noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Visit;
    use model::prng::Prng;

    /// A terabyte that reads evenly but for noise of 2 %, with so many visits to each half of its first hundredth, of which the
    /// first happened to be slower by `step`.
    fn edge_of(visits: u64, step: f64) -> (usize, f64) {
        let range = ByteRange::new(Offset::START, Bytes::new(1_000_000_000_000)).expect("a range");
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
        let range = ByteRange::new(Offset::START, Bytes::new(119 * piece)).expect("a range");
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
        assert_eq!(start.range, ByteRange::new(Offset::START, Bytes::new(8 * piece)).expect("a range"));
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
