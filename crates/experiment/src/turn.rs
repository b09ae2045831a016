//! Rereads that show a rotation and seeks: some places are read twice, each time after many others.

use crate::preparation::{measure, random_block};
use crate::{Experiment, Remaining, Setup};
use analysis::recording::motion::motion;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const PLACES_STREAM: u64 = u64::MAX - 3;
/// Twice as many pairs as it takes to tell a rotation from chance.
const PLACES: u64 = 80;
/// The places are read again in another order within so many parts of them, so that none comes back before most others have been read: a
/// drive's own memory holds fewer streams than that.
const PARTS: usize = 2;
/// Where that shows nothing, memories may have answered after all: those of seven disks of a stripe hold as many streams as seven.
const PLACES_MORE: u64 = 320;
const PARTS_MORE: usize = 4;
const TIME_MAX: Nanos = Nanos::from_secs(10);

/// The question for a drive that is slow enough to have moving parts.
pub struct Rereads {
    experiment: ExperimentName,
    first: Option<Phase>,
    more: Option<Phase>,
}

impl Rereads {
    pub fn new(setup: &Setup, experiment: ExperimentName) -> Rereads {
        let mut prng = Prng::new(setup.seed, PLACES_STREAM);
        let first = rereads(setup, &experiment, PLACES, PARTS, &mut prng);
        let more = rereads(setup, &experiment, PLACES_MORE, PARTS_MORE, &mut prng);
        Rereads { experiment, first: Some(first), more: Some(more) }
    }
}

impl Experiment for Rereads {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.first.is_some() {
            return self.first.take();
        }
        let more = self.more.take()?;
        motion(so_far, &self.experiment).is_err().then_some(more)
    }

    /// Most drives that are asked turn, and show it at once.
    fn remaining(&self) -> Remaining {
        Remaining::of(self.first.as_slice())
    }

    fn needs_trace(&self, _phase: &Phase) -> bool {
        true
    }
}

fn rereads(setup: &Setup, experiment: &ExperimentName, count: u64, parts: usize, prng: &mut Prng) -> Phase {
    let (range, block) = (setup.range, random_block(&setup.facts));
    let mut places: Vec<Offset> =
        (0..count).map(|part| place(range.part(part, count), block, prng)).collect();
    prng.shuffle(&mut places);
    let mut again = places.clone();
    for part in again.chunks_mut(places.len() / parts) {
        prng.shuffle(part);
    }
    let offsets: Vec<Offset> = places.into_iter().chain(again).collect();
    let operations = offsets.len() as u64;
    let reads = Workload::new(range, Pattern::Listed { offsets }, OperationMix::Read, block, 1);
    let stop = StopCondition { operations: Some(operations), ..StopCondition::after(TIME_MAX) };
    measure(experiment.clone(), format!("{count} offsets, twice each"), reads, stop)
}

fn place(part: ByteRange, block: Bytes, prng: &mut Prng) -> Offset {
    let places = (part.bytes().get() / block.get()).max(1);
    Offset::new((part.first().get() + prng.below(places) * block.get()) / block.get() * block.get())
}
