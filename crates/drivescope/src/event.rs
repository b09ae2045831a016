//! What happens in a run: the closed list that screens draw from, live or replayed.

use crate::experiment::Outlook;
use model::finding::Finding;
use model::latency_map::LatencyMap;
use model::plan::Phase;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::{PhaseSummary, Run};
use report::progress::Progress;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'run> {
    /// A run begins, or goes on after the phases that it has; this is what is ahead.
    RunBegan(&'run Run, &'run Outlook),
    /// The phase of that number begins; this is what comes after it.
    PhaseBegan(u32, &'run Phase, &'run Outlook),
    /// A slice of time of the phase under way is over.
    Interval(&'run IntervalRecord),
    /// About a second of it is.
    Histogram(&'run HistogramRecord),
    /// A request failed.
    Error(&'run ErrorRecord),
    /// Single requests of a phase of which all are kept.
    Ios(&'run [IoRecord]),
    /// What host and drive tell of themselves: about once a second.
    Telemetry(&'run TelemetryRecord),
    /// How far it is: several times a second.
    Progress(&'run Progress),
    /// How fast each place has answered so far: as often, before the progress.
    Map(&'run LatencyMap),
    /// A phase is over.
    PhaseEnded(u32, &'run PhaseSummary),
    /// The run rests between two phases, since somebody asked for it; or it goes on.
    Paused(bool),
    /// What would be concluded from what is kept so far.
    Findings(&'run [Finding]),
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
