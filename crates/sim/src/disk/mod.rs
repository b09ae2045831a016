//! A hard disk by its mechanism: layout, arm, rotation, queue and caches.
//! ```text
//! profile ──► geometry ┐
//!         └─► seek ────┴► mechanism ◄── arm (queue, read_ahead), write_cache ◄── drive
//!         └─► truth
//! ```

#[cfg(test)]
mod any_profile;
pub(crate) mod arm;
mod check;
#[cfg(test)]
mod closed_loop;
pub mod drive;
pub mod geometry;
pub mod mechanism;
pub mod profile;
#[cfg(test)]
mod published;
pub mod queue;
pub mod read_ahead;
pub mod seek;
pub mod truth;
pub mod write_cache;
