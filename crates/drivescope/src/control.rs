//! What the user asks of a run in progress: pause, resume, skip a phase.

use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub struct Controls {
    pause: AtomicBool,
    skip: AtomicBool,
    can_pause: AtomicBool,
    can_skip: AtomicBool,
}

impl Controls {
    pub fn allow(&self, pause: bool, skip: bool) {
        self.can_pause.store(pause, Ordering::Relaxed);
        self.can_skip.store(skip, Ordering::Relaxed);
    }

    pub fn can_pause(&self) -> bool {
        self.can_pause.load(Ordering::Relaxed)
    }

    pub fn can_skip(&self) -> bool {
        self.can_skip.load(Ordering::Relaxed)
    }

    pub fn toggle_pause(&self) -> bool {
        let wanted = self.can_pause() && !self.wants_pause();
        self.pause.store(wanted, Ordering::Relaxed);
        wanted
    }

    pub fn wants_pause(&self) -> bool {
        self.pause.load(Ordering::Relaxed)
    }

    pub fn skip(&self) {
        self.skip.store(self.can_skip(), Ordering::Relaxed);
    }

    pub fn wants_skip(&self) -> bool {
        self.skip.load(Ordering::Relaxed)
    }

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
