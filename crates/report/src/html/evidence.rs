//! Which stretches of a chart a finding rests on: places that it names, else where and when its evidence was measured.

use crate::chart::phase::{seconds, start_s};
use crate::chart::{Across, Axis, Chart, ChartedRun, Place};
use crate::finding::extents;
use model::finding::{Evidence, Finding, FindingCode};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::workload::Pattern;
use serde_json::{Value, json};

/// Stretches that are closer than this share of the axis are one: more cannot be told apart.
const GAP_SHARE: f64 = 1.0 / 500.0;

/// Evidence that holds more than this share of a phase holds it all: what is cut off is setting up.
const WHOLE_SHARE_MIN: f64 = 0.9;

pub(super) struct Marked {
    pub finding: String,
    /// From where to where on the axis across, in base units.
    pub stretches: Vec<(f64, f64)>,
}

pub(super) fn finding_id(run: usize, finding: usize) -> String {
    format!("finding-{run}-{finding}")
}

pub(super) fn index_of(run: &Run, code: FindingCode) -> usize {
    run.findings.iter().position(|finding| finding.code() == code).unwrap_or(0)
}

impl Marked {
    pub(super) fn at_coordinates(&self, x: &Axis) -> Value {
        let mut stretches = Vec::new();
        for (first, end) in &self.stretches {
            stretches.push([x.coordinate(*first), x.coordinate(*end)]);
        }
        json!({ "finding": self.finding, "stretches": stretches })
    }
}

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
    if !finding.is_known() || chart.series.iter().all(|series| series.run != run) {
        return Vec::new();
    }
    let evidence = finding.evidence();
    let found = match chart.across {
        Across::Position { is_random } => match extents(finding) {
            named if named.is_empty() => measured_places(charted, evidence, is_random),
            named => named,
        },
        Across::RunTime => moments_since(0.0, evidence),
        Across::WriteTime => moments_since(first_write_s(charted.run), evidence),
        Across::Other => marked_places(chart, finding.code()),
    };
    joined(found, (chart.x.end - chart.x.start) * GAP_SHARE)
}

/// From when to when evidence was measured, since that moment of the run.
fn moments_since(start_s: f64, evidence: &[Evidence]) -> Vec<(f64, f64)> {
    let mut moments = Vec::new();
    for (first_s, end_s) in evidence.iter().map(moments_of) {
        if end_s > start_s && end_s > first_s {
            moments.push(((first_s - start_s).max(0.0), end_s - start_s));
        }
    }
    moments
}

/// When the first phase began that counts as a part of a course of writes.
fn first_write_s(run: &Run) -> f64 {
    run.phases.iter().find(|phase| is_write(phase)).map_or(0.0, start_s)
}

fn is_write(phase: &PhaseSummary) -> bool {
    matches!(phase.phase.kind, PhaseKind::Measure | PhaseKind::Precondition)
        && phase.bytes_of(Operation::Write) > 0
}

/// Where the marks of a finding are; the whole of a chart that shows it without a mark.
fn marked_places(chart: &Chart, code: FindingCode) -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for mark in &chart.marks {
        if mark.finding != Some(code) {
            continue;
        }
        match mark.place {
            Place::At(at) | Place::Point { at, .. } => places.push((at, at)),
            Place::Over { first, end } | Place::Pause { first, end } => places.push((first, end)),
            Place::Value(_) => {}
        }
    }
    if places.is_empty() && chart.findings.contains(&code) {
        places.push((chart.x.start, chart.x.end));
    }
    places
}

fn moments_of(evidence: &Evidence) -> (f64, f64) {
    (evidence.start_s, evidence.start_s + evidence.seconds)
}

/// Where the phases of sequential or random requests went that the evidence lies in. One piece of evidence may hold many phases.
fn measured_places(charted: &ChartedRun<'_>, evidence: &[Evidence], is_random: bool) -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for (number, phase) in (0u32..).zip(&charted.run.phases) {
        if is_sequential(phase) == is_random {
            continue;
        }
        let (phase_first_s, phase_end_s) = (start_s(phase), start_s(phase) + seconds(phase));
        let mut longest = (0.0, 0.0);
        for (first_s, end_s) in evidence.iter().map(moments_of) {
            let part = (first_s.max(phase_first_s), end_s.min(phase_end_s));
            if part.1 - part.0 > longest.1 - longest.0 {
                longest = part;
            }
        }
        if longest.1 > longest.0 {
            places.extend(within_phase(charted, number, phase, longest));
        }
    }
    places
}

fn is_sequential(phase: &PhaseSummary) -> bool {
    matches!(&phase.phase.workload, Some(workload) if workload.pattern == Pattern::Sequential)
}

/// Where a phase went in a part of its time. A part of a long phase is where its slices of that time were.
fn within_phase(
    charted: &ChartedRun<'_>,
    number: u32,
    phase: &PhaseSummary,
    (first_s, end_s): (f64, f64),
) -> Option<(f64, f64)> {
    let range = phase.phase.workload.as_ref()?.range;
    let covered = phase.bytes().min(range.bytes().get()) as f64;
    let whole = (range.first().as_f64(), range.first().as_f64() + covered);
    if end_s - first_s >= WHOLE_SHARE_MIN * phase.duration_ns as f64 / 1e9 {
        return Some(whole);
    }
    let mut span = None;
    for slice in charted.series?.intervals(number) {
        let at_s = slice.start_ns as f64 / 1e9;
        if at_s >= end_s {
            break;
        }
        if slice.operations > 0 && at_s >= first_s {
            let (first, end) = (slice.offset_first as f64, slice.offset_end as f64);
            let all = span.get_or_insert((first, end));
            *all = (all.0.min(first), all.1.max(end));
        }
    }
    span
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
