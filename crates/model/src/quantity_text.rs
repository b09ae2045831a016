//! Sizes, durations and shares as people type them: `4k`, `50GiB`, `2TB`, `90s`, `1%`.
//!
//! A bare letter is a power of two, as in every block-size option (`4k` is 4096, not 4000);
//! `kB`, `MB`, `GB`, `TB` are powers of ten, as drives are sold; `KiB` and so on are spelled-out powers of two.

use crate::units::{Bytes, Nanos};
use std::fmt;
use std::str::FromStr;

/// Shows the text and what would be a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    pub text: String,
    pub expected: &'static str,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not {}", self.text, self.expected)
    }
}

impl std::error::Error for QuantityError {}

const SIZE: &str = "a size such as 512, 4k, 1MiB, 50GiB or 2TB";
const DURATION: &str = "a duration such as 30s, 5min, 2h or 250ms";
const SHARE: &str = "a share such as 1% or 0.5%";

fn or_error<T>(value: Option<T>, text: &str, expected: &'static str) -> Result<T, QuantityError> {
    match value {
        Some(value) => Ok(value),
        None => Err(QuantityError { text: text.to_string(), expected }),
    }
}

/// Reads a size: a number, then nothing, `k m g t p` (powers of 1024), `KiB` … `PiB`, `kB` … `PB` or `B`.
pub fn parse_size(text: &str) -> Result<Bytes, QuantityError> {
    or_error(size(text), text, SIZE)
}

/// Reads a duration: a number and `ns us ms s min h d`; `m` is a minute. A bare number is refused.
pub fn parse_duration(text: &str) -> Result<Nanos, QuantityError> {
    or_error(duration(text), text, DURATION)
}

/// Reads a share of 0 % to 100 % as a number in [0, 1].
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    or_error(share(text), text, SHARE)
}

fn size(text: &str) -> Option<Bytes> {
    let (number, unit) = split_unit(text);
    let multiplier: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "p" | "pib" => 1 << 50,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "pb" => 1_000_000_000_000_000,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(multiplier).map(Bytes::new);
    }
    let size = parse_decimal(number)? * multiplier as f64;
    // 2^53 is where a float stops counting single bytes; past it a fraction has lost its meaning.
    if size.fract() == 0.0 && size < (1u64 << 53) as f64 { Some(Bytes::new(size as u64)) } else { None }
}

fn duration(text: &str) -> Option<Nanos> {
    let (number, unit) = split_unit(text);
    let nanos = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    Nanos::from_secs_f64(parse_decimal(number)? * nanos / 1e9)
}

fn share(text: &str) -> Option<f64> {
    let percent = text.strip_suffix('%')?.trim_end();
    parse_decimal(percent)?;
    let share: f64 = format!("{percent}e-2").parse().ok()?;
    if (0.0..=1.0).contains(&share) { Some(share) } else { None }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Bytes, QuantityError> {
        parse_size(text)
    }
}

impl FromStr for Nanos {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Nanos, QuantityError> {
        parse_duration(text)
    }
}

/// The shortest text that [`parse_size`] reads back: `4GiB`, `295GB`, `512`.
pub fn size_text(size: Bytes) -> String {
    let units = [
        (1 << 50, "PiB"),
        (1_000_000_000_000_000, "PB"),
        (1 << 40, "TiB"),
        (1_000_000_000_000, "TB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
        (1, "B"),
    ];
    let divides = |(unit, _): &(u64, &str)| size.get() >= *unit && size.get().is_multiple_of(*unit);
    match units.into_iter().find(divides) {
        Some((unit, name)) => format!("{}{name}", size.get() / unit),
        None => "0".into(),
    }
}

/// A text that [`parse_duration`] reads back: `90s`, `20m`, `2h`. One of a unit is said in the smaller one: `60s`.
pub fn duration_text(time: Nanos) -> String {
    let units: [(u64, &str); 7] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let is_exact = |(unit, name): &(u64, &str)| {
        let count = time.get() / unit;
        time.get().is_multiple_of(*unit) && (count >= 2 || (count == 1 && !matches!(*name, "d" | "h" | "m")))
    };
    match units.into_iter().find(is_exact) {
        Some((unit, name)) => format!("{}{name}", time.get() / unit),
        None => "0s".into(),
    }
}

/// The shortest text that [`parse_share`] reads back as the same number: `10%`, `0.1%`.
pub fn share_text(share: f64) -> String {
    // The digits of the share itself, with the point two places on: a product with 100 is rounded.
    let text = share.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction:0<2}");
    let (percent, rest) = digits.split_at(whole.len() + 2);
    let percent = match percent.trim_start_matches('0') {
        "" => "0",
        percent => percent,
    };
    if rest.is_empty() { format!("{percent}%") } else { format!("{percent}.{rest}%") }
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], text[at..].trim_start())
}

/// Digits with at most one point: no sign, exponent, `inf` or `nan`, which `f64::from_str` would take.
fn parse_decimal(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bare_letter_is_a_power_of_two() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("1.5M", 1_572_864),
            ("50 GiB", 53_687_091_200),
            ("2TB", 2_000_000_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(Bytes::new(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_what_would_be() {
        for text in ["", "k", "-1", "4x", "1e9", "1.0001k", "99999999999P", "nan", "0x10", "4k4"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(
            parse_size("4 blocks").unwrap_err().to_string(),
            "`4 blocks` is not a size such as 512, 4k, 1MiB, 50GiB or 2TB"
        );
    }

    #[test]
    fn texts_are_short() {
        assert_eq!(
            [4 << 30, 295_000_000_000, 512, 0].map(|size| size_text(Bytes::new(size))),
            ["4GiB", "295GB", "512B", "0"]
        );
        assert_eq!(
            [60, 20 * 60, 7200, 90].map(|s| duration_text(Nanos::from_secs(s))),
            ["60s", "20m", "2h", "90s"]
        );
        assert_eq!(
            [0.1, 0.001, 0.07, 0.717, 1.0, 0.0].map(share_text),
            ["10%", "0.1%", "7%", "71.7%", "100%", "0%"]
        );
    }

    #[test]
    fn durations_and_shares() {
        assert_eq!(parse_duration("250ms"), Ok(Nanos::from_millis(250)));
        assert_eq!(parse_duration("1.5h"), Ok(Nanos::from_secs(5400)));
        assert!(parse_duration("10").is_err(), "a bare number has no unit");
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert!(parse_share("101%").is_err() && parse_share("0.5").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse_size(&text), parse_duration(&text), parse_share(&text));
        }

        #[test]
        fn whole_numbers_come_back(bytes in any::<u64>(), zeroes in 0u32..60) {
            prop_assert_eq!(parse_size(&bytes.to_string()), Ok(Bytes::new(bytes)));
            let bytes = Bytes::new(bytes >> zeroes << zeroes);
            prop_assert_eq!(parse_size(&size_text(bytes)), Ok(bytes));
        }

        #[test]
        fn times_and_shares_come_back(seconds in 0u64..9_000_000, share in 0.0..=1.0f64) {
            let time = Nanos::new(seconds * 1_000_000);
            prop_assert_eq!(parse_duration(&duration_text(time)), Ok(time));
            let typed = parse_share(&format!("{:.3}%", share * 100.0)).unwrap();
            prop_assert_eq!(parse_share(&share_text(typed)), Ok(typed));
        }
    }
}
