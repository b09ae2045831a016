//! What goes wrong with a drive, or is about to: entries of `[[faults]]`, a disk's own defects, and standby.

use crate::disk::profile::{DefectKind, DiskProfile};
use crate::fault::FaultProfile;
use crate::flaw::Flaw;
use crate::profile::{Medium, Profile};
use crate::truth::data::{CorruptRegion, Region, TruthData};
use crate::truth::disk;
use crate::truth::value::Truth;
use model::finding::FindingCode;
use model::units::{Bytes, KIB};

const BLOCK_BYTES: u64 = 4 * KIB;

pub(super) fn truths(profile: &Profile, capacity: Bytes) -> Result<Vec<Truth>, Flaw> {
    let disk = match profile.medium()? {
        Medium::Disk(disk) | Medium::Shingled(disk, _) => Some(disk),
        _ => None,
    };
    let mut truths = regions_of(profile, disk, capacity);
    truths.push(lost(&profile.faults));
    truths.extend(corruption(&profile.faults, capacity));
    if profile.volume.is_none() && profile.faults.is_empty() && disk.is_none_or(never_waits) {
        truths.push(Truth::absent(FindingCode::BlockLatency));
    }
    truths.extend(disk.map(wake_up));
    Ok(truths)
}

fn regions_of(profile: &Profile, disk: Option<&DiskProfile>, capacity: Bytes) -> Vec<Truth> {
    let mut bad = Vec::new();
    let mut slow = Vec::new();
    let mut real_bytes = capacity.get();
    for fault in &profile.faults {
        match *fault {
            FaultProfile::Unreadable { first_byte, bytes, .. } => bad.push(Region { first_byte, bytes }),
            // What is slow for a while is so at no offset.
            FaultProfile::Slow { first_byte, bytes, at_s: 0.0, seconds: None, .. } => {
                let bytes = bytes.unwrap_or(capacity.get() - first_byte);
                slow.push(Region { first_byte, bytes });
            }
            FaultProfile::LyingCapacity { real_bytes: real, .. }
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

pub(super) fn regions(code: FindingCode, mut found: Vec<Region>) -> Truth {
    found.sort_unstable_by_key(|region| (region.first_byte, region.bytes));
    let mut regions: Vec<Region> = Vec::new();
    for region in found {
        match regions.last_mut() {
            Some(last) if region.first_byte <= last.first_byte + last.bytes => {
                last.bytes = last.bytes.max(region.first_byte + region.bytes - last.first_byte);
            }
            _ => regions.push(region),
        }
    }
    if regions.is_empty() {
        return Truth::absent(code);
    }
    Truth::number(code, regions.len() as f64).with(TruthData::Regions { regions })
}

fn lost(faults: &[FaultProfile]) -> Truth {
    let code = FindingCode::DeviceLost;
    let (mut first_s, mut first_count): (Option<f64>, Option<u64>) = (None, None);
    for fault in faults {
        match *fault {
            FaultProfile::GoneAt { at_s } => first_s = Some(at_s.min(first_s.unwrap_or(at_s))),
            FaultProfile::GoneAfterRequests { requests } => {
                first_count = Some(requests.min(first_count.unwrap_or(requests)));
            }
            _ => {}
        }
    }
    match (first_s, first_count) {
        (None, None) => Truth::absent(code),
        (Some(at_s), None) => Truth::number(code, at_s),
        (at_s, Some(requests)) => {
            let why = "it goes after so many requests, so when depends on how fast they are asked";
            Truth::depends(code, why).with(TruthData::Lost { requests, at_s })
        }
    }
}

/// Blocks that do not hold what was written; nothing for a counterfeit capacity, where the writes decide.
fn corruption(faults: &[FaultProfile], capacity: Bytes) -> Option<Truth> {
    let code = FindingCode::DataIntegrity;
    let mut regions = Vec::new();
    for fault in faults {
        match *fault {
            FaultProfile::LyingCapacity { .. } | FaultProfile::LosesPastEnd { .. } => return None,
            FaultProfile::SilentCorruption { every_blocks, first_byte, bytes, .. } => {
                let bytes = bytes.unwrap_or(capacity.get() - first_byte);
                let blocks = bytes.div_ceil(BLOCK_BYTES);
                regions.push(CorruptRegion { first_byte, bytes, blocks, every_blocks });
            }
            _ => {}
        }
    }
    if regions.is_empty() {
        return Some(Truth::absent(code));
    }
    let why = "one of each so many blocks is wrong, so their number depends on how many are compared";
    Some(Truth::depends(code, why).with(TruthData::Corruption { regions }))
}

/// Whether no read of a disk waits for half a second; else it depends on size and number of requests.
fn never_waits(disk: &DiskProfile) -> bool {
    disk.standby.is_none() && disk.defects.iter().all(|defect| defect.kind == DefectKind::Remapped)
}

/// Until the platter is up to speed; seek and rotational latency of the first read come on top.
fn wake_up(disk: &DiskProfile) -> Truth {
    match &disk.standby {
        Some(standby) if standby.asleep => Truth::number(FindingCode::WakeUp, standby.wake_up_s),
        _ => Truth::absent(FindingCode::WakeUp),
    }
}
