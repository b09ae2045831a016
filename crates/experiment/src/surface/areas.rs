//! `surface --areas N --area-size S`: a few long areas at equal distances, each gone through from its start to its end.
//!
//! This is how people do it with dd; the random order keeps a drive that warms up from looking slow at the end.

use super::visit::Visitor;
use crate::error::PlanError;
use crate::preparation::capacity;
use crate::preparation::{self, Filling, filled, random_block};
use crate::{Experiment, Remaining, Setup, Step};
use analysis::streaming::USUAL;
use model::experiment_name::ExperimentName;
use model::plan::Phase;
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::OperationMix;
use std::collections::VecDeque;

const ORDER_STREAM: u64 = u64::MAX - 1;
/// Without a run to say how fast it is, a drive is taken to move so much in a second: a hard disk of today.
const RATE_EXPECTED: f64 = 150e6;
/// No drive that can be used is slower; an area that takes longer than this rate explains is cut short.
const RATE_MIN: f64 = 1e6;
/// As long as it takes: a scratch file is measured as far as it is filled.
const FILLING: Filling = Filling::of(3600, 1);
const AREA_MIN: Bytes = Bytes::from_kib(64);

#[derive(Clone)]
pub struct Areas {
    setup: Setup,
    mixes: Vec<OperationMix>,
    count: u64,
    size: Bytes,
    queue: VecDeque<Phase>,
    /// What is in the queue, kept up to date phase by phase: there may be thousands.
    ahead: Remaining,
    planned: bool,
}

impl Areas {
    pub fn new(setup: Setup, mixes: Vec<OperationMix>, count: u64, size: Bytes) -> Result<Areas, PlanError> {
        let room = setup.range.align_inward(random_block(&setup.facts)).bytes();
        let asked = match size.checked_mul(count) {
            Some(asked) if asked <= room => asked,
            _ => return Err(PlanError::AreasTooMany { count, size: capacity(size), room }),
        };
        if size < AREA_MIN || asked == Bytes::ZERO {
            return Err(PlanError::AreaTooSmall { size, needs: AREA_MIN });
        }
        let (queue, ahead) = (VecDeque::new(), Remaining::default());
        let mut areas = Areas { mixes, count, size, queue, ahead, planned: false, setup };
        if areas.setup.empty {
            for phase in preparation::fill(ExperimentName::Surface, &areas.setup, FILLING) {
                areas.push(phase);
            }
        } else {
            areas.plan(areas.setup.range);
        }
        Ok(areas)
    }

    /// The areas, the first at the start and the last at the end, in random order; all reads come before all writes.
    fn plan(&mut self, range: ByteRange) {
        self.planned = true;
        let grid = random_block(&self.setup.facts);
        let range = range.align_inward(grid);
        self.push(preparation::warm_up(ExperimentName::Surface, range, grid, preparation::WARM_UP));
        let visitor = Visitor::new(&self.setup, range, self.size, true, USUAL);
        let room = range.bytes().get() - visitor.bytes().get();
        let mut prng = Prng::new(self.setup.seed, ORDER_STREAM);
        for mix in self.mixes.clone() {
            let mut order: Vec<u64> = (0..self.count).collect();
            prng.shuffle(&mut order);
            for index in order {
                let share = u128::from(room) * u128::from(index) / u128::from((self.count - 1).max(1));
                let stretch = visitor.at(range.first() + Bytes::new(share as u64));
                let time = Nanos::from_secs_f64(visitor.bytes().as_f64() / RATE_MIN).unwrap_or(FILLING.time);
                let purpose = format!("area {} of {}", index + 1, self.count);
                self.push(visitor.phase(mix, stretch, time, &purpose));
            }
        }
    }

    fn push(&mut self, phase: Phase) {
        self.ahead.add(expected(&phase));
        self.queue.push_back(phase);
    }
}

/// A phase that takes as long as its bytes do at the expected rate.
fn expected(phase: &Phase) -> Step {
    let mut phase = phase.clone();
    let bytes = phase.workload.as_ref().and_then(|workload| phase.stop.bytes_max(workload));
    let time = bytes.and_then(|bytes| Nanos::from_secs_f64(bytes.as_f64() / RATE_EXPECTED));
    phase.stop.time = time.or(phase.stop.time);
    Step::of(&phase)
}

impl Experiment for Areas {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.setup.is_out_of_time(so_far) {
            return None;
        }
        if self.queue.is_empty() && !self.planned {
            let range = filled(self.setup.range, so_far)?;
            if self.size.checked_mul(self.count)? > range.bytes() {
                return None;
            }
            self.plan(range);
        }
        let next = self.queue.pop_front()?;
        self.ahead.take(&expected(&next));
        Some(next)
    }

    fn remaining(&self) -> Remaining {
        if self.planned {
            return self.ahead.clone();
        }
        let mut planned = self.clone();
        planned.plan(planned.setup.range);
        planned.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Environment, MemorySeries};

    fn places(capacity: u64, count: u64, size: Bytes) -> Vec<(u64, u64)> {
        let mut facts = sim::open("zoned", 1).unwrap().facts().clone();
        facts.capacity = Bytes::new(capacity);
        let range = ByteRange::whole(facts.capacity);
        let setup = Setup {
            facts,
            range,
            may_write: false,
            empty: false,
            seed: 3,
            time_limit: None,
            precision: None,
        };
        let facts = setup.facts.clone();
        let mut areas = Areas::new(setup, vec![OperationMix::Read], count, size).unwrap();
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        let phases = std::iter::from_fn(|| areas.next(&view));
        let ranges = phases.skip(1).map(|phase| phase.workload.unwrap().range);
        ranges.map(|range| (range.first().get(), range.bytes().get())).collect()
    }

    #[test]
    fn the_articles_areas_lie_at_equal_distances_from_the_start_to_the_end() {
        // 55 areas of 50 GiB on 3 TB: the last begins at 3,000,592,982,016 − 53,687,091,200 bytes.
        let in_order = places(3_000_592_982_016, 55, Bytes::from_gib(50));
        let mut sorted = in_order.clone();
        sorted.sort_unstable();
        assert_ne!(in_order, sorted, "the order is random");
        assert_eq!(sorted.len(), 55);
        assert_eq!(sorted[0], (0, 53_687_091_200));
        assert_eq!(sorted[54], (2_946_905_890_816, 53_687_091_200));
        assert_eq!(sorted[1].0, 54_572_331_008, "1/54 of the way, on a border of 4 KiB");
    }

    #[test]
    fn one_area_is_at_the_start() {
        assert_eq!(places(1 << 40, 1, Bytes::from_gib(1)), [(0, 1 << 30)]);
    }
}
