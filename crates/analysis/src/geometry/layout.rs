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

/// Counts of one zone.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneSeen {
    /// The first byte that was seen in it.
    pub first_byte: u64,
    /// The last.
    pub last_byte: u64,
    /// Sectors on its tracks: each number once, the largest first.
    pub sectors: Vec<u32>,
    /// How often each of these was met.
    pub times: Vec<usize>,
    /// How many tracks were counted.
    pub probes: usize,
}

/// Zones, skew and surfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// From the start of the range on.
    pub zones: Vec<ZoneSeen>,
    /// What passes from the end of a track to the start of the next, in turns less whole ones.
    pub skew_turns: Option<Estimate>,
    /// The share of track ends at which it is that.
    pub same_skew_share: f64,
    /// Probes whose count is a single number, and all.
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
/// The chance that surfaces are said not to share the tracks evenly though they do.
const FALSE_ALARM: f64 = 1e-3;
/// Tracks to a surface without which surfaces are not counted.
const PROBES_PER_SURFACE: usize = 20;

impl Layout {
    /// What counts show; none where no probe has a single number.
    pub fn of(counts: &[TrackCount], rotation: &Rotation) -> Option<Layout> {
        let mut exact: Vec<(u64, u32)> =
            counts.iter().filter_map(|count| Some((count.offset, count.exact()?))).collect();
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
        let mut sizes: Vec<usize> = self.zones.iter().map(|zone| zone.sectors.len()).collect();
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
            often
                .iter_mut()
                .zip(&zone.sectors)
                .for_each(|(times, sectors)| *times *= mean / f64::from(*sectors));
        }
        if 2 * zones.len() < self.zones.len() {
            return None;
        }
        (counts..=SET_MAX)
            .find(|surfaces| {
                let share = all / *surfaces as f64;
                let heads: Vec<f64> = often.iter().map(|times| (times / share).round().max(1.0)).collect();
                let off: f64 = often
                    .iter()
                    .zip(&heads)
                    .map(|(times, heads)| (times - heads * share).powi(2) / (heads * share))
                    .sum();
                heads.iter().sum::<f64>() == *surfaces as f64
                    && all >= (surfaces * PROBES_PER_SURFACE) as f64
                    && (counts == 1 || off <= chi_square_limit(counts - 1))
            })
            .filter(|surfaces| *surfaces == counts && counts > 1)
    }

    /// Zones, with the number that was missed by chance beside those that were met: where some were met by a single probe and
    /// others by two, so many by none (Chao 1984).
    pub fn zone_count(&self) -> Estimate {
        let met = |times: usize| self.zones.iter().filter(|zone| zone.probes == times).count() as f64;
        let missed = met(1) * (met(1) - 1.0).max(0.0) / (2.0 * (met(2) + 1.0));
        let value = self.zones.len() as f64;
        Estimate {
            value,
            low: value - met(1),
            high: value + missed.ceil() + met(1),
            confidence: CONFIDENCE,
            effective_count: self.zones.iter().map(|zone| zone.probes as f64).sum(),
        }
    }
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
    let skews: Vec<f64> = counts.iter().filter_map(|count| count.skew_turns).collect();
    let tolerance = 2.0 * rotation.tolerance_turns();
    let alike = |skew: f64| -> Vec<f64> {
        skews.iter().map(|other| wrapped(other - skew)).filter(|apart| apart.abs() <= tolerance).collect()
    };
    let Some((skew, near)) =
        skews.iter().map(|skew| (*skew, alike(*skew))).max_by_key(|(_, near)| near.len())
    else {
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
    let is_alone =
        |zone: &[(u64, u32)], at: usize| zone.iter().filter(|other| other.1 == zone[at].1).count() == 1;
    let whole = zone;
    while zone.len() > 1 && is_alone(zone, 0) {
        zone = &zone[1..];
    }
    while zone.len() > 1 && is_alone(zone, zone.len() - 1) {
        zone = &zone[..zone.len() - 1];
    }
    if zone.len() > 1 { zone } else { whole }
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
        zones.push(zone_seen(&counts[start..end]));
        end = start;
    }
    zones.reverse();
    with_sure_ends(&zones, counts)
}

fn zone_seen(counts: &[(u64, u32)]) -> ZoneSeen {
    let sure = sure(counts);
    let mut all: Vec<u32> = sure.iter().map(|(_, count)| *count).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    let mut sectors = all.clone();
    sectors.dedup();
    let times = |number: &u32| all.iter().filter(|other| *other == number).count();
    ZoneSeen {
        times: sectors.iter().map(times).collect(),
        first_byte: sure[0].0,
        last_byte: sure[sure.len() - 1].0,
        sectors,
        probes: counts.len(),
    }
}

/// Zones from where to where they surely are: a count that the neighbour has too may be the neighbour's.
fn with_sure_ends(zones: &[ZoneSeen], counts: &[(u64, u32)]) -> Vec<ZoneSeen> {
    let sectors = |index: Option<usize>| -> &[u32] {
        index.and_then(|index| zones.get(index)).map_or(&[], |zone| &zone.sectors)
    };
    let cut = |(at, zone): (usize, &ZoneSeen)| {
        let (before, after) = (sectors(at.checked_sub(1)), sectors(Some(at + 1)));
        let inside = || counts.iter().filter(|(byte, _)| (zone.first_byte..=zone.last_byte).contains(byte));
        let first =
            inside().find(|(_, count)| !before.contains(count)).map_or(zone.first_byte, |(byte, _)| *byte);
        let last =
            inside().rfind(|(_, count)| !after.contains(count)).map_or(zone.last_byte, |(byte, _)| *byte);
        ZoneSeen { first_byte: first, last_byte: last.max(first), ..zone.clone() }
    };
    zones.iter().enumerate().map(cut).collect()
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
}
