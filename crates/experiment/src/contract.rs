//! What an experiment is to the session that runs it.

use crate::remaining::Remaining;
use model::plan::Phase;
use model::range::ByteRange;
use model::run::RunView;
use model::units::Bytes;

pub trait Experiment {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase>;

    fn remaining(&self) -> Remaining;

    fn needs_trace(&self, _phase: &Phase) -> bool {
        false
    }

    fn conduct(&self) -> Conduct {
        Conduct::default()
    }

    /// Whether what was overwritten up to the end of that phase may be given back, since no later phase looks at it.
    fn is_done_with(&self, _phase: &Phase) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conduct {
    /// The drive may be left alone between two phases: not where idle time, or none, is part of what is measured.
    pub may_rest: bool,
    /// It asks by itself for the rest of a phase that was cut short, when a run is resumed. If not, such a phase is repeated as a whole.
    pub completes_cut_phases: bool,
    /// The range of which a map is shown; none where there is little to see on one.
    pub mapped_range: Option<ByteRange>,
    /// How much it overwrites before [`Experiment::is_done_with`] lets it be given back; none where that is all it writes.
    pub preserved_at_once: Option<Bytes>,
}

impl Default for Conduct {
    fn default() -> Conduct {
        Conduct { may_rest: true, completes_cut_phases: false, mapped_range: None, preserved_at_once: None }
    }
}
