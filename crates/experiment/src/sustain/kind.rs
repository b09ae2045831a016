//! The first part of `sustain`: whether small writes go to their places. Rounds of reads and writes at as many places
//! each, few enough that a media cache or a map of one hardly notices: 3.4 MiB in 864 writes, where such maps have 100,000
//! entries and more (Aghayev et al., "Skylight", 2015).

use crate::preparation::{measure, random_block};
use crate::{Experiment, Remaining, Setup};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::run::RunView;
use model::units::{Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use std::collections::VecDeque;

const PLACES_STREAM: u64 = u64::MAX - 21;
const ROUNDS: u32 = 3;
/// Places of a sweep, and of a burst.
const PLACES: u64 = 256;
/// Reads one at a time in each round: their median over all rounds is known to a tenth.
const SINGLE_READS: u64 = 64;
/// Writes one at a time in each round: more than a small buffer takes, so that most wait for the medium if nothing else does.
const SINGLE_WRITES: u64 = 32;
/// Requests under way where the drive may choose their order: what SATA drives take.
const DEPTH: u32 = 32;
/// A round of a disk that writes band by band takes minutes; then it has said what it had to.
const TIME_MAX: Nanos = Nanos::from_secs(60);

#[derive(Clone)]
pub struct Kind {
    queue: VecDeque<Phase>,
}

impl Kind {
    pub fn new(setup: &Setup, mechanical: bool) -> Option<Kind> {
        let block = random_block(&setup.facts);
        let range = setup.range.align_inward(block);
        let room = range.bytes().get() / block.get();
        if room < PLACES * u64::from(ROUNDS) * 8 {
            return None;
        }
        let mut prng = Prng::new(setup.seed, PLACES_STREAM);
        let mut places = |count: u64| -> Vec<Offset> {
            (0..count).map(|_| range.first() + block * prng.below(room)).collect()
        };
        let mut queue = VecDeque::new();
        for round in 1..=ROUNDS {
            let single = places(SINGLE_READS);
            let lone = places(SINGLE_WRITES);
            let mut sweep = places(PLACES);
            sweep.sort_unstable();
            let burst = places(PLACES);
            let mut asked = vec![
                ("read at QD 1", OperationMix::Read, single, 1),
                ("write at QD 1", OperationMix::Write, lone, 1),
                ("read sequential offsets", OperationMix::Read, sweep, DEPTH),
                ("write random offsets", OperationMix::Write, burst.clone(), DEPTH),
            ];
            if !mechanical {
                // What was never written touches no cell.
                let written = burst[..SINGLE_READS as usize].to_vec();
                asked.push(("read written offsets at QD 1", OperationMix::Read, written, 1));
            }
            for (what, mix, offsets, depth) in asked {
                let stop = StopCondition {
                    operations: Some(offsets.len() as u64),
                    ..StopCondition::after(TIME_MAX)
                };
                let workload = Workload::new(range, Pattern::Listed { offsets }, mix, block, depth);
                let name = format!("{what}, round {round} of {ROUNDS}");
                queue.push_back(measure(ExperimentName::Sustain, name, workload, stop));
            }
        }
        Some(Kind { queue })
    }
}

impl Experiment for Kind {
    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.queue.pop_front()
    }

    fn remaining(&self) -> Remaining {
        // A disk of today takes some 10 ms for each place; the limit is for those that have trouble.
        let mut phases: Vec<Phase> = self.queue.iter().cloned().collect();
        for phase in &mut phases {
            let places = phase.stop.operations.unwrap_or(0);
            phase.stop.time = Some(Nanos::from_millis(10 * places).min(TIME_MAX));
        }
        Remaining::of(&phases)
    }
}

#[cfg(test)]
mod tests {
    use super::super::setup_of;
    use super::*;
    use model::range::ByteRange;
    use model::units::Bytes;

    fn phases(capacity: Bytes) -> Vec<Phase> {
        let range = ByteRange::new(Offset::new(4096), capacity).unwrap();
        Kind::new(&setup_of("zoned", range), true).map_or_else(Vec::new, |kind| kind.queue.into())
    }

    #[test]
    fn three_rounds_write_little_and_inside_the_range() {
        let phases = phases(Bytes::from_gib(100));
        assert_eq!(phases.len(), 12);
        let writes = phases.iter().filter_map(|phase| phase.workload.as_ref());
        let writes: Vec<&Workload> = writes.filter(|workload| workload.mix.changes_data()).collect();
        let mut bytes = 0;
        for workload in writes {
            let Pattern::Listed { offsets } = &workload.pattern else { panic!("listed places") };
            assert!(offsets.iter().all(|offset| offset.get() >= 4096 && offset.get() < 4096 + (100 << 30)));
            assert!(!offsets.is_sorted(), "places are in no order");
            bytes += offsets.len() as u64 * 4096;
        }
        assert_eq!(bytes, 3 * (256 + 32) * 4096);
    }

    #[test]
    fn a_small_range_has_no_places_to_spare() {
        assert!(phases(Bytes::from_mib(8)).is_empty());
    }
}
