//! How much a drive keeps of what it read.
//!
//! # What it finds
//! The bytes of its own memory that hold what was read last.
//! # Why it matters
//! Whatever fits into it is answered at once: benchmarks over a smaller range measure the memory.
//! # How
//! A long stream is read, then single blocks ever farther back from its end. Blocks next to the end are surely kept by a drive that
//! keeps anything, and random single reads surely not; where these two kinds lie apart, every answer is one of them. Memory answers as
//! far back as the cache reaches. Each stream gives one size, several give the interval.
//! # Cannot tell when
//! Both kinds take equally long, as on flash and on drives whose cache is off; the cache holds more than the longest stream.
//! # Known problems
//! Memory that is kept for writes is not seen. A drive that divides its cache among streams shows the share of one.
//! # References
//! Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995.

use super::trust::Subject;
use super::wording::memory;
use super::{Detector, Need};
use crate::cache::{Kept, kept};
use crate::measured::{EXPERIMENT_ACCESS, evidence_of_phases};
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct DriveCache;

impl Detector for DriveCache {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::DriveCache]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT_ACCESS)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let unknown = |why: &str| vec![Finding::unknown(FindingCode::DriveCache, why)];
        match kept(run) {
            Kept::NotAsked => Vec::new(),
            Kept::NotTold => unknown(
                "What was just read takes as long as anything else: the drive keeps nothing of it, or its memory is no faster than its medium.",
            ),
            Kept::AtLeast(bytes) => unknown(&format!(
                "It keeps all of the longest stream that was read, {bytes}: its cache holds at least that, or another memory answers for it."
            )),
            Kept::Found { sizes, resolution, phases } => {
                let estimate = size(&sizes, resolution);
                let statement = format!(
                    "The drive keeps about {} of what was read last; a range no larger than that is answered from its memory.",
                    memory(estimate.value)
                );
                let evidence = evidence_of_phases(run, &phases);
                let finding =
                    Finding::number(FindingCode::DriveCache, estimate, "bytes", statement, evidence);
                vec![Subject::of(run).qualify(finding)]
            }
        }
    }
}

/// The mean of the streams. Each lies somewhere between two reads, which were `resolution` apart.
fn size(sizes: &[f64], resolution: f64) -> Estimate {
    let mean = Sample::new(sizes.to_vec()).map_or(sizes[0], |sample| sample.mean());
    let spread = Sample::new(sizes.to_vec()).filter(|_| sizes.len() > 1);
    let degrees_of_freedom = (sizes.len() - 1) as f64;
    let half = spread.map_or(0.0, |sample| {
        let variance = sample.variance() / sizes.len() as f64;
        let interval = Mean { value: mean, variance, degrees_of_freedom }.interval(CONFIDENCE);
        interval.high - mean
    });
    let half = half + mean * resolution / 2.0;
    Estimate {
        value: mean,
        low: (mean - half).max(0.0),
        high: mean + half,
        confidence: CONFIDENCE,
        effective_count: sizes.len() as f64,
    }
}
