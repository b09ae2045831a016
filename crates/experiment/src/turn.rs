//! Rereads that show a rotation and seeks: some places are read twice, each time after many others.

use crate::preparation::{phase, random_block};
use crate::{Experiment, Remaining, Setup};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const PLACES_STREAM: u64 = u64::MAX - 3;
/// Twice as many pairs as it takes to tell a rotation from chance.
const PLACES: u64 = 80;
/// No place comes back before so many others have been read: a drive's own memory holds fewer streams than that.
const BETWEEN: usize = 40;
const TIME_MAX: Nanos = Nanos::from_secs(10);

pub struct Turn {
    experiment: ExperimentName,
    phase: Option<Phase>,
}

impl Turn {
    /// The question for a drive that is slow enough to have moving parts.
    pub fn new(setup: &Setup, experiment: ExperimentName) -> Turn {
        let (range, block) = (setup.range, random_block(&setup.facts));
        let mut prng = Prng::new(setup.seed, PLACES_STREAM);
        let mut places: Vec<Offset> =
            (0..PLACES).map(|part| place(range.part(part, PLACES), block, &mut prng)).collect();
        prng.shuffle(&mut places);
        let mut again = places.clone();
        let (front, back) = again.split_at_mut(BETWEEN);
        prng.shuffle(front);
        prng.shuffle(back);
        let offsets: Vec<Offset> = places.into_iter().chain(again).collect();
        let count = offsets.len() as u64;
        let reads = Workload::new(range, Pattern::Listed { offsets }, OperationMix::Read, block, 1);
        let stop = StopCondition { operations: Some(count), ..StopCondition::after(TIME_MAX) };
        let name = format!("{PLACES} offsets, twice each");
        Turn {
            phase: Some(phase(experiment.clone(), name, PhaseKind::Measure, Some(reads), stop)),
            experiment,
        }
    }
}

fn place(part: ByteRange, block: Bytes, prng: &mut Prng) -> Offset {
    let places = (part.bytes().get() / block.get()).max(1);
    Offset::new((part.first().get() + prng.below(places) * block.get()) / block.get() * block.get())
}

impl Experiment for Turn {
    fn name(&self) -> ExperimentName {
        self.experiment.clone()
    }

    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.phase.take()
    }

    fn remaining(&self) -> Remaining {
        Remaining::of(self.phase.as_slice())
    }

    fn needs_trace(&self, _phase: &Phase) -> bool {
        true
    }
}
