//! Regions that are much slower than those around them.
//! # What it finds
//! Regions that took at least a third longer than those around them in most of their samples, at least twice and with something
//! sound in between; their extent, how much slower they are, and whether single requests took long (weak sectors, which
//! the drive reads again and again) or all of them a little.
//! # Why it matters
//! Weak sectors are the next to become unreadable.
//! # How
//! See `surface::place`. What was slow once was disturbed. It states how probably a region of a size would have been met.
//! # Cannot tell when
//! Other load disturbs so many samples that an offset may be slow twice by chance.
//! # Known problems
//! A region that is slow only now and then counts as disturbed. The probability is of very slow regions.
//! # References
//! Bairavasundaram et al., "An analysis of latent sector errors in disk drives", SIGMETRICS 2007.

use super::detect::{Detector, Need};
use super::zones::operation;
use crate::examined::Examined;
use crate::measured::{merged_latencies, sequential_visits, survey_evidence};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::sample::Sample;
use crate::streaming::Calibration;
use crate::surface::{SlowPlace, SurfaceMap, Visit};
use crate::unmapped::are_any_at;
use model::finding::{
    Finding, FindingCode, LatencyClasses, OtherLoad, Outcome, SampledSize, SlowKind, SlowRegion, SlowRegions,
    SurveyUnknown, UnmappedRanges,
};
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::RunView;
use model::units::{Bytes, Offset, Quantile};

/// A request of a weak sector takes this many times as long as the longest of a usual sample, and several revolutions.
const WEAK_TIMES: f64 = 5.0;
const WEAK_NS_MIN: f64 = 100e6;
/// Beside other load, only what is at least so many times as slow is believed: a disk that waits for one foreign request takes up to
/// half as long again. Of a drive that does not rotate nothing is then: its samples are short. Nor is less of several disks: those of a
/// mirror skip what the others read, which on some tracks takes 1.7 times as long as on others.
const LOADED_TIMES_MIN: f64 = 2.0;
/// One slow sample that was not read again is what the last seconds of a survey may bring.
const UNSETTLED_MIN: usize = 2;
/// What is usual around an offset is not known by fewer samples: as many as the throughput of an edge rests on.
const VISITS_MIN: usize = 8;
/// Sizes of regions whose probability to be met is stated.
const REGION_SIZES: [Bytes; 3] = [Bytes::from_mib(64), Bytes::from_gib(1), Bytes::from_gib(10)];
/// Equal parts of the range in which samples are counted.
const SHARE_PARTS: usize = 16;
const LISTED_MAX: usize = 1000;
/// Upper limits of latency classes of surface checkers (MHDD, Victoria), in ms: 500 is a sector with retries.
const CLASS_LIMITS_MS: [u64; 4] = [10, 50, 200, 500];

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::SlowRegions], needs: Need::SURVEYED, detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    vec![Finding::SlowRegions(Outcome::of(slow_regions(run), survey_evidence(run, operation(run))))]
}

fn slow_regions(run: &Examined<'_>) -> Result<SlowRegions, SurveyUnknown> {
    let map = run.surface(operation(run))?;
    if map.visits.len() < VISITS_MIN {
        return Err(SurveyUnknown::TooFewSamples { usable: map.visits.len() });
    }
    let mut places = map.slow_places.clone();
    let load = match (map.other_load(), run.interference()) {
        (None, Some(_)) if !places.is_empty() => Some(OtherLoad::InReads),
        (load, _) => load,
    };
    if let Some(load) = load {
        let is_disk = turns(run) == Some(true);
        places.retain(|place| is_disk && place.times_slower >= LOADED_TIMES_MIN);
        if places.is_empty() {
            return Err(SurveyUnknown::OtherLoad(load));
        }
    }
    if turns(run) == Some(false) {
        if let Some(reason) = map.scattered() {
            return Err(reason);
        }
        // Mapped ranges are slower than unmapped neighbors: compare them with other mapped ranges.
        if let Ok(found) = run.unmapped() {
            places = written(map, found).slow_places;
        }
    }
    if (!places.is_empty() || map.suspects().len() >= UNSETTLED_MIN)
        && let Some(times) = map.quicker_again()
    {
        return Err(SurveyUnknown::QuickerAgain { times });
    }
    if places.is_empty() && map.suspects().len() >= UNSETTLED_MIN {
        return Err(SurveyUnknown::NotReadAgain { samples: map.suspects().len() });
    }
    let weak_ns = weak_from_ns(&map.visits);
    if map.several_disks {
        let least = times_slower_of_arms(run, map).max(LOADED_TIMES_MIN);
        places.retain(|place| place.times_slower >= least || place.longest_ns as f64 >= weak_ns);
    }
    Ok(SlowRegions {
        count: places.len(),
        regions: places.iter().take(LISTED_MAX).map(|place| region(place, weak_ns)).collect(),
        would_have_been_met: REGION_SIZES
            .iter()
            .map(|bytes| SampledSize { bytes: *bytes, probability: chance_met(map, bytes.get()) })
            .collect(),
        share_max: share_max(map),
        disturbed_visits: map.disturbances.visits,
        not_settled: map.suspects().len(),
        latency_classes: latency_classes(run, operation(run)),
    })
}

fn written(map: &SurfaceMap, found: &UnmappedRanges) -> SurfaceMap {
    let mut visits = map.visits.clone();
    visits.retain(|visit| !are_any_at(&found.ranges, Offset::new(visit.first_byte)));
    SurfaceMap::of_visits(map.range, visits)
}

/// At some places the actuators of a stripe wait for each other all along: then it is as slow as at QD 1, and no slower.
fn times_slower_of_arms(run: &RunView<'_>, map: &SurfaceMap) -> f64 {
    match (Calibration::of(run).serial_s_per_byte(), map.seconds_per_byte()) {
        (Some(serial), Some(mean)) => serial / mean.value,
        _ => 1.0,
    }
}

fn region(place: &SlowPlace, weak_ns: f64) -> SlowRegion {
    SlowRegion {
        first_byte: place.first_byte,
        bytes: place.bytes,
        within_first_byte: place.within_first_byte,
        within_end_byte: place.within_end_byte,
        times_slower: place.times_slower,
        kind: if place.longest_ns as f64 >= weak_ns { SlowKind::WeakSectors } else { SlowKind::Slow },
        longest_s: place.longest_ns as f64 / 1e9,
        visits: place.visits,
    }
}

/// From which latency the longest request of a sample is of a weak sector.
fn weak_from_ns(visits: &[Visit]) -> f64 {
    let longest = visits.iter().map(|visit| visit.longest_ns as f64).collect();
    let usual = Sample::median_or_zero(longest);
    (WEAK_TIMES * usual).max(WEAK_NS_MIN)
}

/// The probability that a region of that length, anywhere in the range with equal probability, holds a byte that was sampled.
fn chance_met(map: &SurfaceMap, bytes: u64) -> f64 {
    let (first, end) = (map.range.first().get(), map.range.end().get());
    let Some(room) = map.range.bytes().get().checked_sub(bytes).filter(|room| *room > 0) else { return 1.0 };
    let last = end - bytes;
    let (mut met, mut until) = (0u64, first);
    for visit in &map.visits {
        let from = visit.first_byte.saturating_sub(bytes).max(until);
        let to = visit.end_byte().min(last);
        if to > from {
            met += to - from;
            until = to;
        }
    }
    met as f64 / room as f64
}

/// The share of the range that may be slow and was not met, in 19 of 20 surveys: none of `n` offsets is slow with a
/// probability of (1 − share)ⁿ. All parts count as the one with the fewest samples. None where everything was read.
fn share_max(map: &SurfaceMap) -> Option<f64> {
    let (first, bytes) = (map.range.first().get(), map.range.bytes().get());
    let mut samples = [0u64; SHARE_PARTS];
    let (mut covered, mut until) = (0, first);
    for visit in &map.visits {
        let part = u128::from(visit.first_byte.saturating_sub(first)) * SHARE_PARTS as u128
            / u128::from(bytes.max(1));
        samples[(part as usize).min(SHARE_PARTS - 1)] += 1;
        covered += visit.end_byte().saturating_sub(visit.first_byte.max(until));
        until = until.max(visit.end_byte());
    }
    if covered >= bytes {
        return None;
    }
    let fewest = samples.iter().copied().min().unwrap_or(0);
    let drawn = (fewest * SHARE_PARTS as u64) as f64;
    Some(if drawn == 0.0 { 1.0 } else { 1.0 - (1.0 - CONFIDENCE).powf(1.0 / drawn) })
}

fn latency_classes(run: &RunView<'_>, operation: Operation) -> LatencyClasses {
    let histogram = merged_latencies(&sequential_visits(run, operation), operation);
    let below = CLASS_LIMITS_MS.map(|limit| count_below(&histogram, limit * 1_000_000));
    LatencyClasses {
        below_10_ms: below[0],
        to_50_ms: below[1] - below[0],
        to_200_ms: below[2] - below[1],
        to_500_ms: below[3] - below[2],
        from_500_ms: histogram.count() - below[3],
    }
}

/// How many latencies lie below the limit, to within the histogram's relative error: the number of ranks whose value does.
fn count_below(histogram: &LatencyHistogram, limit_ns: u64) -> u64 {
    let count = histogram.count();
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let quantile = Quantile::new((middle as f64 + 0.5) / count as f64);
        let latency = quantile.and_then(|quantile| histogram.quantile(quantile));
        if latency.is_some_and(|latency| latency.get() < limit_ns) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::range::ByteRange;
    use model::units::MIB;

    fn visit(first_byte: u64, bytes: u64) -> Visit {
        Visit { phase: 0, first_byte, bytes, seconds_per_byte: 1e-8, start_ns: first_byte, longest_ns: 0 }
    }

    /// Of 0..1000 MiB, 400 to 410 was visited: of the 936 places where 64 MiB may begin, 74 are met.
    #[test]
    fn the_chance_to_meet_a_region_is_that_of_where_it_may_begin() {
        let range = ByteRange::new(Offset::START, Bytes::new(1000 * MIB)).unwrap();
        let map = SurfaceMap::of_visits(range, vec![visit(400 * MIB, 10 * MIB)]);
        assert!((chance_met(&map, 64 * MIB) - 74.0 / 936.0).abs() < 1e-9);
        let all =
            SurfaceMap::of_visits(range, (0..100).map(|part| visit(part * 10 * MIB, 10 * MIB)).collect());
        assert_eq!(chance_met(&all, 64 * MIB), 1.0);
        assert_eq!(chance_met(&map, 2000 * MIB), 1.0);
    }

    #[test]
    fn latencies_are_counted_by_class() {
        let mut histogram = LatencyHistogram::default();
        for milliseconds in [1, 2, 30, 300, 300, 900] {
            histogram.record(milliseconds * 1_000_000);
        }
        let below = CLASS_LIMITS_MS.map(|limit| count_below(&histogram, limit * 1_000_000));
        assert_eq!(below, [2, 3, 3, 5]);
        assert_eq!(count_below(&LatencyHistogram::default(), 10), 0);
    }
}
