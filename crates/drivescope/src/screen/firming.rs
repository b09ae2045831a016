//! Findings during a run: what is stored is analysed now and then, by a thread of the lowest priority.

use super::full::Shared;
use crate::event::{Event, EventSink};
use io::clock::{Clock, MonotonicClock};
use model::finding::Finding;
use model::units::Nanos;
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use std::sync::Arc;

/// Makes findings of what is stored so far; none when that would read too much.
pub type LookAgain = Box<dyn FnMut() -> Option<Vec<Finding>> + Send>;

const FIRST_AFTER: Nanos = Nanos::from_secs(5);
/// An analysis is followed by a rest of this many times its length: at most 2 % of one CPU.
const REST_FACTOR: u64 = 49;
const STEP: Nanos = Nanos::from_millis(250);
/// The lowest priority of Linux: any measuring thread runs first.
const NICE: i32 = 19;

/// The thread ends when the screen is closed, or with the program.
pub fn begin(shared: Arc<Shared>, look_again: LookAgain) {
    // A screen without findings is better than none.
    let _ = std::thread::Builder::new().name("findings".into()).spawn(move || watch(&shared, look_again));
}

fn watch(shared: &Shared, mut look_again: LookAgain) {
    let _ = setpriority_process(Some(gettid()), NICE);
    let clock = MonotonicClock::start();
    let mut due = FIRST_AFTER;
    while !shared.is_over() {
        clock.pass(STEP);
        if Nanos::new(clock.now().get()) < due {
            continue;
        }
        let began = clock.now();
        let findings = look_again();
        let now = clock.now();
        due = Nanos::new(now.get())
            + Nanos::new(now.since(began).get().saturating_mul(REST_FACTOR)).max(FIRST_AFTER);
        let mut state = shared.state();
        if let Some(findings) = findings
            && state.ended.is_none()
        {
            state.event(&Event::Findings(&findings));
        }
    }
}
