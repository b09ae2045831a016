//! The sequential rate at the start, at the end, and over a full pass.
//!
//! # What it finds
//! Bytes per second of sequential reads or writes at the first and the last place of the measured range, and its size
//! over the time of a full pass. On a disk the start is the outer edge.
//! # Why it matters
//! A disk is about twice as fast outside as inside, so a rate without a place says little, and the mean of rates over
//! places is not the rate of a pass: what takes longest counts most.
//! # How
//! The time per byte of each visit, after its queue has filled: in a closed loop each latency is the time between two
//! completions of one slot, so that the sum of latencies over the depth is the time the bytes took, free of the error
//! of cutting time into slices (Little 1961). Where slots were idle between requests, for the host was slow, the two
//! differ by more than that error, and elapsed time is taken: where requests are done in turn, from the first completion to the last. The mean over the range is stratified over random places;
//! its reciprocal is the rate of a pass. Other load and a rate that wanders make visits alike that follow each other;
//! that widens the interval (see `stats::dependent`). At the ends it is the mean of the repeated visits there.
//! A survey of the surface makes hundreds of short visits instead: there a visit's time is that from its first request to its last,
//! the edges are the first and the last hundredth, and the mean is that of cells weighted by their widths: see `surface`.
//! A write ends when it is lasting: a visit whose flush takes longer than getting there and back counts as a whole, with the time of the
//! flush and without that of one access.
//! Figures that another program stated are taken at their places: see `stated`.
//! # Cannot tell when
//! Too few visits, all of them with errors or too short to fill the queue; answers in no time. Of a survey also when somebody else's
//! requests fell into most visits.
//! # Known problems
//! Visits with errors are left out, so errors that cluster in slow places make the mean too high. Surfaces of a disk that differ by a few
//! percent show as spread within a stratum, and widen the interval; at an edge, visits that begin at the same place see the same surface, and the
//! interval holds that surface's rate only. A
//! shingled disk that is written in visits tidies up after each, so that a whole pass is up to twice as fast as they are. Four visits to an edge are too few for a load that stays for seconds.
//! # References
//! Cochran, "Sampling Techniques", 3rd ed., chapters 5 and 6; Little, "A proof for the queuing formula L = λW", 1961.

use super::interface_limit;
use super::stated;
use super::trust::{Subject, covers};
use super::wording::{number, plural, rate, size};
use super::zones::{hidden_by_load, while_loaded};
use super::{Detector, Need};
use crate::measured::{
    NO_TIME, Part, Slice, Visit, batches, evidence_of, extent, in_no_time, is_measurement, is_surveyed,
    places, sequential_visits, single_access_s, survey_evidence, turns,
};
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use crate::stats::sample::Sample;
use crate::stats::stratified::{Stratum, finest_strata, stratified_mean, with_borders};
use crate::surface::SurfaceMap;
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;

/// See the head of this file.
pub(super) struct SequentialRate {
    operation: Operation,
    need: &'static [Need],
    /// Start, end, mean.
    codes: &'static [FindingCode; 3],
}

/// The rates of reads.
pub(super) const READ: SequentialRate = SequentialRate {
    operation: Operation::Read,
    need: &[Need::Sequential(Operation::Read), Need::Asked(crate::stated::EXPERIMENT)],
    codes: &[FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean],
};

/// The rates of writes.
pub(super) const WRITE: SequentialRate = SequentialRate {
    operation: Operation::Write,
    need: &[Need::Sequential(Operation::Write), Need::Asked(crate::stated::EXPERIMENT)],
    codes: &[FindingCode::WriteRateOuter, FindingCode::WriteRateInner, FindingCode::WriteRateMean],
};

/// Fewer strata than this leave too much to chance.
const STRATA_MIN: usize = 4;
/// Requests in a batch for each slot of the queue: the latencies of requests that share the queue overlap.
const BATCH_PER_SLOT: f64 = 3.0;
/// Fills of the queue that a visit too short for slices must have completed: the one access before them is then no more
/// than a sixteenth of an access for each, and fast drives, which alone are so quick, have short ones.
const FILLS_MIN: f64 = 16.0;
/// Fewer requests, of which four follow the first, show a rate only roughly.
const IN_TURN_OPERATIONS_MIN: u64 = 5;
/// With four under way that are done in turn, the first takes a quarter of the time of most; done together, all of it.
const IN_TURN_SHARE: f64 = 0.6;
/// Idle slots of less than this share of the time make a smaller error than cutting the time of a slow drive's visits
/// does; what they may amount to widens the interval.
const IDLE_SHARE_MAX: f64 = 0.002;
/// The standard deviation of the difference of two uniform edges, as a share of one request: √(1/6).
const EDGE_SD: f64 = 0.408_248_290_463_863;

/// What visits cannot tell of a write cache that is larger than they are, nor of a shingled disk.
const LONGER_WRITES: &str =
    "Expect less of longer writes: a drive may be slower once a cache of its own is full.";

/// The sequential visits of a run that can be used, and how their time is taken.
struct Pass<'run> {
    span: ByteRange,
    /// How long a visit is that is one of many spread over the range: the largest but for a few that lie oddly.
    usual_bytes: u64,
    visits: Vec<Timed<'run>>,
    time: Time,
    /// By what share of it latencies and elapsed time differ for an unknown reason.
    unexplained: f64,
}

struct Timed<'run> {
    visit: Visit<'run>,
    slices: Vec<Slice>,
    /// Whether there were too few slices to leave out those in which the queue filled.
    whole: bool,
    /// The time of each byte from the first completion to the last, where requests are done in turn: slices of 40 ms cut requests that
    /// take as long, and of a visit with few of them that is several percent.
    in_turn_s_per_byte: Option<f64>,
    /// What it takes to get to a place of the drive, as far as the run tells.
    access_s: f64,
}

/// What a visit's time is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    /// The sum of latencies over the depth.
    Latency,
    /// What the clock says.
    Elapsed,
}

/// The mean time per byte of a full pass.
pub(super) struct PassMean {
    /// Seconds per byte.
    pub seconds_per_byte: Estimate,
    /// What the pass covers.
    pub span: ByteRange,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How much was read or written at a time, at most.
    pub bytes_at_a_time: u64,
    /// A sentence to add to what is said of it, or nothing.
    pub remark: &'static str,
}

impl Detector for SequentialRate {
    fn codes(&self) -> &'static [FindingCode] {
        self.codes
    }

    fn needs(&self) -> &'static [Need] {
        self.need
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) {
            return stated::rates(run, self.operation, self.codes);
        }
        let [outer, inner, mean] = *self.codes;
        if is_surveyed(run, self.operation) {
            return self.surveyed(run);
        }
        match Pass::of(run, self.operation) {
            Err(why) => self.codes.iter().map(|&code| Finding::unknown(code, why.clone())).collect(),
            Ok(pass) => vec![
                self.at_edge(run, &pass, outer, true),
                self.at_edge(run, &pass, inner, false),
                self.over_all(run, &pass, mean),
            ],
        }
    }
}

impl SequentialRate {
    fn at_edge(&self, run: &RunView<'_>, pass: &Pass<'_>, code: FindingCode, start: bool) -> Finding {
        let visits: Vec<&Timed<'_>> = pass.edge_visits(start).collect();
        let subject = Subject::of(run);
        let place = subject.place(start, covers(run, pass.span));
        match pass.mean_at(&visits) {
            None => Finding::unknown(code, format!("Fewer than two usable visits {place}. Measure again.")),
            Some(seconds_per_byte) => match as_rate(&seconds_per_byte) {
                None => Finding::unknown(code, TOO_UNCERTAIN),
                Some(estimate) => {
                    let speed = rate(estimate.value);
                    let statement = format!("{} run at {speed} {place}.", plural(self.operation));
                    let evidence = evidence_of(visits.iter().map(|timed| &timed.visit));
                    subject.qualify(Finding::number(code, estimate, "B/s", statement, evidence))
                }
            },
        }
    }

    fn over_all(&self, run: &RunView<'_>, pass: &Pass<'_>, code: FindingCode) -> Finding {
        match pass.mean() {
            Ok(mean) => self.of_pass(run, &mean, code),
            Err(why) => Finding::unknown(code, why),
        }
    }

    fn of_pass(&self, run: &RunView<'_>, mean: &PassMean, code: FindingCode) -> Finding {
        let Some(estimate) = as_rate(&mean.seconds_per_byte) else {
            return Finding::unknown(code, TOO_UNCERTAIN);
        };
        let subject = Subject::of(run);
        let statement = format!(
            "{} run at {} on average over {}",
            plural(self.operation),
            rate(estimate.value),
            subject.extent(run, mean.span)
        ) + &self.burst(mean.bytes_at_a_time)
            + mean.remark;
        let finding = Finding::number(code, estimate, "B/s", statement, mean.evidence.clone());
        subject.qualify(match self.operation {
            Operation::Write => finding.with_advice(LONGER_WRITES),
            _ => finding,
        })
    }
}

impl SequentialRate {
    /// The end of the sentence: what is known of writes is how fast bursts of them are.
    fn burst(&self, bytes_at_a_time: u64) -> String {
        match self.operation {
            Operation::Write => format!(", {} at a time.", Bytes(bytes_at_a_time)),
            _ => ".".into(),
        }
    }

    /// From the map of a survey: hundreds of short visits, of which many lie at the edges.
    fn surveyed(&self, run: &RunView<'_>) -> Vec<Finding> {
        let [outer, inner, mean] = *self.codes;
        let map = match SurfaceMap::of(run, self.operation) {
            Ok(map) => map,
            Err(why) => return self.codes.iter().map(|&code| Finding::unknown(code, why.clone())).collect(),
        };
        let over_all = match surveyed_mean(run, &map, self.operation) {
            Ok(pass) => self.of_pass(run, &pass, mean),
            Err(why) => Finding::unknown(mean, why),
        };
        vec![
            self.surveyed_edge(run, &map, outer, true),
            self.surveyed_edge(run, &map, inner, false),
            over_all,
        ]
    }

    fn surveyed_edge(&self, run: &RunView<'_>, map: &SurfaceMap, code: FindingCode, start: bool) -> Finding {
        let subject = Subject::of(run);
        let place = subject.place(start, covers(run, map.range));
        let Some(edge) = map.edge(start) else {
            return Finding::unknown(
                code,
                format!("Fewer than eight usable visits {place}. Measure longer."),
            );
        };
        let place = if edge.range.bytes().0 > map.range.bytes().0 / 50 {
            let which = if start { "first" } else { "last" };
            format!("in the {which} {} of the {}", size(edge.range.bytes().0), subject.noun)
        } else {
            place
        };
        if let Some(why) = hidden_by_load(map, edge.seconds_per_byte.value) {
            return Finding::unknown(code, why);
        }
        let Some(estimate) = as_rate(&edge.seconds_per_byte) else {
            return Finding::unknown(code, TOO_UNCERTAIN);
        };
        let statement = format!("{} run at {} {place}.", plural(self.operation), rate(estimate.value))
            + while_loaded(map);
        let evidence = survey_evidence(run, self.operation);
        let finding = Finding::number(code, estimate, "B/s", statement, evidence)
            .with_data("places", places([edge.range]));
        let is_outer_read = start && self.operation == Operation::Read;
        let needs_no_more = is_outer_read && turns(run) == Some(true) && !interface_limit::limits(run, map);
        subject.qualify(if needs_no_more { with_line_rate(finding, estimate.value) } else { finding })
    }
}

/// Bits on a line with 8b/10b coding for each byte: SATA up to 6 Gbit/s, USB 5 Gbit/s.
const LINE_BITS_PER_BYTE: f64 = 10.0;
/// Rates of SATA ports in Gbit/s, and what of their bits after coding is data: see `interface_limit`.
const PORTS_GBIT: [f64; 3] = [1.5, 3.0, 6.0];
const PORT_DATA_SHARE: f64 = 0.93;

/// What the fastest part of a disk asks of a port, and the slowest port that carries it.
fn with_line_rate(finding: Finding, bytes_per_second: f64) -> Finding {
    let gigabits = bytes_per_second * LINE_BITS_PER_BYTE / 1e9;
    let finding = finding.with_data("line_gigabits_per_second", Datum::Number(gigabits));
    match PORTS_GBIT.into_iter().find(|port| gigabits <= port * PORT_DATA_SHARE) {
        Some(port) => finding.with_advice(format!(
            "{} is {} Gbit/s on the line, with 8b/10b coding: a SATA port of {port:.1} Gbit/s is enough.",
            rate(bytes_per_second),
            number(gigabits)
        )),
        None => finding,
    }
}

/// The mean of a pass by the map.
fn surveyed_mean(run: &RunView<'_>, map: &SurfaceMap, operation: Operation) -> Result<PassMean, String> {
    let seconds_per_byte = map.seconds_per_byte().ok_or_else(|| {
        format!("{} usable visits are too few for the mean. Measure longer.", map.visits.len())
    })?;
    if let Some(why) = hidden_by_load(map, seconds_per_byte.value) {
        return Err(why);
    }
    Ok(PassMean {
        seconds_per_byte,
        span: map.range,
        evidence: survey_evidence(run, operation),
        bytes_at_a_time: map.visits.iter().map(|visit| visit.bytes).max().unwrap_or(0),
        remark: while_loaded(map),
    })
}

/// The mean time per byte of a full pass of `operation`, or why it is not known.
pub(super) fn pass_mean(run: &RunView<'_>, operation: Operation) -> Result<PassMean, String> {
    if is_surveyed(run, operation) {
        return surveyed_mean(run, &SurfaceMap::of(run, operation)?, operation);
    }
    Pass::of(run, operation)?.mean()
}

/// The upper quartile of the visits' ranges: edges are visited less often than all other places together.
fn usual_bytes(visits: &[Visit<'_>]) -> u64 {
    let mut bytes: Vec<u64> = visits.iter().map(|visit| visit.workload.range.bytes().0).collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() * 3 / 4).copied().unwrap_or(0)
}

const TOO_UNCERTAIN: &str =
    "The visits differ too much to say more than that it is not zero. Measure longer.";

/// None when the interval reaches down to no time at all: then there is no upper bound.
fn as_rate(seconds_per_byte: &Estimate) -> Option<Estimate> {
    (seconds_per_byte.low > 0.0).then(|| seconds_per_byte.map_monotonic(|seconds| 1.0 / seconds))
}

impl<'run> Pass<'run> {
    fn of(run: &RunView<'run>, operation: Operation) -> Result<Pass<'run>, String> {
        let all = sequential_visits(run, operation);
        let span = extent(run, &all).ok_or("Nothing was measured.")?;
        let sound = |visit: &&Visit<'run>| is_measurement(visit.summary) && visit.summary.errors() == 0;
        let sound: Vec<Visit<'run>> = all.iter().filter(sound).copied().collect();
        if sound.is_empty() {
            return Err(format!("All {} visits met errors or were cut short.", all.len()));
        }
        if in_no_time(run, &sound) {
            return Err(NO_TIME.into());
        }
        let access_s = single_access_s(run);
        let timed = |visit| Timed::of(run, visit, operation, access_s);
        let visits: Vec<Timed<'run>> = sound.into_iter().filter_map(timed).collect();
        if visits.is_empty() {
            return Err("Every visit ended before its queue had filled. Measure longer.".into());
        }
        let (time, unexplained) = time_of(&visits);
        Ok(Pass { span, usual_bytes: usual_bytes(&all), visits, time, unexplained })
    }

    /// Visits to the start or to the end, as opposed to those that are spread over the range.
    fn edge_visits(&self, start: bool) -> impl Iterator<Item = &Timed<'run>> {
        self.visits.iter().filter(move |timed| self.is_at_edge(timed, start))
    }

    /// Short visits that lie within the length of a usual one from the edge, but for those that were meant to be longer and
    /// are cut by the end; and visits made again and again to the same stretch there.
    fn is_at_edge(&self, timed: &Timed<'_>, start: bool) -> bool {
        let range = timed.visit.workload.range;
        let usual = self.usual_bytes;
        let near = if start {
            (range.end() - self.span.first()).0 <= usual
        } else {
            (self.span.end() - range.first()).0 <= usual
        };
        let is_cut = range.end() == self.span.end();
        if near && range.bytes().0 <= usual / 2 && !is_cut {
            return true;
        }
        let touches = if start { range.first() == self.span.first() } else { range.end() == self.span.end() };
        let again = || self.visits.iter().filter(|other| other.visit.workload.range == range).count() >= 2;
        touches && range.bytes().0 <= self.span.bytes().0 / 2 && again()
    }

    fn mean_at(&self, visits: &[&Timed<'_>]) -> Option<Estimate> {
        let means: Vec<Mean> = visits.iter().filter_map(|timed| timed.seconds_per_byte(self.time)).collect();
        Some(self.interval(&mean_of_visits(&means)?, visits))
    }

    fn mean(&self) -> Result<PassMean, String> {
        let spread: Vec<&Timed<'run>> = self
            .visits
            .iter()
            .filter(|timed| !self.is_at_edge(timed, true) && !self.is_at_edge(timed, false))
            .collect();
        let place = |timed: &&Timed<'run>| {
            (timed.visit.workload.range.first() - self.span.first()).0 as f64 / self.span.bytes().0 as f64
        };
        let strata = finest_strata(&spread.iter().map(place).collect::<Vec<_>>());
        if strata.len() < STRATA_MIN {
            return Err(format!(
                "{} usable visits do not cover the range twice. Measure longer.",
                spread.len()
            ));
        }
        let weight = 1.0 / strata.len() as f64;
        let places: Vec<Vec<f64>> = strata
            .iter()
            .map(|members| members.iter().map(|&index| place(&spread[index])).collect())
            .collect();
        let stratum = |members: &Vec<usize>| {
            let means = members.iter().filter_map(|&index| {
                let timed = spread[index];
                Some((timed.seconds_per_byte(self.time)?.value, timed.visit.summary.start_ns))
            });
            let (values, times) = means.unzip();
            Sample::new(values).map(|visits| Stratum { weight, visits, times })
        };
        let strata: Vec<Stratum> = strata.iter().filter_map(stratum).collect();
        let mean =
            stratified_mean(&strata).ok_or("A part of the range has no usable visits. Measure longer.")?;
        let mean = with_borders(mean, &strata, &places);
        let summaries = spread.iter().map(|timed| timed.visit.summary);
        Ok(PassMean {
            seconds_per_byte: self.interval(&mean, &spread),
            span: self.span,
            evidence: evidence_of(spread.iter().map(|timed| &timed.visit)),
            bytes_at_a_time: summaries.map(PhaseSummary::bytes).max().unwrap_or(0),
            remark: "",
        })
    }

    /// The interval of Student's t, widened by what the clock does not resolve: a nanosecond for each latency; or, for
    /// elapsed time without any spread, the request that a visit's end cuts.
    fn interval(&self, mean: &Mean, visits: &[&Timed<'_>]) -> Estimate {
        let operations: f64 = visits.iter().map(|timed| timed.operations()).sum();
        let bytes: f64 = visits.iter().map(|timed| timed.bytes()).sum();
        let by_clock = visits.iter().any(|timed| timed.whole);
        let resolution = match if by_clock { Time::Elapsed } else { self.time } {
            Time::Latency => 1e-9 * operations / bytes + self.unexplained * mean.value,
            Time::Elapsed if mean.variance == 0.0 => mean.value * visits.len() as f64 / operations,
            Time::Elapsed => 0.0,
        };
        let estimate = mean.interval(CONFIDENCE);
        Estimate { low: estimate.low - resolution, high: estimate.high + resolution, ..estimate }
    }
}

/// Latencies, if they say that the slots were hardly ever idle: their sum over the depth differs from the time by no
/// more than what cutting at the visits' ends explains, two standard deviations of it, or by [`IDLE_SHARE_MAX`]. With
/// them comes by what share the two differ beyond that.
fn time_of(visits: &[Timed<'_>]) -> (Time, f64) {
    let (mut busy_s, mut elapsed_s, mut edge_variance) = (0.0, 0.0, 0.0);
    for timed in visits.iter().filter(|timed| !timed.whole) {
        let (seconds, operations) = (timed.elapsed_s(), timed.operations());
        busy_s += timed.busy_s();
        elapsed_s += seconds;
        edge_variance += (EDGE_SD * seconds / operations).powi(2);
    }
    let unexplained_s = ((busy_s - elapsed_s).abs() - 2.0 * edge_variance.sqrt()).max(0.0);
    if elapsed_s > 0.0 && unexplained_s <= IDLE_SHARE_MAX * elapsed_s {
        (Time::Latency, unexplained_s / elapsed_s)
    } else {
        (Time::Elapsed, 0.0)
    }
}

/// See [`Timed::in_turn_s_per_byte`]. Done together, the requests under way at the first completion all took part in what came before it, so
/// that leaving that out makes a drive look faster: of one that does not turn, they are done in turn if the first takes much
/// less than most (see `surface::visit`).
fn in_turn_s_per_byte(visit: &Visit<'_>, operation: Operation, turns: bool) -> Option<f64> {
    let totals = visit.summary.totals_of(operation)?;
    let earliest = totals.histogram.min()?.0 as f64;
    let is_in_turn = turns || earliest < IN_TURN_SHARE * totals.histogram.mean_ns()?;
    let is_told = is_in_turn && totals.operations >= IN_TURN_OPERATIONS_MIN;
    totals.seconds_per_byte().filter(|_| is_told)
}

impl<'run> Timed<'run> {
    /// The steady slices; or, of a visit that was over before there were any, all of it. None when that is too short.
    fn of(
        run: &RunView<'run>,
        visit: Visit<'run>,
        operation: Operation,
        access_s: f64,
    ) -> Option<Timed<'run>> {
        let depth = visit.workload.in_flight_max() as f64;
        let slices = |part| visit.slices(run, operation, part);
        let in_turn_s_per_byte = in_turn_s_per_byte(&visit, operation, turns(run) == Some(true));
        let of = |slices, whole| Timed { visit, slices, whole, in_turn_s_per_byte, access_s };
        let (steady, whole) = (of(slices(Part::Steady), false), of(slices(Part::Whole), true));
        let is_whole_usable =
            whole.bytes() > 0.0 && whole.elapsed_s() > 0.0 && whole.operations() >= FILLS_MIN * depth;
        let is_steady_usable = steady.bytes() > 0.0 && steady.operations() >= depth;
        // A fast drive is through with a visit in little more than the slice in which its queue filled: what is left
        // then is a few requests, and the filling is a small part of the whole.
        let is_steady_most = steady.operations() >= whole.operations() / 2.0;
        if is_steady_usable && (is_steady_most || !is_whole_usable) {
            return Some(steady);
        }
        (is_whole_usable || in_turn_s_per_byte.is_some()).then_some(whole)
    }

    fn bytes(&self) -> f64 {
        self.slices.iter().map(|slice| slice.bytes).sum()
    }

    fn operations(&self) -> f64 {
        self.slices.iter().map(|slice| slice.operations).sum()
    }

    fn elapsed_s(&self) -> f64 {
        self.slices.iter().map(|slice| slice.seconds).sum()
    }

    fn busy_s(&self) -> f64 {
        let latency_s: f64 = self.slices.iter().map(|slice| slice.latency_s).sum();
        latency_s / self.visit.workload.in_flight_max() as f64
    }

    fn seconds_per_byte(&self, time: Time) -> Option<Mean> {
        let lasting = self.visit.lasting_s_per_byte(self.access_s);
        if let (true, None, Some(value)) =
            (self.whole || time == Time::Elapsed, lasting, self.in_turn_s_per_byte)
        {
            // How exact it is, only other visits tell.
            return Some(Mean { value, variance: 0.0, degrees_of_freedom: 0.0 });
        }
        let depth = self.visit.workload.in_flight_max() as f64;
        let pair = |slice: &Slice| Pair {
            numerator: if time == Time::Latency && !self.whole {
                slice.latency_s / depth
            } else {
                slice.seconds
            },
            denominator: slice.bytes,
        };
        let mean = ratio_of_sums(&batches(&self.slices, BATCH_PER_SLOT * depth, pair))?;
        Some(Mean { value: lasting.unwrap_or(mean.value), ..mean })
    }
}
