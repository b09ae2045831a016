//! Flash drives: dies behind channels, a translation that moves pages, and caches that fill.

mod garbage_collection;
pub mod layout;
mod presence;
pub mod profile;
mod translation;
pub mod write_amplification;
