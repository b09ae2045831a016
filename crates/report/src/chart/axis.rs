//! An axis: from where to where it goes, in which unit, and where its ticks are.

use crate::quantity::{amount_unit, binary_unit};
use crate::units;
use serde::Serialize;

/// An axis: a linear one begins at 0, the others where their numbers do.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub label: String,
    /// Of its numbers: "TB"; empty where each number carries its own.
    pub unit: String,
    pub divisor: f64,
    /// In base units; 0 on a linear axis.
    pub start: f64,
    pub end: f64,
    pub scale: Scale,
    pub numbers: Numbers,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    #[default]
    Linear,
    Decades,
    Doublings,
    Nines,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// In the unit of the axis, which stands beside it.
    #[default]
    OfAxis,
    /// Seconds, with the unit that fits: "10 ms".
    Times,
    /// Bytes in powers of two, as blocks have: "4 KiB".
    Sizes,
    /// Bytes per second in the chosen units: "10 MB/s".
    Rates,
    Counts,
    Percents,
}

pub(crate) type Unit<'axis> = (f64, &'axis str);

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub share: f64,
    pub label: String,
}

pub(crate) struct RoundNumber {
    pub value: f64,
    pub is_main: bool,
}

pub(super) const COUNTED: &str = "thousand";
/// Multiples of a power of ten that are round.
pub(crate) const ROUND: [f64; 4] = [1.0, 2.0, 5.0, 10.0];
/// A value this share below a unit is meant to be it: 10 to the power of -3 is not exactly a thousandth.
pub(crate) const UNIT_TOLERANCE: f64 = 0.999;

/// Room before the first and after the last point of an axis of doublings, as a ratio.
const DOUBLINGS_MARGIN: f64 = 1.18;

impl Axis {
    /// Positions on targets of up to `capacity` bytes; files in binary units, as they are made, drives in the chosen ones.
    pub fn of_positions(capacity: f64, is_file: bool) -> Axis {
        let (divisor, unit) = if is_file { binary_unit(capacity) } else { amount_unit(capacity) };
        Axis::linear("Offset", unit, divisor, capacity.max(1.0))
    }

    pub fn of_rates(label: &str, rate_max: f64) -> Axis {
        let [giga, mega, kilo, _] = units::rates();
        let (divisor, unit) = match rate_max {
            rate if rate >= giga.0 => giga,
            rate if rate < mega.0 && rate > 0.0 => kilo,
            _ => mega,
        };
        Axis::linear(label, unit, divisor, round_end(rate_max / divisor) * divisor)
    }

    pub fn of_times(label: &str, time_max_s: f64) -> Axis {
        let (divisor, unit) = match time_max_s {
            1.0.. => (1.0, "s"),
            1e-3.. => (1e-3, "ms"),
            _ => (1e-6, "µs"),
        };
        Axis::linear(label, unit, divisor, round_end(time_max_s / divisor) * divisor)
    }

    pub fn of_duration(label: &str, seconds: f64) -> Axis {
        let (divisor, unit) = match seconds {
            259_200.0.. => (86_400.0, "days"),
            10_800.0.. => (3600.0, "h"),
            180.0.. => (60.0, "min"),
            1.0.. => (1.0, "s"),
            _ => (1e-3, "ms"),
        };
        Axis::linear(label, unit, divisor, seconds.max(1e-3))
    }

    pub fn of_amounts(label: &str, bytes: f64) -> Axis {
        let (divisor, unit) = amount_unit(bytes);
        Axis::linear(label, unit, divisor, bytes.max(1.0))
    }

    pub fn of_volumes(label: &str, bytes: f64) -> Axis {
        let (divisor, unit) = amount_unit(bytes);
        Axis::linear(label, unit, divisor, round_end(bytes / divisor) * divisor)
    }

    pub fn of_counts(label: &str, most: f64) -> Axis {
        let (divisor, unit) = if most >= 20_000.0 { (1e3, COUNTED) } else { (1.0, "") };
        Axis::linear(label, unit, divisor, round_end(most / divisor) * divisor)
    }

    /// Degrees, or anything else whose 0 means nothing, over at least `span_min` of it.
    pub fn of_degrees(label: &str, (low, high): (f64, f64), span_min: f64) -> Axis {
        let step = round_step((high - low).max(span_min), 4);
        let start = (low / step).floor() * step;
        let end = ((high / step).ceil() * step).max(start + span_min);
        Axis { start, ..Axis::linear(label, "°C", 1.0, end) }
    }

    pub fn of_shares(label: &str) -> Axis {
        Axis::linear(label, "%", 0.01, 1.0)
    }

    /// Between these numbers, each decade as long as any other, to the next round numbers.
    pub fn of_decades(label: &str, (low, high): (f64, f64), numbers: Numbers) -> Axis {
        let low = if low.is_finite() && low > 0.0 { low } else { 1e-9 };
        let high = if high.is_finite() { high.max(low * 2.0) } else { low * 10.0 };
        let (start, end) = (round_down(low), round_up(high));
        let linear = Axis::linear(label, "", 1.0, end);
        Axis { start, scale: Scale::Decades, numbers, ..linear }
    }

    pub fn of_doublings(label: &str, (low, high): (f64, f64), numbers: Numbers) -> Axis {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let linear = Axis::linear(label, "", 1.0, high.max(low) * DOUBLINGS_MARGIN);
        Axis { start: low / DOUBLINGS_MARGIN, scale: Scale::Doublings, numbers, ..linear }
    }

    /// Shares with up to so many nines.
    pub fn of_nines(label: &str, nines: f64) -> Axis {
        let linear = Axis::linear(label, "", 1.0, 1.0 - 10f64.powf(-nines.max(1.0)));
        Axis { scale: Scale::Nines, numbers: Numbers::Percents, ..linear }
    }

    pub(super) fn linear(label: &str, unit: &str, divisor: f64, end: f64) -> Axis {
        Axis {
            label: label.into(),
            unit: unit.into(),
            divisor,
            start: 0.0,
            end,
            scale: Scale::Linear,
            numbers: Numbers::OfAxis,
        }
    }

    pub fn name(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{}, {}", self.label, self.unit) }
    }

    /// Where a value is on the axis, in numbers of which equal differences are equally far apart.
    pub(crate) fn coordinate(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Decades | Scale::Doublings => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Nines => -(1.0 - value.clamp(0.0, 1.0 - 1e-12)).log10(),
        }
    }

    pub(crate) fn extent(&self) -> (f64, f64) {
        (self.coordinate(self.start), self.coordinate(self.end))
    }

    pub fn share(&self, value: f64) -> f64 {
        let (start, end) = self.extent();
        let share = (self.coordinate(value) - start) / (end - start);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    pub fn value(&self, share: f64) -> f64 {
        let (start, end) = self.extent();
        let coordinate = start + share * (end - start);
        match self.scale {
            Scale::Linear => coordinate,
            Scale::Decades | Scale::Doublings => 10f64.powf(coordinate),
            Scale::Nines => 1.0 - 10f64.powf(-coordinate),
        }
    }

    pub(crate) fn units(&self) -> Vec<Unit<'_>> {
        match self.numbers {
            Numbers::OfAxis => vec![(self.divisor, &self.unit)],
            Numbers::Times => vec![(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
            Numbers::Sizes => vec![
                (1_099_511_627_776.0, "TiB"),
                (1_073_741_824.0, "GiB"),
                (1_048_576.0, "MiB"),
                (1024.0, "KiB"),
                (1.0, "B"),
            ],
            Numbers::Rates => units::rates().to_vec(),
            Numbers::Counts => vec![(1.0, "")],
            Numbers::Percents => vec![(0.01, "%")],
        }
    }

    fn scaled(&self, value: f64) -> (f64, &str) {
        let units = self.units();
        let fitting = units.iter().find(|(divisor, _)| value.abs() >= divisor * UNIT_TOLERANCE);
        let (divisor, unit) = *fitting.unwrap_or(&units[units.len() - 1]);
        (value / divisor, unit)
    }

    pub fn amount(&self, value: f64) -> String {
        let (scaled, unit) = self.scaled(value);
        if self.numbers == Numbers::Percents {
            return format!("{} {unit}", tick_text(scaled));
        }
        let is_whole = self.divisor == 1.0 && unit.is_empty() && scaled.fract() == 0.0;
        let decimals = match scaled.abs() {
            _ if is_whole => 0,
            99.95.. => 0,
            9.995.. => 1,
            _ => 2,
        };
        format!("{scaled:.decimals$} {unit}").trim_end().to_string()
    }

    pub fn ticks(&self, count_max: usize) -> Vec<Tick> {
        if self.scale == Scale::Linear {
            return self.steps(count_max);
        }
        let mut numbers = self.round_numbers();
        if numbers.len() > count_max + 1 {
            numbers.retain(|number| number.is_main);
        }
        let every = numbers.len().div_ceil(count_max.max(1) + 1).max(1);
        let mut ticks = Vec::new();
        for number in numbers.iter().step_by(every) {
            let label = self.tick_label(number.value);
            ticks.push(Tick { share: self.share(number.value), label });
        }
        ticks
    }

    pub(crate) fn tick_label(&self, value: f64) -> String {
        let (scaled, unit) = self.scaled(value);
        match self.numbers {
            Numbers::OfAxis => tick_text(scaled),
            _ => format!("{} {unit}", tick_text(scaled)).trim_end().to_string(),
        }
    }

    /// As many ticks at round numbers as fit, `count_max` steps at most. Where no number of steps fits, leaving some out is left to the caller.
    pub(super) fn fitting_ticks(&self, count_max: usize, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        for count in (1..=count_max).rev() {
            let ticks = self.ticks(count);
            if fits(&ticks) {
                return ticks;
            }
        }
        self.ticks(count_max)
    }

    pub fn value_ticks(&self) -> Vec<Tick> {
        if self.scale == Scale::Linear && self.start == 0.0 { self.even_ticks() } else { self.ticks(7) }
    }

    fn steps(&self, count_max: usize) -> Vec<Tick> {
        let (from, to) = (self.start / self.divisor, self.end / self.divisor);
        let step = round_step(to - from, count_max);
        let first = (from / step - 1e-9).ceil();
        let count = ((to - first * step) / step + 1e-9).floor() as usize;
        let mut ticks = Vec::with_capacity(count + 1);
        for index in 0..=count {
            let at = (first + index as f64) * step;
            ticks.push(Tick { share: (at - from) / (to - from), label: tick_text(at) });
        }
        ticks
    }

    /// The round numbers of an axis that is not linear: 1, 2 and 5 times powers of ten, powers of two, or nines.
    pub(crate) fn round_numbers(&self) -> Vec<RoundNumber> {
        let (base, steps): (f64, &[f64]) = match self.scale {
            Scale::Linear => return Vec::new(),
            Scale::Decades => (10.0, &ROUND[..3]),
            Scale::Doublings => (2.0, &[1.0]),
            Scale::Nines => return self.nines(),
        };
        let (low, high) = (self.start * (1.0 - 1e-9), self.end * (1.0 + 1e-9));
        let mut numbers = Vec::new();
        for exponent in low.log(base).floor() as i32..=high.log(base).ceil() as i32 {
            for step in steps {
                let value = step * base.powi(exponent);
                if (low..=high).contains(&value) {
                    numbers.push(RoundNumber { value, is_main: *step == 1.0 });
                }
            }
        }
        numbers
    }

    fn nines(&self) -> Vec<RoundNumber> {
        let mut shares = vec![0.0, 0.5];
        for count in 1..=9 {
            shares.push(1.0 - 10f64.powi(-count));
        }
        let mut numbers = Vec::new();
        for value in shares {
            if value <= self.end + 1e-12 {
                numbers.push(RoundNumber { value, is_main: true });
            }
        }
        numbers
    }

    pub fn even_ticks(&self) -> Vec<Tick> {
        let whole = self.end / self.divisor;
        let count: u8 = match whole {
            whole if is_round_step(whole / 6.0) => 6,
            whole if is_round_step(whole / 5.0) => 5,
            _ => 4,
        };
        let mut ticks = Vec::new();
        for index in 0..=count {
            let share = f64::from(index) / f64::from(count);
            ticks.push(Tick { share, label: tick_text(whole * share) });
        }
        ticks
    }
}

fn is_round_step(step: f64) -> bool {
    let digits = step / 10f64.powf(step.log10().floor() + 1e-9);
    [1.0, 2.0, 4.0, 5.0, 10.0].iter().any(|round| (digits - round).abs() < 0.01)
}

fn power_of_ten_below(value: f64) -> f64 {
    10f64.powf((value.log10() + 1e-9).floor())
}

fn round_down(value: f64) -> f64 {
    let power = power_of_ten_below(value);
    let mut largest = power;
    for step in ROUND {
        if step * power <= value * (1.0 + 1e-9) {
            largest = step * power;
        }
    }
    largest
}

fn round_up(value: f64) -> f64 {
    first_above(&ROUND, power_of_ten_below(value), value * (1.0 - 1e-9))
}

fn first_above(steps: &[f64], power: f64, value: f64) -> f64 {
    let mut reached = power;
    for step in steps {
        reached = step * power;
        if reached >= value {
            break;
        }
    }
    reached
}

fn round_step(whole: f64, count_max: usize) -> f64 {
    let count_max = count_max.max(1) as f64;
    let power = 10f64.powf((whole / count_max).log10().floor());
    for step in ROUND {
        if whole / (step * power) <= count_max {
            return step * power;
        }
    }
    whole
}

/// The smallest round number not below `value`, so that half of it is round too.
fn round_end(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    first_above(&[1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0], power, value)
}

pub(super) fn tick_text(tick: f64) -> String {
    let text = format!("{tick:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
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
    fn binary_units_have_round_ticks_of_their_own() {
        units::holding(units::Units::Binary, || {
            let rates = Axis::of_rates("", 211e6);
            assert_eq!(labels(&rates.even_ticks()), ["0", "40", "80", "120", "160", "200", "240"]);
            assert_eq!((rates.unit.as_str(), rates.amount(211e6)), ("MiB/s", "201 MiB/s".to_string()));
            let positions = Axis::of_positions(3_000_592_982_016.0, false);
            assert_eq!((positions.unit.as_str(), positions.amount(1.5e12)), ("TiB", "1.36 TiB".to_string()));
        });
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
