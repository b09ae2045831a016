//! Where tracks end, and so how many sectors a track holds, where completions are seen late by some microseconds or more.
//!
//! The angles of sectors on one track tell their number no closer than completion times scatter: at 100 µs within some percent. But
//! the angle jumps by a skew where a track ends, by several times that scatter. So both ends of a track are looked for by halving, each
//! with several reads: their distance is a whole number of sectors. Late reads are a share of all that may be anywhere (a mixture of a
//! Laplace distribution and an even one).

use super::track::{
    FINEST_TURNS, Track, TrackBorder, TrackCount, counts_of, long_probes, probe_count, scatters,
};
use super::{Reading, Rotation};
use model::finding::NoGeometry;
use std::ops::Range;

/// A host that is taken its processor away is late by anything: 1 % of 1 ms and more, with room for answers of a cache.
const LATE_SHARE: f64 = 0.03;
/// By how much the logarithm of the likelihood falls off the ends of an interval: a late read that speaks for the wrong side counts up to 7,
/// and two of them at one end are one in ten thousand; hundreds of ends are looked for.
const FALL: f64 = 12.0;
/// Tracks may be this much shorter and longer than the reads of a place were planned for: by probes that scatter likewise.
const LENGTHS: (f64, f64) = (0.7, 1.4);
/// The tracks that the reads of a place were planned to cover.
const TRACKS: f64 = 2.72;
/// Tracks side by side may lie on surfaces that differ by so much: by up to 6 % on disks (Wong 2019), 2 % as a rule.
const UNLIKE: f64 = 0.04;
/// Where tracks are taken to be alike, reads next to each other on one that is not are that far off: six are planned for each.
const UNLIKE_TURNS: f64 = UNLIKE / 6.0;
/// With fewer known tracks those between whose ends is any doubt are kept: they tell how densely cylinders lie.
const KNOWN_MIN: usize = 12;
/// How often tracks and ends are found anew, each by the other, and by how much closer each time, down to what completions scatter by.
const PASSES: i32 = 4;
const CLOSER: f64 = 3.0;
/// What is further off a track than so many scatters does not lie on it.
const OFF_SCATTERS: f64 = 5.0;

/// A read of a place: its sector, counted down from the highest one, and its angle in turns.
#[derive(Clone, Copy)]
struct Spot {
    below: f64,
    angle: f64,
}

/// The ends of the tracks of a place. Sectors count downwards from the highest that was read.
#[derive(Clone, Debug)]
pub struct TrackEnds {
    pub(super) top: u64,
    sector_bytes: u64,
    pub(super) ends: [End; 2],
    pub(super) tracks: [Track; 3],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    /// The first sector down that may lie on the next track, and the first that surely does.
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) likeliest: f64,
    /// A third of the likelihood lies above the one and below the other: what is read next (Horstein 1963, on bisection by uncertain answers).
    thirds: [f64; 2],
}

/// Sectors one of which is the first of the next track, each with the same likelihood, as a logarithm.
#[derive(Clone, Copy)]
struct Stretch {
    from: f64,
    to: f64,
    height: f64,
}

impl Stretch {
    fn weight(&self, top: f64) -> f64 {
        (self.to - self.from + 1.0) * (self.height - top).exp()
    }
}

impl End {
    fn around(below: f64, half: f64) -> End {
        End { first: below - half, last: below + half, likeliest: below, thirds: [below; 2] }
    }

    fn of(mut stretches: Vec<Stretch>) -> End {
        stretches.retain(|stretch| stretch.from <= stretch.to);
        let (mut top, mut likeliest) = (f64::NEG_INFINITY, 0.0);
        for stretch in &stretches {
            if stretch.height > top {
                (top, likeliest) = (stretch.height, (stretch.from + stretch.to) / 2.0);
            }
        }
        let (one, two) = (at_share(&stretches, top, 1.0 / 3.0), at_share(&stretches, top, 2.0 / 3.0));
        // A read of a sector tells whether the end is above it. Where one sector is likeliest by far, it and the one above confirm it.
        let thirds = if one < two { [one, two - 1.0] } else { [(one - 1.0).max(0.0), one] };
        stretches.retain(|stretch| stretch.height >= top - FALL);
        match (stretches.first(), stretches.last()) {
            (Some(first), Some(last)) => End { first: first.from, last: last.to, likeliest, thirds },
            _ => End { first: 0.0, last: 0.0, likeliest, thirds },
        }
    }
}

/// The sector above which that share of the likelihood lies.
fn at_share(stretches: &[Stretch], top: f64, share: f64) -> f64 {
    let mut all = 0.0;
    for stretch in stretches {
        all += stretch.weight(top);
    }
    let mut left = share * all;
    for stretch in stretches {
        let weight = stretch.weight(top);
        if left <= weight {
            return stretch
                .to
                .min(stretch.from + (left / weight * (stretch.to - stretch.from + 1.0)).floor());
        }
        left -= weight;
    }
    stretches.last().map_or(0.0, |stretch| stretch.to)
}

pub fn track_ends(readings: &[Reading], rotation: &Rotation, sector_bytes: u64) -> Vec<TrackEnds> {
    let mut ends = Vec::new();
    for probe in long_probes(readings, rotation) {
        ends.extend(TrackEnds::of(&probe, readings, rotation, sector_bytes));
    }
    ends
}

/// The rotation that the reads of a run show. Where completions scatter, only reads before the first place that was read closely count: near ends
/// of tracks sectors are read again so soon that a cache may answer.
pub(super) fn rotation_of(readings: &[Reading]) -> Result<Rotation, NoGeometry> {
    let rotation = Rotation::of(readings)?;
    let first = long_probes(readings, &rotation)
        .first()
        .and_then(|probe| readings.iter().position(|reading| probe.contains(reading)));
    match first {
        Some(first) if rotation.scatter_turns > FINEST_TURNS => Rotation::of(&readings[..first]),
        _ => Ok(rotation),
    }
}

/// The counts of a run, and how many probes they come from: by the angles on one track, or by its ends where those scatter too much.
pub(super) fn tracks_of(
    readings: &[Reading],
    rotation: &Rotation,
    sector_bytes: u64,
) -> (Vec<TrackCount>, usize) {
    let counts = counts_of(readings, rotation, sector_bytes);
    let all = probe_count(readings, rotation);
    if !scatters(&counts, rotation) || long_probes(readings, rotation).is_empty() {
        return (counts, all);
    }
    let mut by_ends: Vec<TrackCount> =
        track_ends(readings, rotation, sector_bytes).iter().map(TrackEnds::count).collect();
    let known = exact(&by_ends);
    // Near the limit the experiment, which knew fewer reads, may have taken the other way.
    if rotation.scatter_turns <= FINEST_TURNS && known < exact(&counts) {
        return (counts, all);
    }
    // Places that the time did not suffice for say nothing, where others do.
    if known >= KNOWN_MIN {
        by_ends.retain(|count| count.exact().is_some());
    }
    let found = by_ends.len();
    (by_ends, found)
}

fn exact(counts: &[TrackCount]) -> usize {
    counts.iter().filter(|count| count.exact().is_some()).count()
}

impl TrackEnds {
    /// The ends by a probe of a place, and by all other reads of it.
    pub(super) fn of(
        probe: &[Reading],
        readings: &[Reading],
        rotation: &Rotation,
        sector_bytes: u64,
    ) -> Option<TrackEnds> {
        let top = probe.first()?.offset;
        let reach = (top - probe.last()?.offset) as f64 / sector_bytes as f64;
        let scatter = rotation.scatter_turns.max(FINEST_TURNS);
        let spots_of = |readings: &[Reading]| {
            let mut spots = Vec::new();
            for reading in readings {
                let below = (top as f64 - reading.offset as f64) / sector_bytes as f64;
                if (0.0..=reach).contains(&below) {
                    spots.push(Spot { below, angle: rotation.phase(reading.completed_ns) });
                }
            }
            spots.sort_by(|one, other| one.below.total_cmp(&other.below));
            spots
        };
        let guess = Track { sectors: reach / TRACKS, level: 0.0 };
        let mut ends = TrackEnds { top, sector_bytes, ends: [End::default(); 2], tracks: [guess; 3] };
        ends.search(&spots_of(probe), guess.sectors, scatter.max(UNLIKE_TURNS));
        let spots = spots_of(readings);
        for pass in 0..PASSES {
            ends.refine(&spots, scatter.max(UNLIKE_TURNS / CLOSER.powi(pass)));
        }
        let is_apart = [0, 1].iter().all(|end| ends.skew(*end).abs() > 3.0 * scatter);
        (is_apart && ends.ends[0].last < ends.ends[1].first).then_some(ends)
    }

    fn skew(&self, end: usize) -> f64 {
        self.tracks[end].skew_to(&self.tracks[end + 1], self.ends[end].likeliest)
    }

    /// Tries lengths of a track and places of its ends, for those that explain the reads of a probe best.
    fn search(&mut self, spots: &[Spot], guess: f64, scatter: f64) {
        let mut best = f64::NEG_INFINITY;
        let mut sectors = LENGTHS.0 * guess;
        while sectors < LENGTHS.1 * guess {
            for two in spots.windows(2) {
                let (end, half) = ((two[0].below + two[1].below) / 2.0, (two[1].below - two[0].below) / 2.0);
                let next = end + sectors;
                if end > sectors || next > spots[spots.len() - 1].below {
                    break;
                }
                let (mut height, mut tracks) = (0.0, self.tracks);
                for (track, reach) in tracks.iter_mut().zip([0.0..end, end..next, next..next + sectors]) {
                    let (level, likelihood) = level_of(spots, reach, sectors, scatter);
                    *track = Track { sectors, level };
                    height += likelihood;
                }
                if height > best {
                    best = height;
                    (self.tracks, self.ends) = (tracks, [end, next].map(|end| End::around(end, half)));
                }
            }
            sectors *= 1.0 + scatter;
        }
    }

    /// Finds the tracks anew by what lies between the ends, and the ends by the tracks.
    fn refine(&mut self, spots: &[Spot], scatter: f64) {
        let [first, second] = self.ends.map(|end| end.likeliest);
        let sectors = self.tracks[1].sectors;
        let reaches = [0.0..first, first..second, second..second + sectors * (1.0 - UNLIKE)];
        let least = self.ends[1].first - self.ends[0].last;
        let most = self.ends[1].last - self.ends[0].first;
        for (track, reach) in self.tracks.iter_mut().zip(reaches) {
            track.level = level_of(spots, reach.clone(), track.sectors, scatter).0;
            *track = fitted(*track, spots, reach, scatter);
        }
        self.tracks[1].sectors = self.tracks[1].sectors.clamp(least, most.max(least));
        let half = sectors / 2.0;
        let near = [(first - half).max(0.0)..first + half, second - half..second + half];
        for (index, near) in near.into_iter().enumerate() {
            self.ends[index] = self.end(spots, near, index, scatter);
        }
    }

    fn end(&self, spots: &[Spot], near: Range<f64>, index: usize, scatter: f64) -> End {
        // The end lies behind one read and not behind the next one: which reads these are, and how likely that is.
        let mut stretches = vec![Stretch { from: near.start.ceil(), to: near.end.floor(), height: 0.0 }];
        let mut height = 0.0;
        for spot in spots {
            if !(near.contains(&spot.below)) {
                continue;
            }
            let above = likelihood(spot, self.tracks[index], scatter);
            let below = likelihood(spot, self.tracks[index + 1], scatter);
            height += (above / below).ln();
            if let Some(last) = stretches.last_mut() {
                last.to = spot.below;
            }
            stretches.push(Stretch { from: spot.below + 1.0, to: near.end.floor(), height });
        }
        End::of(stretches)
    }

    /// Pairs of reads that tell the ends closer, the higher one first; none of an end that is known.
    pub fn closer_places(&self) -> Vec<[u64; 2]> {
        let mut pairs = Vec::new();
        for end in &self.ends {
            if end.first != end.last {
                pairs.push(end.thirds.map(|below| self.offset(below)));
            }
        }
        pairs
    }

    fn offset(&self, below: f64) -> u64 {
        self.top.saturating_sub(below as u64 * self.sector_bytes)
    }

    fn border(&self, end: usize) -> TrackBorder {
        TrackBorder {
            skew_turns: self.skew(end).rem_euclid(1.0),
            offset: self.offset(self.ends[end].likeliest),
        }
    }

    pub fn count(&self) -> TrackCount {
        let [first, second] = self.ends;
        TrackCount {
            offset: self.offset(second.first - 1.0),
            last_offset: self.offset(first.last),
            sectors: self.tracks[1].sectors,
            range: (second.first - first.last, second.last - first.first),
            borders: vec![self.border(0), self.border(1)],
        }
    }
}

/// Likelihoods that are multiplied before a logarithm is taken: none is below a share, and 32 of a million are still a number.
const FACTORS: usize = 32;

/// How likely an angle is on a track of that level, against an angle anywhere.
fn likelihood(spot: &Spot, track: Track, scatter: f64) -> f64 {
    let off = track.off(spot.below, spot.angle).abs();
    (1.0 - LATE_SHARE) / (2.0 * scatter) * (-off / scatter).exp() + LATE_SHARE
}

/// The level of a track that explains its reads best, and the logarithm of its likelihood.
fn level_of(spots: &[Spot], track: Range<f64>, sectors: f64, scatter: f64) -> (f64, f64) {
    let mut on_track = spots.to_vec();
    on_track.retain(|spot| track.contains(&spot.below));
    let mut best = (0.0, 0.0);
    for candidate in &on_track {
        let level = candidate.angle + candidate.below / sectors;
        let mut height = 0.0;
        for spots in on_track.chunks(FACTORS) {
            let likelihoods = spots.iter().map(|spot| likelihood(spot, Track { sectors, level }, scatter));
            height += likelihoods.product::<f64>().ln();
        }
        if height > best.1 {
            best = (level, height);
        }
    }
    best
}

/// The track through the reads on it by least squares. It may hold more or fewer sectors than assumed, which weighs as one more read.
fn fitted(track: Track, spots: &[Spot], reach: Range<f64>, scatter: f64) -> Track {
    let (mut on_track, mut at_mean, mut off_mean) = (Vec::new(), 0.0, 0.0);
    for spot in spots {
        let off = track.off(spot.below, spot.angle);
        if reach.contains(&spot.below) && off.abs() <= OFF_SCATTERS * scatter {
            on_track.push((spot.below / track.sectors, off));
            at_mean += spot.below / track.sectors;
            off_mean += off;
        }
    }
    if on_track.is_empty() {
        return track;
    }
    at_mean /= on_track.len() as f64;
    off_mean /= on_track.len() as f64;
    let (mut product, mut square) = (0.0, (scatter / UNLIKE).powi(2));
    for (at, off) in on_track {
        product += (at - at_mean) * (off - off_mean);
        square += (at - at_mean).powi(2);
    }
    let slope = product / square;
    Track { sectors: track.sectors / (1.0 - slope), level: track.level + off_mean - slope * at_mean }
}
