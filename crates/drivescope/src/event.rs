//! What happens in a run: the closed list that screens draw from, live or replayed.

use crate::experiment::Outlook;
use model::latency_map::LatencyMap;
use model::run::Run;
use report::progress::Progress;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'run> {
    /// A run begins; this is what is ahead.
    RunBegan(&'run Run, &'run Outlook),
    /// How far it is: several times a second.
    Progress(&'run Progress),
    /// How fast each place has answered so far: as often, before the progress.
    Map(&'run LatencyMap),
    /// Something that the reader should know at once.
    Warning(&'run str),
    /// A run has ended, with its findings.
    RunEnded(&'run Run),
}

/// Whoever wants to know.
pub trait EventSink {
    /// Takes an event. It must be quick: a phase may be under way.
    fn event(&mut self, event: &Event<'_>);
}
