//! Findings while a run goes on: what is stored is analysed now and then, by a thread that takes what others leave.

use super::full::Shared;
use crate::event::{Event, EventSink};
use io::clock::{Clock, MonotonicClock};
use model::finding::Finding;
use model::units::Nanos;
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use std::sync::Arc;

/// Makes the findings of what is stored so far; none when that would take too much.
pub type LookAgain = Box<dyn FnMut() -> Option<Vec<Finding>> + Send>;

/// Before this there is little to find.
const FIRST_AFTER: Nanos = Nanos::from_secs(5);
/// A look is followed by a rest of this many times as long: 2 % of one processor at most.
const REST_FACTOR: u64 = 49;
/// How often it is looked whether the screen is closed.
const STEP: Nanos = Nanos::from_millis(250);
/// The kindest that Linux knows: any measuring thread goes before.
const NICE: i32 = 19;

/// Begins to look. The thread ends by itself when the screen is closed; a look that is under way then ends with the program.
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
        if Nanos(clock.now().0) < due {
            continue;
        }
        let began = clock.now();
        let findings = look_again();
        let now = clock.now();
        due = Nanos(now.0) + Nanos(now.since(began).0.saturating_mul(REST_FACTOR)).max(FIRST_AFTER);
        let mut state = shared.state();
        if let Some(findings) = findings.filter(|_| state.ended.is_none()) {
            state.event(&Event::Findings(&findings));
        }
    }
}
