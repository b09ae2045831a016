//! `drivescope plan`: where to cut a drive into partitions by throughput, from a stored run. It changes nothing.

use super::args::{PlanArguments, WishArguments};
use super::estimate::basis;
use super::output;
use super::picture::{Picture, drawn, rate_chart};
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
use report::units::in_decimal;
use std::path::Path;

const USUAL_WISH: Wish = Wish::Fastest(0.1);
pub const USUAL_CHART: &str = "rate-over-position";
const BORDER: &str = "end of a partition";

pub fn run(arguments: &PlanArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let wish = arguments.wish.wish().unwrap_or(USUAL_WISH);
    let picture = arguments.output.as_deref().map(|path| Picture::asked_for(path, false)).transpose()?;
    let stored = analysed(&arguments.run, &store_with_runs(store)?)?;
    let run = &stored.run;
    let drive = DriveRates::of(run);
    let planned = planned(run, &drive, wish)?;
    let chart = rate_chart(std::slice::from_ref(&stored), &[]).map(|chart| with_cuts(chart, &planned));
    let chart = drawn(chart, picture)?;
    let page = PartitionPage { chart, ..page(run, &drive, wish, &planned) };
    output::give_page(|style| partition_page(&page, style), &partition_document(&page), &arguments.page)?;
    Ok(exit::SUCCESS)
}

fn planned(run: &Run, drive: &DriveRates, wish: Wish) -> Result<PartitionPlan, UserError> {
    let planned = match (&drive.read, &drive.write) {
        (Ok(curve), _) | (Err(_), Ok(curve)) => plan(curve, &run.target, wish).map_err(|why| why.to_string()),
        (Err(why), Err(_)) => Err(format!("its throughput is unknown. {why}")),
    };
    planned.map_err(|why| UserError::failure(format!("cannot plan partitions on {}: {why}", drive_name(run))))
}

fn with_cuts(chart: Chart, plan: &PartitionPlan) -> Chart {
    chart.with_borders(BORDER, plan.cuts.iter().map(|cut| cut.at.as_f64()))
}

#[derive(Default)]
pub(super) struct PlannedCuts(Option<PartitionPlan>);

impl PlannedCuts {
    pub(super) fn of(wish: &WishArguments, runs: &[StoredRun]) -> Result<PlannedCuts, UserError> {
        let Some(wish) = wish.wish() else { return Ok(PlannedCuts(None)) };
        let [stored] = runs else {
            return Err(UserError::usage(
                "partitions are planned on one drive: give one run with --fast, --at-least or --parts",
            ));
        };
        Ok(PlannedCuts(Some(planned(&stored.run, &DriveRates::of(&stored.run), wish)?)))
    }

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
            "All regions are equally fast, as far as this run shows: throughput is no reason to cut the drive.".into(),
        );
    }
    let mut partitions = Vec::new();
    for (index, partition) in plan.partitions.iter().enumerate() {
        partitions.push(PlannedPartition {
            name: name(index, plan, partition.is_fast),
            range: partition.range,
            mean: partition.mean,
            fastest: partition.fastest,
            slowest: partition.slowest,
        });
    }
    let mut cuts = Vec::new();
    for cut in &plan.cuts {
        cuts.push(PlannedCut { at: cut.at, asked: cut.asked, is_zone_border: cut.is_zone_border });
    }
    PartitionPage {
        drive: drive_name(run),
        capacity: run.target.capacity,
        logical_block: run.target.logical_block,
        run: run.id.clone(),
        wish: if plan.is_even && plan.cuts.is_empty() { wish_text(Wish::Parts(1)) } else { wish_text(wish) },
        basis: basis(drive),
        warnings,
        partitions,
        cuts,
        has_zones: plan.cuts.iter().any(|cut| cut.is_zone_border)
            || matches!(drive.read.as_ref().map(RateCurve::basis), Ok(Basis::Zones(_))),
        has_script: !plan.cuts.is_empty() || matches!(wish, Wish::Parts(_)),
        chart: None,
    }
}

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
            format!("All regions with {} or more as one partition", in_decimal(|| rough_rate(rate)))
        }
        Wish::Parts(1) => "One partition".into(),
        Wish::Parts(count) => format!("{count} partitions of about the same size"),
    }
}
