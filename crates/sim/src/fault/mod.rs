//! What goes wrong with a drive: errors and times here, wrong data in [`crate::contents`]; and others who use it.

pub mod drive;
pub mod host_delay;
mod kind;
pub mod other_load;
mod placed;
pub mod profile;

pub use drive::FaultyDrive;
pub use host_delay::{DelayedDrive, HostDelay};
pub use kind::{Fault, Wrap};
pub use other_load::{LoadedDrive, OtherLoad};
pub use profile::{Corruption, FaultProfile};
