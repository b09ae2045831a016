//! Rates at the start, at the end and over all, and the time of a pass.

use super::super::trust::Subject;
use super::super::wording::{long_time, plural, rate};
use super::{place_words, remark, remarked};
use crate::stated::{Cover, NO_CAPACITY, NO_PLACE, Pass, Spot, Stated, edges, in_order, spots};
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// Start, end, mean; nothing when nothing was stated of that operation.
pub(in super::super) fn rates(
    run: &RunView<'_>,
    operation: Operation,
    codes: &[FindingCode; 3],
) -> Vec<Finding> {
    let figures = in_order(run, operation);
    if figures.is_empty() {
        return Vec::new();
    }
    let [outer, inner, mean] = *codes;
    let spots = spots(&figures);
    let (start, end) = match edges(run, &spots) {
        Ok(edges) => edges,
        // Without a place there is neither an end nor a whole to ask for: it is said once.
        Err(why) => return vec![Finding::unknown(outer, why)],
    };
    vec![
        at_edge(run, operation, outer, start, "first"),
        at_edge(run, operation, inner, end, "last"),
        over_all(run, operation, mean, &spots),
    ]
}

fn at_edge(
    run: &RunView<'_>,
    operation: Operation,
    code: FindingCode,
    spot: Option<&Spot<'_>>,
    third: &str,
) -> Finding {
    let Some(spot) = spot else {
        return Finding::unknown(
            code,
            format!("Nothing was stated of a place in the {third} third of the drive."),
        );
    };
    let estimate = spot.seconds_per_byte().filter(|estimate| estimate.value > 0.0);
    let Some(estimate) = estimate else { return Finding::unknown(code, "No rate came of it.") };
    let estimate = as_rate(&estimate);
    let subject = Subject::of(run);
    let statement = format!(
        "{} run at {} in {} of the drive{}.",
        plural(operation),
        rate(estimate.value),
        place_words(run, spot.range),
        remark(&estimate)
    );
    let evidence = spot.figures.iter().map(Stated::evidence).collect();
    let finding = Finding::number(code, estimate, "B/s", statement, evidence)
        .with_data("first_byte", Datum::Integer(spot.range.first().0))
        .with_data("bytes", Datum::Integer(spot.range.bytes().0));
    subject.qualify(remarked(finding, run, &estimate))
}

/// The reciprocal. An interval that reaches down to no time at all has no upper end.
pub(super) fn as_rate(seconds_per_byte: &model::estimate::Estimate) -> model::estimate::Estimate {
    let model::estimate::Estimate { value, low, high, .. } = *seconds_per_byte;
    if !low.is_finite() {
        return crate::stated::without_interval(1.0 / value);
    }
    let upper = if low > 0.0 { 1.0 / low } else { f64::INFINITY };
    model::estimate::Estimate { value: 1.0 / value, low: 1.0 / high, high: upper, ..*seconds_per_byte }
}

/// How a pass is known, as the end of a sentence.
fn basis(pass: &Pass<'_>) -> String {
    match (pass.cover, pass.places) {
        (Cover::Measured, _) => "as it was measured from start to end".into(),
        (Cover::Stretches, count) => format!("by {count} figures, each taken for its stretch of the drive"),
        (Cover::Drawn, count) => format!("by a curve through {count} places"),
    }
}

fn over_all(run: &RunView<'_>, operation: Operation, code: FindingCode, spots: &[Spot<'_>]) -> Finding {
    match Pass::of(run, spots) {
        Err(why) => Finding::unknown(code, why),
        Ok(pass) => {
            let estimate = as_rate(&pass.seconds_per_byte);
            let statement = format!(
                "A full pass of {} runs at {}, {}.",
                noun(operation),
                rate(estimate.value),
                basis(&pass)
            );
            let evidence = pass.figures.iter().map(Stated::evidence).collect();
            let finding = Finding::number(code, estimate, "B/s", statement, evidence);
            Subject::of(run).qualify(remarked(finding, run, &estimate))
        }
    }
}

fn noun(operation: Operation) -> &'static str {
    if operation == Operation::Write { "writes" } else { "reads" }
}

/// The time of a pass: of reads, or of writes when there were no reads that tell. Both are in the data.
pub(in super::super) fn pass_time(run: &RunView<'_>) -> Vec<Finding> {
    let code = FindingCode::FullPassTime;
    let pass = |operation| {
        let figures = in_order(run, operation);
        (!figures.is_empty()).then(|| Pass::of(run, &spots(&figures)))
    };
    let (read, write) = (pass(Operation::Read), pass(Operation::Write));
    let seconds = |pass: &Option<Result<Pass<'_>, String>>| {
        let pass = pass.as_ref()?.as_ref().ok()?;
        Some(pass.seconds_per_byte.value * run.target.capacity.0 as f64)
    };
    let (read_s, write_s) = (seconds(&read), seconds(&write));
    let (operation, pass) = match (read, write) {
        (Some(Ok(pass)), _) => (Operation::Read, pass),
        (_, Some(Ok(pass))) => (Operation::Write, pass),
        // Without a place there is no pass to ask for.
        (Some(Err(why)), _) | (None, Some(Err(why))) if why != NO_PLACE && why != NO_CAPACITY => {
            return vec![Finding::unknown(code, why)];
        }
        _ => return Vec::new(),
    };
    let estimate = crate::stated::without_interval(read_s.or(write_s).unwrap_or(0.0));
    let verb = if operation == Operation::Write { "Writing" } else { "Reading" };
    let statement = format!(
        "{verb} all of the drive once from start to end takes {}, {}.",
        long_time(estimate.value),
        basis(&pass)
    );
    let evidence = pass.figures.iter().map(Stated::evidence).collect();
    let finding = Finding::number(code, estimate, "s", statement, evidence)
        .with_data("covers_bytes", Datum::Integer(run.target.capacity.0))
        .with_data("covers_capacity", Datum::Flag(true))
        .with_data("measured_as_a_whole", Datum::Flag(pass.cover == Cover::Measured));
    let both = [("read", read_s), ("write", write_s)];
    let finding = both.into_iter().fold(finding, |finding, (name, seconds)| match seconds {
        Some(seconds) => finding.with_data(name, Datum::Number(seconds)),
        None => finding,
    });
    vec![Subject::of(run).qualify(remarked(finding, run, &estimate))]
}
