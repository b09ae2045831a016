//! Sectors on a track, from the angles of some that lie side by side.
//!
//! A *probe* is a few reads close together, each below the last in address, so that what the drive read on after one does not answer the next. A
//! drive that reads as soon as it is on a track holds what lies below: it is probed upwards, by steps that no command is quick enough for.
//! Two sectors of one track that are g apart lie g/n of a turn apart. Where a track ends between them, a skew comes on top, and they fit no n
//! that the others fit. So the n is taken that most pairs of a probe fit, and then made as exact as all readings on that track allow.

use super::{Reading, Rotation, wrapped};
use crate::stats::sample::middle;

/// Sectors on a track: from 26 (1987) to 5000 are known, and 512 to 4096 bytes each; a thousand are far from either end.
const SECTORS: (u32, u32) = (24, 12_000);
/// Reads of a probe are no further apart than this: a few tracks of any disk.
const REACH_BYTES: u64 = 16 << 20;
/// Nothing is known closer than a sector takes to pass: a five-hundredth of a turn or less. This is half of that.
pub(super) const FINEST_TURNS: f64 = 1e-3;
/// Fewer readings could not contradict each other.
pub(super) const READINGS_MIN: usize = 4;
/// The interval of a count: 3.5 standard deviations to either side, since hundreds of counts are made and none shall be wrong.
const DEVIATIONS: f64 = 3.5;
/// Of all pairs of a probe, those that must fit: with one end of a track between them, the readings of a probe fall into two
/// groups, and of five readings split as evenly as can be four pairs of ten are within a group.
const FITTING_SHARE_MIN: f64 = 0.4;
/// What the number of sectors is known by, in tracks: the root of the sum of squares by which reads of a probe are off their middle. Two of the five
/// lie within a fortieth of a track, one at an eighth, a third and two thirds; and in two of three probes an end leaves no more than the first four.
const PROBE_WIDTH: f64 = 0.26;
/// The same of a long probe, over three tracks: a third of its pairs lie on one track, a little less where it begins within one.
const LONG_PROBE: usize = 12;
const FITTING_SHARE_LONG_MIN: f64 = 0.25;

#[derive(Clone, Debug, PartialEq)]
pub struct TrackCount {
    pub offset: u64,
    pub last_offset: u64,
    pub sectors: f64,
    pub range: (f64, f64),
    pub borders: Vec<TrackBorder>,
}

/// Where a track ends and the next one begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackBorder {
    /// What the angle jumps by, in turns less whole ones.
    pub skew_turns: f64,
    pub offset: u64,
}

impl TrackCount {
    pub fn exact(&self) -> Option<u32> {
        let (low, high) = (self.range.0.ceil(), self.range.1.floor());
        (low == high).then_some(low as u32)
    }
}

/// A track near a sector from which sectors are counted downwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    pub(super) sectors: f64,
    /// When that sector would have passed, were it on this track.
    pub(super) level: f64,
}

impl Track {
    /// By how many turns a sector passed later than it does on this track.
    pub(super) fn off(&self, below: f64, phase: f64) -> f64 {
        wrapped(phase + below / self.sectors - self.level)
    }

    pub(super) fn angle_at(&self, below: f64) -> f64 {
        self.level - below / self.sectors
    }

    /// What the angle jumps by from this track to the next one, which begins there.
    pub(super) fn skew_to(&self, next: &Track, below: f64) -> f64 {
        wrapped(self.angle_at(below) - next.angle_at(below))
    }
}

/// A reading of a probe: its sector, counted down from the first one, and its angle less that of the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) below: f64,
    pub(super) angle: f64,
    pub(super) offset: u64,
}

pub fn counts_of(readings: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<TrackCount> {
    let probes = probes_of(readings, rotation);
    probes.iter().filter_map(|probe| count_of(probe, rotation, sector_bytes)).collect()
}

/// Without long ones: of tracks that differ from surface to surface, too few of their pairs lie on one.
pub fn probe_count(readings: &[Reading], rotation: &Rotation) -> usize {
    probes_of(readings, rotation).iter().filter(|probe| probe.len() < LONG_PROBE).count()
}

pub(super) fn long_probes(readings: &[Reading], rotation: &Rotation) -> Vec<Vec<Reading>> {
    let mut probes = probes_of(readings, rotation);
    probes.retain(|probe| probe.len() >= LONG_PROBE);
    probes
}

/// Whether completions scatter too much for probes: from a thousandth of a turn on four of ten pairs fit one of 12,000 lengths by chance, and
/// with less the middle one of all tracks would not be told from one with a sector more or less.
pub fn scatters(counts: &[TrackCount], rotation: &Rotation) -> bool {
    let mut sectors: Vec<f64> = counts.iter().map(|count| count.sectors).collect();
    let off_sectors = DEVIATIONS * rotation.scatter_turns * middle(&mut sectors) / PROBE_WIDTH;
    rotation.scatter_turns > FINEST_TURNS || off_sectors > 0.5
}

/// Stretches of reads each a little below the last, or those that go up, from the highest down, which replace the others.
pub(super) fn probes_of(readings: &[Reading], rotation: &Rotation) -> Vec<Vec<Reading>> {
    let (mut downwards, mut upwards) = (Vec::new(), Vec::new());
    let mut start = 0;
    for at in 1..=readings.len() {
        let is_near = at < readings.len() && is_near(&readings[at - 1], &readings[at]);
        let turns_back = is_near && at - start > 1 && goes_up(readings, start + 1) != goes_up(readings, at);
        if is_near && !turns_back {
            continue;
        }
        if at - start >= READINGS_MIN {
            let mut probe = readings[start..at].to_vec();
            if goes_up(readings, start + 1) {
                probe.reverse();
                probe.retain(|reading| !rotation.is_cached(reading));
                // Of four on two tracks only two pairs fit, and one by chance is more.
                upwards.extend((probe.len() > READINGS_MIN).then_some(probe));
            } else {
                downwards.push(probe);
            }
        }
        start = if turns_back { at - 1 } else { at };
    }
    if 2 * upwards.len() >= downwards.len() { upwards } else { downwards }
}

fn is_near(one: &Reading, next: &Reading) -> bool {
    let follows = matches!(next.before, Some((offset, _)) if offset == one.offset);
    follows && next.offset != one.offset && next.offset.abs_diff(one.offset) <= REACH_BYTES
}

fn goes_up(readings: &[Reading], at: usize) -> bool {
    readings[at].offset > readings[at - 1].offset
}

/// Whether a cache answered reads of probes: of the reads near the one before, at least a quarter.
pub fn is_answered_by_cache(readings: &[Reading], rotation: &Rotation) -> bool {
    let (mut near, mut quick) = (0, 0);
    for pair in readings.windows(2) {
        if is_near(&pair[0], &pair[1]) {
            near += 1;
            quick += usize::from(rotation.is_cached(&pair[1]));
        }
    }
    near > 0 && 4 * quick >= near
}

pub(super) fn spots_of(probe: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<Spot> {
    let Some(first) = probe.first() else { return Vec::new() };
    let spot = |reading: &Reading| Spot {
        below: (first.offset as f64 - reading.offset as f64) / sector_bytes as f64,
        angle: wrapped(rotation.turns_between(first.completed_ns, reading.completed_ns)),
        offset: reading.offset,
    };
    probe.iter().map(spot).collect()
}

/// The count of one probe; none where no number of sectors stands out.
pub(super) fn count_of(probe: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Option<TrackCount> {
    let share = if probe.len() < LONG_PROBE { FITTING_SHARE_MIN } else { FITTING_SHARE_LONG_MIN };
    count_fitting(probe, share, rotation, sector_bytes)
}

pub(super) fn count_of_track(
    reads: &[Reading],
    rotation: &Rotation,
    sector_bytes: u64,
) -> Option<TrackCount> {
    count_fitting(reads, 1.0, rotation, sector_bytes)
}

/// The count that at least that share of the pairs of a probe fits.
fn count_fitting(
    probe: &[Reading],
    least_share: f64,
    rotation: &Rotation,
    sector_bytes: u64,
) -> Option<TrackCount> {
    let spots = spots_of(probe, rotation, sector_bytes);
    let tolerance = rotation.tolerance_turns();
    let mut search = Search::new(apart(&spots), tolerance, least_share);
    search.among(SECTORS.0, SECTORS.1);
    let fits = search.fits;
    let guess = *fits.get(fits.len() / 2)?;
    let group = largest_group(&spots, guess, tolerance);
    refined(&spots, &group, &fits, rotation)
}

fn apart(spots: &[Spot]) -> Vec<(f64, f64)> {
    let mut apart = Vec::with_capacity(spots.len() * spots.len() / 2);
    for (index, one) in spots.iter().enumerate() {
        for other in &spots[index + 1..] {
            apart.push((other.angle - one.angle, other.below - one.below));
        }
    }
    apart
}

/// The numbers of sectors to a track that most pairs fit, by branch and bound: no number between two fits more pairs than the middle
/// does if what the numbers differ by is added to the tolerance.
struct Search {
    /// Of each pair of spots, the angle and the sectors between them.
    apart: Vec<(f64, f64)>,
    farthest: f64,
    tolerance: f64,
    best: usize,
    fits: Vec<f64>,
}

impl Search {
    fn new(apart: Vec<(f64, f64)>, tolerance: f64, least_share: f64) -> Search {
        let best = (least_share * apart.len() as f64).ceil() as usize;
        let farthest = apart.iter().map(|(_, below)| below.abs()).fold(0.0, f64::max);
        Search { apart, farthest, tolerance, best, fits: Vec::new() }
    }

    fn among(&mut self, least: u32, most: u32) {
        let (short, long) = (1.0 / f64::from(most), 1.0 / f64::from(least));
        let turns = (short + long) / 2.0;
        let tolerance = self.tolerance + self.farthest * (long - short) / 2.0;
        let count = self.fitting_pairs(turns, tolerance);
        if count < self.best {
            return;
        }
        if least < most {
            let middle = ((1.0 / turns) as u32).clamp(least, most - 1);
            self.among(least, middle);
            self.among(middle + 1, most);
            return;
        }
        if count > self.best {
            self.best = count;
            self.fits.clear();
        }
        self.fits.push(f64::from(least));
    }

    fn fitting_pairs(&self, turns: f64, tolerance: f64) -> usize {
        let mut count = 0;
        for &(angle, below) in &self.apart {
            count += usize::from(wrapped(angle + below * turns).abs() <= tolerance);
        }
        count
    }
}

/// By how much the angle between two spots differs from what so many sectors to a track make it.
fn misfit(one: &Spot, other: &Spot, sectors: f64) -> f64 {
    wrapped(other.angle - one.angle + (other.below - one.below) / sectors)
}

/// The most spots that fit one of them: those on its track.
fn largest_group(spots: &[Spot], sectors: f64, tolerance: f64) -> Vec<usize> {
    let mut largest = Vec::new();
    for one in spots {
        let mut group: Vec<usize> = (0..spots.len()).collect();
        group.retain(|to| misfit(one, &spots[*to], sectors).abs() <= tolerance);
        if group.len() >= largest.len() {
            largest = group;
        }
    }
    largest
}

/// The count by a line through the angles of a group, and the skew to what lies beyond it.
fn refined(spots: &[Spot], group: &[usize], fits: &[f64], rotation: &Rotation) -> Option<TrackCount> {
    let guess = fits[fits.len() / 2];
    let origin = spots[*group.first()?];
    let (mut sum, mut square, mut sum_angle, mut product) = (0.0, 0.0, 0.0, 0.0);
    for &index in group {
        let below = spots[index].below - origin.below;
        let residual = misfit(&origin, &spots[index], guess);
        (sum, square) = (sum + below, square + below * below);
        (sum_angle, product) = (sum_angle + residual, product + below * residual);
    }
    let count = group.len() as f64;
    let width = square - sum * sum / count;
    if group.len() < 2 || width <= 0.0 {
        return None;
    }
    // Angles fall by 1/n for each sector down; what is left of that is the error of the guess.
    let turns_per_sector = 1.0 / guess - (product - sum * sum_angle / count) / width;
    let deviation = DEVIATIONS * rotation.scatter_turns / width.sqrt();
    let sectors = 1.0 / turns_per_sector;
    let (low, high) = (1.0 / (turns_per_sector + deviation), 1.0 / (turns_per_sector - deviation));
    let valid = sectors.is_finite() && sectors > 0.0 && high > 0.0;
    let (low, high) = (low.min(fits[0]), high.max(fits[fits.len() - 1]));
    if !valid {
        return None;
    }
    let (mut offset, mut last_offset) = (origin.offset, origin.offset);
    for &index in group {
        offset = offset.min(spots[index].offset);
        last_offset = last_offset.max(spots[index].offset);
    }
    let borders = border(spots, group, sectors, rotation.tolerance_turns()).into_iter().collect();
    Some(TrackCount { offset, last_offset, sectors, range: (low, high), borders })
}

/// The border between the track of a group and the next one on either side, where the others of the probe agree on what the angle jumps by.
fn border(spots: &[Spot], group: &[usize], sectors: f64, tolerance: f64) -> Option<TrackBorder> {
    let origin = &spots[*group.first()?];
    let (mut highest, mut lowest) = (*origin, *origin);
    for &index in group {
        if spots[index].below < highest.below {
            highest = spots[index];
        }
        if spots[index].below > lowest.below {
            lowest = spots[index];
        }
    }
    // This track ends below its lowest spot, and the next one a whole track further down; likewise above.
    let mut jumps = Vec::new();
    for spot in spots {
        let misfit = misfit(origin, spot, sectors);
        if spot.below < highest.below && spot.below > highest.below - sectors {
            jumps.push((highest.below - spot.below, misfit, spot.offset.midpoint(highest.offset)));
        } else if spot.below > lowest.below && spot.below < lowest.below + sectors {
            jumps.push((spot.below - lowest.below, -misfit, spot.offset.midpoint(lowest.offset)));
        }
    }
    let (mut nearest, first, mut offset) = *jumps.first()?;
    for (distance, jump, between) in jumps {
        if wrapped(jump - first).abs() > 2.0 * tolerance {
            return None;
        }
        if distance < nearest {
            (nearest, offset) = (distance, between);
        }
    }
    let skew_turns = first.rem_euclid(1.0);
    (first.abs() > 2.0 * tolerance).then_some(TrackBorder { skew_turns, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_interval_with_one_whole_number_is_exact() {
        let count = TrackCount {
            offset: 0,
            last_offset: 0,
            sectors: 473.1,
            range: (472.4, 473.6),
            borders: Vec::new(),
        };
        assert_eq!(count.exact(), Some(473));
        assert_eq!(TrackCount { range: (472.4, 474.1), ..count.clone() }.exact(), None);
        assert_eq!(TrackCount { range: (472.4, 472.6), ..count }.exact(), None);
    }

    proptest! {
        /// Each number on its own, against branch and bound.
        #[test]
        fn no_number_that_fits_is_left_out(
            spots in prop::collection::vec((0.0..1.0f64, 0u32..9000), 2..18),
            sectors in SECTORS.0..=SECTORS.1,
            tolerance in 0.002..0.05f64,
            least_share in 0.0..1.0f64,
        ) {
            let mut places = Vec::new();
            for (index, (angle, below)) in spots.iter().enumerate() {
                // Half of them lie on a track, as those of a probe do.
                let below = f64::from(*below);
                let angle = if index % 2 == 0 { -below / f64::from(sectors) } else { *angle };
                places.push(Spot { offset: 0, below, angle });
            }
            let mut search = Search::new(apart(&places), tolerance, least_share);
            let (mut best, mut fits) = (search.best, Vec::new());
            search.among(SECTORS.0, SECTORS.1);
            for sectors in SECTORS.0..=SECTORS.1 {
                let count = search.fitting_pairs(1.0 / f64::from(sectors), tolerance);
                if count > best {
                    (best, fits) = (count, Vec::new());
                }
                if count == best {
                    fits.push(f64::from(sectors));
                }
            }
            prop_assert_eq!((search.best, search.fits), (best, fits));
        }
    }
}
