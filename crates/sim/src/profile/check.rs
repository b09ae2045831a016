//! Whether such a drive can be, and what it holds. The members of a volume are drives themselves.

use crate::flaw::{Flaw, InSection};
use crate::profile::document::{Identity, Medium, Profile, VERSION};
use crate::profile::presets::preset;
use crate::volume::VolumeProfile;
use model::units::Bytes;

const MEMBER_DEPTH_MAX: u32 = 3;

impl Profile {
    pub fn capacity(&self) -> Result<Bytes, Flaw> {
        self.capacity_within(0)
    }

    fn capacity_within(&self, depth: u32) -> Result<Bytes, Flaw> {
        let own = match self.medium()? {
            Medium::Zoned(zoned) => Some(zoned.capacity_bytes),
            Medium::Volume(volume) => Some(volume_capacity(volume, depth)?.get()),
            _ => None,
        };
        match (self.identity.capacity_bytes, own) {
            (Some(said), Some(own)) if said != own => {
                let reason = format!("it says {said} bytes, but what it consists of holds {own}");
                Err(Flaw::new("identity.capacity_bytes", reason))
            }
            (Some(bytes), _) | (None, Some(bytes)) => Ok(Bytes::new(bytes)),
            (None, None) => Err(Flaw::new("identity.capacity_bytes", "what the drive holds is missing")),
        }
    }

    /// Checks that such a drive can be. The flaw is of the first key that cannot be as it is.
    pub fn check(&self) -> Result<(), Flaw> {
        self.check_within(0)
    }

    fn check_within(&self, depth: u32) -> Result<(), Flaw> {
        if self.version != VERSION {
            let reason =
                format!("this program reads version {VERSION}, and this is version {}", self.version);
            return Err(Flaw::new("version", reason));
        }
        check_name(&self.name)?;
        if self.description.is_empty() || self.description.chars().any(char::is_control) {
            return Err(Flaw::new("description", "it is one line of text"));
        }
        if let Medium::Volume(volume) = self.medium()? {
            volume.check().in_section("volume")?;
            check_members(volume, depth)?;
        }
        let capacity = self.capacity_within(depth)?;
        self.identity.check(capacity).in_section("identity")?;
        match self.medium()? {
            Medium::Disk(disk) => disk.check(capacity).in_section("disk")?,
            Medium::Shingled(disk, smr) => smr.check_with(disk, capacity)?,
            Medium::Flash(flash) => flash.check(capacity).in_section("flash")?,
            Medium::Constant(constant) => constant.check().in_section("constant")?,
            Medium::Zoned(zoned) => zoned.check().in_section("zoned")?,
            Medium::Volume(_) => {}
        }
        if let Some(link) = &self.link {
            link.numbers().in_section("link")?;
        }
        if let Some(limit) = &self.limit {
            limit.check().in_section("limit")?;
        }
        for (index, fault) in self.faults.iter().enumerate() {
            fault.check(capacity).in_section(&format!("faults.{index}"))?;
        }
        Ok(())
    }
}

impl Identity {
    fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        let (logical, physical) = (self.logical_block_bytes, self.physical_block_bytes);
        if !matches!(logical, 512 | 4096) {
            return Err(Flaw::new("logical_block_bytes", format!("{logical}: there are 512 and 4096")));
        }
        if !physical.is_power_of_two() || !(logical..=65_536).contains(&physical) {
            let reason = format!("{physical} is not a power of two from the logical block to 65536");
            return Err(Flaw::new("physical_block_bytes", reason));
        }
        let bytes = capacity.get();
        if bytes == 0 || !bytes.is_multiple_of(logical) || bytes > i64::MAX as u64 {
            let reason = format!("{bytes} is not a positive multiple of the logical block of {logical}");
            return Err(Flaw::new("capacity_bytes", reason));
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), Flaw> {
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_of_name) {
        return Err(Flaw::new("name", "it consists of small letters, digits, `-` and `.`, at most 64"));
    }
    Ok(())
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-.".contains(letter)
}

fn check_members(volume: &VolumeProfile, depth: u32) -> Result<(), Flaw> {
    for (index, member) in volume.members.iter().enumerate() {
        let checked =
            member_profile(&member.profile, depth).and_then(|profile| profile.check_within(depth + 1));
        if let Err(flaw) = checked {
            return Err(Flaw::new(format!("volume.members.{index}.profile"), flaw.to_string()));
        }
    }
    Ok(())
}

impl VolumeProfile {
    /// The profile of each drive, of a volume `depth` volumes deep.
    pub(crate) fn member_profiles(&self, depth: u32) -> Result<Vec<Profile>, Flaw> {
        let mut profiles = Vec::new();
        for member in &self.members {
            let profile = member_profile(&member.profile, depth)?;
            profiles.extend(std::iter::repeat_n(profile, member.count as usize));
        }
        Ok(profiles)
    }
}

/// The profile of a member: one that ships or is drawn, not nested too deep.
fn member_profile(name: &str, depth: u32) -> Result<Profile, Flaw> {
    Flaw::when(depth >= MEMBER_DEPTH_MAX, "", format!("volumes within volumes go {MEMBER_DEPTH_MAX} deep"))?;
    preset(name).map_err(|error| Flaw::new("", error.to_string()))
}

fn volume_capacity(volume: &VolumeProfile, depth: u32) -> Result<Bytes, Flaw> {
    let mut capacities = Vec::new();
    for member in volume.member_profiles(depth)? {
        capacities.push(member.capacity_within(depth + 1)?);
    }
    Ok(volume.layout(&capacities).in_section("volume")?.capacity())
}
