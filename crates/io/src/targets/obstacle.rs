//! Why a target may not be written to.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObstacleKind {
    InUse,
    /// It could not be seen whether somebody uses it, which counts as use.
    Unknown,
    ReadOnly,
    /// It takes writes only in the order of its zones, which nothing here keeps.
    Zoned,
    /// It holds something that a write would destroy; consent lifts this one, and only this one.
    Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Obstacle {
    pub kind: ObstacleKind,
    /// Who or what, as a clause: "/dev/sda1 is mounted at /data (ext4)".
    pub statement: String,
}

impl Obstacle {
    pub(super) fn new(kind: ObstacleKind, statement: impl Into<String>) -> Obstacle {
        Obstacle { kind, statement: statement.into() }
    }
}
