//! Every kind of chart that there is, in the order in which a reader wants them.

use super::{Chart, ChartedRun, access_time_over_position, rate_over_position};
use model::request::Operation;

/// A kind of chart.
pub struct ChartKind {
    /// The word for it in options and files.
    pub name: &'static str,
    /// What it shows, for a list.
    pub shows: &'static str,
    /// The command that measures what it needs.
    pub measured_by: &'static str,
    draw: fn(&[ChartedRun<'_>]) -> Option<Chart>,
}

/// All kinds of charts.
pub const CHART_KINDS: &[ChartKind] = &[
    ChartKind {
        name: "rate-over-position",
        shows: "how fast each place is read and written, with zones and slow regions",
        measured_by: "drivescope surface TARGET",
        draw: |runs| rate_over_position(runs, &[Operation::Read, Operation::Write]),
    },
    ChartKind {
        name: "access-time",
        shows: "how long single random requests take, at each place and how often",
        measured_by: "drivescope access TARGET",
        draw: access_time_over_position,
    },
];

/// Every chart for which these runs have data.
pub fn charts_of(runs: &[ChartedRun<'_>]) -> Vec<Chart> {
    CHART_KINDS.iter().filter_map(|kind| (kind.draw)(runs)).collect()
}

/// The chart with that name; none when there is no such chart, or these runs have no data for it.
pub fn chart_named(name: &str, runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let kind = CHART_KINDS.iter().find(|kind| kind.name == name)?;
    (kind.draw)(runs)
}
