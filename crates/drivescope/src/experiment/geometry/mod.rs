//! `geometry`: how a hard disk turns and seeks, and where its tracks lie, from the moments at which single reads end.
//!
//! Stages, each planned from what the ones before it have shown:
//!
//! 1. *Rounds*: places all over the drive twice each, at random: the time of a turn, and the angle of each place.

mod anchors;

use super::preparation::{self, random_block};
use super::{Experiment, Outlook, Question};
use analysis::geometry::{Reading, readings_of};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use std::collections::VecDeque;

/// The word on the command line, and in every phase.
pub const NAME: &str = "geometry";
/// The stream of the seed that draws places and orders.
const PLACES_STREAM: u64 = u64::MAX - 2;
const WARM_UP: Nanos = Nanos::from_millis(500);
/// What a read takes at most on average, and a drive that has to wake up before: a phase that takes longer is given up.
const READ_TIME_MAX: Nanos = Nanos::from_millis(100);
const WAKE_UP_MAX: Nanos = Nanos::from_secs(30);
/// What a read takes, for the plan that is shown.
const READ_TIME_EXPECTED: Nanos = Nanos::from_millis(13);

/// The experiment.
pub struct Geometry {
    block: Bytes,
    range: ByteRange,
    prng: Prng,
    queue: VecDeque<Phase>,
    stage: Stage,
    readings: Vec<Reading>,
}

/// What the queue holds the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    WarmUp,
    Rounds,
    Done,
}

impl Geometry {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when the range has no room for it.
    pub fn new(question: Question) -> Result<Geometry, String> {
        let block = question.facts.physical_block.max(question.facts.logical_block);
        let range = question.range.align_inward(block);
        if range.bytes() < Bytes::from_mib(1) {
            return Err(format!(
                "the range holds {}; tracks are looked for in at least 1 MiB. Give a larger --range",
                range.bytes()
            ));
        }
        let warm_up = preparation::warm_up(NAME, range, random_block(&question.facts).max(block), WARM_UP);
        Ok(Geometry {
            block,
            range,
            prng: Prng::new(question.seed, PLACES_STREAM),
            queue: VecDeque::from([warm_up]),
            stage: Stage::WarmUp,
            readings: Vec::new(),
        })
    }

    /// Single reads of these places, in this order.
    fn reads(&self, what: &str, places: &[u64]) -> Phase {
        let offsets = places.iter().map(|place| Offset(*place)).collect();
        let pattern = Pattern::Listed { offsets };
        let workload = Workload::new(self.range, pattern, OperationMix::Read, self.block, 1);
        let count = places.len() as u64;
        let stop = StopCondition {
            operations: Some(count),
            ..StopCondition::after(Nanos(count * READ_TIME_MAX.0 + WAKE_UP_MAX.0))
        };
        preparation::phase(NAME, what.into(), PhaseKind::Measure, Some(workload), stop)
    }

    /// Plans what comes after what was done.
    fn plan(&mut self) {
        match self.stage {
            Stage::WarmUp => {
                let anchors = anchors::draw(self.range, self.block.0, &mut self.prng);
                let order = anchors::rounds(&anchors, 2, &mut self.prng);
                self.queue.push_back(self.reads("places all over, twice each", &order));
                self.stage = Stage::Rounds;
            }
            Stage::Rounds => self.stage = Stage::Done,
            Stage::Done => {}
        }
    }
}

impl Experiment for Geometry {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(newest) = so_far.phases.len().checked_sub(1) {
            self.readings.extend(readings_of(so_far.series.ios(newest as u32)));
        }
        while self.queue.is_empty() && self.stage != Stage::Done {
            self.plan();
        }
        self.queue.pop_front()
    }

    fn outlook(&self) -> Outlook {
        Outlook::of(&Vec::from(self.queue.clone()))
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}
