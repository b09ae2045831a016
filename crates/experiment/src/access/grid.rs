//! Random access by requests at a time, by size and by span: every configuration once in each round, in random order, so that drift
//! is no effect of a configuration. Longer queues follow as long as they bring more, then finer numbers where the curve bends.

use super::cell::Cell;
use super::request::AccessRequest;
use crate::precision::Known;
use crate::preparation::{MovedReads, random_block};
use crate::{Experiment, Remaining, Setup};
use analysis::concurrency::{finer_numbers, is_knee_known, last_gain};
use model::finding::FindingCode;
use model::plan::Phase;
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{BlockSizes, Caching, OperationMix, Pattern};
use std::collections::VecDeque;

const ORDER_STREAM: u64 = u64::MAX;
/// Rounds of a drive with moving parts, and of one without. The interval of a mean of few rounds is wide (Student's t).
const ROUNDS_MECHANICAL: u32 = 3;
const ROUNDS: u32 = 5;
/// With so many at a time a round on a disk takes long, and the queue evens out what single requests differ.
const MANY: u64 = 250;
const ROUNDS_OF_MANY: u32 = 2;
/// No finding rests on other sizes: a curve is drawn through them.
const ROUNDS_OF_SIZES: u32 = 2;
const ROUNDS_FINER: u32 = 2;
/// Depths go up by factors of 2.5 to 4: halved twice, a knee between its neighbours is known to a factor of three.
const FINER_MAX: u32 = 2;
/// Single accesses of a disk differ by a third of their mean (seek and turn), and by half of that at one distance and angle: 800 of them
/// tell it to 1 %, and a disk makes some 70 a second. They are measured twice in a round: three means say too little of how they differ.
const SINGLE_MECHANICAL: Nanos = Nanos::from_millis(2000);
const SINGLE: Nanos = Nanos::from_millis(90);
const SINGLES_IN_ROUND: usize = 2;
const OTHER_MECHANICAL: Nanos = Nanos::from_millis(300);
/// Ten times the 99th percentile of five in flight on three disks, so that it is told.
const QUEUE_MECHANICAL: Nanos = Nanos::from_millis(800);
const OTHER: Nanos = Nanos::from_millis(80);
/// A disk that sorts its queue completes 120 and more requests a second: so long for each in flight, and the queue is gone through once to get
/// into its steady state, and measured for about as long.
const FOR_EACH_AT_ONCE: Nanos = Nanos::from_millis(12);
/// Where only some reads wait for an actuator, others complete until those fill the queue: that is a quarter of the time then.
const FOR_EACH_OF_SOME: Nanos = Nanos::from_millis(32);
const LONG_MAX: Nanos = Nanos::from_secs(5);
/// Unless depths were asked for, longer queues than this are measured only while the last one brought more: a disk takes some seconds
/// to empty one. What it has to bring is what two means differ by through chance.
const DEPTH_ALWAYS: u64 = 25;
const MORE_BY: f64 = 0.05;
/// And for one of [`MANY`] where parts move: sorting a queue four times as long brings a fifth, and SATA, which ends at 32, a tenth.
const MORE_BY_FOR_MANY: f64 = 0.18;
/// The span that the finding is about is measured twice in a round, as single accesses to the whole range are.
const SPAN_TOLD: f64 = 0.01;
/// A span is measured if it holds so many blocks: with fewer, reads soon meet what was read before.
const SPAN_BLOCKS_MIN: u64 = 4096;
/// A size is measured if the range holds so many of it.
pub(super) const RANGE_BLOCKS_MIN: u64 = 64;
/// Without a time limit, whatever the drive does, all rounds are over by then.
const TIME_MAX: Nanos = Nanos::from_secs(150);
const TIME_MAX_PRECISE: Nanos = Nanos::from_secs(600);

pub(super) struct Grid {
    setup: Setup,
    cells: Vec<Cell>,
    /// Longer queues, the shortest first, each of which is measured if the one before it brought more.
    deeper: VecDeque<Cell>,
    prng: Prng,
    moved: MovedReads,
    scale: f64,
    queue: VecDeque<Phase>,
    stage: Stage,
    rounds_more: u32,
    ends: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Rounds,
    Deeper,
    Finer(u32),
    Precise,
}

impl Grid {
    pub fn new(setup: &Setup, request: &AccessRequest, moved: MovedReads) -> Grid {
        let mut cells = cells_of(setup, request, OperationMix::Read);
        if setup.may_write {
            cells.extend(cells_of(setup, request, OperationMix::Write));
        }
        Grid::of_cells(setup, request, moved, cells)
    }

    /// Reads one at a time, all over the range and in the span that is told.
    pub fn of_singles(setup: &Setup, request: &AccessRequest, moved: MovedReads) -> Grid {
        let mut cells = cells_of(setup, request, OperationMix::Read);
        let usual = BlockSizes::one(random_block(&setup.facts));
        let told = share_of(setup.range, &cells[0], SPAN_TOLD);
        cells.retain(|cell| {
            let is_asked = cell.range == setup.range || cell.range.bytes() == told;
            cell.at_once() == 1 && cell.sizes == usual && is_asked
        });
        Grid::of_cells(setup, request, moved, cells)
    }

    fn of_cells(setup: &Setup, request: &AccessRequest, moved: MovedReads, cells: Vec<Cell>) -> Grid {
        let is_deeper = |cell: &Cell| request.has_usual_depths() && cell.at_once() > DEPTH_ALWAYS;
        let (deeper, cells) = cells.into_iter().partition(is_deeper);
        let mut grid = Grid {
            cells,
            deeper: Vec::into(deeper),
            prng: Prng::new(setup.seed, ORDER_STREAM),
            moved,
            scale: 1.0,
            queue: VecDeque::new(),
            stage: Stage::Rounds,
            rounds_more: 0,
            ends: None,
            setup: setup.clone(),
        };
        grid.scale = grid.scale_to_limit();
        for round in 1..=grid.rounds_of_all() {
            grid.plan_round(round);
        }
        grid
    }

    fn is_mechanical(&self) -> bool {
        self.moved != MovedReads::None
    }

    fn rounds_of_all(&self) -> u32 {
        if self.is_mechanical() { ROUNDS_MECHANICAL } else { ROUNDS }
    }

    fn rounds(&self, cell: &Cell) -> u32 {
        match self.is_mechanical() {
            true if cell.at_once() >= MANY => ROUNDS_OF_MANY,
            true if !self.is_usual_size(cell) => ROUNDS_OF_SIZES,
            _ => self.rounds_of_all(),
        }
    }

    fn is_usual_size(&self, cell: &Cell) -> bool {
        cell.sizes.single() == Some(random_block(&self.setup.facts))
    }

    fn time(&self, cell: &Cell) -> Nanos {
        let is_first = cell.at_once() == 1 && cell.range == self.setup.range && self.is_usual_size(cell);
        let usual = match (self.is_mechanical(), is_first) {
            (true, true) => SINGLE_MECHANICAL,
            (false, true) => SINGLE,
            (true, false) if cell.at_once() == 1 => OTHER_MECHANICAL,
            (true, false) => {
                let each = if self.moved == MovedReads::Some { FOR_EACH_OF_SOME } else { FOR_EACH_AT_ONCE };
                let long = each * cell.at_once();
                QUEUE_MECHANICAL.max(long.min(LONG_MAX))
            }
            (false, false) => OTHER,
        };
        Nanos::new((usual.as_f64() * self.scale) as u64)
    }

    /// Longer queues, finer numbers, and the queues that run empty after each phase, take about a third on top.
    fn scale_to_limit(&self) -> f64 {
        let Some(limit) = self.setup.time_limit else { return 1.0 };
        let mut usual = Nanos::ZERO;
        for cell in &self.cells {
            usual += self.time(cell) * u64::from(self.rounds(cell));
        }
        let usual = usual.as_f64() * 4.0 / 3.0;
        (limit.as_f64() / usual).min(1.0)
    }

    fn plan_round(&mut self, round: u32) {
        let mut cells = self.cells.clone();
        cells.retain(|cell| round <= self.rounds(cell));
        self.plan(cells, round);
    }

    fn plan(&mut self, mut cells: Vec<Cell>, round: u32) {
        self.prng.shuffle(&mut cells);
        for cell in cells {
            let phase = cell.phase(round, self.time(&cell), self.rounds(&cell) + self.rounds_more);
            self.queue.push_back(phase);
        }
    }

    /// All rounds of the next longer queue, if the longest so far brought more than the one before it; else of none.
    fn plan_deeper(&mut self, so_far: &RunView<'_>) {
        let Some(cell) = self.deeper.pop_front() else { return };
        let is_long = self.is_mechanical() && cell.at_once() >= MANY;
        let more_by = if is_long { MORE_BY_FOR_MANY } else { MORE_BY };
        if last_gain(so_far, cell.mix.operations()[0]).is_none_or(|gain| gain < more_by) {
            return self.deeper.retain(|other| other.mix != cell.mix);
        }
        for round in 1..=self.rounds(&cell) {
            self.plan(vec![cell.clone()], round);
        }
        self.cells.push(cell);
    }

    fn knows_knee(&self, so_far: &RunView<'_>) -> bool {
        matches!(self.cells.first(), Some(first) if is_knee_known(so_far, first.mix.operations()[0]))
    }

    fn plan_finer(&mut self, so_far: &RunView<'_>) {
        let Some(first) = self.cells.first() else { return };
        let Some(model) = self.cells.iter().find(|cell| cell.at_once() > 1) else { return };
        let mut cells = Vec::new();
        for number in finer_numbers(so_far, first.mix.operations()[0]) {
            cells.push(match model.threads {
                1 => Cell { queue_depth: number, ..model.clone() },
                _ => Cell { threads: number, ..model.clone() },
            });
        }
        for round in 1..=ROUNDS_FINER {
            self.plan(cells.clone(), round);
        }
    }

    fn plan_more(&mut self, so_far: &RunView<'_>) {
        let Some(precision) = self.setup.precision else { return };
        let known = Known::of(so_far, precision);
        if known.is_wide(FindingCode::AccessTime) || known.is_wide(FindingCode::ConcurrencyGain) {
            self.rounds_more += 1;
            let round = self.rounds_of_all() + self.rounds_more;
            let mut few = self.cells.clone();
            few.retain(|cell| cell.at_once() < MANY);
            self.plan(few, round);
        }
    }

    fn time_max(&self) -> Nanos {
        let usual = if self.setup.precision.is_some() { TIME_MAX_PRECISE } else { TIME_MAX };
        self.setup.time_limit.unwrap_or(usual)
    }
}

impl Experiment for Grid {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let now = so_far.elapsed();
        let ends = *self.ends.get_or_insert(now + self.time_max());
        if now >= ends {
            return None;
        }
        while self.queue.is_empty() {
            match self.stage {
                Stage::Rounds => self.stage = Stage::Deeper,
                Stage::Deeper if !self.deeper.is_empty() => self.plan_deeper(so_far),
                Stage::Deeper => {
                    self.stage = Stage::Finer(1);
                    self.plan_finer(so_far);
                }
                Stage::Finer(planned) if planned < FINER_MAX && !self.knows_knee(so_far) => {
                    self.stage = Stage::Finer(planned + 1);
                    self.plan_finer(so_far);
                }
                Stage::Finer(_) => self.stage = Stage::Precise,
                Stage::Precise => {
                    self.plan_more(so_far);
                    if self.queue.is_empty() {
                        return None;
                    }
                }
            }
        }
        self.queue.pop_front()
    }

    fn remaining(&self) -> Remaining {
        let mut phases = Vec::from(self.queue.clone());
        for cell in &self.deeper {
            let rounds = self.rounds(cell);
            phases.extend((1..=rounds).map(|round| cell.phase(round, self.time(cell), rounds)));
        }
        Remaining::of(&phases)
    }

    /// Where single accesses go and how long each takes makes the scatter over the surface.
    fn needs_trace(&self, phase: &Phase) -> bool {
        matches!(&phase.workload, Some(workload) if workload.in_flight_max() == 1)
    }
}

fn cells_of(setup: &Setup, request: &AccessRequest, mix: OperationMix) -> Vec<Cell> {
    let block = random_block(&setup.facts);
    let pattern = if request.with_replacement { Pattern::RandomWithReplacement } else { Pattern::RandomOnce };
    let one = Cell {
        range: setup.range,
        sizes: BlockSizes::one(block),
        alignment: block,
        queue_depth: 1,
        threads: 1,
        mix,
        pattern,
        // What is written is written when the drive has it.
        caching: if mix == OperationMix::Read { request.caching() } else { Caching::Direct },
    };
    let mut cells = vec![one.clone()];
    for queue_depth in request.depths() {
        cells.push(Cell { queue_depth, ..one.clone() });
    }
    for &threads in &request.threads {
        cells.push(Cell { threads, ..one.clone() });
    }
    cells.extend(sizes(setup, request, &one));
    if mix == OperationMix::Read {
        cells.extend(spans(setup, request, &one));
    }
    let mut distinct: Vec<Cell> = Vec::new();
    for cell in cells {
        if !distinct.contains(&cell) {
            distinct.push(cell);
        }
    }
    let is_span_told =
        |cell: &&Cell| cell.range.bytes().get() == share_of(setup.range, &one, SPAN_TOLD).get();
    let again = distinct.iter().find(is_span_told).cloned();
    distinct.extend(again);
    distinct.extend(vec![one; SINGLES_IN_ROUND - 1]);
    distinct
}

pub(super) fn has_room(range: ByteRange, size: Bytes) -> bool {
    size.get().saturating_mul(RANGE_BLOCKS_MIN) <= range.bytes().get()
}

fn sizes(setup: &Setup, request: &AccessRequest, one: &Cell) -> Vec<Cell> {
    let logical = setup.facts.logical_block;
    let (mut cells, mut parts) = (Vec::new(), Vec::new());
    for size in request.blocks() {
        if !size.is_zero() && size.is_multiple_of(logical) && has_room(setup.range, size) {
            cells.push(Cell { sizes: BlockSizes::one(size), alignment: size, ..one.clone() });
            parts.push((size, 1.0));
        }
    }
    if !request.blocks.is_empty()
        && let Ok(sizes) = BlockSizes::mix(parts)
        && sizes.single().is_none()
    {
        let pattern = Pattern::RandomWithReplacement;
        cells.push(Cell { sizes, alignment: one.alignment, pattern, ..one.clone() });
    }
    cells
}

fn share_of(range: ByteRange, one: &Cell, share: f64) -> Bytes {
    Bytes::new((range.bytes().as_f64() * share) as u64).round_down_to(one.alignment)
}

fn spans(setup: &Setup, request: &AccessRequest, one: &Cell) -> Vec<Cell> {
    let mut cells = Vec::new();
    for share in request.spans() {
        let bytes = share_of(setup.range, one, share);
        if bytes / one.alignment >= SPAN_BLOCKS_MIN
            && let Some(range) = ByteRange::new(setup.range.first(), bytes)
        {
            cells.push(Cell { range, ..one.clone() });
        }
    }
    cells
}
