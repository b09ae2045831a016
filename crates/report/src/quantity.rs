//! A number, its interval and its unit as text: the only place that rounds.
//!
//! A measured number ([`measured`]) is shown to the digits that its interval supports and never without the interval. A number without
//! uncertainty has functions of its own ([`exact`], [`count`], [`size`]): whoever calls one says that the number is exact. A rate or time that
//! only gives an impression while something runs or before it starts ([`rough_rate`], [`rough_time`]) is shown to three digits at most.

use crate::units::{BINARY_AMOUNTS, Unit, amounts, in_decimal, rates};
use model::estimate::Estimate;
use model::units::{Bytes, Nanos};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    pub value: String,
    /// The interval in the same unit, "208 to 214"; "±0.004 %" where it is narrower than the digits shown; "exact"; that none is
    /// known; or nothing of a count of which the data allow no other.
    pub interval: String,
}

impl Measured {
    pub fn line(&self) -> String {
        if self.interval.is_empty() {
            self.value.clone()
        } else {
            format!("{} ({})", self.value, self.interval)
        }
    }
}

/// Of numbers of 16 digits, what is left after some thousand of them were added.
const ROUNDING_MAX: f64 = 1e-11;
/// How many digits a number is shown with that has no uncertainty but that: four.
const SHOWN_MIN: f64 = 1e-3;

/// How an interval is shown whose ends differ in digits that nobody needs: as a share.
struct Narrow {
    /// From this share of the number on its ends are shown.
    shown_min: f64,
    digits_min: f64,
    percent_min: f64,
}

/// Three or four digits: a data sheet has three.
const NARROW: Narrow = Narrow { shown_min: 1e-3, digits_min: 5e-3, percent_min: 0.1 };
/// Five digits of a revolution, and one part in a hundred thousand: clocks of computers are off by more.
const NARROW_TIME: Narrow = Narrow { shown_min: 2e-4, digits_min: 1e-4, percent_min: 1e-3 };

/// A measured number in a unit of a finding: "B/s", "s", "bytes", "bytes written", "ratio", "count", or any other, which is shown unscaled.
pub fn measured(estimate: &Estimate, unit: &str) -> Measured {
    let Estimate { value, low, high, .. } = *estimate;
    if !value.is_finite() {
        return Measured { value: "unknown".into(), interval: "no number came out".into() };
    }
    let uncertainty = half_width(value, low, high);
    // Less than this is the rounding of sums, and would be shown with a dozen digits.
    let is_rounding = uncertainty > 0.0 && uncertainty < ROUNDING_MAX * value.abs();
    let uncertainty = if is_rounding { SHOWN_MIN * value.abs() } else { uncertainty };
    if uncertainty == 0.0 && unit == "count" && estimate.confidence < 1.0 {
        // The only number that the data allow is not one that was counted.
        return Measured { value: exact_in_a_table(value, unit).value, interval: String::new() };
    }
    if uncertainty == 0.0 {
        return exact_in_a_table(value, unit);
    }
    let scale = Scale::of(value, unit);
    if matches!(unit, "count" | "depth") && [value, low, high].into_iter().all(is_small_whole) {
        let interval = format!("{} to {}", exact(low, "count"), exact(high, "count"));
        return Measured { value: exact(value, unit), interval };
    }
    if unit == "count" && high == f64::INFINITY && is_small_whole(value) && is_small_whole(low) {
        return Measured { value: format!("≥{}", exact(low, "count")), interval: String::new() };
    }
    let spread = uncertainty / value.abs();
    let narrow = if unit == "s" { NARROW_TIME } else { NARROW };
    if !is_rounding && !scale.composite && spread < narrow.shown_min {
        let percent = spread * 100.0;
        let decimals = -percent.log10().floor() as usize;
        let interval = if percent < narrow.percent_min {
            format!("±<{} %", narrow.percent_min)
        } else {
            format!("±{percent:.decimals$} %")
        };
        return Measured {
            value: scale.with_unit(&scale.number(value, spread.max(narrow.digits_min) * value.abs())),
            interval,
        };
    }
    let Some(uncertainty) = uncertainty.is_finite().then_some(uncertainty) else {
        return Measured {
            value: scale.with_unit(&three_digits(value / scale.divisor)),
            interval: if estimate.effective_count == 1.0 { "single figure" } else { "uncertainty not known" }
                .into(),
        };
    };
    // An interval wider than the number itself would round it away; one digit of it stays.
    let size = if value == 0.0 { high.abs().max(low.abs()) } else { value.abs() };
    let uncertainty = uncertainty.min(size);
    let number = |value: f64| match scale.composite {
        true => composite_time(value, time_step(value, uncertainty)),
        false => scale.number(value, uncertainty),
    };
    let value_text = if scale.composite { number(value) } else { scale.with_unit(&number(value)) };
    if !scale.composite && value == low && high == f64::INFINITY {
        let bound = scale.with_unit(&three_digits(value / scale.divisor));
        return Measured { value: format!("≥{bound}"), interval: String::new() };
    }
    let interval = match (low.is_finite(), high.is_finite()) {
        // Ends that read alike bound nothing.
        (true, true) if number(low) == number(high) => String::new(),
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("{} or more", number(low)),
        _ => format!("{} or less", number(high)),
    };
    Measured { value: value_text, interval }
}

/// The ends of an interval far wider than its number, where it is shown alone: "0.0 to 3,052.0 MB/s".
pub fn interval_with_unit(estimate: &Estimate, unit: &str) -> String {
    let interval = measured(estimate, unit).interval;
    let scale = Scale::of(estimate.value, unit);
    // Long times have their units in it: "5 h 30 min to 17 h 30 min".
    if scale.composite { interval } else { scale.with_unit(&interval) }
}

fn is_small_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < WHOLE_SHOWN_MAX
}

/// Larger counts are shown with a prefix, as other numbers are.
const WHOLE_SHOWN_MAX: f64 = 1e6;

/// An exact number among measured ones: digits past a thousandth of the unit would look like precision that
/// matters, so they go, and it is no longer called exact.
fn exact_in_a_table(value: f64, unit: &str) -> Measured {
    let all = exact(value, unit);
    let decimals =
        all.split_once('.').map_or(0, |(_, rest)| rest.chars().take_while(char::is_ascii_digit).count());
    if decimals <= TABLE_DECIMALS_MAX {
        // Of what was counted nobody expects an interval.
        let interval = if unit == "count" { String::new() } else { "exact".into() };
        return Measured { value: all, interval };
    }
    let scale = Scale::of(value, unit);
    let value = if scale.composite {
        composite_time(value, TimeStep::Seconds(1.0))
    } else {
        scale.with_unit(&rounded(value / scale.divisor, TABLE_DECIMALS_MAX as i32))
    };
    Measured { value, interval: String::new() }
}

const TABLE_DECIMALS_MAX: usize = 3;

/// Half the interval's width; the distance to the known end when the other is open; infinite when both are.
fn half_width(value: f64, low: f64, high: f64) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => (high - low).abs() / 2.0,
        (true, false) => (value - low).abs().max(f64::MIN_POSITIVE),
        (false, true) => (high - value).abs().max(f64::MIN_POSITIVE),
        (false, false) => f64::INFINITY,
    }
}

pub fn exact(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    match unit {
        "bytes" if value >= 0.0 && value.fract() == 0.0 && value < EXACT_FLOAT_MAX => {
            size(Bytes::new(value as u64))
        }
        "bytes" => format!("{} bytes", all_digits(value, 0)),
        _ => {
            let scale = Scale::of(value, unit);
            if scale.composite {
                return composite_time(value, TimeStep::Exact);
            }
            scale.with_unit(&scale.all_digits(value))
        }
    }
}

/// A number that is known and not measured, for a person: whole bytes and counts as they are, anything else to four
/// digits at most, and seconds of a long time whole. Its other digits are in the JSON document.
pub fn known(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    if matches!(unit, "bytes" | "count") {
        return if unit == "bytes" && value >= 0.0 && value.fract() != 0.0 {
            capacity(Bytes::new(value.round() as u64))
        } else {
            exact(value, unit)
        };
    }
    let scale = Scale::of(value, unit);
    if scale.composite {
        return composite_time(value, TimeStep::Seconds(1.0));
    }
    let all = exact(value, unit);
    let digits = all.chars().filter(char::is_ascii_digit).skip_while(|&digit| digit == '0').count();
    if digits <= KNOWN_DIGITS as usize {
        return all;
    }
    let scaled = value / scale.divisor;
    let before_point = scaled.abs().log10().floor() as i32 + 1;
    scale.with_unit(&rounded(scaled, (KNOWN_DIGITS - before_point).clamp(0, DECIMALS_MAX)))
}

const KNOWN_DIGITS: i32 = 4;

/// 2^53: up to here a float holds every whole number.
const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

/// A number with the noun that goes with it: "1 request", "2,000 requests".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

pub fn count(count: u64) -> String {
    with_thousands(&count.to_string())
}

/// A capacity to three digits, as drives are sold unless binary units are chosen: "3.00 TB". The exact number of bytes is [`size`].
pub fn capacity(bytes: Bytes) -> String {
    to_three_digits(bytes, amount_unit(bytes.as_f64()))
}

/// The same in what is stored or part of a document: decimal, whatever is chosen.
pub fn documented_capacity(bytes: Bytes) -> String {
    in_decimal(|| capacity(bytes))
}

/// How large a target is, as [`capacity`] says it; one of which nobody told is 0 bytes large.
pub fn target_size(bytes: Bytes) -> String {
    if bytes == Bytes::ZERO { "size unknown".into() } else { capacity(bytes) }
}

/// A capacity as files are made, to three digits: "4.00 GiB".
pub fn binary_capacity(bytes: Bytes) -> String {
    to_three_digits(bytes, binary_unit(bytes.as_f64()))
}

fn to_three_digits(bytes: Bytes, (divisor, unit): Unit) -> String {
    if divisor == 1.0 {
        return size(bytes);
    }
    format!("{} {unit}", three_digits(bytes.as_f64() / divisor))
}

/// The unit that is chosen for amounts of data and fits this one.
pub(crate) fn amount_unit(bytes: f64) -> Unit {
    fitting(&amounts(), bytes)
}

pub(crate) fn binary_unit(bytes: f64) -> Unit {
    fitting(&BINARY_AMOUNTS, bytes)
}

/// The largest that does not exceed it, of units from the largest on.
fn fitting(units: &[Unit], value: f64) -> Unit {
    let unit = units.iter().find(|(divisor, _)| value >= *divisor);
    *unit.unwrap_or(&units[units.len() - 1])
}

/// A size, exactly: "4 KiB", "50 GiB", "3,000,592,982,016 bytes".
pub fn size(bytes: Bytes) -> String {
    let text = bytes.to_string();
    // A size that no IEC unit makes short is easier to compare byte by byte.
    let is_short = text.find(' ').is_some_and(|digits| digits <= 4);
    if is_short { text } else { format!("{} bytes", count(bytes.get())) }
}

pub fn rough_rate(bytes_per_second: f64) -> String {
    if !bytes_per_second.is_finite() {
        return "unknown".into();
    }
    let scale = Scale::of(bytes_per_second, "B/s");
    scale.with_unit(&three_digits(bytes_per_second / scale.divisor))
}

/// A time for an impression: "310 ns", "8.20 ms", "42 s", "4 h 58 min". Whole seconds from one second on.
pub fn rough_time(time: Nanos) -> String {
    let seconds = time.seconds();
    match seconds {
        _ if time.get() == 0 => "0 s".into(),
        ..0.9995 => {
            let scale = Scale::of(seconds, "s");
            scale.with_unit(&three_digits(seconds / scale.divisor))
        }
        ..99.5 => format!("{seconds:.0} s"),
        ..3600.0 => composite_time(seconds, TimeStep::Seconds(1.0)),
        _ => composite_time(seconds, TimeStep::Seconds(60.0)),
    }
}

pub fn rough_share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if !percent.is_finite() => "unknown".into(),
        0.0 => "0 %".into(),
        ..0.1 => "<0.1 %".into(),
        ..10.0 => format!("{percent:.1} %"),
        99.5..100.0 => "99 %".into(),
        _ => format!("{percent:.0} %"),
    }
}

struct Scale {
    divisor: f64,
    /// The power of ten that `divisor` is, if it is one.
    decimal_places: Option<i32>,
    unit: String,
    composite: bool,
}

/// From here on a time is shown in minutes and seconds. "90 s" reads better than "1 min 30 s".
const COMPOSITE_TIME_SECONDS_MIN: f64 = 120.0;

impl Scale {
    fn of(value: f64, unit: &str) -> Scale {
        let magnitude = value.abs();
        match unit {
            "B/s" => Scale::of_unit(fitting(&rates()[..2], magnitude)),
            "s" if magnitude >= COMPOSITE_TIME_SECONDS_MIN => {
                Scale { composite: true, ..Scale::decimal(0, "s") }
            }
            "s" if magnitude >= 1.0 || magnitude == 0.0 => Scale::decimal(0, "s"),
            "s" if magnitude >= 1e-3 => Scale::decimal(-3, "ms"),
            "s" if magnitude >= 1e-6 => Scale::decimal(-6, "µs"),
            "s" => Scale::decimal(-9, "ns"),
            "bytes" => Scale::of_unit(binary_unit(magnitude)),
            "bytes written" => Scale::of_unit(fitting(&amounts()[1..4], magnitude)),
            "ratio" => Scale::decimal(0, "×"),
            "count" => Scale::decimal(0, ""),
            "1/s" => Scale::decimal(0, "/s"),
            other => Scale::decimal(0, other),
        }
    }

    fn decimal(places: i32, unit: &str) -> Scale {
        let unit = unit.into();
        Scale { divisor: 10f64.powi(places), decimal_places: Some(places), unit, composite: false }
    }

    fn of_unit((divisor, unit): Unit) -> Scale {
        let places = divisor.log10();
        let decimal_places = if places.fract() == 0.0 { Some(places as i32) } else { None };
        Scale { divisor, decimal_places, unit: unit.into(), composite: false }
    }

    fn all_digits(&self, value: f64) -> String {
        match self.decimal_places {
            Some(places) => all_digits(value, places),
            // Dividing by a power of two does not round.
            None => all_digits(value / self.divisor, 0),
        }
    }

    fn with_unit(&self, number: &str) -> String {
        if self.unit.is_empty() { number.into() } else { format!("{number} {}", self.unit) }
    }

    fn number(&self, value: f64, uncertainty: f64) -> String {
        rounded(value / self.divisor, decimals_supported(uncertainty / self.divisor))
    }
}

/// Decimals that an uncertainty supports: it is shown with two digits when it begins with 1 or 2, and with one
/// otherwise, so that what rounding adds stays below a sixth of it. (Particle Data Group, Review of Particle
/// Physics, Introduction 5.3, "Rounding", draws the line at 3.54; we at 2.95.) Negative: tens, hundreds, …
fn decimals_supported(uncertainty: f64) -> i32 {
    // An uncertainty that scaling has brought down to nothing supports all the digits there are.
    let exponent = uncertainty.log10().floor().max(-300.0);
    let digits = if uncertainty / 10f64.powf(exponent) < 2.95 { 2 } else { 1 };
    (digits - 1 - exponent as i32).clamp(-18, DECIMALS_MAX)
}

/// More decimals than this mean nothing in any of our units.
const DECIMALS_MAX: i32 = 12;

/// No number in any unit comes near it; scaling and rounding can't pass the end of the floats from here.
const NUMBER_MAX: f64 = 1e280;

fn rounded(value: f64, decimals: i32) -> String {
    let value = value.clamp(-NUMBER_MAX, NUMBER_MAX);
    let text = if decimals >= 0 {
        format!("{value:.*}", decimals as usize)
    } else {
        let step = 10f64.powi(-decimals);
        format!("{:.0}", (value / step).round() * step)
    };
    with_thousands(&without_negative_zero(text))
}

fn without_negative_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_string(),
        _ => text,
    }
}

/// To three digits where it has fewer before the point: "3.00", "500", "1,234".
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    rounded(value, decimals)
}

/// All digits of a number divided by a power of ten, by moving the point: dividing would round.
fn all_digits(value: f64, decimal_places: i32) -> String {
    let text = value.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let shift = decimal_places.unsigned_abs() as usize;
    let (whole, fraction) = if decimal_places >= 0 {
        let padded = format!("{whole:0>width$}", width = shift + 1);
        let (left, right) = padded.split_at(padded.len() - shift);
        (left.to_string(), format!("{right}{fraction}"))
    } else {
        let padded = format!("{fraction:0<shift$}");
        let (left, right) = padded.split_at(shift);
        (format!("{whole}{left}"), right.to_string())
    };
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if value < 0.0 { "-" } else { "" };
    with_thousands(&format!("{sign}{whole}{point}{fraction}"))
}

fn with_thousands(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = number.find('.').map_or((number, ""), |at| number.split_at(at));
    let mut grouped = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

#[derive(Clone, Copy)]
enum TimeStep {
    Seconds(f64),
    Decimals(i32),
    /// To the nanosecond, without parts that are zero at the end.
    Exact,
}

/// The step that an uncertainty supports; steps that a clock does not have become the next that it has.
fn time_step(value: f64, uncertainty: f64) -> TimeStep {
    let decimals = decimals_supported(uncertainty);
    match decimals {
        ..=-4 => TimeStep::Seconds(3600.0),
        -3 => TimeStep::Seconds(600.0),
        -2 => TimeStep::Seconds(60.0),
        // Rounding to minutes adds up to 30 s: no more than half of what is not known.
        -1 if value.abs() >= 3600.0 && uncertainty >= 60.0 => TimeStep::Seconds(60.0),
        -1 => TimeStep::Seconds(10.0),
        0 => TimeStep::Seconds(1.0),
        decimals => TimeStep::Decimals(decimals.min(9)),
    }
}

/// Thirty thousand million years: keeps the arithmetic of a nonsensical time inside 128 bits.
const SECONDS_MAX: f64 = 1e18;

fn composite_time(seconds: f64, step: TimeStep) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let (step_ns, decimals) = match step {
        TimeStep::Seconds(step) => ((step * 1e9) as u128, 0),
        TimeStep::Decimals(decimals) => (10u128.pow(9 - decimals as u32), decimals as usize),
        TimeStep::Exact => (1, 9),
    };
    let nanos = ((seconds.abs().min(SECONDS_MAX) * 1e9).round() as u128 + step_ns / 2) / step_ns * step_ns;
    let (hours, minutes) = (nanos / 3_600_000_000_000, nanos / 60_000_000_000 % 60);
    let rest = (nanos % 60_000_000_000) as f64 / 1e9;
    let mut rest = format!("{rest:.decimals$}");
    let is_exact = matches!(step, TimeStep::Exact);
    if is_exact {
        rest = rest.trim_end_matches('0').trim_end_matches('.').into();
    }
    let mut parts = Vec::new();
    if hours > 0 {
        parts.push(format!("{} h", with_thousands(&hours.to_string())));
    }
    if step_ns < 3_600_000_000_000 && minutes + hours > 0 && !(is_exact && minutes == 0 && rest == "0") {
        parts.push(format!("{minutes} min"));
    }
    if step_ns < 60_000_000_000 && !(is_exact && rest == "0" && !parts.is_empty()) {
        parts.push(format!("{rest} s"));
    }
    if parts.is_empty() {
        parts.push(if step_ns < 3_600_000_000_000 { "0 min".into() } else { "0 h".into() });
    }
    format!("{sign}{}", parts.join(" "))
}

#[cfg(test)]
#[path = "quantity_tests.rs"]
mod tests;

/// "2026-11-21 20:15 UTC" of RFC 3339 in UTC; anything else stays as it is.
pub(crate) fn readable_moment(rfc3339: &str) -> String {
    let is_utc = rfc3339.is_ascii() && rfc3339.len() >= 20 && rfc3339.ends_with('Z');
    match rfc3339.split_once('T') {
        Some((date, time)) if is_utc && date.len() == 10 => format!("{date} {} UTC", &time[..5]),
        _ => rfc3339.into(),
    }
}
