//! Throughput by block size.
//! # What it finds
//! Throughput by block size, at queue depth 1 and more, sequential and random; and from which size on it is nearly the best.
//! # Why it matters
//! Small requests pay for each command, large ones only for the bytes: where the curve bends is the size to ask for.
//! # How
//! Each size is measured in several rounds in random order, so that what changes in time is no effect of a size. Outlier rounds
//! are left out: see `suspect-points`. Writes include their flush. Of another program's sweep each size is one figure.
//! # Cannot tell when
//! Requests complete in no time.
//! # Known problems
//! A large cache takes short writes of any size; the flush shows what is left. Flash never written is read without its cells.
//! # References
//! ATTO Disk Benchmark (0.5 KB to 64 MB, four at a time); HD Tune Pro, File Benchmark (0.5 KB to 8 MB, one at a time).

use super::detect::{Detector, Need};
use super::stated;
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, measurements, phases_in_no_time};
use crate::size_profile::{EXPERIMENT, Point, SizeSweep};
use model::finding::{
    Finding, FindingCode, NEARLY, Outcome, SizePattern, SizePoint, SizeProfile, SizeRounds, SizeSaturation,
    SizesUnknown,
};
use model::request::Operation;
use model::run::RunView;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::SizeProfile],
    needs: &[Need::Asked(EXPERIMENT), Need::Asked(crate::stated::EXPERIMENT)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if stated::is_stated(run) {
        return stated::sizes(run);
    }
    let outcome = match profile(run) {
        Ok((profile, phases)) => Outcome::known(profile, evidence_of_phases(run, &phases)),
        Err(reason) => Outcome::Unknown(reason),
    };
    vec![Finding::SizeProfile(outcome).with_caveats(&doubts(run))]
}

fn profile(run: &RunView<'_>) -> Result<(SizeProfile, Vec<u32>), SizesUnknown> {
    if phases_in_no_time(run, measurements(run)) {
        return Err(SizesUnknown::NoTime);
    }
    let sweep = SizeSweep::of(run);
    if sweep.points.is_empty() {
        return Err(SizesUnknown::NothingFinished);
    }
    let mut sizes: Vec<_> = sweep.points.iter().map(|point| point.key.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut saturation = saturation(&sweep, Operation::Read);
    saturation.extend(self::saturation(&sweep, Operation::Write));
    let points = sweep.points.iter().map(size_point).collect();
    let firsts = sweep.points.iter().filter_map(|point| point.rounds.first());
    let phases = firsts.map(|round| round.phase).collect();
    Ok((SizeProfile { sizes: sizes.len(), points, saturation, is_single: false }, phases))
}

/// Of sequential requests, by queue depth, relative to the best at any.
fn saturation(sweep: &SizeSweep, operation: Operation) -> Vec<SizeSaturation> {
    let mut found: Vec<SizeSaturation> = Vec::new();
    let sequential =
        || sweep.points.iter().filter(move |point| point.key.operation == operation && point.key.in_order);
    let best = sequential().map(Point::clean_rate).fold(0.0, f64::max);
    if best <= 0.0 {
        return found;
    }
    // Points come by depth and then by size.
    for point in sequential() {
        let depth = point.key.depth;
        let is_new = !matches!(found.last(), Some(last) if last.depth == depth);
        if is_new {
            let pattern = SizePattern::Sequential;
            found.push(SizeSaturation { operation, pattern, depth, best: 0.0, from: None, dips: Vec::new() });
        }
        if let Some(last) = found.last_mut() {
            last.best = last.best.max(point.clean_rate());
            if point.clean_rate() >= NEARLY * best {
                last.from = last.from.or(Some(point.key.size));
            } else if last.from.is_some() {
                last.dips.push(point.key.size);
            }
        }
    }
    for saturation in &mut found {
        if saturation.from.is_none() {
            saturation.best = best;
        }
    }
    found
}

fn size_point(point: &Point) -> SizePoint {
    let rate = point.estimate();
    // Of a single round nobody knows how far off it is.
    let is_bounded = rate.high.is_finite();
    SizePoint {
        bytes: point.key.size,
        operation: point.key.operation,
        pattern: point.key.pattern(),
        depth: point.key.depth,
        bytes_per_second: rate.value,
        low: is_bounded.then_some(rate.low),
        high: is_bounded.then_some(rate.high),
        iops: rate.value / point.key.size.as_f64(),
        rounds: Some(SizeRounds {
            latency_s: point.latency_s,
            latency_p99_s: point.latency_p99_s,
            latency_max_s: point.latency_s_max,
            rounds: point.rounds.len(),
            spoilt_rounds: point.spoilt_count(),
            with_spoilt_bytes_per_second: point.plain_rate(),
            dip: point.is_dip,
        }),
    }
}
