//! Pages for a terminal, as text.
//!
//! ```text
//! what was measured      model, serial, path, capacity, link
//! ! what to know first   interrupted, caveats, warnings
//! the verdict            whether the drive is sound
//! the answers            sound? -> speed -> access: value, range, sentence
//! what to do             advice
//! the chart              rate over position
//! the map                slowest request of each stretch, after a pass over every block
//! how it was measured    engine, seed, noise of the host
//! what next              the command that repeats it, and where more is
//! ```

mod choice;
pub(crate) mod compare;
pub(crate) mod estimate;
mod files;
pub(crate) mod findings;
pub(crate) mod heading;
mod latency_map;
pub(crate) mod method;
mod partitions;
mod phases;
mod plan;
mod post;
mod section;
mod state;
mod stated;
mod tables;
mod virtual_drives;

pub use choice::{AnsweredQuestion, ChoicePage, WeighedDrive, choice_page};
pub use compare::{ComparePage, compare_page, run_letter};
pub use estimate::{
    EstimatePage, EstimatedBudget, EstimatedDrive, EstimatedRow, EstimatedWork, Told, estimate_page,
};
pub use findings::{BriefFinding, brief_finding};
pub use latency_map::latency_map;
pub use partitions::{PartitionPage, PlannedCut, PlannedPartition, partition_page, partition_script};
pub use plan::{PlanGroup, PlanPage, plan_page};
pub use post::post;
pub use state::{StateEvent, StatePage, state_page};
pub use tables::{DriveRow, PartitionRow, RunRow, drives_table, runs_table};
pub use virtual_drives::{TruthRow, VirtualDriveRow, truth_table, virtual_drives_table};

use crate::chart::{self, ChartedRun, rate_over_position};
use crate::style::{Style, Tone, wrap};
use crate::verdict::{Severity, Verdict};
use model::experiment_name::ExperimentName;
use model::phase_row::PhaseRow;
use model::request::Operation;
use model::run::Run;

pub fn run_page(run: &Run, style: Style) -> String {
    run_page_with_phases(run, &[], style)
}

/// The same with a table of the phases.
pub fn run_page_with_phases(run: &Run, rows: &[PhaseRow], style: Style) -> String {
    let sections = [
        heading::target(&run.target, style),
        heading::notices(run, style),
        verdict(run, style),
        findings::answers(run, style),
        phases::table(rows, style),
        files::side_by_side(run, style),
        findings::advice(run, style),
        stated::figures(run, style),
        charts(run, style),
        latency_map::maps(run, style),
        method::how_it_was_measured(run, style),
        method::what_next(run, style),
    ];
    section::page(sections)
}

fn verdict(run: &Run, style: Style) -> Vec<String> {
    let Verdict { severity, headline, sentence } = Verdict::of(run, style);
    let (tone, text) = match severity {
        Severity::Bad => (Tone::Bad, format!("Verdict: {headline} {sentence}")),
        Severity::Care => (Tone::Warning, format!("Verdict: {headline} {sentence}")),
        // What it rests on is the first row below.
        Severity::Sound | Severity::Open => (Tone::Heading, format!("Verdict: {headline}")),
    };
    let mut lines = Vec::new();
    for line in wrap(&text, style.columns()) {
        lines.push(style.paint(tone, &line));
    }
    lines
}

fn charts(run: &Run, style: Style) -> Vec<String> {
    // What differs there is the size of requests, and not the position.
    if run.phases.iter().all(|phase| phase.phase.experiment == ExperimentName::Sizes) {
        return Vec::new();
    }
    let charted = [ChartedRun { run, series: None, letter: None }];
    let mut lines = Vec::new();
    for operation in [Operation::Read, Operation::Write] {
        let Some(chart) = rate_over_position(&charted, &[operation]) else { continue };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(chart::terminal::draw(&chart, style));
    }
    lines
}
