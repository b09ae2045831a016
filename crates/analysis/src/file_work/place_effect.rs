//! Several folders against each other: which figures differ with the place.
//!
//! Rounds of the same number are compared: each has the folders in random order, and what changes in time falls out of the ratio.
//! Student's t on the mean of the logarithms, with the threshold of Benjamini and Hochberg (1995) over all tasks of all pairs.

use super::{TaskSamples, folders, layout_of};
use crate::compare::multiplicity;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::student::f_tail;
use model::estimate::Estimate;
use model::file_work::FileTask;
use model::finding::{FolderPlace, TaskEffect};
use model::run::PhaseSummary;

/// The share of differences told that may be none.
const FALSE_SHARE: f64 = 0.05;
/// From so many common rounds on a ratio has an interval that is worth something.
const ROUNDS_MIN: usize = 3;

/// The tasks that were done in several folders, in the order of the tasks.
pub fn effects(phases: &[PhaseSummary], samples: &[TaskSamples<'_>]) -> Vec<TaskEffect> {
    let folders = folders(phases);
    let mut found: Vec<(TaskEffect, f64)> = Vec::new();
    for task in FileTask::ALL {
        let mut ends: Option<[(f64, &TaskSamples<'_>); 2]> = None;
        let mut count = 0;
        for samples in samples {
            let Some(rate) = samples.rate().filter(|_| samples.work.task == task) else { continue };
            let here = (rate.value, samples);
            let [fastest, slowest] = ends.unwrap_or([here, here]);
            let fastest = if here.0 >= fastest.0 { here } else { fastest };
            let slowest = if here.0 < slowest.0 { here } else { slowest };
            (ends, count) = (Some([fastest, slowest]), count + 1);
        }
        let Some([(_, fastest), (_, slowest)]) = ends else { continue };
        if count < 2 {
            continue;
        }
        let Some((ratio, probability)) = ratio(fastest, slowest) else { continue };
        // The two were picked as the farthest apart of all pairs, which is to be paid for.
        let pairs = (folders.len() * (folders.len() - 1) / 2) as f64;
        let effect = TaskEffect {
            task,
            fastest: fastest.work.folder.clone(),
            slowest: slowest.work.folder.clone(),
            ratio,
            differs: false,
        };
        found.push((effect, (probability * pairs).min(1.0)));
    }
    let probabilities: Vec<f64> = found.iter().map(|(_, probability)| *probability).collect();
    let stands = multiplicity::threshold(&probabilities, FALSE_SHARE);
    let mut effects = Vec::new();
    for (effect, probability) in found {
        effects.push(TaskEffect { differs: probability <= stands, ..effect });
    }
    effects
}

/// One folder over another in the same task, and how probable such a ratio is by chance; none with too few common rounds.
pub fn ratio(top: &TaskSamples<'_>, bottom: &TaskSamples<'_>) -> Option<(Estimate, f64)> {
    let mut logarithms = Vec::new();
    for sample in &top.samples {
        let same = bottom.samples.iter().find(|other| other.round == sample.round);
        if let Some(same) = same {
            let ratio = (sample.amount / sample.seconds()) / (same.amount / same.seconds());
            logarithms.push(ratio.ln());
        }
    }
    if logarithms.len() < ROUNDS_MIN {
        return None;
    }
    let count = logarithms.len() as f64;
    let value = logarithms.iter().sum::<f64>() / count;
    let mean = Mean::about(value, &logarithms);
    let probability = match mean.variance {
        0.0 if value == 0.0 => 1.0,
        0.0 => 0.0,
        variance => f_tail(value * value / variance, 1.0, count - 1.0),
    };
    Some((mean.interval(CONFIDENCE).map_monotonic(f64::exp), probability))
}

pub fn places(phases: &[PhaseSummary]) -> Option<Vec<FolderPlace>> {
    let mut places = Vec::new();
    for folder in folders(phases) {
        let layout = layout_of(phases, folder)?.1.as_ref().ok()?;
        let [share] = layout.disks.as_slice() else { return None };
        if layout.unplaced.is_some() {
            return None;
        }
        places.push(FolderPlace {
            folder: folder.into(),
            disk: share.disk.clone(),
            position: share.position(),
        });
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::super::{all, tests::phase};
    use super::*;

    /// Rates that wander by a factor of two with the rounds, and a tenth more in one folder in each of them.
    #[test]
    fn what_changes_in_time_falls_out() {
        let drift = [1.0, 2.0, 1.5, 0.8];
        let rounds = (0u32..).zip(drift);
        let phases: Vec<PhaseSummary> = rounds
            .flat_map(|(round, factor)| {
                let read = |folder, rate: f64| {
                    phase(folder, FileTask::BlockRead, round, (rate * factor) as u64, 1.0, 0.0)
                };
                let noise = 1.0 + 0.001 * f64::from(round);
                [read("outer", 1.1e8 * noise), read("inner", 1e8)]
            })
            .collect();
        let effects = effects(&phases, &all(&phases));
        assert_eq!(effects[0].fastest, "outer");
        assert!((effects[0].ratio.value - 1.1016).abs() < 0.001 && effects[0].differs, "{effects:?}");
    }

    #[test]
    fn the_same_rates_do_not_differ() {
        let noise = [1.00, 1.02, 0.99, 1.01, 0.98];
        let phases: Vec<PhaseSummary> = (0u32..5)
            .flat_map(|round| {
                let read = |folder, rate: f64| {
                    phase(folder, FileTask::BlockRead, round, (1e8 * rate) as u64, 1.0, 0.0)
                };
                [read("a", noise[round as usize]), read("b", noise[(round as usize + 2) % 5])]
            })
            .collect();
        let effects = effects(&phases, &all(&phases));
        assert!(!effects[0].differs && effects[0].ratio.covers(1.0), "{effects:?}");
    }
}
