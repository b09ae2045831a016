//! A hard disk by its mechanism: layout, arm, rotation, queue and caches.

pub mod drive;
pub mod geometry;
pub mod published;
pub mod seek;
