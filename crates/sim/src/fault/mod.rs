//! What goes wrong with a drive: errors and times act around it, wrong data in its [`crate::contents`].

pub mod drive;
pub mod profile;

pub use drive::{Fault, FaultyDrive};
pub use profile::{Corruption, FaultProfile};
