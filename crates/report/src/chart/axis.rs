//! An axis: from where to where it goes, in which unit, and where its ticks are.

use crate::quantity::{binary_unit, decimal_unit};

/// An axis that begins at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows: "Position".
    pub label: String,
    /// The unit of its numbers: "TB".
    pub unit: String,
    /// How many base units that is.
    pub divisor: f64,
    /// Where it ends, in base units; above 0.
    pub end: f64,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is, as a share of the axis.
    pub share: f64,
    /// Its number, without the unit.
    pub label: String,
}

impl Axis {
    /// Positions on targets of up to `capacity` bytes; files in binary units, as they are made, drives in decimal ones, as they are
    /// sold.
    pub fn of_positions(capacity: f64, is_file: bool) -> Axis {
        let (divisor, unit) = if is_file { binary_unit(capacity) } else { decimal_unit(capacity) };
        Axis { label: "Position".into(), unit: unit.into(), divisor, end: capacity.max(1.0) }
    }

    /// Rates of up to `rate_max` bytes per second, to the next round number.
    pub fn of_rates(label: &str, rate_max: f64) -> Axis {
        let (divisor, unit) = if rate_max >= 1e9 { (1e9, "GB/s") } else { (1e6, "MB/s") };
        let end = round_end(rate_max / divisor) * divisor;
        Axis { label: label.into(), unit: unit.into(), divisor, end }
    }

    /// Times of up to `time_max_s` seconds, to the next round number.
    pub fn of_times(label: &str, time_max_s: f64) -> Axis {
        let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
        let fits = |(divisor, _): &&(f64, &str)| time_max_s >= *divisor;
        let (divisor, unit) = *units.iter().find(fits).unwrap_or(&units[2]);
        let end = round_end(time_max_s / divisor) * divisor;
        Axis { label: label.into(), unit: unit.into(), divisor, end }
    }

    /// Where a value is, as a share of the axis, in [0, 1].
    pub fn share(&self, value: f64) -> f64 {
        (value / self.end).clamp(0.0, 1.0)
    }

    /// A value with the unit of the axis, to three digits: "285 MB/s".
    pub fn amount(&self, value: f64) -> String {
        let scaled = value / self.divisor;
        let decimals = if scaled >= 99.95 {
            0
        } else if scaled >= 9.995 {
            1
        } else {
            2
        };
        format!("{scaled:.decimals$} {}", self.unit)
    }

    /// Ticks at round numbers, `count_max` steps at most.
    pub fn ticks(&self, count_max: usize) -> Vec<Tick> {
        let whole = self.end / self.divisor;
        let step = round_step(whole, count_max);
        let count = (whole / step + 1e-9).floor() as usize;
        (0..=count)
            .map(|index| {
                let at = index as f64 * step;
                Tick { share: at / whole, label: tick_text(at) }
            })
            .collect()
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
}
