//! Ranges of flash that hold nothing: never written, or trimmed.
//!
//! # What it finds
//! Stretches of a drive without moving parts that answer much faster than the rest, because no cell is read for them.
//! # Why it matters
//! Their rate is not that of the flash, and a benchmark of an empty drive measures its controller.
//! # How
//! The times per byte of all visits, sorted: two groups with a gap of a fifth and more between them, each much narrower than the gap and
//! each with a twentieth of the visits. Neighbouring visits of the fast group are one range.
//! # Cannot tell when
//! All of the drive is alike: then it may all be written, all be empty, or the link may be slower than both. Or what is slower is
//! told as slow regions.
//! # Known problems
//! Data in the fast part of a flash drive (an SLC cache) is read faster too and looks the same.
//! # References
//! SNIA SSS PTS 2.0.2, on purging and preconditioning before a measurement.

use super::wording::{number, rate};
use super::zones::operation;
use super::{Detector, Need};
use crate::measured::{survey_evidence, turns};
use crate::surface::{SlowPlace, SurfaceMap, Visit};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct UnmappedRanges;

/// The fast group is so much faster, as a logarithm: a fifth.
const GAP_MIN: f64 = 0.18;
/// Each group holds this share of the visits, so that some stalls are no group.
const SHARE_MIN: f64 = 0.05;
/// And so many.
const VISITS_MIN: usize = 8;
/// The gap is so many times as wide as the middle half of either group.
const GAP_TIMES: f64 = 4.0;

impl Detector for UnmappedRanges {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::UnmappedRanges]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Survey(Operation::Read)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if turns(run) != Some(false) {
            return Vec::new();
        }
        let finding = SurfaceMap::of(run, Operation::Read).and_then(|map| found(run, &map));
        vec![finding.unwrap_or_else(|why| Finding::unknown(FindingCode::UnmappedRanges, why))]
    }
}

fn found(run: &RunView<'_>, map: &SurfaceMap) -> Result<Finding, String> {
    if map.visits.len() < 2 * VISITS_MIN {
        return Err(format!(
            "{} usable visits are too few to tell two groups. Measure longer.",
            map.visits.len()
        ));
    }
    let limit = limit_between(&map.visits).ok_or(
        "All of the drive reads alike: it may all be written, all be empty, or something else is slower than both.",
    )?;
    if is_told_as_slow(map, limit) {
        return Err("What answers more slowly than the rest is told as slow regions: whether it is weak, or all else holds nothing, does \
                    not show."
            .into());
    }
    let ranges = fast_ranges(map, limit);
    let bytes: u64 = ranges.iter().map(|(_, bytes)| bytes).sum();
    let share = bytes as f64 / map.range.bytes().0 as f64;
    let mean = |fast: bool| {
        let group = map.visits.iter().filter(|visit| (visit.seconds_per_byte < limit) == fast);
        let (sum, count) =
            group.fold((0.0, 0.0), |(sum, count), visit| (sum + visit.seconds_per_byte, count + 1.0));
        count / sum
    };
    let statement = format!(
        "About {} % of the drive answers at {}, the rest at {}: nothing was ever written there, or it was trimmed.",
        number(share * 100.0),
        rate(mean(true)),
        rate(mean(false))
    );
    let rows = ranges.iter().map(|&(first_byte, bytes)| {
        Datum::record([("first_byte", Datum::Integer(first_byte)), ("bytes", Datum::Integer(bytes))])
    });
    let count = Estimate::exact(ranges.len() as f64);
    let evidence = survey_evidence(run, operation(run));
    Ok(Finding::number(FindingCode::UnmappedRanges, count, "count", statement, evidence)
        .with_advice("Write the whole drive once before you measure how fast it reads.")
        .with_data("ranges", Datum::List(rows.collect()))
        .with_data("share", Datum::Number(share))
        .with_data("mapped_bytes_per_second", Datum::Number(mean(false)))
        .with_data("unmapped_bytes_per_second", Datum::Number(mean(true))))
}

/// The time per byte between the two groups, if there are two.
fn limit_between(visits: &[Visit]) -> Option<f64> {
    let mut values: Vec<f64> = visits.iter().map(|visit| visit.seconds_per_byte.ln()).collect();
    values.sort_by(f64::total_cmp);
    let least = VISITS_MIN.max((values.len() as f64 * SHARE_MIN) as usize);
    let last = values.len().checked_sub(least).filter(|last| *last > least)?;
    let cut = (least..=last).max_by(|&left, &right| {
        (values[left] - values[left - 1]).total_cmp(&(values[right] - values[right - 1]))
    })?;
    let middle_half = |group: &[f64]| group[group.len() * 3 / 4] - group[group.len() / 4];
    let gap = values[cut] - values[cut - 1];
    let widest = middle_half(&values[..cut]).max(middle_half(&values[cut..]));
    (gap >= GAP_MIN && gap >= GAP_TIMES * widest).then(|| ((values[cut] + values[cut - 1]) / 2.0).exp())
}

/// Whether the slow group is what slow regions are told of. Both cannot be: a drive that is empty but for there, and whose only data are
/// weak. Nine in ten of its visits, since some are slow for a moment elsewhere.
fn is_told_as_slow(map: &SurfaceMap, limit: f64) -> bool {
    let is_inside = |visit: &Visit| {
        let holds =
            |place: &&SlowPlace| (place.within_first_byte..place.within_end_byte).contains(&visit.first_byte);
        map.slow_places.iter().find(holds).is_some()
    };
    let slow: Vec<&Visit> = map.visits.iter().filter(|visit| visit.seconds_per_byte >= limit).collect();
    let inside = slow.iter().filter(|visit| is_inside(visit)).count();
    10 * inside >= 9 * slow.len()
}

/// First byte and length of the stretches of fast visits, from halfway between visits to halfway.
fn fast_ranges(map: &SurfaceMap, limit: f64) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut was_fast = false;
    let mut from = map.range.first().0;
    for (index, visit) in map.visits.iter().enumerate() {
        let is_fast = visit.seconds_per_byte < limit;
        let to = match map.visits.get(index + 1) {
            Some(next) => visit.end_byte().midpoint(next.first_byte),
            None => map.range.end().0,
        }
        .max(from);
        match ranges.last_mut() {
            Some((_, bytes)) if is_fast && was_fast => *bytes += to - from,
            _ if is_fast => ranges.push((from, to - from)),
            _ => {}
        }
        (was_fast, from) = (is_fast, to);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::range::ByteRange;
    use model::units::{Bytes, Offset};

    #[test]
    fn the_fast_third_in_the_middle_is_one_range() {
        let range = ByteRange::new(Offset(0), Bytes(9000)).unwrap();
        let visit = |index: u64| {
            let seconds_per_byte = if (30..60).contains(&index) { 1e-9 } else { 2e-9 };
            let wobble = 1.0 + 0.01 * (index % 3) as f64;
            Visit {
                phase: 0,
                first_byte: index * 100,
                bytes: 50,
                seconds_per_byte: seconds_per_byte * wobble,
                start_ns: 0,
                longest_ns: 0,
            }
        };
        let map = SurfaceMap::of_visits(range, (0..90).map(visit).collect());
        let limit = limit_between(&map.visits).unwrap();
        assert_eq!(fast_ranges(&map, limit), [(2975, 3000)]);
        assert!(!is_told_as_slow(&map, limit));
        let alike: Vec<Visit> = (0..30).map(visit).collect();
        assert_eq!(limit_between(&alike), None);
    }

    /// Flash of which one stretch of a twentieth is slow: that was told as a slow region, and all else as empty.
    #[test]
    fn what_is_told_as_slow_is_not_the_only_part_in_use() {
        let range = ByteRange::new(Offset(0), Bytes(120_000_000_000)).unwrap();
        let visit = |index: u64| {
            let is_slow = (250..280).contains(&index);
            let wobble = 1.0 + 0.001 * (index % 5) as f64;
            Visit {
                phase: 0,
                first_byte: index * 200_000_000,
                bytes: 32 << 20,
                seconds_per_byte: if is_slow { 11e-9 } else { 1.85e-9 } * wobble,
                start_ns: index * 7919 % 600 * 100_000_000,
                longest_ns: 0,
            }
        };
        let map = SurfaceMap::of_visits(range, (0..600).map(visit).collect());
        assert_eq!(map.slow_places.len(), 1);
        let limit = limit_between(&map.visits).unwrap();
        assert!(is_told_as_slow(&map, limit));
    }
}
