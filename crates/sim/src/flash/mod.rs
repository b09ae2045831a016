//! Flash drives: dies behind channels, a translation that moves pages, and caches that fill.
//! ```text
//! profile ──► layout ──► presence, translation ◄── garbage_collection
//!    │                            │
//!    ├─► dies ◄── reads ───── drive ── writes ──► write_path ◄── buffer, slc_cache, thermal, housekeeping
//!    └─► truth ◄── write_amplification
//! ```
//!
//! | modelled | how | not modelled |
//! |---|---|---|
//! | translation, garbage collection, trim | page by page on a sample of pages, greedy | wear, bad blocks, map cache misses |
//! | reads | each die and channel a server; waiting for programs and erases by their share of time | hits in the write buffer |
//! | writes | all dies in step at one rate, behind a buffer | a page's kind (its program time is a mean) |
//! | SLC cache | amounts in its static and dynamic part, folding | which data lie in it; reads from it are not faster |
//! | valleys | fragmentation by region, see [`housekeeping`] | why |
//! | heat, sleep, table flushes | one temperature; wake-up time; a stall after so many bytes | power itself |

mod buffer;
mod dies;
pub mod drive;
mod garbage_collection;
pub mod housekeeping;
pub mod layout;
mod presence;
pub mod profile;
mod rates;
pub mod slc_cache;
pub mod thermal;
mod translation;
pub mod truth;
pub mod write_amplification;
mod write_path;
