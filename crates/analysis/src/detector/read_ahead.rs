//! How far a drive prefetches after a read.
//! # What it finds
//! How many bytes behind a read memory answers, some time after it.
//! # Why it matters
//! Neighbours of what was asked for come for nothing. A benchmark that reads neighbours measures a memory and not a drive.
//! # How
//! Two reads with a pause between them, the second behind the first by a distance that is looked for by halving. Reads of what was
//! just read are surely answered by memory and first reads surely not; where these two kinds lie apart, every answer is one of them. Where
//! they do not, the drive may drop what it delivered: then reads of the next bytes take the place of rereads, if they take one time. The
//! step that explains most reads is taken. Reads go past the page cache, so that it is the drive that reads on and not the system.
//! Streams are counted by reads at 48 unrelated offsets and then the block behind each, the newest first.
//! # Cannot tell when
//! Both kinds take equally long, as on flash and on drives whose cache is off; a fifth of the reads is not explained; a pause is too short.
//! Several arms answer and are no stripe: of a mirror the other drive may be asked.
//! # Known problems
//! How far the system reads on is a question of its own (`system-read-ahead`); where it was not measured, its own word is told.
//! A prefetch that other I/O cuts short is told as a lower bound. One that begins only after several sequential reads is told as none. A
//! drive that drops what it delivered and prefetches less than 64 KiB stays unknown. A read may take two segments where what was read and
//! what was prefetched are more than one holds.
//! # References
//! Worthington et al., "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995 (caches by hits and misses).

use super::detect::{Detector, Need};
use super::drive_cache::why_no_hits;
use super::system_read_ahead;
use super::trust::doubts;
use crate::cache::{ReadOn, first_reads_ns, streams};
use crate::examined::Examined;
use crate::interference::are_held_up;
use crate::measured::{EXPERIMENT_ACCESS, evidence_of_phases};
use crate::stats::bounded;
use crate::stripe::Arms;
use model::finding::{CacheUnknown, Finding, FindingCode, Outcome, ReadAhead, Reader};
use model::run::RunView;
use model::units::Bytes;
use model::workload::Arrival;

const STRAY_SHARE_MAX: f64 = 0.2;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::ReadAhead], needs: &[Need::Asked(EXPERIMENT_ACCESS)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let read_on = run.read_on();
    let phases = match read_on {
        ReadOn::NotAsked => return Vec::new(),
        ReadOn::Found { phases, .. } => phases.as_slice(),
        ReadOn::NotTold(_) => &[],
    };
    let outcome = Outcome::of(read_ahead(run, read_on), evidence_of_phases(run, phases));
    vec![Finding::ReadAhead(outcome).with_caveats(&doubts(run))]
}

fn read_ahead(run: &Examined<'_>, read_on: &ReadOn) -> Result<ReadAhead, CacheUnknown> {
    if run.arms() == Arms::Shared {
        return Err(CacheUnknown::SeveralDrives);
    }
    // Whether something else moved the actuator, all along or while the pairs were read: that ends reading on.
    let called_away = run.interference().is_some() || are_held_up(run, &first_reads_ns(run));
    let (low, high, lowest, highest, keeps_delivered, phases) = match read_on {
        ReadOn::NotAsked => return Err(CacheUnknown::TooFewReads),
        ReadOn::NotTold(why) => return Err(why_no_hits(run, *why)),
        ReadOn::Found { stray_share, .. } if *stray_share > STRAY_SHARE_MAX => {
            return Err(CacheUnknown::Disorder);
        }
        ReadOn::Found { late_share, .. } if *late_share > STRAY_SHARE_MAX => {
            return Err(CacheUnknown::LateHits);
        }
        ReadOn::Found { low: None | Some(Bytes::ZERO), .. } if called_away => {
            return Err(CacheUnknown::CalledAway);
        }
        ReadOn::Found {
            low,
            high: Some(high),
            lowest,
            highest: Some(highest),
            keeps_delivered,
            phases,
            ..
        } => {
            let [low, lowest] = [low, lowest].map(|distance| distance.unwrap_or(Bytes::ZERO));
            (low, *high, lowest, *highest, *keeps_delivered, phases)
        }
        ReadOn::Found { low, .. } => return Err(CacheUnknown::AtLeast(low.unwrap_or(Bytes::ZERO))),
    };
    // Nothing was prefetched before the first distance that was tried.
    let value = if low == Bytes::ZERO { 0.0 } else { (low.as_f64() * high.as_f64()).sqrt() };
    let bytes = match called_away {
        true if lowest == Bytes::ZERO => return Err(CacheUnknown::CalledAway),
        true => bounded(lowest.as_f64(), lowest.as_f64(), f64::INFINITY, f64::INFINITY),
        false => bounded(value, lowest.as_f64(), highest.as_f64(), f64::INFINITY),
    };
    Ok(ReadAhead {
        bytes,
        system_is_measured: system_read_ahead::is_measured(run),
        by: Reader::Drive,
        system_says_bytes: run.target.read_ahead.map(Bytes::get),
        pause_s: phases.first().and_then(|phase| pause_s(run, *phase)),
        keeps_delivered,
        streams: streams(run),
    })
}

fn pause_s(run: &RunView<'_>, phase: u32) -> Option<f64> {
    match run.phases.get(phase as usize)?.phase.workload.as_ref()?.arrival {
        Arrival::OpenLoop { per_second, .. } => Some(1.0 / per_second),
        Arrival::ClosedLoop => None,
    }
}
