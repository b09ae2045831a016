//! The page of a partition plan: where to cut, how fast each part is, and a script that is only shown.

use super::section::{notes, page};
use super::tables::Table;
use crate::chart::{self, Chart};
use crate::hostile::harmless;
use crate::quantity::{capacity, measured, size};
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartitionPage {
    pub drive: String,
    pub run: String,
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    // What was wished: "The fastest 10 % as one partition".
    pub wish: String,
    pub basis: Vec<String>,
    pub warnings: Vec<String>,
    pub partitions: Vec<PlannedPartition>,
    pub cuts: Vec<PlannedCut>,
    /// Whether the run found zones, at whose borders cuts could lie.
    #[serde(skip)]
    pub has_zones: bool,
    #[serde(skip)]
    pub has_script: bool,
    /// The rate over the position with the cuts; none where too few places were measured for a curve.
    #[serde(skip)]
    pub chart: Option<Chart>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PartitionDocument"))]
pub struct PlannedPartition {
    // Its name in the partition table: plain ASCII letters, digits and dashes.
    pub name: String,
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "model::schema::RangeKeys"))]
    pub range: ByteRange,
    // Its size over the time of a pass.
    #[serde(rename = "bytes_per_second")]
    pub mean: Estimate,
    #[serde(rename = "fastest_bytes_per_second")]
    pub fastest: Estimate,
    #[serde(rename = "slowest_bytes_per_second")]
    pub slowest: Estimate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCut {
    #[serde(rename = "at_byte")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub at: Offset,
    #[serde(rename = "asked_byte")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub asked: Offset,
    #[serde(rename = "zone_border")]
    pub is_zone_border: bool,
}

pub fn partition_page(plan: &PartitionPage, style: Style) -> String {
    let title = format!("{}, {}", style.name(&plan.drive), capacity(plan.capacity));
    let basis = format!("From the run {}. {}", style.name(&plan.run), plan.basis.join(" "));
    let mut head = vec![style.paint(Tone::Heading, &title)];
    head.extend(paragraph("  ", &style.sentence(&basis), style.columns()));

    page([
        head,
        notes(Tone::Warning, "! ", &plan.warnings, style),
        partitions(plan, style),
        cuts(plan, style),
        plan.chart.as_ref().map_or(Vec::new(), |chart| chart::terminal::draw(chart, style)),
        on_paper(plan, style),
    ])
}

fn partitions(plan: &PartitionPage, style: Style) -> Vec<String> {
    let header = ["partition", "size", "mean rate", "95 % CI", "start to end", "first byte"];
    let mut table = Table::new(&header, 4, style);
    for partition in &plan.partitions {
        let mean = measured(&partition.mean, "B/s");
        let (fastest, slowest) = (measured(&partition.fastest, "B/s"), measured(&partition.slowest, "B/s"));
        let from_to = if fastest.value == slowest.value {
            "uniform".into()
        } else {
            format!("{} to {}", fastest.value, slowest.value)
        };
        let cells = vec![
            style.name(&partition.name),
            capacity(partition.range.bytes()),
            style.own(&mean.value),
            style.own(&mean.interval),
            style.own(&from_to),
            size(partition.range.first().from_start()),
        ];
        table.row(cells, Vec::new());
    }
    let mut lines = vec![style.paint(Tone::Heading, &style.sentence(&plan.wish))];
    lines.extend(table.lines());
    lines
}

fn cuts(plan: &PartitionPage, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if !plan.has_zones {
        return lines;
    }
    for (number, cut) in (1..).zip(&plan.cuts) {
        let moved = cut.at.distance(cut.asked);
        let place = match (cut.is_zone_border, moved < Bytes::from_mib(1)) {
            (true, true) => "lies on a zone boundary".into(),
            (true, false) => {
                let side = if cut.at > cut.asked { "further in" } else { "further out" };
                format!("moved to a zone boundary, {} {side} than requested", capacity(moved))
            }
            (false, _) => "lies where requested: no zone boundary is near".to_owned(),
        };
        let text = style.own(&format!("Cut {number} {place}."));
        lines.extend(paragraph("  ", &text, style.columns()));
    }
    lines
}

fn on_paper(plan: &PartitionPage, style: Style) -> Vec<String> {
    if !plan.has_script {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Tone::Heading, "Script for sfdisk (printed only; nothing was changed)")];
    for line in partition_script(plan).lines() {
        lines.push(style.own(line));
    }
    lines
}

const NAME_COLUMNS_MAX: usize = 60;

/// The plan as a script for sfdisk, on paper: the program never runs it. A GPT in logical blocks; comments say what it does to data.
pub fn partition_script(plan: &PartitionPage) -> String {
    let block = plan.logical_block.get().max(1);
    let drive = plain(&plan.drive);
    let mut lines = vec![
        format!("# For {drive}, {}, in sectors of {}.", size(plan.capacity), size(plan.logical_block)),
        "# It replaces the partition table: EVERYTHING ON THE DRIVE IS LOST.".to_owned(),
        "# Look at what it would do first: sfdisk --no-act /dev/DRIVE < THIS-FILE".to_owned(),
        "label: gpt".to_owned(),
        "unit: sectors".to_owned(),
    ];
    for partition in &plan.partitions {
        lines.push(format!(
            "start={}, size={}, type=linux, name=\"{}\"",
            partition.range.first().get() / block,
            partition.range.bytes().get() / block,
            partition.name
        ));
    }
    lines.join("\n") + "\n"
}

/// A drive's name as a comment can hold it: one line of plain ASCII.
fn plain(name: &str) -> String {
    harmless(name, NAME_COLUMNS_MAX).replace(|character: char| !character.is_ascii(), "?")
}
