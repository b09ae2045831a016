//! What was measured, by what the phases did: sequential visits, random rounds, and the steady part of each.

use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use model::finding::{Datum, Evidence};
use model::histogram::LatencyHistogram;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::Caveat;
use model::units::{Bytes, Nanos, Quantile};
use model::workload::{Arrival, Caching, Pattern, Workload};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One measured phase that reads or writes in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit<'run> {
    /// Its number in the run.
    pub phase: u32,
    /// Its summary.
    pub summary: &'run PhaseSummary,
    /// Its workload.
    pub workload: &'run Workload,
}

/// Which slices of a phase are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Up to the time limit: what is still under way then drains from a queue that is no longer full.
    Timed,
    /// The same without the slices up to the completion that makes as many as fit into the queue: these waited for
    /// the first seek, and for fewer others before them than all later ones.
    Steady,
}

/// A slice of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    /// How long it was, in seconds.
    pub seconds: f64,
    /// Requests completed without an error.
    pub operations: f64,
    /// Bytes they moved.
    pub bytes: f64,
    /// The sum of their latencies, in seconds.
    pub latency_s: f64,
}

/// Whether the phase was a measurement whose end was not a failure.
pub(crate) fn is_measurement(summary: &PhaseSummary) -> bool {
    summary.phase.kind == PhaseKind::Measure
        && summary.phase.workload.is_some()
        && !matches!(summary.stopped, Some(StopReason::DeviceGone | StopReason::Errors))
}

/// Where what a finding says was seen, of the much that a survey visited: for its data.
pub(crate) fn places(ranges: impl IntoIterator<Item = ByteRange>) -> Datum {
    let place = |range: ByteRange| {
        Datum::record([
            ("first_byte", Datum::Integer(range.first().0)),
            ("bytes", Datum::Integer(range.bytes().0)),
        ])
    };
    Datum::List(ranges.into_iter().map(place).collect())
}

/// All closed-loop measured phases of `operation` alone, with one block size, whose pattern is `wanted`.
fn visits<'run>(
    run: &RunView<'run>,
    operation: Operation,
    wanted: fn(&Pattern) -> bool,
) -> impl Iterator<Item = Visit<'run>> {
    run.phases.iter().enumerate().filter_map(move |(index, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        let fits = summary.phase.kind == PhaseKind::Measure
            && !NO_SURVEYS.contains(&summary.phase.experiment.as_ref())
            && wanted(&workload.pattern)
            && workload.mix.operations() == [operation]
            && workload.arrival == Arrival::ClosedLoop
            && workload.block_sizes.single().is_some();
        fits.then_some(Visit { phase: index as u32, summary, workload })
    })
}

/// The sequential phases of `operation`. Of several block sizes and depths, those that were visited most often, since
/// only they were spread over the range; of equally many, the largest blocks.
pub(crate) fn sequential_visits<'run>(run: &RunView<'run>, operation: Operation) -> Vec<Visit<'run>> {
    let mut groups: BTreeMap<(Bytes, u64), Vec<Visit<'run>>> = BTreeMap::new();
    for visit in visits(run, operation, |pattern| *pattern == Pattern::Sequential) {
        let shape = (visit.workload.block_sizes.largest(), visit.workload.in_flight_max());
        groups.entry(shape).or_default().push(visit);
    }
    groups
        .into_iter()
        .max_by_key(|(shape, visits)| (visits.len(), *shape))
        .map_or(Vec::new(), |(_, visits)| visits)
}

/// The experiment that surveys the surface. Whether a question was asked is known by who made the phases; what they say is
/// known by what they did.
const SURVEY: &str = "surface";
/// Experiments that vary what changes rates, and have findings of their own: they are no samples of how fast places are.
const NO_SURVEYS: [&str; 3] = ["valleys", "sizes", crate::stated::EXPERIMENT];
/// The experiment that measures random access.
pub(crate) const EXPERIMENT_ACCESS: &str = "access";

/// The sequential measured phases of `operation` that surveyed the surface.
fn survey_phases<'run>(
    run: &RunView<'run>,
    operation: Operation,
) -> impl Iterator<Item = (u32, &'run PhaseSummary)> {
    let phases = (0u32..).zip(run.phases);
    phases.filter(move |(_, summary)| {
        let workload = summary.phase.workload.as_ref();
        summary.phase.experiment == SURVEY
            && summary.phase.kind == PhaseKind::Measure
            && workload.is_some_and(|workload| {
                workload.pattern == Pattern::Sequential && workload.mix.operations() == [operation]
            })
    })
}

/// Whether the surface was surveyed by that operation.
pub(crate) fn is_surveyed(run: &RunView<'_>, operation: Operation) -> bool {
    survey_phases(run, operation).next().is_some()
}

/// The stretch of time of a survey: its hundreds of visits are one piece of evidence, from the first to the end of the last.
pub(crate) fn survey_evidence(run: &RunView<'_>, operation: Operation) -> Vec<Evidence> {
    evidence_across(survey_phases(run, operation))
}

/// From the beginning of the first of these phases to the end of the last; nothing if there is none.
pub(crate) fn evidence_across<'run>(
    mut phases: impl Iterator<Item = (u32, &'run PhaseSummary)>,
) -> Vec<Evidence> {
    let Some((phase, first)) = phases.next() else { return Vec::new() };
    let last = phases.last().map_or(first, |(_, last)| last);
    let seconds = last.end_ns().saturating_sub(first.start_ns) as f64 / 1e9;
    vec![Evidence { phase, start_s: first.start_ns as f64 / 1e9, seconds }]
}

/// The random phases of `operation`, of whatever range, block size and number at a time.
pub(crate) fn random_visits<'run>(run: &RunView<'run>, operation: Operation) -> Vec<Visit<'run>> {
    let is_random = |pattern: &Pattern| pattern.is_random() == Some(true);
    let direct = visits(run, operation, is_random).filter(|visit| visit.workload.caching == Caching::Direct);
    let direct: Vec<Visit<'run>> = direct.collect();
    // Where the page cache cannot be passed by, all phases go through it, and that is what there is.
    if direct.is_empty() { visits(run, operation, is_random).collect() } else { direct }
}

/// What is varied when several requests are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The length of one queue.
    Depth,
    /// Threads that each wait for one request.
    Threads,
}

impl Axis {
    fn holds(self, visit: &Visit<'_>) -> bool {
        match self {
            Axis::Depth => visit.workload.threads == 1,
            Axis::Threads => visit.workload.queue_depth == 1,
        }
    }

    /// The word in data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Axis::Depth => "depth",
            Axis::Threads => "threads",
        }
    }
}

/// The axes along which random phases of `operation` go; none of them when all are one at a time.
pub(crate) fn axes(run: &RunView<'_>, operation: Operation) -> Vec<Axis> {
    let visits = random_visits(run, operation);
    let several = |visit: &&Visit<'_>| visit.workload.in_flight_max() > 1;
    let along = |axis: &Axis| visits.iter().filter(several).any(|visit| axis.holds(visit));
    [Axis::Depth, Axis::Threads].into_iter().filter(along).collect()
}

/// The random phases of `operation` by the number of requests under way: by the depth of a queue, or by threads where only
/// these were varied.
pub(crate) fn random_groups<'run>(
    run: &RunView<'run>,
    operation: Operation,
) -> BTreeMap<u64, Vec<Visit<'run>>> {
    random_groups_along(run, operation, axes(run, operation).first().copied().unwrap_or(Axis::Depth))
}

/// The random phases of `operation` along that axis, by the number of requests under way, all with the same block size and
/// range: the widest range, and of its block sizes the one with the most numbers at a time; of several, the smallest.
pub(crate) fn random_groups_along<'run>(
    run: &RunView<'run>,
    operation: Operation,
    axis: Axis,
) -> BTreeMap<u64, Vec<Visit<'run>>> {
    let mut shapes: BTreeMap<_, BTreeMap<u64, Vec<Visit<'run>>>> = BTreeMap::new();
    for visit in random_visits(run, operation).into_iter().filter(|visit| axis.holds(visit)) {
        let range = visit.workload.range;
        let shape = (Reverse(range.bytes()), visit.workload.block_sizes.largest(), range.first());
        let groups = shapes.entry(shape).or_default();
        groups.entry(visit.workload.in_flight_max()).or_default().push(visit);
    }
    let best = |((widest, block, first), groups): &(_, BTreeMap<u64, Vec<Visit<'run>>>)| {
        (*widest, Reverse(groups.len()), *block, *first)
    };
    shapes.into_iter().min_by_key(best).map_or_else(BTreeMap::new, |(_, groups)| groups)
}

/// All latencies of `operation` in these phases.
pub(crate) fn merged_latencies(visits: &[Visit<'_>], operation: Operation) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    for totals in visits.iter().filter_map(|visit| visit.summary.totals_of(operation)) {
        histogram.merge(&totals.histogram);
    }
    histogram
}

/// The stretch that the visits cover together.
fn span(visits: &[Visit<'_>]) -> Option<ByteRange> {
    let first = visits.iter().map(|visit| visit.workload.range.first()).min()?;
    let end = visits.iter().map(|visit| visit.workload.range.end()).max()?;
    ByteRange::new(first, end - first)
}

/// The stretch that a pass of these visits is about: what all measurements of the run cover together, if the visits are
/// spread over at least nine tenths of it. Visits begin at random places, so the first begins somewhat after the start.
pub(crate) fn extent(run: &RunView<'_>, visits: &[Visit<'_>]) -> Option<ByteRange> {
    let visited = span(visits)?;
    let measured = run.phases.iter().enumerate().filter(|(_, summary)| is_measurement(summary));
    let all: Vec<Visit<'_>> = measured
        .filter_map(|(index, summary)| {
            Some(Visit { phase: index as u32, summary, workload: summary.phase.workload.as_ref()? })
        })
        .collect();
    let all = span(&all).unwrap_or(visited);
    let is_spread = visited.bytes().0 as f64 >= 0.9 * all.bytes().0 as f64;
    Some(if is_spread { all } else { visited })
}

impl Visit<'_> {
    /// The slices of that part of the phase, in the order of time.
    pub(crate) fn slices(&self, run: &RunView<'_>, operation: Operation, part: Part) -> Vec<Slice> {
        let limit_ns = self.summary.phase.stop.time.filter(|_| part != Part::Whole);
        let end_ns = limit_ns.map(|time| self.summary.start_ns.saturating_add(time.0));
        // The last slice is recorded with its full length; the phase may have ended within it.
        let ended_ns = self.summary.ended_ns().unwrap_or(u64::MAX);
        let mut to_fill = if part == Part::Steady { self.workload.in_flight_max() } else { 0 };
        let mut slices = Vec::new();
        for record in run.series.intervals(self.phase).filter(|record| record.operation == operation) {
            if end_ns.is_some_and(|end_ns| record.end_ns() > end_ns) {
                break;
            }
            if to_fill > 0 {
                to_fill = to_fill.saturating_sub(record.operations);
                continue;
            }
            slices.push(Slice {
                seconds: record.end_ns().min(ended_ns).saturating_sub(record.start_ns) as f64 / 1e9,
                operations: record.operations as f64,
                bytes: record.bytes as f64,
                latency_s: record.latency.map_or(0.0, |l| l.mean_ns * record.operations as f64 / 1e9),
            });
        }
        slices
    }

    /// What was written is written when it is lasting. A cache takes the first of a visit at once and the flush makes up
    /// for it at the end, so that only the visit as a whole, flush and all, has a rate, the time to get there, `access_s`, taken
    /// off. None where the flush moved next to nothing: it takes no longer than an access there and back.
    pub(crate) fn lasting_s_per_byte(&self, access_s: f64) -> Option<f64> {
        let (flush_s, bytes) = (self.summary.flush_ns() as f64 / 1e9, self.summary.bytes() as f64);
        if flush_s <= 2.0 * access_s || bytes == 0.0 {
            return None;
        }
        let whole_s = self.summary.duration_ns as f64 / 1e9 + flush_s;
        Some((whole_s - access_s) / bytes)
    }

    /// Share of its requests that failed.
    pub(crate) fn error_share(&self) -> f64 {
        let (errors, operations) = (self.summary.errors() as f64, self.summary.operations() as f64);
        if errors == 0.0 { 0.0 } else { errors / (errors + operations) }
    }

    /// Where in the run it is.
    pub(crate) fn evidence(&self) -> Evidence {
        self.summary.evidence(self.phase)
    }
}

/// The mean of single random reads in seconds; 0 when there were none.
pub(crate) fn single_access_s(run: &RunView<'_>) -> f64 {
    let single = random_groups(run, Operation::Read).remove(&1).unwrap_or_default();
    let (mut sum_ns, mut count) = (0.0, 0.0);
    for totals in single.iter().filter_map(|visit| visit.summary.totals_of(Operation::Read)) {
        sum_ns += totals.histogram.sum_ns() as f64;
        count += totals.histogram.count() as f64;
    }
    if count > 0.0 { sum_ns / count / 1e9 } else { 0.0 }
}

/// The evidence of phases by their numbers.
pub(crate) fn evidence_of_phases(run: &RunView<'_>, phases: &[u32]) -> Vec<Evidence> {
    phases.iter().filter_map(|&phase| Some(run.phases.get(phase as usize)?.evidence(phase))).collect()
}

/// The evidence of several visits.
pub(crate) fn evidence_of<'visit, 'run: 'visit>(
    visits: impl IntoIterator<Item = &'visit Visit<'run>>,
) -> Vec<Evidence> {
    visits.into_iter().map(Visit::evidence).collect()
}

/// Joins slices that follow each other into batches that complete `operations_min` requests each; what is left over
/// at the end joins the last.
pub(crate) fn batches(slices: &[Slice], operations_min: f64, pair: impl Fn(&Slice) -> Pair) -> Vec<Pair> {
    let mut batches: Vec<Pair> = Vec::new();
    let (mut open, mut operations) = (Pair::default(), 0.0);
    for slice in slices {
        let next = pair(slice);
        open.numerator += next.numerator;
        open.denominator += next.denominator;
        operations += slice.operations;
        if operations >= operations_min {
            batches.push(std::mem::take(&mut open));
            operations = 0.0;
        }
    }
    match batches.last_mut() {
        Some(last) => {
            last.numerator += open.numerator;
            last.denominator += open.denominator;
        }
        None => batches.push(open),
    }
    batches
}

/// Of each visit the ratio of what `pair` takes from its slices, from batches of so many requests.
pub(crate) fn round_ratios(
    run: &RunView<'_>,
    visits: &[Visit<'_>],
    operation: Operation,
    part: Part,
    batch_operations: f64,
    pair: impl Fn(&Slice) -> Pair,
) -> Vec<Mean> {
    let of_visit = |visit: &Visit<'_>| {
        ratio_of_sums(&batches(&visit.slices(run, operation, part), batch_operations, &pair))
    };
    visits.iter().filter_map(of_visit).collect()
}

/// A system call and a copy of 4 KiB take about this long: no answer through a kernel comes sooner, in seconds.
const ANSWER_S_MIN: f64 = 1e-6;

/// Whether the answers came in no time that could be measured: sooner than any kernel answers as many requests as
/// are under way, or in less than twice what these cost this tool itself. A drive that does nothing answers so.
pub(crate) fn in_no_time(run: &RunView<'_>, visits: &[Visit<'_>]) -> bool {
    phases_in_no_time(run, visits.iter().map(|visit| visit.summary))
}

/// The same of any phases.
pub(crate) fn phases_in_no_time<'run>(
    run: &RunView<'_>,
    phases: impl Iterator<Item = &'run PhaseSummary>,
) -> bool {
    let own_cost_s = run.environment.own_cost_ns_per_io.unwrap_or(0.0) / 1e9;
    let (mut latency_s, mut least_s, mut operations) = (0.0, 0.0, 0);
    for summary in phases {
        let Some(workload) = &summary.phase.workload else { continue };
        for totals in &summary.totals {
            let in_flight = workload.in_flight_max() as f64;
            latency_s += totals.histogram.sum_ns() as f64 / 1e9;
            least_s += totals.operations as f64 * in_flight * ANSWER_S_MIN.max(2.0 * own_cost_s);
            operations += totals.operations;
        }
    }
    operations > 0 && latency_s <= least_s
}

/// A single random read from flash takes tens to hundreds of microseconds, from a disk never less than some milliseconds:
/// at 15,000 turns a minute half of all wait at least 2 ms.
pub(crate) const MOVING_MEDIAN_S: f64 = 1e-3;

/// Whether the drive turns. What it says of itself counts as long as measured access times do not say otherwise: USB bridges
/// and virtual disks say "rotational" of flash. What a loop device says of itself is the kernel's word for whatever lies below it, and
/// does not count. Measured are random reads, one at a time, in a warm-up too. `None` when neither says anything, or when a drive that
/// says it does not turn takes as long as one that does.
pub(crate) fn turns(run: &RunView<'_>) -> Option<bool> {
    let mut histogram = LatencyHistogram::default();
    let single = run.phases.iter().filter(|summary| {
        let workload = summary.phase.workload.as_ref();
        workload.is_some_and(|workload| workload.is_single_random(Operation::Read))
    });
    for totals in single.filter_map(|summary| summary.totals_of(Operation::Read)) {
        histogram.merge(&totals.histogram);
    }
    let moves = histogram.quantile(Quantile::MEDIAN).map(|median| median.seconds() >= MOVING_MEDIAN_S);
    let says = run.target.rotational.filter(|_| !run.target.caveats.contains(&Caveat::LoopOverFile));
    match (says, moves) {
        (Some(true) | None, Some(moves)) => Some(moves),
        (Some(false), Some(true)) => None,
        (says, _) => says,
    }
}

/// No access of an arm takes so many times as long as half of all do: it takes a full stroke and a whole turn at most, and these are
/// about twice a mean seek and half a turn (mean seeks are 0.49 to 0.56 of the full stroke in the disks that DiskSim 4.0 was
/// validated with).
const ARM_MEDIANS_MAX: f64 = 2.25;

/// The share of single random reads that took longer than any arm does: something else used the drive, or it tried again and again.
/// 0 for drives that do not turn, of which nothing of the kind is known.
pub(crate) fn held_up_share(run: &RunView<'_>) -> f64 {
    if turns(run) != Some(true) {
        return 0.0;
    }
    let single = random_groups(run, Operation::Read).remove(&1).unwrap_or_default();
    let histogram = merged_latencies(&single, Operation::Read);
    let Some(limit) = longest_of_arm(&histogram) else { return 0.0 };
    1.0 - histogram.count_below(limit) as f64 / histogram.count().max(1) as f64
}

/// What the longest access of an arm takes of which these are single reads; none without any.
fn longest_of_arm(single: &LatencyHistogram) -> Option<Nanos> {
    single.quantile(Quantile::MEDIAN).map(|median| Nanos((median.0 as f64 * ARM_MEDIANS_MAX) as u64))
}

/// The share of these reads at random places, in nanoseconds, that took longer than any arm does by what the single random reads of the
/// run took. 0 where that is not known, or the drive does not turn.
pub(crate) fn held_up_share_of(run: &RunView<'_>, reads_ns: &[u64]) -> f64 {
    let single = random_groups(run, Operation::Read).remove(&1).unwrap_or_default();
    let limit = longest_of_arm(&merged_latencies(&single, Operation::Read));
    match limit.filter(|_| turns(run) == Some(true)) {
        Some(limit) => {
            reads_ns.iter().filter(|read_ns| **read_ns > limit.0).count() as f64
                / reads_ns.len().max(1) as f64
        }
        None => 0.0,
    }
}

/// From this share on it is more than a retry now and then.
pub(crate) const HELD_UP_SHARE_MAX: f64 = 0.02;

/// What to say of that.
pub(crate) const NO_TIME: &str = "The drive answered in no time that could be measured, which none does.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_lose_nothing() {
        let slice = |operations| Slice { seconds: 1.0, operations, bytes: 0.0, latency_s: 0.0 };
        let slices: Vec<Slice> = [4.0, 1.0, 7.0, 2.0].into_iter().map(slice).collect();
        let pair = |slice: &Slice| Pair { numerator: slice.seconds, denominator: slice.operations };
        let joined = batches(&slices, 5.0, pair);
        assert_eq!(
            joined,
            [Pair { numerator: 2.0, denominator: 5.0 }, Pair { numerator: 2.0, denominator: 9.0 }]
        );
        assert_eq!(batches(&[], 5.0, pair), [Pair::default()]);
    }
}
