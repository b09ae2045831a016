//! What a profile consists of.

use crate::constant::ConstantProfile;
use crate::disk::profile::DiskProfile;
use crate::fault::FaultProfile;
use crate::flash::profile::FlashProfile;
use crate::flaw::Flaw;
use crate::link::LinkProfile;
use crate::profile::schema::{all_by_default, section};
use crate::smr::profile::SmrProfile;
use crate::volume::VolumeProfile;
use crate::zoned::ZonedProfile;

/// The version of the schema that this program reads.
pub const VERSION: u32 = 1;

section! {
    Profile at "The top of the file" = "A virtual drive: what it reports of itself, the one mechanism that it consists of, and what lies around that." {
        version: u32 => "Of this schema: 1.";
        name: String => "Its name: small letters, digits, `-` and `.`.";
        description: String => "What it is, in a line.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        sources: Vec<String> = Vec::new() => "Where its numbers come from: what was measured, what a data sheet says, what is assumed.";
        identity: Identity = Identity::default() => "What it reports of itself.";
        #[serde(skip_serializing_if = "Option::is_none")]
        disk: Option<DiskProfile> = None => "It is a hard disk.";
        #[serde(skip_serializing_if = "Option::is_none")]
        smr: Option<SmrProfile> = None => "With `[disk]`: its tracks overlap like shingles, which it hides.";
        #[serde(skip_serializing_if = "Option::is_none")]
        flash: Option<FlashProfile> = None => "It is a flash drive.";
        #[serde(skip_serializing_if = "Option::is_none")]
        constant: Option<ConstantProfile> = None => "It has the same latency for everything.";
        #[serde(skip_serializing_if = "Option::is_none")]
        zoned: Option<ZonedProfile> = None => "It is a disk by its rates alone.";
        #[serde(skip_serializing_if = "Option::is_none")]
        volume: Option<VolumeProfile> = None => "It is several drives.";
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<LinkProfile> = None => "How it is connected; without it nothing lies between host and drive.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        faults: Vec<FaultProfile> = Vec::new() => "What goes wrong.";
    }
}

section! {
    Identity at "[identity]" = "What a drive reports of itself." {
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String> = None => "The model. drivescope and its name unless given.";
        #[serde(skip_serializing_if = "Option::is_none")]
        serial: Option<String> = None => "The serial number.";
        #[serde(skip_serializing_if = "Option::is_none")]
        firmware: Option<String> = None => "The firmware revision.";
        #[serde(skip_serializing_if = "Option::is_none")]
        capacity_bytes: Option<u64> = None => "Capacity. Needed but for `[zoned]` and `[volume]`, which know it.";
        logical_block_bytes: u64 = 512 => "The smallest request: 512 or 4096.";
        physical_block_bytes: u64 = 4096 => "What it handles at once: a power of two up to 65536.";
        #[serde(skip_serializing_if = "Option::is_none")]
        rotational: Option<bool> = None => "Whether it reports rotation. As it is unless given.";
        #[serde(skip_serializing_if = "Option::is_none")]
        trim: Option<bool> = None => "Whether it takes TRIM. Flash drives do, others do not unless given.";
    }
}

all_by_default!(Identity);

#[derive(Clone, Copy, Debug)]
pub enum Medium<'profile> {
    Disk(&'profile DiskProfile),
    Shingled(&'profile DiskProfile, &'profile SmrProfile),
    Flash(&'profile FlashProfile),
    Constant(&'profile ConstantProfile),
    Zoned(&'profile ZonedProfile),
    Volume(&'profile VolumeProfile),
}

impl Profile {
    pub fn medium(&self) -> Result<Medium<'_>, Flaw> {
        const ONE_OF: &str = "a drive is one of [disk], [flash], [constant], [zoned] and [volume]";
        let mut media = Vec::new();
        match (&self.disk, &self.smr) {
            (Some(disk), Some(smr)) => media.push(Medium::Shingled(disk, smr)),
            (Some(disk), None) => media.push(Medium::Disk(disk)),
            (None, _) => {}
        }
        media.extend(self.flash.as_ref().map(Medium::Flash));
        media.extend(self.constant.as_ref().map(Medium::Constant));
        media.extend(self.zoned.as_ref().map(Medium::Zoned));
        media.extend(self.volume.as_ref().map(Medium::Volume));
        match media.as_slice() {
            [_] if self.smr.is_some() && self.disk.is_none() => {
                Err(Flaw::new("smr", "shingles lie on a disk: [disk] is missing"))
            }
            [medium] => Ok(*medium),
            [] => Err(Flaw::new("", format!("{ONE_OF}; this one has none of them"))),
            _ => Err(Flaw::new("", format!("{ONE_OF}; this one has several of them"))),
        }
    }
}
