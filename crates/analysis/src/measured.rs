//! What was measured, by what the phases did: sequential visits, random rounds, and the steady part of each.

use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use crate::stats::sample::Sample;
use model::experiment_name::ExperimentName;
use model::finding::{Evidence, InFlight};
use model::histogram::LatencyHistogram;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Quantile};
use model::workload::{Arrival, Caching, Pattern, Workload};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit<'run> {
    pub phase: u32,
    pub summary: &'run PhaseSummary,
    pub workload: &'run Workload,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// Up to the time limit: what is still under way then drains from a queue that is no longer full.
    Timed,
    /// The same without the first slices, up to as many completions as the queue holds: these waited for a seek.
    Steady,
    /// Like `Timed` from when the queue has been gone through once, since the nearest of a fresh queue are served first.
    Settled,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub seconds: f64,
    pub operations: f64,
    pub bytes: f64,
    pub latency_s: f64,
}

impl Slice {
    pub(crate) fn operations_over_seconds(&self) -> Pair {
        Pair { numerator: self.operations, denominator: self.seconds }
    }

    pub(crate) fn bytes_over_seconds(&self) -> Pair {
        Pair { numerator: self.bytes, denominator: self.seconds }
    }

    pub(crate) fn operations_over_latency(&self) -> Pair {
        Pair { numerator: self.operations, denominator: self.latency_s }
    }

    pub(crate) fn latency_over_operations(&self) -> Pair {
        Pair { numerator: self.latency_s, denominator: self.operations }
    }

    pub(crate) fn sum(slices: &[Slice]) -> Slice {
        let mut sum = Slice::default();
        for slice in slices {
            sum.seconds += slice.seconds;
            sum.operations += slice.operations;
            sum.bytes += slice.bytes;
            sum.latency_s += slice.latency_s;
        }
        sum
    }
}

pub(crate) fn is_measurement(summary: &PhaseSummary) -> bool {
    summary.phase.kind == PhaseKind::Measure
        && summary.phase.workload.is_some()
        && !matches!(summary.stopped, Some(StopReason::DeviceGone | StopReason::Errors))
}

pub(crate) fn measurements<'run>(run: &RunView<'run>) -> impl Iterator<Item = &'run PhaseSummary> {
    run.phases.iter().filter(|summary| is_measurement(summary))
}

/// All closed-loop measured phases of `operation` alone, with one block size, whose pattern is `wanted`.
fn visits<'run>(
    run: &RunView<'run>,
    operation: Operation,
    wanted: fn(&Pattern) -> bool,
) -> impl Iterator<Item = Visit<'run>> {
    (0..).zip(run.phases).filter_map(move |(phase, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        let fits = summary.phase.kind == PhaseKind::Measure
            && !NO_SURVEYS.contains(&summary.phase.experiment)
            && wanted(&workload.pattern)
            && workload.mix.operations() == [operation]
            && workload.arrival == Arrival::ClosedLoop
            && workload.block_sizes.single().is_some();
        fits.then_some(Visit { phase, summary, workload })
    })
}

/// The sequential phases of `operation`. Of several block sizes and depths, those that were visited most often, since
/// only they were spread over the range; of equally many, the largest blocks.
pub(crate) fn sequential_visits<'run>(run: &RunView<'run>, operation: Operation) -> Vec<Visit<'run>> {
    let mut groups: BTreeMap<(Bytes, u64), Vec<Visit<'run>>> = BTreeMap::new();
    for visit in visits(run, operation, is_sequential) {
        let shape = (visit.workload.block_sizes.largest(), visit.workload.in_flight_max());
        groups.entry(shape).or_default().push(visit);
    }
    let most = groups.into_iter().max_by_key(|(shape, visits)| (visits.len(), *shape));
    most.unwrap_or_default().1
}

fn is_sequential(pattern: &Pattern) -> bool {
    *pattern == Pattern::Sequential
}

fn is_random(pattern: &Pattern) -> bool {
    pattern.is_random() == Some(true)
}

/// The experiment that surveys the surface. Who made the phases tells whether a question was asked.
const SURVEY: ExperimentName = ExperimentName::Surface;
/// Experiments that vary what changes rates, and have findings of their own: they are no samples of how fast places are.
const NO_SURVEYS: [ExperimentName; 3] =
    [ExperimentName::Valleys, ExperimentName::Sizes, crate::stated::EXPERIMENT];
pub(crate) const EXPERIMENT_ACCESS: ExperimentName = ExperimentName::Access;

fn survey_phases<'run>(
    run: &RunView<'run>,
    operation: Operation,
) -> impl Iterator<Item = (u32, &'run PhaseSummary)> {
    let phases = (0u32..).zip(run.phases);
    phases.filter(move |(_, summary)| is_survey(summary, operation))
}

fn is_survey(summary: &PhaseSummary, operation: Operation) -> bool {
    let Some(workload) = &summary.phase.workload else { return false };
    summary.phase.experiment == SURVEY
        && summary.phase.kind == PhaseKind::Measure
        && workload.pattern == Pattern::Sequential
        && workload.mix.operations() == [operation]
}

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
    let last = if let Some((_, last)) = phases.last() { last } else { first };
    let seconds = last.end_ns().saturating_sub(first.start_ns) as f64 / 1e9;
    vec![Evidence { phase, start_s: first.start_ns as f64 / 1e9, seconds }]
}

/// Seconds of each request that may be the host's and not the drive's, on average over these phases: its processors were late, by the
/// kernel's accounting, and the engine takes time of its own. At most, since a worker also waits while no request does.
pub(crate) fn host_delay_s<'run>(
    run: &RunView<'_>,
    phases: impl IntoIterator<Item = &'run PhaseSummary>,
) -> f64 {
    let (mut waited_ns, mut operations) = (0, 0);
    for summary in phases {
        waited_ns += summary.processor_wait_ns;
        operations += summary.operations();
    }
    let own_ns = run.environment.own_cost_ns_per_io.unwrap_or_default();
    (waited_ns as f64 / operations.max(1) as f64 + own_ns) / 1e9
}

/// The random phases of `operation`, of whatever range, block size and number at a time.
pub(crate) fn random_visits<'run>(run: &RunView<'run>, operation: Operation) -> Vec<Visit<'run>> {
    let mut direct: Vec<Visit<'run>> = visits(run, operation, is_random).collect();
    direct.retain(|visit| visit.workload.caching == Caching::Direct);
    // Where the page cache cannot be passed by, all phases go through it, and that is what there is.
    if direct.is_empty() { visits(run, operation, is_random).collect() } else { direct }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Depth,
    Threads,
}

impl Axis {
    fn holds(self, visit: &Visit<'_>) -> bool {
        match self {
            Axis::Depth => visit.workload.threads == 1,
            Axis::Threads => visit.workload.queue_depth == 1,
        }
    }

    pub(crate) fn in_flight(self, count: u64) -> InFlight {
        match self {
            Axis::Depth => InFlight::Depth(count),
            Axis::Threads => InFlight::Threads(count),
        }
    }
}

/// The axes along which random phases of `operation` go; none of them when all are one at a time.
pub(crate) fn axes(run: &RunView<'_>, operation: Operation) -> Vec<Axis> {
    let visits = random_visits(run, operation);
    let mut axes = Vec::new();
    for axis in [Axis::Depth, Axis::Threads] {
        if visits.iter().any(|visit| visit.workload.in_flight_max() > 1 && axis.holds(visit)) {
            axes.push(axis);
        }
    }
    axes
}

/// The random phases of `operation` by requests under way: by queue depth, or by threads where only these vary.
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
    let best = shapes
        .into_iter()
        .min_by_key(|((widest, block, first), groups)| (*widest, Reverse(groups.len()), *block, *first));
    best.unwrap_or_default().1
}

pub(crate) fn merged_latencies(visits: &[Visit<'_>], operation: Operation) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    for visit in visits {
        let Some(totals) = visit.summary.totals_of(operation) else { continue };
        histogram.merge(&totals.histogram);
    }
    histogram
}

fn span(visits: &[Visit<'_>]) -> Option<ByteRange> {
    let first = visits.iter().map(|visit| visit.workload.range.first()).min()?;
    let end = visits.iter().map(|visit| visit.workload.range.end()).max()?;
    ByteRange::new(first, end - first)
}

/// The stretch that a pass of these visits is about: what all measurements of the run cover together, if the visits are
/// spread over at least nine tenths of it. Visits begin at random places, so the first begins somewhat after the start.
pub(crate) fn extent(run: &RunView<'_>, visits: &[Visit<'_>]) -> Option<ByteRange> {
    let visited = span(visits)?;
    let mut all: Vec<Visit<'_>> = Vec::new();
    for (phase, summary) in (0..).zip(run.phases) {
        if let Some(workload) = &summary.phase.workload
            && is_measurement(summary)
        {
            all.push(Visit { phase, summary, workload });
        }
    }
    let all = span(&all).unwrap_or(visited);
    let is_spread = visited.bytes().as_f64() >= 0.9 * all.bytes().as_f64();
    Some(if is_spread { all } else { visited })
}

/// Of eight requests at QD 4 that complete in turn, the first takes 0.31 of the mean latency; of eight that complete together, all of it; half of
/// it where they share a link, which by then has carried parts of the others.
const IN_TURN_SHARE: f64 = 0.45;
/// How exactly the latencies of the first requests rise, as a share of what most take, where each waits for one more than the last.
const RAMP_TOLERANCE: f64 = 0.1;

/// Whether requests that are under way together are done one after the other, by their latencies: then the first is the earliest by far;
/// or, where it takes long to get to a place, one waited for all others of the first fill, and all later ones take equally long.
fn is_done_in_turn(histogram: &LatencyHistogram, in_flight: u64) -> bool {
    if in_flight <= 1 {
        return true;
    }
    let quantiles = (histogram.quantile(Quantile::MEDIAN), histogram.quantile(Quantile::P90));
    let (Some(least), Some(most), Some(mean)) = (histogram.min(), histogram.max(), histogram.mean_ns())
    else {
        return false;
    };
    let (Some(median), Some(upper)) = quantiles else { return false };
    let (least, median) = (least.as_f64(), median.as_f64());
    let ramp = (most.as_f64() - least) / median - (1.0 - 1.0 / in_flight as f64);
    let is_even = upper.as_f64() <= (1.0 + RAMP_TOLERANCE) * median;
    least < IN_TURN_SHARE * mean || is_even && ramp.abs() <= RAMP_TOLERANCE
}

impl<'run> Visit<'run> {
    pub(crate) fn contains(&self, time_ns: &Range<u64>) -> bool {
        self.summary.start_ns <= time_ns.start && time_ns.end <= self.summary.end_ns()
    }

    pub(crate) fn summary(&self) -> &'run PhaseSummary {
        self.summary
    }

    /// Whether the requests of this visit that were under way together were done one after the other.
    pub(crate) fn is_in_turn(&self, operation: Operation) -> bool {
        let totals = self.summary.totals_of(operation);
        matches!(totals, Some(totals) if is_done_in_turn(&totals.histogram, self.workload.in_flight_max()))
    }

    pub(crate) fn slices(&self, run: &RunView<'_>, operation: Operation, part: Part) -> Vec<Slice> {
        let end_ns = match self.summary.phase.stop.time {
            Some(limit) if part != Part::Whole => self.summary.start_ns.saturating_add(limit.get()),
            _ => u64::MAX,
        };
        // The last slice is recorded with its full length; the phase may have ended within it.
        let ended_ns = self.summary.ended_ns().unwrap_or(u64::MAX);
        let mut to_fill = if part == Part::Steady { self.workload.in_flight_max() } else { 0 };
        let mut slices = Vec::new();
        for record in run.slices(self.phase, operation) {
            if record.end_ns() > end_ns {
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
                latency_s: match record.latency {
                    Some(latency) => latency.mean_ns * record.operations as f64 / 1e9,
                    None => 0.0,
                },
            });
        }
        if part == Part::Settled {
            slices.drain(..first_through(&slices, self.workload.in_flight_max()));
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

    /// What it took in seconds besides its bytes, to get to the place. None when too few requests followed the first.
    pub(crate) fn start_s(&self, operation: Operation) -> Option<f64> {
        let s_per_byte = self.summary.totals_of(operation)?.seconds_per_byte()?;
        let whole_s = self.summary.duration_ns as f64 / 1e9;
        Some((whole_s - s_per_byte * self.summary.bytes() as f64).max(0.0))
    }

    pub(crate) fn error_share(&self) -> f64 {
        let (errors, operations) = (self.summary.errors() as f64, self.summary.operations() as f64);
        if errors == 0.0 { 0.0 } else { errors / (errors + operations) }
    }

    pub(crate) fn evidence(&self) -> Evidence {
        self.summary.evidence(self.phase)
    }
}

/// The mean of single random reads in seconds; without any, what sequential reads take to get to their places. 0 when there were none.
pub(crate) fn single_access_s(run: &RunView<'_>) -> f64 {
    match single_reads(run).mean_ns() {
        Some(mean_ns) => mean_ns / 1e9,
        None => {
            let visits = sequential_visits(run, Operation::Read);
            let starts = visits.iter().filter_map(|visit| visit.start_s(Operation::Read));
            Sample::median_or_zero(starts.collect())
        }
    }
}

pub(crate) fn single_reads(run: &RunView<'_>) -> LatencyHistogram {
    let single = random_groups(run, Operation::Read).remove(&1).unwrap_or_default();
    merged_latencies(&single, Operation::Read)
}

pub(crate) fn phases_where(run: &RunView<'_>, is_wanted: fn(&PhaseSummary) -> bool) -> Vec<u32> {
    let mut phases = Vec::new();
    for (phase, summary) in (0..).zip(run.phases) {
        if is_wanted(summary) {
            phases.push(phase);
        }
    }
    phases
}

pub(crate) fn evidence_of_phases(run: &RunView<'_>, phases: &[u32]) -> Vec<Evidence> {
    phases.iter().filter_map(|&phase| Some(run.phases.get(phase as usize)?.evidence(phase))).collect()
}

pub(crate) fn evidence_of<'visit, 'run: 'visit>(
    visits: impl IntoIterator<Item = &'visit Visit<'run>>,
) -> Vec<Evidence> {
    visits.into_iter().map(Visit::evidence).collect()
}

/// How many slices end before the queue has been gone through once, at the rate of what follows (Little's law); half of all at most.
fn first_through(slices: &[Slice], in_flight: u64) -> usize {
    let (mut seconds, mut operations) = (0.0, 0.0);
    for slice in slices {
        seconds += slice.seconds;
        operations += slice.operations;
    }
    let mut passed_s = 0.0;
    for (number, slice) in slices.iter().enumerate() {
        passed_s += slice.seconds;
        seconds -= slice.seconds;
        operations -= slice.operations;
        if passed_s * operations > in_flight as f64 * seconds || 2 * (number + 1) > slices.len() {
            return number;
        }
    }
    0
}

/// Joins slices that follow each other into batches of `operations_min` requests; the last takes the rest.
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
    let mut ratios = Vec::new();
    for visit in visits {
        let batches = batches(&visit.slices(run, operation, part), batch_operations, &pair);
        ratios.extend(ratio_of_sums(&batches));
    }
    ratios
}

/// A system call and a copy of 4 KiB take about this long: no answer through a kernel comes sooner, in seconds.
const ANSWER_S_MIN: f64 = 1e-6;

/// Whether the answers came in no time that could be measured: sooner than any kernel answers as many requests as
/// are under way, or in less than twice what these cost this tool itself. A drive that does nothing answers so.
pub(crate) fn in_no_time(run: &RunView<'_>, visits: &[Visit<'_>]) -> bool {
    phases_in_no_time(run, visits.iter().map(Visit::summary))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(latencies_ns: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::small();
        latencies_ns.iter().for_each(|latency_ns| histogram.record(*latency_ns));
        histogram
    }

    /// 64 reads of 1 MiB, four at a time, of an NVMe drive that carries one in 197 µs and begins after 371 µs: the first takes 0.72 of
    /// what all take on average, and with its time the drive was said to be 2.6 % slower.
    #[test]
    fn a_late_start_is_no_sign_of_requests_done_together() {
        let mut latencies_ns = vec![568_371, 765_300, 962_200, 1_159_131];
        latencies_ns.extend([788_479; 60]);
        assert!(is_done_in_turn(&histogram(&latencies_ns), 4));
        // Four that are done together, by a drive that takes 788 µs for each of them, now and then a little more.
        let mut latencies_ns = vec![788_479; 60];
        latencies_ns.extend([791_000, 800_000, 810_000, 830_000]);
        assert!(!is_done_in_turn(&histogram(&latencies_ns), 4));
        assert!(is_done_in_turn(&histogram(&latencies_ns), 1), "one at a time");
    }

    /// Eight reads of 1 MiB from a network volume whose link of 116 MB/s carries their parts as they come: "129 MB/s (120 to 141)".
    #[test]
    fn parts_that_share_a_link_are_not_done_in_turn() {
        let milliseconds = [18, 24, 30, 36, 38, 37, 36, 35];
        assert!(!is_done_in_turn(&histogram(&milliseconds.map(|latency| latency * 1_000_000)), 4));
        let in_turn = [9, 18, 27, 36, 36, 36, 36, 36];
        assert!(is_done_in_turn(&histogram(&in_turn.map(|latency| latency * 1_000_000)), 4));
    }

    /// QD 100 on two disks that each serve their nearest first: 270 IOPS, and 390 until the first hundred are through; and on a cache over a
    /// disk, which answers most of the first hundred at once.
    #[test]
    fn a_queue_is_gone_through_once_before_it_counts() {
        let slices = |operations: &[f64]| -> Vec<Slice> {
            let slice = |&operations| Slice { seconds: 0.1, operations, ..Slice::default() };
            operations.iter().map(slice).collect()
        };
        assert_eq!(
            first_through(&slices(&[39.0, 39.0, 39.0, 33.0, 27.0, 27.0, 27.0, 27.0, 27.0, 27.0]), 100),
            3
        );
        assert_eq!(
            first_through(&slices(&[900.0, 60.0, 40.0, 30.0, 29.0, 28.0, 28.0, 28.0, 28.0, 28.0]), 100),
            3
        );
        assert_eq!(first_through(&slices(&[27.0; 6]), 100), 3, "too short: half of it");
        assert_eq!(first_through(&slices(&[27.0; 6]), 1), 0, "a third of a slice");
        assert_eq!(first_through(&[], 100), 0);
    }

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
