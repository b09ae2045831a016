//! What a command costs without a seek, and what a seek to the next track costs, at places whose tracks are known sector by
//! sector.
//!
//! A *place* is a probe of a dozen reads and more over some tracks. It tells the number of sectors, the skew, and, the closer
//! the more reads lie near it, where a track ends. Then the angle of every sector around is known, and a pair of reads can be
//! chosen whose second passes the head at any wanted part of a turn after the first: whether it was caught in that turn bounds
//! the time that the drive took to get there. On the same track that is the command alone.

use super::censored::one_time;
use super::ends::track_ends;
use super::track::{FINEST_TURNS, TrackCount, count_of, long_probes, scatters};
use super::{Reading, Rotation, wrapped};
use crate::stats::CONFIDENCE;
use model::estimate::Estimate;

/// The share of the readings of a place that fit its map; one in ten may have met something else.
const FITTING_SHARE_MIN: f64 = 0.85;
/// The tracks of a place that its map covers.
const TRACKS: f64 = 3.0;
/// Pairs of each kind, without which nothing is concluded.
const PAIRS_MIN: usize = 12;

/// Tracks of one place, sector by sector. Sectors count downwards from the highest that was read.
#[derive(Clone, Debug)]
pub struct NearMap {
    top: u64,
    sector_bytes: u64,
    sectors: f64,
    /// The first sector down that may lie on the next track, and the first that surely does.
    border: (f64, f64),
    skew: f64,
    angle: f64,
}

impl NearMap {
    /// The map of a place by the count of a probe of it, and by all other reads of it.
    fn of(
        count: &TrackCount,
        probe: &[Reading],
        readings: &[Reading],
        rotation: &Rotation,
        sector_bytes: u64,
    ) -> Option<NearMap> {
        let sectors = count.exact().map_or(count.sectors, f64::from);
        let mut map = NearMap {
            top: probe.first()?.offset,
            sector_bytes,
            sectors,
            border: (0.0, sectors),
            skew: count.skew_turns?,
            angle: 0.0,
        };
        // The tracks of a place are told by the reads that were made to tell them: of the pairs that follow, some are answered by the
        // drive's cache, and the fewer places there are, the more.
        let told_by = probe.first()?.phase..=probe.first()?.phase + 1;
        let mut spots = Vec::new();
        for reading in readings {
            if !(told_by.contains(&reading.phase)) {
                continue;
            }
            if let Some(below) = map.below(reading.offset) {
                spots.push((below, rotation.phase(reading.completed_ns) + below / sectors));
            }
        }
        map.fit_border(&spots, 2.0 * rotation.tolerance_turns())?;
        Some(map)
    }

    /// Tries all sectors at which a track may end, and keeps those that fit the most readings.
    fn fit_border(&mut self, spots: &[(f64, f64)], tolerance: f64) -> Option<()> {
        let mut best: (usize, f64, f64, f64) = (0, 0.0, 0.0, 0.0);
        for border in 1..=self.sectors as u64 {
            let border = border as f64;
            let mut levels = Vec::with_capacity(spots.len());
            for (below, turns) in spots {
                levels.push(turns + self.skew * self.tracks_down(*below, border));
            }
            for from in levels.iter().take(levels.len().min(6)) {
                let fits = levels.iter().filter(|level| wrapped(*level - from).abs() <= tolerance).count();
                if fits > best.0 {
                    best = (fits, border, border, *from);
                } else if fits == best.0 {
                    best.2 = border;
                }
            }
        }
        let (fits, first, last, angle) = best;
        (self.border, self.angle) = ((first, last), angle);
        let is_told =
            fits as f64 >= FITTING_SHARE_MIN * spots.len() as f64 && last - first < self.sectors / 2.0;
        is_told.then_some(())
    }

    fn tracks_down(&self, below: f64, border: f64) -> f64 {
        if below < border { 0.0 } else { ((below - border) / self.sectors).floor() + 1.0 }
    }

    fn below(&self, offset: u64) -> Option<f64> {
        let below = (self.top.checked_sub(offset)? / self.sector_bytes) as f64;
        (below <= TRACKS * self.sectors).then_some(below)
    }

    /// Which track a byte lies on, counted downwards, where that is sure.
    fn track(&self, offset: u64) -> Option<u32> {
        let below = self.below(offset)?;
        let tracks = self.tracks_down(below, self.border.0);
        (tracks == self.tracks_down(below, self.border.1)).then_some(tracks as u32)
    }

    /// When the sector of a byte has passed, as a part of a turn.
    fn angle_at(&self, offset: u64) -> Option<f64> {
        let below = self.below(offset)?;
        Some(self.angle - below / self.sectors - self.skew * f64::from(self.track(offset)?))
    }

    /// Places that tell closer where its tracks end, from the highest down.
    pub fn closer_places(&self, count: u32) -> Vec<u64> {
        let (first, last) = self.border;
        let step = (last - first) / f64::from(count + 1);
        let mut below = Vec::new();
        for track in 0..2 {
            for index in 1..=count {
                below.push((first + f64::from(track) * self.sectors + step * f64::from(index)) as u64);
            }
        }
        below.dedup();
        below.iter().filter_map(|below| self.top.checked_sub(below * self.sector_bytes)).collect()
    }

    /// Two sectors, the second so many tracks below the first (none or one), and passing that part of a turn later. `draw` is
    /// uniform in [0, 1).
    pub fn pair(&self, tracks: u32, later_turns: f64, draw: f64) -> Option<(u64, u64)> {
        let (first, last) = self.border;
        let down = f64::from(tracks);
        let turns = (-later_turns - self.skew * down).rem_euclid(1.0);
        let mut widest: Option<(f64, f64, f64)> = None;
        for turns in [turns, turns + 1.0] {
            let apart = (turns * self.sectors).round();
            // From behind the border, to where the track after this one ends at the soonest.
            let from = last.max(last + down * self.sectors - apart);
            let to = (first + self.sectors - 1.0).min(first + (down + 1.0) * self.sectors - 1.0 - apart);
            let is_wider =
                widest.is_none_or(|(from_before, to_before, _)| to - from >= to_before - from_before);
            if from <= to && apart >= 1.0 && is_wider {
                widest = Some((from, to, apart));
            }
        }
        let (from, to, apart) = widest?;
        let below = (from + draw * (to - from + 1.0)).floor().min(to);
        let offset = |below: f64| self.top.checked_sub(below as u64 * self.sector_bytes);
        Some((offset(below)?, offset(below + apart)?))
    }
}

#[derive(Clone, Debug)]
pub struct NearSeeks {
    /// What a command takes until the sector may pass, without any seek, in seconds.
    pub overhead: Estimate,
    pub next_track: Estimate,
    /// How many pairs there were on the same track, and on the next one.
    pub pairs: (usize, usize),
}

pub fn near_maps(readings: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<NearMap> {
    let (mut counts, mut counted) = (Vec::new(), Vec::new());
    let probes = long_probes(readings);
    for probe in &probes {
        if let Some(count) = count_of(probe, rotation, sector_bytes) {
            counted.push(probe);
            counts.push(count);
        }
    }
    let mut maps = Vec::new();
    if scatters(&counts, probes.len(), rotation) {
        for ends in track_ends(readings, rotation, sector_bytes) {
            // The second of a pair on the next track lies behind the second end.
            let skew = (ends.levels[1] - ends.levels[2]).rem_euclid(1.0);
            let (border, angle) = ((ends.ends[0].first, ends.ends[0].last), ends.levels[1] + skew);
            maps.push(NearMap { top: ends.top, sector_bytes, sectors: ends.sectors, border, skew, angle });
        }
        return maps;
    }
    for (count, probe) in counts.iter().zip(counted) {
        maps.extend(NearMap::of(count, probe, readings, rotation, sector_bytes));
    }
    maps
}

impl NearSeeks {
    /// What the pairs at places with a map show; none where they are too few.
    pub fn of(readings: &[Reading], maps: &[NearMap], rotation: &Rotation) -> Option<NearSeeks> {
        let turn_s = rotation.turn_s();
        let mut bounds: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for map in maps {
            for reading in readings {
                let Some(tracks) = map.hop(reading, rotation) else { continue };
                let high_s = reading.seconds() - turn_s / map.sectors;
                bounds[tracks].push((high_s - turn_s, high_s));
            }
        }
        if bounds.iter().any(|bounds| bounds.len() < PAIRS_MIN) {
            return None;
        }
        let [same, next] =
            bounds.map(|bounds| one_time(&bounds, turn_s, turn_s * rotation.scatter_turns.max(FINEST_TURNS)));
        let value = next.value - same.value;
        Some(NearSeeks {
            overhead: same,
            next_track: Estimate {
                value,
                low: value - half_of_two(next.value - next.low, same.high - same.value),
                high: value + half_of_two(next.high - next.value, same.value - same.low),
                ..next
            },
            pairs: (same.effective_count as usize, next.effective_count as usize),
        })
    }
}

/// How far off the difference of two times may be, given how far off each may. Where pairs leave a gap, each time is anywhere in it alike; the sum
/// of two such numbers, up to `a` and `b` off, is more than `x` off with a chance of (a + b − x)² / 4ab, for x from a − b on, and one in
/// twenty is asked for. Of normal ones the root of squares is what is needed; the larger of both holds for either.
fn half_of_two(one: f64, other: f64) -> f64 {
    let flat = one + other - (4.0 * (1.0 - CONFIDENCE) * one * other).sqrt();
    flat.max(one.hypot(other))
}

impl NearMap {
    /// Whether a reading was a hop downwards within this place, from a track that is known to one that is, and both sectors passed
    /// when they should, so that no cache answered: over how many tracks, none or one.
    fn hop(&self, reading: &Reading, rotation: &Rotation) -> Option<usize> {
        let (from, from_ns) = reading.before?;
        let (from_track, track) = (self.track(from)?, self.track(reading.offset)?);
        let tracks = track.checked_sub(from_track)? as usize;
        let tolerance = (2.0 * rotation.tolerance_turns()).max(1.0 / self.sectors);
        let met = |offset: u64, at_ns: u64| match self.angle_at(offset) {
            Some(angle) => wrapped(rotation.phase(at_ns) - angle).abs() <= tolerance,
            None => false,
        };
        let both_met = met(from, from_ns) && met(reading.offset, reading.completed_ns);
        (reading.offset < from && tracks <= 1 && both_met).then_some(tracks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> NearMap {
        NearMap {
            top: 1 << 30,
            sector_bytes: 4096,
            sectors: 400.0,
            border: (100.0, 102.0),
            skew: 0.1,
            angle: 0.0,
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
                assert_eq!(to - from, tracks);
                let turns = map.angle_at(other).expect("known") - map.angle_at(one).expect("known");
                assert!((turns.rem_euclid(1.0) - later).abs() < 0.5 / 400.0 + 1e-9, "{turns}, not {later}");
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
        assert_eq!(map.track(offset(99)), Some(0));
        assert_eq!(map.track(offset(101)), None);
        assert_eq!(map.track(offset(102)), Some(1));
        assert_eq!(map.track(offset(499)), Some(1));
        assert_eq!(map.track(offset(502)), Some(2));
    }
}
