//! When to sleep, when to look again and again, and how much earlier an answer must be begun to be there in time.

use model::units::{Instant, Nanos};

/// So long before an answer is due a sleeping thread must be awake: the kernel may wake it that much too late.
const AWAKE_BEFORE: Nanos = Nanos::new(100_000);
/// So close to the moment nothing else is begun: to take a call of the kernel lasts about a third of this.
const HANDS_OFF: Nanos = Nanos::new(10_000);
/// In each stretch of this length …
const STRETCH: Nanos = Nanos::new(20_000_000);
/// … at least this much is slept, as long as the drive leaves time for it. The kernel stops real-time threads that use
/// more than 95 % of a second for 50 ms, which is six turns of a disk; and its own threads need the processor too.
const SLEEP_MIN: Nanos = Nanos::new(2_000_000);
/// An answer is never begun earlier than this.
const LEAD_MAX: Nanos = Nanos::new(400_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    No,
    /// Sleep so long at most, or until a call comes; for ever when none.
    Sleep(Option<Nanos>),
    Look,
    Watch,
}

/// Decides between sleeping and watching, and keeps account of it.
pub(super) struct Pacer {
    stretch_began: Instant,
    slept: Nanos,
}

impl Pacer {
    pub(super) fn new(now: Instant) -> Pacer {
        Pacer { stretch_began: now, slept: Nanos::ZERO }
    }

    pub(super) fn until(&mut self, due: Option<Instant>, now: Instant) -> Wait {
        let Some(due) = due else { return Wait::Sleep(None) };
        if now.since(self.stretch_began) >= STRETCH {
            (self.stretch_began, self.slept) = (now, Nanos::ZERO);
        }
        let left = due.since(now);
        // What is left of the stretch is slept through once the rest of it is needed for that.
        let owed = SLEEP_MIN.saturating_sub(self.slept);
        let tired = now.since(self.stretch_began) + owed >= STRETCH && owed > Nanos::ZERO;
        match left {
            Nanos::ZERO => Wait::No,
            left if left > AWAKE_BEFORE => Wait::Sleep(Some(left.saturating_sub(AWAKE_BEFORE))),
            left if tired => Wait::Sleep(Some(left)),
            left if left > HANDS_OFF => Wait::Look,
            _ => Wait::Watch,
        }
    }

    pub(super) fn slept(&mut self, time: Nanos) {
        self.slept += time;
    }
}

/// How long it takes to give an answer, by its size: the kernel copies it to whoever asked, some 100 µs for 1 MiB.
pub(super) struct AnswerCost {
    /// By the number of bits of the size: the least seen, forgotten slowly. A mean would count interruptions.
    least: [Nanos; u32::BITS as usize + 1],
}

impl Default for AnswerCost {
    fn default() -> AnswerCost {
        AnswerCost { least: [Nanos::ZERO; u32::BITS as usize + 1] }
    }
}

impl AnswerCost {
    /// An answer with that much data took so long.
    pub(super) fn learn(&mut self, bytes: u32, cost: Nanos) {
        let least = &mut self.least[class(bytes)];
        *least = match *least {
            Nanos::ZERO => cost,
            least if cost < least => cost,
            least => Nanos::new(least.get() + (cost.get() - least.get()).min(least.get() / 32) / 8),
        };
    }

    pub(super) fn lead(&self, bytes: u32) -> Nanos {
        self.least[class(bytes)].min(LEAD_MAX)
    }
}

fn class(bytes: u32) -> usize {
    (u32::BITS - bytes.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_away_is_slept_to_and_near_is_watched() {
        let mut pacer = Pacer::new(Instant::START);
        assert_eq!(pacer.until(None, Instant::START), Wait::Sleep(None));
        let due = Some(Instant::new(1_000_000));
        assert_eq!(pacer.until(due, Instant::START), Wait::Sleep(Some(Nanos::new(900_000))));
        assert_eq!(pacer.until(due, Instant::new(930_000)), Wait::Look);
        assert_eq!(pacer.until(due, Instant::new(995_000)), Wait::Watch);
        assert_eq!(pacer.until(due, Instant::new(1_000_000)), Wait::No);
        assert_eq!(pacer.until(due, Instant::new(1_200_000)), Wait::No);
    }

    #[test]
    fn a_tenth_of_the_time_is_slept_even_when_something_is_always_near() {
        let mut pacer = Pacer::new(Instant::START);
        let (mut now, mut slept) = (0, 0);
        while now < 1_000_000_000 {
            match pacer.until(Some(Instant::new(now + 50_000)), Instant::new(now)) {
                Wait::Sleep(Some(time)) => {
                    pacer.slept(time);
                    slept += time.get();
                    now += time.get();
                }
                _ => now += 10_000,
            }
        }
        assert!((95_000_000..110_000_000).contains(&slept), "{slept}");
    }

    #[test]
    fn the_least_cost_counts() {
        let mut cost = AnswerCost::default();
        assert_eq!(cost.lead(1 << 20), Nanos::ZERO);
        [120_000, 100_000, 4_000_000].into_iter().for_each(|seen| cost.learn(1 << 20, Nanos::new(seen)));
        let lead = cost.lead(1 << 20).get();
        assert!((100_000..101_000).contains(&lead), "{lead}");
        assert_eq!(cost.lead(4096), Nanos::ZERO);
        cost.learn(4096, Nanos::new(9_000_000));
        assert_eq!(cost.lead(4096), LEAD_MAX);
    }
}
