//! How long it takes to read or write everything once.
//!
//! # What it finds
//! The time of a full pass in order over the measured range, predicted from visits to a part of it.
//! # Why it matters
//! It is the least time that a rebuild, a scrub, an image or a wipe takes.
//! # How
//! The range's size times the mean time per byte of the stratified visits (see `sequential_rate`). The value is that of
//! a read pass, if there were reads; both are in the data.
//! Figures that another program stated are added up where they cover the drive, or joined to a curve where they lie close enough.
//! # Cannot tell when
//! The mean rate is not known, or the drive went away before the measured range reached its end. A cache that fills up during a real pass
//! (SMR, flash) is not foreseen.
//! # Known problems
//! The time is that of an otherwise idle drive. Ranges that failed are taken to be as fast as the others.
//! # References
//! Cochran, "Sampling Techniques", 3rd ed., chapter 5.

use super::device_lost;
use super::sequential_rate::pass_mean;
use super::stated;
use super::trust::{Subject, covers};
use super::wording::long_time;
use super::{Detector, Need};
use crate::measured::sequential_visits;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct FullPassTime;

impl Detector for FullPassTime {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::FullPassTime]
    }

    fn needs(&self) -> &'static [Need] {
        &[
            Need::Sequential(Operation::Read),
            Need::Sequential(Operation::Write),
            Need::Asked(crate::stated::EXPERIMENT),
        ]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) {
            return stated::pass_time(run);
        }
        let (read, write) = (pass(run, Operation::Read), pass(run, Operation::Write));
        let with_both = |finding: Finding| {
            let datum = |pass: &Result<(Finding, Estimate), String>| pass.as_ref().ok().map(|(_, e)| e.value);
            [("read", datum(&read)), ("write", datum(&write))].into_iter().fold(
                finding,
                |finding, (name, value)| match value {
                    Some(seconds) => finding.with_data(name, Datum::Number(seconds)),
                    None => finding,
                },
            )
        };
        match (&read, &write) {
            (Ok((finding, _)), _) | (_, Ok((finding, _))) => vec![with_both(finding.clone())],
            (Err(why), Err(why_not_written)) => {
                let read_at_all = !sequential_visits(run, Operation::Read).is_empty();
                let why = if read_at_all { why } else { why_not_written };
                vec![Finding::unknown(FindingCode::FullPassTime, why.clone())]
            }
        }
    }
}

fn pass(run: &RunView<'_>, operation: Operation) -> Result<(Finding, Estimate), String> {
    let mean = pass_mean(run, operation)?;
    if !covers(run, mean.span) && device_lost::is_lost(run) {
        return Err(
            "The drive went away before all of it had been gone through: how fast the rest is was not seen."
                .into(),
        );
    }
    let bytes = mean.span.bytes().0 as f64;
    let estimate = mean.seconds_per_byte.map_monotonic(|seconds| seconds * bytes);
    if estimate.low <= 0.0 {
        return Err("The visits differ too much to predict a pass. Measure longer.".into());
    }
    let subject = Subject::of(run);
    let verb = if operation == Operation::Write { "Writing" } else { "Reading" };
    let statement = format!(
        "{verb} {} once from start to end takes {}.",
        subject.extent(run, mean.span),
        long_time(estimate.value)
    ) + mean.remark;
    let finding = Finding::number(FindingCode::FullPassTime, estimate, "s", statement, mean.evidence)
        .with_data("covers_bytes", Datum::Integer(mean.span.bytes().0))
        .with_data("covers_capacity", Datum::Flag(covers(run, mean.span)));
    Ok((subject.qualify(finding), estimate))
}
