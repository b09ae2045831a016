//! Drive-managed shingled recording: a media cache in front of bands that can only be written whole.
//!
//! Overlapping tracks cannot be written alone: whatever is not written in order goes to a media cache, and is merged
//! into its band later, by reading and rewriting the band. While there is room the drive takes random writes faster than
//! any disk; then each of them waits for a band (Aghayev, Shafaei and Desnoyers, "Skylight", FAST 2015).

pub mod bands;
pub mod cleaning;
pub mod drive;
pub mod map;
pub mod media_cache;
pub mod most_dirty;
pub mod oldest_first;
pub mod profile;
pub mod streams;
pub mod truth;
pub mod unmapped;
pub mod write_buffer;

#[cfg(test)]
mod property_tests;
