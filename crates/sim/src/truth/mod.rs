//! What a virtual drive really is, by finding code: from its profile. Only what scores detectors may see this.
//!
//! | medium | exact | approximate, and by how much | left out, and why |
//! |---|---|---|---|
//! | `[constant]` | all of it | | |
//! | `[zoned]` | all of it | | gain and knee: no closed form |
//! | `[disk]` | rates, zones, pass, rotation, seeks, layout, caches | access time and span effect: 1000 offsets stand for all, 0.1 % | gain and knee: no closed form |
//! | `[disk]` with `[smr]` | the same, of a clean drive; the size of the media cache | cliff and rates of random writes: see [`crate::smr::truth`] | |
//! | `[flash]` | rates and levels of a fresh drive written once, sequentially or at random | steady state: 3 % | gain and knee; reads of what was never written |
//! | `[volume]` | members, chunk, capacity, sequential rates of a stripe: 3 % | single reads of drives of one model | reads of a mirror: they depend on which disk is nearer, and on how far one skips what the other reads |
//! | a link of one command | gain and knee: there is none | | |
//!
//! A limit leaves all of that true as long as credit lasts, but what is said of a pass and of lasting writes.
//!
//! A link clips the rates: they are what a host sees with requests of 1 MiB at queue depth 4.

pub mod data;
mod disk;
mod extents;
mod faults;
mod flash;
mod limit;
mod medium;
mod value;
mod volume;

use crate::ProfileError;
use crate::flaw::Flaw;
use crate::link::{LinkNumbers, LinkProfile};
use crate::profile::{Medium, Profile, preset};
use crate::volume::VolumeProfile;
use crate::zoned::ZonedProfile;
pub use data::TruthData;
use extents::{Extent, REQUEST_BYTES};
use model::finding::FindingCode;
use model::units::Bytes;
use value::takes_one_command;
pub use value::{Truth, TruthValue, of_code};

pub fn truth(name: &str) -> Result<Vec<Truth>, ProfileError> {
    let file = format!("{name}.toml");
    match truth_of(&preset(name)?) {
        Ok(truths) => Ok(truths),
        Err(flaw) => Err(ProfileError::Unsound { file, line: None, flaw }),
    }
}

/// The truths of the drive of a profile, by code. Of a missing code nothing is said: no closed form, or not asked.
pub fn truth_of(profile: &Profile) -> Result<Vec<Truth>, Flaw> {
    profile.check()?;
    let mut truths = without_faults(profile, 0)?;
    if !profile.faults.is_empty() {
        truths.retain(|truth| truth.code != FindingCode::LatencyModes);
    }
    if !has_no_latency(profile)? {
        truths.extend(flaws(profile, 0)?);
        limit::add(profile.limit.as_ref(), &mut truths);
    }
    truths.sort_by_key(|truth| truth.code);
    Ok(truths)
}

/// Of a disk by its rates. Its gain by queue depth has no closed form and is left out.
pub fn zoned(profile: &ZonedProfile) -> Vec<Truth> {
    medium::zoned(profile, None)
}

/// Where a member has weak or unreadable blocks, nothing is told of where its volume does.
fn flaws(profile: &Profile, depth: u32) -> Result<Vec<Truth>, Flaw> {
    let mut truths = faults::truths(profile, profile.capacity()?)?;
    if let Medium::Volume(volume) = profile.medium()? {
        let mut members = Vec::new();
        for member in volume.member_profiles(depth)? {
            members.push(flaws(&member, depth + 1)?);
        }
        let is_sound = |member: &Vec<Truth>, code| {
            of_code(member, code).is_some_and(|truth| truth.value == TruthValue::Absent)
        };
        truths.retain(|truth| match truth.code {
            // Where skipping what another drive reads costs a turn has no closed form: some zones read at half the rate of others.
            FindingCode::SlowRegions if volume.shares_reads() => false,
            FindingCode::BadBlocks | FindingCode::SlowRegions => {
                members.iter().all(|member| is_sound(member, truth.code))
            }
            _ => true,
        });
    }
    Ok(truths)
}

fn has_no_latency(profile: &Profile) -> Result<bool, Flaw> {
    Ok(matches!(profile.medium()?, Medium::Constant(constant) if constant.latency_us == 0.0))
}

fn without_faults(profile: &Profile, depth: u32) -> Result<Vec<Truth>, Flaw> {
    let capacity = profile.capacity()?;
    let link = profile.link.as_ref().map(LinkProfile::numbers).transpose()?;
    let link = link.as_ref();
    if has_no_latency(profile)? {
        return Ok(Vec::new());
    }
    let mut truths = match profile.medium()? {
        Medium::Constant(constant) => medium::constant(constant, capacity, link),
        Medium::Zoned(zoned) => medium::zoned(zoned, link),
        Medium::Disk(disk) => disk::truths(disk, capacity, link),
        Medium::Shingled(disk, smr) => disk::shingled_truths(disk, smr, capacity, link),
        Medium::Flash(flash) => flash::truths(flash, capacity, link),
        Medium::Volume(volume) => volume_truths(volume, capacity, link, depth)?,
    };
    if link.is_some_and(takes_one_command) {
        // Whatever else is asked for waits at the host.
        truths.push(Truth::number(FindingCode::ConcurrencyGain, 1.0));
        truths.push(Truth::number(FindingCode::ConcurrencyKnee, 1.0));
    }
    Ok(truths)
}

fn member_extents(profile: &Profile, depth: u32, bytes: u32) -> Result<Vec<Extent>, Flaw> {
    let capacity = profile.capacity()?;
    let link = profile.link.as_ref().map(LinkProfile::numbers).transpose()?;
    let mut extents = match profile.medium()? {
        Medium::Constant(constant) => medium::constant_extents(constant, capacity, link.as_ref()),
        Medium::Zoned(zoned) => medium::zoned_extents(zoned),
        Medium::Disk(disk) => disk::extents(disk, capacity),
        Medium::Shingled(disk, smr) => disk::shingled_extents(disk, smr, capacity),
        Medium::Flash(flash) => flash::extents(flash, capacity),
        Medium::Volume(volume) => volume_extents(volume, &volume.member_profiles(depth)?, depth, bytes)?,
    };
    for extent in &mut extents {
        *extent = extent.clipped(link.as_ref(), bytes);
    }
    Ok(extents)
}

fn volume_extents(
    volume: &VolumeProfile,
    members: &[Profile],
    depth: u32,
    bytes: u32,
) -> Result<Vec<Extent>, Flaw> {
    let part = volume::part_bytes(volume, members.len(), bytes);
    let mut extents = Vec::new();
    for member in members {
        extents.push(member_extents(member, depth + 1, part)?);
    }
    Ok(volume::extents(volume, &extents))
}

const GROWS_FROM: f64 = 1.01;

fn volume_truths(
    volume: &VolumeProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
    depth: u32,
) -> Result<Vec<Truth>, Flaw> {
    let members = volume.member_profiles(depth)?;
    let mut of_members = Vec::new();
    for member in &members {
        of_members.push(without_faults(member, depth + 1)?);
    }
    let mut extents = volume_extents(volume, &members, depth, REQUEST_BYTES)?;
    // A stripe leaves out what does not fill a row of chunks.
    if let Some(last) = extents.last_mut() {
        last.bytes = capacity.get() - last.first_byte;
    }
    // Where a link limits members, parts of larger requests are quicker, and their size is the host's choice.
    let larger = volume_extents(volume, &members, depth, 2 * REQUEST_BYTES)?;
    let grows = extents.iter().zip(&larger).any(|(one, other)| other.read > one.read * GROWS_FROM);
    volume::truths(volume, &extents, grows, link, &members, &of_members)
}

#[cfg(test)]
mod tests;
