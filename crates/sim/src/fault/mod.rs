//! What goes wrong with a drive: errors and times act around it, wrong data in its [`crate::contents`]; and who else uses
//! it, [`other_load`], or how late the host is, [`host_delay`].

pub mod drive;
pub mod host_delay;
mod kind;
pub mod other_load;
mod placed;
pub mod profile;

pub use drive::FaultyDrive;
pub use host_delay::{DelayedDrive, HostDelay};
pub use kind::Fault;
pub use other_load::{LoadedDrive, OtherLoad};
pub use profile::{Corruption, FaultProfile};
