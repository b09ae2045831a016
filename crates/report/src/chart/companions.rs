//! What went on around a measurement: the drive's temperature, and what others did meanwhile. Where the axis across says where or
//! when something was measured it stands below the chart, over the same axis; else it is told in words.

use super::course::Columns;
use super::naming::range_of;
use super::{Axis, ChartedRun, Layer, Series, Stretch, Strip};
use crate::hostile::harmless;
use crate::quantity::rough_rate;
use model::plan::PhaseKind;
use model::record::TelemetryRecord;
use model::run::{PhaseSummary, Run};

/// From when to when, in seconds of the run's clock.
pub(crate) type Moments = (f64, f64);
/// From where to where on an axis across.
pub(crate) type Extent = (f64, f64);
/// Fewer degrees than this are not worth a full height.
const DEGREES_MIN: f64 = 8.0;
/// Columns of the name of a run before what is told of it.
const NAME_COLUMNS_MAX: usize = 60;
const STRIPS: [&str; 3] =
    ["Temperature of the drive", "Load on the drive by others", "Processors used by others"];

/// When measurements were made, in the order of time, and where they stand on an axis across.
pub(crate) struct Visits {
    visits: Vec<(Moments, Extent)>,
    /// The first that may not be over yet.
    next: usize,
}

impl Visits {
    /// The phases of a run that have a place.
    pub(super) fn of(run: &Run, place: impl Fn(u32, &PhaseSummary) -> Option<Extent>) -> Visits {
        let visit = |(phase, summary): (u32, &PhaseSummary)| {
            let start_s = summary.start_ns as f64 / 1e9;
            Some(((start_s, start_s + summary.duration_ns as f64 / 1e9), place(phase, summary)?))
        };
        Visits::new((0u32..).zip(&run.phases).filter_map(visit).collect())
    }

    /// Phases that no place of an axis belongs to: what went on is told in words.
    pub(super) fn during(run: &Run, is_meant: impl Fn(&PhaseSummary) -> bool) -> Visits {
        Visits::of(run, |_, summary| is_meant(summary).then_some((0.0, 0.0)))
    }

    pub(crate) fn new(visits: Vec<(Moments, Extent)>) -> Visits {
        Visits { visits, next: 0 }
    }

    /// Where the drive was asked between two moments. Moments have to come in their order.
    fn places(&mut self, (from_s, to_s): Moments) -> Vec<Extent> {
        // What only ends when this begins, or begins when it ends, is not during it.
        let is_before = |visit: &Moments| if to_s > from_s { visit.1 <= from_s } else { visit.1 < from_s };
        while self.visits.get(self.next).is_some_and(|(visit, _)| is_before(visit)) {
            self.next += 1;
        }
        let begins = |visit: &Moments| if to_s > from_s { visit.0 < to_s } else { visit.0 <= to_s };
        let during = self.visits[self.next..].iter().take_while(|(visit, _)| begins(visit));
        let place = |((start_s, end_s), (first, end)): &(Moments, Extent)| {
            let each_second = if end_s > start_s { (end - first) / (end_s - start_s) } else { 0.0 };
            let at = |moment: f64| first + each_second * (moment.clamp(*start_s, *end_s) - start_s);
            (at(from_s), at(to_s))
        };
        during.map(place).collect()
    }
}

/// The strips below a chart with this axis across, for runs with where on it their measurements stand. None when nothing was told
/// of these runs.
pub(crate) fn along<'run>(
    x: &Axis,
    runs: impl Iterator<Item = (usize, &'run ChartedRun<'run>, Visits)>,
) -> Vec<Strip> {
    let mut series: [Vec<Series>; 3] = Default::default();
    for (index, charted, visits) in runs {
        let mut columns = [(); 3].map(|()| Columns::along(x));
        each_record(charted, visits, |places, values| {
            for (first, last) in places {
                for (columns, value) in columns.iter_mut().zip(values) {
                    value.into_iter().for_each(|value| columns.add_stretch(first, last, value));
                }
            }
        });
        for (series, columns) in series.iter_mut().zip(columns) {
            let layers = columns.lines();
            if !layers.is_empty() {
                series.push(Series::new("", layers).of_run(index));
            }
        }
    }
    let strip = |(name, series): (&str, Vec<Series>)| {
        let points = || series.iter().flat_map(Series::points).map(|point| point.value);
        let (low, high) = range_of(points())?;
        let y = match name {
            name if name == STRIPS[0] => Axis::of_degrees("", (low, high), DEGREES_MIN),
            name if name == STRIPS[1] => Axis::of_rates("", high),
            _ => Axis::of_shares(""),
        };
        Some(Strip { name: name.into(), y, series, marks: Vec::new(), is_equal: false })
    };
    STRIPS.into_iter().zip(series).filter_map(strip).collect()
}

/// The same with single measurements in the place of lines: where neighbours were measured at different times. Of those at one place
/// the lowest and the highest are there.
pub(super) fn scattered<'run>(
    x: &Axis,
    runs: impl Iterator<Item = (usize, &'run ChartedRun<'run>, Visits)>,
) -> Vec<Strip> {
    let mut strips = along(x, runs);
    for layer in strips.iter_mut().flat_map(|strip| &mut strip.series).flat_map(|series| &mut series.layers) {
        if let Layer::Line(points) = layer {
            let stretch =
                |point: &super::Point| Stretch { first: point.at, end: point.at, value: point.value };
            *layer = Layer::Measured(points.iter().map(stretch).collect());
        }
    }
    strips
}

/// A sentence for each run of which something was told while it measured what the chart shows: between what the temperature lay,
/// and how much others did at most. `names` are those of several runs.
pub(super) fn in_words<'run>(
    names: &[String],
    runs: impl Iterator<Item = (usize, &'run ChartedRun<'run>, Visits)>,
) -> Vec<String> {
    let sentence = |(index, charted, visits): (usize, &'run ChartedRun<'run>, Visits)| {
        let mut ranges: [Option<(f64, f64)>; 3] = [None; 3];
        each_record(charted, visits, |_, values| {
            for (range, value) in ranges.iter_mut().zip(values) {
                *range = range_of(range.iter().flat_map(|range| [range.0, range.1]).chain(value));
            }
        });
        let [temperature, load, processors] = ranges;
        let told: Vec<String> = [
            temperature.map(degrees),
            load.map(|(_, most)| match most {
                most if most > 0.0 => format!("others moved up to {} on the drive", rough_rate(most)),
                _ => "others moved nothing on the drive".into(),
            }),
            processors.map(|(_, most)| format!("others used up to {:.0} % of the processors", 100.0 * most)),
        ]
        .into_iter()
        .flatten()
        .collect();
        let of = if names.len() > 1 {
            format!(", {}", harmless(&names[index], NAME_COLUMNS_MAX))
        } else {
            String::new()
        };
        (!told.is_empty()).then(|| format!("Meanwhile{of}: {}.", told.join("; ")))
    };
    runs.filter_map(sentence).collect()
}

/// What was told while these runs measured anything at all.
pub(super) fn of_measurements<'run>(names: &[String], runs: &'run [ChartedRun<'run>]) -> Vec<String> {
    let is_measured = |summary: &PhaseSummary| summary.phase.kind == PhaseKind::Measure;
    in_words(names, of_each(runs, |run| Visits::during(run, is_measured)))
}

/// Each run with its number and its visits.
pub(super) fn of_each<'run>(
    runs: &'run [ChartedRun<'run>],
    visits: impl Fn(&'run Run) -> Visits,
) -> impl Iterator<Item = (usize, &'run ChartedRun<'run>, Visits)> {
    runs.iter().enumerate().map(move |(index, charted)| (index, charted, visits(charted.run)))
}

fn degrees((low, high): (f64, f64)) -> String {
    let [low, high] = [low, high].map(|degrees| format!("{degrees:.0}"));
    if low == high {
        format!("the drive was at {low} °C")
    } else {
        format!("the drive was at {low} to {high} °C")
    }
}

/// Gives what the host told to `take`, with where on the axis the drive was asked meanwhile; not what it told between measurements.
fn each_record(
    charted: &ChartedRun<'_>,
    mut visits: Visits,
    mut take: impl FnMut(Vec<Extent>, [Option<f64>; 3]),
) {
    let mut before_s = None;
    for record in charted.series.into_iter().flat_map(|stored| stored.telemetry()) {
        let at_s = record.at_ns as f64 / 1e9;
        let from_s: f64 = before_s.replace(at_s).unwrap_or(at_s);
        let values = values(&record, at_s - from_s);
        if values.iter().all(Option::is_none) {
            continue;
        }
        let places = visits.places((from_s, at_s));
        if !places.is_empty() {
            take(places, values);
        }
    }
}

/// Temperature, what others moved, and what they used of the processors, as far as the host tells.
fn values(record: &TelemetryRecord, seconds: f64) -> [Option<f64>; 3] {
    let device = record.device_read_bytes.zip(record.device_write_bytes);
    let own = record.own_read_bytes + record.own_write_bytes;
    let others = device.map(|(read, written)| (read + written).saturating_sub(own) as f64 / seconds);
    let busy = record.cpu_busy_share.zip(record.own_cpu_share);
    let processors = busy.map(|(all, own)| (all - own).clamp(0.0, 1.0));
    [record.temperature_celsius, others.filter(|_| seconds > 0.0), processors.filter(|_| seconds > 0.0)]
}
