//! Zones out of the counts of single tracks.
//!
//! In a zone each surface has its own number of sectors on a track, and they follow each other in stripes; so a zone shows as a stretch in which
//! a few counts come again and again. Where zones lie is decided by what describes all counts in the fewest words (minimum description length,
//! Rissanen 1978): a zone costs its border and its set of counts, and each probe costs which of these it met.

use super::{Rotation, TrackCount, robust_deviation, wrapped};
use crate::stats::student::chi_square_limit;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;
use statrs::distribution::{Binomial, DiscreteCDF};

#[derive(Clone, Debug, PartialEq)]
pub struct ZoneSeen {
    pub first_byte: u64,
    pub last_byte: u64,
    /// Sectors on its tracks: each number once, the largest first.
    pub sectors: Vec<u32>,
    pub times: Vec<usize>,
    pub probes: usize,
    /// Whether a count came again behind another one: then all of its surfaces went by more than once, and their order explains nothing.
    pub recurs: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub zones: Vec<ZoneSeen>,
    /// What passes from the end of a track to the start of the next, in turns less whole ones.
    pub skew_turns: Option<f64>,
    /// The share of track ends at which it is that.
    pub same_skew_share: f64,
    /// Whether tracks that follow each other lie on the same surface, where skews tell.
    pub keeps_surface: Option<bool>,
    pub surfaces_min: usize,
    pub exact: (usize, usize),
}

/// A surface has at least a hundred tracks in a row on disks that keep to it (Wong 2019: 115 to 315), so that one end of a
/// track in a hundred is another; on disks that do not, each cylinder has a larger skew at its end, and a disk of 12 surfaces
/// shows it at one end in twelve. Half way between them.
const SAME_SKEW_MIN: f64 = 0.95;
const CYLINDER_ENDS_MIN: f64 = 1.0 / 12.0;
/// How much more an angle jumps at the end of a cylinder, as a share of the skew: 0.2 (Cheetah 9LP) to 0.8 (Atlas 10K) in DiskSim 4.0.
const CYLINDER_SKEW_MORE: f64 = 0.2;
/// Skews are no further off than that, where only their scatter is known: one in 16,000 normal ones is, and one in 60 of a Laplace distribution.
const SKEW_DEVIATIONS: f64 = 4.0;
/// Track ends without which the skew is not told.
const ENDS_MIN: usize = 8;
/// Different counts in a zone at most: 20 surfaces are the most that are made.
const SET_MAX: usize = 24;
/// How many numbers the count of a further surface may be: surfaces differ in every zone by the same shares, but for rounding.
const ROUNDINGS: f64 = 3.0;
/// Fewer counts at the end of a zone are told apart from it by `with_sure_ends`.
const PART_MIN: usize = 2;
/// The chance that the counts of one zone are taken for two, and that more counts are wrong than is allowed for.
const FALSE_ALARM: f64 = 1e-3;
/// What lies outside of 3.5 deviations, which is what counts are told to.
const WRONG_SHARE: f64 = 4.65e-4;
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
        let skew = Skew::of(counts, 2.0 * rotation.tolerance_turns());
        Some(Layout {
            zones: zones_of(&exact),
            skew_turns: skew.turns,
            same_skew_share: skew.share,
            keeps_surface: skew.keeps_surface(),
            surfaces_min: surfaces_needed(&numbers(&exact)),
            exact: (exact.len(), counts.len()),
        })
    }

    /// Different counts in the middle one of all zones. Where zones have few probes, what is taken for one may be several, with the counts of all.
    fn counts_of_a_zone(&self) -> usize {
        let mut sizes = Vec::new();
        for zone in &self.zones {
            sizes.push(zone.sectors.len());
        }
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    }

    /// Surfaces, where each has its own count and an even share of the tracks of each zone: a count that comes twice as often belongs to two.
    /// Of surfaces that differ by less than a sector those with the same count are others in the next zone. Counts that only fall are those of
    /// zones too narrow to tell apart.
    pub fn surfaces(&self) -> Option<usize> {
        let counts = self.counts_of_a_zone();
        let is_whole = |zone: &&ZoneSeen| zone.recurs && zone.sectors.len() == counts;
        let zones: Vec<&ZoneSeen> = self.zones.iter().filter(is_whole).collect();
        let (mut all, mut off) = (0, 0.0);
        for zone in &zones {
            let probes: usize = zone.times.iter().sum();
            let sectors_of_all: u32 = zone.sectors.iter().sum();
            // Surfaces with more sectors on a track have a larger share of the bytes, and so of the probes.
            for (times, sectors) in zone.times.iter().zip(&zone.sectors) {
                let share = probes as f64 * f64::from(*sectors) / f64::from(sectors_of_all);
                off += (*times as f64 - share).powi(2) / share;
            }
            all += probes;
        }
        let is_told = counts > 1
            && (self.surfaces_min..=SET_MAX).contains(&counts)
            && 2 * zones.len() >= self.zones.len()
            && all >= counts * PROBES_PER_SURFACE
            && off <= chi_square_limit(zones.len() * (counts - 1));
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
        bounded(f64::from(count), f64::from(count), f64::INFINITY, probes as f64)
    }
}

impl ZoneSeen {
    fn span(&self) -> Option<(f64, f64)> {
        Some((f64::from(*self.sectors.last()?), f64::from(*self.sectors.first()?)))
    }

    fn is_surely_another(&self, before: &ZoneSeen) -> bool {
        let (Some((least, most)), Some((least_before, most_before))) = (self.span(), before.span()) else {
            return false;
        };
        // A drive that goes back and forth over its surfaces may come to two of them again before it came to all.
        let falls = least < least_before && most < most_before;
        most_before > UNLIKE_MAX * least || falls && self.recurs && before.recurs
    }
}

/// So many surfaces explain the counts at least, which are sorted by place. No surface holds more on a track the further in it lies, so counts
/// that rise with the address are of as many surfaces. More such rises are asked for, side by side, than there may be wrong counts.
fn surfaces_needed(counts: &[u32]) -> usize {
    let rises_min = 1 + wrong_counts_max(counts.len());
    let mut surfaces = 1;
    while rises(counts, surfaces + 1) >= rises_min {
        surfaces += 1;
    }
    surfaces
}

/// How many stretches side by side hold so many counts each of which is larger than the one before.
fn rises(counts: &[u32], length: usize) -> usize {
    let mut rises = 0;
    // The least count at which a rise of one, two and more ends: all that matters for what follows (Schensted 1961).
    let mut ends: Vec<u32> = Vec::new();
    for &count in counts {
        let at = ends.partition_point(|end| *end < count);
        match ends.get_mut(at) {
            Some(end) => *end = count,
            None => ends.push(count),
        }
        if ends.len() == length {
            rises += 1;
            ends.clear();
        }
    }
    rises
}

/// More of so many counts are wrong only as often as is allowed.
fn wrong_counts_max(counts: usize) -> usize {
    let Ok(wrong) = Binomial::new(WRONG_SHARE, counts as u64) else { return counts };
    (0..counts).find(|&most| wrong.sf(most as u64) <= FALSE_ALARM).unwrap_or(counts)
}

/// What the angle jumps by at most track ends.
struct Skew {
    turns: Option<f64>,
    ends: usize,
    others: usize,
    share: f64,
    /// Whether the skew at the end of a cylinder would show as another one.
    is_sharp: bool,
}

impl Skew {
    /// By the skews at the ends of tracks, of which single ones may be further apart by `coarse`.
    fn of(counts: &[TrackCount], coarse: f64) -> Skew {
        let mut skews = Vec::new();
        for count in counts {
            for border in &count.borders {
                skews.push(border.skew_turns);
            }
        }
        let Some(value) = most_common(&skews, coarse) else {
            return Skew { turns: None, ends: 0, others: 0, share: 0.0, is_sharp: false };
        };
        let mut offs: Vec<f64> = skews.iter().map(|skew| wrapped(skew - value)).collect();
        let sharp = CYLINDER_SKEW_MORE / 2.0 * value;
        // Skews of which each comes of many reads are known closer than a single read.
        let tolerance = match coarse <= sharp {
            true => coarse,
            false => coarse.min(SKEW_DEVIATIONS * robust_deviation(&mut offs.clone())),
        };
        offs.retain(|off| off.abs() <= tolerance);
        let (same, ends) = (offs.len(), skews.len());
        let share = same as f64 / ends as f64;
        let turns = (value + offs.iter().sum::<f64>() / same.max(1) as f64).rem_euclid(1.0);
        let is_sharp = tolerance <= sharp;
        Skew {
            turns: (is_sharp && ends >= ENDS_MIN && share > 0.5).then_some(turns),
            ends,
            others: ends - same,
            share,
            is_sharp,
        }
    }

    /// Yes where so few ends with another skew are too few for the ends of cylinders.
    fn keeps_surface(&self) -> Option<bool> {
        if self.ends == 0 || !self.is_sharp {
            return None;
        }
        if self.share < SAME_SKEW_MIN {
            return Some(false);
        }
        let of_cylinders = Binomial::new(CYLINDER_ENDS_MIN, self.ends as u64).ok()?;
        (of_cylinders.cdf(self.others as u64) <= 1.0 - CONFIDENCE).then_some(true)
    }
}

/// The middle of those that are close to the one with the most others close to it, the last of several.
pub(super) fn most_common(skews: &[f64], tolerance: f64) -> Option<f64> {
    let (mut most, mut middle) = (0, None);
    for skew in skews {
        let mut near: Vec<f64> = skews.iter().map(|other| wrapped(other - skew)).collect();
        near.retain(|off| off.abs() <= tolerance);
        if near.len() >= most {
            near.sort_unstable_by(f64::total_cmp);
            (most, middle) = (near.len(), Some(skew + near[near.len() / 2]));
        }
    }
    middle
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

/// Whether the counts of one zone would hardly come in this order: of all ways to choose which of them come first, one in (n over k) is this; as
/// many cuts are tried as there are places for one, and each count but the extremes may be on either side.
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
    use crate::geometry::TrackBorder;

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

    /// A zone of a disk of 13 equal surfaces that was two zones, too narrow to tell apart: "the drive has 2 heads".
    #[test]
    fn counts_that_only_fall_are_no_surfaces() {
        let surfaces = |of: &[u32]| {
            let (zones, exact) = (vec![zone_seen(&counts(of))], (of.len(), of.len()));
            let (skew_turns, keeps_surface) = (None, None);
            Layout { zones, skew_turns, same_skew_share: 1.0, keeps_surface, surfaces_min: 1, exact }
                .surfaces()
        };
        assert_eq!(surfaces(&[[392; 20], [389; 20]].concat()), None);
        assert_eq!(surfaces(&[392, 389].repeat(20)), Some(2));
    }

    /// Three surfaces that hold 1.000, 0.984 and 0.976 of the most, and zones of a hundredth: a stretch of three zones with eight probes was said
    /// to show that the drive has at least five heads.
    #[test]
    fn counts_of_several_zones_are_no_surfaces() {
        let few = [1400, 1367, 1400, 1364, 1378, 1386, 1353, 1372, 1340, 1351];
        assert_eq!(few.iter().collect::<std::collections::BTreeSet<_>>().len(), 9);
        assert_eq!((rises(&few, 2), rises(&few, 3), rises(&few, 4)), (4, 1, 0));
        assert_eq!(surfaces_needed(&few), 2);
        let many = [1367, 1378, 1400].repeat(4);
        assert_eq!(surfaces_needed(&many), 3);
        // A wrong count among them is no fourth surface, nor are counts that fall one.
        assert_eq!(surfaces_needed(&[&many[..], &[1367, 1378, 1379, 1400]].concat()), 3);
        assert_eq!(surfaces_needed(&[1400, 1386, 1372, 1358]), 1);
        assert_eq!([10, 100, 600].map(wrong_counts_max), [1, 2, 3]);
    }

    /// The skews of two of three tracks and of the third, at the end of a cylinder, seen as closely as that.
    #[test]
    fn surfaces_are_kept_where_skews_would_tell() {
        let keeps = |cylinder: f64, scatter: f64, ends: u32| {
            let mut prng = model::prng::Prng::new(7, 0);
            let mut counts = Vec::new();
            for end in 0..ends {
                let skew = if end % 3 == 2 { cylinder } else { 0.0726 } + scatter * prng.normal();
                let (sectors, range) = (1400.0, (1400.0, 1400.0));
                let borders = vec![TrackBorder { skew_turns: skew, offset: 0 }];
                counts.push(TrackCount { offset: 0, last_offset: 0, sectors, range, borders });
            }
            Skew::of(&counts, 14.0 * scatter).keeps_surface()
        };
        assert_eq!(keeps(0.1081, 1e-5, 48), Some(false));
        assert_eq!(keeps(0.0726, 1e-5, 48), Some(true));
        assert_eq!(keeps(0.0726, 1e-5, 20), None, "so few ends may miss the cylinders of 12 surfaces");
        assert_eq!(keeps(0.1081, 0.005, 48), None);
        assert_eq!(keeps(0.0726, 0.001, 48), Some(true));
    }

    /// A border is certain where the surfaces on both sides went by more than once, or where no surfaces differ by as much.
    #[test]
    fn zones_are_counted_where_they_are_certain() {
        let count = |of: &[u32]| {
            let zones: Vec<ZoneSeen> = of.chunks(4).map(|part| zone_seen(&counts(part))).collect();
            let layout = Layout {
                zones,
                skew_turns: None,
                same_skew_share: 1.0,
                keeps_surface: None,
                surfaces_min: 1,
                exact: (0, 0),
            };
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
        assert_eq!(
            count(&[434, 428, 434, 428, 438, 420, 438, 420]),
            1.0,
            "of one zone, whose arm turned back"
        );
        assert_eq!(count(&[500, 500, 490, 490, 470, 470, 460, 460]), 2.0, "surfaces differ by 6 % at most");
        assert_eq!(count(&[500, 500, 500, 500, 490, 490, 490, 490]), 2.0, "one surface");
    }
}
