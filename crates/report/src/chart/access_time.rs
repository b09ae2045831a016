//! The chart of access times over positions: each single random read or write a point.

use super::companions::{self, Visits};
use super::naming::{Names, Sketch};
use super::rate_over_position::{position_axis, word};
use super::{Axis, Bar, Beside, Chart, ChartedRun, Layer, Numbers, Series, Stretch};
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::record::IoRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Nanos, Quantile};
use model::workload::Workload;
use std::collections::BTreeMap;

/// Fewer points than this are no cloud.
const POINTS_MIN: usize = 30;
/// More points than this in a series hide each other, and with the slowest hundredth of these, which is always drawn, there are no more than a
/// picture draws one by one (3000). Of the others every so manyth is drawn, in the order of time.
const POINTS_MAX: usize = 2970;

/// Access times by position of these runs; none when none of them kept single reads or writes.
pub fn access_time_over_position(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut histograms) = (Vec::new(), Vec::new());
    let mut drawn: Vec<&Run> = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        for operation in [Operation::Read, Operation::Write] {
            let Some((block, points, latencies)) = points(charted, operation) else { continue };
            histograms.push(latencies);
            let name = names.series(index, &format!("{} {block}", word(operation)));
            series.push(Series::new(name, vec![Layer::Measured(points)]).of_run(index));
            drawn.push(charted.run);
        }
    }
    let y = time_axis(&histograms);
    let beside = beside(&histograms, &y);
    let chart = names.chart(Sketch {
        name: "access-time",
        title: "Access time by position".into(),
        description: description(&series, &y),
        x: position_axis(&drawn),
        y,
        series,
        marks: Vec::new(),
        findings: vec![FindingCode::AccessTime, FindingCode::RotationPeriod],
    })?;
    let visits = companions::of_each(runs, |run| Visits::during(run, has_points));
    let meanwhile = companions::in_words(names.all(), visits);
    Some(Chart { beside: Some(beside), ..chart }.with_meanwhile(meanwhile))
}

/// Whether a phase has requests that may be points of the chart.
fn has_points(summary: &PhaseSummary) -> bool {
    let is_single = |workload: &Workload| {
        [Operation::Read, Operation::Write].iter().any(|&operation| workload.is_single_random(operation))
    };
    summary.phase.kind == PhaseKind::Measure && summary.phase.workload.as_ref().is_some_and(is_single)
}

/// The points of single requests over the widest range, of the block size with the most of them.
fn points(charted: &ChartedRun<'_>, operation: Operation) -> Option<(Bytes, Vec<Stretch>, LatencyHistogram)> {
    let series = charted.series?;
    let mut by_shape: BTreeMap<(Bytes, Bytes), Vec<IoRecord>> = BTreeMap::new();
    for (number, summary) in (0u32..).zip(&charted.run.phases) {
        let Some(workload) = summary.phase.workload.as_ref() else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        if summary.phase.kind == PhaseKind::Measure && workload.is_single_random(operation) {
            let ios = series.ios(number).filter(|io| io.status.is_done());
            by_shape.entry((workload.range.bytes(), block)).or_default().extend(ios);
        }
    }
    let widest = by_shape.keys().map(|(bytes, _)| *bytes).max()?;
    let of_widest = by_shape.into_iter().filter(|((bytes, _), _)| *bytes == widest);
    let ((_, block), ios) = of_widest.max_by_key(|(_, ios)| ios.len())?;
    let mut latencies = LatencyHistogram::default();
    ios.iter().for_each(|io| latencies.record(latency_ns(io)));
    (ios.len() >= POINTS_MIN).then(|| (block, thinned(ios).iter().map(point).collect(), latencies))
}

/// Up to the slowest. Where that is many times the usual, each decade as long as any other: else a single late answer would press all
/// others to the ground.
fn time_axis(histograms: &[LatencyHistogram]) -> Axis {
    let seconds = |time: Option<Nanos>| time.map_or(0.0, Nanos::seconds);
    let slowest = histograms.iter().map(|latencies| seconds(latencies.max())).fold(0.0, f64::max);
    let quickest = histograms.iter().map(|latencies| seconds(latencies.min())).fold(f64::INFINITY, f64::min);
    let usual = histograms.iter().map(|latencies| seconds(latencies.quantile(Quantile::MEDIAN)));
    if slowest > EVEN_RATIO_MAX * usual.fold(0.0, f64::max) {
        Axis::of_decades("Access time", (quickest, slowest), Numbers::Times)
    } else {
        Axis::of_times("Access time", slowest)
    }
}

/// How often each time occurs: all requests are counted, also those that are not drawn.
fn beside(histograms: &[LatencyHistogram], y: &Axis) -> Beside {
    let bars = |latencies: &LatencyHistogram| -> Vec<Bar> {
        let below = |time_s: f64| latencies.count_below(Nanos((time_s * 1e9) as u64)) as f64;
        let bar = |index: usize| {
            let [low, high] = [index, index + 1].map(|step| y.value(step as f64 / BARS as f64));
            Bar { low, high, share: (below(high) - below(low)).max(0.0) / latencies.count().max(1) as f64 }
        };
        (0..BARS).map(bar).collect()
    };
    Beside { label: "How often".into(), bars: histograms.iter().map(bars).collect() }
}

/// Bars of the distribution: each is ten pixels high.
const BARS: usize = 40;
/// On an even axis half of the requests then have an eighth of the height or more.
const EVEN_RATIO_MAX: f64 = 8.0;

fn point(io: &IoRecord) -> Stretch {
    let at = io.offset_bytes as f64;
    Stretch { first: at, end: at, value: latency_ns(io) as f64 / 1e9 }
}

fn latency_ns(io: &IoRecord) -> u64 {
    io.completed_ns.saturating_sub(io.intended_ns)
}

fn thinned(mut ios: Vec<IoRecord>) -> Vec<IoRecord> {
    if ios.len() <= POINTS_MAX {
        return ios;
    }
    ios.sort_by_key(|io| std::cmp::Reverse(latency_ns(io)));
    let mut others = ios.split_off(POINTS_MAX / 100);
    others.sort_by_key(|io| io.submitted_ns);
    let step = others.len().div_ceil(POINTS_MAX);
    ios.extend(others.into_iter().step_by(step));
    ios
}

fn description(series: &[Series], y: &Axis) -> String {
    let sentences = series.iter().map(|series| {
        let mut values: Vec<f64> = series.measured().map(|point| point.value).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| y.amount(values[((values.len() - 1) as f64 * share) as usize]);
        format!(
            "{}: {} points; half of them take {} or less, the quickest {}, the slowest {}.",
            series.name,
            values.len(),
            at(0.5),
            at(0.0),
            at(1.0)
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::Status;

    #[test]
    fn the_slowest_are_never_left_out() {
        let io = |number: u64| IoRecord {
            intended_ns: number * 1000,
            submitted_ns: number * 1000,
            completed_ns: number * 1000 + if number == 7777 { 900_000 } else { 100 },
            offset_bytes: number * 4096,
            length_bytes: 4096,
            phase: 0,
            status: Status::Done,
            operation: Operation::Read,
        };
        let kept = thinned((0..20_000).map(io).collect());
        assert!((POINTS_MAX * 4 / 5..=3000).contains(&kept.len()), "{}", kept.len());
        assert!(kept.iter().any(|io| latency_ns(io) == 900_000));
        assert_eq!(thinned((0..100).map(io).collect()).len(), 100);
    }
}
