//! Rates at the start, at the end and over all, and the time of a pass.

use super::super::sequential_rate::RateFindings;
use super::super::trust::doubts;
use crate::measured::evidence_of;
use crate::stated::{Pass, Spot, edges, in_order, spots, without_interval};
use model::estimate::Estimate;
use model::finding::{
    Finding, FullPassTime, Imported, Outcome, PassBasis, RateOf, SequentialRate, SurveyUnknown,
};
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;

/// Start, end, mean; nothing when nothing was stated of that operation.
pub(in super::super) fn rates(
    run: &RunView<'_>,
    operation: Operation,
    [outer, inner, mean]: RateFindings,
) -> Vec<Finding> {
    let figures = in_order(run, operation);
    if figures.is_empty() {
        return Vec::new();
    }

    let spots = spots(&figures);
    let [start, end] = match edges(run, &spots) {
        Ok(edges) => edges,
        // Without an offset there is neither an end nor a whole to ask for: it is said once.
        Err(reason) => return vec![outer(Outcome::Unknown(reason))],
    };
    let caveats = doubts(run);
    vec![
        outer(at_edge(run, start, true)).with_caveats(&caveats),
        inner(at_edge(run, end, false)).with_caveats(&caveats),
        mean(over_all(run, &spots)).with_caveats(&caveats),
    ]
}

fn at_edge(run: &RunView<'_>, spot: Option<&Spot<'_>>, start: bool) -> Outcome<SequentialRate> {
    let Some(spot) = spot else { return Outcome::Unknown(SurveyUnknown::NoneInThird { start }) };
    match spot.seconds_per_byte() {
        Some(seconds) if seconds.value > 0.0 => {
            let rate = SequentialRate {
                place: Some(spot.range),
                ..imported_rate(run, &seconds, RateOf::ImportedEdge(spot.range))
            };
            Outcome::known(rate, evidence_of(&spot.figures))
        }
        _ => Outcome::Unknown(SurveyUnknown::NoRate),
    }
}

fn over_all(run: &RunView<'_>, spots: &[Spot<'_>]) -> Outcome<SequentialRate> {
    match Pass::of(run, spots) {
        Err(reason) => Outcome::Unknown(reason),
        Ok(pass) => {
            let rate = imported_rate(run, &pass.seconds_per_byte, RateOf::ImportedPass(pass.basis));
            Outcome::known(rate, evidence_of(&pass.figures))
        }
    }
}

fn imported_rate(run: &RunView<'_>, seconds_per_byte: &Estimate, of: RateOf) -> SequentialRate {
    let rate = as_rate(seconds_per_byte);
    let imported = Some(Imported::new(&rate, run.environment.direct));
    SequentialRate { imported, ..SequentialRate::new(rate, of) }
}

/// The reciprocal. An interval that reaches down to no time at all has no upper end.
fn as_rate(seconds_per_byte: &Estimate) -> Estimate {
    let Estimate { value, low, high, .. } = *seconds_per_byte;
    if !low.is_finite() {
        return without_interval(1.0 / value);
    }
    let upper = if low > 0.0 { 1.0 / low } else { f64::INFINITY };
    Estimate { value: 1.0 / value, low: 1.0 / high, high: upper, ..*seconds_per_byte }
}

/// The time of a pass: of reads, or of writes when there were no reads that tell. Both are in the data.
pub(in super::super) fn pass_time(run: &RunView<'_>) -> Vec<Finding> {
    let (read, write) = (pass(run, Operation::Read), pass(run, Operation::Write));
    let capacity = run.target.capacity;
    let seconds = |pass: &Option<Result<Pass<'_>, SurveyUnknown>>| match pass {
        Some(Ok(pass)) => Some(pass.seconds_per_byte.value * capacity.as_f64()),
        _ => None,
    };
    let (read_s, write_s) = (seconds(&read), seconds(&write));
    let (operation, pass) = match (read, write) {
        (Some(Ok(pass)), _) => (Operation::Read, pass),
        (_, Some(Ok(pass))) => (Operation::Write, pass),
        // Without an offset or a capacity there is no pass to ask for.
        (None, None)
        | (Some(Err(SurveyUnknown::NoOffsets | SurveyUnknown::NoCapacity)), _)
        | (None, Some(Err(SurveyUnknown::NoOffsets | SurveyUnknown::NoCapacity))) => return Vec::new(),
        (Some(Err(reason)), _) | (None, Some(Err(reason))) => {
            return vec![Finding::FullPassTime(Outcome::Unknown(reason))];
        }
    };
    let time = without_interval(read_s.or(write_s).unwrap_or(0.0));
    let found = FullPassTime {
        time,
        operation,
        range: ByteRange::whole(capacity),
        slowed: None,
        is_rate_limited: false,
        covers_bytes: capacity,
        covers_capacity: true,
        measured_as_a_whole: Some(pass.basis == PassBasis::Measured),
        read: read_s,
        write: write_s,
        imported: Some(Imported::new(&time, run.environment.direct)),
        basis: Some(pass.basis),
    };
    let outcome = Outcome::known(found, evidence_of(&pass.figures));
    vec![Finding::FullPassTime(outcome).with_caveats(&doubts(run))]
}

/// None where nothing was stated of that operation.
fn pass<'run>(run: &RunView<'run>, operation: Operation) -> Option<Result<Pass<'run>, SurveyUnknown>> {
    let figures = in_order(run, operation);
    if figures.is_empty() { None } else { Some(Pass::of(run, &spots(&figures))) }
}
