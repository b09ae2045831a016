//! Numbers in the sentences of findings: three significant digits, in the units of the field.

use crate::quantity::{count, measured};
use crate::units::{Unit, amounts, rates};
use model::estimate::Estimate;
use model::units::Bytes;

/// "211 MB/s", or in binary units where they are chosen.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, &rates())
}

/// "500 GB", or in binary units where they are chosen.
pub(crate) fn size(bytes: u64) -> String {
    scaled(bytes as f64, &amounts()[1..])
}

/// "2.05 MiB": binary, as memory is built.
pub(crate) fn memory(bytes: f64) -> String {
    let units = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "bytes")];
    scaled(bytes, &units)
}

/// A time in the unit that suits it: "12.9 ms", "1.21 s".
pub(crate) fn short_time(seconds: f64) -> String {
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
}

/// Before "reads" or "writes": "4 KiB", "512-byte".
pub(crate) fn block(bytes: Bytes) -> String {
    bytes.to_string().replace(" bytes", "-byte")
}

/// "2 h 14 min", "35 min", "2 min 32 s", "12.9 s".
pub(crate) fn long_time(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    let whole_seconds = seconds.round() as u64;
    match minutes {
        0 | 1 => short_time(seconds),
        2..=19 => format!("{} min {} s", whole_seconds / 60, whole_seconds % 60),
        20..=119 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// How much of a latency may be the host's; nothing below a hundredth of it, since latencies are shown to three digits.
pub(crate) fn host_remark(host_s: f64, latency_s: f64) -> String {
    if host_s < 0.01 * latency_s {
        return String::new();
    }
    format!(" Up to {} of it may be the host's: waits for a CPU, and the engine.", short_time(host_s))
}

/// A number with its 95 % confidence interval, of a conclusion that holds the three apart.
pub(crate) fn between(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { low, high, confidence: 0.95, ..Estimate::exact(value) }
}

/// "15.2 MB/s (15.1 to 15.3)", to the digits that the interval supports.
pub(crate) fn with_interval(value: f64, low: f64, high: f64, unit: &str) -> String {
    let shown = measured(&between(value, low, high), unit);
    if low == high { shown.value } else { shown.line() }
}

/// "2 KiB, 4 KiB and 8 KiB".
pub(crate) fn listed(items: &[String]) -> String {
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// " (38.2 to 42.1)"; nothing where both ends read alike.
pub(crate) fn span(low: &str, high: &str) -> String {
    if low == high { String::new() } else { format!(" ({low} to {high})") }
}

/// "9.99", "300", "9,999", "102,000": three digits, four from a thousand on.
pub(crate) fn number(value: f64) -> String {
    if (999.5..1e15).contains(&value) {
        let unit = 10f64.powi((value.log10().floor() as i32 - 3).max(0));
        return count(((value / unit).round() * unit) as u64);
    }
    let decimals = if value.abs() >= 99.95 {
        0
    } else if value.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

/// Begins a sentence about many requests: "Reads".
pub(crate) fn plural(operation: model::request::Operation) -> &'static str {
    match operation {
        model::request::Operation::Write => "Writes",
        _ => "Reads",
    }
}

fn scaled(value: f64, units: &[Unit]) -> String {
    // A value that would round up to the next unit is shown in it: 1 MB, not 1000 kB.
    let fits = |(scale, _): &&Unit| value.abs() >= scale * 0.9995;
    let (scale, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    format!("{} {unit}", number(value / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_unit_that_fits() {
        assert_eq!(rate(211.4e6), "211 MB/s");
        assert_eq!(rate(999.96e6), "1.00 GB/s");
        assert_eq!(rate(72.04e6), "72.0 MB/s");
        assert_eq!(size(500_000_000_000), "500 GB");
        assert_eq!(memory(2_150_000.0), "2.05 MiB");
        assert_eq!(short_time(0.01294), "12.9 ms");
        assert_eq!(short_time(0.0), "0.00 ns");
        assert_eq!((long_time(8040.0).as_str(), long_time(50.0).as_str()), ("2 h 14 min", "50.0 s"));
        assert_eq!(number(9.999), "10.0");
        assert_eq!((number(9_999.4).as_str(), number(101_951.0).as_str()), ("9,999", "102,000"));
        assert_eq!(
            (block(Bytes::new(2300)).as_str(), block(Bytes::from_kib(4)).as_str()),
            ("2300-byte", "4 KiB")
        );
        assert_eq!(with_interval(15.2e6, 15.12e6, 15.31e6, "B/s"), "15.20 MB/s (15.12 to 15.31)");
        assert_eq!(with_interval(400e6, 400e6, 400e6, "B/s"), "400 MB/s");
        assert_eq!((span("1.00", "1.00").as_str(), span("1.00", "1.01").as_str()), ("", " (1.00 to 1.01)"));
    }
}
