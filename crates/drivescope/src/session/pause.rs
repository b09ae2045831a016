//! A rest between two phases, since somebody asked for it, and a phase that ends early for the same reason.
//!
//! A pause never falls into a phase: its latencies, its rate and what the drive did in it are those of an undisturbed
//! phase. The clock of the run does not count it, as it does not count the time before a resumption, and the run says so.

use super::Session;
use super::load_watch::LoadWatch;
use crate::event::Event;
use io::clock::{Clock, MonotonicClock};
use model::plan::StopReason;
use model::units::Nanos;
use report::quantity::rough_time;
use std::sync::atomic::Ordering;

/// How often it is looked whether the pause is over: a key is answered at once then, as people see it.
const LOOK_EVERY: Nanos = Nanos::from_millis(50);

impl Session<'_> {
    /// Rests for as long as somebody wants. Answers whether the run goes on then.
    pub(super) fn pause_if_asked(&mut self, load: &mut LoadWatch) -> bool {
        if !self.controls.wants_pause() {
            return true;
        }
        let began = self.rig.now();
        let watch = MonotonicClock::start();
        self.events.event(&Event::Paused(true));
        while self.controls.wants_pause() && !self.interrupt.load(Ordering::Relaxed) {
            watch.pass(LOOK_EVERY);
        }
        self.events.event(&Event::Paused(false));
        // A virtual drive knows nothing of it: its time passes only while it works.
        if self.rig.target().is_some() {
            self.rig.go_on_from(began);
            load.go_on_at(self.rig.now());
            let text = format!(
                "The run was paused for {} before phase {}; its clock does not count that time, and the drive rested",
                rough_time(Nanos(watch.now().0)),
                self.run.phases.len() + 1
            );
            self.run.environment.warnings.push(text);
        }
        !self.interrupt.load(Ordering::Relaxed)
    }

    /// Why a phase ended: what breaks off a phase does not know who asked for it. A skip that came too late is forgotten.
    pub(super) fn reason_of(&mut self, reason: StopReason) -> StopReason {
        let was_skipped = self.controls.take_skip() && !self.interrupt.load(Ordering::Relaxed);
        match reason {
            StopReason::Interrupted if was_skipped => StopReason::Skipped,
            reason => reason,
        }
    }
}
