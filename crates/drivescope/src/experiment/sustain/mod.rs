//! `sustain`: how writes go on that do not stop. It consists of parts, each of which is an experiment of its own and puts its question
//! when the one before it is answered.

mod bands;
mod bound;
mod budget;
mod clip;
mod cross_check;
mod drain;
mod fall;
mod kind;
mod rest;
mod wish;

use super::preparation::{self, filled_range, moves_parts, random_block};
use super::{Experiment, Outlook, Question, Step};
use bands::Bands;
use bound::{capped, within, written_since};
use budget::Budget;
use clip::Clip;
use cross_check::CrossCheck;
use drain::Drain;
use fall::Fall;
use kind::Kind;
use model::plan::Phase;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Nanos};
use rest::Rest;
use std::collections::VecDeque;

pub use wish::{SustainWish, Until};

/// The word on the command line, and in every phase.
pub const NAME: &str = "sustain";
/// A scratch file is filled before: what was never written is mapped and allotted while one writes to it, which is another question.
/// It takes at most this long.
const FILL: Nanos = Nanos::from_secs(600);
const SETTLE: Nanos = Nanos::from_secs(5);
const WARM_UP: Nanos = Nanos::from_millis(500);
/// Smaller ranges hold too few pieces of writing to see a fall.
const RANGE_MIN: Bytes = Bytes::from_mib(64);

/// The experiment.
pub struct Sustain {
    question: Question,
    wish: SustainWish,
    /// What comes before the first part: filling a scratch file, waking the drive.
    preparation: VecDeque<Phase>,
    /// The first is under way; none of them until the preparation is over.
    parts: VecDeque<Box<dyn Experiment>>,
    has_begun: bool,
    /// How many phases the preparation has: what these write is not what was asked for.
    prepared: usize,
    /// What all parts together may write, so that what was asked for and announced holds; none where nothing bounds it.
    limit: Option<Bytes>,
    /// What of that is left.
    left: Option<Bytes>,
}

impl Sustain {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when nothing may be written, or the range has no room for it.
    pub fn new(question: Question, wish: SustainWish) -> Result<Sustain, String> {
        if !question.may_write {
            return Err(format!(
                "sustain writes, and {} may only be read. Add --write if what is on it may be lost, or name a folder to write to a \
                 scratch file in it",
                question.facts.path
            ));
        }
        let logical = question.facts.logical_block;
        if wish.block.0 == 0 || !wish.block.is_multiple_of(logical) {
            return Err(format!(
                "--block: {} is no multiple of the target's blocks of {logical}",
                wish.block
            ));
        }
        let range = question.range.align_inward(wish.block);
        if range.bytes() < RANGE_MIN {
            return Err(format!(
                "the range holds {}; sustained writes need at least {RANGE_MIN}. Give a larger --range",
                range.bytes()
            ));
        }
        Budget::check(&question, &wish)?;
        let mut preparation = VecDeque::new();
        if question.empty {
            preparation.extend(preparation::fill(NAME, &question, FILL, SETTLE));
        }
        preparation.push_back(preparation::warm_up(NAME, range, random_block(&question.facts), WARM_UP));
        let question = Question { range, ..question };
        let asked = Budget::of(&question, &wish, false);
        let limit = asked.is_asked.then_some(asked.bytes);
        let prepared = preparation.len();
        let parts = VecDeque::new();
        Ok(Sustain { question, wish, preparation, parts, has_begun: false, prepared, limit, left: limit })
    }

    /// What of a scratch file was filled is all that is written to.
    fn settle_range(&mut self, so_far: &RunView<'_>) -> bool {
        if !self.question.empty {
            return true;
        }
        let written = so_far.phases.first().and_then(|fill| fill.totals_of(Operation::Write));
        let range = filled_range(self.question.range, Bytes(written.map_or(0, |totals| totals.bytes)));
        let range =
            range.map(|range| range.align_inward(self.wish.block)).filter(|range| range.bytes() >= RANGE_MIN);
        range.map(|range| self.question.range = range).is_some()
    }

    fn begin(&mut self, so_far: &RunView<'_>) {
        // What was announced holds, whatever the drive turns out to be.
        self.limit = self.outlook().writes();
        self.has_begun = true;
        self.parts.extend(self.parts(moves_parts(&self.question.facts, so_far)));
    }

    fn parts(&self, mechanical: bool) -> Vec<Box<dyn Experiment>> {
        let (question, wish) = (&self.question, &self.wish);
        let mut parts: Vec<Box<dyn Experiment>> = Vec::new();
        if let Some(part) = Bands::new(question, mechanical) {
            parts.push(Box::new(part));
        }
        if let Some(part) = Kind::new(question) {
            parts.push(Box::new(part));
        }
        parts.push(Box::new(Fall::new(question, wish, mechanical)));
        if let Some(part) = CrossCheck::new(question, wish, mechanical) {
            parts.push(Box::new(part));
        }
        if let Some(part) = Rest::new(question, wish, mechanical) {
            parts.push(Box::new(part));
        }
        if let Some(part) = Clip::new(question, &wish.clip) {
            parts.push(Box::new(part));
        }
        if wish.drain {
            parts.push(Box::new(Drain::new(question)));
        }
        parts
    }

    /// What is ahead before it has begun, by what the drive says of itself; where that need not be its own word, what writes more.
    fn planned(&self) -> Vec<Step> {
        let facts = &self.question.facts;
        let guesses = match facts.rotational {
            Some(turns) if facts.caveats.is_empty() => vec![turns],
            _ => vec![true, false],
        };
        let plans = guesses.into_iter().map(|mechanical| steps_of(&self.parts(mechanical)));
        let writes = |steps: &[Step]| {
            let bytes: Option<Bytes> = steps.iter().map(|step| step.writes).sum();
            bytes.unwrap_or(Bytes(u64::MAX))
        };
        plans.max_by_key(|steps| writes(steps)).unwrap_or_default()
    }
}

/// What is ahead in these parts.
fn steps_of<'parts>(parts: impl IntoIterator<Item = &'parts Box<dyn Experiment>>) -> Vec<Step> {
    parts.into_iter().flat_map(|part| part.outlook().steps).collect()
}

impl Experiment for Sustain {
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
        // A piece more would fail as well: where all that is written is refused there is no end by bytes.
        if so_far.phases.last().is_some_and(PhaseSummary::has_all_failed) {
            return None;
        }
        let written = written_since(so_far, self.prepared);
        self.left = self.limit.map(|limit| Bytes(limit.0.saturating_sub(written.0)));
        while let Some(part) = self.parts.front_mut() {
            match part.next(so_far) {
                Some(phase) => {
                    let phase = within(phase, self.left, self.wish.block);
                    if phase.is_none() {
                        self.parts.clear();
                    }
                    return phase;
                }
                None => drop(self.parts.pop_front()),
            }
        }
        None
    }

    fn outlook(&self) -> Outlook {
        let mut steps = Outlook::of(&Vec::from(self.preparation.clone())).steps;
        let ahead = if self.has_begun { steps_of(&self.parts) } else { self.planned() };
        steps.extend(capped(ahead, self.left));
        Outlook { steps }
    }

    fn may_rest(&self) -> bool {
        false
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        self.parts.front().is_some_and(|part| part.needs_trace(phase))
    }
}

/// That everything in the range of a virtual drive may be written to, for tests of the parts.
#[cfg(test)]
fn question_of(drive: &str, range: model::range::ByteRange) -> Question {
    let facts = sim::open(drive, 1).unwrap().facts().clone();
    Question { facts, range, may_write: true, empty: false, seed: 3, time_limit: None, precision: None }
}
