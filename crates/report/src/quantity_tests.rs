//! Tests of rounding: literals, and that no digit lies.

use super::*;
use crate::units::{Units, holding};
use proptest::prelude::*;

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high, confidence: 0.95, effective_count: 10.0 }
}

fn line(value: f64, low: f64, high: f64, unit: &str) -> String {
    measured(&estimate(value, low, high), unit).line()
}

#[test]
fn the_interval_chooses_the_digits() {
    assert_eq!(line(211.23e6, 208.1e6, 214.3e6, "B/s"), "211 MB/s (208 to 214)");
    assert_eq!(line(211.23e6, 209.9e6, 212.5e6, "B/s"), "211.2 MB/s (209.9 to 212.5)");
    assert_eq!(line(211.23e6, 150e6, 290e6, "B/s"), "210 MB/s (150 to 290)");
    // An interval wider than the number leaves one digit of it, not none.
    assert_eq!(line(451e6, 21e6, 14e9, "B/s"), "500 MB/s (0 to 14,000)");
    assert_eq!(line(3.512e9, 3.48e9, 3.54e9, "B/s"), "3.51 GB/s (3.48 to 3.54)");
    assert_eq!(line(0.45e6, 0.44e6, 0.46e6, "B/s"), "0.450 MB/s (0.440 to 0.460)");
    assert_eq!(line(15.63e-3, 15.4e-3, 15.9e-3, "s"), "15.63 ms (15.40 to 15.90)");
    assert_eq!(line(82.3e-6, 79e-6, 87e-6, "s"), "82 µs (79 to 87)");
    assert_eq!(line(1.5, 1.45, 1.55, "ratio"), "1.50 × (1.45 to 1.55)");
    assert_eq!(line(12345.6, 12000.0, 12700.0, "IOPS"), "12,300 IOPS (12,000 to 12,700)");
    assert_eq!(line(7.2, 6.0, 9.0, "count"), "7.2 (6.0 to 9.0)");
    assert_eq!(line(23.5 * 1073741824.0, 23e9, 26e9, "bytes"), "23.5 GiB (21.4 to 24.2)");
}

#[test]
fn long_times_are_shown_as_on_a_clock() {
    assert_eq!(line(17922.9, 17700.0, 18100.0, "s"), "4 h 59 min (4 h 55 min to 5 h 2 min)");
    assert_eq!(line(17922.9, 17915.0, 17931.0, "s"), "4 h 58 min 43 s (4 h 58 min 35 s to 4 h 58 min 51 s)");
    assert_eq!(line(50000.0, 40000.0, 60000.0, "s"), "13 h 50 min (11 h 10 min to 16 h 40 min)");
    assert_eq!(line(500.0, 460.0, 540.0, "s"), "8 min 20 s (7 min 40 s to 9 min 0 s)");
    assert_eq!(line(119.0, 118.0, 120.0, "s"), "119.0 s (118.0 to 120.0)");
}

#[test]
fn exact_numbers_are_shown_exactly() {
    for (value, unit, text) in [
        (0.0, "count", "0"),
        (1234567.0, "count", "1,234,567"),
        (600e6, "B/s", "600 MB/s"),
        (123456789.5, "B/s", "123.4567895 MB/s"),
        (0.0083, "s", "8.3 ms"),
        (17922.9, "s", "4 h 58 min 42.9 s"),
        (18000.0, "s", "5 h"),
        (4096.0, "bytes", "4 KiB"),
        (3000592982016.0, "bytes", "3,000,592,982,016 bytes"),
        (3000592982015.0, "bytes", "3,000,592,982,015 bytes"),
        (1.5, "ratio", "1.5 ×"),
        (-0.25, "ratio", "-0.25 ×"),
    ] {
        assert_eq!(exact(value, unit), text);
        let interval = measured(&Estimate::exact(value), unit).interval;
        assert!(interval == "exact" || interval.is_empty(), "{interval}");
    }
    assert_eq!(line(97.25, 97.25, 97.25, "s"), "97.25 s (exact)");
    assert_eq!(line(97.251_234_567, 97.251_234_567, 97.251_234_567, "s"), "97.251 s");
    assert_eq!(line(17922.9123, 17922.9123, 17922.9123, "s"), "4 h 58 min 43 s");
}

#[test]
fn a_number_without_a_known_interval_says_so() {
    assert_eq!(line(211e6, f64::NAN, f64::NAN, "B/s"), "211 MB/s (uncertainty not known)");
    assert_eq!(line(211e6, 200e6, f64::INFINITY, "B/s"), "211 MB/s (200 or more)");
    assert_eq!(line(211e6, f64::NEG_INFINITY, 220e6, "B/s"), "211 MB/s (220 or less)");
    assert_eq!(line(f64::NAN, 1.0, 2.0, "s"), "unknown (no number came out)");
}

#[test]
fn an_interval_whose_ends_read_alike_is_not_shown() {
    let narrow = estimate(33_884_056.097_718_59, 33_884_056.097_718_58, 33_884_056.097_718_6);
    assert_eq!(measured(&narrow, "B/s").line(), "33.88 MB/s");
}

#[test]
fn capacities_and_impressions() {
    assert_eq!(capacity(Bytes::new(3_000_592_982_016)), "3.00 TB");
    assert_eq!(capacity(Bytes::new(500_107_862_016)), "500 GB");
    assert_eq!(capacity(Bytes::new(16_000_900_661_248)), "16.0 TB");
    assert_eq!(capacity(Bytes::new(512)), "512 bytes");
    assert_eq!(size(Bytes::from_gib(50)), "50 GiB");
    assert_eq!(rough_rate(211.4e6), "211 MB/s");
    assert_eq!(rough_rate(0.0), "0.00 MB/s");
    assert_eq!(rough_time(Nanos::new(310)), "310 ns");
    assert_eq!(rough_time(Nanos::new(2_300_000)), "2.30 ms");
    assert_eq!(rough_time(Nanos::from_secs(42)), "42 s");
    assert_eq!(rough_time(Nanos::from_secs(192)), "3 min 12 s");
    assert_eq!(rough_time(Nanos::from_secs(17923)), "4 h 59 min");
    assert_eq!(rough_share(0.00001), "<0.1 %");
    assert_eq!(rough_share(0.9999), "99 %");
    assert_eq!(binary_unit(1024.0), (1024.0, "KiB"));
    assert_eq!(binary_unit(1073741823.0).1, "MiB");
}

#[test]
fn binary_units_are_shown_where_they_are_chosen() {
    holding(Units::Binary, || {
        assert_eq!(capacity(Bytes::new(3_000_592_982_016)), "2.73 TiB");
        assert_eq!(rough_rate(211.4e6), "202 MiB/s");
        assert_eq!(rough_rate(0.0), "0.00 MiB/s");
        assert_eq!(exact(157_286_400.0, "B/s"), "150 MiB/s");
        assert_eq!(exact(3_758_096_384.0, "B/s"), "3.5 GiB/s");
        assert_eq!(known(167.2e6, "B/s"), "159.5 MiB/s");
        assert_eq!(crate::finding::numbers::rate(500e3), "488 KiB/s");
        assert_eq!(crate::finding::numbers::size(23_200_000_000), "21.6 GiB");
        let rate = Estimate { low: 166.9e6, high: 167.6e6, confidence: 0.95, ..Estimate::exact(167.2e6) };
        let rate = measured(&rate, "B/s");
        assert_eq!((rate.value.as_str(), rate.interval.as_str()), ("159.5 MiB/s", "159.2 to 159.8"));
        assert_eq!(documented_capacity(Bytes::new(3_000_592_982_016)), "3.00 TB");
        assert_eq!(rough_rate(211.4e6), "202 MiB/s", "it holds again");
    });
    assert_eq!(rough_rate(211.4e6), "211 MB/s");
}

/// The number that a text shows, in base units, and the size of its last digit.
fn parse_back(text: &str) -> (f64, f64) {
    let mut total = 0.0;
    let mut step = 0.0;
    let words: Vec<&str> = text.split(' ').collect();
    for pair in words.chunks(2) {
        let digits = pair[0].replace(',', "");
        let number: f64 = digits.parse().unwrap_or_else(|_| panic!("{text:?} shows no number"));
        let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let multiplier = match pair.get(1).copied().unwrap_or("") {
            "ns" => 1e-9,
            "µs" => 1e-6,
            "ms" => 1e-3,
            "min" => 60.0,
            "h" => 3600.0,
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1024f64.powi(2),
            "GiB" => 1024f64.powi(3),
            "TiB" => 1024f64.powi(4),
            "s" | "×" | "" | "IOPS" | "bytes" => 1.0,
            other => panic!("{text:?} has an unknown unit {other:?}"),
        };
        total += number * multiplier;
        step = multiplier * 10f64.powi(-(decimals as i32));
    }
    (total, step)
}

fn quantities() -> impl Strategy<Value = (f64, &'static str)> {
    let units = [("B/s", 0.0), ("s", -9.0), ("bytes", 0.0), ("ratio", -3.0), ("count", 0.0), ("IOPS", -3.0)];
    prop::sample::select(units.to_vec()).prop_flat_map(|(unit, exponent_min)| {
        (exponent_min..13.0f64).prop_map(move |exponent| (10f64.powf(exponent), unit))
    })
}

#[test]
fn hours_are_not_rounded_by_more_than_half_of_what_is_not_known() {
    let shown = measured(&estimate(7_100.4, 7_070.8, 7_130.0), "s");
    assert_eq!(shown.line(), "1 h 58 min 20 s (1 h 57 min 50 s to 1 h 58 min 50 s)");
}

proptest! {
    #[test]
    fn no_text_shows_what_is_no_number(
        value in any::<f64>(), low in any::<f64>(), high in any::<f64>(), (_, unit) in quantities(),
    ) {
        let text = line(value, low, high, unit).to_lowercase() + &exact(value, unit) + &rough_rate(value);
        prop_assert!(!text.contains("nan") && !text.contains("inf"), "{}", text);
    }

    #[test]
    fn what_is_shown_is_the_value_within_half_its_uncertainty(
        (value, unit) in quantities(), share in 1e-4..0.5f64,
    ) {
        let uncertainty = value * share;
        let shown = measured(&estimate(value, value - uncertainty, value + uncertainty), unit);
        let (back, _) = parse_back(&shown.value);
        // Where the interval is told as a share, of a thousandth at most, three or four digits are enough.
        let is_share = shown.interval.starts_with('±');
        let off_max = if is_share { value * 1e-3 } else { uncertainty / 2.0 };
        prop_assert!((back - value).abs() <= off_max * 1.000001, "{} for {} ± {}", shown.line(), value, uncertainty);
    }

    #[test]
    fn no_digit_is_finer_than_a_tenth_of_the_uncertainty(
        (value, unit) in quantities(), share in 1e-4..0.5f64,
    ) {
        let uncertainty = value * share;
        let shown = measured(&estimate(value, value - uncertainty, value + uncertainty), unit);
        let (_, step) = parse_back(&shown.value);
        // Whole numbers keep the zeroes before the point, so only decimals show how fine the text is.
        if shown.value.contains('.') {
            prop_assert!(step >= uncertainty / 101.0, "{} for {} ± {}", shown.line(), value, uncertainty);
        }
    }

    #[test]
    fn a_larger_value_never_reads_smaller(
        (value, unit) in quantities(), factor in 1.0..2.0f64, share in 1e-4..0.5f64,
    ) {
        let uncertainty = value * share;
        let read = |value: f64| {
            parse_back(&measured(&estimate(value, value - uncertainty, value + uncertainty), unit).value).0
        };
        prop_assert!(read(value * factor) >= read(value) * (1.0 - 1e-12));
    }

    #[test]
    fn exact_numbers_come_back((value, unit) in quantities()) {
        let (back, _) = parse_back(&exact(value, unit));
        prop_assert!((back - value).abs() <= value * 1e-12 + 1e-9, "{} for {}", exact(value, unit), value);
    }

    #[test]
    fn counts_come_back(number in any::<u64>()) {
        prop_assert_eq!(count(number).replace(',', ""), number.to_string());
    }
}

#[test]
fn what_is_known_has_four_digits_or_all_that_it_has() {
    assert_eq!(known(203_632_467.649_986_45, "B/s"), "203.6 MB/s");
    assert_eq!(known(637_887.991_395_080_9, "B/s"), "0.6379 MB/s");
    assert_eq!(known(250_000_000.000_000_03, "B/s"), "250.0 MB/s");
    assert_eq!(known(1.8e9, "B/s"), "1.8 GB/s");
    assert_eq!(known(17_941.039_946_785, "s"), "4 h 59 min 1 s");
    assert_eq!(known(23.841_857_910_156_25, "s"), "23.84 s");
    assert_eq!(known(0.008_333_333_333_333_333, "s"), "8.333 ms");
    assert_eq!(known(0.000_85, "s"), "850 µs");
    assert_eq!(known(1.997_818_181_818, "ratio"), "1.998 ×");
    assert_eq!(known(23_200_357_412.795_597, "bytes"), "23.2 GB");
    assert_eq!(known(3_000_592_982_016.0, "bytes"), "3,000,592,982,016 bytes");
    assert_eq!(known(33_554_432.0, "bytes"), "32 MiB");
    assert_eq!(known(123_456.0, "count"), "123,456");
    assert_eq!(known(f64::NAN, "s"), "unknown");
}

#[test]
fn a_count_has_no_decimals_and_no_interval_of_one_number() {
    let of = |value, low, high| Estimate { value, low, high, confidence: 0.95, effective_count: 40.0 };
    assert_eq!(measured(&of(3.0, 3.0, 4.0), "depth").line(), "3 depth (3 to 4)");
    assert_eq!(measured(&of(1.0, 1.0, 1.0), "count").line(), "1");
}

#[test]
fn a_narrow_interval_is_a_share() {
    let of = |value, low, high| Estimate { value, low, high, confidence: 0.95, effective_count: 40.0 };
    assert_eq!(measured(&of(24.6e-6, 24.599e-6, 24.601e-6), "s").line(), "24.6000 µs (±0.004 %)");
    assert_eq!(measured(&of(205e6, 204e6, 206e6), "B/s").line(), "205.0 MB/s (204.0 to 206.0)");
}
