//! From a profile to the drive: mechanism, then link, then who else uses it, then its limit, then faults, then the host.

use crate::Drive;
use crate::constant::ConstantDrive;
use crate::contents::Contents;
use crate::disk::drive::DiskDrive;
use crate::fault::{DelayedDrive, FaultyDrive, HostDelay, LoadedDrive, OtherLoad};
use crate::flash::drive::FlashDrive;
use crate::flash::profile::Initial;
use crate::flaw::Flaw;
use crate::limit::LimitedDrive;
use crate::link::LinkedDrive;
use crate::profile::document::{Medium, Profile};
use crate::smr::drive::SmrDrive;
use crate::volume::{VolumeDrive, VolumeProfile};
use crate::zoned::ZonedDrive;
use model::prng::Prng;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;

/// What one TRIM may cover: what Linux allows for SATA.
const DISCARD_MAX: Bytes = Bytes::from_gib(2);

pub(super) fn build(profile: &Profile, path: &str, seed: u64) -> Result<Box<dyn Drive + Send>, Flaw> {
    profile.check()?;
    build_within(profile, path, seed, 0)
}

/// What the drive of a profile holds: nothing yet, and what was written to it later, with its faults of data.
pub fn contents(profile: &Profile, seed: u64) -> Result<Contents, Flaw> {
    profile.check()?;
    Ok(Contents::new(profile.capacity()?, &profile.faults, seed))
}

fn build_within(profile: &Profile, path: &str, seed: u64, depth: u32) -> Result<Box<dyn Drive + Send>, Flaw> {
    let facts = facts(profile, path)?;
    let mut drive: Box<dyn Drive + Send> = match profile.medium()? {
        Medium::Disk(disk) => Box::new(DiskDrive::new(facts, disk, seed)),
        Medium::Shingled(disk, smr) => Box::new(SmrDrive::new(facts, disk, smr, seed)),
        Medium::Flash(flash) => Box::new(FlashDrive::new(facts, flash, seed)?),
        Medium::Constant(constant) => Box::new(ConstantDrive::of_profile(facts, constant, seed)),
        Medium::Zoned(zoned) => Box::new(ZonedDrive::new(facts, zoned.clone(), seed)),
        Medium::Volume(volume) => {
            let members = members(volume, seed, depth)?;
            Box::new(VolumeDrive::new(facts, volume, members))
        }
    };
    if let Some(link) = &profile.link {
        drive = Box::new(LinkedDrive::new(drive, link));
    }
    let loads: Vec<OtherLoad> = profile.faults.iter().filter_map(OtherLoad::of_profile).collect();
    if !loads.is_empty() {
        drive = Box::new(LoadedDrive::new(drive, loads, seed));
    }
    if let Some(limit) = &profile.limit {
        drive = Box::new(LimitedDrive::new(drive, limit));
    }
    if !profile.faults.is_empty() {
        drive = Box::new(FaultyDrive::of_profile(drive, &profile.faults));
    }
    let delays: Vec<HostDelay> = profile.faults.iter().filter_map(HostDelay::of_profile).collect();
    if !delays.is_empty() {
        drive = Box::new(DelayedDrive::new(drive, delays, seed));
    }
    Ok(drive)
}

fn members(volume: &VolumeProfile, seed: u64, depth: u32) -> Result<Vec<Box<dyn Drive + Send>>, Flaw> {
    let mut drives = Vec::new();
    for profile in volume.member_profiles(depth)? {
        let own_seed = Prng::new(seed, drives.len() as u64).next_u64();
        drives.push(build_within(&profile, &format!("sim:{}", profile.name), own_seed, depth + 1)?);
    }
    Ok(drives)
}

fn facts(profile: &Profile, path: &str) -> Result<TargetFacts, Flaw> {
    let identity = &profile.identity;
    let medium = profile.medium()?;
    let turns = matches!(medium, Medium::Disk(_) | Medium::Shingled(..) | Medium::Zoned(_));
    let volume_turns = match medium {
        Medium::Volume(volume) => volume_turns(volume)?,
        _ => false,
    };
    let is_flash = matches!(medium, Medium::Flash(_));
    let write_cache = match medium {
        Medium::Disk(disk) | Medium::Shingled(disk, _) => {
            Some(disk.write_cache.capacity_kib > 0 && disk.write_cache.flush.is_reported_volatile())
        }
        Medium::Flash(flash) => {
            Some(matches!(&flash.buffer, Some(buffer) if buffer.flush.is_reported_volatile()))
        }
        Medium::Constant(_) | Medium::Zoned(_) | Medium::Volume(_) => None,
    };
    Ok(TargetFacts {
        capacity: profile.capacity()?,
        logical_block: Bytes::new(identity.logical_block_bytes),
        physical_block: Bytes::new(identity.physical_block_bytes),
        model: identity.model.clone().or_else(|| Some(format!("drivescope {path}"))),
        serial: identity.serial.clone(),
        firmware: identity.firmware.clone(),
        rotational: identity.rotational.or(Some(turns || volume_turns)),
        write_cache,
        discard_max: identity.trim.unwrap_or(is_flash).then_some(DISCARD_MAX),
        // Reading what was never written touches no cell.
        caveats: if matches!(medium, Medium::Flash(flash) if flash.initial == Initial::Fresh) {
            vec![Caveat::Unmapped]
        } else {
            Vec::new()
        },
        ..plain_facts(path, Bytes::ZERO)
    })
}

fn volume_turns(volume: &VolumeProfile) -> Result<bool, Flaw> {
    let members = volume.member_profiles(0)?;
    Ok(members.iter().any(|profile| profile.disk.is_some() || profile.zoned.is_some()))
}

pub(crate) fn plain_facts(path: &str, capacity: Bytes) -> TargetFacts {
    TargetFacts {
        physical_block: Bytes::new(4096),
        model: Some(format!("drivescope {path}")),
        rotational: Some(false),
        ..TargetFacts::unidentified(TargetKind::Sim, path.to_string(), capacity)
    }
}
