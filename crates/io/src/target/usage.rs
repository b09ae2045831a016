//! Who uses a device or a file, and what is on it.

use super::Target;

/// What an obstacle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObstacleKind {
    /// Somebody uses it.
    InUse,
    /// It could not be seen whether somebody uses it, which counts as use.
    Unknown,
    /// It refuses writes.
    ReadOnly,
    /// It holds something that a write would destroy; consent lifts this one, and only this one.
    Content,
}

/// A reason not to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Obstacle {
    /// What it is.
    pub kind: ObstacleKind,
    /// Who or what, as a clause: "/dev/sda1 is mounted at /data (ext4)".
    pub statement: String,
}

/// All reasons not to write to the target.
pub fn survey(_target: &Target) -> Vec<Obstacle> {
    vec![Obstacle { kind: ObstacleKind::Unknown, statement: "whether it is in use is not known".into() }]
}
