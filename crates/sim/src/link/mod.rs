//! What lies between the host and a drive: its rate, the cost of a command, how many commands may be under way.

pub mod drive;
pub mod profile;

pub use drive::LinkedDrive;
pub use profile::{Duplex, LinkKind, LinkNumbers, LinkProfile};
