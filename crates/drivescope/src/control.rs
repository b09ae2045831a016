//! What somebody at the screen wants of a run under way: to pause, to go on, or to have the next phase.

use std::sync::atomic::{AtomicBool, Ordering};

/// Wishes, and which of them a run can grant. Shared by the thread of the screen and that of the session.
#[derive(Debug, Default)]
pub struct Controls {
    pause: AtomicBool,
    skip: AtomicBool,
    can_pause: AtomicBool,
    can_skip: AtomicBool,
}

impl Controls {
    /// Says what the run can grant: the session does, before its first phase.
    pub fn allow(&self, pause: bool, skip: bool) {
        self.can_pause.store(pause, Ordering::Relaxed);
        self.can_skip.store(skip, Ordering::Relaxed);
    }

    /// Whether the run can pause between its phases.
    pub fn can_pause(&self) -> bool {
        self.can_pause.load(Ordering::Relaxed)
    }

    /// Whether a phase can be skipped.
    pub fn can_skip(&self) -> bool {
        self.can_skip.load(Ordering::Relaxed)
    }

    /// Asks for a pause, or takes the wish back. Answers whether a pause is wanted now.
    pub fn toggle_pause(&self) -> bool {
        let wanted = self.can_pause() && !self.wants_pause();
        self.pause.store(wanted, Ordering::Relaxed);
        wanted
    }

    /// Whether a pause is wanted: between this phase and the next, until it is not wanted any more.
    pub fn wants_pause(&self) -> bool {
        self.pause.load(Ordering::Relaxed)
    }

    /// Asks for the end of the phase under way.
    pub fn skip(&self) {
        self.skip.store(self.can_skip(), Ordering::Relaxed);
    }

    /// Whether the phase under way shall end.
    pub fn wants_skip(&self) -> bool {
        self.skip.load(Ordering::Relaxed)
    }

    /// Whether it was to end, and not any longer: the wish holds for one phase.
    pub fn take_skip(&self) -> bool {
        self.skip.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_is_granted() {
        let controls = Controls::default();
        assert!(!controls.toggle_pause());
        controls.skip();
        assert!(!controls.take_skip());
        controls.allow(true, true);
        assert!(controls.toggle_pause() && controls.wants_pause());
        assert!(!controls.toggle_pause() && !controls.wants_pause());
        controls.skip();
        assert!(controls.wants_skip() && controls.take_skip() && !controls.take_skip());
    }
}
