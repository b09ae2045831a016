//! An axis: from where to where it goes, in which unit, and where its ticks are.

use crate::quantity::{binary_unit, decimal_unit};

/// An axis: one that is even begins at 0, the others where their numbers do.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows: "Position".
    pub label: String,
    /// The unit of its numbers: "TB"; empty where each number carries its own.
    pub unit: String,
    /// How many base units that is.
    pub divisor: f64,
    /// Where it begins, in base units; 0 on an even axis.
    pub start: f64,
    /// Where it ends, in base units; above its start.
    pub end: f64,
    /// What is equally far apart.
    pub scale: Scale,
    /// How its numbers are written.
    pub numbers: Numbers,
}

/// What is equally far apart on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences.
    #[default]
    Even,
    /// Equal ratios, with ticks at 1, 10, 100.
    Decades,
    /// Equal ratios, with ticks at powers of two.
    Doublings,
    /// Shares by the number of their nines: 0, 0.9, 0.99, 0.999.
    Nines,
}

/// How the numbers of an axis are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// In the unit of the axis, which stands beside it.
    #[default]
    OfAxis,
    /// Seconds: "10 ms".
    Times,
    /// Bytes: "4 KiB".
    Sizes,
    /// Bytes per second: "10 MB/s".
    Rates,
    /// Without a unit: "32".
    Counts,
    /// Shares: "99.9 %".
    Percents,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is, as a share of the axis.
    pub share: f64,
    /// Its number, without the unit of the axis.
    pub label: String,
}

/// The unit of numbers that have none but are large.
pub(super) const COUNTED: &str = "thousand";

/// Room before the first and after the last point of an axis of doublings, as a ratio.
const DOUBLINGS_MARGIN: f64 = 1.18;

impl Axis {
    /// Positions on targets of up to `capacity` bytes; files in binary units, as they are made, drives in decimal ones, as they are
    /// sold.
    pub fn of_positions(capacity: f64, is_file: bool) -> Axis {
        let (divisor, unit) = if is_file { binary_unit(capacity) } else { decimal_unit(capacity) };
        Axis::even("Position", unit, divisor, capacity.max(1.0))
    }

    /// Rates of up to `rate_max` bytes per second, to the next round number.
    pub fn of_rates(label: &str, rate_max: f64) -> Axis {
        let (divisor, unit) = match rate_max {
            giga if giga >= 1e9 => (1e9, "GB/s"),
            kilo if kilo < 1e6 && kilo > 0.0 => (1e3, "kB/s"),
            _ => (1e6, "MB/s"),
        };
        Axis::even(label, unit, divisor, round_end(rate_max / divisor) * divisor)
    }

    /// Times of up to `time_max_s` seconds, to the next round number.
    pub fn of_times(label: &str, time_max_s: f64) -> Axis {
        let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
        let fits = |(divisor, _): &&(f64, &str)| time_max_s >= *divisor;
        let (divisor, unit) = *units.iter().find(fits).unwrap_or(&units[2]);
        Axis::even(label, unit, divisor, round_end(time_max_s / divisor) * divisor)
    }

    /// The time that something took as a whole, in the largest unit of which it is a few.
    pub fn of_duration(label: &str, seconds: f64) -> Axis {
        let units = [(86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
        let fits = |(divisor, _): &&(f64, &str)| seconds >= 3.0 * *divisor;
        match units.iter().find(fits) {
            Some(&(divisor, unit)) => Axis::even(label, unit, divisor, seconds),
            None if seconds >= 1.0 => Axis::even(label, "s", 1.0, seconds),
            None => Axis::even(label, "ms", 1e-3, seconds.max(1e-3)),
        }
    }

    /// An amount of data of up to `bytes`.
    pub fn of_amounts(label: &str, bytes: f64) -> Axis {
        let (divisor, unit) = decimal_unit(bytes);
        Axis::even(label, unit, divisor, bytes.max(1.0))
    }

    /// An amount of data of up to `bytes`, to the next round number.
    pub fn of_volumes(label: &str, bytes: f64) -> Axis {
        let (divisor, unit) = decimal_unit(bytes);
        Axis::even(label, unit, divisor, round_end(bytes / divisor) * divisor)
    }

    /// Numbers without a unit, from 0 to the next round number.
    pub fn of_counts(label: &str, most: f64) -> Axis {
        let (divisor, unit) = if most >= 20_000.0 { (1e3, COUNTED) } else { (1.0, "") };
        Axis {
            numbers: Numbers::OfAxis,
            ..Axis::even(label, unit, divisor, round_end(most / divisor) * divisor)
        }
    }

    /// Degrees, or anything else whose 0 means nothing, over at least `span_min` of it.
    pub fn of_degrees(label: &str, (low, high): (f64, f64), span_min: f64) -> Axis {
        let step = round_step((high - low).max(span_min), 4);
        let start = (low / step).floor() * step;
        let end = ((high / step).ceil() * step).max(start + span_min);
        Axis { start, ..Axis::even(label, "°C", 1.0, end) }
    }

    /// Shares, from 0 to 100 %.
    pub fn of_shares(label: &str) -> Axis {
        Axis::even(label, "%", 0.01, 1.0)
    }

    /// Between these numbers, each decade as long as any other, to the next round numbers.
    pub fn of_decades(label: &str, (low, high): (f64, f64), numbers: Numbers) -> Axis {
        let low = if low.is_finite() && low > 0.0 { low } else { 1e-9 };
        let high = if high.is_finite() { high.max(low * 2.0) } else { low * 10.0 };
        let (start, end) = (round_down(low), round_up(high));
        let even = Axis::even(label, "", 1.0, end);
        Axis { start, scale: Scale::Decades, numbers, ..even }
    }

    /// Between these numbers, each doubling as long as any other.
    pub fn of_doublings(label: &str, (low, high): (f64, f64), numbers: Numbers) -> Axis {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let even = Axis::even(label, "", 1.0, high.max(low) * DOUBLINGS_MARGIN);
        Axis { start: low / DOUBLINGS_MARGIN, scale: Scale::Doublings, numbers, ..even }
    }

    /// Shares with up to so many nines.
    pub fn of_nines(label: &str, nines: f64) -> Axis {
        let even = Axis::even(label, "", 1.0, 1.0 - 10f64.powf(-nines.max(1.0)));
        Axis { scale: Scale::Nines, numbers: Numbers::Percents, ..even }
    }

    pub(super) fn even(label: &str, unit: &str, divisor: f64, end: f64) -> Axis {
        Axis {
            label: label.into(),
            unit: unit.into(),
            divisor,
            start: 0.0,
            end,
            scale: Scale::Even,
            numbers: Numbers::OfAxis,
        }
    }

    /// The label with its unit: "Position, TB".
    pub fn name(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{}, {}", self.label, self.unit) }
    }

    /// Where a value is, as a share of the axis, in [0, 1].
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Even => (value - self.start) / (self.end - self.start),
            Scale::Decades | Scale::Doublings => {
                let value = value.max(f64::MIN_POSITIVE);
                (value / self.start).ln() / (self.end / self.start).ln()
            }
            Scale::Nines => nines(value) / nines(self.end),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Even => self.start + share * (self.end - self.start),
            Scale::Decades | Scale::Doublings => self.start * (self.end / self.start).powf(share),
            Scale::Nines => 1.0 - 10f64.powf(-share * nines(self.end)),
        }
    }

    /// A value with its unit, to three digits: "285 MB/s".
    pub fn amount(&self, value: f64) -> String {
        let (scaled, unit) = match self.numbers {
            Numbers::OfAxis => (value / self.divisor, self.unit.as_str()),
            numbers => numbers.scaled(value),
        };
        if self.numbers == Numbers::Percents {
            return format!("{} %", percent_text(scaled));
        }
        let is_whole = self.divisor == 1.0 && unit.is_empty() && scaled.fract() == 0.0;
        let decimals = match scaled.abs() {
            _ if is_whole => 0,
            large if large >= 99.95 => 0,
            middle if middle >= 9.995 => 1,
            _ => 2,
        };
        format!("{scaled:.decimals$} {unit}").trim_end().to_string()
    }

    /// Ticks at round numbers, `count_max` steps at most.
    pub fn ticks(&self, count_max: usize) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Even => return self.steps(count_max),
            Scale::Decades => self.decades(count_max),
            Scale::Doublings => self.doublings(count_max),
            Scale::Nines => {
                let nines = (1..=9).map(|count| 1.0 - 10f64.powi(-count));
                [0.0, 0.5].into_iter().chain(nines).filter(|share| *share <= self.end + 1e-12).collect()
            }
        };
        values
            .into_iter()
            .map(|value| Tick { share: self.share(value), label: self.numbers.tick(value) })
            .collect()
    }

    /// As many ticks at round numbers as fit, `count_max` steps at most. Where no number of steps fits, what it is now is left to the
    /// caller: some scales have only one.
    pub(super) fn fitting_ticks(&self, count_max: usize, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let fewer = (1..=count_max).rev().map(|count| self.ticks(count));
        fewer.into_iter().find(|ticks| fits(ticks)).unwrap_or_else(|| self.ticks(count_max))
    }

    /// Ticks for an axis up: evenly from 0 to a round end, or as across.
    pub fn value_ticks(&self) -> Vec<Tick> {
        if self.scale == Scale::Even && self.start == 0.0 { self.even_ticks() } else { self.ticks(7) }
    }

    fn steps(&self, count_max: usize) -> Vec<Tick> {
        let (from, to) = (self.start / self.divisor, self.end / self.divisor);
        let step = round_step(to - from, count_max);
        let first = (from / step - 1e-9).ceil();
        let count = ((to - first * step) / step + 1e-9).floor() as usize;
        (0..=count)
            .map(|index| {
                let at = (first + index as f64) * step;
                Tick { share: (at - from) / (to - from), label: tick_text(at) }
            })
            .collect()
    }

    /// Powers of ten, with 2 and 5 between where there is room.
    fn decades(&self, count_max: usize) -> Vec<f64> {
        let exponents = (self.start.log10() - 1e-9).floor() as i32..=(self.end.log10() + 1e-9).ceil() as i32;
        let within = |value: &f64| *value >= self.start * (1.0 - 1e-9) && *value <= self.end * (1.0 + 1e-9);
        let of = |steps: &[f64]| -> Vec<f64> {
            let all = exponents.clone().flat_map(|exponent| {
                steps.iter().map(move |step| step * 10f64.powi(exponent)).collect::<Vec<f64>>()
            });
            all.filter(within).collect()
        };
        let fine = of(&[1.0, 2.0, 5.0]);
        if fine.len() <= count_max + 1 {
            return fine;
        }
        let whole = of(&[1.0]);
        let every = whole.len().div_ceil(count_max.max(1) + 1);
        whole.into_iter().step_by(every).collect()
    }

    fn doublings(&self, count_max: usize) -> Vec<f64> {
        let exponents: Vec<i32> =
            ((self.start.log2() - 1e-9).ceil() as i32..=(self.end.log2() + 1e-9).floor() as i32).collect();
        let every = exponents.len().div_ceil(count_max.max(1) + 1).max(1);
        exponents.into_iter().step_by(every).map(|exponent| 2f64.powi(exponent)).collect()
    }

    /// Ticks that divide an axis with a round end evenly, from 0 to the end.
    pub fn even_ticks(&self) -> Vec<Tick> {
        let whole = self.end / self.divisor;
        let is_round = |count: &usize| {
            let step = whole / *count as f64;
            let digits = step / 10f64.powf(step.log10().floor() + 1e-9);
            [1.0, 2.0, 4.0, 5.0, 10.0]
                .iter()
                .any(|round| (digits.round() - round).abs() < 0.01 && (digits - round).abs() < 0.01)
        };
        let count = [6, 5, 4].into_iter().find(is_round).unwrap_or(4);
        (0..=count)
            .map(|index| {
                let share = index as f64 / count as f64;
                Tick { share, label: tick_text(whole * share) }
            })
            .collect()
    }
}

impl Numbers {
    /// The number in the unit that fits it.
    fn scaled(self, value: f64) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self {
            Numbers::Times => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
            Numbers::Sizes => &[
                (1_099_511_627_776.0, "TiB"),
                (1_073_741_824.0, "GiB"),
                (1_048_576.0, "MiB"),
                (1024.0, "KiB"),
                (1.0, "B"),
            ],
            Numbers::Rates => &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
            Numbers::OfAxis | Numbers::Counts | Numbers::Percents => &[(1.0, "")],
        };
        let last = units.len() - 1;
        // A thousandth below a unit is meant to be it: 10 to the power of -3 is not exactly a thousandth.
        let fits = |(divisor, _): &&(f64, &str)| value.abs() >= *divisor * 0.999;
        let (divisor, unit) = *units.iter().find(fits).unwrap_or(&units[last]);
        (value / divisor, unit)
    }

    fn tick(self, value: f64) -> String {
        let (scaled, unit) = self.scaled(value);
        if self == Numbers::Percents {
            return format!("{} %", percent_text(scaled));
        }
        format!("{} {unit}", tick_text(scaled)).trim_end().to_string()
    }
}

/// How many nines a share has: 0.999 has three.
fn nines(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 1.0 - 1e-12)).log10()
}

/// A share as a percentage with all its nines.
fn percent_text(share: f64) -> String {
    let text = format!("{:.6}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The largest of 1, 2 and 5 times a power of ten that is not above it.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf((value.log10() + 1e-9).floor());
    [5.0, 2.0]
        .into_iter()
        .map(|step| step * power)
        .find(|step| *step <= value * (1.0 + 1e-9))
        .unwrap_or(power)
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below it.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf((value.log10() + 1e-9).floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The smallest round step of which no more than `count_max` fit into `whole`.
fn round_step(whole: f64, count_max: usize) -> f64 {
    let count_max = count_max.max(1) as f64;
    let power = 10f64.powf((whole / count_max).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| whole / step <= count_max).unwrap_or(whole)
}

/// The smallest round number not below `value`, so that half of it is round too.
fn round_end(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|end| *end >= value).unwrap_or(10.0 * power)
}

/// At most three decimals: ticks are round numbers.
pub(super) fn tick_text(tick: f64) -> String {
    let text = format!("{tick:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in
            [(211.0, 240.0), (240.0, 240.0), (99.0, 100.0), (3.51, 4.0), (0.0, 1.0), (0.45, 0.5)]
        {
            assert!((round_end(value) - end).abs() < 1e-9, "{value}: {}", round_end(value));
        }
    }

    #[test]
    fn rates_are_divided_evenly() {
        for (rate, expected) in [
            (211e6, vec!["0", "40", "80", "120", "160", "200", "240"]),
            (1.5e9, vec!["0", "0.4", "0.8", "1.2", "1.6"]),
            (95e6, vec!["0", "20", "40", "60", "80", "100"]),
            (7.9e9, vec!["0", "2", "4", "6", "8"]),
            (290e6, vec!["0", "50", "100", "150", "200", "250", "300"]),
            (110e6, vec!["0", "20", "40", "60", "80", "100", "120"]),
            (2e6, vec!["0", "0.4", "0.8", "1.2", "1.6", "2"]),
        ] {
            assert_eq!(labels(&Axis::of_rates("", rate).even_ticks()), expected, "{rate}");
        }
    }

    #[test]
    fn positions_have_ticks_at_round_sizes() {
        let axis = Axis::of_positions(3_000_592_982_016.0, false);
        assert_eq!(labels(&axis.ticks(7)), ["0", "0.5", "1", "1.5", "2", "2.5", "3"]);
        assert_eq!((axis.unit.as_str(), axis.amount(1.5e12)), ("TB", "1.50 TB".to_string()));
        let axis = Axis::of_positions(1073741824.0, true);
        assert_eq!(labels(&axis.ticks(5)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(Axis::of_positions(0.0, false).end, 1.0);
    }

    #[test]
    fn what_is_not_even_has_ticks_that_carry_their_unit() {
        let times = Axis::of_decades("Latency", (83e-6, 0.151), Numbers::Times);
        assert_eq!(labels(&times.ticks(7)), ["100 µs", "1 ms", "10 ms", "100 ms"]);
        assert_eq!((times.start, times.end), (5e-5, 0.2));
        assert!((times.share(1e-3) - (20f64.ln() / 4000f64.ln())).abs() < 1e-9);
        let short = Axis::of_decades("Latency", (11e-3, 45e-3), Numbers::Times);
        assert_eq!(labels(&short.ticks(7)), ["10 ms", "20 ms", "50 ms"]);
        let sizes = Axis::of_doublings("Size", (512.0, 8_388_608.0), Numbers::Sizes);
        assert_eq!(
            labels(&sizes.ticks(7)),
            ["512 B", "2 KiB", "8 KiB", "32 KiB", "128 KiB", "512 KiB", "2 MiB", "8 MiB"]
        );
        let depths = Axis::of_doublings("At a time", (1.0, 32.0), Numbers::Counts);
        assert_eq!(labels(&depths.ticks(7)), ["1", "2", "4", "8", "16", "32"]);
        let nines = Axis::of_nines("Percentile", 5.0);
        assert_eq!(labels(&nines.ticks(7)), ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]);
        assert!((nines.share(0.999) - 0.6).abs() < 1e-9);
        assert_eq!((nines.amount(0.999), times.amount(0.0123)), ("99.9 %".into(), "12.3 ms".into()));
    }

    #[test]
    fn a_temperature_does_not_begin_at_0() {
        let axis = Axis::of_degrees("Temperature", (31.0, 38.0), 8.0);
        assert_eq!((axis.start, axis.end), (30.0, 38.0));
        assert_eq!(labels(&axis.ticks(4)), ["30", "32", "34", "36", "38"]);
    }
}
