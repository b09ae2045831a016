//! What a profile consists of, and whether such a drive can be.

use crate::constant::ConstantProfile;
use crate::disk::profile::DiskProfile;
use crate::fault::FaultProfile;
use crate::flash::profile::FlashProfile;
use crate::flaw::Flaw;
use crate::link::LinkProfile;
use crate::profile::presets;
use crate::smr::profile::SmrProfile;
use crate::volume::VolumeProfile;
use crate::zoned::ZonedProfile;
use model::units::Bytes;
use serde::{Deserialize, Serialize};

/// The version of the schema that this program reads.
pub const VERSION: u32 = 1;

/// A volume of volumes of drives is as deep as it goes.
pub(super) const MEMBER_DEPTH_MAX: u32 = 3;

/// A virtual drive: what it says of itself, the one mechanism that it consists of, and what lies around that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Of this schema: 1.
    pub version: u32,
    /// How it is called: small letters, digits, `-` and `.`.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// Where its numbers come from: what was measured, what a data sheet says, what is assumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What it says of itself.
    #[serde(default)]
    pub identity: Identity,
    /// It is a hard disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskProfile>,
    /// With `[disk]`: its tracks overlap like shingles, which it hides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smr: Option<SmrProfile>,
    /// It is a flash drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashProfile>,
    /// It takes the same time for everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<ConstantProfile>,
    /// It is a disk by its rates alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned: Option<ZonedProfile>,
    /// It is several drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeProfile>,
    /// How it is connected; without it nothing lies between host and drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkProfile>,
    /// What goes wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultProfile>,
}

/// What a drive says of itself: the section `[identity]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The model as the drive reports it. Default: drivescope and its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The serial number. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// The firmware revision. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// What it says it holds, in bytes. Needed but for `[zoned]` and `[volume]`, which know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// The smallest request, in bytes: 512 or 4096. Default: 512.
    #[serde(default = "logical_block")]
    pub logical_block_bytes: u64,
    /// What it handles at once, in bytes: 512 to 65536. Default: 4096.
    #[serde(default = "physical_block")]
    pub physical_block_bytes: u64,
    /// Whether it says that it turns. Default: as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Whether it takes TRIM. Default: flash drives do, others do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
}

fn logical_block() -> u64 {
    512
}

fn physical_block() -> u64 {
    4096
}

impl Default for Identity {
    fn default() -> Identity {
        Identity {
            model: None,
            serial: None,
            firmware: None,
            capacity_bytes: None,
            logical_block_bytes: logical_block(),
            physical_block_bytes: physical_block(),
            rotational: None,
            trim: None,
        }
    }
}

/// The mechanism of a profile.
#[derive(Clone, Copy, Debug)]
pub enum Medium<'profile> {
    /// `[disk]`.
    Disk(&'profile DiskProfile),
    /// `[disk]` with `[smr]`.
    Shingled(&'profile DiskProfile, &'profile SmrProfile),
    /// `[flash]`.
    Flash(&'profile FlashProfile),
    /// `[constant]`.
    Constant(&'profile ConstantProfile),
    /// `[zoned]`.
    Zoned(&'profile ZonedProfile),
    /// `[volume]`.
    Volume(&'profile VolumeProfile),
}

impl Profile {
    /// Its mechanism.
    ///
    /// # Errors
    /// When it has none, or more than one.
    pub fn medium(&self) -> Result<Medium<'_>, Flaw> {
        let media = [
            self.disk.as_ref().map(|disk| match &self.smr {
                Some(smr) => Medium::Shingled(disk, smr),
                None => Medium::Disk(disk),
            }),
            self.flash.as_ref().map(Medium::Flash),
            self.constant.as_ref().map(Medium::Constant),
            self.zoned.as_ref().map(Medium::Zoned),
            self.volume.as_ref().map(Medium::Volume),
        ];
        let mut given = media.into_iter().flatten();
        const ONE_OF: &str = "a drive is one of [disk], [flash], [constant], [zoned] and [volume]";
        match (given.next(), given.next()) {
            (Some(_), None) if self.smr.is_some() && self.disk.is_none() => {
                Err(Flaw::new("smr", "shingles lie on a disk: [disk] is missing"))
            }
            (Some(medium), None) => Ok(medium),
            (None, _) => Err(Flaw::new("", format!("{ONE_OF}; this one has none of them"))),
            (Some(_), Some(_)) => Err(Flaw::new("", format!("{ONE_OF}; this one has several of them"))),
        }
    }

    /// What it says it holds.
    ///
    /// # Errors
    /// When it is not said, or said twice and not the same.
    pub fn capacity(&self) -> Result<Bytes, Flaw> {
        self.capacity_within(0)
    }

    fn capacity_within(&self, depth: u32) -> Result<Bytes, Flaw> {
        let own = match self.medium()? {
            Medium::Zoned(zoned) => Some(zoned.capacity),
            Medium::Volume(volume) => Some(volume_capacity(volume, depth)?),
            _ => None,
        };
        let said = self.identity.capacity_bytes.map(Bytes);
        match (said, own) {
            (Some(said), Some(own)) if said != own => {
                let reason = format!("it says {} bytes, but what it consists of holds {}", said.0, own.0);
                Err(Flaw::new("identity.capacity_bytes", reason))
            }
            (Some(bytes), _) | (None, Some(bytes)) => Ok(bytes),
            (None, None) => Err(Flaw::new("identity.capacity_bytes", "what the drive holds is missing")),
        }
    }

    /// Whether such a drive can be.
    ///
    /// # Errors
    /// The first key that cannot be as it is.
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
            check_members(volume, depth)?;
        }
        let capacity = self.capacity_within(depth)?;
        self.identity.check(capacity).map_err(|flaw| flaw.within("identity"))?;
        match self.medium()? {
            Medium::Disk(disk) => disk.check(capacity).map_err(|flaw| flaw.within("disk"))?,
            Medium::Shingled(disk, smr) => smr.check_with(disk, capacity)?,
            Medium::Flash(flash) => flash.check(capacity).map_err(|flaw| flaw.within("flash"))?,
            Medium::Constant(constant) => constant.check().map_err(|flaw| flaw.within("constant"))?,
            Medium::Zoned(zoned) => zoned.check().map_err(|flaw| flaw.within("zoned"))?,
            Medium::Volume(_) => {}
        }
        if let Some(link) = &self.link {
            link.numbers().map_err(|flaw| flaw.within("link"))?;
        }
        for (index, fault) in self.faults.iter().enumerate() {
            fault.check(capacity).map_err(|flaw| flaw.within(&format!("faults.{index}")))?;
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
        if capacity.0 == 0 || !capacity.0.is_multiple_of(logical) || capacity.0 > i64::MAX as u64 {
            let reason =
                format!("{} is not a positive multiple of the logical block of {logical}", capacity.0);
            return Err(Flaw::new("capacity_bytes", reason));
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), Flaw> {
    let allowed =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-.".contains(letter);
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        return Err(Flaw::new("name", "it consists of small letters, digits, `-` and `.`, at most 64"));
    }
    Ok(())
}

fn check_members(volume: &VolumeProfile, depth: u32) -> Result<(), Flaw> {
    volume.check().map_err(|flaw| flaw.within("volume"))?;
    for (index, member) in volume.members.iter().enumerate() {
        let within = |flaw: Flaw| {
            let reason = if flaw.key.is_empty() { flaw.reason } else { flaw.to_string() };
            Flaw::new(format!("volume.members.{index}.profile"), reason)
        };
        member_profile(&member.profile, depth)
            .and_then(|profile| profile.check_within(depth + 1))
            .map_err(within)?;
    }
    Ok(())
}

/// The profile of a member: one that comes with the program, not nested too deep.
pub(crate) fn member_profile(name: &str, depth: u32) -> Result<Profile, Flaw> {
    if depth >= MEMBER_DEPTH_MAX {
        return Err(Flaw::new("", format!("volumes within volumes go {MEMBER_DEPTH_MAX} deep")));
    }
    presets::preset(name).map_err(|error| Flaw::new("", error.to_string()))
}

fn volume_capacity(volume: &VolumeProfile, depth: u32) -> Result<Bytes, Flaw> {
    let mut capacities = Vec::new();
    for member in &volume.members {
        let capacity = member_profile(&member.profile, depth)?.capacity_within(depth + 1)?;
        capacities.extend((0..member.count).map(|_| capacity));
    }
    volume.layout(&capacities).map(|layout| layout.capacity()).map_err(|flaw| flaw.within("volume"))
}
