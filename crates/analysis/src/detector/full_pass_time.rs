//! How long it takes to read or write everything once.
//! # What it finds
//! The time of a full sequential pass over the measured range, predicted from samples.
//! # Why it matters
//! It is the least time that a rebuild, a scrub, an image or a wipe takes.
//! # How
//! The range's size times the mean time per byte of the stratified samples (see `sequential_rate`). The value is that of a read pass, if there
//! were reads; both are in the data. Imported figures are added up where they cover the drive, or interpolated where they lie close enough.
//! # Cannot tell when
//! The mean throughput is not known, or the drive went away. A cache or burst credit that only a real pass uses up is not foreseen.
//! # Known problems
//! The time is that of an otherwise idle drive with all of its burst credit. Ranges that failed are taken to be as fast as the others.
//! # References
//! Cochran, "Sampling Techniques", 3rd ed., chapter 5.

use super::detect::{Detector, Need};
use super::device_lost;
use super::sequential_rate::pass_mean;
use super::stated;
use super::trust::{covers, doubts};
use crate::examined::Examined;
use crate::measured::sequential_visits;
use crate::stats::scaled;
use model::finding::{Evidence, Finding, FindingCode, FullPassTime, Outcome, SurveyUnknown};
use model::request::Operation;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::FullPassTime],
    needs: &[
        Need::Sequential(Operation::Read),
        Need::Sequential(Operation::Write),
        Need::Asked(crate::stated::EXPERIMENT),
    ],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::pass_time(run);
    }
    let outcome = match (pass(run, Operation::Read), pass(run, Operation::Write)) {
        (Ok((mut read, evidence)), write) => {
            read.write = write.ok().and_then(|(write, _)| write.write);
            Outcome::known(read, evidence)
        }
        (Err(_), Ok((write, evidence))) => Outcome::known(write, evidence),
        (Err(of_reads), Err(of_writes)) => {
            let has_reads = !sequential_visits(run, Operation::Read).is_empty();
            Outcome::Unknown(if has_reads { of_reads } else { of_writes })
        }
    };
    vec![Finding::FullPassTime(outcome).with_caveats(&doubts(run))]
}

fn pass(run: &Examined<'_>, operation: Operation) -> Result<(FullPassTime, Vec<Evidence>), SurveyUnknown> {
    let mean = pass_mean(run, operation)?;
    let covers_capacity = covers(run, mean.span);
    if !covers_capacity && device_lost::is_lost(run) {
        return Err(SurveyUnknown::DeviceLost);
    }
    let bytes = mean.span.bytes();
    let time = scaled(&mean.seconds_per_byte, bytes.as_f64());
    if time.low <= 0.0 {
        return Err(SurveyUnknown::TooImprecise);
    }
    let is_read = operation == Operation::Read;
    let pass = FullPassTime {
        time,
        operation,
        range: mean.span,
        slowed: mean.slowed,
        is_rate_limited: false,
        covers_bytes: bytes,
        covers_capacity,
        measured_as_a_whole: None,
        read: if is_read { Some(time.value) } else { None },
        write: if is_read { None } else { Some(time.value) },
        imported: None,
        basis: None,
    };
    Ok((pass, mean.evidence))
}
