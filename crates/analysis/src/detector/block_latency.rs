//! How long the requests of a pass over every block took.
//!
//! # What it finds
//! How many requests of a pass took less than 10, 50, 200 and 500 ms, longer, or failed; and a map of the range with the
//! worst class of each stretch.
//! # Why it matters
//! A sector that a drive reads only after half a second of retries is on its way to being lost, and no mean shows it.
//! # How
//! Sequential phases of one operation, each of which begins where another ends, that together moved and cover at least nine tenths of
//! all that the run touched: visits to random places neither follow each other nor, when they are few, reach everywhere. Numbers
//! come from the histograms. In the map the longest latency of a slice of 40 ms counts for all that the slice touched.
//! # Cannot tell when
//! It says nothing of runs that visited parts of the range only.
//! # Known problems
//! A latency includes the wait behind the requests that are under way at the same time: four of 1 MiB at 33 MB/s take
//! 0.13 s each, and nothing is wrong with that.
//! # References
//! The bounds are those of the surface tests MHDD and Victoria, which show them since the 1990s.

use super::{Detector, Need};
use crate::measured::{evidence_across, is_measurement};
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode};
use model::latency_map::{LatencyClass, LatencyMap};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, MIB, Offset};
use std::collections::BTreeSet;

/// See the head of this file.
pub(super) struct BlockLatency;

/// From this share of all that the run touched on, phases are a pass: what could not be read, and the rest of a phase that was cut
/// short, may be missing.
const PASS_SHARE: f64 = 0.9;
/// A cell of the map stands for no less.
const CELL_BYTES_MIN: Bytes = Bytes(MIB);

impl Detector for BlockLatency {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::BlockLatency]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Survey(Operation::Read), Need::Survey(Operation::Write)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let passes = [Operation::Read, Operation::Write].map(|operation| Pass::of(run, operation));
        let passes: Vec<Pass> = passes.into_iter().flatten().collect();
        if passes.is_empty() {
            return Vec::new();
        }
        let mut counts = [0u64; LatencyClass::ALL.len()];
        passes
            .iter()
            .for_each(|pass| (0..counts.len()).for_each(|class| counts[class] += pass.counts[class]));
        let total: u64 = counts.iter().sum();
        let late = counts[LatencyClass::Slower as usize] + counts[LatencyClass::Failed as usize];
        let statement = format!(
            "Of {total} requests of a pass over every block, {} took 500 ms or more, and {} failed.",
            counts[LatencyClass::Slower as usize],
            counts[LatencyClass::Failed as usize]
        );
        let evidence = passes.iter().flat_map(|pass| pass.evidence.clone()).collect();
        let classes = LatencyClass::ALL.into_iter().map(|class| {
            Datum::record([
                ("name", Datum::Text(class.name().into())),
                ("count", Datum::Integer(counts[class as usize])),
            ])
        });
        let maps = passes.iter().map(|pass| {
            Datum::record([
                ("operation", Datum::Text(pass.operation.name().into())),
                ("first_byte", Datum::Integer(pass.map.range().first().0)),
                ("bytes", Datum::Integer(pass.map.range().bytes().0)),
                ("cells", Datum::Text(pass.map.to_text())),
            ])
        });
        let found = Finding::number(
            FindingCode::BlockLatency,
            Estimate::exact(late as f64),
            "count",
            statement,
            evidence,
        )
        .with_data("classes", Datum::List(classes.collect()))
        .with_data("maps", Datum::List(maps.collect()));
        vec![found]
    }
}

/// A pass of one operation.
struct Pass {
    operation: Operation,
    counts: [u64; LatencyClass::ALL.len()],
    map: LatencyMap,
    evidence: Vec<Evidence>,
}

impl Pass {
    fn of(run: &RunView<'_>, operation: Operation) -> Option<Pass> {
        let phases: Vec<(u32, &PhaseSummary)> = (0..)
            .zip(run.phases)
            .filter(|(_, summary)| {
                let moves =
                    summary.totals_of(operation).is_some_and(|totals| totals.operations + totals.errors > 0);
                moves && LatencyMap::is_of(&summary.phase)
            })
            .collect();
        let touched = extent(run.phases.iter().filter_map(range_of))?;
        let ranges: Vec<ByteRange> = phases.iter().filter_map(|(_, summary)| range_of(summary)).collect();
        let moved: u64 = phases.iter().map(|(_, summary)| summary.bytes()).sum();
        let enough = PASS_SHARE * touched.bytes().0 as f64;
        let is_pass = moved as f64 >= enough
            && chained_bytes(&ranges) as f64 >= enough
            && phases.iter().any(|(_, summary)| is_measurement(summary));
        if !is_pass {
            return None;
        }
        let mut map = LatencyMap::new(extent(ranges.into_iter())?, CELL_BYTES_MIN);
        let mut counts = [0; LatencyClass::ALL.len()];
        for (number, summary) in &phases {
            run.series.intervals(*number).for_each(|slice| map.add_interval(&slice));
            run.series.errors(*number).for_each(|error| map.add_error(&error));
            count(summary, operation, &mut counts);
        }
        let evidence = evidence_across(phases.into_iter());
        Some(Pass { operation, counts, map, evidence })
    }
}

fn range_of(summary: &PhaseSummary) -> Option<ByteRange> {
    summary.phase.workload.as_ref().map(|workload| workload.range)
}

/// From the first byte of all ranges to their last.
fn extent(ranges: impl Iterator<Item = ByteRange>) -> Option<ByteRange> {
    let ends = ranges.map(|range| (range.first().0, range.end().0));
    let (first, end) = ends.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))?;
    ByteRange::new(Offset(first), Bytes(end - first))
}

/// How many bytes lie in the first range and in those that begin where another ends.
fn chained_bytes(ranges: &[ByteRange]) -> u64 {
    let ends: BTreeSet<Offset> = ranges.iter().map(ByteRange::end).collect();
    let mut sorted: Vec<ByteRange> = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| (range.first(), range.end()));
    let first = sorted.first().map(ByteRange::first);
    let mut reached = Offset(0);
    let mut bytes = 0;
    for range in sorted.iter().filter(|range| Some(range.first()) == first || ends.contains(&range.first())) {
        bytes += range.end().0.saturating_sub(range.first().max(reached).0);
        reached = reached.max(range.end());
    }
    bytes
}

/// Adds the requests of a phase by their classes.
fn count(summary: &PhaseSummary, operation: Operation, counts: &mut [u64; LatencyClass::ALL.len()]) {
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
