//! The chart of what rests of different length give back of a write cache.

use crate::chart::companions::{self, is_measured};
use crate::chart::naming::{Names, highest_of};
use crate::chart::{Axis, Chart, ChartedRun, Layer, Mark, Place, Point, Series, Stretch};
use crate::quantity::capacity;
use model::finding::{FindingCode, IdleRecovery, WriteCliff, known};
use model::run::Run;
use model::units::Bytes;

pub fn idle_recovery(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let mut recoveries = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        if let Some(recovery) = Recovery::of(charted.run) {
            recoveries.push((index, recovery));
        }
    }
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let (mut longest_s, mut values): (f64, Vec<f64>) = (0.0, Vec::new());
    for (index, recovery) in &recoveries {
        // Of several drives these lines would hide more than they say.
        if let Some(bytes) = recovery.all_bytes
            && recoveries.len() == 1
        {
            let name = "capacity before the write cliff";
            marks.push(Mark::of(FindingCode::WriteCliff, name, Place::Value(bytes)));
            values.push(bytes);
        }
        let line = recovery.line();
        longest_s = longest_s.max(recovery.longest_s());
        values.extend(line.iter().map(|point| point.value));
        values.extend(recovery.rests.iter().map(|rest| rest.value));
        let layers = vec![Layer::Trend(line), Layer::Measured(recovery.rests.clone())];
        let each_second = capacity(Bytes::new(recovery.bytes_per_second as u64));
        let name = names.series(*index, &format!("each idle period; line: {each_second} per second"));
        series.push(Series::new(name, layers).of_run(*index));
    }
    let x = Axis::of_duration("Rest", longest_s);
    let y = Axis::of_volumes("Written at full throughput", highest_of(values));
    let chart = names.chart("idle-recovery", "Idle recovery", (x, y), series)?;
    let description = description(&chart.series, &chart.x, &chart.y);
    Some(
        Chart { description, marks, findings: vec![FindingCode::IdleRecovery], ..chart }
            .with_meanwhile(companions::during(names.all(), runs, is_measured)),
    )
}

struct Recovery {
    /// What each gave back, by its length in seconds.
    rests: Vec<Stretch>,
    bytes_per_second: f64,
    delay_s: f64,
    all_bytes: Option<f64>,
}

impl Recovery {
    fn of(run: &Run) -> Option<Recovery> {
        let recovery = &known::<IdleRecovery>(&run.findings)?.conclusion;
        let mut rests = Vec::new();
        for point in &recovery.points {
            rests.push(Stretch::point(point.idle_s, point.bytes));
        }
        Some(Recovery {
            rests,
            bytes_per_second: recovery.rate.value,
            delay_s: recovery.delay_s,
            all_bytes: known::<WriteCliff>(&run.findings).map(|cliff| cliff.conclusion.bytes.value),
        })
    }

    fn longest_s(&self) -> f64 {
        highest_of(self.rests.iter().map(|rest| rest.first))
    }

    /// Nothing until the drive begins to clean up, then so much for each second, until everything is given back.
    fn line(&self) -> Vec<Point> {
        let after_s = (self.longest_s() - self.delay_s).max(0.0);
        let all_s = match self.all_bytes {
            Some(bytes) => bytes / self.bytes_per_second,
            None => f64::INFINITY,
        };
        let rising_s = after_s.min(all_s);
        let risen = self.bytes_per_second * rising_s;
        let corners = [
            (0.0, 0.0),
            (self.delay_s, 0.0),
            (self.delay_s + rising_s, risen),
            (self.delay_s + after_s, risen),
        ];
        let mut points = Vec::new();
        for (at, value) in corners {
            points.push(Point { at, value, interval: None });
        }
        points.dedup_by(|next, before| next.at == before.at);
        points
    }
}

fn description(series: &[Series], x: &Axis, y: &Axis) -> String {
    let mut sentences = Vec::new();
    for series in series {
        let mut rests = Vec::new();
        for rest in series.measured() {
            rests.push(format!("{} idle recovered {}", x.amount(rest.first), y.amount(rest.value)));
        }
        sentences.push(format!("{}: {}.", series.name, rests.join("; ")));
    }
    sentences.join(" ")
}
