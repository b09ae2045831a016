//! Ranges of flash that hold nothing: never written, or discarded.
//! # What it finds
//! Extents of a drive without moving parts that read much faster than the rest, because no cell is read for them.
//! # Why it matters
//! Their throughput is not that of the flash, and a benchmark of an empty drive measures its controller.
//! # How
//! The times per byte of all samples, sorted: two groups with a gap of a fifth and more between them, each much narrower than the gap and
//! each with a twentieth of the samples. Neighbouring samples of the fast group are one range. Where they are alike, since the link carries no
//! more, medians of neighbouring single reads are grouped likewise.
//! # Cannot tell when
//! All of the drive is alike, the link is slower than both parts, the slower one is a slow region or a hard disk, or was slow for a while.
//! # Known problems
//! Data in the fast part of a flash drive (an SLC cache) is read faster too and looks the same.
//! # References
//! SNIA SSS PTS 2.0.2, on purging and preconditioning before a measurement.

use super::detect::{Detector, Need};
use super::zones::operation;
use crate::examined::Examined;
use crate::measured::survey_evidence;
use crate::moving_parts::turns;
use model::finding::{Finding, FindingCode, Outcome};
use model::request::Operation;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::UnmappedRanges], needs: &[Need::Survey(Operation::Read)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if turns(run) != Some(false) {
        return Vec::new();
    }
    let unmapped = run.unmapped().cloned();
    vec![Finding::UnmappedRanges(Outcome::of(unmapped, survey_evidence(run, operation(run))))]
}
