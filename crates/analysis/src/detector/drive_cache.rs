//! How much a drive keeps of what it read.
//! # What it finds
//! The bytes of its own memory that hold what was read last.
//! # Why it matters
//! Whatever fits into it is answered at once: benchmarks over a smaller range measure the memory.
//! # How
//! A long stream is read, then single blocks ever farther back from its end. Blocks next to the end are surely kept by a drive that
//! keeps anything, and random single reads surely not; where these two kinds lie apart, every answer is one of them. Streams of
//! several lengths give the size and its interval.
//! # Cannot tell when
//! Both kinds take equally long, as on flash and on drives whose cache is off; the drive drops what it delivered, so that no reread hits;
//! the cache holds more than the longest stream; several drives share the reads and are no stripe.
//! # Known problems
//! A drive that keeps a stream in batches that overlap shows less than it has. Memory that is kept for writes
//! is not seen. A drive that divides its cache among streams shows the share of one.
//! # References
//! Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::cache::{Kept, NotTold, ReadOn, kept};
use crate::examined::Examined;
use crate::interference::is_held_up;
use crate::measured::{EXPERIMENT_ACCESS, evidence_of_phases};
use crate::stats::{CONFIDENCE, bounded};
use crate::stripe::Arms;
use model::estimate::Estimate;
use model::finding::{CacheUnknown, DriveCache, Finding, FindingCode, Outcome};
use model::run::RunView;

/// A drive that does not prefetch behind single reads may behind a stream: a segment at most, and disks have 16 to 32.
const SEGMENTS_MIN: f64 = 16.0;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::DriveCache], needs: &[Need::Asked(EXPERIMENT_ACCESS)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let kept = kept(run);
    let phases = match &kept {
        Kept::NotAsked => return Vec::new(),
        Kept::Found { phases, .. } => phases.as_slice(),
        Kept::NotTold(_) | Kept::AtLeast(_) => &[],
    };
    let outcome = Outcome::of(drive_cache(run, &kept), evidence_of_phases(run, phases));
    vec![Finding::DriveCache(outcome).with_caveats(&doubts(run))]
}

fn drive_cache(run: &Examined<'_>, kept: &Kept) -> Result<DriveCache, CacheUnknown> {
    let ends = match kept {
        Kept::NotAsked => return Err(CacheUnknown::TooFewReads),
        Kept::NotTold(why) => {
            let drops =
                matches!(run.read_on(), ReadOn::Found { low: Some(_), keeps_delivered: Some(false), .. });
            if drops && *why != NotTold::TooFew {
                return Err(CacheUnknown::DeliveredDropped);
            }
            return Err(if run.has_several_arms() {
                CacheUnknown::SeveralDrives
            } else {
                why_no_hits(run, *why)
            });
        }
        Kept::AtLeast(bytes) => return Err(CacheUnknown::AtLeast(*bytes)),
        Kept::Found { ends, .. } => ends,
    };
    if is_held_up(run) {
        return Err(CacheUnknown::Interference);
    }
    if ends.len() < 2 {
        return Err(CacheUnknown::OneStream);
    }
    let drives = match run.arms() {
        Arms::Shared => return Err(CacheUnknown::SeveralDrives),
        Arms::Stripe(layout) => layout.members,
        Arms::One => 1,
    };
    let ahead = match run.read_on() {
        ReadOn::Found { low: Some(low), high: Some(high), .. } => {
            let drives = f64::from(drives);
            (drives * (low.as_f64() * high.as_f64()).sqrt(), drives * high.as_f64())
        }
        ReadOn::Found { low: None, .. } => (0.0, farthest(ends) / SEGMENTS_MIN),
        _ => (0.0, 0.0),
    };
    Ok(DriveCache { bytes: size(ends, ahead), drives })
}

pub(super) fn why_no_hits(run: &RunView<'_>, why: NotTold) -> CacheUnknown {
    let is_of_medium = !matches!(why, NotTold::TooFew | NotTold::AllOfMemory);
    if is_of_medium && is_held_up(run) {
        return CacheUnknown::Interference;
    }
    match why {
        NotTold::TooFew => CacheUnknown::TooFewReads,
        NotTold::AllOfMemory => CacheUnknown::AllMemory,
        NotTold::Alike => CacheUnknown::NoHits,
        NotTold::Anew => CacheUnknown::NearbyRereads,
        NotTold::Late => CacheUnknown::LateHits,
        NotTold::QuickElsewhere => CacheUnknown::QuickElsewhere,
        NotTold::Disorder => CacheUnknown::Disorder,
    }
}

/// A cache is given up batch by batch, and how much of the oldest batch is left when a stream ends is anything from nothing to all of
/// it: how far back memory answers is drawn evenly between the size less a batch and the size. Of `n` draws with the range `r`, the
/// size lies above the largest by more than `k·r` with a chance of (1+k)^(1−n). Where between two reads a look ends is not known: the interval
/// takes the largest at its farthest, and the range as wide as it may be. With ends drawn evenly, 45 of 60 random disks were held.
///
/// Behind the end of a stream the drive reads on, as far as pairs of reads have shown, and that takes the place of the oldest. It does
/// not always come to that: looks that differ by more than it show both, and then the largest is all.
fn size(ends: &[(f64, f64)], (ahead, ahead_most): (f64, f64)) -> Estimate {
    let middles = || ends.iter().map(|(near, far)| (near * far).sqrt());
    let largest = middles().fold(0.0, f64::max);
    let range = largest - middles().fold(f64::INFINITY, f64::min);
    let nearest = ends.iter().map(|(near, _)| *near).fold(f64::INFINITY, f64::min);
    let farthest = farthest(ends);
    let beyond = |range: f64, chance: f64| match ends.len() {
        0 | 1 => 0.0,
        count => range * (chance.powf(-1.0 / (count - 1) as f64) - 1.0),
    };
    let shows_both = ahead > 0.0 && range > ahead;
    let value = if shows_both { largest } else { largest + beyond(range, 0.5) + ahead };
    let low = ends.iter().map(|(near, _)| *near).fold(0.0, f64::max);
    let high = farthest + beyond(farthest - nearest, 1.0 - CONFIDENCE) + ahead_most;
    bounded(value, low, high, ends.len() as f64)
}

fn farthest(ends: &[(f64, f64)]) -> f64 {
    ends.iter().map(|(_, far)| *far).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::MIB;

    const MIBS: f64 = MIB as f64;

    const NOTHING_AHEAD: (f64, f64) = (0.0, 0.0);

    fn ahead(bytes: u64) -> (f64, f64) {
        (bytes as f64, bytes as f64)
    }

    /// Four draws from the last 2 MiB of 32: the largest 31.5, the range 1.5. 2^(1/3) − 1 = 0.26; 20^(1/3) − 1 = 1.714.
    #[test]
    fn the_size_lies_above_the_largest_draw() {
        let size = size(&[30.0, 31.5, 30.5, 31.0].map(|end| (end, end)), NOTHING_AHEAD);
        assert!((size.value - 31.89).abs() < 0.01 && size.low == 31.5 && (size.high - 34.07).abs() < 0.01);
    }

    /// All looks ended between the same two reads, 1 apart: 31 + 1·1.714 = 32.71.
    #[test]
    fn looks_that_end_between_the_same_reads_do_not_make_it_certain() {
        let size = size(&[(30.0, 31.0); 4], NOTHING_AHEAD);
        assert!((size.value - 30.496).abs() < 0.001 && size.low == 30.0, "{size:?}");
        assert!((size.high - 32.714).abs() < 0.001, "{size:?}");
    }

    #[test]
    fn what_was_read_on_is_added_unless_looks_show_that_it_is_not_always() {
        let alike = size(&[(30.0 * MIBS, 30.0 * MIBS), (30.5 * MIBS, 30.5 * MIBS)], ahead(2 * MIB));
        assert!((alike.value / MIBS - 33.0).abs() < 0.01, "{}", alike.value / MIBS);
        let apart = size(&[(30.0 * MIBS, 30.0 * MIBS), (33.0 * MIBS, 33.0 * MIBS)], ahead(2 * MIB));
        assert_eq!(apart.value / MIBS, 33.0);
    }
}
