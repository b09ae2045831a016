//! `geometry`: how a hard disk turns and seeks, and where its tracks lie, from the moments at which single reads end.

use super::preparation::{self, random_block};
use super::{Experiment, Outlook, Question};
use model::plan::Phase;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use std::collections::VecDeque;

/// The word on the command line, and in every phase.
pub const NAME: &str = "geometry";
const WARM_UP: Nanos = Nanos::from_millis(500);

/// The experiment.
pub struct Geometry {
    queue: VecDeque<Phase>,
}

impl Geometry {
    /// Plans it.
    ///
    /// # Errors
    /// A sentence for a person when the range has no room for it.
    pub fn new(question: Question) -> Result<Geometry, String> {
        let block = random_block(&question.facts);
        let range = question.range.align_inward(block);
        if range.bytes() < Bytes::from_mib(1) {
            return Err(format!(
                "the range holds {}; tracks are looked for in at least 1 MiB. Give a larger --range",
                range.bytes()
            ));
        }
        Ok(Geometry { queue: VecDeque::from([preparation::warm_up(NAME, range, block, WARM_UP)]) })
    }
}

impl Experiment for Geometry {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, _so_far: &RunView<'_>) -> Option<Phase> {
        self.queue.pop_front()
    }

    fn outlook(&self) -> Outlook {
        Outlook::of(&Vec::from(self.queue.clone()))
    }

    fn needs_trace(&self, _phase: &Phase) -> bool {
        true
    }
}
