//! A hard disk by its mechanism: layout, arm, rotation.

pub mod geometry;
pub mod seek;
