//! A drive in memory, in virtual time. It has no clock, no thread and no file: whoever drives it says what time it is.
#![forbid(unsafe_code)]

use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::Instant;

/// A virtual drive. Time never runs backwards: each call's `now` is at least that of the call before.
pub trait Drive {
    /// Takes a request at `now`. Never refuses: the caller keeps to the queue depth that it was opened with.
    fn submit(&mut self, request: Request, now: Instant);

    /// When the next completion will be ready if nothing more is submitted; none when nothing is under way.
    fn next_completion_at(&mut self) -> Option<Instant>;

    /// Takes the next completion if it is ready at `now`.
    fn take_completion(&mut self, now: Instant) -> Option<Completion>;

    /// What the drive says about itself. Its path is the name it was opened by.
    fn facts(&self) -> &TargetFacts;
}
