//! The events of a run, live or replayed. Screens draw from these alone.

use experiment::Remaining;
use model::finding::Finding;
use model::latency_map::LatencyMap;
use model::plan::Phase;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::{PhaseSummary, Run};
use report::progress::Progress;

#[derive(Debug)]
pub enum Event<'run> {
    /// A run begins, or goes on after the phases that it has; with what is ahead.
    RunBegan(&'run Run, &'run Remaining),
    PhaseBegan(u32, &'run Phase, &'run Remaining),
    Interval(&'run IntervalRecord),
    Histogram(&'run HistogramRecord),
    Error(&'run ErrorRecord),
    Ios(&'run [IoRecord]),
    Telemetry(&'run TelemetryRecord),
    Progress(&'run Progress),
    Map(&'run LatencyMap),
    PhaseEnded(u32, &'run PhaseSummary),
    Paused(bool),
    Findings(&'run [Finding]),
    Warning(&'run str),
    RunEnded(&'run Run),
}

pub trait EventSink {
    /// Must return quickly: a phase may be under way.
    fn event(&mut self, event: &Event<'_>);
}
