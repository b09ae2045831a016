//! Virtual drives as text: what a profile consists of, those that come with the program, and how one becomes a drive.
//!
//! A profile describes the mechanism; what it makes true is in [`crate::truth`]. The sections are defined where the
//! mechanisms are, and described for people in `docs/reference/profiles.md`.
//! ```text
//! text ─► parse ─► Profile ─► check ─► build ─► mechanism ─► link ─► limit ─► faults
//!           │                                   (or a volume of such)
//!           └── file, line and reason of what cannot be
//! ```

mod build;
mod check;
mod document;
mod error;
mod line;
mod parse;
mod presets;
pub(crate) mod schema;

pub use build::contents;
pub(crate) use build::plain_facts;
pub use document::{Identity, Medium, Profile, VERSION};
pub use error::ProfileError;
pub use presets::{preset, preset_names, preset_text};

pub use schema::{Key, Section, Words};

use crate::Drive;
use crate::constant::ConstantProfile;
use crate::disk::profile as disk;
use crate::fault::Corruption;
use crate::flash::profile as flash;
use crate::flush::FlushPolicy;
use crate::limit::LimitProfile;
use crate::link::{Duplex, LinkKind, LinkProfile};
use crate::smr::profile as smr;
use crate::volume::{MemberProfile, ReadPolicy, VolumeKind, VolumeProfile};
use crate::zoned::{Zone, ZonedDrive, ZonedProfile};
use model::units::Bytes;

/// Every section of a profile, for its documentation, and every list of words. Those that depend on a `kind` are not.
pub const SECTIONS: &[Section] = &[
    Profile::SECTION,
    Identity::SECTION,
    disk::DiskProfile::SECTION,
    disk::GeometryProfile::SECTION,
    disk::ZoneProfile::SECTION,
    disk::GeneratedZones::SECTION,
    disk::ReadAheadProfile::SECTION,
    disk::WriteCacheProfile::SECTION,
    disk::QueueProfile::SECTION,
    disk::StandbyProfile::SECTION,
    disk::Defect::SECTION,
    smr::SmrProfile::SECTION,
    smr::BandZone::SECTION,
    flash::FlashProfile::SECTION,
    flash::GarbageCollectionProfile::SECTION,
    flash::SlcProfile::SECTION,
    flash::BufferProfile::SECTION,
    flash::HousekeepingProfile::SECTION,
    flash::MapFlushProfile::SECTION,
    flash::ThermalProfile::SECTION,
    flash::PowerStateProfile::SECTION,
    flash::DiscardedRange::SECTION,
    ConstantProfile::SECTION,
    ZonedProfile::SECTION,
    Zone::SECTION,
    VolumeProfile::SECTION,
    MemberProfile::SECTION,
    LinkProfile::SECTION,
    LimitProfile::SECTION,
];
pub const WORDS: &[Words] = &[
    FlushPolicy::WORDS,
    disk::TrackLayout::WORDS,
    disk::QueuePolicy::WORDS,
    disk::DefectKind::WORDS,
    smr::CleaningPolicy::WORDS,
    smr::CleaningOrder::WORDS,
    flash::Initial::WORDS,
    flash::WhenFull::WORDS,
    VolumeKind::WORDS,
    ReadPolicy::WORDS,
    LinkKind::WORDS,
    Duplex::WORDS,
    Corruption::WORDS,
];

/// Opens the virtual drive of that name, without the `sim:` before it. `seed` draws all that is random in it.
pub fn open(name: &str, seed: u64) -> Result<Box<dyn Drive + Send>, ProfileError> {
    open_profile(&preset(name)?, &format!("sim:{name}"), seed)
}

pub fn open_profile(profile: &Profile, path: &str, seed: u64) -> Result<Box<dyn Drive + Send>, ProfileError> {
    build::build(profile, path, seed).map_err(|flaw| ProfileError::Unsound {
        file: path.to_string(),
        line: None,
        flaw,
    })
}

pub fn open_zoned(profile: ZonedProfile, seed: u64) -> ZonedDrive {
    let mut facts = plain_facts("sim:zoned", Bytes::new(profile.capacity_bytes));
    facts.rotational = Some(true);
    ZonedDrive::new(facts, profile, seed)
}

#[cfg(test)]
mod tests;
