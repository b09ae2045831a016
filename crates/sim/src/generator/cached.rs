//! Drawn disks behind a large volatile write-back cache, such as that of a RAID controller without a battery.

use crate::generator::draws::{Draws, Range};
use crate::generator::family::{Family, frame, size};
use crate::generator::hard_disk;
use crate::link::{LinkKind, LinkProfile};
use crate::profile::Profile;

/// RAID controllers hold 128 MB (PERC 5) to 8 GB (MegaRAID 9670); more than 4 takes a run hours to drain.
const CAPACITY_MIB: Range = (96.0, 4096.0);
const LINKS: [LinkKind; 3] = [LinkKind::Sata600, LinkKind::Sas12, LinkKind::Nvme];

const SOURCES: [&str; 1] = ["Cache sizes of RAID controllers: data sheets (recalled)"];

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::Cached, seed, b"cached__");
    let mut drawn = hard_disk::draw_disk(Family::Cached, seed, &hard_disk::CLASSES);
    let capacity_kib = draws.by_ratio(CAPACITY_MIB).round() as u64 * 1024;
    drawn.disk.write_cache.capacity_kib = capacity_kib;
    drawn.link = LinkProfile::of(draws.one_of(&LINKS));
    let bytes = drawn.platter_bytes;
    let cache = size(capacity_kib * 1024);
    let description = format!("A random disk behind a write cache: {}, {cache} of cache", size(bytes));
    let mut profile = frame(Family::Cached, seed, description, &SOURCES);
    hard_disk::assemble(&mut profile, drawn, bytes, seed);
    profile
}
