//! Pages for a terminal, as text.
//! ```text
//! target             model, serial, path, capacity, link
//! ! notices          interrupted, caveats, warnings
//! verdict            whether the drive is sound, and the answer to the command's question
//! findings           value and interval, with a sentence where that says more
//! recommendations    advice
//! inconclusive       what is not known, and why
//! charts             throughput by LBA, map of latencies
//! method             engine, seed, noise of the host
//! next commands      the command that repeats it, and where more is
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
mod power_cut;
mod section;
mod settings;
mod sizes;
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
pub use power_cut::{PowerCutPage, power_cut_page};
pub use settings::{ExclusionRow, SettingRow, SettingsPage, settings_page};
pub use state::{StateEvent, StatePage, state_page};
pub use tables::{DriveRow, PartitionRow, RunRow, drives_table, runs_table};
pub use virtual_drives::{TruthRow, VirtualDriveRow, truth_table, virtual_drives_table};

use crate::chart::timeline::timeline;
use crate::chart::{self, ChartedRun, chart_named, charts_of, rate_over_position};
use crate::style::{Style, Tone, wrap};
use crate::verdict::{Severity, Verdict};
use model::experiment_name::ExperimentName;
use model::phase_row::PhaseRow;
use model::request::Operation;
use model::run::Run;

/// What a page has beside verdict, findings and recommendations.
#[derive(Clone, Copy, Default)]
pub struct PageOptions<'page> {
    pub phases: &'page [PhaseRow],
    /// The run with its series, for charts over time.
    pub charted: Option<ChartedRun<'page>>,
    /// Every sentence, and the method in full.
    pub is_full: bool,
}

pub fn run_page(run: &Run, style: Style) -> String {
    run_page_with(run, PageOptions::default(), style)
}

pub fn run_page_with(run: &Run, options: PageOptions<'_>, style: Style) -> String {
    let verdict = Verdict::of(run, style);
    let said = verdict.text();
    let mut sections = vec![
        heading::target(&run.target, style),
        heading::notices(run, style),
        verdict_lines(&verdict, style),
        findings::rows(run, &said, options.is_full, style),
        phases::table(options.phases, &run.phases, kind_of_phases(run), style),
        files::side_by_side(run, style),
        sizes::table(run, style),
        findings::advice(run, style),
    ];
    if !options.is_full && !is_plan(run) && !findings::has_failed(run) {
        sections.push(findings::inconclusive(run, &said, style));
    }
    sections.push(stated::figures(run, style));
    sections.extend([charts(run, options, style), latency_map::maps(run, style)]);
    sections.push(if options.is_full { method::in_full(run, style) } else { method::in_brief(run, style) });
    sections.push(method::what_next(run, style));
    section::page(sections)
}

/// Whether the drive is sound, and the answer to the question of the command.
fn verdict_lines(verdict: &Verdict, style: Style) -> Vec<String> {
    let tone = match verdict.severity {
        Severity::Bad => Tone::Bad,
        Severity::Care => Tone::Warning,
        Severity::Sound | Severity::Open => Tone::Heading,
    };
    let mut lines = Vec::new();
    for line in wrap(&format!("{}: {}", verdict.title, verdict.text()), style.columns()) {
        lines.push(style.paint(tone, &line));
    }
    lines
}

/// The charts that answer the question of the command; all that the run has on a full page.
fn charts(run: &Run, options: PageOptions<'_>, style: Style) -> Vec<String> {
    let charted = [options.charted.unwrap_or(ChartedRun { run, series: None, letter: None })];
    let mut charts = Vec::new();
    if options.is_full {
        charts.extend(timeline(&charted));
        charts.extend(charts_of(&charted));
    } else {
        match run.experiments().first() {
            Some(ExperimentName::Run) => {
                charts.extend(timeline(&charted));
                charts.extend(chart_named("latency-percentiles", &charted));
            }
            Some(ExperimentName::Commit) => charts.extend(chart_named("commit-latency", &charted)),
            // Its table has the same numbers.
            Some(ExperimentName::Sizes) => {}
            Some(ExperimentName::Sustain) => charts.extend(chart_named("write-rate-over-bytes", &charted)),
            Some(ExperimentName::Valleys) => charts.extend(chart_named("valleys-over-time", &charted)),
            _ => {
                for operation in [Operation::Read, Operation::Write] {
                    charts.extend(rate_over_position(&charted, &[operation]));
                }
                let asked = run.experiments();
                if asked.len() > 1 || asked == [&ExperimentName::Access] {
                    charts.extend(chart_named("iops-over-depth", &charted));
                }
                if asked.len() > 1 {
                    charts.extend(chart_named("seek-curve", &charted));
                }
            }
        }
    }
    let mut lines = Vec::new();
    for chart in &charts {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(chart::terminal::draw(chart, style));
    }
    lines
}

fn kind_of_phases(run: &Run) -> phases::Kind {
    match method::pace(run) {
        _ if is_plan(run) => phases::Kind::Jobs,
        Some(_) => phases::Kind::Paced,
        None => phases::Kind::Phases,
    }
}

/// Of a plan of the user, phases are the result; other experiments have findings.
pub(crate) fn is_plan(run: &Run) -> bool {
    run.phases.iter().any(|phase| phase.phase.experiment == ExperimentName::Run)
}

/// Whether a brief page shows what is in the series alone: the phases, or the valleys in a pass.
pub fn needs_series(run: &Run) -> bool {
    lists_phases(run) || run.experiments() == [&ExperimentName::Valleys]
}

/// Whether a brief page has the table of phases: the percentiles of a ping are its result, too.
pub fn lists_phases(run: &Run) -> bool {
    is_plan(run) || run.experiments() == [&ExperimentName::Ping]
}
