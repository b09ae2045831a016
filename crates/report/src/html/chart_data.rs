//! A chart as data for the script of the page.
//!
//! Columns of numbers are packed: places along an axis as 32-bit shares of its reach, values as 32-bit floats, both little
//! endian in base64. Of a series with more measurements than a screen has room for, each column keeps the lowest and the
//! highest, so that no peak and no valley is lost, and the page says so.

use super::evidence::Marked;
use crate::chart::{
    Axis, Band, Beside, Chart, Layer, Mark, Numbers, Place, Point, Scale, Series, Stretch, Strip,
};
use crate::quantity::count;
use serde_json::{Value, json};

/// Columns of which the lowest and the highest measurement are kept: twice a screen of 4096 pixels. Zoomed in so far that a
/// column is wider than that is a look at single measurements, which the run itself has.
const COLUMNS: usize = 8192;

/// The data, and what must be said of them.
pub(super) struct Document {
    pub json: String,
    pub notes: Vec<String>,
}

/// The chart as JSON, with what findings mark in it.
pub(super) fn document(chart: &Chart, marked: &[Marked]) -> Document {
    let mut packer = Packer {
        start: chart.x.start,
        width: (reach(chart) - chart.x.start).max(f64::MIN_POSITIVE),
        notes: Vec::new(),
    };
    let main = packer.pane(&chart.series, &chart.marks, &chart.y);
    let strips = chart.strips.iter().map(|strip| packer.strip(strip));
    let panes: Vec<Value> =
        std::iter::once(with(main, "level_name", json!(chart.level_name))).chain(strips).collect();
    let evidence = marked.iter().map(|one| json!({ "finding": one.finding, "stretches": one.stretches }));
    let json = json!({
        "name": chart.name,
        "title": chart.title,
        "start": packer.start,
        "width": packer.width,
        "x": axis(&chart.x),
        "panes": panes,
        "beside": chart.beside.as_ref().map(beside),
        "evidence": evidence.collect::<Vec<_>>(),
    });
    Document { json: json.to_string(), notes: packer.notes }
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

fn axis(axis: &Axis) -> Value {
    let scale = match axis.scale {
        Scale::Even => "even",
        Scale::Decades => "decades",
        Scale::Doublings => "doublings",
        Scale::Nines => "nines",
    };
    let numbers = match axis.numbers {
        Numbers::OfAxis => "axis",
        Numbers::Times => "times",
        Numbers::Sizes => "sizes",
        Numbers::Rates => "rates",
        Numbers::Counts => "counts",
        Numbers::Percents => "percents",
    };
    json!({
        "label": axis.label, "unit": axis.unit, "divisor": axis.divisor, "start": axis.start, "end": axis.end, "scale": scale,
        "numbers": numbers,
    })
}

fn mark(mark: &Mark) -> Value {
    let (kind, numbers) = match mark.place {
        Place::At(at) => ("at", vec![at]),
        Place::Over { first, end } => ("over", vec![first, end]),
        Place::Pause { first, end } => ("pause", vec![first, end]),
        Place::Value(value) => ("value", vec![value]),
        Place::Point { at, value } => ("point", vec![at, value]),
    };
    json!({ "name": mark.name, "series": mark.series, "kind": kind, "numbers": numbers })
}

fn beside(beside: &Beside) -> Value {
    let bars = beside
        .bars
        .iter()
        .map(|bars| -> Vec<[f64; 3]> { bars.iter().map(|bar| [bar.low, bar.high, bar.share]).collect() });
    json!({ "label": beside.label, "bars": bars.collect::<Vec<_>>() })
}

/// Up to where anything reaches along the axis across, in base units.
fn reach(chart: &Chart) -> f64 {
    let below = chart.strips.iter().flat_map(|strip| &strip.series);
    let layers = chart.series.iter().chain(below).flat_map(|series| &series.layers);
    layers.map(end).filter(|end| end.is_finite()).fold(chart.x.end, f64::max)
}

fn end(layer: &Layer) -> f64 {
    match layer {
        Layer::Measured(stretches) | Layer::Levels(stretches) => {
            stretches.iter().map(|stretch| stretch.end).fold(f64::NEG_INFINITY, f64::max)
        }
        Layer::Bands(bands) => bands.iter().map(|band| band.end).fold(f64::NEG_INFINITY, f64::max),
        Layer::Line(points) | Layer::Trend(points) => {
            points.iter().map(|point| point.at).fold(f64::NEG_INFINITY, f64::max)
        }
    }
}

/// Packs series, and notes what it left out.
struct Packer {
    /// Where the axis across begins, and how far anything reaches from there.
    start: f64,
    width: f64,
    notes: Vec<String>,
}

impl Packer {
    fn pane(&mut self, series: &[Series], marks: &[Mark], y: &Axis) -> Value {
        let series: Vec<Value> = series.iter().map(|series| self.series(series)).collect();
        json!({ "name": Value::Null, "y": axis(y), "series": series, "marks": marks.iter().map(mark).collect::<Vec<_>>() })
    }

    fn strip(&mut self, strip: &Strip) -> Value {
        let pane = self.pane(&strip.series, &strip.marks, &strip.y);
        with(with(pane, "name", json!(strip.name)), "is_equal", json!(strip.is_equal))
    }

    fn series(&mut self, series: &Series) -> Value {
        let layers: Vec<Value> = series.layers.iter().map(|layer| self.layer(layer, &series.name)).collect();
        json!({ "name": series.name, "layers": layers })
    }

    fn layer(&mut self, layer: &Layer, name: &str) -> Value {
        match layer {
            Layer::Measured(stretches) => {
                let kept = reduced(stretches, self.start, self.width);
                if kept.len() < stretches.len() {
                    self.notes.push(note(name, kept.len(), stretches.len()));
                }
                self.stretches("measured", &kept)
            }
            Layer::Levels(stretches) => self.stretches("levels", stretches),
            Layer::Bands(bands) => self.bands(bands),
            Layer::Line(points) => self.line("line", points),
            Layer::Trend(points) => self.line("trend", points),
        }
    }

    fn line(&self, kind: &str, points: &[Point]) -> Value {
        let has_intervals = points.iter().any(|point| point.interval.is_some());
        let end = |of: fn((f64, f64)) -> f64| {
            has_intervals.then(|| values(points.iter().map(|point| point.interval.map_or(f64::NAN, of))))
        };
        json!({
            "kind": kind,
            "first": self.places(points.iter().map(|point| point.at)),
            "value": values(points.iter().map(|point| point.value)),
            "low": end(|(low, _)| low),
            "high": end(|(_, high)| high),
        })
    }

    fn stretches(&self, kind: &str, stretches: &[Stretch]) -> Value {
        let are_points = stretches.iter().all(|stretch| stretch.first == stretch.end);
        let ends = (!are_points).then(|| self.places(stretches.iter().map(|stretch| stretch.end)));
        json!({
            "kind": kind,
            "first": self.places(stretches.iter().map(|stretch| stretch.first)),
            "end": ends,
            "value": values(stretches.iter().map(|stretch| stretch.value)),
        })
    }

    fn bands(&self, bands: &[Band]) -> Value {
        json!({
            "kind": "bands",
            "first": self.places(bands.iter().map(|band| band.first)),
            "end": self.places(bands.iter().map(|band| band.end)),
            "low": values(bands.iter().map(|band| band.low)),
            "high": values(bands.iter().map(|band| band.high)),
        })
    }

    fn places(&self, places: impl Iterator<Item = f64>) -> String {
        let share = |place: f64| {
            (((place - self.start) / self.width).clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32
        };
        base64(&places.flat_map(|place| share(place).to_le_bytes()).collect::<Vec<u8>>())
    }
}

fn values(values: impl Iterator<Item = f64>) -> String {
    base64(&values.flat_map(|value| (value as f32).to_le_bytes()).collect::<Vec<u8>>())
}

fn note(name: &str, kept: usize, all: usize) -> String {
    format!(
        "{name}: {} of {} measurements are in this page. Of each of {} columns it has the lowest and the highest, so that no peak and no \
         valley is lost.",
        count(kept as u64),
        count(all as u64),
        count(COLUMNS as u64)
    )
}

/// The measurements from left to right; of too many the lowest and the highest of each column. A column is where a
/// measurement begins.
fn reduced(stretches: &[Stretch], start: f64, width: f64) -> Vec<Stretch> {
    let finite = || stretches.iter().filter(|stretch| stretch.value.is_finite());
    let mut kept: Vec<Stretch> = if stretches.len() <= 2 * COLUMNS {
        finite().copied().collect()
    } else {
        let mut columns: Vec<Option<(Stretch, Stretch)>> = vec![None; COLUMNS];
        for stretch in finite() {
            let index = ((stretch.first - start) / width * COLUMNS as f64) as usize;
            let (low, high) = columns[index.min(COLUMNS - 1)].get_or_insert((*stretch, *stretch));
            if stretch.value < low.value {
                *low = *stretch;
            }
            if stretch.value > high.value {
                *high = *stretch;
            }
        }
        let pair = |(low, high): (Stretch, Stretch)| if low == high { vec![low] } else { vec![low, high] };
        columns.into_iter().flatten().flat_map(pair).collect()
    };
    kept.sort_by(|a, b| a.first.total_cmp(&b.first));
    kept
}

const BASE64_LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = BASE64_LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn few_measurements_are_all_there() {
        let at = |first: f64, value: f64| Stretch { first, end: first, value };
        assert_eq!(
            reduced(&[at(2.0, 1.0), at(1.0, f64::NAN), at(0.0, 3.0)], 0.0, 2.0),
            [at(0.0, 3.0), at(2.0, 1.0)]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn no_peak_and_no_valley_is_lost(seed in 0u64..1000) {
            let value = |index: u64| (index.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed) >> 33) as f64;
            let all: Vec<Stretch> = (0..20_000u64).map(|index| Stretch { first: index as f64, end: index as f64, value: value(index) }).collect();
            let kept = reduced(&all, 0.0, 20_000.0);
            prop_assert!(kept.len() <= 2 * COLUMNS);
            for window in all.chunks(70).step_by(5) {
                let within = |stretch: &&Stretch| stretch.first >= window[0].first - 7.0 && stretch.first <= window[69.min(window.len() - 1)].first + 7.0;
                let highest = window.iter().map(|stretch| stretch.value).fold(0.0, f64::max);
                let seen = kept.iter().filter(within).map(|stretch| stretch.value).fold(0.0, f64::max);
                prop_assert!(seen >= highest);
            }
        }
    }
}
