//! Ranges of flash that hold nothing, by sequential samples or by single reads: see the detector of unmapped ranges.

use crate::moving_parts::{are_of_arm, single_reads};
use crate::stats::sample::Sample;
use crate::surface::{GROUP_VISITS_MIN, SurfaceMap, Visit, limit_between, mean_rate};
use model::finding::{Quicker, SurveyUnknown, UnmappedRanges};
use model::range::ByteRange;
use model::record::IoRecord;
use model::run::RunView;
use model::units::Offset;

const READS_PER_GROUP: usize = 8;
const READS_MAX: usize = 100_000;
/// A group is mixed from two reads of the other kind on; one is an outlier. Of groups over unmapped blocks as small as a read, a quarter of the
/// drive at random offsets, 63 % are mixed; of groups over long ranges those at a border.
const STRANGERS_MIN: usize = 2;
const MIXED_SHARE_MAX: f64 = 0.2;

/// Neighboring single reads, each group with their median latency in place of a time per byte, and the latency between the two kinds.
pub(crate) struct ReadGroups {
    groups: Vec<Visit>,
    limit_s: f64,
}

impl ReadGroups {
    pub(crate) fn of(run: &RunView<'_>) -> Result<ReadGroups, SurveyUnknown> {
        let mut reads: Vec<IoRecord> = single_reads(run).take(READS_MAX).collect();
        reads.sort_unstable_by_key(|read| read.offset_bytes);
        let groups: Vec<Visit> = reads.chunks_exact(READS_PER_GROUP).map(group).collect();
        let limit_s = limit_between(&groups).ok_or(SurveyUnknown::AllAlike)?;
        let (mut mixed, mut quick) = (0, 0);
        for group in reads.chunks_exact(READS_PER_GROUP) {
            let of_group = group.iter().filter(|read| seconds(read) < limit_s).count();
            mixed += usize::from((STRANGERS_MIN..=READS_PER_GROUP - STRANGERS_MIN).contains(&of_group));
            quick += of_group;
        }
        if mixed as f64 > MIXED_SHARE_MAX * groups.len() as f64 {
            return Err(SurveyUnknown::Interleaved { share: quick as f64 / reads.len() as f64 });
        }
        Ok(ReadGroups { groups, limit_s })
    }

    pub(crate) fn unmapped(&self, range: ByteRange) -> UnmappedRanges {
        let (mut mapped_s, mut unmapped_s) = (Vec::new(), Vec::new());
        for group in &self.groups {
            let kind = if group.seconds_per_byte < self.limit_s { &mut unmapped_s } else { &mut mapped_s };
            kind.push(group.seconds_per_byte);
        }
        let quicker = Quicker::SingleReads {
            mapped_read_s: Sample::median_or_zero(mapped_s),
            unmapped_read_s: Sample::median_or_zero(unmapped_s),
        };
        unmapped(fast_ranges(&self.groups, range, self.limit_s), range, quicker)
    }
}

fn group(reads: &[IoRecord]) -> Visit {
    let (first, last) = (&reads[0], &reads[reads.len() - 1]);
    Visit {
        phase: first.phase,
        first_byte: first.offset_bytes,
        bytes: last.offset_bytes + u64::from(last.length_bytes) - first.offset_bytes,
        seconds_per_byte: Sample::median_or_zero(reads.iter().map(seconds).collect()),
        start_ns: 0,
        longest_ns: 0,
    }
}

fn seconds(read: &IoRecord) -> f64 {
    read.service_ns() as f64 / 1e9
}

/// The time per byte between the two kinds of sequential samples; none where they are alike, or other load makes the difference.
pub(crate) fn limit_of_samples(map: &SurfaceMap) -> Result<Option<f64>, SurveyUnknown> {
    if map.visits.len() < 2 * GROUP_VISITS_MIN {
        return Err(SurveyUnknown::TooFewSamples { usable: map.visits.len() });
    }
    Ok(if map.other_load().is_some() { None } else { limit_between(&map.visits) })
}

pub(crate) fn by_samples(
    run: &RunView<'_>,
    map: &SurfaceMap,
    limit: f64,
) -> Result<UnmappedRanges, SurveyUnknown> {
    if is_told_as_slow(map, limit) {
        return Err(SurveyUnknown::SlowRegions);
    }
    let ranges = fast_ranges(&map.visits, map.range, limit);
    if is_slower_medium(run, &ranges) {
        return Err(SurveyUnknown::TwoMedia);
    }
    let (of_mapped, of_unmapped): (Vec<&Visit>, Vec<&Visit>) =
        map.visits.iter().partition(|visit| visit.seconds_per_byte >= limit);
    let quicker = Quicker::Streams {
        mapped_bytes_per_second: mean_rate(&of_mapped),
        unmapped_bytes_per_second: mean_rate(&of_unmapped),
    };
    Ok(unmapped(ranges, map.range, quicker))
}

fn unmapped(ranges: Vec<ByteRange>, range: ByteRange, quicker: Quicker) -> UnmappedRanges {
    let bytes: u64 = ranges.iter().map(|range| range.bytes().get()).sum();
    UnmappedRanges { ranges, share: bytes as f64 / range.bytes().as_f64(), quicker }
}

fn is_slower_medium(run: &RunView<'_>, ranges: &[ByteRange]) -> bool {
    let mut slower_ns = Vec::new();
    for read in single_reads(run) {
        let offset = Offset::new(read.offset_bytes);
        if !are_any_at(ranges, offset) {
            slower_ns.push(read.service_ns());
        }
    }
    slower_ns.sort_unstable();
    are_of_arm(&slower_ns)
}

pub(crate) fn are_any_at(ranges: &[ByteRange], offset: Offset) -> bool {
    ranges.iter().any(|range| range.contains_offset(offset))
}

/// Whether the slow group is reported as slow regions. Both cannot be: a drive that is empty but for there, and whose only data are
/// weak. Nine in ten of its samples, since some are slow for a moment elsewhere.
fn is_told_as_slow(map: &SurfaceMap, limit: f64) -> bool {
    let slow: Vec<&Visit> = map.visits.iter().filter(|visit| visit.seconds_per_byte >= limit).collect();
    let inside = slow.iter().filter(|visit| is_in_slow_place(map, visit)).count();
    10 * inside >= 9 * slow.len()
}

fn is_in_slow_place(map: &SurfaceMap, visit: &Visit) -> bool {
    map.slow_places
        .iter()
        .any(|place| (place.within_first_byte..place.within_end_byte).contains(&visit.first_byte))
}

/// Extents of fast samples, from halfway between samples to halfway.
fn fast_ranges(visits: &[Visit], range: ByteRange, limit: f64) -> Vec<ByteRange> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut was_fast = false;
    let mut from = range.first().get();
    for (index, visit) in visits.iter().enumerate() {
        let is_fast = visit.seconds_per_byte < limit;
        let to = match visits.get(index + 1) {
            Some(next) => visit.end_byte().midpoint(next.first_byte),
            None => range.end().get(),
        }
        .max(from);
        match ranges.last_mut() {
            Some((_, bytes)) if is_fast && was_fast => *bytes += to - from,
            _ if is_fast => ranges.push((from, to - from)),
            _ => {}
        }
        (was_fast, from) = (is_fast, to);
    }
    ranges.into_iter().filter_map(|(first, bytes)| ByteRange::from_bytes(first, bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    #[test]
    fn the_fast_third_in_the_middle_is_one_range() {
        let range = ByteRange::new(Offset::START, Bytes::new(9000)).unwrap();
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
        assert_eq!(fast_ranges(&map.visits, range, limit), [ByteRange::from_bytes(2975, 3000).unwrap()]);
        assert!(!is_told_as_slow(&map, limit));
        let alike: Vec<Visit> = (0..30).map(visit).collect();
        assert_eq!(limit_between(&alike), None);
    }

    /// Flash of which one stretch of a twentieth is slow: that was told as a slow region, and all else as empty.
    #[test]
    fn what_is_told_as_slow_is_not_the_only_part_in_use() {
        let range = ByteRange::new(Offset::START, Bytes::new(120_000_000_000)).unwrap();
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
        // Aged cells scatter among themselves: several slow levels in a row were none, and all else never written.
        let aged = |index: u64| {
            let times = 1.0 + 0.1 * ((index / 10) % 2) as f64;
            let of_slow = if (250..280).contains(&index) { times } else { 1.0 };
            let even = visit(index);
            Visit { seconds_per_byte: even.seconds_per_byte * of_slow, ..even }
        };
        let scattered = SurfaceMap::of_visits(range, (0..600).map(aged).collect());
        assert!(scattered.levels.len() > 3, "{:?}", scattered.levels.len());
        assert_eq!(scattered.slow_places.len(), 1);
        let limit = limit_between(&map.visits).unwrap();
        assert!(is_told_as_slow(&map, limit));
    }
}
