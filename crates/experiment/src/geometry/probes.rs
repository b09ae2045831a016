//! Where probes of tracks read: a few sectors close together, from the highest down, so that read-ahead answers none.

use analysis::geometry::{NearMap, TrackCount};
use model::prng::Prng;
use model::range::ByteRange;

/// Sectors below the first where nothing is known: near enough for tracks of some dozen sectors, far enough for thousands; whole sectors of 4096
/// bytes, of which those of 512 may be parts.
const UNKNOWN: [u64; 7] = [0, 8, 24, 64, 152, 352, 800];
/// The same of sectors of 4096 bytes: disks have them since tracks hold some 150 to 700.
const UNKNOWN_LARGE: [u64; 7] = [0, 5, 20, 40, 80, 160, 320];
/// Where those told no track: of the shortest, of 24 sectors, enough pairs lie between two ends.
pub const OF_SHORT_TRACKS: [u64; 8] = [0, 2, 5, 9, 14, 22, 35, 60];
pub const LARGE_SECTOR: u64 = 4096;
pub const SMALL_IN_LARGE: u32 = 8;
/// With more sectors to a track these are of 512 bytes, or claim to be and are parts of larger ones: steps of whole ones do for both.
const LARGE_SECTORS_MAX: f64 = 1000.0;
/// The same in parts of a track where it is known about how long one is: at most one end of a track lies between them.
const KNOWN: [f64; 5] = [0.0, 0.025, 0.125, 0.33, 0.66];
/// The same where a probe goes up, by steps of a tenth of a track and more: no disk is quick enough to hold the next of these. Of tracks of 100
/// to 250 sectors, of up to 700, 2000 and 4500.
const UNKNOWN_UPWARDS: [[u64; 6]; LENGTHS_UPWARDS as usize] = [
    [0, 16, 32, 48, 72, 104],
    [0, 72, 152, 240, 344, 448],
    [0, 200, 424, 664, 920, 1200],
    [0, 448, 920, 1424, 1952, 2504],
];
pub const LENGTHS_UPWARDS: u64 = 4;
const KNOWN_UPWARDS: [f64; 6] = [0.0, 0.12, 0.26, 0.42, 0.6, 0.85];
/// By which parts of a turn sectors of a pair pass one after the other: on the same track up to what a command may cost, and on
/// the next one with a seek of up to half a turn and more. Then closer around where they were just caught.
pub const SAME_TRACK_TURNS: (f64, f64) = (0.02, 0.4);
pub const NEXT_TRACK_TURNS: (f64, f64) = (0.03, 0.85);
pub const PAIRS_FIRST: u32 = 8;
const PAIRS: u32 = 12;
const CLOSE_TURNS: f64 = 0.04;
/// Reads on a track of which every sector is to be known, and how many tracks.
const CLOSE_STEP: f64 = 0.17;
const CLOSE_READS: u32 = 17;

/// One probe at `offset`, or a little above the start of the range.
pub fn reads_at(range: ByteRange, block: u64, offset: u64, below: &[u64]) -> Vec<u64> {
    let deepest = below.iter().max().unwrap_or(&0) * block;
    let last = range.end().get() - block;
    let top = offset.clamp((range.first().get() + deepest).min(last), last) / block * block;
    let mut reads = Vec::new();
    for sectors in below {
        let at = top.saturating_sub(sectors * block);
        if at >= range.first().get() {
            reads.push(at);
        }
    }
    reads
}

/// Sectors below the first one of a probe where a track holds about so many.
pub fn below(sectors: Option<f64>, sector_bytes: u64) -> Vec<u64> {
    match sectors {
        None if sector_bytes < LARGE_SECTOR => UNKNOWN.to_vec(),
        None => UNKNOWN_LARGE.to_vec(),
        Some(sectors) => parts(&KNOWN, sectors),
    }
}

/// The same for a probe that goes up; `number` tells which of the lengths that a track may have.
pub fn below_upwards(sectors: Option<f64>, number: u64) -> Vec<u64> {
    match sectors {
        None => UNKNOWN_UPWARDS[(number % LENGTHS_UPWARDS) as usize].to_vec(),
        Some(sectors) => parts(&KNOWN_UPWARDS, sectors),
    }
}

fn parts(of_track: &[f64], sectors: f64) -> Vec<u64> {
    let unit = if sectors > LARGE_SECTORS_MAX { SMALL_IN_LARGE } else { 1 };
    of_track.iter().map(|part| (part * sectors / f64::from(unit)).ceil() as u64 * u64::from(unit)).collect()
}

/// The same for a place of which every sector is to be known; none where nothing is known of tracks.
pub fn below_close(sectors: Option<f64>) -> Vec<u64> {
    let Some(sectors) = sectors else { return Vec::new() };
    let steps: Vec<f64> = (0..CLOSE_READS).map(|index| f64::from(index) * CLOSE_STEP).collect();
    parts(&steps, sectors)
}

pub fn strata(range: ByteRange, count: u64, prng: &mut Prng) -> Vec<u64> {
    let mut places = Vec::new();
    for index in 0..count {
        let part = range.part(index, count);
        places.push(part.first().get() + prng.below(part.bytes().get().max(1)));
    }
    prng.shuffle(&mut places);
    places
}

pub fn sectors_near(counts: &[TrackCount], offset: u64) -> Option<f64> {
    let mut near: Vec<&TrackCount> = counts.iter().collect();
    near.sort_unstable_by(|a, b| {
        a.offset.abs_diff(offset).cmp(&b.offset.abs_diff(offset)).then(a.sectors.total_cmp(&b.sectors))
    });
    near.truncate(5);
    let mut sectors: Vec<f64> = near.into_iter().map(|count| count.sectors).collect();
    sectors.sort_unstable_by(f64::total_cmp);
    sectors.get(sectors.len() / 2).copied()
}

/// Pairs of sectors on the same track, or on neighbouring ones, that pass one of these parts of a turn apart: one in each round at
/// every place, places in turns, so that the drive holds nothing of a place when it comes back. Each place has its own parts of a turn,
/// evenly between those of the others: with the same ones at all of them nothing would be known between one and the next.
pub fn pairs(
    maps: &[NearMap],
    tracks: usize,
    later_turns: &[f64],
    rounds: usize,
    prng: &mut Prng,
) -> Vec<u64> {
    let mut reads = Vec::new();
    let step = match later_turns {
        [first, second, ..] => second - first,
        _ => 0.0,
    };
    for round in 0..rounds {
        for (index, map) in maps.iter().enumerate() {
            let between = (index as f64 + 0.5) / maps.len() as f64 - 0.5;
            let later = (later_turns[(round + index) % later_turns.len()] + step * between).max(0.0);
            if let Some((one, other)) = map.pair(tracks, later, prng.unit()) {
                reads.extend([one, other]);
            }
        }
    }
    reads
}
pub fn evenly((first, last): (f64, f64), count: u32) -> Vec<f64> {
    let step = (last - first) / f64::from(count - 1);
    (0..count).map(|index| first + step * f64::from(index)).collect()
}

pub fn around(middle: f64) -> Vec<f64> {
    let mut turns = evenly((middle - CLOSE_TURNS, middle + CLOSE_TURNS), PAIRS);
    for turn in &mut turns {
        *turn = turn.max(0.01);
    }
    turns
}
