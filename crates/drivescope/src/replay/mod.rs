//! A stored run as events: what a live screen would have received.
//! ```text
//! StoredRun ─► Feed ─► events ─┬► player.rs: the screen, with keys to move in time
//!                              └► lines
//! ```
//! Records are streamed. A jump takes the totals of the phases before it, and of its own phase a bounded number of intervals.

mod feed;
pub mod player;
#[cfg(test)]
mod tests;

pub use feed::Feed;
