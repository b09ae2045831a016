//! Rereads that show a rotation and seeks: some places are read twice, each time after many others.

use crate::Setup;
use crate::composition::OnePhase;
use crate::preparation::{measure, random_block};
use model::experiment_name::ExperimentName;
use model::plan::StopCondition;
use model::prng::Prng;
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

const PLACES_STREAM: u64 = u64::MAX - 3;
/// Twice as many pairs as it takes to tell a rotation from chance.
const PLACES: u64 = 80;
/// No place comes back before so many others have been read: a drive's own memory holds fewer streams than that.
const BETWEEN: usize = 40;
const TIME_MAX: Nanos = Nanos::from_secs(10);

/// The question for a drive that is slow enough to have moving parts.
pub fn rereads(setup: &Setup, experiment: ExperimentName) -> OnePhase {
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
    OnePhase { phase: Some(measure(experiment, name, reads, stop)), is_traced: true }
}

fn place(part: ByteRange, block: Bytes, prng: &mut Prng) -> Offset {
    let places = (part.bytes().get() / block.get()).max(1);
    Offset::new((part.first().get() + prng.below(places) * block.get()) / block.get() * block.get())
}
