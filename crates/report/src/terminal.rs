//! Pages for a terminal, as text.
//!
//! ```text
//! what was measured      model, serial, path, capacity, link
//! ! what to know first   interrupted, caveats, warnings
//! the answers            sound? -> speed -> access: value, range, sentence
//! what to do             advice
//! the chart              rate over position
//! the map                slowest request of each stretch, after a pass over every block
//! how it was measured    engine, seed, noise of the host
//! what next              the command that repeats it, and where more is
//! ```

mod choice;
pub(crate) mod compare;
mod estimate;
mod files;
pub(crate) mod findings;
pub(crate) mod heading;
mod latency_map;
pub(crate) mod method;
mod partitions;
mod plan;
mod state;
mod stated;
mod tables;
mod virtual_drives;

pub use choice::{AnsweredQuestion, ChoicePage, WeighedDrive, choice_page};
pub use compare::{ComparePage, compare_page, run_letter};
pub use estimate::{
    EstimatePage, EstimatedBudget, EstimatedDrive, EstimatedRow, EstimatedWork, estimate_page,
};
pub use findings::{BriefFinding, brief_finding};
pub use latency_map::latency_map;
pub use partitions::{PartitionPage, PlannedCut, PlannedPartition, partition_page};
pub use plan::{PlanGroup, PlanPage, plan_page};
pub use state::{StateEvent, StatePage, state_page};
pub use tables::{DriveRow, PartitionRow, RunRow, drives_table, runs_table};
pub use virtual_drives::{TruthRow, VirtualDriveRow, truth_table, virtual_drives_table};

pub(crate) use method::readable_moment;

use crate::chart::{self, ChartedRun, rate_over_position};
use crate::style::Style;
use model::request::Operation;
use model::run::Run;

/// What a newcomer reads after a run: the answers first, then where they come from.
pub fn run_page(run: &Run, style: Style) -> String {
    let sections = [
        heading::target(&run.target, style),
        heading::notices(run, style),
        findings::answers(run, style),
        files::side_by_side(run, style),
        findings::advice(run, style),
        stated::figures(run, style),
        charts(run, style),
        latency_map::maps(run, style),
        method::how_it_was_measured(run, style),
        method::what_next(run, style),
    ];
    page(sections)
}

/// A chart for reads and one for writes, each if there is something to draw.
fn charts(run: &Run, style: Style) -> Vec<String> {
    // What differs there is the size of requests, and not the position.
    if run.phases.iter().all(|phase| phase.phase.experiment == "sizes") {
        return Vec::new();
    }
    let charted = [ChartedRun { run, series: None, letter: None }];
    let charts = [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| rate_over_position(&charted, &[operation]));
    let charts: Vec<String> = charts.map(|chart| chart::terminal::draw(&chart, style).join("\n")).collect();
    charts.join("\n\n").lines().map(String::from).collect()
}

/// Whether the run holds what another program stated.
fn is_imported(run: &Run) -> bool {
    run.phases.iter().any(|phase| phase.phase.experiment == "import")
}

/// Sections with an empty line between them; empty ones are left out.
fn page(sections: impl IntoIterator<Item = Vec<String>>) -> String {
    let sections = sections.into_iter().filter(|lines| !lines.is_empty());
    let text: Vec<String> = sections.map(|lines| lines.join("\n") + "\n").collect();
    text.join("\n")
}
