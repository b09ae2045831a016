//! Requests per second by the number of requests at a time, each point with its rounds.

use crate::examined::Examined;
use crate::measured::{
    Axis, Part, Slice, Visit, axes, in_no_time, is_measurement, merged_latencies, random_groups_along,
    round_ratios,
};
use crate::moving_parts::do_some_reads_move;
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::ratio::logarithm;
use model::estimate::Estimate;
use model::finding::{ConcurrencyPoint, ConcurrencyUnknown, InFlight, OperatingPoint};
use model::request::Operation;
use model::run::RunView;
use model::units::{Nanos, Quantile};

const BATCH_OPERATIONS: f64 = 20.0;
/// With a larger share of failures a round says little of the drive.
const ERROR_SHARE_MAX: f64 = 0.01;
/// From this share of what this tool can issue on, it may be the limit.
const TOOL_LIMIT_SHARE: f64 = 0.5;
/// Observations from which a 99th percentile is shown: three beyond it are expected.
const P99_COUNT_MIN: u64 = 300;
/// What a request takes may be so large a part of its phase: one that would end after it is not seen, so that of those that take as
/// long as the 99th percentile a tenth is missing, and what is told is the 98.9th.
const LATENCY_SHARE_MAX: f64 = 0.1;

pub(crate) struct Point<'run> {
    pub at_once: u64,
    pub visits: Vec<Visit<'run>>,
    /// The logarithm of requests per second, round by round.
    pub rounds: Vec<Mean>,
    pub mean: Mean,
    pub operation: Operation,
}

pub(crate) struct Curve<'run> {
    /// At least two, the first of them one at a time.
    pub points: Vec<Point<'run>>,
    axis: Axis,
}

impl<'run> Curve<'run> {
    /// The curve of a run by the depth of a queue, or by threads where only these were varied.
    pub(crate) fn of(run: &RunView<'run>, operation: Operation) -> Result<Curve<'run>, ConcurrencyUnknown> {
        let axis = axes(run, operation).first().copied().unwrap_or(Axis::Depth);
        Curve::along(run, operation, axis)
    }

    /// The same where nothing else used the drive: a single read waits for it, and a deep queue outbids it.
    pub(crate) fn undisturbed(
        run: &Examined<'run>,
        operation: Operation,
    ) -> Result<Curve<'run>, ConcurrencyUnknown> {
        match run.interference() {
            Some(by) if operation == Operation::Read => Err(ConcurrencyUnknown::Interference(by)),
            _ => Curve::of(run, operation),
        }
    }

    pub(crate) fn second(run: &RunView<'run>, operation: Operation) -> Option<Curve<'run>> {
        let axis = *axes(run, operation).get(1)?;
        Curve::along(run, operation, axis).ok()
    }

    fn along(
        run: &RunView<'run>,
        operation: Operation,
        axis: Axis,
    ) -> Result<Curve<'run>, ConcurrencyUnknown> {
        let groups = random_groups_along(run, operation, axis);
        if matches!(groups.get(&1), Some(single) if in_no_time(run, single)) {
            return Err(ConcurrencyUnknown::NoTime);
        }
        // What serves in order has no near ones first; and where all reads take equally long, a later begin cuts each round at the same moment.
        let part = if do_some_reads_move(run) { Part::Settled } else { Part::Timed };
        let point = |(at_once, visits)| Point::of(run, operation, part, at_once, visits);
        let points: Vec<Point<'run>> = groups.into_iter().filter_map(point).collect();
        match points.first() {
            Some(one) if one.at_once == 1 && points.len() >= 2 => Ok(Curve { points, axis }),
            _ => Err(ConcurrencyUnknown::TooFewRounds),
        }
    }

    pub(crate) fn one(&self) -> &Point<'run> {
        &self.points[0]
    }

    pub(crate) fn conclusions(&self) -> Vec<ConcurrencyPoint> {
        self.points.iter().map(|point| point.conclusion(self.axis)).collect()
    }

    pub(crate) fn in_flight(&self, index: usize) -> InFlight {
        self.axis.in_flight(self.points[index].at_once)
    }
}

impl<'run> Point<'run> {
    fn of(
        run: &RunView<'run>,
        operation: Operation,
        part: Part,
        at_once: u64,
        visits: Vec<Visit<'run>>,
    ) -> Option<Point<'run>> {
        let usable =
            |visit: &Visit<'run>| is_measurement(visit.summary) && visit.error_share() <= ERROR_SHARE_MAX;
        let visits: Vec<Visit<'run>> = visits.into_iter().filter(usable).collect();
        let rounds =
            round_ratios(run, &visits, operation, part, BATCH_OPERATIONS, Slice::operations_over_seconds);
        let rounds: Vec<Mean> = rounds.iter().filter_map(logarithm).collect();
        let mean = mean_of_visits(&rounds)?;
        Some(Point { at_once, visits, rounds, mean, operation })
    }

    pub(crate) fn iops(&self) -> Estimate {
        self.mean.interval(CONFIDENCE).map_monotonic(f64::exp)
    }

    pub(crate) fn operations_per_round(&self) -> f64 {
        let mut fewest = f64::INFINITY;
        for visit in &self.visits {
            let operations = visit.summary.operations_of(self.operation);
            fewest = fewest.min(operations as f64);
        }
        fewest
    }

    /// Whether this tool itself may have been the limit, by what it costs for each request.
    pub(crate) fn is_limited_by_tool(&self, run: &RunView<'_>) -> bool {
        let cost_ns = run.environment.own_cost_ns_per_io;
        matches!(cost_ns, Some(cost_ns) if self.iops().value * cost_ns / 1e9 >= TOOL_LIMIT_SHARE)
    }

    /// The 99th percentile of the latency in seconds, if there are enough observations for one and phases were long enough to see it.
    pub(crate) fn p99_s(&self) -> Option<f64> {
        let histogram = merged_latencies(&self.visits, self.operation);
        let p99 = histogram.quantile(Quantile::P99).filter(|_| histogram.count() >= P99_COUNT_MIN)?.seconds();
        // By Little's law, which also counts those that were not seen.
        let mean_s = self.at_once as f64 / self.iops().value;
        let phases_s = self.visits.iter().map(|visit| Nanos::new(visit.summary.duration_ns).seconds());
        let shortest_s = phases_s.fold(f64::INFINITY, f64::min);
        (p99.max(mean_s) <= LATENCY_SHARE_MAX * shortest_s).then_some(p99)
    }

    pub(crate) fn operating_point(&self) -> OperatingPoint {
        OperatingPoint { in_flight: self.at_once, iops: self.iops().value }
    }

    fn conclusion(&self, axis: Axis) -> ConcurrencyPoint {
        let iops = self.iops();
        ConcurrencyPoint {
            in_flight: axis.in_flight(self.at_once),
            iops: iops.value,
            low: Some(iops.low),
            high: Some(iops.high),
            p99_s: self.p99_s(),
        }
    }
}
