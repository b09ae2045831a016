//! What went on around a measurement, below its chart: the drive's temperature, and what others did meanwhile.

use super::course::Columns;
use super::naming::range_of;
use super::{Axis, ChartedRun, Layer, Series, Strip};
use model::record::TelemetryRecord;

/// From when to when, in seconds of the run's clock.
pub(super) type Moments = (f64, f64);
/// Fewer degrees than this are not worth a full height.
const DEGREES_MIN: f64 = 8.0;
const STRIPS: [&str; 3] =
    ["Temperature of the drive", "Load on the drive by others", "Processors used by others"];

/// The strips below a chart whose axis across ends there, for runs with the places that belong to a stretch of their time.
/// None when nothing was told of these runs.
pub(super) fn over<'run, Places>(
    end: f64,
    runs: impl Iterator<Item = (usize, &'run ChartedRun<'run>, Places)>,
) -> Vec<Strip>
where
    Places: FnMut(Moments) -> Vec<(f64, f64)>,
{
    let mut series: [Vec<Series>; 3] = Default::default();
    for (index, charted, mut places) in runs {
        let Some(stored) = charted.series else { continue };
        let mut columns = [(); 3].map(|()| Columns::until(end));
        let mut before_s = None;
        for record in stored.telemetry() {
            let at_s = record.at_ns as f64 / 1e9;
            let from_s: f64 = before_s.replace(at_s).unwrap_or(at_s);
            let values = values(&record, at_s - from_s);
            if values.iter().all(Option::is_none) {
                continue;
            }
            for (first, last) in places((from_s, at_s)) {
                for (columns, value) in columns.iter_mut().zip(values) {
                    value.into_iter().for_each(|value| columns.add_stretch(first, last, value));
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

/// Temperature, what others moved, and what they used of the processors, as far as the host tells.
fn values(record: &TelemetryRecord, seconds: f64) -> [Option<f64>; 3] {
    let device = record.device_read_bytes.zip(record.device_write_bytes);
    let own = record.own_read_bytes + record.own_write_bytes;
    let others = device.map(|(read, written)| (read + written).saturating_sub(own) as f64 / seconds);
    let busy = record.cpu_busy_share.zip(record.own_cpu_share);
    let processors = busy.map(|(all, own)| (all - own).clamp(0.0, 1.0));
    [record.temperature_celsius, others.filter(|_| seconds > 0.0), processors.filter(|_| seconds > 0.0)]
}

/// The same lines as single measurements: where neighbours were measured at different times.
pub(super) fn as_measured(mut strips: Vec<Strip>) -> Vec<Strip> {
    for layer in strips.iter_mut().flat_map(|strip| &mut strip.series).flat_map(|series| &mut series.layers) {
        if let Layer::Line(points) = layer {
            let stretch =
                |point: &super::Point| super::Stretch { first: point.at, end: point.at, value: point.value };
            *layer = Layer::Measured(points.iter().map(stretch).collect());
        }
    }
    strips
}
