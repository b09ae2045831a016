//! What a profile consists of.

use crate::constant::ConstantProfile;
use crate::disk::profile::DiskProfile;
use crate::fault::FaultProfile;
use crate::flash::profile::FlashProfile;
use crate::flaw::Flaw;
use crate::flush::FlushPolicy;
use crate::limit::LimitProfile;
use crate::link::LinkProfile;
use crate::profile::schema::{all_by_default, section};
use crate::smr::profile::SmrProfile;
use crate::volume::VolumeProfile;
use crate::zoned::ZonedProfile;
use model::units::Bytes;

pub const VERSION: u32 = 1;

section! {
    #[derive(Default)]
    Profile at "The top of the file" = "A virtual drive: identity, mechanism, link, rate limit and faults." {
        version: u32 => "Schema version: 1.";
        name: String => "Name: lowercase letters, digits, `-` and `.`.";
        description: String => "One line of description.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        sources: Vec<String> = Vec::new() => "Sources of the numbers: measured, data sheet or assumed.";
        identity: Identity = Identity::default() => "Identity as reported to the host.";
        disk: Option<DiskProfile> = None => "Hard disk.";
        smr: Option<SmrProfile> = None => "Drive-managed SMR, with `[disk]`.";
        flash: Option<FlashProfile> = None => "Flash drive.";
        constant: Option<ConstantProfile> = None => "Constant latency.";
        zoned: Option<ZonedProfile> = None => "Disk described by throughput only.";
        volume: Option<VolumeProfile> = None => "Volume of several drives.";
        link: Option<LinkProfile> = None => "Link to the host; without it, the link costs nothing.";
        limit: Option<LimitProfile> = None => "Rate limit with burst credit.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        faults: Vec<FaultProfile> = Vec::new() => "Faults.";
    }
}

impl Profile {
    /// The write cache, and what a flush does with it; none where every write is on the medium at once.
    pub fn write_cache(&self) -> Option<(Bytes, FlushPolicy)> {
        let of_flash = self.flash.as_ref().and_then(|flash| flash.buffer.as_ref());
        match (of_flash, &self.disk) {
            (Some(buffer), _) => Some((Bytes::from_kib(buffer.capacity_kib), buffer.flush)),
            (None, Some(disk)) => {
                Some((Bytes::from_kib(disk.write_cache.capacity_kib), disk.write_cache.flush))
            }
            (None, None) => None,
        }
    }
}

section! {
    Identity at "[identity]" = "Identity as reported to the host." {
        model: Option<String> = None => "Model. Default: drivescope and the name.";
        serial: Option<String> = None => "Serial number.";
        firmware: Option<String> = None => "Firmware revision.";
        capacity_bytes: Option<u64> = None => "Capacity. Required, except with `[zoned]` and `[volume]`.";
        logical_block_bytes: u64 = 512 => "Logical block size: 512 or 4096.";
        physical_block_bytes: u64 = 4096 => "Physical block size: a power of two up to 65536.";
        rotational: Option<bool> = None => "Whether it reports rotation. Default: by its kind.";
        trim: Option<bool> = None => "Whether it supports TRIM. Default: flash drives only.";
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
