//! What a command costs without a seek, and what a seek to the next track costs, at places whose tracks are known sector by sector.
//!
//! A *place* is a probe of a dozen reads and more over some tracks. It tells two tracks that follow each other, each with its number of
//! sectors and its angle, for they may lie on surfaces that differ; and, the closer the more reads lie near it, where the upper one begins
//! and ends. Then the angle of every sector on both is known, and a pair of reads can be chosen whose second passes the head at any
//! wanted part of a turn after the first: whether it was caught in that turn bounds the time that the drive took to get there. On the same
//! track that is the command alone.

use super::censored::one_time;
use super::ends::track_ends;
use super::layout::most_common;
use super::track::{
    READINGS_MIN, Track, TrackBorder, TrackCount, count_of, count_of_track, long_probes, scatters,
};
use super::{Reading, Rotation, wrapped};
use crate::stats::CONFIDENCE;
use model::estimate::Estimate;

/// The share of the readings near the ends of a track that fit them; one in ten may have met something else.
const FITTING_SHARE_MIN: f64 = 0.85;
const PAIRS_MIN: usize = 12;

/// The reads on a track that a map is made of, at the least: its angles are that much closer known than those of one.
const READS_OF_TRACK: f64 = 4.0;

/// Skews are whole sectors, of which the shortest tracks hold some 150; that to another surface differs by a fifth of one and more.
const SKEW_ROUNDING_TURNS: f64 = 0.01;

/// How far from where its map has it a sector may pass, as a share of one. What a cache answers comes when the command is through with,
/// and as often within a sector of that angle as the pair was chosen for it.
const SECTOR_SHARE: f64 = 0.1;

/// Two tracks of one place, sector by sector, the one with higher addresses first. Sectors count downwards from the highest that was read.
#[derive(Clone, Debug)]
pub struct NearMap {
    top: u64,
    sector_bytes: u64,
    /// The first sector down that may lie on the upper track, and the first that surely does.
    border: (f64, f64),
    tracks: [Track; 2],
}

/// A track by its count and the angles of the reads on it.
fn track_of(
    count: &TrackCount,
    top: u64,
    probe: &[Reading],
    rotation: &Rotation,
    sector_bytes: u64,
) -> Track {
    let mut track = Track { sectors: count.exact().map_or(count.sectors, f64::from), level: 0.0 };
    let mut levels = Vec::new();
    for reading in probe {
        if (count.offset..=count.last_offset).contains(&reading.offset) {
            let below = ((top - reading.offset) / sector_bytes) as f64;
            levels.push(track.off(below, rotation.phase(reading.completed_ns)));
        }
    }
    if let Some(first) = levels.first() {
        let off: f64 = levels.iter().map(|level| wrapped(level - first)).sum();
        track.level = first + off / levels.len() as f64;
    }
    track
}

/// The tracks of a probe from the highest down, but for those with too few reads.
fn tracks_in(probe: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<TrackCount> {
    let mut tracks = Vec::new();
    let mut start = 0;
    while start + READINGS_MIN <= probe.len() {
        let counts = (start + READINGS_MIN..=probe.len())
            .map_while(|end| count_of_track(&probe[start..end], rotation, sector_bytes));
        match counts.enumerate().last() {
            Some((more, count)) => {
                start += READINGS_MIN + more;
                tracks.push(count);
            }
            None => start += 1,
        }
    }
    tracks
}

impl NearMap {
    /// The map of a place by a probe of it, and by all other reads of it.
    fn of(
        probe: &[Reading],
        readings: &[Reading],
        rotation: &Rotation,
        sector_bytes: u64,
    ) -> Option<NearMap> {
        let top = probe.first()?.offset;
        let tracks = tracks_in(probe, rotation, sector_bytes);
        let pair = tracks.windows(2).find(|pair| pair[0].last_offset < top)?;
        let [upper, lower] = [0, 1].map(|at| track_of(&pair[at], top, probe, rotation, sector_bytes));
        let below = |offset: u64| ((top - offset) / sector_bytes) as f64;
        let above = probe.iter().rfind(|reading| reading.offset > pair[0].last_offset)?;
        // The upper track begins between the last read above it and its first, and ends a whole track further down.
        let first = (below(above.offset) + 1.0).max(below(pair[0].offset) + 1.0 - upper.sectors);
        let last = below(pair[0].last_offset).min(below(pair[1].last_offset) - upper.sectors);
        let mut map = NearMap { top, sector_bytes, border: (first, last), tracks: [upper, lower] };
        // The tracks of a place are told by the reads that were made to tell them: of the pairs that follow, some are answered by the
        // drive's cache, and the fewer places there are, the more.
        let told_by = probe.first()?.phase..=probe.first()?.phase + 1;
        let mut told: Vec<&Reading> = readings.iter().collect();
        told.retain(|reading| told_by.contains(&reading.phase) && !rotation.is_cached(reading));
        map.fit_border(&told, rotation)?;
        Some(map)
    }

    /// Tries all sectors at which the upper track may begin, and keeps those that fit the most readings near both of its ends.
    fn fit_border(&mut self, readings: &[&Reading], rotation: &Rotation) -> Option<()> {
        let upper = self.tracks[0];
        let tolerance = 2.0 * rotation.tolerance_turns();
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for reading in readings {
            let Some(sectors_below) = self.below(reading.offset) else { continue };
            let is_on = upper.off(sectors_below, rotation.phase(reading.completed_ns)).abs() <= tolerance;
            // On the track behind its begin, and before its end.
            for (end, is_behind) in [(sectors_below, is_on), (sectors_below - upper.sectors, !is_on)] {
                if (self.border.0 - 1.0..=self.border.1).contains(&end) {
                    if is_behind { below.push(end) } else { above.push(end) }
                }
            }
        }
        let (mut most, mut first, mut last) = (0, 0.0, 0.0);
        let mut border = self.border.0;
        while border <= self.border.1 {
            let fits = above.iter().filter(|end| **end < border).count()
                + below.iter().filter(|end| **end >= border).count();
            if fits > most {
                (most, first) = (fits, border);
            }
            if fits == most {
                last = border;
            }
            border += 1.0;
        }
        self.border = (first, last);
        let all = above.len() + below.len();
        (most > 0 && most as f64 >= FITTING_SHARE_MIN * all as f64).then_some(())
    }

    fn skew(&self) -> f64 {
        let ([upper, lower], (first, last)) = (self.tracks, self.border);
        upper.skew_to(&lower, f64::midpoint(first, last) + upper.sectors)
    }

    fn below(&self, offset: u64) -> Option<f64> {
        Some((self.top.checked_sub(offset)? / self.sector_bytes) as f64)
    }

    fn reach(&self, track: usize) -> (f64, f64) {
        let above: f64 = self.tracks[..track].iter().map(|track| track.sectors).sum();
        let (first, last) = self.border;
        (last + above, first + above + self.tracks[track].sectors - 1.0)
    }

    /// Which of the tracks a byte lies on, where that is sure.
    fn track(&self, offset: u64) -> Option<usize> {
        let below = self.below(offset)?;
        (0..self.tracks.len()).find(|track| {
            let (from, to) = self.reach(*track);
            (from..=to).contains(&below)
        })
    }

    /// When the sector of a byte has passed, as a part of a turn.
    fn angle_at(&self, offset: u64) -> Option<f64> {
        Some(self.tracks[self.track(offset)?].angle_at(self.below(offset)?))
    }

    /// Places that tell closer where the upper track begins and ends, from the highest down.
    pub fn closer_places(&self, count: u32) -> Vec<u64> {
        let (first, last) = self.border;
        let step = (last - first) / f64::from(count + 1);
        let mut below = Vec::new();
        // Both ends tell of the same border, so at the second one the places between those at the first are read.
        for (end, between) in [(0.0, 0.0), (self.tracks[0].sectors, step / 2.0)] {
            for index in 1..=count {
                below.push((first + end - between + step * f64::from(index)) as u64);
            }
        }
        below.dedup();
        below.iter().filter_map(|below| self.top.checked_sub(below * self.sector_bytes)).collect()
    }

    /// Two sectors, the first on the upper track and the second below it `tracks` down, passing that part of a revolution later.
    pub fn pair(&self, tracks: usize, later_turns: f64, draw: f64) -> Option<(u64, u64)> {
        let (upper, other) = (self.tracks[0], self.tracks[tracks]);
        let (from, to) = self.reach(tracks);
        // The second sector for a first one `below`: where the track has the angle asked for.
        let second = |below: f64| {
            let angle = upper.angle_at(below) + later_turns;
            let at = (other.level - angle) * other.sectors;
            let floor = from.max(below + 1.0);
            (at + ((floor - at) / other.sectors).ceil() * other.sectors).round()
        };
        let mut fit = Vec::new();
        let (mut below, last) = self.reach(0);
        while below <= last {
            if second(below) <= to {
                fit.push(below);
            }
            below += 1.0;
        }
        let below = *fit.get((draw * fit.len() as f64) as usize)?;
        let offset = |below: f64| self.top.checked_sub(below as u64 * self.sector_bytes);
        Some((offset(below)?, offset(second(below))?))
    }
}

#[derive(Clone, Debug)]
pub struct NearSeeks {
    /// What a command takes until the sector may pass, without any seek, in seconds.
    pub overhead: Estimate,
    /// What it takes beside that to get to the next track over a border with the usual skew, where there were enough pairs.
    pub next_track: Option<Estimate>,
    /// The same over borders with the second most common skew.
    pub other_track: Option<Estimate>,
    pub other_skews_more: bool,
    /// How many pairs there were on the same track, and over each kind of border.
    pub pairs: [usize; 3],
}

/// Places by the skew between their two tracks: as at most borders, or another one. On a disk that stays on a surface, another skew means another
/// surface; on one that goes through all surfaces of a cylinder first, it means the next cylinder.
#[derive(Clone, Debug, Default)]
pub struct NearMaps {
    pub usual: Vec<NearMap>,
    pub others: Vec<NearMap>,
}

impl NearMaps {
    fn other_skews_more(&self) -> bool {
        let first = |maps: &[NearMap]| maps.first().map(|map| map.skew().rem_euclid(1.0));
        matches!((first(&self.usual), first(&self.others)), (Some(usual), Some(other)) if other > usual)
    }
}

/// The maps of all places that a run read closely. What is usual is told by the borders of all tracks.
pub fn near_maps(
    readings: &[Reading],
    counts: &[TrackCount],
    rotation: &Rotation,
    sector_bytes: u64,
) -> NearMaps {
    let maps = all_maps(readings, rotation, sector_bytes);
    let mut skews = skews_of(&maps);
    for border in borders(counts) {
        skews.push(border.skew_turns);
    }
    let Some(most) = CommonSkew::of(&skews, rotation) else { return NearMaps::default() };
    let (usual, mut others): (Vec<NearMap>, Vec<NearMap>) =
        maps.into_iter().partition(|map| most.includes(map.skew()));
    if let Some(second) = CommonSkew::of(&skews_of(&others), rotation) {
        others.retain(|map| second.includes(map.skew()));
    }
    NearMaps { usual, others }
}

fn skews_of(maps: &[NearMap]) -> Vec<f64> {
    maps.iter().map(NearMap::skew).collect()
}

fn borders(counts: &[TrackCount]) -> Vec<TrackBorder> {
    let mut borders = Vec::new();
    for count in counts {
        borders.extend(&count.borders);
    }
    borders
}

/// The skew that most of some borders have.
struct CommonSkew {
    turns: f64,
    tolerance: f64,
}

impl CommonSkew {
    fn of(skews: &[f64], rotation: &Rotation) -> Option<CommonSkew> {
        let tolerance = (2.0 * rotation.tolerance_turns()).max(SKEW_ROUNDING_TURNS);
        Some(CommonSkew { turns: most_common(skews, tolerance)?, tolerance })
    }

    fn includes(&self, skew: f64) -> bool {
        wrapped(skew - self.turns).abs() <= self.tolerance
    }
}

/// Borders with another skew than most.
pub fn other_borders(counts: &[TrackCount], rotation: &Rotation) -> Vec<TrackBorder> {
    let mut borders = borders(counts);
    let mut skews = Vec::new();
    for border in &borders {
        skews.push(border.skew_turns);
    }
    let Some(most) = CommonSkew::of(&skews, rotation) else { return Vec::new() };
    borders.retain(|border| !most.includes(border.skew_turns));
    borders
}

fn all_maps(readings: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<NearMap> {
    let probes = long_probes(readings, rotation);
    let mut counts = Vec::new();
    for probe in &probes {
        counts.extend(count_of(probe, rotation, sector_bytes));
    }
    let mut maps = Vec::new();
    if !scatters(&counts, rotation) {
        for probe in probes {
            maps.extend(NearMap::of(&probe, readings, rotation, sector_bytes));
        }
        return maps;
    }
    for ends in track_ends(readings, rotation, sector_bytes) {
        let border = (ends.ends[0].first, ends.ends[0].last);
        let [_, upper, lower] = ends.tracks;
        maps.push(NearMap { top: ends.top, sector_bytes, border, tracks: [upper, lower] });
    }
    maps
}

/// What a read of the medium costs beside one that the cache answers: 0.284 and 0.066 ms of a Cheetah 9LP (DiskSim 4.0).
const MISS_BESIDE_HIT_S: f64 = 0.3e-3;

impl NearSeeks {
    /// What the pairs at places with a map show; none where they are too few.
    pub fn of(readings: &[Reading], maps: &NearMaps, rotation: &Rotation) -> Option<NearSeeks> {
        let turn_s = rotation.turn_s();
        let [mut same, mut next, mut other] = [const { Vec::new() }; 3];
        for (maps, further) in [(&maps.usual, &mut next), (&maps.others, &mut other)] {
            for map in maps {
                for reading in readings {
                    let Some((tracks, late_turns)) = map.hop(reading, rotation) else { continue };
                    // A completion that is seen late says nothing of when the sector passed, which the map tells closer than one read.
                    let passed_s = reading.seconds() - late_turns * turn_s;
                    let high_s = passed_s - turn_s / map.tracks[tracks].sectors;
                    let bounds = if tracks == 0 { &mut same } else { &mut *further };
                    bounds.push((high_s - turn_s, high_s));
                }
            }
        }
        let times = [same, next, other].map(|bounds| {
            (bounds.len() >= PAIRS_MIN)
                .then(|| one_time(&bounds, turn_s, turn_s * rotation.scatter_turns / READS_OF_TRACK.sqrt()))
        });
        let pairs = times.map(|time| time.map_or(0, |time| time.effective_count as usize));
        let [same, next, other] = times;
        let same = same?;
        Some(NearSeeks {
            overhead: same,
            next_track: next.map(|next| beside(&next, &same)),
            other_track: other.map(|other| beside(&other, &same)),
            other_skews_more: maps.other_skews_more(),
            pairs,
        })
    }

    /// Where hits take so long and a command on the same track much longer, firmware prefetches to its end first: that is no part of seeks.
    pub fn with_hits_of(mut self, hit_s: f64) -> NearSeeks {
        let most = hit_s + MISS_BESIDE_HIT_S;
        if self.overhead.low <= most {
            return self;
        }
        let value = f64::midpoint(hit_s, most);
        let overhead = Estimate { value, low: hit_s, high: most, ..self.overhead };
        let told = std::mem::replace(&mut self.overhead, overhead);
        for seek in [&mut self.next_track, &mut self.other_track].into_iter().flatten() {
            seek.value += told.value - value;
            seek.low += told.low - most;
            seek.high += told.high - hit_s;
        }
        self
    }
}

fn beside(time: &Estimate, other: &Estimate) -> Estimate {
    let value = time.value - other.value;
    let low = value - half_of_two(time.value - time.low, other.high - other.value);
    let high = value + half_of_two(time.high - time.value, other.value - other.low);
    Estimate { value, low, high, ..*time }
}

/// How far off the difference of two times may be, given how far off each may. Where pairs leave a gap, each time is anywhere in it alike; the sum
/// of two such numbers, up to `a` and `b` off, is more than `x` off with a chance of (a + b − x)² / 4ab, for x from a − b on, and one in
/// twenty is asked for. Of normal ones the root of squares is what is needed; the larger of both holds for either.
fn half_of_two(one: f64, other: f64) -> f64 {
    let flat = one + other - (4.0 * (1.0 - CONFIDENCE) * one * other).sqrt();
    flat.max(one.hypot(other))
}

impl NearMap {
    /// Where a reading was a hop downwards within this place, from the upper track to one that is known, and both sectors passed
    /// when they should, so that no cache answered: over how many tracks, none or one, and how much later than expected it was seen.
    fn hop(&self, reading: &Reading, rotation: &Rotation) -> Option<(usize, f64)> {
        let (from, from_ns) = reading.before?;
        let (from_track, track) = (self.track(from)?, self.track(reading.offset)?);
        let tolerance = (2.0 * rotation.tolerance_turns()).max(SECTOR_SHARE / self.tracks[track].sectors);
        let late = |offset: u64, at_ns: u64| Some(wrapped(rotation.phase(at_ns) - self.angle_at(offset)?));
        let (from_late, late) = (late(from, from_ns)?, late(reading.offset, reading.completed_ns)?);
        let both_met = from_late.abs().max(late.abs()) <= tolerance;
        (reading.offset < from && from_track == 0 && both_met).then_some((track, late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of firmware that prefetches to the end of a track first: "389 µs, plus 1.51 ms of command overhead", and 1.74 and 0.12 are true.
    #[test]
    fn what_firmware_prefetches_is_no_overhead() {
        let time = |ms: f64| Estimate { low: 0.97e-3 * ms, high: 1.03e-3 * ms, ..Estimate::exact(1e-3 * ms) };
        let near = |overhead| NearSeeks {
            overhead: time(overhead),
            next_track: Some(time(0.39)),
            other_track: None,
            other_skews_more: false,
            pairs: [40, 40, 0],
        };
        let told = near(1.51).with_hits_of(0.145e-3);
        assert!(told.overhead.covers(0.284e-3) && told.overhead.value < 0.4e-3, "{:?}", told.overhead);
        assert!(told.next_track.is_some_and(|seek| seek.covers(1.74e-3)), "{:?}", told.next_track);
        let usual = near(0.4).with_hits_of(0.145e-3);
        assert_eq!((usual.overhead, usual.next_track), (time(0.4), Some(time(0.39))));
    }

    fn map() -> NearMap {
        NearMap {
            top: 1 << 30,
            sector_bytes: 4096,
            border: (100.0, 102.0),
            tracks: [Track { sectors: 400.0, level: 0.4 }, Track { sectors: 390.0, level: 0.3 }],
        }
    }

    /// The angle at the end of a pair is what was asked for, and both ends lie on the right tracks.
    #[test]
    fn pairs_are_as_far_apart_as_asked() {
        let map = map();
        for tracks in [0, 1] {
            for later in [0.03, 0.1, 0.25, 0.6, 0.9] {
                let Some((one, other)) = map.pair(tracks, later, 0.5) else {
                    panic!("no pair {tracks} tracks and {later} turns apart")
                };
                let (from, to) = (map.track(one).expect("sure"), map.track(other).expect("sure"));
                assert_eq!((from, to), (0, tracks));
                let turns = map.angle_at(other).expect("known") - map.angle_at(one).expect("known");
                assert!((turns.rem_euclid(1.0) - later).abs() < 0.5 / 390.0 + 1e-9, "{turns}, not {later}");
            }
        }
    }

    /// Draws from two stretches of whatever lengths: 95 % of the sums are no farther off.
    #[test]
    fn the_difference_of_two_times_that_are_anywhere_in_their_gaps_is_covered() {
        assert!((half_of_two(1.0, 1.0) - (2.0 - 0.2_f64.sqrt())).abs() < 1e-12);
        let mut prng = model::prng::Prng::new(5, 0);
        for (one, other) in [(1.0, 1.0), (1.0, 0.5), (0.2, 1.0)] {
            let mut off = || one * (2.0 * prng.unit() - 1.0) + other * (2.0 * prng.unit() - 1.0);
            let covered = (0..10_000).filter(|_| off().abs() <= half_of_two(one, other)).count();
            assert!((9440..9900).contains(&covered), "{one}, {other}: {covered}");
        }
    }

    #[test]
    fn what_may_lie_on_either_track_is_on_none() {
        let map = map();
        let offset = |below: u64| map.top - below * 4096;
        for (below, track) in [
            (101, None),
            (102, Some(0)),
            (499, Some(0)),
            (500, None),
            (502, Some(1)),
            (889, Some(1)),
            (890, None),
        ] {
            assert_eq!(map.track(offset(below)), track, "{below}");
        }
    }
}
