//! Time. It is read through [`Clock`] only, and it is monotonic: a step of the wall clock cannot reach a measurement.

use model::units::{Instant, Nanos};
use std::cell::Cell;
use std::rc::Rc;

pub trait Clock {
    fn now(&self) -> Instant;

    /// Lets `time` pass: sleeps, or moves virtual time on.
    fn pass(&self, time: Nanos);
}

/// The system's raw monotonic clock, which network time does not slew: 500 ppm is more than periods allow.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    began_ns: u64,
}

impl MonotonicClock {
    pub fn start() -> MonotonicClock {
        MonotonicClock::going_on_from(Instant::START)
    }

    /// Shows `moment` now. The system's clock may have begun later than that, after a restart of the machine.
    pub fn going_on_from(moment: Instant) -> MonotonicClock {
        MonotonicClock { began_ns: raw_ns().wrapping_sub(moment.get()) }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::new(raw_ns().wrapping_sub(self.began_ns))
    }

    fn pass(&self, time: Nanos) {
        std::thread::sleep(std::time::Duration::from_nanos(time.get()));
    }
}

#[inline]
#[allow(unsafe_code, reason = "the standard library reads only the slewed clock")]
fn raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to fill, and the clock exists on every Linux we run on.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut time) };
    assert_eq!(result, 0, "Linux has had CLOCK_MONOTONIC_RAW since 2.6.28");
    time.tv_sec as u64 * model::units::NANOS_PER_SECOND + time.tv_nsec as u64
}

/// Time that passes only when somebody lets it pass. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    now_ns: Rc<Cell<u64>>,
}

impl VirtualClock {
    /// Moves on to `moment`. Panics when it lies in the past.
    pub fn advance_to(&self, moment: Instant) {
        assert!(moment.get() >= self.now_ns.get(), "virtual time does not run backwards");
        self.now_ns.set(moment.get());
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::new(self.now_ns.get())
    }

    fn pass(&self, time: Nanos) {
        self.advance_to(self.now() + time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_shared_and_moves_on_demand() {
        let clock = VirtualClock::default();
        let other = clock.clone();
        clock.pass(Nanos::new(5));
        assert_eq!(other.now(), Instant::new(5));
    }

    #[test]
    #[should_panic(expected = "backwards")]
    fn virtual_time_does_not_run_backwards() {
        let clock = VirtualClock::default();
        clock.pass(Nanos::new(5));
        clock.advance_to(Instant::new(4));
    }

    #[test]
    fn a_clock_goes_on_from_any_moment() {
        let year = Instant::new(31_557_600_000_000_000);
        let now = MonotonicClock::going_on_from(year).now();
        assert!(now >= year && now.since(year) < Nanos::from_secs(10), "{now:?}");
    }

    #[test]
    fn real_time_never_runs_backwards() {
        let clock = MonotonicClock::start();
        let moments: Vec<_> = (0..1000).map(|_| clock.now()).collect();
        assert!(moments.is_sorted());
    }
}
