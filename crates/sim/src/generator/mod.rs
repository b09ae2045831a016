//! Virtual drives drawn at random, as many as there are seeds: what nobody tuned anything for.
//!
//! What is drawn is the mechanism, never a result, from ranges within which drives were measured or specified; each
//! range says where it comes from. Three things are not drawn one by one, since they hang together on every drive: how
//! long a track is at a density, how large caches are at a density, and how fast the link of a generation is.
//!
//! | family | what is drawn | file |
//! |---|---|---|
//! | `hard-disk` | speed, surfaces, zones, layout, skews, seeks, caches, queue, defects, standby, link | `hard_disk` |
//! | `shingled` | the same, with a media cache, bands and cleaning | `shingled` |
//! | `flash` | dies, times, spare space, SLC cache, buffer, valleys, heat, sleep, link | `flash` |
//! | `volume` | stripes and mirrors, over drives that come with the program and over drawn ones | `volume` |
//! | `remote` | latency of reads and writes, jitter, servers, link, and no mechanism | `remote` |
//! | `cached` | a disk of `hard-disk`, its write-back cache, the link before it | `cached` |
//! | `read-policy` | a disk of `hard-disk`, and when it reads unasked | `read_policy` |
//! | `trimmed` | a drive of `flash` that is filled, and what of it was discarded | `trimmed` |
//! | `cloud` | latency, throughput, a token bucket of requests or of bytes | `cloud` |
//!
//! The same family and seed is the same drive, and its name says both: `random-hard-disk-17`.

mod cached;
mod class;
mod cloud;
mod draws;
mod family;
mod flash;
mod geometry;
mod hard_disk;
mod mechanics;
mod read_policy;
mod remote;
mod shingled;
mod trimmed;
mod volume;

use crate::profile::Profile;
pub use family::{Family, random_name};

pub fn random_profile(family: Family, seed: u64) -> Profile {
    match family {
        Family::HardDisk => hard_disk::draw(seed),
        Family::Shingled => shingled::draw(seed),
        Family::Flash => flash::draw(seed),
        Family::Volume => volume::draw(seed),
        Family::Remote => remote::draw(seed),
        Family::Cloud => cloud::draw(seed),
        Family::Cached => cached::draw(seed),
        Family::ReadPolicy => read_policy::draw(seed),
        Family::Trimmed => trimmed::draw(seed),
    }
}

pub(crate) fn named(name: &str) -> Option<Profile> {
    let (family, seed) = name.strip_prefix("random-")?.rsplit_once('-')?;
    let family = Family::from_name(family)?;
    let seed = seed.parse().ok()?;
    // One drive has one name: no sign, no zeros before it.
    if random_name(family, seed) == name { Some(random_profile(family, seed)) } else { None }
}

#[cfg(test)]
mod tests;
