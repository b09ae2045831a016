//! Sizes of requests whose rate something else than the size has spoilt.
//!
//! # What it finds
//! Points of a sweep over sizes of which a round was much slower or faster than the others, what it was before and after it was
//! measured again, and dips that stayed.
//! # Why it matters
//! In a sweep that measures each size once, a valley or a cache that is full looks like a property of a size.
//! # How
//! Rounds of a point are compared with their middle one. A round is spoilt if it differs by a tenth, and by six times what
//! rounds scatter. The point is then measured again until four rounds agree. A size that is slower than both
//! its neighbours is measured again too; if it stays so, it is no accident.
//! # Cannot tell when
//! There were fewer than three rounds.
//! # Known problems
//! What spoils most rounds of a point looks like the point. What caused a slow round is not known here: `valleys` and `sustain` ask for it.
//! # References
//! 8thway.blogspot.com, 2009-06: dips at random sizes in File Benchmark and ATTO on an X25-M.

use super::trust::Subject;
use super::wording::{memory, number, rate, short_time};
use super::{Detector, Need};
use crate::measured::{NO_TIME, evidence_of_phases, is_measurement, phases_in_no_time};
use crate::size_profile::{EXPERIMENT, Point, SizeProfile};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct SuspectPoints;

const ROUNDS_MIN: usize = 3;
const ROWS_MAX: usize = 500;
/// Points named in the sentence.
const NAMED_MAX: usize = 3;

impl Detector for SuspectPoints {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::SuspectPoints]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let unknown = |why: &str| vec![Finding::unknown(FindingCode::SuspectPoints, why)];
        if phases_in_no_time(run, run.phases.iter().filter(|summary| is_measurement(summary))) {
            return unknown(NO_TIME);
        }
        let profile = SizeProfile::of(run);
        if !profile.points.iter().any(|point| point.rounds.len() >= ROUNDS_MIN) {
            return unknown(
                "Fewer than three rounds were measured: nobody can say which of two is the spoilt one.",
            );
        }
        vec![found(run, &profile)]
    }
}

fn found(run: &RunView<'_>, profile: &SizeProfile) -> Finding {
    let spoilt: Vec<&Point> = profile.points.iter().filter(|point| point.spoilt_count() > 0).collect();
    let phases: Vec<u32> = spoilt
        .iter()
        .flat_map(|point| point.rounds.iter().zip(&point.spoilt).filter(|(_, spoilt)| **spoilt))
        .map(|(round, _)| round.phase)
        .collect();
    let dips: Vec<&Point> = profile.points.iter().filter(|point| point.is_dip).collect();
    let count = Estimate::exact(spoilt.len() as f64);
    let mut statement = statement(&spoilt, profile.points.len());
    if let Some(dip) = dips.first() {
        statement += &format!(
            " {} are slower than the sizes next to it in all rounds: that is no accident.",
            named(dip)
        );
    }
    let mut finding = Finding::number(
        FindingCode::SuspectPoints,
        count,
        "count",
        statement,
        evidence_of_phases(run, &phases),
    )
    .with_data("points", Datum::List(spoilt.iter().take(ROWS_MAX).map(|point| row(point)).collect()))
    .with_data("dips", Datum::List(dips.iter().take(ROWS_MAX).map(|point| row(point)).collect()));
    if !spoilt.is_empty() {
        finding = finding.with_advice(
            "What spoils sizes by chance also spoils short benchmarks: ask `drivescope valleys` or `drivescope sustain` what it is.",
        );
    }
    Subject::of(run).qualify(finding)
}

fn statement(spoilt: &[&Point], all: usize) -> String {
    if spoilt.is_empty() {
        return format!("All rounds of all {all} points agree: no size was spoilt by something else.");
    }
    let names: Vec<String> = spoilt
        .iter()
        .take(NAMED_MAX)
        .map(|point| {
            format!(
                "{} ({} instead of {} with that round)",
                named(point),
                rate(point.clean_rate()),
                rate(point.plain_rate())
            )
        })
        .collect();
    let more = spoilt.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "{} of {all} points had a round that differs from the others and were measured again: {}{more}.",
        spoilt.len(),
        names.join("; ")
    )
}

fn named(point: &Point) -> String {
    let at_once =
        if point.key.depth == 1 { String::new() } else { format!(", {} at a time", point.key.depth) };
    let random = if point.key.in_order { "" } else { " at random" };
    format!(
        "{} of {}{random}{at_once}",
        super::wording::plural(point.key.operation),
        memory(point.key.size.0 as f64)
    )
}

fn row(point: &Point) -> Datum {
    Datum::record([
        ("bytes", Datum::Integer(point.key.size.0)),
        ("operation", Datum::Text(point.key.operation.name().into())),
        ("pattern", Datum::Text(if point.key.in_order { "sequential" } else { "random" }.into())),
        ("depth", Datum::Integer(point.key.depth)),
        ("why", Datum::Text(why(point))),
        ("rounds", Datum::Integer(point.rounds.len() as u64)),
        ("spoilt_rounds", Datum::Integer(point.spoilt_count() as u64)),
        ("before", Datum::Number(point.plain_rate())),
        ("after", Datum::Number(point.clean_rate())),
    ])
}

fn why(point: &Point) -> String {
    let rounds =
        || point.rounds.iter().zip(&point.spoilt).filter(|(_, spoilt)| **spoilt).map(|(round, _)| round);
    let farthest = rounds().max_by(|one, other| {
        let away = |rate: f64| (rate / point.clean_rate()).ln().abs();
        away(one.rate).total_cmp(&away(other.rate))
    });
    match farthest {
        None => "slower than the sizes next to it in all rounds".into(),
        Some(round) => {
            let share = 100.0 * round.rate / point.clean_rate();
            format!(
                "{} of {} rounds differed, the farthest with {} % of the others; its slowest request took {}",
                point.spoilt_count(),
                point.rounds.len(),
                number(share),
                short_time(round.slowest_s)
            )
        }
    }
}
