//! Drawn flash drives of which parts were discarded, as file systems do with what they delete.

use crate::flash::profile::{DiscardedRange, Initial};
use crate::generator::draws::Draws;
use crate::generator::family::{Family, size};
use crate::generator::flash;
use crate::profile::Profile;

/// Of the drive, what one of the ranges takes, and what holds data before the next: assumed.
const SHARE: (f64, f64) = (0.05, 0.3);
const BLOCK_BYTES: u64 = 1 << 20;

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::Trimmed, seed, b"trimmed_");
    let mut profile = flash::draw_as(Family::Trimmed, seed);
    let capacity = profile.identity.capacity_bytes.unwrap_or_default();
    if let Some(flash) = &mut profile.flash {
        flash.initial = Initial::Filled;
        let (mut from, mut discarded) = (0, 0);
        loop {
            let first_byte = from + part_of(capacity, draws.even(SHARE));
            let bytes = part_of(capacity, draws.even(SHARE));
            from = first_byte + bytes;
            // What is left behind the last holds data, and is as wide as another.
            if from as f64 > (1.0 - SHARE.0) * capacity as f64 {
                break;
            }
            discarded += bytes;
            flash.discarded.push(DiscardedRange { first_byte, bytes });
        }
        profile.description += &format!(", {} of it discarded", size(discarded));
    }
    profile
}

fn part_of(capacity: u64, share: f64) -> u64 {
    (share * capacity as f64) as u64 / BLOCK_BYTES * BLOCK_BYTES
}
