//! Zones out of the counts of single tracks.
//!
//! In a zone each surface has its own number of sectors on a track, and they follow each other in stripes; so a zone shows as a
//! stretch in which a few counts come again and again. Where zones lie is decided by what describes all counts in the fewest
//! words (minimum description length, Rissanen 1978): a zone costs its border and its set of counts, and each probe costs which
//! of these it met.

use super::{Rotation, TrackCount, wrapped};
use crate::stats::CONFIDENCE;
use crate::stats::student::t_two_sided;
use model::estimate::Estimate;

#[derive(Clone, Debug, PartialEq)]
pub struct ZoneSeen {
    pub first_byte: u64,
    pub last_byte: u64,
    /// Sectors on its tracks: each number once, the largest first.
    pub sectors: Vec<u32>,
    /// How often each of these was met.
    pub times: Vec<usize>,
    pub probes: usize,
    /// Whether a count came again behind another one: then all of its surfaces went by more than once, and their order explains nothing.
    pub recurs: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// From the start of the range on.
    pub zones: Vec<ZoneSeen>,
    /// What passes from the end of a track to the start of the next, in turns less whole ones.
    pub skew_turns: Option<Estimate>,
    /// The share of track ends at which it is that.
    pub same_skew_share: f64,
    pub exact: (usize, usize),
}

/// A surface has at least a hundred tracks in a row on disks that keep to it (Wong 2019: 115 to 315), so that one end of a
/// track in a hundred is another; on disks that do not, each cylinder has a larger skew at its end, and a disk of 12 surfaces
/// shows it at one end in twelve. Half way between them.
const SAME_SKEW_MIN: f64 = 0.95;
/// Track ends without which the skew is not told.
const ENDS_MIN: usize = 8;
/// Different counts in a zone at most: 20 surfaces are the most that are made.
const SET_MAX: usize = 24;
/// How many numbers the count of a further surface may be: surfaces differ in every zone by the same shares, but for rounding.
const ROUNDINGS: f64 = 3.0;
/// Fewer counts at the end of a zone are told apart from it by `with_sure_ends`.
const PART_MIN: usize = 2;
/// The chance that surfaces are said not to share the tracks evenly though they do, and that the counts of one zone are taken for two.
const FALSE_ALARM: f64 = 1e-3;
/// In one zone no surface holds so many times what another does: 6 % is the most that was measured (8thway 2013).
const UNLIKE_MAX: f64 = 1.06;
/// Tracks to a surface without which surfaces are not counted.
const PROBES_PER_SURFACE: usize = 20;

impl Layout {
    pub fn of(counts: &[TrackCount], rotation: &Rotation) -> Option<Layout> {
        let mut exact: Vec<(u64, u32)> = Vec::new();
        for count in counts {
            if let Some(sectors) = count.exact() {
                exact.push((count.offset, sectors));
            }
        }
        exact.sort_unstable();
        if exact.is_empty() {
            return None;
        }
        let (skew_turns, same_skew_share) = skew_of(counts, rotation);
        Some(Layout {
            zones: zones_of(&exact),
            skew_turns,
            same_skew_share,
            exact: (exact.len(), counts.len()),
        })
    }

    /// Whether tracks that follow each other lie on the same surface, as far as skews tell.
    pub fn keeps_surface(&self) -> bool {
        self.same_skew_share >= SAME_SKEW_MIN
    }

    /// Different counts in the middle one of all zones: there are at least as many surfaces.
    pub fn surfaces_min(&self) -> usize {
        let mut sizes = Vec::new();
        for zone in &self.zones {
            sizes.push(zone.sectors.len());
        }
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    }

    /// Surfaces, where it can be told how often each count comes: a count that comes twice as often as the others belongs to two
    /// of them. Told only where each belongs to one: then every surface has its own count, and an even share of the tracks.
    pub fn surfaces(&self) -> Option<usize> {
        let counts = self.surfaces_min();
        let zones: Vec<&ZoneSeen> = self.zones.iter().filter(|zone| zone.sectors.len() == counts).collect();
        let mut often = vec![0.0; counts];
        for zone in &zones {
            for (rank, times) in zone.times.iter().enumerate() {
                often[rank] += *times as f64;
            }
        }
        let all: f64 = often.iter().sum();
        // Surfaces with more sectors on a track have a larger share of the bytes, and so of the probes.
        if let Some(zone) = zones.first() {
            let mean = zone.sectors.iter().sum::<u32>() as f64 / counts as f64;
            for (times, sectors) in often.iter_mut().zip(&zone.sectors) {
                *times *= mean / f64::from(*sectors);
            }
        }
        if 2 * zones.len() < self.zones.len() {
            return None;
        }
        // The least number that explains how often each was met is that of counts, or the surfaces are not told.
        let is_told = counts > 1 && counts <= SET_MAX && share_tracks_evenly(&often, all);
        is_told.then_some(counts)
    }

    /// Zones that are surely different ones: at least so many there are. Zones that no probe met, and neighbours whose counts are too few to
    /// tell a change of zone from one of surface, are not among them.
    pub fn zone_count(&self) -> Estimate {
        let has_one_surface = self.zones.iter().all(|zone| zone.sectors.len() == 1);
        let (mut count, mut probes) = (0, 0);
        let mut last: Option<&ZoneSeen> = None;
        for zone in &self.zones {
            probes += zone.probes;
            if last.is_none_or(|last| has_one_surface || zone.is_surely_another(last)) {
                count += 1;
                last = Some(zone);
            }
        }
        let value = f64::from(count);
        let (low, high) = (value, f64::INFINITY);
        Estimate { value, low, high, confidence: CONFIDENCE, effective_count: probes as f64 }
    }
}

impl ZoneSeen {
    fn is_surely_another(&self, before: &ZoneSeen) -> bool {
        let (least, most) = (self.sectors.last(), before.sectors.first());
        let is_unlike = matches!((least, most), (Some(&least), Some(&most)) if f64::from(most) > UNLIKE_MAX * f64::from(least));
        is_unlike || self.recurs && before.recurs
    }
}

/// Whether each count belongs to one surface, by how often each was met.
fn share_tracks_evenly(often: &[f64], all: f64) -> bool {
    let surfaces = often.len();
    let share = all / surfaces as f64;
    let (mut heads_in_all, mut off) = (0.0, 0.0);
    for times in often {
        let heads = (times / share).round().max(1.0);
        heads_in_all += heads;
        off += (times - heads * share).powi(2) / (heads * share);
    }
    heads_in_all == surfaces as f64
        && all >= (surfaces * PROBES_PER_SURFACE) as f64
        && off <= chi_square_limit(surfaces - 1)
}

/// What the sum of squares of so many normal numbers exceeds by chance as often as is allowed (Wilson and Hilferty 1931, to within
/// a hundredth from one number on).
fn chi_square_limit(freedom: usize) -> f64 {
    let freedom = freedom as f64;
    let part = 2.0 / (9.0 * freedom);
    let deviations = t_two_sided(1.0 - 2.0 * FALSE_ALARM, f64::INFINITY);
    freedom * (1.0 - part + deviations * part.sqrt()).powi(3)
}

/// The skew that most track ends have, and the share of ends that have it.
fn skew_of(counts: &[TrackCount], rotation: &Rotation) -> (Option<Estimate>, f64) {
    let mut skews = Vec::new();
    for count in counts {
        skews.extend(count.skew_turns);
    }
    let tolerance = 2.0 * rotation.tolerance_turns();
    let mut most: Option<(f64, Vec<f64>)> = None;
    for skew in &skews {
        let mut near = Vec::new();
        for other in &skews {
            let apart: f64 = wrapped(other - skew);
            if apart.abs() <= tolerance {
                near.push(apart);
            }
        }
        if most.as_ref().is_none_or(|(_, most)| near.len() >= most.len()) {
            most = Some((*skew, near));
        }
    }
    let Some((skew, near)) = most else {
        return (None, 0.0);
    };
    let share = near.len() as f64 / skews.len() as f64;
    let count = near.len() as f64;
    let mean = near.iter().sum::<f64>() / count;
    let half = 2.0 * 2.0_f64.sqrt() * rotation.scatter_turns / count.sqrt();
    let value = (skew + mean).rem_euclid(1.0);
    let estimate = Estimate {
        value,
        low: value - half,
        high: value + half,
        confidence: CONFIDENCE,
        effective_count: count,
    };
    ((skews.len() >= ENDS_MIN && share > 0.5).then_some(estimate), share)
}

/// A zone without the counts at its ends that were met nowhere else in it: they may be the neighbour's.
fn sure(mut zone: &[(u64, u32)]) -> &[(u64, u32)] {
    let whole = zone;
    while zone.len() > 1 && is_alone(zone, zone[0].1) {
        zone = &zone[1..];
    }
    while zone.len() > 1 && is_alone(zone, zone[zone.len() - 1].1) {
        zone = &zone[..zone.len() - 1];
    }
    if zone.len() > 1 { zone } else { whole }
}

fn is_alone(zone: &[(u64, u32)], count: u32) -> bool {
    zone.iter().filter(|other| other.1 == count).count() == 1
}

/// The zones that describe the counts in the fewest words. Counts are sorted by place.
fn zones_of(counts: &[(u64, u32)]) -> Vec<ZoneSeen> {
    let size = counts.len();
    let border = (size as f64).ln().max(1.0);
    // The least cost of the first so many counts, and where the last zone of them begins.
    let mut best: Vec<(f64, usize)> = vec![(0.0, 0)];
    for end in 1..=size {
        let mut set: Vec<u32> = Vec::new();
        let mut cheapest = (f64::INFINITY, 0);
        for start in (0..end).rev() {
            let count = counts[start].1;
            if !set.contains(&count) {
                set.push(count);
                if set.len() > SET_MAX {
                    break;
                }
            }
            let first = f64::from(counts[start].1);
            // The first number of a zone may be any; the others follow from the zone before.
            let of_set = first.ln() + (set.len() - 1) as f64 * ROUNDINGS.ln();
            let of_probes = (end - start) as f64 * (set.len() as f64).ln();
            let cost = best[start].0 + border + of_set + of_probes;
            if cost < cheapest.0 {
                cheapest = (cost, start);
            }
        }
        best.push(cheapest);
    }
    let mut zones = Vec::new();
    let mut end = size;
    while end > 0 {
        let start = best[end].1;
        zones.splice(0..0, parts_of(&counts[start..end]).into_iter().map(zone_seen));
        end = start;
    }
    with_sure_ends(&zones, counts)
}

/// A zone cut where all counts before differ from all behind and both ends of their range fall, unless that is chance: with a few probes to
/// a zone several of them take the fewest words together, but a count that never comes again is no surface of one zone.
fn parts_of(zone: &[(u64, u32)]) -> Vec<&[(u64, u32)]> {
    for at in PART_MIN..(zone.len() + 1).saturating_sub(PART_MIN) {
        let (before, behind) = zone.split_at(at);
        let is_apart = before.iter().all(|one| behind.iter().all(|other| one.1 != other.1));
        let (least, most) = (extreme(before, u32::min), extreme(before, u32::max));
        if is_apart
            && is_no_chance(zone, at)
            && extreme(behind, u32::min) < least
            && extreme(behind, u32::max) < most
        {
            return [parts_of(before), parts_of(behind)].concat();
        }
    }
    vec![zone]
}

/// Whether the counts of one zone would hardly come in this order. Every order of them is as likely, so that of all ways to choose which of
/// them come first, one in (n over k) is this; as many cuts are tried as there are places for one, and each count but the extremes may be
/// on either side.
fn is_no_chance(zone: &[(u64, u32)], at: usize) -> bool {
    let mut different = numbers(zone);
    different.sort_unstable();
    different.dedup();
    let mut chance = (zone.len() as f64).ln() + different.len().saturating_sub(2) as f64 * 2.0_f64.ln();
    for taken in 0..at {
        chance += ((taken + 1) as f64).ln() - ((zone.len() - taken) as f64).ln();
    }
    chance <= FALSE_ALARM.ln()
}

/// Whether a count came again behind another one.
fn recurs(zone: &[(u64, u32)]) -> bool {
    let mut stripes: Vec<u32> =
        zone.chunk_by(|one, next| one.1 == next.1).map(|stripe| stripe[0].1).collect();
    let all = stripes.len();
    stripes.sort_unstable();
    stripes.dedup();
    stripes.len() < all
}

fn extreme(counts: &[(u64, u32)], of: fn(u32, u32) -> u32) -> u32 {
    counts.iter().map(|(_, count)| *count).reduce(of).unwrap_or(0)
}

fn numbers(counts: &[(u64, u32)]) -> Vec<u32> {
    counts.iter().map(|(_, count)| *count).collect()
}

fn zone_seen(counts: &[(u64, u32)]) -> ZoneSeen {
    let sure = sure(counts);
    let mut all = numbers(sure);
    all.sort_unstable();
    all.reverse();
    let (mut sectors, mut times) = (Vec::new(), Vec::new());
    for alike in all.chunk_by(|one, next| one == next) {
        sectors.push(alike[0]);
        times.push(alike.len());
    }
    ZoneSeen {
        times,
        first_byte: sure[0].0,
        last_byte: sure[sure.len() - 1].0,
        sectors,
        probes: counts.len(),
        recurs: recurs(sure),
    }
}

/// Zones from where to where they surely are: a count that the neighbour has too may be the neighbour's.
fn with_sure_ends(zones: &[ZoneSeen], counts: &[(u64, u32)]) -> Vec<ZoneSeen> {
    let mut sure = zones.to_vec();
    for (at, zone) in sure.iter_mut().enumerate() {
        let from = counts.partition_point(|(byte, _)| *byte < zone.first_byte);
        let to = counts.partition_point(|(byte, _)| *byte <= zone.last_byte);
        let inside = &counts[from..to];
        let before: &[u32] = if at > 0 { &zones[at - 1].sectors } else { &[] };
        if let Some((byte, _)) = inside.iter().find(|(_, count)| !before.contains(count)) {
            zone.first_byte = *byte;
        }
        let after: &[u32] = if at + 1 < zones.len() { &zones[at + 1].sectors } else { &[] };
        if let Some((byte, _)) = inside.iter().rfind(|(_, count)| !after.contains(count)) {
            zone.last_byte = *byte;
        }
        zone.last_byte = zone.last_byte.max(zone.first_byte);
    }
    sure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_where_the_set_of_counts_changes() {
        let sets: [[u32; 3]; 3] = [[500, 510, 490], [480, 490, 470], [460, 470, 450]];
        let counts: Vec<(u64, u32)> =
            (0..90).map(|index| (index as u64 * 1000, sets[index / 30][(index * 7) % 3])).collect();
        let zones = zones_of(&counts);
        assert_eq!(zones.iter().map(|zone| zone.first_byte).collect::<Vec<_>>(), [0, 30_000, 60_000]);
        assert_eq!(zones[1].sectors, [490, 480, 470]);
    }

    fn counts(of: &[u32]) -> Vec<(u64, u32)> {
        (0..).zip(of).map(|(index, count)| (index * 1000, *count)).collect()
    }

    /// Six surfaces of one zone, of which the first two probes met the first and third: as a disk of 36 zones was said to have 43.
    #[test]
    fn surfaces_that_come_late_are_no_zone() {
        let zone = counts(&[1473, 1469, 1471, 1468, 1460, 1462, 1468, 1471, 1460, 1462, 1471]);
        assert_eq!(zones_of(&zone).len(), 1);
        // Two zones with as many probes each, and none of the counts of the first in the second.
        let two =
            counts(&[1473, 1460, 1469, 1473, 1460, 1469, 1473, 1451, 1440, 1449, 1451, 1440, 1449, 1451]);
        assert_eq!(zones_of(&two).len(), 2);
    }

    /// A border is certain where the surfaces on both sides went by more than once, or where no surfaces differ by as much.
    #[test]
    fn zones_are_counted_where_they_are_certain() {
        let count = |of: &[u32]| {
            let zones: Vec<ZoneSeen> = of.chunks(4).map(|part| zone_seen(&counts(part))).collect();
            let layout = Layout { zones, skew_turns: None, same_skew_share: 1.0, exact: (0, 0) };
            let estimate = layout.zone_count();
            assert_eq!((estimate.low, estimate.high), (estimate.value, f64::INFINITY));
            estimate.value
        };
        assert_eq!(count(&[500, 490, 500, 490, 480, 470, 480, 470]), 2.0);
        assert_eq!(
            count(&[500, 500, 490, 490, 480, 480, 475, 475]),
            1.0,
            "stripes of one zone may follow each other so"
        );
        assert_eq!(count(&[500, 500, 490, 490, 470, 470, 460, 460]), 2.0, "surfaces differ by 6 % at most");
        assert_eq!(count(&[500, 500, 500, 500, 490, 490, 490, 490]), 2.0, "one surface");
    }
}
