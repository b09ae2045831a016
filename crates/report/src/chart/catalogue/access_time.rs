//! The chart of access times over positions: each single random read or write a point.

use super::rate_over_position::{position_axis, word};
use crate::chart::companions;
use crate::chart::naming::Names;
use crate::chart::phase::measured;
use crate::chart::{Across, Axis, Bar, Beside, Chart, ChartedRun, Layer, Numbers, Series, Stretch};
use model::finding::FindingCode;
use model::histogram::LatencyHistogram;

use model::record::IoRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Nanos, Quantile};

use std::collections::BTreeMap;

const POINTS_MIN: usize = 30;
/// More points than this in a series hide each other, and with the slowest hundredth of these, which is always drawn, there are no more than a
/// picture draws one by one (3000). Of the others every so manyth is drawn, in the order of time.
const POINTS_MAX: usize = 2970;

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
    let x = position_axis(&drawn);
    let chart = names.chart("access-time", "Access time by LBA", (x, y), series)?;
    let meanwhile = companions::during(names.all(), runs, has_points);
    let description = description(&chart.series, &chart.y);
    let findings = vec![FindingCode::AccessTime, FindingCode::RotationPeriod];
    Some(
        Chart {
            across: Across::Position { is_random: true },
            description,
            findings,
            beside: Some(beside),
            ..chart
        }
        .with_meanwhile(meanwhile),
    )
}

fn has_points(summary: &PhaseSummary) -> bool {
    let Some(workload) = measured(summary) else { return false };
    workload.is_single_random(Operation::Read) || workload.is_single_random(Operation::Write)
}

fn points(charted: &ChartedRun<'_>, operation: Operation) -> Option<(Bytes, Vec<Stretch>, LatencyHistogram)> {
    let series = charted.series?;
    let mut by_shape: BTreeMap<(Bytes, Bytes), Vec<IoRecord>> = BTreeMap::new();
    for (number, summary) in (0u32..).zip(&charted.run.phases) {
        let Some(workload) = measured(summary) else { continue };
        let Some(block) = workload.block_sizes.single() else { continue };
        if workload.is_single_random(operation) {
            let ios = series.ios(number).filter(IoRecord::is_done);
            by_shape.entry((workload.range.bytes(), block)).or_default().extend(ios);
        }
    }
    let ((widest, _), _) = by_shape.last_key_value()?;
    let of_widest = by_shape.split_off(&(*widest, Bytes::ZERO));
    let ((_, block), ios) = of_widest.into_iter().max_by_key(|(_, ios)| ios.len())?;
    if ios.len() < POINTS_MIN {
        return None;
    }
    let mut latencies = LatencyHistogram::default();
    for io in &ios {
        latencies.record(latency_ns(io));
    }
    Some((block, thinned(ios).iter().map(point).collect(), latencies))
}

/// Up to the slowest. Where that is many times the usual, all decades are alike: else one late answer would flatten the others.
fn time_axis(histograms: &[LatencyHistogram]) -> Axis {
    let (mut slowest, mut quickest, mut usual): (f64, f64, f64) = (0.0, f64::INFINITY, 0.0);
    for latencies in histograms {
        slowest = slowest.max(seconds(latencies.max()));
        quickest = quickest.min(seconds(latencies.min()));
        usual = usual.max(seconds(latencies.quantile(Quantile::MEDIAN)));
    }
    if slowest > EVEN_RATIO_MAX * usual {
        Axis::of_decades("Access time", (quickest, slowest), Numbers::Times)
    } else {
        Axis::of_times("Access time", slowest)
    }
}

fn seconds(time: Option<Nanos>) -> f64 {
    time.unwrap_or_default().seconds()
}

/// How often each time occurs: all requests are counted, also those that are not drawn.
fn beside(histograms: &[LatencyHistogram], y: &Axis) -> Beside {
    let mut all = Vec::new();
    for latencies in histograms {
        let mut bars = Vec::new();
        for index in 0..BARS {
            let (low, high) =
                (y.value(index as f64 / BARS as f64), y.value((index + 1) as f64 / BARS as f64));
            let inside = count_below(latencies, high).saturating_sub(count_below(latencies, low));
            bars.push(Bar { low, high, share: inside as f64 / latencies.count().max(1) as f64 });
        }
        all.push(bars);
    }
    Beside { label: "How often".into(), bars: all }
}

fn count_below(latencies: &LatencyHistogram, seconds: f64) -> u64 {
    latencies.count_below(Nanos::new((seconds * 1e9) as u64))
}

/// Bars of the distribution: each is ten pixels high.
const BARS: usize = 40;
/// On an even axis half of the requests then have an eighth of the height or more.
const EVEN_RATIO_MAX: f64 = 8.0;

fn point(io: &IoRecord) -> Stretch {
    Stretch::point(io.offset_bytes as f64, latency_ns(io) as f64 / 1e9)
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
    let mut sentences = Vec::new();
    for series in series {
        let mut values: Vec<f64> = series.measured().map(|point| point.value).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let [quickest, median, slowest] = [0, last / 2, last].map(|index| y.amount(values[index]));
        sentences.push(format!(
            "{}: {} points; median {median}, minimum {quickest}, maximum {slowest}.",
            series.name,
            values.len(),
        ));
    }
    sentences.join(" ")
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
