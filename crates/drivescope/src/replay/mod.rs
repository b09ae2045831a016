//! A stored run as events again: what a live screen would have been told, from what was kept.
//!
//! ```text
//! StoredRun ─► Feed ─► events ─┬► player.rs: the screen, with keys to move in time
//!                              └► lines
//! ```
//! Records are streamed, and a jump looks up where to go on: of what lies before it only the phases' totals are taken, and
//! of the phase in which it lands, a bounded number of stretches.

mod feed;
pub mod player;
#[cfg(test)]
mod tests;

pub use feed::Feed;
