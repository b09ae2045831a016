//! `access`: how fast random access is, and by what mechanism. It consists of parts, each of which is an experiment of its own and
//! puts its question when the one before it is answered.

mod cache;
mod cell;
mod grid;
mod page_cache;
mod stripe;
mod turn;
mod wish;

use super::preparation::{self, filled_range, moves_parts, random_block};
use super::{Experiment, Outlook, Question, Step};
use cache::Cache;
use grid::{Grid, RANGE_BLOCKS_MIN, has_room};
use model::plan::Phase;
use model::request::Operation;
use model::run::RunView;
use model::target::TargetKind;
use model::units::{Bytes, Nanos};
use model::workload::Caching;
use page_cache::PageCache;
use std::collections::VecDeque;
use stripe::Stripe;

use turn::Turn;
pub use wish::AccessWish;

/// The word on the command line, and in every phase.
pub const NAME: &str = "access";
const FILL: Nanos = Nanos::from_secs(12);
const SETTLE: Nanos = Nanos::from_secs(1);
/// With less time, only the grid is measured.
const TIME_FOR_ALL: Nanos = Nanos::from_secs(60);
const WARM_UP: Nanos = Nanos::from_millis(500);

/// The experiment.
pub struct Access {
    question: Question,
    wish: AccessWish,
    /// What comes before the first part: filling a scratch file, waking the drive.
    preparation: VecDeque<Phase>,
    /// The first is under way; none of them until the preparation is over.
    parts: VecDeque<Box<dyn Experiment>>,
    has_begun: bool,
}

impl Access {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when the range has no room for it.
    pub fn new(question: Question, wish: AccessWish) -> Result<Access, String> {
        let block = random_block(&question.facts);
        let range = question.range.align_inward(block);
        if range.bytes() < Bytes::from_mib(1) {
            return Err(format!(
                "the range holds {}; random access needs at least 1 MiB. Give a larger --range",
                range.bytes()
            ));
        }
        let logical = question.facts.logical_block;
        let odd = wish.blocks.iter().find(|size| size.0 == 0 || !size.is_multiple_of(logical));
        if let Some(odd) = odd.filter(|_| wish.blocks != AccessWish::default().blocks) {
            return Err(format!("--blocks: {odd} is no multiple of the target's blocks of {logical}"));
        }
        let too_large = wish.blocks.iter().find(|size| !has_room(range, **size));
        if let Some(size) = too_large.filter(|_| wish.blocks != AccessWish::default().blocks) {
            return Err(format!(
                "--blocks: {size} is too large for a range of {}, which has no room for {RANGE_BLOCKS_MIN} of them",
                range.bytes()
            ));
        }
        let mut preparation = VecDeque::new();
        if question.empty {
            preparation.extend(preparation::fill(NAME, &question, FILL, SETTLE));
        }
        preparation.push_back(preparation::warm_up(NAME, range, block, WARM_UP));
        let question = Question { range, ..question };
        Ok(Access { question, wish, preparation, parts: VecDeque::new(), has_begun: false })
    }

    /// What of a scratch file was filled is all that can be read.
    fn settle_range(&mut self, so_far: &RunView<'_>) -> bool {
        if !self.question.empty {
            return true;
        }
        let written = so_far.phases.first().and_then(|fill| fill.totals_of(Operation::Write));
        let range = filled_range(self.question.range, Bytes(written.map_or(0, |totals| totals.bytes)));
        range.map(|range| self.question.range = range).is_some()
    }

    fn begin(&mut self, so_far: &RunView<'_>) {
        self.has_begun = true;
        self.parts.extend(self.parts(moves_parts(&self.question.facts, so_far)));
    }

    fn parts(&self, mechanical: bool) -> Vec<Box<dyn Experiment>> {
        // What comes after the grid takes about as long as it; with little time it is left out rather than cut to pieces.
        let limit = self.question.time_limit;
        let has_time = limit.is_none_or(|limit| limit >= TIME_FOR_ALL);
        let time_limit = limit.map(|limit| if has_time { Nanos(limit.0 / 2) } else { limit });
        let of_grid = Question { time_limit, ..self.question.clone() };
        let mut parts: Vec<Box<dyn Experiment>> = vec![Box::new(Grid::new(&of_grid, &self.wish, mechanical))];
        if !has_time {
            return parts;
        }
        let has_page_cache = self.question.facts.kind != TargetKind::Sim;
        if self.wish.caching == Caching::Buffered
            && has_page_cache
            && let Some(page_cache) = PageCache::new(&self.question)
        {
            parts.push(Box::new(page_cache));
        }
        if mechanical {
            parts.push(Box::new(Turn::new(&self.question)));
        }
        // Before the cache: on a stripe it takes pairs of reads on one drive to see how far that reads on.
        if let Some(stripe) = Stripe::new(&self.question) {
            parts.push(Box::new(stripe));
        }
        if let Some(cache) = Cache::new(&self.question) {
            parts.push(Box::new(cache));
        }
        parts
    }
}

impl Experiment for Access {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.preparation.pop_front() {
            return Some(phase);
        }
        if !self.has_begun {
            if !self.settle_range(so_far) {
                return None;
            }
            self.begin(so_far);
        }
        while let Some(part) = self.parts.front_mut() {
            match part.next(so_far) {
                Some(phase) => return Some(phase),
                None => drop(self.parts.pop_front()),
            }
        }
        None
    }

    fn outlook(&self) -> Outlook {
        let mut steps: Vec<Step> = Outlook::of(&Vec::from(self.preparation.clone())).steps;
        // Before it has begun, what will be measured is taken to be what it would be now.
        let mechanical = self.question.facts.rotational.unwrap_or(false);
        let planned = if self.has_begun { Vec::new() } else { self.parts(mechanical) };
        steps.extend(self.parts.iter().chain(&planned).flat_map(|part| part.outlook().steps));
        Outlook { steps }
    }

    /// The reads that wake the drive say how long the first of them took, and how long any read takes that no memory answers.
    fn needs_trace(&self, phase: &Phase) -> bool {
        !self.has_begun || self.parts.front().is_some_and(|part| part.needs_trace(phase))
    }
}
