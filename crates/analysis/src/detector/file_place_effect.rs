//! What the place on a drive changes for files, and what it does not.
//!
//! # What it finds
//! Of several folders, such as those on an outer and on an inner partition: which tasks are faster in which, by how much, and which do
//! not differ; and whether something before the medium, the link or the processor, is the limit.
//! # Why it matters
//! It decides what to put where. If the link hides the difference, the place does not matter until the drive has another link.
//! # How
//! Rounds of the same number are compared, in which all folders were measured in random order; see `file_work::place_effect`. For a disk that
//! turns, whose sectors are as close on all tracks, the rate goes with the radius: between two places it falls at least as on a disk
//! whose innermost track is two thirds as long as its outermost. If reads fall by less than half of that, the medium is not the limit.
//! # Cannot tell when
//! There are fewer than three common rounds of reading in blocks, or one folder only (then it says nothing).
//! # Known problems
//! Whether a disk turns is what it says of itself. Fill and fragments of a file system matter too: `file-layout` tells of them.
//! # References
//! Benjamini and Hochberg, 1995. Outer over inner: 1.5 on a WD20EARS (2011), 2.0 on an ST3000DM001 (2012), measured by others.

use super::file_rates::PROCESSOR_LIMIT;
use super::trust::is_lent;
use super::wording::{number, rate};
use super::{Detector, Need};
use crate::file_work::place_effect::{Placed, TaskEffect, effects, places};
use crate::file_work::{TaskSamples, all, folders};
use crate::measured::{MOVING_MEDIAN_S, evidence_of_phases};
use model::file_work::FileTask;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;
use model::units::Quantile;

/// See the head of this file.
pub(super) struct FilePlaceEffect;

/// The length of the outermost over that of the innermost track, at least: see References.
const TRACK_RATIO_MIN: f64 = 1.5;

impl Detector for FilePlaceEffect {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::FilePlaceEffect]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Files]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if folders(run.phases).len() < 2 {
            return Vec::new();
        }
        let samples = all(run.phases);
        let effects = effects(run.phases, &samples);
        let Some(read) = effects.iter().find(|effect| effect.task == FileTask::BlockRead) else {
            let why = "Fewer than three rounds in which all folders were read are too few to compare them.";
            return vec![Finding::unknown(FindingCode::FilePlaceEffect, why)];
        };
        let places = places(run.phases);
        let mut sentences = vec![differing(&effects)];
        sentences.extend(same(&effects));
        sentences.extend(places.as_deref().and_then(|places| limit(run, read, places, &samples)));
        let phases: Vec<u32> = samples
            .iter()
            .filter(|samples| samples.work.task == FileTask::BlockRead)
            .flat_map(|samples| samples.samples.iter().map(|sample| sample.phase))
            .collect();
        let evidence = evidence_of_phases(run, &phases);
        let finding =
            Finding::number(FindingCode::FilePlaceEffect, read.ratio, "ratio", sentences.join(" "), evidence)
                .with_data("tasks", Datum::List(effects.iter().map(row).collect()))
                .with_data("places", Datum::List(places.iter().flatten().map(place_row).collect()));
        vec![advised(finding, read)]
    }
}

fn advised(finding: Finding, read: &TaskEffect) -> Finding {
    if !read.is_significant {
        return finding;
    }
    finding.with_advice(format!("Put what is read often in long stretches into {}.", read.fastest))
}

/// "Faster in /outer than in /inner: read in blocks 1.50 times, …"
fn differing(effects: &[TaskEffect]) -> String {
    let differ: Vec<&TaskEffect> = effects.iter().filter(|effect| effect.is_significant).collect();
    if differ.is_empty() {
        return "No task differs between the folders by more than chance does.".into();
    }
    let mut pairs: Vec<(&str, &str)> =
        differ.iter().map(|effect| (effect.fastest.as_str(), effect.slowest.as_str())).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let of_pair = |(fastest, slowest): (&str, &str)| {
        let parts: Vec<String> = differ
            .iter()
            .filter(|effect| (effect.fastest.as_str(), effect.slowest.as_str()) == (fastest, slowest))
            .map(|effect| format!("{} {} times", effect.task.words(), number(effect.ratio.value)))
            .collect();
        format!("Faster in {fastest} than in {slowest}: {}.", parts.join("; "))
    };
    pairs.into_iter().map(of_pair).collect::<Vec<_>>().join(" ")
}

fn same(effects: &[TaskEffect]) -> Option<String> {
    let same: Vec<&str> =
        effects.iter().filter(|effect| !effect.is_significant).map(|effect| effect.task.words()).collect();
    let all_same = same.len() == effects.len();
    (!same.is_empty() && !all_same).then(|| format!("No difference that stands: {}.", same.join("; ")))
}

/// Whether something before the medium is the limit of reading.
fn limit(
    run: &RunView<'_>,
    read: &TaskEffect,
    places: &[Placed],
    samples: &[TaskSamples<'_>],
) -> Option<String> {
    let position = |placed: &Placed| placed.position;
    let outer = places.iter().map(position).fold(f64::INFINITY, f64::min);
    let inner = places.iter().map(position).fold(f64::NEG_INFINITY, f64::max);
    if places.windows(2).any(|pair| pair[0].disk != pair[1].disk) {
        return Some("The folders lie on different disks.".into());
    }
    let turns = turns(run, samples)?;
    let expected = radius(outer) / radius(inner);
    if read.ratio.high >= 1.0 + (expected - 1.0) / 2.0 {
        return None;
    }
    let of_reads = || samples.iter().filter(|samples| samples.work.task == FileTask::BlockRead);
    let busy = |samples: &TaskSamples<'_>| {
        samples.processor_shares().is_some_and(|(user, system)| user + system >= PROCESSOR_LIMIT)
    };
    let what = if of_reads().all(busy) { "the processor" } else { "the link to the drive" };
    let rates: f64 = of_reads().filter_map(|samples| Some(samples.rate()?.value)).fold(0.0, f64::max);
    let if_it_turns = if turns { "A disk" } else { "If it is a disk that turns: such a disk" };
    Some(format!(
        "{if_it_turns} reads at least {} times as fast at the outer of these places, and here it does not: {what} is the limit, at {}, \
         and hides what the disk could do.",
        number(expected),
        rate(rates)
    ))
}

/// Whether the disk turns: what it says, unless that is not its own word, or what seeks show; false where that is not known, none
/// where it does not turn.
fn turns(run: &RunView<'_>, samples: &[TaskSamples<'_>]) -> Option<bool> {
    let seeks = samples.iter().find(|samples| samples.work.task == FileTask::Seeks);
    let waits = seeks.and_then(|seeks| {
        let median = seeks.histogram.quantile(Quantile::MEDIAN)?;
        Some(median.seconds() / f64::from(seeks.work.threads.max(1)) >= MOVING_MEDIAN_S)
    });
    match (run.target.rotational.filter(|_| !is_lent(run.target)), waits) {
        (Some(false), _) | (None, Some(false)) => None,
        (Some(true), _) | (None, Some(true)) => Some(true),
        (None, None) => Some(false),
    }
}

/// The radius of a track as a share of the outermost, by its place: sectors are as close everywhere, so that the place goes with the area.
fn radius(position: f64) -> f64 {
    (1.0 - position.clamp(0.0, 1.0) * (1.0 - TRACK_RATIO_MIN.powi(-2))).sqrt()
}

fn row(effect: &TaskEffect) -> Datum {
    Datum::record([
        ("task", Datum::Text(effect.task.name().into())),
        ("fastest", Datum::Text(effect.fastest.clone())),
        ("slowest", Datum::Text(effect.slowest.clone())),
        ("ratio", Datum::Number(effect.ratio.value)),
        ("low", Datum::Number(effect.ratio.low)),
        ("high", Datum::Number(if effect.ratio.high.is_finite() { effect.ratio.high } else { f64::MAX })),
        ("differs", Datum::Flag(effect.is_significant)),
    ])
}

fn place_row(placed: &Placed) -> Datum {
    Datum::record([
        ("folder", Datum::Text(placed.folder.clone())),
        ("disk", Datum::Text(placed.disk.clone())),
        ("position", Datum::Number(placed.position)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quarters of a disk of 1.5: a WD20EARS read 141.98, 129.89, 114.63 and 94.59 MB/s in them.
    #[test]
    fn the_radius_law_expects_no_more_than_was_measured() {
        for (place, measured) in [(0.375, 129.89), (0.625, 114.63), (0.875, 94.59)] {
            let expected = radius(0.125) / radius(place);
            assert!(expected > 1.05 && expected < 141.98 / measured, "{place}: {expected}");
        }
    }
}
