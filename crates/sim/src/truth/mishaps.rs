//! What goes wrong with a drive, or is about to: entries of `[[faults]]`, a disk's own defects, and whether it sleeps.

use crate::disk::profile::{DefectKind, DiskProfile};
use crate::fault::FaultProfile;
use crate::flaw::Flaw;
use crate::profile::{Medium, Profile};
use crate::truth::{Answer, Truth, disk};
use model::finding::{Datum, FindingCode};
use model::units::{Bytes, KIB};

/// What silently goes wrong goes wrong in blocks of that size.
const BLOCK_BYTES: u64 = 4 * KIB;

pub(super) fn truths(profile: &Profile, capacity: Bytes) -> Result<Vec<Truth>, Flaw> {
    let disk = match profile.medium()? {
        Medium::Disk(disk) | Medium::Shingled(disk, _) => Some(disk),
        _ => None,
    };
    let mut truths = places(profile, disk, capacity);
    truths.push(lost(&profile.faults));
    truths.extend(wrong_data(&profile.faults, capacity));
    truths.extend(late_blocks(profile, disk));
    truths.extend(disk.map(wake_up));
    Ok(truths)
}

fn places(profile: &Profile, disk: Option<&DiskProfile>, capacity: Bytes) -> Vec<Truth> {
    let mut bad = Vec::new();
    let mut slow = Vec::new();
    let mut real_bytes = capacity.0;
    for fault in &profile.faults {
        match *fault {
            FaultProfile::Unreadable { first_byte, bytes, .. } => bad.push((first_byte, bytes)),
            // What is slow for a while is so at no place.
            FaultProfile::Slow { first_byte, bytes, at_s: 0.0, seconds: None, .. } => {
                slow.push((first_byte, bytes.unwrap_or(capacity.0 - first_byte)));
            }
            FaultProfile::LyingCapacity { real_bytes: real }
            | FaultProfile::LosesPastEnd { real_bytes: real, .. } => real_bytes = real_bytes.min(real),
            _ => {}
        }
    }
    if let Some(disk) = disk {
        bad.extend(disk::defects(disk, DefectKind::Unreadable));
        slow.extend(disk::defects(disk, DefectKind::Slow));
    }
    vec![
        regions(FindingCode::BadBlocks, bad),
        regions(FindingCode::SlowRegions, slow),
        Truth::number(FindingCode::CapacityTrue, real_bytes as f64),
    ]
}

/// Stretches that touch are one region.
pub(super) fn regions(code: FindingCode, mut stretches: Vec<(u64, u64)>) -> Truth {
    stretches.sort_unstable();
    let mut regions: Vec<(u64, u64)> = Vec::new();
    for (first, bytes) in stretches {
        match regions.last_mut() {
            Some((start, length)) if first <= *start + *length => {
                *length = (*length).max(first + bytes - *start);
            }
            _ => regions.push((first, bytes)),
        }
    }
    if regions.is_empty() {
        return Truth::absent(code);
    }
    let rows = regions.iter().map(|&(first, bytes)| {
        Datum::record([("first_byte", Datum::Integer(first)), ("bytes", Datum::Integer(bytes))])
    });
    Truth::number(code, regions.len() as f64).with("regions", Datum::List(rows.collect()))
}

/// When it goes away: the first moment, unless so many requests come before.
fn lost(faults: &[FaultProfile]) -> Truth {
    let code = FindingCode::DeviceLost;
    let moments = faults.iter().filter_map(|fault| match fault {
        FaultProfile::GoneAt { at_s } => Some(*at_s),
        _ => None,
    });
    let counts = faults.iter().filter_map(|fault| match fault {
        FaultProfile::GoneAfterRequests { requests } => Some(*requests),
        _ => None,
    });
    match (moments.reduce(f64::min), counts.min()) {
        (None, None) => Truth::absent(code),
        (Some(at_s), None) => Truth::number(code, at_s),
        (at_s, Some(requests)) => {
            let why = "it goes after so many requests, so when depends on how fast they are asked";
            let truth = Truth { code, answer: Answer::Depends(why), data: Vec::new() };
            let truth = truth.with("requests", Datum::Integer(requests));
            match at_s {
                Some(at_s) => truth.with("at_s", Datum::Number(at_s)),
                None => truth,
            }
        }
    }
}

/// Blocks that do not hold what was written. Of a drive that holds less than it says nothing is said: what overwrites what
/// depends on what is written where.
fn wrong_data(faults: &[FaultProfile], capacity: Bytes) -> Option<Truth> {
    let code = FindingCode::DataIntegrity;
    let mut parts = Vec::new();
    for fault in faults {
        match *fault {
            FaultProfile::LyingCapacity { .. } | FaultProfile::LosesPastEnd { .. } => return None,
            FaultProfile::SilentCorruption { every_blocks, first_byte, bytes, .. } => {
                let bytes = bytes.unwrap_or(capacity.0 - first_byte);
                parts.push(Datum::record([
                    ("first_byte", Datum::Integer(first_byte)),
                    ("bytes", Datum::Integer(bytes)),
                    ("blocks", Datum::Integer(bytes.div_ceil(BLOCK_BYTES))),
                    ("every_blocks", Datum::Integer(every_blocks)),
                ]));
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        return Some(Truth::absent(code));
    }
    let why = "one of each so many blocks is wrong, so their number depends on how many are compared";
    let truth = Truth { code, answer: Answer::Depends(why), data: Vec::new() };
    Some(truth.with("regions", Datum::List(parts)))
}

/// Nothing keeps a read waiting for half a second where nothing goes wrong; what does, does it by size and number of
/// requests, and nothing is said.
fn late_blocks(profile: &Profile, disk: Option<&DiskProfile>) -> Option<Truth> {
    let is_sound = |disk: &DiskProfile| {
        disk.standby.is_none() && disk.defects.iter().all(|defect| defect.kind == DefectKind::Remapped)
    };
    let is_one_drive = profile.volume.is_none();
    (is_one_drive && profile.faults.is_empty() && disk.is_none_or(is_sound))
        .then(|| Truth::absent(FindingCode::BlockLatency))
}

/// Until the platter turns; the seek and the turn of the first read come on top.
fn wake_up(disk: &DiskProfile) -> Truth {
    let asleep = disk.standby.as_ref().filter(|standby| standby.asleep);
    asleep.map_or_else(
        || Truth::absent(FindingCode::WakeUp),
        |standby| Truth::number(FindingCode::WakeUp, standby.wake_up_s),
    )
}
