//! How the next completion is waited for: asleep, or spinning, which is asking the kernel again and again.
//!
//! To be woken takes a processor out of its sleep: 10 to 20 µs on a virtual machine, which are the host's and not the drive's.
//! Spinning spares them, but takes a processor from whoever else needs it, such as a drive that is served by a process. A host
//! only ever adds time, so the way that sees completions sooner is the truer one; a trial finds out which.

use model::units::{Instant, Nanos};
use std::sync::{Arc, Mutex};

/// At this length a wake-up is less than a tenth of the wait.
pub(super) const SPIN_MAX: Nanos = Nanos::new(200_000);
/// With more requests in flight, one has usually completed by the time we look, and spinning costs more than it saves.
const DEPTH_MAX: u32 = 8;
/// The trial compares groups of waits in turns. Each has so many completions for each request in flight …
const GROUP: u32 = 16;
/// … and lasts this long, since whoever wakes whom settles within a tick of the scheduler.
const GROUP_TIME: Nanos = Nanos::new(3_000_000);
/// It ends with the tenth pair won or the fourth lost. Of two ways that are alike, spinning wins 5 of 100 trials: the sum of
/// C(13, k) / 2¹³ for k from 10 to 13.
const WINS: u32 = 10;
const LOSSES: u32 = 4;
/// A spin in vain weighs as much as so many that were not, and so much weight ends all spinning.
const IN_VAIN_WEIGHT: u32 = 16;
const IN_VAIN_MAX: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Trial { wins: u32, losses: u32, asleep: Option<Nanos> },
    Decided { is_spinning: bool },
}

/// How to wait at one queue depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    stage: Stage,
    group_completions: u32,
    group_began: Option<Instant>,
    taken: u32,
    /// The last wait was a short one, and so will the next be.
    is_short: bool,
    in_vain: u32,
}

impl Waiting {
    fn at(depth: u32) -> Waiting {
        Waiting {
            stage: Stage::Trial { wins: 0, losses: 0, asleep: None },
            group_completions: GROUP * depth,
            group_began: None,
            taken: 0,
            is_short: false,
            in_vain: 0,
        }
    }

    pub(super) fn is_spinning(&self) -> bool {
        match self.stage {
            Stage::Trial { asleep, .. } => asleep.is_some(),
            Stage::Decided { is_spinning } => is_spinning && self.is_short,
        }
    }

    /// A wait from `began` to `ended` brought `taken` completions.
    pub(super) fn waited(&mut self, began: Instant, ended: Instant, taken: u32) {
        let was_spinning = self.is_spinning();
        self.is_short = ended.since(began) < SPIN_MAX;
        let Stage::Trial { wins, losses, asleep } = self.stage else {
            self.count_in_vain(was_spinning);
            return;
        };
        if !self.is_short {
            // A drive that waits for the processor on which we spin is as slow as that. Asleep, slowness is the drive's.
            self.stage = if asleep.is_some() { after(wins, losses + 1) } else { self.stage };
            self.group_began = None;
            return;
        }
        let Some(group_began) = self.group_began else {
            (self.group_began, self.taken) = (Some(ended), 0);
            return;
        };
        self.taken += taken;
        let took = ended.since(group_began);
        if self.taken < self.group_completions || took < GROUP_TIME {
            return;
        }
        let each = Nanos::new(took.get() / u64::from(self.taken));
        self.group_began = None;
        self.stage = match asleep {
            None => Stage::Trial { wins, losses, asleep: Some(each) },
            Some(asleep) if each < asleep => after(wins + 1, losses),
            Some(_) => after(wins, losses + 1),
        };
    }

    /// Gives up where more than one in [`IN_VAIN_WEIGHT`] spins ends in sleep.
    fn count_in_vain(&mut self, was_spinning: bool) {
        self.in_vain = match self.is_short {
            true => self.in_vain.saturating_sub(1),
            false if was_spinning => self.in_vain + IN_VAIN_WEIGHT,
            false => self.in_vain,
        };
        if self.in_vain > IN_VAIN_MAX {
            self.stage = Stage::Decided { is_spinning: false };
        }
    }
}

fn after(wins: u32, losses: u32) -> Stage {
    if wins >= WINS || losses >= LOSSES {
        return Stage::Decided { is_spinning: wins >= WINS };
    }
    Stage::Trial { wins, losses, asleep: None }
}

fn can_spin() -> bool {
    std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)
}

/// What a run says of it.
pub fn told() -> Option<&'static str> {
    if can_spin() {
        return Some("spins at QD 1 to 8 where that sees completions sooner than sleeping");
    }
    None
}

/// What has been found out about waiting for one target, kept from phase to phase.
#[derive(Clone, Debug, Default)]
pub struct WaitingWays {
    by_depth: Arc<Mutex<[Option<Waiting>; DEPTH_MAX as usize]>>,
}

impl WaitingWays {
    /// How to wait at `depth`; none where it is asleep in any case: many requests in flight, several workers, one processor.
    pub(super) fn begin(&self, depth: u32, workers: u32) -> Option<Waiting> {
        if workers > 1 || !can_spin() {
            return None;
        }
        self.known(depth)
    }

    fn known(&self, depth: u32) -> Option<Waiting> {
        if depth > DEPTH_MAX {
            return None;
        }
        let ways = self.by_depth.lock().expect("nobody panics who holds it");
        let waiting = ways[depth as usize - 1].unwrap_or_else(|| Waiting::at(depth));
        // What sleeps for good needs no look at the clock around each wait.
        if waiting.stage == (Stage::Decided { is_spinning: false }) { None } else { Some(waiting) }
    }

    /// Whether waits at `depth` were found to be sooner by spinning.
    pub fn are_spinning(&self, depth: u32) -> bool {
        self.known(depth).is_some_and(|waiting| waiting.stage == Stage::Decided { is_spinning: true })
    }

    pub(super) fn end(&self, depth: u32, waiting: Waiting) {
        let mut ways = self.by_depth.lock().expect("nobody panics who holds it");
        let stage = match waiting.stage {
            Stage::Trial { wins, losses, .. } => Stage::Trial { wins, losses, asleep: None },
            decided => decided,
        };
        ways[depth as usize - 1] = Some(Waiting { stage, group_began: None, ..waiting });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of these lengths, asleep and spinning, until it is decided; how many waits that took.
    fn trial(asleep_ns: u64, spinning_ns: u64) -> (Waiting, u32) {
        let (mut waiting, mut now, mut waits) = (Waiting::at(1), Instant::START, 0);
        while !matches!(waiting.stage, Stage::Decided { .. }) && waits < 10_000 {
            let took = if waiting.is_spinning() { spinning_ns } else { asleep_ns };
            waiting.waited(now, now + Nanos::new(took), 1);
            now += Nanos::new(took);
            waits += 1;
        }
        (waiting, waits)
    }

    #[test]
    fn what_sees_completions_sooner_is_kept() {
        let (waiting, waits) = trial(30_000, 14_000);
        assert!(waiting.is_spinning());
        // Ten pairs of groups of 3 ms: 100 waits and 215, and one before each.
        assert_eq!(waits, 10 * (101 + 216));
        let (waiting, waits) = trial(175_000, 199_000);
        assert!(!waiting.is_spinning());
        // Four pairs: 18 waits and 16, and one before each.
        assert_eq!(waits, 4 * (19 + 17));
    }

    #[test]
    fn long_waits_are_slept_through_and_decide_nothing() {
        let (waiting, waits) = trial(8_000_000, 7_000_000);
        assert!(!waiting.is_spinning());
        assert_eq!((waits, waiting.stage), (10_000, Stage::Trial { wins: 0, losses: 0, asleep: None }));
    }

    #[test]
    fn a_drive_that_waits_for_our_processor_is_slept_for() {
        let (waiting, waits) = trial(100_000, 3_000_000);
        assert_eq!(waiting.stage, Stage::Decided { is_spinning: false });
        // Four groups asleep, each of 30 waits and one before it, and one spin after each.
        assert_eq!(waits, 4 * (31 + 1));
        let (mut waiting, _) = trial(30_000, 14_000);
        for _ in 0..17 {
            waiting.waited(Instant::START, Instant::new(14_000), 1);
            assert!(waiting.is_spinning());
            waiting.waited(Instant::START, Instant::new(3_000_000), 1);
        }
        waiting.waited(Instant::START, Instant::new(14_000), 1);
        waiting.waited(Instant::START, Instant::new(3_000_000), 1);
        assert_eq!(waiting.stage, Stage::Decided { is_spinning: false });
    }

    #[test]
    fn only_short_waits_are_spun_through() {
        let (mut waiting, _) = trial(30_000, 14_000);
        waiting.waited(Instant::START, Instant::new(9_000_000), 1);
        assert!(!waiting.is_spinning());
        waiting.waited(Instant::START, Instant::new(20_000), 1);
        assert!(waiting.is_spinning());
    }

    #[test]
    fn a_phase_that_ends_within_a_group_leaves_the_next_asleep() {
        let (ways, mut waiting) = (WaitingWays::default(), Waiting::at(1));
        for number in 0..150 {
            waiting.waited(Instant::new(number * 30_000), Instant::new((number + 1) * 30_000), 1);
        }
        assert!(waiting.is_spinning());
        ways.end(1, waiting);
        assert!(!ways.known(1).unwrap().is_spinning());
    }

    #[test]
    fn each_depth_has_its_own_way_and_several_workers_sleep() {
        let ways = WaitingWays::default();
        let decided = Stage::Decided { is_spinning: true };
        ways.end(2, Waiting { stage: decided, ..Waiting::at(2) });
        assert_eq!(ways.known(2).map(|waiting| waiting.stage), Some(decided));
        assert_eq!(ways.known(1).map(|waiting| waiting.stage), Some(Waiting::at(1).stage));
        ways.end(3, Waiting { stage: Stage::Decided { is_spinning: false }, ..Waiting::at(3) });
        assert!(ways.known(3).is_none());
        assert!(ways.are_spinning(2) && !ways.are_spinning(1) && !ways.are_spinning(9));
        assert!(ways.known(9).is_none());
        assert!(ways.begin(1, 2).is_none());
    }
}
