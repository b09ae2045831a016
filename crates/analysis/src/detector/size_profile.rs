//! Rates by the size of requests.
//!
//! # What it finds
//! The rate of reads and writes by the size of requests, one at a time and several, in order and at random places, each with its interval; and from which
//! size on the rate is nearly the best.
//! # Why it matters
//! Small requests pay for each command, large ones only for the bytes: where the curve bends is the size to ask for.
//! # How
//! Each size is measured in several rounds in random order, so that what changes in time is no effect of a size. Rounds that differ from the
//! others are left out: see `suspect-points`. Rates of writes include the flush that makes them lasting.
//! Of another program's sweep each size is one figure.
//! # Cannot tell when
//! The drive answers in no time.
//! # Known problems
//! A drive with a large cache may answer short writes from it whatever their size; the flush shows only what is left in it in the end.
//! Flash that was never written is read without being looked at.
//! # References
//! ATTO Disk Benchmark (0.5 KB to 64 MB, four at a time); HD Tune Pro, File Benchmark (0.5 KB to 8 MB, one at a time).

use super::stated;
use super::trust::Subject;
use super::wording::{memory, rate};
use super::{Detector, Need};
use crate::measured::{NO_TIME, evidence_of_phases, is_measurement, phases_in_no_time};
use crate::size_profile::{EXPERIMENT, Point, SizeProfile};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct SizeCurve;

/// From this share of the best rate on it is nearly the best.
const NEARLY: f64 = 0.9;
/// The smallest request that anybody sweeps, in bytes.
const SMALLEST: u64 = 512;

impl Detector for SizeCurve {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::SizeProfile]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT), Need::Asked(crate::stated::EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) {
            return stated::sizes(run);
        }
        let measured = run.phases.iter().filter(|summary| is_measurement(summary));
        if phases_in_no_time(run, measured) {
            return vec![Finding::unknown(FindingCode::SizeProfile, NO_TIME)];
        }
        let profile = SizeProfile::of(run);
        if profile.points.is_empty() {
            return vec![Finding::unknown(FindingCode::SizeProfile, "No size was measured to its end.")];
        }
        vec![found(run, &profile)]
    }
}

fn found(run: &RunView<'_>, profile: &SizeProfile) -> Finding {
    let mut sizes: Vec<u64> = profile.points.iter().map(|point| point.key.size.0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut statement: Vec<String> = [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| sentence(profile, operation))
        .collect();
    statement.extend(random_sentence(profile));
    let logical = run.target.logical_block.0;
    if logical > SMALLEST {
        statement.push(format!(
            "Smaller requests than {} were left out: its blocks are no smaller.",
            memory(logical as f64)
        ));
    }
    let phases: Vec<u32> =
        profile.points.iter().filter_map(|point| point.rounds.first()).map(|round| round.phase).collect();
    let count = Estimate::exact(sizes.len() as f64);
    let evidence = evidence_of_phases(run, &phases);
    let finding = Finding::number(FindingCode::SizeProfile, count, "count", statement.join(" "), evidence)
        .with_data("points", Datum::List(profile.points.iter().map(row).collect()));
    Subject::of(run).qualify(finding)
}

/// "Reads in order, one at a time: nearly their best rate of 250 MB/s from 64 KiB on; 4 at a time from 16 KiB on."
fn sentence(profile: &SizeProfile, operation: Operation) -> Option<String> {
    let of = |point: &&Point| point.key.operation == operation && point.key.in_order;
    let mut depths: Vec<u64> = profile.points.iter().filter(of).map(|point| point.key.depth).collect();
    depths.dedup();
    let best = profile.points.iter().filter(of).map(Point::clean_rate).fold(0.0, f64::max);
    let parts: Vec<String> = depths
        .into_iter()
        .map(|depth| {
            let of_depth: Vec<&Point> =
                profile.points.iter().filter(of).filter(|point| point.key.depth == depth).collect();
            let below = of_depth.iter().rposition(|point| point.clean_rate() < NEARLY * best);
            let at_once = if depth == 1 { "one at a time".to_string() } else { format!("{depth} at a time") };
            match of_depth.get(below.map_or(0, |below| below + 1)) {
                Some(first) => format!("{at_once} from {} on", memory(first.key.size.0 as f64)),
                None => format!("{at_once} never"),
            }
        })
        .collect();
    if parts.is_empty() || best <= 0.0 {
        return None;
    }
    let plural = super::wording::plural(operation);
    Some(format!("{plural} in order come near their best rate of {}: {}.", rate(best), parts.join(", ")))
}

/// "Random writes take 0.1 ms for 4 KiB and 15 ms for 1 MiB on average; the slowest took 150 ms."
fn random_sentence(profile: &SizeProfile) -> Option<String> {
    let random: Vec<&Point> = profile.points.iter().filter(|point| !point.key.in_order).collect();
    let (first, last) = (random.first()?, random.last()?);
    let slowest = random.iter().map(|point| point.latency_s_max).fold(0.0, f64::max);
    let of = |point: &Point| {
        format!("{} for {}", super::wording::short_time(point.latency_s), memory(point.key.size.0 as f64))
    };
    Some(format!(
        "Random writes take {} and {} on average; the slowest took {}.",
        of(first),
        of(last),
        super::wording::short_time(slowest)
    ))
}

fn row(point: &Point) -> Datum {
    let estimate = point.estimate();
    let size = point.key.size.0 as f64;
    Datum::record([
        ("bytes", Datum::Integer(point.key.size.0)),
        ("operation", Datum::Text(point.key.operation.name().into())),
        ("pattern", Datum::Text(if point.key.in_order { "sequential" } else { "random" }.into())),
        ("depth", Datum::Integer(point.key.depth)),
        ("bytes_per_second", Datum::Number(estimate.value)),
        ("low", Datum::Number(estimate.low)),
        // What is unbounded is not a number that files can hold.
        ("high", Datum::Number(if estimate.high.is_finite() { estimate.high } else { f64::MAX })),
        ("iops", Datum::Number(estimate.value / size)),
        ("latency_s", Datum::Number(point.latency_s)),
        ("latency_p99_s", Datum::Number(point.latency_p99_s)),
        ("latency_max_s", Datum::Number(point.latency_s_max)),
        ("rounds", Datum::Integer(point.rounds.len() as u64)),
        ("spoilt_rounds", Datum::Integer(point.spoilt_count() as u64)),
        ("with_spoilt_bytes_per_second", Datum::Number(point.plain_rate())),
        ("dip", Datum::Flag(point.is_dip)),
    ])
}
