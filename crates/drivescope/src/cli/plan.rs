//! `drivescope plan`: where to cut a drive into partitions by rate, from a run that is kept. It changes nothing.

use super::args::{PlanArguments, WishArguments};
use super::estimate::basis;
use super::output;
use super::picture::{Picture, USUAL_CHART, rate_chart};
use super::resolve::wish as resolve;
use super::stored::{analysed, drive_name, store_with_runs};
use crate::error::{UserError, exit};
use crate::store::StoredRun;
use analysis::estimate::{Basis, DriveRates, RateCurve};
use analysis::plan::{PartitionPlan, Wish, plan};
use model::run::Run;
use report::chart::Chart;
use report::json::partition_document;
use report::quantity::rough_rate;
use report::terminal::{PartitionPage, PlannedCut, PlannedPartition, partition_page};
use std::path::Path;

/// What is wished where nothing is said: the fastest tenth apart.
const USUAL_WISH: Wish = Wish::Fastest(0.1);
/// Where partitions meet, in the legend of a chart.
const BORDER: &str = "end of a partition";

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, its drive cannot be cut so, or the picture cannot be drawn or written.
pub fn run(arguments: &PlanArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let wish = resolve(&arguments.wish)?.unwrap_or(USUAL_WISH);
    let picture = arguments.output.as_deref().map(|path| Picture::asked_for(path, false)).transpose()?;
    let stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    let run = &stored.run;
    let drive = DriveRates::of(run);
    let planned = planned(run, &drive, wish)?;
    let chart = rate_chart(std::slice::from_ref(&stored), &[]).map(|chart| with_cuts(chart, &planned));
    let chart = match picture {
        Some(picture) => {
            let chart = chart?;
            picture.write(&chart)?;
            Some(chart)
        }
        None => chart.ok(),
    };
    let page = PartitionPage { chart, ..page(run, &drive, wish, &planned) };
    output::give_page(|style| partition_page(&page, style), || partition_document(&page), &arguments.page)?;
    Ok(exit::SUCCESS)
}

/// Where to cut the drive of a run.
fn planned(run: &Run, drive: &DriveRates, wish: Wish) -> Result<PartitionPlan, UserError> {
    let cannot =
        |why: String| UserError::failure(format!("cannot plan partitions on {}: {why}", drive_name(run)));
    let curve = drive.read.as_ref().or(drive.write.as_ref()).map_err(|_| {
        let why = drive.read.as_ref().err().cloned().unwrap_or_default();
        cannot(format!("its rates are not known. {why}"))
    })?;
    plan(curve, &run.target, wish).map_err(cannot)
}

fn with_cuts(chart: Chart, plan: &PartitionPlan) -> Chart {
    chart.with_borders(BORDER, plan.cuts.iter().map(|cut| cut.at.0 as f64))
}

/// Charts of runs with the partitions that somebody wants to see in them.
pub(super) struct PlannedCuts(Option<PartitionPlan>);

impl PlannedCuts {
    /// The cuts that `wish` asks for; none where nothing is asked for.
    ///
    /// # Errors
    /// When an option makes no sense, or there is not one drive that can be cut so.
    pub(super) fn of(wish: &WishArguments, runs: &[StoredRun]) -> Result<PlannedCuts, UserError> {
        let Some(wish) = resolve(wish)? else { return Ok(PlannedCuts(None)) };
        let [stored] = runs else {
            return Err(UserError::usage(
                "partitions are planned on one drive: give one run with --fast, --at-least or --parts",
            ));
        };
        Ok(PlannedCuts(Some(planned(&stored.run, &DriveRates::of(&stored.run), wish)?)))
    }

    /// The chart; of rates over the position, with the cuts.
    pub(super) fn marked(&self, chart: Chart) -> Chart {
        match &self.0 {
            Some(plan) if chart.name == USUAL_CHART => with_cuts(chart, plan),
            _ => chart,
        }
    }
}

fn page(run: &Run, drive: &DriveRates, wish: Wish, plan: &PartitionPlan) -> PartitionPage {
    let mut warnings = Vec::new();
    if plan.is_even {
        warnings.push(
            "All places of it are equally fast, as far as the run tells: speed is no reason to cut it."
                .to_owned(),
        );
    }
    let partitions = plan.partitions.iter().enumerate().map(|(index, partition)| PlannedPartition {
        name: name(index, plan, partition.is_fast),
        range: partition.range,
        mean: partition.mean,
        fastest: partition.fastest,
        slowest: partition.slowest,
    });
    let cuts = plan.cuts.iter().map(|cut| PlannedCut {
        at: cut.at,
        asked: cut.asked,
        is_zone_border: cut.is_zone_border,
    });
    PartitionPage {
        drive: drive_name(run),
        capacity: run.target.capacity,
        logical_block: run.target.logical_block,
        run: run.id.clone(),
        wish: if plan.is_even && plan.cuts.is_empty() { wish_text(Wish::Parts(1)) } else { wish_text(wish) },
        basis: basis(drive),
        warnings,
        partitions: partitions.collect(),
        cuts: cuts.collect(),
        has_zones: plan.cuts.iter().any(|cut| cut.is_zone_border)
            || matches!(drive.read.as_ref().map(RateCurve::basis), Ok(Basis::Zones(_))),
        has_script: !plan.cuts.is_empty() || matches!(wish, Wish::Parts(_)),
        chart: None,
    }
}

/// "fast" and "rest" where one was asked to be fast, else numbers.
fn name(index: usize, plan: &PartitionPlan, is_fast: bool) -> String {
    let has_fast = plan.partitions.iter().any(|partition| partition.is_fast);
    match (has_fast, is_fast, plan.partitions.len()) {
        (true, true, _) => "fast".into(),
        (true, false, ..=2) => "rest".into(),
        (true, false, _) => format!("rest-{}", if index == 0 { 1 } else { 2 }),
        (false, ..) => format!("part-{}", index + 1),
    }
}

fn wish_text(wish: Wish) -> String {
    match wish {
        Wish::Fastest(share) => {
            format!("The fastest {:.4} % as one partition", share * 100.0).replace(".0000 %", " %")
        }
        Wish::AtLeast(rate) => {
            format!("Everything that runs at {} or more as one partition", rough_rate(rate))
        }
        Wish::Parts(1) => "One partition".into(),
        Wish::Parts(count) => format!("{count} partitions of about the same size"),
    }
}
