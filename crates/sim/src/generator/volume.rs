//! Drawn stripes and mirrors, half of them over drives that come with the program and half over drawn ones.

use crate::generator::draws::Draws;
use crate::generator::family::{Family, frame, random_name};
use crate::profile::Profile;
use crate::volume::{MemberProfile, ReadPolicy, VolumeKind, VolumeProfile};

const STRIPES: (u32, u32) = (2, 8);
const FLASH_STRIPES: (u32, u32) = (2, 4);
/// RAID 1 of two, or of three where data must not be lost.
const MIRRORS: (u32, u32) = (2, 3);
/// 64 KiB was the default of mdadm until 2010 and 512 KiB since; LVM has 64; controllers offer these (recalled).
const CHUNKS_KIB: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// Linux takes the nearest, Solaris Volume Manager goes round, some controllers read the first (recalled).
const READ_POLICIES: [(u64, ReadPolicy); 3] =
    [(50, ReadPolicy::Nearest), (35, ReadPolicy::RoundRobin), (15, ReadPolicy::First)];

/// Drives of which volumes are made. One of external disks, or of broken ones, is none that anybody makes.
const DISKS: [&str; 10] = [
    "st3250823a",
    "sata-160gb",
    "wd3000bkhg",
    "wd20ears",
    "hds723030ala640",
    "st3000dm001",
    "dt01aca300",
    "disk-4tb",
    "x300-hdwe150",
    "exos-x20",
];
const FLASH: [&str; 3] = ["x25-m", "sata-tlc-500gb", "970-pro"];
const DRAWN: (u64, u64) = (0, 9999);

const SOURCES: [&str; 1] = [
    "Chunks and ways to share reads: the defaults of mdadm, LVM and Solaris Volume Manager (recalled); members: their own profiles",
];

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::Volume, seed, b"volume__");
    let kind = draws.weighted(&[(65, VolumeKind::Stripe), (35, VolumeKind::Mirror)]);
    let is_flash = draws.percent(20);
    let member = match (draws.percent(50), is_flash) {
        (true, false) => draws.one_of(&DISKS).to_string(),
        (true, true) => draws.one_of(&FLASH).to_string(),
        (false, false) => random_name(Family::HardDisk, draws.count(DRAWN)),
        (false, true) => random_name(Family::Flash, draws.count(DRAWN)),
    };
    let count = draws.count_u32(match kind {
        VolumeKind::Stripe if is_flash => FLASH_STRIPES,
        VolumeKind::Stripe => STRIPES,
        VolumeKind::Mirror | VolumeKind::Concatenation => MIRRORS,
    });
    let chunk_kib = draws.one_of(&CHUNKS_KIB);
    let description = match kind {
        VolumeKind::Stripe => format!("A random RAID 0: {count} of {member}, chunks of {chunk_kib} KiB"),
        VolumeKind::Mirror | VolumeKind::Concatenation => format!("A random RAID 1: {count} of {member}"),
    };
    let read_policy = draws.weighted(&READ_POLICIES);
    let mut profile = frame(Family::Volume, seed, description, &SOURCES);
    profile.volume = Some(VolumeProfile {
        kind,
        chunk_kib: (kind == VolumeKind::Stripe).then_some(chunk_kib),
        read_policy: (kind == VolumeKind::Mirror).then_some(read_policy),
        members: vec![MemberProfile { profile: member, count }],
    });
    profile
}
