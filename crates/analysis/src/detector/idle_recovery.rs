//! What a rest gives back of a write cache.
//!
//! # What it finds
//! How many bytes can be written at the full rate again for each second that the drive was left alone, once it has begun to clean up.
//! # Why it matters
//! A burst of 20 GB needs so many minutes of pause before the next: with that, an SMR disk or a flash drive with a small cache never
//! becomes slow.
//! # How
//! After the fall the drive is left alone for times of different length, in random order, and written to after each until the rate is
//! down again. Of what was written then, as much was at the full rate as explains the time it took, with the rates before and after
//! the fall. A line through these volumes by the length of the rest, which is zero until the drive begins to clean up, gives bytes per
//! second; all delays that fit the volumes within their errors make its interval.
//! # Cannot tell when
//! There was no fall, or its cause was another one; no rest gave anything back, or only one did, so that nothing tells the delay.
//! # Known problems
//! A rest longer than it takes to empty the cache is left out by its volume, of nine tenths of the cache and more.
//! # References
//! SNIA, "Solid State Storage (SSS) Performance Test Specification", version 2.0.2, 2020: host idle recovery; Aghayev, Shafaei,
//! Desnoyers, "Skylight", FAST 2015: cleaning begins after about a second.

use super::trust::{Subject, between};
use super::wording::{rate, short_time, size};
use super::{Detector, Need};
use crate::measured::{evidence_of_phases, turns};
use crate::stats::CONFIDENCE;
use crate::stats::student::t_two_sided;
use crate::sustained::{Cause, Fall, History, Regained, Standing, cause, memory_bytes, regained, standing};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct IdleRecovery;

/// From this share of the cache on, a rest may have given back all of it.
const FULL_SHARE: f64 = 0.9;
/// So many delays are tried, up to the longest rest.
const DELAYS: usize = 400;
/// How well two volumes of the same rest agree, as a share.
const SCATTER_MIN: f64 = 0.03;

impl Detector for IdleRecovery {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::IdleRecovery]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("sustain")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(history) = History::of(run) else { return Vec::new() };
        let Standing::Fell(fall) = standing(history.first(), memory_bytes(turns(run).unwrap_or(false)))
        else {
            return Vec::new();
        };
        let points = regained(run, &history, &fall);
        if points.is_empty() {
            // Nobody asked.
            return Vec::new();
        }
        let finding = match (between(run.target), cause(run, &history, &fall)) {
            (_, Cause::Cache) => found(run, &history, &fall, &points),
            (Some(why), _) => Err(format!("The rate fell, and rests were left after it. {why}")),
            (None, _) => Err("It was no cache that was full when the rate fell.".into()),
        };
        vec![finding.unwrap_or_else(|why| Finding::unknown(FindingCode::IdleRecovery, why))]
    }
}

/// A line that is zero until a delay.
struct Line {
    bytes_per_second: f64,
    delay_s: f64,
    low: f64,
    high: f64,
}

fn found(
    run: &RunView<'_>,
    history: &History<'_>,
    fall: &Fall,
    points: &[Regained],
) -> Result<Finding, String> {
    let down: Vec<&Regained> = points.iter().filter(|point| point.is_down).collect();
    let some = down.iter().filter(|point| point.is_some()).count();
    let longest = points.iter().map(|point| point.rest_s).fold(0.0, f64::max);
    if some == 0 {
        return Err(format!("No rest gave anything back, the longest of them {}.", short_time(longest)));
    }
    let open: Vec<&Regained> =
        down.into_iter().filter(|point| point.bytes < FULL_SHARE * fall.bytes.value).collect();
    let line = line_through(&open).ok_or_else(|| {
        format!("Only one rest gave a part of the cache back: when the drive begins to clean up cannot be told from that. The longest was {}.", short_time(longest))
    })?;
    let estimate = Estimate {
        value: line.bytes_per_second,
        low: line.low,
        high: line.high,
        confidence: CONFIDENCE,
        effective_count: open.len() as f64,
    };
    let whole_s = line.delay_s + fall.bytes.value / line.bytes_per_second;
    let from =
        if line.delay_s > 0.0 { format!(", from {} on", short_time(line.delay_s)) } else { String::new() };
    let statement = format!(
        "Each second of rest gives {} back{from}; all {} take {}.",
        size(estimate.value as u64),
        size(fall.bytes.value as u64),
        super::wording::long_time(whole_s)
    );
    let phases: Vec<u32> =
        history.streams.iter().skip(1).flat_map(|stream| &stream.before).copied().collect();
    let row = |point: &Regained| {
        Datum::record([("idle_s", Datum::Number(point.rest_s)), ("bytes", Datum::Number(point.bytes))])
    };
    let finding = Finding::number(
        FindingCode::IdleRecovery,
        estimate,
        "B/s",
        statement,
        evidence_of_phases(run, &phases),
    )
    .with_advice(format!(
        "To write 1 GB at {} time and again, leave {} between.",
        rate(fall.rate_before().value),
        super::wording::long_time(line.delay_s + 1e9 / line.bytes_per_second)
    ))
    .with_data("points", Datum::List(points.iter().map(row).collect()))
    .with_data("delay_s", Datum::Number(line.delay_s));
    Ok(Subject::of(run).qualify(finding))
}

/// The line of weighted least squares over all delays.
fn line_through(points: &[&Regained]) -> Option<Line> {
    if points.iter().filter(|point| point.is_some()).count() < 2 {
        return None;
    }
    let longest = points.iter().map(|point| point.rest_s).fold(0.0, f64::max);
    let fits: Vec<(f64, f64, f64, f64)> =
        (0..DELAYS).filter_map(|index| fit(points, longest * index as f64 / DELAYS as f64)).collect();
    let best = *fits.iter().min_by(|one, other| one.3.total_cmp(&other.3))?;
    let free = (points.len() as f64 - 2.0).max(1.0);
    // What scatters more than its errors say has larger ones.
    let scale = (best.3 / free).max(1.0);
    let t = t_two_sided(CONFIDENCE, free);
    let mut line = Line { bytes_per_second: best.1, delay_s: best.0, low: f64::INFINITY, high: 0.0 };
    for &(_, slope, variance, _) in fits.iter().filter(|fit| fit.3 <= best.3 + t * t * scale) {
        let half = t * (variance * scale).sqrt();
        line.low = line.low.min((slope - half).max(0.0));
        line.high = line.high.max(slope + half);
    }
    (line.bytes_per_second > 0.0).then_some(line)
}

/// With that delay: the delay, the slope, its variance, and the sum of squares that is left.
fn fit(points: &[&Regained], delay_s: f64) -> Option<(f64, f64, f64, f64)> {
    let weight = |point: &Regained| point.error_bytes.hypot(SCATTER_MIN * point.bytes).max(1.0).powi(-2);
    let at = |point: &Regained| (point.rest_s - delay_s).max(0.0);
    let (products, squares) = points.iter().fold((0.0, 0.0), |(products, squares), point| {
        (products + weight(point) * at(point) * point.bytes, squares + weight(point) * at(point).powi(2))
    });
    if squares <= 0.0 {
        return None;
    }
    let slope = products / squares;
    let left = points.iter().map(|point| weight(point) * (point.bytes - slope * at(point)).powi(2)).sum();
    Some((delay_s, slope, 1.0 / squares, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_after_its_delay() {
        let point = |rest_s: f64| Regained {
            rest_s,
            bytes: 2e6 * (rest_s - 8.0_f64).max(0.0),
            error_bytes: 1e5,
            is_down: true,
        };
        let points = [1.0, 5.0, 10.0, 25.0, 50.0].map(point);
        let line = line_through(&points.iter().collect::<Vec<_>>()).unwrap();
        assert!((line.bytes_per_second / 2e6 - 1.0).abs() < 0.01 && (line.delay_s - 8.0).abs() < 0.3);
        assert!(line.low < 2e6 && 2e6 < line.high && line.high < 2.4e6, "{} to {}", line.low, line.high);
        assert!(line_through(&points.iter().take(3).collect::<Vec<_>>()).is_none());
    }
}
