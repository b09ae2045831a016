//! The page of a partition plan: where to cut, how fast each part is, and a script that is only shown.

use super::page;
use super::tables::Table;
use crate::chart::{self, Chart};
use crate::partition_script::script;
use crate::quantity::{capacity, measured, size};
use crate::style::{Style, Tone, paragraph};
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A way to cut a drive into partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionPage {
    /// What the drive calls itself, or where it is.
    pub drive: String,
    /// How much it holds.
    pub capacity: Bytes,
    /// Its logical block: a sector of the script.
    pub logical_block: Bytes,
    /// The run that tells of it.
    pub run: String,
    /// What was wished: "The fastest 10 % as one partition".
    pub wish: String,
    /// What is known of its rates, and what to be careful about: sentences.
    pub basis: Vec<String>,
    /// What to know before anything else, as sentences.
    pub warnings: Vec<String>,
    /// The partitions, in order.
    pub partitions: Vec<PlannedPartition>,
    /// Between them, in order.
    pub cuts: Vec<PlannedCut>,
    /// Whether the run found zones, at whose borders cuts could lie.
    pub has_zones: bool,
    /// Whether there is anything to do, so that a script makes sense.
    pub has_script: bool,
    /// The rate over the position with the cuts; none where too few places were measured for a curve.
    pub chart: Option<Chart>,
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPartition {
    /// Its name in the partition table: plain ASCII letters, digits and dashes.
    pub name: String,
    /// Where it lies.
    pub range: ByteRange,
    /// Its size over the time of a pass, in bytes per second.
    pub mean: Estimate,
    /// The rate of its fastest place.
    pub fastest: Estimate,
    /// The rate of its slowest place.
    pub slowest: Estimate,
}

/// Where two partitions meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCut {
    /// Where it is.
    pub at: Offset,
    /// Where it was asked for.
    pub asked: Offset,
    /// Whether it is the border of a zone.
    pub is_zone_border: bool,
}

/// The page.
pub fn partition_page(plan: &PartitionPage, style: Style) -> String {
    let title = format!("{}, {}", style.name(&plan.drive), capacity(plan.capacity));
    let basis = format!("From the run {}. {}", style.name(&plan.run), plan.basis.join(" "));
    let mut head = vec![style.paint(Tone::Heading, &title)];
    head.extend(paragraph("  ", &style.sentence(&basis), style.columns()));
    let warnings =
        plan.warnings.iter().flat_map(|text| paragraph("! ", &style.sentence(text), style.columns()));
    page([
        head,
        warnings.map(|line| style.paint(Tone::Warning, &line)).collect(),
        partitions(plan, style),
        cuts(plan, style),
        plan.chart.as_ref().map_or(Vec::new(), |chart| chart::terminal::draw(chart, style)),
        on_paper(plan, style),
    ])
}

fn partitions(plan: &PartitionPage, style: Style) -> Vec<String> {
    let cells = plan.partitions.iter().map(|partition| {
        let mean = measured(&partition.mean, "B/s");
        let (fastest, slowest) = (measured(&partition.fastest, "B/s"), measured(&partition.slowest, "B/s"));
        let from_to = if fastest.value == slowest.value {
            "the same everywhere".into()
        } else {
            format!("{} to {}", fastest.value, slowest.value)
        };
        vec![
            style.name(&partition.name),
            capacity(partition.range.bytes()),
            style.own(&mean.value),
            style.own(&mean.interval),
            style.own(&from_to),
            size(Bytes(partition.range.first().0)),
        ]
    });
    let header =
        ["partition", "size", "mean rate", "range of the mean", "from its start to its end", "begins at"];
    let mut lines = vec![style.paint(Tone::Heading, &style.sentence(&plan.wish))];
    lines.extend(Table::new(header, 4, cells.collect(), style).lines(|_| Vec::new()));
    lines
}

fn cuts(plan: &PartitionPage, style: Style) -> Vec<String> {
    if !plan.has_zones {
        return Vec::new();
    }
    let texts = plan.cuts.iter().enumerate().map(|(index, cut)| {
        let between = format!("Cut {}", index + 1);
        let moved = Bytes(cut.at.0.abs_diff(cut.asked.0));
        match (cut.is_zone_border, moved.0 < 1 << 20) {
            (true, true) => format!("{between} lies on the border of two zones."),
            (true, false) => {
                let side = if cut.at > cut.asked { "further in" } else { "further out" };
                format!(
                    "{between} lies on the border of two zones, {} {side} than asked for.",
                    capacity(moved)
                )
            }
            (false, _) => format!("{between} lies where it was asked for: no border of two zones is near."),
        }
    });
    texts.flat_map(|text| paragraph("  ", &style.own(&text), style.columns())).collect()
}

fn on_paper(plan: &PartitionPage, style: Style) -> Vec<String> {
    if !plan.has_script {
        return Vec::new();
    }
    let mut lines =
        vec![style.paint(Tone::Heading, "The same for sfdisk, on paper: nothing was run or changed")];
    lines.extend(script(plan).lines().map(|line| style.own(line)));
    lines
}
