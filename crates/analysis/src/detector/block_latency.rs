//! Latency of the requests of a pass over every block.
//! # What it finds
//! How many requests of a pass took less than 10, 50, 200 and 500 ms, longer, or failed; and a map of the worst class.
//! # Why it matters
//! A sector that takes half a second of retries is about to be lost, and no mean shows it.
//! # How
//! Sequential phases of one operation, each starting where another ends, that cover nine tenths of all that the run touched.
//! Counts come from the histograms. In the map a 40 ms interval's longest latency counts for all that it touched.
//! # Cannot tell when
//! It says nothing of runs that sampled parts of the range only.
//! # Known problems
//! Latency includes queueing: four requests of 1 MiB at 33 MB/s take 0.13 s each, and nothing is wrong with that.
//! # References
//! The bounds are those of the surface tests MHDD and Victoria, which show them since the 1990s.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::measured::{evidence_across, is_measurement};
use model::finding::{BlockLatency, ClassCount, Evidence, Finding, FindingCode, OperationMap, Outcome};
use model::latency_map::{LatencyClass, LatencyMap};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Offset};
use std::collections::BTreeSet;

/// Phases that cover this share of all that the run touched are a pass: some blocks cannot be read, or it was cut short.
const PASS_SHARE: f64 = 0.9;
const CELL_BYTES_MIN: Bytes = Bytes::from_mib(1);

type Counts = [u64; LatencyClass::ALL.len()];

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::BlockLatency], needs: Need::SURVEYED, detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let (mut counts, mut maps, mut evidence) = ([0; LatencyClass::ALL.len()], Vec::new(), Vec::new());
    for operation in [Operation::Read, Operation::Write] {
        if let Some((map, of_pass)) = pass(run, operation, &mut counts) {
            maps.push(OperationMap { operation, map });
            evidence.extend(of_pass);
        }
    }
    if maps.is_empty() {
        return Vec::new();
    }
    let classes = LatencyClass::ALL.map(|class| ClassCount { class, count: counts[class as usize] });
    let latency = BlockLatency { classes: classes.to_vec(), maps };
    vec![Finding::BlockLatency(Outcome::known(latency, evidence))]
}

/// The map of a pass and its evidence; its requests are added to the counts.
fn pass(run: &RunView<'_>, operation: Operation, counts: &mut Counts) -> Option<(LatencyMap, Vec<Evidence>)> {
    let mut phases: Vec<(u32, &PhaseSummary)> = (0..).zip(run.phases).collect();
    phases.retain(|(_, summary)| {
        let moved = summary.totals_of(operation).is_some_and(|totals| totals.operations + totals.errors > 0);
        moved && LatencyMap::is_of(&summary.phase)
    });
    let touched = extent(run.phases.iter().filter_map(range_of))?;
    let ranges: Vec<ByteRange> = phases.iter().filter_map(|(_, summary)| range_of(summary)).collect();
    let moved: u64 = phases.iter().map(|(_, summary)| summary.bytes()).sum();
    let enough = PASS_SHARE * touched.bytes().as_f64();
    let is_pass = moved as f64 >= enough && chained_bytes(&ranges) as f64 >= enough;
    if !is_pass || !phases.iter().any(|(_, summary)| is_measurement(summary)) {
        return None;
    }
    let mut map = LatencyMap::new(extent(ranges.into_iter())?, CELL_BYTES_MIN);
    for (number, summary) in &phases {
        for interval in run.series.intervals(*number) {
            map.add_interval(&interval);
        }
        for error in run.series.errors(*number) {
            map.add_error(&error);
        }
        count(summary, operation, counts);
    }
    Some((map, evidence_across(phases.into_iter())))
}

fn range_of(summary: &PhaseSummary) -> Option<ByteRange> {
    summary.phase.workload.as_ref().map(|workload| workload.range)
}

fn extent(ranges: impl Iterator<Item = ByteRange>) -> Option<ByteRange> {
    let ends = ranges.map(|range| (range.first(), range.end()));
    let (first, end) = ends.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))?;
    ByteRange::new(first, end - first)
}

/// How many bytes lie in the first range and in those that begin where another ends.
fn chained_bytes(ranges: &[ByteRange]) -> u64 {
    let ends: BTreeSet<Offset> = ranges.iter().map(ByteRange::end).collect();
    let mut sorted: Vec<ByteRange> = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| (range.first(), range.end()));
    let first = sorted.first().map(ByteRange::first);
    let mut reached = Offset::START;
    let mut bytes = 0;
    for range in sorted {
        if Some(range.first()) == first || ends.contains(&range.first()) {
            bytes += range.end().get().saturating_sub(range.first().max(reached).get());
            reached = reached.max(range.end());
        }
    }
    bytes
}

fn count(summary: &PhaseSummary, operation: Operation, counts: &mut Counts) {
    let Some(totals) = summary.totals_of(operation) else { return };
    let mut below = 0;
    for class in LatencyClass::ALL {
        let up_to = match class.bound() {
            Some(bound) => totals.histogram.count_below(bound),
            None => totals.histogram.count(),
        };
        counts[class as usize] += up_to - below;
        below = up_to;
    }
    counts[LatencyClass::Failed as usize] += totals.errors;
}
