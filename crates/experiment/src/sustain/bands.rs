//! The part of `sustain` that watches a shingled disk clean its bands: small blocks are written at even distances at the end of
//! the range, and read between rests until the drive has put them where they belong. What the reads say is in `analysis::recording::bands`.
//!
//! It comes before everything else that writes: a drive that cleans in the order of writing would not come to these blocks soon.

use crate::preparation::{idle, phase, random_block};
use crate::{Experiment, Remaining, Setup, Step};
use analysis::recording::bands::Looks;
use analysis::recording::motion::motion;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const ORDER_STREAM: u64 = u64::MAX - 22;
/// Blocks are this far apart: bands of 15 to 40 MB (Skylight) hold 14 of them and more, so that a border is known to a fourteenth.
const DISTANCE: Bytes = Bytes::from_mib(1);
/// So many blocks lie in six bands of 40 MB, and in 17 of 15 MB.
const BLOCKS: u64 = 256;
/// A range has to be larger by so much, so that its end is away from where it begins: media caches lie at the outer edge (Skylight). A
/// drive that cleans in the order of places begins anew behind the end.
const RANGE_TIMES: u64 = 16;
/// Each read begins a block before the written one and ends two behind it, so that the arm has to come back from the cache.
const READ_BLOCKS: u64 = 4;
/// The first rest. Disks begin to clean after a second or so (Skylight).
const FIRST_REST: Nanos = Nanos::from_millis(1200);
/// The next rest is so much longer when nothing was cleaned, and so much shorter when something was: the fewer bands are cleaned in a
/// rest, the fewer borders stay unseen because what lies on both sides was cleaned in the same one.
const LONGER: f64 = 1.5;
const SHORTER: f64 = 0.7;
const SHORTEST_REST: Nanos = Nanos::from_millis(200);
/// When nothing was cleaned in rests of so much in all, the drive does not clean until its cache is fuller.
const NO_CLEANING: Nanos = Nanos::from_secs(90);
const TIME_MAX: Nanos = Nanos::from_secs(480);
/// Nor more often: twice for each of the 17 smallest bands, and as often in vain while the rest grows.
const LOOKS_MAX: u32 = 60;
/// No look takes longer. A disk needs some 10 ms for each place, and three times that where it goes to the cache.
const LOOK_MAX: Nanos = Nanos::from_secs(60);
const PLACE: Nanos = Nanos::from_millis(10);

pub(super) struct Bands {
    range: ByteRange,
    block: Bytes,
    first: Offset,
    seed: u64,
    began: Option<Nanos>,
    next: Next,
    rest: Nanos,
    /// How long it rested since anything was cleaned.
    in_vain: Nanos,
    looks: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Write,
    FirstLook,
    Rest,
    Look,
    Nothing,
}

impl Bands {
    pub fn new(setup: &Setup, mechanical: bool) -> Option<Bands> {
        let block = random_block(&setup.facts);
        let range = setup.range.align_inward(block);
        if !mechanical || range.bytes() < DISTANCE * BLOCKS * RANGE_TIMES {
            return None;
        }
        let first = range.first() + (range.bytes() - DISTANCE * BLOCKS).round_down_to(block);
        Some(Bands {
            range,
            block,
            first,
            seed: setup.seed,
            began: None,
            next: Next::Write,
            rest: FIRST_REST,
            in_vain: Nanos::ZERO,
            looks: 0,
        })
    }

    fn write(&self) -> Phase {
        let mut offsets = self.offsets(self.first, DISTANCE);
        Prng::new(self.seed, ORDER_STREAM).shuffle(&mut offsets);
        let name = "write evenly spaced blocks";
        self.listed(name, PhaseKind::Precondition, OperationMix::Write, self.block, offsets)
    }

    /// Reads over all written blocks, and where `with_others` also where nothing was written, halfway between two of them. The very first
    /// goes before all of them: it waits until the band that is being cleaned is done.
    fn look(&self, with_others: bool) -> Phase {
        let step = if with_others { DISTANCE / 2 } else { DISTANCE };
        let length = self.block * READ_BLOCKS;
        let waits = self.first - self.block - DISTANCE / 2;
        let mut offsets = vec![waits];
        offsets.extend(self.offsets(self.first - self.block, step));
        let name = "probe which of them were cleaned";
        self.listed(name, PhaseKind::Measure, OperationMix::Read, length, offsets)
    }

    fn offsets(&self, first: Offset, step: Bytes) -> Vec<Offset> {
        let count = DISTANCE * BLOCKS / step;
        (0..count).map(|number| first + step * number).collect()
    }

    fn listed(
        &self,
        name: &str,
        kind: PhaseKind,
        mix: OperationMix,
        size: Bytes,
        offsets: Vec<Offset>,
    ) -> Phase {
        let stop = StopCondition { operations: Some(offsets.len() as u64), ..StopCondition::after(LOOK_MAX) };
        let workload = Workload {
            alignment: self.block,
            ..Workload::new(self.range, Pattern::Listed { offsets }, mix, size, 1)
        };
        phase(ExperimentName::Sustain, name.into(), kind, workload, stop)
    }

    /// Whether to rest and look again, after what was seen last.
    fn goes_on(&mut self, so_far: &RunView<'_>) -> bool {
        let Some(looks) = Looks::of(so_far, &ExperimentName::Sustain) else { return false };
        let Some((cleaned, left)) = looks.cleaned() else { return false };
        if self.looks > 1 {
            self.in_vain = if cleaned > 0 { Nanos::ZERO } else { self.in_vain + self.rest };
            let factor = if cleaned > 0 { SHORTER } else { LONGER };
            self.rest = Nanos::new((self.rest.as_f64() * factor) as u64).max(SHORTEST_REST);
        }
        let elapsed = so_far.elapsed().saturating_sub(self.began.unwrap_or_default());
        left > 0 && self.looks < LOOKS_MAX && self.in_vain < NO_CLEANING && elapsed < TIME_MAX
    }
}

impl Experiment for Bands {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.next == Next::Rest && !self.goes_on(so_far) {
            self.next = Next::Nothing;
        }
        // Bands are of tracks: without a sign of either there is nothing to watch.
        if self.next == Next::Write && motion(so_far, &ExperimentName::Sustain).is_err() {
            self.next = Next::Nothing;
        }
        let (phase, next) = match self.next {
            Next::Write => {
                self.began = Some(so_far.elapsed());
                (self.write(), Next::FirstLook)
            }
            Next::FirstLook => (self.look(true), Next::Rest),
            Next::Rest => (idle(ExperimentName::Sustain, "idle briefly".into(), self.rest), Next::Look),
            Next::Look => (self.look(false), Next::Rest),
            Next::Nothing => return None,
        };
        self.looks += u32::from(phase.kind == PhaseKind::Measure);
        self.next = next;
        Some(phase)
    }

    fn remaining(&self) -> Remaining {
        let mut begin = match self.next {
            Next::Write => vec![self.write(), self.look(true)],
            Next::FirstLook => vec![self.look(true)],
            Next::Rest | Next::Look => Vec::new(),
            Next::Nothing => return Remaining::default(),
        };
        for phase in &mut begin {
            phase.stop.time = phase.stop.operations.map(|places| PLACE * places);
        }
        let mut remaining = Remaining::of(&begin);
        // Most disks put what is written where it belongs, and there is nothing to watch.
        let looks = LOOKS_MAX - self.looks.min(LOOKS_MAX);
        let reads = Some(self.block * READ_BLOCKS * BLOCKS * u64::from(looks));
        let step = Step::if_any("idle times with probes of SMR cleaning".into(), 2 * looks, TIME_MAX);
        remaining.steps.push(Step { reads, ..step });
        remaining
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}

#[cfg(test)]
mod tests {
    use super::super::setup_of;
    use super::*;

    fn part(range: ByteRange, mechanical: bool) -> Option<Bands> {
        Bands::new(&setup_of("smr-2tb", range), mechanical)
    }

    #[test]
    fn a_mebibyte_is_written_and_all_of_it_inside_the_range() {
        let range = ByteRange::new(Offset::new(1 << 30), Bytes::from_gib(8)).unwrap();
        let part = part(range, true).expect("it is large enough");
        let phase = part.write();
        assert_eq!((phase.kind, phase.stop.operations), (PhaseKind::Precondition, Some(256)));
        let workload = phase.workload.expect("it writes");
        let Pattern::Listed { offsets } = &workload.pattern else { panic!("listed places") };
        assert_eq!(offsets.len() as u64 * workload.block_sizes.largest().get(), 1 << 20);
        assert!(offsets.iter().all(|offset| offset.get() >= 1 << 30 && offset.get() < 9 << 30));
        assert!(!offsets.is_sorted(), "they are in no order");
        for look in [part.look(true), part.look(false)] {
            let workload = look.workload.expect("it reads");
            workload.validate(Bytes::from_gib(9), Bytes::new(512)).expect("inside the range");
            assert!(!workload.mix.changes_data());
        }
    }

    #[test]
    fn flash_and_small_ranges_are_not_asked() {
        let range = |gib| ByteRange::new(Offset::START, Bytes::from_gib(gib)).unwrap();
        assert!(part(range(8), false).is_none());
        assert!(part(range(2), true).is_none());
    }
}
