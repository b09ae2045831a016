//! Sequential throughput at the start, at the end, and over a full pass.
//! # What it finds
//! Bytes per second of sequential reads or writes at both ends, and the size over a full pass's time.
//! # Why it matters
//! A disk is about twice as fast at its outer diameter as at its inner one. The mean of rates is not that of a pass: what takes longest counts most.
//! # How
//! The time per byte of each sample, after its queue has filled: in a closed loop the sum of latencies over the depth, free of the error of
//! cutting time (Little 1961). Where slots were idle, for the host was slow, the two differ by more than that error, and elapsed time is taken:
//! where requests are done in turn, from the first completion to the last. The mean over the range is stratified over random offsets; its
//! reciprocal is the rate of a pass. Other load and a drifting rate make samples that follow each other alike; that widens the interval (see
//! `stats::dependent`). A survey takes hundreds of short samples instead: the time of each is that from its first completion to its last, the
//! edges are the first and the last hundredth, and the mean is that of cells weighted by their widths: see `surface`. Where a hundredth of them was held up, the interval reaches up to the rate of the quickest quarter. Pauses in a stream of a disk show other I/O: see `surface::pause`. How the drive streams best
//! is found out first: see `streaming`. Of several disks, what comes before all arms have found their place does not count. A write ends when it is durable: a sample whose flush takes longer than an access there and back counts
//! as a whole, with the time of the flush and without that of one access. Imported figures are taken at their offsets: see `stated`.
//! # Cannot tell when
//! Too few samples, all with errors or too short to fill the queue; completions in no time; other requests in most samples; bursts of
//! writes that take longer than reads at their places, as where an SMR disk rewrites the rest of a band behind each.
//! # Known problems
//! Samples with errors are left out, which may make the mean too high. Surfaces that differ by a few percent widen the interval; at
//! an edge, samples that begin at the same offset see the same surface, and the interval holds that surface's rate only.
//! # References
//! Cochran, "Sampling Techniques", 3rd ed., chapters 5 and 6; Little, "A proof for the queuing formula L = λW", 1961.

use super::detect::{Detector, Need};
use super::interface_limit;
use super::stated;
use super::trust::{covers, doubts};
use super::zones::check_load;
use crate::examined::Examined;
use crate::measured::{
    Part, Slice, Visit, batches, evidence_of, extent, in_no_time, is_measurement, is_surveyed,
    sequential_visits, single_access_s, survey_evidence,
};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::ratio::{Pair, ratio_of_sums};
use crate::stats::sample::Sample;
use crate::stats::stratified::{Stratum, finest_strata, stratified_mean, with_borders};
use crate::streaming::Calibration;
use crate::surface::{Pauses, SurfaceMap};
use model::estimate::Estimate;
use model::finding::{
    Evidence, Finding, FindingCode, Outcome, PORT_DATA_SHARE, RateOf, SequentialRate, Slowed, SurveyUnknown,
};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::Link;
use model::units::Bytes;

pub(super) const READ: Detector = Detector {
    codes: &[FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean],
    needs: &[Need::Sequential(Operation::Read), Need::Asked(crate::stated::EXPERIMENT)],
    detect: reads,
};

pub(super) const WRITE: Detector = Detector {
    codes: &[FindingCode::WriteRateOuter, FindingCode::WriteRateInner, FindingCode::WriteRateMean],
    needs: &[Need::Sequential(Operation::Write), Need::Asked(crate::stated::EXPERIMENT)],
    detect: writes,
};

/// What the rates at the start and at the end, and their mean, become.
pub(super) type RateFindings = [fn(Outcome<SequentialRate>) -> Finding; 3];

/// Fewer strata than this leave too much to chance.
const STRATA_MIN: usize = 4;
/// Requests in a batch for each slot of the queue: the latencies of requests that share the queue overlap.
const BATCH_PER_SLOT: f64 = 3.0;
/// Fills of the queue that a visit too short for slices must have completed: the one access before them is then no more
/// than a sixteenth of an access for each, and fast drives, which alone are so quick, have short ones.
const FILLS_MIN: f64 = 16.0;
/// Fewer requests, of which four follow the first, show a rate only roughly.
const IN_TURN_OPERATIONS_MIN: u64 = 5;
/// Idle slots of less than this share are a smaller error than cutting the time of a slow drive's visits.
const IDLE_SHARE_MAX: f64 = 0.002;
/// The standard deviation of the difference of two uniform edges, as a share of one request: √(1/6).
const EDGE_SD: f64 = 0.408_248_290_463_863;

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
    total: Slice,
    /// Whether there were too few slices to leave out those in which the queue filled.
    whole: bool,
    /// The time of each byte from the first completion to the last, where requests are done in turn: slices of 40 ms would cut them.
    in_turn_s_per_byte: Option<f64>,
    /// What it takes to get to a place of the drive, as far as the run tells.
    access_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    Latency,
    Elapsed,
}

pub(super) struct PassMean {
    pub seconds_per_byte: Estimate,
    pub span: ByteRange,
    pub evidence: Vec<Evidence>,
    sample: Bytes,
    pub slowed: Option<Slowed>,
}

fn reads(run: &Examined<'_>) -> Vec<Finding> {
    found(run, Operation::Read, [Finding::ReadRateOuter, Finding::ReadRateInner, Finding::ReadRateMean])
}

fn writes(run: &Examined<'_>) -> Vec<Finding> {
    found(run, Operation::Write, [Finding::WriteRateOuter, Finding::WriteRateInner, Finding::WriteRateMean])
}

fn found(run: &Examined<'_>, operation: Operation, findings: RateFindings) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::rates(run, operation, findings);
    }
    let rates = if is_surveyed(run, operation) { surveyed(run, operation) } else { sampled(run, operation) };
    let caveats = doubts(run);
    let mut found = Vec::new();
    let reads = operation == Operation::Read;
    let streaming = if reads { Calibration::of(run).found() } else { None };
    for (finding, mut rate) in findings.iter().zip(rates) {
        if let Outcome::Known(known) = &mut rate {
            known.conclusion.streaming = streaming;
        }
        found.push(finding(rate).with_caveats(&caveats));
    }
    found
}

fn sampled(run: &Examined<'_>, operation: Operation) -> [Outcome<SequentialRate>; 3] {
    match Pass::of(run, operation) {
        Err(reason) => all_unknown(reason),
        Ok(pass) => {
            let pauses = run.pauses(operation);
            [
                pass.edge_rate(run, true, &pauses),
                pass.edge_rate(run, false, &pauses),
                pass_rate(pass.mean(&pauses)),
            ]
        }
    }
}

/// A time per byte without other I/O, of which half shows as pauses. Fails where so many samples paused that none tells.
fn without_pauses(seen: Estimate, pauses: &Pauses) -> Result<Estimate, SurveyUnknown> {
    if pauses.are_in_most() {
        return Err(SurveyUnknown::OnlyLoaded { rate: 1.0 / seen.value });
    }
    Ok(Estimate { low: seen.low * (1.0 - 2.0 * pauses.lost_share).max(0.0), ..seen })
}

/// From the map of a survey: hundreds of short samples, of which many lie at the edges.
fn surveyed(run: &Examined<'_>, operation: Operation) -> [Outcome<SequentialRate>; 3] {
    let map = match map_of_passes(run, operation) {
        Ok(map) => map,
        Err(reason) => return all_unknown(reason),
    };
    let evidence = survey_evidence(run, operation);
    [
        Outcome::of(surveyed_edge(run, operation, map, true), evidence.clone()),
        Outcome::of(surveyed_edge(run, operation, map, false), evidence),
        pass_rate(surveyed_mean(run, map, operation)),
    ]
}

/// What the start of a burst costs at most: a mean seek of 18 ms and two revolutions of the slowest disks sold (5400 rpm).
const START_S_MAX: f64 = 0.018 + 2.0 * 60.0 / 5400.0;

/// The map of a survey whose samples are as fast as a pass. None of bursts to one disk that take longer than reads by more than their start,
/// most of it in flushes: a head writes as fast as it reads.
fn map_of_passes<'run>(
    run: &'run Examined<'_>,
    operation: Operation,
) -> Result<&'run SurfaceMap, SurveyUnknown> {
    let map = run.surface(operation)?;
    if operation != Operation::Write || turns(run) != Some(true) {
        return Ok(map);
    }
    // Writes that a cache takes are as fast as those to several disks, so that reads tell how many there are.
    let (Some(writes), Ok(of_reads)) = (map.seconds_per_byte(), run.surface(Operation::Read)) else {
        return Ok(map);
    };
    let Some(reads) = of_reads.seconds_per_byte().filter(|_| !of_reads.several_disks) else { return Ok(map) };
    let visits = sequential_visits(run, operation);
    let flushes = visits.iter().map(|visit| visit.summary().flush_ns() as f64 / 1e9);
    let flush_s = Sample::median_or_zero(flushes.collect());
    let start = START_S_MAX / usual_bytes(&visits).max(1) as f64;
    if flush_s > START_S_MAX && writes.value > reads.high + start {
        let [write, read] = [writes, reads].map(|time| time.value.recip());
        return Err(SurveyUnknown::BurstsRewrite { write, read });
    }
    Ok(map)
}

fn surveyed_edge(
    run: &RunView<'_>,
    operation: Operation,
    map: &SurfaceMap,
    start: bool,
) -> Result<SequentialRate, SurveyUnknown> {
    let (is_whole, may_rotate) = (covers(run, map.range), turns(run) != Some(false));
    let edge = map.edge(start).ok_or(SurveyUnknown::TooFewAtEdge { start, needed: 8 })?;
    check_load(map, edge.seconds_per_byte.value)?;
    let rate = as_rate(edge.seconds_per_byte)?;
    let bytes = edge.range.bytes();
    let is_wide = bytes.get() > map.range.bytes().get() / 50;
    let of = if is_wide { RateOf::EdgeBytes(bytes) } else { RateOf::Edge { is_whole, may_rotate } };
    let mut found = SequentialRate::new(rate, of);
    found.slowed = map.slowed();
    found.places = vec![edge.range];
    let is_outer_read = start && operation == Operation::Read;
    let may_be_sata = run.target.link.as_ref().is_none_or(Link::is_sata);
    if is_outer_read && may_be_sata && turns(run) == Some(true) && !interface_limit::limits(run, map) {
        let gbit = rate.value * LINE_BITS_PER_BYTE / 1e9;
        found.line_gbit = Some(gbit);
        found.port_gbit = PORTS_GBIT.into_iter().find(|port| gbit <= port * PORT_DATA_SHARE);
    }
    Ok(found)
}

/// Bits on a line with 8b/10b coding for each byte: SATA up to 6 Gbit/s, USB 5 Gbit/s.
const LINE_BITS_PER_BYTE: f64 = 10.0;
const PORTS_GBIT: [f64; 3] = [1.5, 3.0, 6.0];

fn all_unknown(reason: SurveyUnknown) -> [Outcome<SequentialRate>; 3] {
    [reason; 3].map(Outcome::Unknown)
}

fn pass_rate(mean: Result<PassMean, SurveyUnknown>) -> Outcome<SequentialRate> {
    let mean = match mean {
        Ok(mean) => mean,
        Err(reason) => return Outcome::Unknown(reason),
    };
    let of = RateOf::Pass { range: mean.span, sample: mean.sample, is_rate_limited: false };
    let mut rate = as_rate(mean.seconds_per_byte).map(|rate| SequentialRate::new(rate, of));
    if let Ok(rate) = &mut rate {
        rate.slowed = mean.slowed;
    }
    Outcome::of(rate, mean.evidence)
}

fn surveyed_mean(
    run: &RunView<'_>,
    map: &SurfaceMap,
    operation: Operation,
) -> Result<PassMean, SurveyUnknown> {
    let usable = map.visits.len();
    let seconds_per_byte = map.seconds_per_byte().ok_or(SurveyUnknown::TooFewSamples { usable })?;
    check_load(map, seconds_per_byte.value)?;
    Ok(PassMean {
        seconds_per_byte,
        span: map.range,
        evidence: survey_evidence(run, operation),
        sample: Bytes::new(map.visits.iter().map(|visit| visit.bytes).max().unwrap_or(0)),
        slowed: map.slowed(),
    })
}

pub(super) fn pass_mean(run: &Examined<'_>, operation: Operation) -> Result<PassMean, SurveyUnknown> {
    if is_surveyed(run, operation) {
        return surveyed_mean(run, map_of_passes(run, operation)?, operation);
    }
    Pass::of(run, operation)?.mean(&run.pauses(operation))
}

/// The upper quartile of the visits' ranges: edges are visited less often than all other places together.
fn usual_bytes(visits: &[Visit<'_>]) -> u64 {
    let mut bytes: Vec<u64> = visits.iter().map(|visit| visit.workload.range.bytes().get()).collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() * 3 / 4).copied().unwrap_or(0)
}

/// Where the interval reaches down to no time at all there is no upper bound.
fn as_rate(seconds_per_byte: Estimate) -> Result<Estimate, SurveyUnknown> {
    if seconds_per_byte.low <= 0.0 {
        return Err(SurveyUnknown::TooImprecise);
    }
    Ok(seconds_per_byte.map_monotonic(f64::recip))
}

impl<'run> Pass<'run> {
    fn of(run: &RunView<'run>, operation: Operation) -> Result<Pass<'run>, SurveyUnknown> {
        let all = sequential_visits(run, operation);
        let span = extent(run, &all).ok_or(SurveyUnknown::NothingMeasured)?;
        let mut sound = all.clone();
        sound.retain(|visit| is_measurement(visit.summary) && visit.summary.errors() == 0);
        if sound.is_empty() {
            return Err(SurveyUnknown::NoneUsable { samples: all.len() });
        }
        if in_no_time(run, &sound) {
            return Err(SurveyUnknown::NoTime);
        }
        let access_s = single_access_s(run);
        let visits: Vec<Timed<'run>> =
            sound.into_iter().filter_map(|visit| Timed::of(run, visit, operation, access_s)).collect();
        if visits.is_empty() {
            return Err(SurveyUnknown::QueueNotFilled);
        }
        let (time, unexplained) = time_of(&visits);
        Ok(Pass { span, usual_bytes: usual_bytes(&all), visits, time, unexplained })
    }

    fn edge_rate(&self, run: &RunView<'_>, start: bool, pauses: &Pauses) -> Outcome<SequentialRate> {
        let samples: Vec<&Timed<'_>> = self.edge_visits(start).collect();
        let rate = self.rate_at(&samples, start, pauses);
        let (is_whole, may_rotate) = (covers(run, self.span), turns(run) != Some(false));
        let rate = rate.map(|rate| SequentialRate {
            slowed: pauses.slowed(),
            ..SequentialRate::new(rate, RateOf::Edge { is_whole, may_rotate })
        });
        Outcome::of(rate, evidence_of(samples.iter().map(|timed| &timed.visit)))
    }

    fn rate_at(
        &self,
        samples: &[&Timed<'_>],
        start: bool,
        pauses: &Pauses,
    ) -> Result<Estimate, SurveyUnknown> {
        let seen = self.mean_at(samples).ok_or(SurveyUnknown::TooFewAtEdge { start, needed: 2 })?;
        as_rate(without_pauses(seen, pauses)?)
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
            (range.end() - self.span.first()).get() <= usual
        } else {
            (self.span.end() - range.first()).get() <= usual
        };
        let is_cut = range.end() == self.span.end();
        if near && range.bytes().get() <= usual / 2 && !is_cut {
            return true;
        }
        let touches = if start { range.first() == self.span.first() } else { range.end() == self.span.end() };
        if !touches || range.bytes().get() > self.span.bytes().get() / 2 {
            return false;
        }
        self.visits.iter().filter(|other| other.visit.workload.range == range).count() >= 2
    }

    fn mean_at(&self, visits: &[&Timed<'_>]) -> Option<Estimate> {
        let means: Vec<Mean> = visits.iter().filter_map(|timed| timed.seconds_per_byte(self.time)).collect();
        Some(self.interval(&mean_of_visits(&means)?, visits))
    }

    fn mean(&self, pauses: &Pauses) -> Result<PassMean, SurveyUnknown> {
        let mut spread: Vec<&Timed<'run>> = self.visits.iter().collect();
        spread.retain(|timed| !self.is_at_edge(timed, true) && !self.is_at_edge(timed, false));
        let offsets: Vec<f64> = spread.iter().map(|timed| self.offset(timed)).collect();
        let members = finest_strata(&offsets);
        if members.len() < STRATA_MIN {
            return Err(SurveyUnknown::TooFewSamples { usable: spread.len() });
        }
        let weight = 1.0 / members.len() as f64;
        let (mut strata, mut places) = (Vec::new(), Vec::new());
        for members in &members {
            places.push(members.iter().map(|&index| offsets[index]).collect());
            let (mut values, mut times) = (Vec::new(), Vec::new());
            for &index in members {
                if let Some(mean) = spread[index].seconds_per_byte(self.time) {
                    values.push(mean.value);
                    times.push(spread[index].visit.summary.start_ns);
                }
            }
            if let Some(visits) = Sample::new(values) {
                strata.push(Stratum { weight, visits, times });
            }
        }
        let mean = stratified_mean(&strata).ok_or(SurveyUnknown::Uncovered)?;
        let mean = with_borders(mean, &strata, &places);
        let summaries = spread.iter().map(|timed| timed.visit.summary);
        Ok(PassMean {
            seconds_per_byte: without_pauses(self.interval(&mean, &spread), pauses)?,
            span: self.span,
            evidence: evidence_of(spread.iter().map(|timed| &timed.visit)),
            sample: Bytes::new(summaries.map(PhaseSummary::bytes).max().unwrap_or(0)),
            slowed: pauses.slowed(),
        })
    }

    fn offset(&self, timed: &Timed<'_>) -> f64 {
        (timed.visit.workload.range.first() - self.span.first()).as_f64() / self.span.bytes().as_f64()
    }

    /// The interval of Student's t, widened by what the clock does not resolve: a nanosecond for each latency; or, for
    /// elapsed time without any spread, the request that a visit's end cuts.
    fn interval(&self, mean: &Mean, visits: &[&Timed<'_>]) -> Estimate {
        let (mut operations, mut bytes, mut by_clock) = (0.0, 0.0, false);
        for timed in visits {
            operations += timed.total.operations;
            bytes += timed.total.bytes;
            by_clock |= timed.whole;
        }
        let resolution = match if by_clock { Time::Elapsed } else { self.time } {
            Time::Latency => 1e-9 * operations / bytes + self.unexplained * mean.value,
            Time::Elapsed if mean.variance == 0.0 => mean.value * visits.len() as f64 / operations,
            Time::Elapsed => 0.0,
        };
        let estimate = mean.interval(CONFIDENCE);
        Estimate { low: estimate.low - resolution, high: estimate.high + resolution, ..estimate }
    }
}

/// Latencies, if they say that the slots were hardly ever idle: their sum over the depth differs from the time by no more than two standard
/// deviations of what cutting at the visits' ends explains, or [`IDLE_SHARE_MAX`]. And how much it is beyond that.
fn time_of(visits: &[Timed<'_>]) -> (Time, f64) {
    let (mut busy_s, mut elapsed_s, mut edge_variance) = (0.0, 0.0, 0.0);
    for timed in visits {
        if timed.whole {
            continue;
        }
        let (seconds, operations) = (timed.total.seconds, timed.total.operations);
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
/// that leaving that out makes a drive look faster (see `Visit::is_in_turn`).
fn in_turn_s_per_byte(visit: &Visit<'_>, operation: Operation, turns: bool) -> Option<f64> {
    let totals = visit.summary.totals_of(operation)?;
    let is_told = (turns || visit.is_in_turn(operation)) && totals.operations >= IN_TURN_OPERATIONS_MIN;
    if is_told { totals.seconds_per_byte() } else { None }
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
        let in_turn_s_per_byte = in_turn_s_per_byte(&visit, operation, turns(run) == Some(true));
        let [steady, whole] = [Part::Steady, Part::Whole].map(|part| {
            let slices = visit.slices(run, operation, part);
            let total = Slice::sum(&slices);
            Timed { visit, slices, total, whole: part == Part::Whole, in_turn_s_per_byte, access_s }
        });
        let is_whole_usable = whole.total.bytes > 0.0
            && whole.total.seconds > 0.0
            && whole.total.operations >= FILLS_MIN * depth;
        let is_steady_usable = steady.total.bytes > 0.0 && steady.total.operations >= depth;
        // A fast drive is through with a visit in little more than the slice in which its queue filled.
        let is_steady_most = steady.total.operations >= whole.total.operations / 2.0;
        if is_steady_usable && (is_steady_most || !is_whole_usable) {
            return Some(steady);
        }
        (is_whole_usable || in_turn_s_per_byte.is_some()).then_some(whole)
    }

    fn busy_s(&self) -> f64 {
        self.total.latency_s / self.visit.workload.in_flight_max() as f64
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
        let by_latency = time == Time::Latency && !self.whole;
        let pair = |slice: &Slice| Pair {
            numerator: if by_latency { slice.latency_s / depth } else { slice.seconds },
            denominator: slice.bytes,
        };
        let mean = ratio_of_sums(&batches(&self.slices, BATCH_PER_SLOT * depth, pair))?;
        Some(Mean { value: lasting.unwrap_or(mean.value), ..mean })
    }
}
