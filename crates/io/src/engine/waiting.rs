//! How the next completion is waited for: asleep, or spinning, which is asking the kernel again and again.
//!
//! To be woken takes a processor out of its sleep: 10 to 20 µs on a virtual machine, which are the host's and not the drive's.
//! Spinning spares them, but takes a processor from whoever else needs it, such as a drive that is served by a process. A host
//! only ever adds time, so the way that sees completions sooner is the truer one; a trial finds out which.

use model::units::{Bytes, Instant, Nanos};
use model::workload::OperationMix;
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
    /// `first` is what each completion took in the first group of the pair.
    Trial {
        wins: u32,
        losses: u32,
        first: Option<Nanos>,
    },
    Decided {
        is_spinning: bool,
    },
}

impl Stage {
    const BEGIN: Stage = Stage::Trial { wins: 0, losses: 0, first: None };

    fn after(wins: u32, losses: u32) -> Stage {
        if wins >= WINS || losses >= LOSSES {
            return Stage::Decided { is_spinning: wins >= WINS };
        }
        Stage::Trial { wins, losses, first: None }
    }

    /// Asleep and spinning take turns in being first, so that a drive that gets slower or faster favours neither.
    fn is_spinning(self) -> bool {
        match self {
            Stage::Trial { wins, losses, first } => ((wins + losses) % 2 == 1) != first.is_some(),
            Stage::Decided { is_spinning } => is_spinning,
        }
    }
}

/// What is known of waiting for requests of one shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    stage: Stage,
    group_completions: u32,
    group_began: Option<Instant>,
    taken: u32,
    /// The last wait was a short one, and so will the next be.
    is_short: bool,
    in_vain: u32,
    spun: Nanos,
}

impl Waiting {
    fn at(depth: u32) -> Waiting {
        Waiting {
            stage: Stage::BEGIN,
            group_completions: GROUP * depth,
            group_began: None,
            taken: 0,
            is_short: false,
            in_vain: 0,
            spun: Nanos::ZERO,
        }
    }

    /// Where spinning has been found to be sooner.
    #[cfg(test)]
    pub(super) fn by_spinning(depth: u32) -> Waiting {
        Waiting { stage: Stage::Decided { is_spinning: true }, ..Waiting::at(depth) }
    }

    pub(super) fn is_spinning(&self) -> bool {
        self.is_short && self.stage.is_spinning()
    }

    /// A wait from `began` to `ended` brought `taken` completions, after spinning for `spun` of it.
    pub(super) fn waited(&mut self, began: Instant, ended: Instant, taken: u32, spun: Nanos) {
        let was_spinning = self.is_spinning();
        self.is_short = ended.since(began) < SPIN_MAX;
        self.spun += spun;
        let Stage::Trial { wins, losses, first } = self.stage else {
            self.count_in_vain(was_spinning);
            return;
        };
        if self.is_short {
            if let Some(each) = self.count_in_group(ended, taken) {
                self.stage = self.stage_after_group(wins, losses, first, each);
            }
            return;
        }
        // A drive that waits for the processor on which we spin is as slow as that. Asleep, slowness is the drive's.
        self.group_began = None;
        if was_spinning {
            self.stage = Stage::after(wins, losses + 1);
        }
    }

    /// The trial's next completions, and what each took where they end a group. It begins with the end of a wait.
    fn count_in_group(&mut self, now: Instant, taken: u32) -> Option<Nanos> {
        let Some(group_began) = self.group_began else {
            (self.group_began, self.taken) = (Some(now), 0);
            return None;
        };
        self.taken += taken;
        let took = now.since(group_began);
        if self.taken < self.group_completions || took < GROUP_TIME {
            return None;
        }
        self.group_began = None;
        Some(Nanos::new(took.get() / u64::from(self.taken)))
    }

    fn stage_after_group(&self, wins: u32, losses: u32, first: Option<Nanos>, each: Nanos) -> Stage {
        let Some(first) = first else { return Stage::Trial { wins, losses, first: Some(each) } };
        let (spinning, asleep) = if self.stage.is_spinning() { (each, first) } else { (first, each) };
        if spinning < asleep { Stage::after(wins + 1, losses) } else { Stage::after(wins, losses + 1) }
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

    /// What is left for the next phase of the same shape: a group that was cut off says nothing.
    fn between_phases(self) -> Waiting {
        let stage = match self.stage {
            Stage::Trial { wins, losses, .. } => Stage::Trial { wins, losses, first: None },
            decided @ Stage::Decided { .. } => decided,
        };
        Waiting { stage, group_began: None, is_short: false, spun: Nanos::ZERO, ..self }
    }
}

fn can_spin() -> bool {
    std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)
}

/// What a run says of it before its first phase.
pub fn told() -> Option<&'static str> {
    if can_spin() {
        return Some("busy-waits at QD 1 to 8 if that sees completions sooner than sleeping");
    }
    None
}

/// Requests of which one trial tells all: that those of 1 MiB are better slept for says nothing of those of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestShape {
    pub depth: u32,
    pub largest: Bytes,
    pub mix: OperationMix,
}

/// What has been found out about waiting for one target, kept from phase to phase. There are as many shapes as a run asks for.
#[derive(Clone, Debug, Default)]
pub struct WaitingWays {
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    ways: Vec<(RequestShape, Waiting)>,
    spun: Nanos,
}

impl WaitingWays {
    /// How to wait for requests of this shape; none where it sleeps anyway: many requests in flight, several workers, one processor.
    pub(super) fn begin(&self, shape: RequestShape, workers: u32) -> Option<Waiting> {
        if workers > 1 || shape.depth > DEPTH_MAX || !can_spin() {
            return None;
        }
        self.waiting_for(shape)
    }

    fn waiting_for(&self, shape: RequestShape) -> Option<Waiting> {
        let known = self.known.lock().expect("nobody panics who holds it");
        let spinning = Stage::Decided { is_spinning: true };
        let mut begun = Waiting::at(shape.depth);
        for (other, waiting) in &known.ways {
            if *other == shape {
                // What sleeps for good needs no look at the clock around each wait.
                return if waiting.stage == (Stage::Decided { is_spinning: false }) {
                    None
                } else {
                    Some(*waiting)
                };
            }
            // A trial takes as long as a short phase. Where waits turn out to be long there is no spinning anyway.
            if other.depth == shape.depth && waiting.stage == spinning {
                begun.stage = spinning;
            }
        }
        Some(begun)
    }

    pub(super) fn end(&self, shape: RequestShape, waiting: Waiting) {
        let mut known = self.known.lock().expect("nobody panics who holds it");
        known.spun += waiting.spun;
        known.ways.retain(|(known, _)| *known != shape);
        known.ways.push((shape, waiting.between_phases()));
    }

    /// The time that was spent spinning since this was asked last.
    pub fn take_spun(&self) -> Nanos {
        std::mem::take(&mut self.known.lock().expect("nobody panics who holds it").spun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPINNING: Stage = Stage::Decided { is_spinning: true };
    const ASLEEP: Stage = Stage::Decided { is_spinning: false };

    fn shape(depth: u32) -> RequestShape {
        RequestShape { depth, largest: Bytes::new(4096), mix: OperationMix::Read }
    }

    /// Waits of these lengths by the number of the wait, asleep and spinning, until it is decided; how many waits that took.
    fn trial_of(asleep_ns: impl Fn(u64) -> u64, spinning_ns: impl Fn(u64) -> u64) -> (Waiting, u64) {
        let (mut waiting, mut now, mut waits) = (Waiting::at(1), Instant::START, 0);
        while !matches!(waiting.stage, Stage::Decided { .. }) && waits < 10_000 {
            let took = if waiting.is_spinning() { spinning_ns(waits) } else { asleep_ns(waits) };
            let spun = if waiting.is_spinning() { Nanos::new(took.min(SPIN_MAX.get())) } else { Nanos::ZERO };
            waiting.waited(now, now + Nanos::new(took), 1, spun);
            now += Nanos::new(took);
            waits += 1;
        }
        (waiting, waits)
    }

    fn trial(asleep_ns: u64, spinning_ns: u64) -> (Waiting, u64) {
        trial_of(|_| asleep_ns, |_| spinning_ns)
    }

    #[test]
    fn what_sees_completions_sooner_is_kept() {
        let (waiting, waits) = trial(30_000, 14_000);
        assert!(waiting.is_spinning());
        // Ten pairs of groups of 3 ms: 100 waits and 215, and one before each.
        assert_eq!(waits, 10 * (101 + 216));
        // The wait before each group that spins is one that spins.
        assert_eq!(waiting.spun, Nanos::new(10 * 216 * 14_000));
        let (waiting, waits) = trial(175_000, 199_000);
        assert_eq!(waiting.stage, ASLEEP);
        // Four pairs: 18 waits and 16, and one before each.
        assert_eq!(waits, 4 * (19 + 17));
    }

    #[test]
    fn a_drive_that_gets_slower_or_faster_favours_neither() {
        // The ways are alike, and each wait takes 0.01 % more or less than the one before.
        for step in [2.0, -2.0] {
            let at = |wait: u64| (60_000.0 + step * wait as f64) as u64;
            let (waiting, _) = trial_of(at, at);
            assert_eq!(waiting.stage, ASLEEP, "by {step} ns a wait: each wins every second pair");
        }
    }

    #[test]
    fn long_waits_are_slept_through_and_decide_nothing() {
        let (waiting, waits) = trial(8_000_000, 7_000_000);
        assert!(!waiting.is_spinning());
        assert_eq!((waits, waiting.stage, waiting.spun), (10_000, Stage::BEGIN, Nanos::ZERO));
    }

    #[test]
    fn a_drive_that_waits_for_our_processor_is_slept_for() {
        let (waiting, _) = trial(100_000, 3_000_000);
        assert_eq!(waiting.stage, ASLEEP);
        // Four spins, each given up after 200 µs.
        assert_eq!(waiting.spun, Nanos::new(4 * 200_000));
        let (mut waiting, _) = trial(30_000, 14_000);
        for _ in 0..17 {
            waiting.waited(Instant::START, Instant::new(14_000), 1, Nanos::ZERO);
            assert!(waiting.is_spinning());
            waiting.waited(Instant::START, Instant::new(3_000_000), 1, Nanos::ZERO);
        }
        waiting.waited(Instant::START, Instant::new(14_000), 1, Nanos::ZERO);
        waiting.waited(Instant::START, Instant::new(3_000_000), 1, Nanos::ZERO);
        assert_eq!(waiting.stage, ASLEEP);
    }

    #[test]
    fn only_short_waits_are_spun_through() {
        let (mut waiting, _) = trial(30_000, 14_000);
        waiting.waited(Instant::START, Instant::new(9_000_000), 1, Nanos::ZERO);
        assert!(!waiting.is_spinning());
        waiting.waited(Instant::START, Instant::new(20_000), 1, Nanos::ZERO);
        assert!(waiting.is_spinning());
    }

    #[test]
    fn a_group_that_a_phase_cut_off_decides_nothing() {
        let (ways, mut waiting) = (WaitingWays::default(), Waiting::at(1));
        for number in 0..150 {
            waiting.waited(
                Instant::new(number * 30_000),
                Instant::new((number + 1) * 30_000),
                1,
                Nanos::new(1),
            );
        }
        assert!(waiting.is_spinning());
        ways.end(shape(1), waiting);
        assert_eq!(ways.waiting_for(shape(1)).unwrap().stage, Stage::BEGIN);
        assert_eq!(ways.take_spun(), Nanos::new(150));
        assert_eq!(ways.take_spun(), Nanos::ZERO);
    }

    #[test]
    fn what_was_found_holds_for_requests_of_one_shape() {
        let ways = WaitingWays::default();
        let stage = |shape| ways.waiting_for(shape).map(|waiting| waiting.stage);
        ways.end(shape(2), Waiting { stage: SPINNING, ..Waiting::at(2) });
        assert_eq!(stage(shape(2)), Some(SPINNING));
        let others = [
            RequestShape { largest: Bytes::new(1 << 20), ..shape(2) },
            RequestShape { mix: OperationMix::Write, ..shape(2) },
        ];
        // Others of that depth begin with what was found, and may find out otherwise.
        assert_eq!(others.map(stage), [Some(SPINNING); 2]);
        assert_eq!(stage(shape(1)), Some(Stage::BEGIN));
        ways.end(shape(2), Waiting { stage: ASLEEP, ..Waiting::at(2) });
        assert_eq!(stage(shape(2)), None);
        assert_eq!(
            others.map(stage),
            [Some(Stage::BEGIN); 2],
            "that one is slept for says nothing of others"
        );
    }

    #[test]
    fn many_requests_in_flight_and_several_workers_sleep() {
        let ways = WaitingWays::default();
        assert!(ways.begin(shape(9), 1).is_none());
        assert!(ways.begin(shape(1), 2).is_none());
    }
}
