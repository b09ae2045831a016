//! Disks that are sold together, which are drawn together.

use crate::generator::draws::Range;

/// Disks of one kind: what was measured or specified of such.
#[derive(Clone, Copy)]
pub(super) struct Class {
    pub(super) turns_per_minute: f64,
    pub(super) surfaces: (u32, u32),
    pub(super) gb_per_surface: Range,
    /// Sectors on the outermost track against those on the innermost.
    pub(super) outer_to_inner: Range,
    pub(super) track_skew_turns: Range,
    pub(super) average_seek_ms: Range,
    pub(super) sold_for: Use,
}

/// What a disk is sold for, which decides how it is connected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Desktop,
    Nearline,
    Serial,
}
