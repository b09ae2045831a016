//! Drawn hard disks that read as soon as the head is on a track, or prefetch only what is read in sequence, or both.

use crate::generator::draws::Draws;
use crate::generator::family::{Family, frame, size};
use crate::generator::hard_disk;
use crate::profile::Profile;

const SOURCES: [&str; 1] = [
    "Policies: Worthington, Ganger, Patt, Wilkes, \"On-line extraction of SCSI disk drive parameters\" (1995)",
];

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::ReadPolicy, seed, b"policy__");
    let mut drawn = hard_disk::draw_disk(Family::ReadPolicy, seed, &hard_disk::CLASSES);
    let (on_arrival, sequential_only) = draws.one_of(&[(true, false), (false, true), (true, true)]);
    drawn.disk.read_ahead.on_arrival = on_arrival;
    drawn.disk.read_ahead.sequential_only = sequential_only;
    let bytes = drawn.platter_bytes;
    let policy = if on_arrival { "that reads on arrival" } else { "that prefetches in sequence only" };
    let description = format!("A random hard disk {policy}: {}", size(bytes));
    let mut profile = frame(Family::ReadPolicy, seed, description, &SOURCES);
    hard_disk::assemble(&mut profile, drawn, bytes, seed);
    profile
}
