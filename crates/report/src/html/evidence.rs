//! Which stretches of a chart a finding rests on: places that it names, else where and when its evidence was measured.

use super::course;
use super::findings::finding_id;
use crate::chart::{Chart, ChartedRun, Mark, Place};
use model::finding::{Conclusion, Datum, Evidence, Finding, FindingCode, Name, Outcome};
use model::plan::PhaseKind;
use model::record::IntervalRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::workload::Pattern;

/// Stretches that are closer than this share of the axis are one: more cannot be told apart.
const GAP_SHARE: f64 = 1.0 / 500.0;

/// Evidence that holds more than this share of a phase holds it all: what is cut off is setting up.
const WHOLE_SHARE_MIN: f64 = 0.9;

/// What a finding marks in a chart.
pub(super) struct Marked {
    /// The name of the finding within the page.
    pub finding: String,
    /// From where to where, in base units of the axis across.
    pub stretches: Vec<(f64, f64)>,
}

/// What the findings of all runs mark in a chart.
pub(super) fn marked_in(chart: &Chart, runs: &[ChartedRun<'_>]) -> Vec<Marked> {
    let mut all = Vec::new();
    for (number, charted) in runs.iter().enumerate() {
        for (index, finding) in charted.run.findings.iter().enumerate() {
            let stretches = stretches(chart, charted, number, finding);
            if !stretches.is_empty() {
                all.push(Marked { finding: finding_id(number, index), stretches });
            }
        }
    }
    all
}

fn stretches(chart: &Chart, charted: &ChartedRun<'_>, run: usize, finding: &Finding) -> Vec<(f64, f64)> {
    let Outcome::Known(conclusion) = &finding.outcome else { return Vec::new() };
    if chart.series.iter().all(|series| series.run != run) {
        return Vec::new();
    }
    let found = match Across::of(chart, charted.run) {
        Across::Position => {
            let named = named_places(conclusion);
            if named.is_empty() { measured_places(chart, charted, conclusion) } else { named }
        }
        Across::Time { start_s } => {
            let moment = |evidence: &Evidence| {
                let (first_s, end_s) = moments(evidence);
                ((first_s - start_s).max(0.0), end_s - start_s)
            };
            conclusion.evidence.iter().map(moment).filter(|(first_s, end_s)| end_s > first_s).collect()
        }
        Across::Other => marked_places(chart, finding.code),
    };
    joined(found, (chart.x.end - chart.x.start) * GAP_SHARE)
}

/// What a chart has across.
enum Across {
    Position,
    /// Time, from this moment of the run on.
    Time {
        start_s: f64,
    },
    Other,
}

impl Across {
    fn of(chart: &Chart, run: &Run) -> Across {
        match chart.name {
            course::NAME => Across::Time { start_s: 0.0 },
            "write-rate-over-time" => Across::Time { start_s: first_write_s(run) },
            _ if chart.x.label == "Position" => Across::Position,
            _ => Across::Other,
        }
    }
}

/// When the first phase began that counts as a part of a course of writes.
fn first_write_s(run: &Run) -> f64 {
    let writes = |phase: &&PhaseSummary| {
        let is_counted = matches!(phase.phase.kind, PhaseKind::Measure | PhaseKind::Precondition);
        is_counted && phase.totals_of(Operation::Write).is_some_and(|totals| totals.bytes > 0)
    };
    run.phases.iter().find(writes).map_or(0.0, |phase| phase.start_ns as f64 / 1e9)
}

/// Where the marks of a conclusion are; the whole of a chart that shows it without a mark.
fn marked_places(chart: &Chart, code: FindingCode) -> Vec<(f64, f64)> {
    let place = |mark: &Mark| match mark.place {
        _ if mark.finding != Some(code) => None,
        Place::At(at) | Place::Point { at, .. } => Some((at, at)),
        Place::Over { first, end } | Place::Pause { first, end } => Some((first, end)),
        Place::Value(_) => None,
    };
    let places: Vec<(f64, f64)> = chart.marks.iter().filter_map(place).collect();
    match places.is_empty() && chart.findings.contains(&code) {
        true => vec![(chart.x.start, chart.x.end)],
        false => places,
    }
}

fn moments(evidence: &Evidence) -> (f64, f64) {
    (evidence.start_s, evidence.start_s + evidence.seconds)
}

/// The places in the data of a finding: regions, zones.
fn named_places(conclusion: &Conclusion) -> Vec<(f64, f64)> {
    let lists = conclusion.data.iter().filter_map(|(_, datum)| match datum {
        Datum::List(list) => Some(list),
        _ => None,
    });
    let records = lists.flatten().filter_map(|datum| match datum {
        Datum::Record(parts) => Some(parts.as_slice()),
        _ => None,
    });
    records
        .filter_map(|record| {
            let first = number(record, "first_byte")?;
            Some((first, first + number(record, "bytes")?))
        })
        .collect()
}

fn number(record: &[(Name, Datum)], name: &str) -> Option<f64> {
    match &record.iter().find(|(key, _)| key == name)?.1 {
        Datum::Number(number) => Some(*number).filter(|number| number.is_finite()),
        Datum::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// Where the phases went that the evidence lies in, if this chart shows them. A stretch of evidence may hold many phases.
fn measured_places(chart: &Chart, charted: &ChartedRun<'_>, conclusion: &Conclusion) -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for (number, phase) in (0u32..).zip(&charted.run.phases).filter(|(_, phase)| shows(chart, phase)) {
        let phase_end_s = start_s(phase) + phase.duration_ns as f64 / 1e9;
        let parts = conclusion.evidence.iter().map(|evidence| {
            let (first_s, end_s) = moments(evidence);
            (first_s.max(start_s(phase)), end_s.min(phase_end_s))
        });
        let longest = parts.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        let Some(part) = longest.filter(|(first_s, end_s)| end_s > first_s) else { continue };
        places.extend(within_phase(charted, number, phase, part));
    }
    places
}

fn start_s(phase: &PhaseSummary) -> f64 {
    phase.start_ns as f64 / 1e9
}

fn shows(chart: &Chart, phase: &PhaseSummary) -> bool {
    let is_sequential =
        phase.phase.workload.as_ref().is_some_and(|workload| workload.pattern == Pattern::Sequential);
    match chart.name {
        "access-time" => !is_sequential,
        _ => is_sequential,
    }
}

/// Where a phase went in a part of its time. A part of a long phase is where its slices of that time were.
fn within_phase(
    charted: &ChartedRun<'_>,
    number: u32,
    phase: &PhaseSummary,
    (first_s, end_s): (f64, f64),
) -> Option<(f64, f64)> {
    let range = phase.phase.workload.as_ref()?.range;
    let covered = phase.bytes().min(range.bytes().0) as f64;
    let whole = (range.first().0 as f64, range.first().0 as f64 + covered);
    if end_s - first_s >= WHOLE_SHARE_MIN * phase.duration_ns as f64 / 1e9 {
        return Some(whole);
    }
    let at_s = |slice: &IntervalRecord| slice.start_ns as f64 / 1e9;
    let until_end = charted.series?.intervals(number).take_while(|slice| at_s(slice) < end_s);
    let slices = until_end.filter(|slice| slice.operations > 0 && at_s(slice) >= first_s);
    let spans = slices.map(|slice| (slice.offset_first as f64, slice.offset_end as f64));
    spans.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// The stretches in order, those that touch or nearly touch as one.
fn joined(mut stretches: Vec<(f64, f64)>, gap: f64) -> Vec<(f64, f64)> {
    stretches.retain(|(first, end)| first.is_finite() && end.is_finite());
    stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (first, end) in stretches {
        match joined.last_mut() {
            Some(last) if first <= last.1 + gap => last.1 = last.1.max(end),
            _ => joined.push((first, end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_apart_is_one_stretch() {
        let stretches = vec![(50.0, 60.0), (0.0, 1.0), (1.5, 2.0), (55.0, 70.0), (f64::NAN, 3.0)];
        assert_eq!(joined(stretches, 1.0), [(0.0, 2.0), (50.0, 70.0)]);
    }
}
