//! A pause between two phases.
//!
//! A pause never falls into a phase, whose figures must be those of an undisturbed one. The clock of the run does not
//! count it, as it does not count the time before a resumption.

use crate::control::Controls;
use crate::event::{Event, EventSink};
use io::clock::{Clock, MonotonicClock};
use model::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reacts to a key at once, as people see it.
const LOOK_EVERY: Nanos = Nanos::from_millis(50);

pub fn wait(controls: &Controls, interrupt: &AtomicBool, events: &mut dyn EventSink) -> Nanos {
    let watch = MonotonicClock::start();
    events.event(&Event::Paused(true));
    while controls.wants_pause() && !interrupt.load(Ordering::Relaxed) {
        watch.pass(LOOK_EVERY);
    }
    events.event(&Event::Paused(false));
    Nanos::new(watch.now().get())
}
