//! What the place on a drive changes for files.
//! # What it finds
//! Of several folders: which tasks are faster in which, by how much, and whether the link or the CPU is the limit.
//! # Why it matters
//! It decides what to put where. If the link hides the difference, the place does not matter until the drive has another link.
//! # How
//! Rounds of the same number are compared, in which all folders were measured in random order; see `file_work::place_effect`. On a disk, whose
//! sectors are as dense on all tracks, throughput goes with the radius: between two places it falls at least as on a disk whose innermost track
//! is two thirds as long as its outermost: where reads fall by less than half, the medium is no limit.
//! # Cannot tell when
//! There are fewer than three common rounds of block reads. Of one folder only it says nothing.
//! # Known problems
//! Whether a disk rotates is what it reports. Fill and fragments of a file system matter too: `file-layout` tells of them.
//! # References
//! Benjamini and Hochberg, 1995. Outer over inner: 1.5 on a WD20EARS (2011), 2.0 on an ST3000DM001 (2012), measured by others.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::file_work::place_effect::{effects, places};
use crate::file_work::{TaskSamples, all, folders};
use crate::measured::evidence_of_phases;
use crate::moving_parts::MOVING_MEDIAN_S;
use model::file_work::FileTask;
use model::finding::{
    FilePlaceEffect, FileRate, Finding, FindingCode, FolderPlace, Outcome, PlaceLimit, TaskEffect,
    TooFewCommonRounds,
};
use model::run::RunView;
use model::units::Quantile;

/// Length of the outermost relative to the innermost track, at least: see References.
const TRACK_RATIO_MIN: f64 = 1.5;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::FilePlaceEffect], needs: &[Need::Files], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if folders(run.phases).len() < 2 {
        return Vec::new();
    }
    let samples = all(run.phases);
    let tasks = effects(run.phases, &samples);
    let Some(read) = tasks.iter().find(|effect| effect.task == FileTask::BlockRead) else {
        return vec![Finding::FilePlaceEffect(Outcome::Unknown(TooFewCommonRounds))];
    };
    let (ratio, places) = (read.ratio, places(run.phases));
    let limit = places.as_deref().and_then(|places| limit(run, read, places, &samples));
    let mut phases = Vec::new();
    for samples in block_reads(&samples) {
        phases.extend(samples.samples.iter().map(|sample| sample.phase));
    }
    let effect = FilePlaceEffect { ratio, tasks, places: places.unwrap_or_default(), limit };
    vec![Finding::FilePlaceEffect(Outcome::known(effect, evidence_of_phases(run, &phases)))]
}

fn block_reads<'samples, 'run>(
    samples: &'samples [TaskSamples<'run>],
) -> impl Iterator<Item = &'samples TaskSamples<'run>> {
    samples.iter().filter(|samples| samples.work.task == FileTask::BlockRead)
}

fn limit(
    run: &RunView<'_>,
    read: &TaskEffect,
    places: &[FolderPlace],
    samples: &[TaskSamples<'_>],
) -> Option<PlaceLimit> {
    if places.windows(2).any(|pair| pair[0].disk != pair[1].disk) {
        return Some(PlaceLimit::DifferentDisks);
    }
    let is_disk = is_disk(run, samples)?;
    let positions = || places.iter().map(|place| place.position);
    let (outer, inner) = (positions().fold(f64::INFINITY, f64::min), positions().fold(0.0, f64::max));
    let expected = radius(outer) / radius(inner);
    if read.ratio.high >= 1.0 + (expected - 1.0) / 2.0 {
        return None;
    }
    let rates = block_reads(samples).filter_map(TaskSamples::rate).map(|rate| rate.value);
    Some(PlaceLimit::BeforeMedium {
        is_processor: block_reads(samples).all(is_processor_busy),
        expected,
        bytes_per_second: rates.fold(0.0, f64::max),
        is_disk,
    })
}

fn is_processor_busy(samples: &TaskSamples<'_>) -> bool {
    let shares = samples.processor_shares();
    matches!(shares, Some((user, system)) if 100.0 * (user + system) >= FileRate::PROCESSOR_PERCENT_LIMIT)
}

/// Whether it is known to rotate, by its own word or by seeks; false where that is open, none where it does not.
fn is_disk(run: &RunView<'_>, samples: &[TaskSamples<'_>]) -> Option<bool> {
    let says = if run.target.is_lent() { None } else { run.target.rotational };
    match says.or_else(|| waits_for_seeks(samples)) {
        Some(false) => None,
        Some(true) => Some(true),
        None => Some(false),
    }
}

fn waits_for_seeks(samples: &[TaskSamples<'_>]) -> Option<bool> {
    let seeks = samples.iter().find(|samples| samples.work.task == FileTask::Seeks)?;
    let median_s = seeks.histogram.quantile(Quantile::MEDIAN)?.seconds();
    Some(median_s / f64::from(seeks.work.threads.max(1)) >= MOVING_MEDIAN_S)
}

/// Radius of a track relative to the outermost: sectors are as dense everywhere, so the position goes with the area.
fn radius(position: f64) -> f64 {
    (1.0 - position.clamp(0.0, 1.0) * (1.0 - TRACK_RATIO_MIN.powi(-2))).sqrt()
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
