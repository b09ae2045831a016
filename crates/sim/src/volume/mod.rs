//! Several drives as one: stripes (RAID 0), a mirror (RAID 1), or one behind the other.

pub mod drive;
mod kind;
pub mod layout;
pub mod profile;

pub use drive::VolumeDrive;
pub use kind::VolumeKind;
pub use layout::Layout;
pub use profile::{MemberProfile, ReadPolicy, VolumeProfile};
