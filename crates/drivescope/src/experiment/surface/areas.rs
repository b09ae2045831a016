//! `surface --areas N --area-size S`: a few long areas at equal distances, each gone through from its start to its end.
//!
//! This is how people do it with dd, in random order here, so that a drive that warms up or gets busy does not look like
//! one that is slow at the end.

use super::NAME;
use super::visit::Visitor;
use crate::experiment::preparation::{self, filled_range, random_block};
use crate::experiment::{Experiment, Outlook, Question};
use model::plan::Phase;
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::OperationMix;
use report::quantity::capacity;
use std::collections::VecDeque;

/// The stream of the seed that draws the order.
const ORDER_STREAM: u64 = u64::MAX - 1;
/// Without a run to say how fast it is, a drive is taken to move so much in a second: a hard disk of today.
const RATE_EXPECTED: f64 = 150e6;
/// No drive that can be used is slower; an area that takes longer than this rate explains is cut short.
const RATE_MIN: f64 = 1e6;
const WARM_UP: Nanos = Nanos::from_millis(500);
/// As long as it takes: a scratch file is measured as far as it is filled.
const FILL: Nanos = Nanos::from_secs(3600);
const SETTLE: Nanos = Nanos::from_secs(1);

/// The experiment.
#[derive(Clone)]
pub struct Areas {
    question: Question,
    mixes: Vec<OperationMix>,
    count: u64,
    size: Bytes,
    queue: VecDeque<Phase>,
    planned: bool,
}

impl Areas {
    /// Plans `count` areas of `size` each.
    ///
    /// # Errors
    /// A sentence for a person when they do not fit.
    pub fn new(
        question: Question,
        mixes: Vec<OperationMix>,
        count: u64,
        size: Bytes,
    ) -> Result<Areas, String> {
        let room = question.range.align_inward(random_block(&question.facts)).bytes();
        let Some(asked) = size.checked_mul(count).filter(|asked| *asked <= room) else {
            return Err(format!(
                "{count} areas of {} are more than the {room} to measure. Give fewer with --areas, or smaller ones \
                 with --area-size",
                capacity(size)
            ));
        };
        let smallest = Bytes::from_kib(64);
        if size < smallest || asked.0 == 0 {
            return Err(format!("an area of {size} is too small to show a rate; give {smallest} or more"));
        }
        let mut areas = Areas { mixes, count, size, queue: VecDeque::new(), planned: false, question };
        if areas.question.empty {
            areas.queue.extend(preparation::fill(NAME, &areas.question, FILL, SETTLE));
        } else {
            areas.plan(areas.question.range);
        }
        Ok(areas)
    }

    /// The areas, the first at the start and the last at the end, in random order; all reads come before all writes.
    fn plan(&mut self, range: ByteRange) {
        self.planned = true;
        let grid = random_block(&self.question.facts);
        let range = range.align_inward(grid);
        self.queue.push_back(preparation::warm_up(NAME, range, grid, WARM_UP));
        let visitor = Visitor::new(&self.question, range, self.size, true);
        let room = range.bytes().0 - visitor.bytes().0;
        let mut prng = Prng::new(self.question.seed, ORDER_STREAM);
        for &mix in &self.mixes {
            let mut order: Vec<u64> = (0..self.count).collect();
            prng.shuffle(&mut order);
            for index in order {
                let share = u128::from(room) * u128::from(index) / u128::from((self.count - 1).max(1));
                let stretch = visitor.at(range.first() + Bytes(share as u64));
                let time = Nanos::from_secs_f64(visitor.bytes().0 as f64 / RATE_MIN).unwrap_or(FILL);
                let purpose = format!("area {} of {}", index + 1, self.count);
                self.queue.push_back(visitor.phase(mix, stretch, time, &purpose));
            }
        }
    }
}

impl Experiment for Areas {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let spent = so_far.elapsed();
        if self.question.time_limit.is_some_and(|limit| spent >= limit) {
            return None;
        }
        if self.queue.is_empty() && !self.planned {
            let filled = so_far.phases.first().map_or(0, |fill| fill.bytes());
            let range = filled_range(self.question.range, Bytes(filled))?;
            let fits = self.size.checked_mul(self.count).is_some_and(|asked| asked <= range.bytes());
            self.plan(if fits { range } else { return None });
        }
        self.queue.pop_front()
    }

    fn outlook(&self) -> Outlook {
        let mut ahead = self.clone();
        if !ahead.planned {
            ahead.plan(ahead.question.range);
        }
        let mut phases: Vec<Phase> = ahead.queue.into();
        for phase in &mut phases {
            let bytes = phase.workload.as_ref().and_then(|workload| phase.stop.bytes_max(workload));
            let expected = bytes.and_then(|bytes| Nanos::from_secs_f64(bytes.0 as f64 / RATE_EXPECTED));
            phase.stop.time = expected.or(phase.stop.time);
        }
        Outlook::of(&phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Environment, MemorySeries};

    fn places(capacity: u64, count: u64, size: Bytes) -> Vec<(u64, u64)> {
        let mut facts = sim::open("zoned", 1).unwrap().facts().clone();
        facts.capacity = Bytes(capacity);
        let range = ByteRange::whole(facts.capacity);
        let question = Question {
            facts,
            range,
            may_write: false,
            empty: false,
            seed: 3,
            time_limit: None,
            precision: None,
        };
        let facts = question.facts.clone();
        let mut areas = Areas::new(question, vec![OperationMix::Read], count, size).unwrap();
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let view = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        let phases = std::iter::from_fn(|| areas.next(&view));
        let ranges = phases.skip(1).map(|phase| phase.workload.unwrap().range);
        ranges.map(|range| (range.first().0, range.bytes().0)).collect()
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
