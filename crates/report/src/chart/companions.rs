//! What went on around a measurement: the drive's temperature, and what others did meanwhile. Where the axis across says where or
//! when something was measured it stands below the chart, over the same axis; else it is told in words.

use super::course::Columns;
use super::naming::{range_of, values_of};
use super::phase::{seconds, start_s};
use super::{Axis, ChartedRun, Layer, Series, Stretch, Strip};
use crate::hostile::harmless;
use crate::quantity::rough_rate;
use model::plan::PhaseKind;
use model::record::TelemetryRecord;
use model::run::{PhaseSummary, Run};

/// From when to when, in seconds of the run's clock.
pub(crate) type Moments = (f64, f64);
pub(crate) type Extent = (f64, f64);
/// Fewer degrees than this are not worth a full height.
const DEGREES_MIN: f64 = 8.0;
/// Columns of the name of a run before what is told of it.
const NAME_COLUMNS_MAX: usize = 60;
const STRIPS: [&str; 3] = ["Drive temperature", "Background load on the drive", "CPU used by others"];

#[derive(Default)]
pub(crate) struct Samples {
    samples: Vec<(Moments, Extent)>,
    /// The first that may not be over yet.
    next: usize,
}

pub(crate) type Sampled<'run> = (usize, &'run ChartedRun<'run>, Samples);

impl Samples {
    pub(super) fn of(run: &Run, place: impl Fn(&PhaseSummary) -> Option<Extent>) -> Samples {
        let mut samples = Samples::default();
        for summary in &run.phases {
            if let Some(extent) = place(summary) {
                samples.add(summary, extent);
            }
        }
        samples
    }

    /// Phases that no place of an axis belongs to: what went on is told in words.
    pub(super) fn during(run: &Run, is_meant: impl Fn(&PhaseSummary) -> bool) -> Samples {
        Samples::of(run, |summary| if is_meant(summary) { Some((0.0, 0.0)) } else { None })
    }

    pub(super) fn add(&mut self, summary: &PhaseSummary, extent: Extent) {
        let start_s = start_s(summary);
        self.samples.push(((start_s, start_s + seconds(summary)), extent));
    }

    pub(crate) fn new(samples: Vec<(Moments, Extent)>) -> Samples {
        Samples { samples, next: 0 }
    }

    fn places(&mut self, (from_s, to_s): Moments) -> Vec<Extent> {
        let lasts = to_s > from_s;
        while let Some(((_, end_s), _)) = self.samples.get(self.next)
            && is_before(*end_s, from_s, lasts)
        {
            self.next += 1;
        }
        let mut places = Vec::new();
        for ((start_s, end_s), (first, end)) in &self.samples[self.next..] {
            if is_before(to_s, *start_s, lasts) {
                break;
            }
            let each_second = if end_s > start_s { (end - first) / (end_s - start_s) } else { 0.0 };
            let from = from_s.clamp(*start_s, *end_s) - start_s;
            let to = to_s.clamp(*start_s, *end_s) - start_s;
            places.push((first + each_second * from, first + each_second * to));
        }
        places
    }
}

/// What only touches a time that lasts is not during it.
fn is_before(end_s: f64, start_s: f64, lasts: bool) -> bool {
    end_s < start_s || (lasts && end_s == start_s)
}

/// The strips below a chart with this axis across, for runs with where on it their measurements stand. None when nothing was told of these runs.
pub(crate) fn along(x: &Axis, runs: Vec<Sampled<'_>>) -> Vec<Strip> {
    let mut series: [Vec<Series>; 3] = Default::default();
    for (index, charted, samples) in runs {
        let mut columns = [Columns::along(x), Columns::along(x), Columns::along(x)];
        for (places, values) in records(charted, samples) {
            for (first, last) in places {
                for (columns, value) in columns.iter_mut().zip(values) {
                    if let Some(value) = value {
                        columns.add_stretch(first, last, value);
                    }
                }
            }
        }
        for (series, columns) in series.iter_mut().zip(columns) {
            let layers = columns.lines();
            if !layers.is_empty() {
                series.push(Series::new("", layers).of_run(index));
            }
        }
    }
    let mut strips = Vec::new();
    for (name, series) in STRIPS.into_iter().zip(series) {
        let Some((low, high)) = values_of(&series) else { continue };
        let y = match name {
            name if name == STRIPS[0] => Axis::of_degrees("", (low, high), DEGREES_MIN),
            name if name == STRIPS[1] => Axis::of_rates("", high),
            _ => Axis::of_shares(""),
        };
        strips.push(Strip { name: name.into(), y, series, marks: Vec::new(), is_equal: false });
    }
    strips
}

/// The same with single measurements in the place of lines: where neighbours were measured at different times. Of one place the extremes are there.
pub(super) fn scattered(x: &Axis, runs: Vec<Sampled<'_>>) -> Vec<Strip> {
    let mut strips = along(x, runs);
    for strip in &mut strips {
        for series in &mut strip.series {
            let mut layers = Vec::new();
            for layer in &series.layers {
                let points = layer.points().iter();
                layers.push(Layer::Measured(
                    points.map(|point| Stretch::point(point.at, point.value)).collect(),
                ));
            }
            series.layers = layers;
        }
    }
    strips
}

/// A sentence for each run of which something was told while it measured what the chart shows: the range of the temperature, and how
/// much others did at most. `names` are those of several runs.
pub(super) fn in_words(names: &[String], runs: Vec<Sampled<'_>>) -> Vec<String> {
    let mut sentences = Vec::new();
    for (index, charted, samples) in runs {
        let mut told: [Vec<f64>; 3] = Default::default();
        for (_, values) in records(charted, samples) {
            for (all, value) in told.iter_mut().zip(values) {
                all.extend(value);
            }
        }
        let [temperature, load, processors] = told.map(range_of);
        let mut parts = Vec::new();
        if let Some(range) = temperature {
            parts.push(degrees(range));
        }
        if let Some((_, most)) = load {
            parts.push(match most {
                most if most > 0.0 => format!("background load up to {}", rough_rate(most)),
                _ => "no background load".into(),
            });
        }
        if let Some((_, most)) = processors {
            parts.push(format!("other processes used up to {:.0} % of the CPUs", 100.0 * most));
        }
        let of = match names.len() {
            0 | 1 => String::new(),
            _ => format!(", {}", harmless(&names[index], NAME_COLUMNS_MAX)),
        };
        if !parts.is_empty() {
            sentences.push(format!("Meanwhile{of}: {}.", parts.join("; ")));
        }
    }
    sentences
}

pub(super) fn during(
    names: &[String],
    runs: &[ChartedRun<'_>],
    is_meant: fn(&PhaseSummary) -> bool,
) -> Vec<String> {
    in_words(names, of_each(runs, |run| Samples::during(run, is_meant)))
}

pub(super) fn is_measured(summary: &PhaseSummary) -> bool {
    summary.phase.kind == PhaseKind::Measure
}

pub(super) fn of_each<'run>(
    runs: &'run [ChartedRun<'run>],
    samples: impl Fn(&'run Run) -> Samples,
) -> Vec<Sampled<'run>> {
    let mut sampled = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        sampled.push((index, charted, samples(charted.run)));
    }
    sampled
}

fn degrees((low, high): (f64, f64)) -> String {
    let (low, high) = (format!("{low:.0}"), format!("{high:.0}"));
    if low == high { format!("drive at {low} °C") } else { format!("drive at {low} to {high} °C") }
}

/// What the host told, with where on the axis the requests went meanwhile; not what it told between measurements.
fn records(charted: &ChartedRun<'_>, mut samples: Samples) -> Vec<(Vec<Extent>, [Option<f64>; 3])> {
    let mut told = Vec::new();
    let Some(series) = charted.series else { return told };
    let mut before_s = None;
    for record in series.telemetry() {
        let at_s = record.at_ns as f64 / 1e9;
        let from_s: f64 = before_s.replace(at_s).unwrap_or(at_s);
        let values = values(&record, at_s - from_s);
        if values.iter().any(Option::is_some) {
            let places = samples.places((from_s, at_s));
            if !places.is_empty() {
                told.push((places, values));
            }
        }
    }
    told
}

/// Temperature, what others moved, and what they used of the processors, as far as the host tells.
fn values(record: &TelemetryRecord, seconds: f64) -> [Option<f64>; 3] {
    let (mut others, mut processors) = (None, None);
    if seconds > 0.0 {
        if let (Some(read), Some(written)) = (record.device_read_bytes, record.device_write_bytes) {
            let own = record.own_read_bytes + record.own_write_bytes;
            others = Some((read + written).saturating_sub(own) as f64 / seconds);
        }
        if let (Some(all), Some(own)) = (record.cpu_busy_share, record.own_cpu_share) {
            processors = Some((all - own).clamp(0.0, 1.0));
        }
    }
    [record.temperature_celsius, others, processors]
}
