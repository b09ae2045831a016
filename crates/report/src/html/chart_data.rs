//! A chart as data for the script of the page: what [`crate::chart`] lays out, in coordinates in which every axis is even.
//!
//! Columns of numbers are packed: places along an axis as 32-bit shares of its reach, values as 32-bit floats, both little
//! endian in base64. Of a series with more measurements than a screen has room for, each column keeps the lowest and the
//! highest, so that no peak and no valley is lost, and the page says so.

use super::evidence::Marked;
use crate::chart::drawing::{Ink, RULES, SYMBOLS, symbol_index};
use crate::chart::layout::{self, Layout, NARROW, PAGE, PHONE, Sheet};
use crate::chart::reduction::Extremes;
use crate::chart::{Axis, Band, Chart, Layer, Mark, Numbers, Place, Point, Series, Stretch, Tick};
use crate::quantity::count;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Columns of which the lowest and the highest measurement are kept: twice a screen of 4096 pixels. Zoomed in so far that a
/// column is wider than that is a look at single measurements, which the run itself has.
const COLUMNS: usize = 8192;

pub(super) struct Document {
    pub json: String,
    pub notes: Vec<String>,
}

pub(super) fn common() -> String {
    let mut common = json!(RULES);
    common["symbols"] = json!(SYMBOLS);
    common["text_size"] = json!(PAGE.text_size);
    common["numbers_below"] = json!(PAGE.numbers_below);
    common["name_below"] = json!(PAGE.name_below);
    common["narrow"] = json!(NARROW);
    in_script(&common)
}

/// JSON as it may stand in a script element: the sign occurs within strings only.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

pub(super) fn document(chart: &Chart, marked: &[Marked]) -> Document {
    let (start, mut reach) = chart.x.extent();
    let below = chart.strips.iter().flat_map(|strip| &strip.series);
    for series in chart.series.iter().chain(below) {
        let end = chart.x.coordinate(series.end());
        if end.is_finite() {
            reach = reach.max(end);
        }
    }
    let mut packer =
        Packer { chart, start, width: (reach - start).max(f64::MIN_POSITIVE), notes: Vec::new() };
    let mut panes =
        vec![packer.pane(&chart.y.name(), &chart.y, &layout::main_ticks(chart), &chart.series, &chart.marks)];
    for strip in &chart.strips {
        let ticks = layout::strip_ticks(&strip.y);
        panes.push(packer.pane(&strip.title(), &strip.y, &ticks, &strip.series, &strip.marks));
    }
    let evidence: Vec<Value> = marked.iter().map(|one| one.at_coordinates(&chart.x)).collect();
    let data = json!({
        "name": chart.name, "title": chart.title, "places": [packer.start, packer.width],
        "x": axis(&chart.x, 5, &[]), "panes": panes, "wide": boxes(chart, &PAGE), "narrow": boxes(chart, &PHONE),
        "beside": beside(chart), "evidence": evidence,
    });
    Document { json: in_script(&data), notes: packer.notes }
}

/// `digits` are those with which a value is read off; round numbers say whether they stay where there is room for few.
fn axis(axis: &Axis, digits: u8, ticks: &[Tick]) -> Value {
    let (start, end) = axis.extent();
    let mut placed = Vec::new();
    for tick in ticks {
        placed.push(json!([start + tick.share * (end - start), tick.label]));
    }
    let mut round = Vec::new();
    for number in axis.round_numbers() {
        round.push(json!([axis.coordinate(number.value), axis.tick_label(number.value), number.is_main]));
    }
    let digits = match axis.numbers {
        Numbers::Counts => 9,
        Numbers::Percents => 7,
        _ => digits,
    };
    json!({
        "label": axis.label, "name": axis.name(), "scale": axis.scale, "start": start, "end": end, "units": axis.units(),
        "has_own_units": axis.numbers != Numbers::OfAxis, "digits": digits, "ticks": placed, "round": round,
    })
}

/// Where the plots are in a chart of any width: what is on the right counts from the right edge.
fn boxes(chart: &Chart, sheet: &'static Sheet) -> Value {
    let layout = Layout::of(chart, 0, &[], sheet);
    let beside = layout.beside.map(|(left, right)| (sheet.width - left, sheet.width - right));
    let mut plots = Vec::new();
    for panel in layout.panels() {
        plots.push((panel.top, panel.bottom));
    }
    json!({
        "left": layout.main.left, "right": sheet.width - layout.main.right, "beside": beside, "height": layout.height,
        "plots": plots,
    })
}

/// For each series the lowest coordinate, then the end of each bar and its share of the longest.
fn beside(chart: &Chart) -> Value {
    let Some(beside) = &chart.beside else { return Value::Null };
    let most = beside.longest().max(f64::MIN_POSITIVE);
    let mut all = Vec::new();
    for bars in &beside.bars {
        let lowest = bars.first().map_or(chart.y.start, |bar| bar.low);
        let mut ends = Vec::new();
        for bar in bars {
            ends.push((chart.y.coordinate(bar.high), bar.share / most));
        }
        all.push(json!([chart.y.coordinate(lowest), ends]));
    }
    json!({ "label": beside.label, "bars": all })
}

fn mark(mark: &Mark, x: &Axis, y: &Axis) -> Value {
    let (kind, numbers) = match mark.place {
        Place::At(at) => ("border", vec![x.coordinate(at)]),
        Place::Over { first, end } | Place::Pause { first, end } => {
            ("region", vec![x.coordinate(first), x.coordinate(end)])
        }
        Place::Value(value) => ("limit", vec![y.coordinate(value)]),
        Place::Point { at, value } => ("ring", vec![x.coordinate(at), y.coordinate(value)]),
    };
    json!({ "name": mark.name, "series": mark.series, "ink": mark.ink().name(), "kind": kind, "numbers": numbers })
}

struct Packer<'chart> {
    chart: &'chart Chart,
    /// Where the axis across begins, and how far anything reaches from there.
    start: f64,
    width: f64,
    notes: Vec<String>,
}

impl Packer<'_> {
    fn pane(&mut self, title: &str, y: &Axis, ticks: &[Tick], all: &[Series], marks: &[Mark]) -> Value {
        let marks: Vec<Value> = marks.iter().map(|one| mark(one, &self.chart.x, y)).collect();
        let mut series = Vec::new();
        for (number, one) in all.iter().enumerate() {
            let is_main = std::ptr::eq(all, self.chart.series.as_slice());
            let index = if is_main { number } else { self.chart.index_of_run(one.run) };
            let layers: Vec<Value> = one.layers.iter().map(|layer| self.layer(layer, y, &one.name)).collect();
            let (ink, symbol) = (Ink::Series(index).name(), symbol_index(index));
            series.push(json!({ "name": one.name, "ink": ink, "symbol": symbol, "layers": layers }));
        }
        json!({
            "title": title, "y": axis(y, 4, ticks), "series": series, "marks": marks, "level_name": self.chart.level_name,
        })
    }

    fn layer(&mut self, layer: &Layer, y: &Axis, name: &str) -> Value {
        match layer {
            Layer::Measured(all) => {
                let kept = reduced(all, &self.chart.x, self.start, self.width);
                if kept.len() < all.len() {
                    self.notes.push(note(name, kept.len(), all.len()));
                }
                self.stretches("measured", &kept, y)
            }
            Layer::Levels(levels) => self.stretches("levels", levels, y),
            Layer::Bands(bands) => self.bands(bands, y),
            Layer::Line(points) => self.points("line", points, y),
            Layer::Trend(points) => self.points("trend", points, y),
        }
    }

    fn bands(&self, bands: &[Band], y: &Axis) -> Value {
        let (mut first, mut end, mut low, mut high) = Default::default();
        for band in bands {
            self.pack_place(&mut first, band.first);
            self.pack_place(&mut end, band.end);
            pack_value(&mut low, band.low, y);
            pack_value(&mut high, band.high, y);
        }
        json!({ "kind": "bands", "first": text(&first), "end": text(&end), "low": text(&low), "high": text(&high) })
    }

    fn points(&self, kind: &str, points: &[Point], y: &Axis) -> Value {
        let (mut first, mut values, mut lows, mut highs) = Default::default();
        let mut has_intervals = false;
        for point in points {
            let (low, high) = point.interval.unwrap_or((f64::NAN, f64::NAN));
            has_intervals |= point.interval.is_some();
            self.pack_place(&mut first, point.at);
            pack_value(&mut values, point.value, y);
            pack_value(&mut lows, low, y);
            pack_value(&mut highs, high, y);
        }
        json!({
            "kind": kind, "first": text(&first), "value": text(&values),
            "low": if has_intervals { Some(text(&lows)) } else { None },
            "high": if has_intervals { Some(text(&highs)) } else { None },
        })
    }

    fn stretches(&self, kind: &str, stretches: &[Stretch], y: &Axis) -> Value {
        let (mut firsts, mut ends, mut values) = Default::default();
        let mut has_ends = false;
        for stretch in stretches {
            has_ends |= stretch.first != stretch.end;
            self.pack_place(&mut firsts, stretch.first);
            self.pack_place(&mut ends, stretch.end);
            pack_value(&mut values, stretch.value, y);
        }
        let end = if has_ends { Some(text(&ends)) } else { None };
        json!({ "kind": kind, "first": text(&firsts), "end": end, "value": text(&values) })
    }

    fn pack_place(&self, packed: &mut Vec<u8>, place: f64) {
        let share = ((self.chart.x.coordinate(place) - self.start) / self.width).clamp(0.0, 1.0);
        packed.extend(((share * f64::from(u32::MAX)).round() as u32).to_le_bytes());
    }
}

fn pack_value(packed: &mut Vec<u8>, value: f64, y: &Axis) {
    let value = if value.is_nan() { f32::NAN } else { y.coordinate(value) as f32 };
    packed.extend(value.to_le_bytes());
}

fn text(packed: &[u8]) -> String {
    BASE64_STANDARD.encode(packed)
}

fn note(name: &str, kept: usize, all: usize) -> String {
    format!(
        "{name}: this page holds {} of {} measurements, the minimum and maximum of each of {} columns.",
        count(kept as u64),
        count(all as u64),
        count(COLUMNS as u64)
    )
}

/// The measurements from left to right; of too many the lowest and the highest of each column. A column is where a measurement begins.
fn reduced(stretches: &[Stretch], x: &Axis, start: f64, width: f64) -> Vec<Stretch> {
    let finite = stretches.iter().filter(|stretch| stretch.value.is_finite()).copied();
    let mut kept: Vec<Stretch> = if stretches.len() <= 2 * COLUMNS {
        finite.collect()
    } else {
        let mut extremes = Extremes::new(COLUMNS);
        for stretch in finite {
            extremes.add((x.coordinate(stretch.first) - start) / width, stretch);
        }
        extremes.kept()
    };
    kept.sort_by(|a, b| a.first.total_cmp(&b.first));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis() -> Axis {
        Axis::of_amounts("", 20_000.0)
    }

    #[test]
    fn few_measurements_are_all_there() {
        let at = |first: f64, value: f64| Stretch { first, end: first, value };
        assert_eq!(
            reduced(&[at(2.0, 1.0), at(1.0, f64::NAN), at(0.0, 3.0)], &axis(), 0.0, 2.0),
            [at(0.0, 3.0), at(2.0, 1.0)]
        );
    }

    proptest! {
        #[test]
        fn json_in_a_script_means_the_same(text in "[<>&/a-z!\\-\"\u{2028}\u{2029}\\\\]{0,40}") {
            let safe = in_script(&json!(text));
            prop_assert!(!safe.contains('<'));
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn no_peak_and_no_valley_is_lost(seed in 0u64..1000) {
            let value = |index: u64| (index.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed) >> 33) as f64;
            let all: Vec<Stretch> = (0..20_000u64).map(|index| Stretch { first: index as f64, end: index as f64, value: value(index) }).collect();
            let kept = reduced(&all, &axis(), 0.0, 20_000.0);
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
