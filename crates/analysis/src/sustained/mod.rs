//! How fast a drive takes writes that go on: pieces of writing by what had been written, levels of rate, and where it falls.
//!
//! The experiment that writes and the detectors read the same: the one to know when to stop, the others to conclude.

mod fall;
mod history;
mod level;

pub use fall::{Fall, Standing, standing};
pub use history::{History, Piece, Stream};
pub use level::{Level, levels};
