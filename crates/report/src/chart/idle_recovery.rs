//! The chart of what rests of different length give back of a write cache.

use super::companions;
use super::data::{detail, finding, number, records_of};
use super::naming::{Names, Sketch};
use super::{Axis, Chart, ChartedRun, Layer, Mark, Place, Point, Series, Stretch};
use crate::quantity::capacity;
use model::finding::{Finding, FindingCode};
use model::run::Run;
use model::units::Bytes;

/// What was written at the full rate after each rest, and what a second of rest gives back by that.
pub fn idle_recovery(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let recoveries: Vec<(usize, Recovery)> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, charted)| Some((index, Recovery::of(charted.run)?)))
        .collect();
    let longest_s = recoveries.iter().map(|(_, recovery)| recovery.longest_s()).fold(0.0, f64::max);
    // Of several drives these lines would hide more than they say.
    let limit = |recovery: &Recovery| recovery.all_bytes.filter(|_| recoveries.len() == 1);
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    for (index, recovery) in &recoveries {
        let all = limit(recovery).map(|bytes| Mark {
            name: "all that fits before the rate falls".into(),
            series: None,
            place: Place::Value(bytes),
            finding: Some(FindingCode::WriteCliff),
        });
        marks.extend(all);
        let layers = vec![Layer::Trend(recovery.line()), Layer::Measured(recovery.rests.clone())];
        let each_second = capacity(Bytes(recovery.bytes_per_second as u64));
        let name = names.series(*index, &format!("each rest; line: {each_second} a second"));
        series.push(Series::new(name, layers).of_run(*index));
    }
    let highest = |recovery: &Recovery| {
        let line = recovery.line().into_iter().map(|point| point.value);
        recovery.values().chain(line).chain(limit(recovery)).fold(0.0, f64::max)
    };
    let x = Axis::of_duration("Rest", longest_s);
    let y = Axis::of_volumes(
        "Written at the full rate",
        recoveries.iter().map(|(_, one)| highest(one)).fold(0.0, f64::max),
    );
    let chart = names.chart(Sketch {
        name: "idle-recovery",
        title: "What a rest gives back".into(),
        description: description(&series, &x, &y),
        x,
        y,
        series,
        marks,
        findings: vec![FindingCode::IdleRecovery],
    })?;
    Some(chart.with_meanwhile(companions::of_measurements(names.all(), runs)))
}

/// What a run says of rests.
struct Recovery {
    /// What each gave back, by its length in seconds.
    rests: Vec<Stretch>,
    bytes_per_second: f64,
    delay_s: f64,
    /// What can be given back at most.
    all_bytes: Option<f64>,
}

impl Recovery {
    fn of(run: &Run) -> Option<Recovery> {
        let estimate = |code| finding(run, code).and_then(Finding::estimate);
        let rest = |record| {
            let rest_s = number(record, "idle_s")?;
            Some(Stretch { first: rest_s, end: rest_s, value: number(record, "bytes")? })
        };
        let rests = records_of(run, FindingCode::IdleRecovery, "points");
        Some(Recovery {
            rests: rests.into_iter().filter_map(rest).collect(),
            bytes_per_second: estimate(FindingCode::IdleRecovery)?.value,
            delay_s: detail(run, FindingCode::IdleRecovery, "delay_s")?,
            all_bytes: estimate(FindingCode::WriteCliff).map(|cliff| cliff.value),
        })
    }

    fn longest_s(&self) -> f64 {
        self.rests.iter().map(|rest| rest.first).fold(0.0, f64::max)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.rests.iter().map(|rest| rest.value)
    }

    /// Nothing until the drive begins to clean up, then so much for each second, until everything is given back.
    fn line(&self) -> Vec<Point> {
        let after_s = (self.longest_s() - self.delay_s).max(0.0);
        let all_s = self.all_bytes.map_or(f64::INFINITY, |bytes| bytes / self.bytes_per_second);
        let rising_s = after_s.min(all_s);
        let at = |at: f64, value: f64| Point { at, value, interval: None };
        let mut points = vec![at(0.0, 0.0), at(self.delay_s, 0.0)];
        let risen = self.bytes_per_second * rising_s;
        points.extend([at(self.delay_s + rising_s, risen), at(self.delay_s + after_s, risen)]);
        points.dedup_by(|next, before| next.at == before.at);
        points
    }
}

fn description(series: &[Series], x: &Axis, y: &Axis) -> String {
    let of_series = |series: &Series| {
        let rests: Vec<String> = series
            .measured()
            .map(|rest| format!("{} of rest gave back {}", x.amount(rest.first), y.amount(rest.value)))
            .collect();
        format!("{}: {}.", series.name, rests.join("; "))
    };
    series.iter().map(of_series).collect::<Vec<_>>().join(" ")
}
