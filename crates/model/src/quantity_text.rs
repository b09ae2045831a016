//! Sizes, durations and shares as people type them: `4k`, `50GiB`, `2TB`, `90s`, `1%`.
//!
//! A bare letter is a power of two, as in every block-size option (`4k` is 4096, not 4000);
//! `kB`, `MB`, `GB`, `TB` are powers of ten, as drives are sold; `KiB` and so on are spelled-out powers of two.

use crate::units::{Bytes, Nanos};
use std::fmt;

/// Why a text is no quantity. Shows the text and what would be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// What was typed.
    pub text: String,
    /// What was looked for, with examples.
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

/// Reads a size: a number, then nothing, `k m g t p` (powers of 1024), `KiB` … `PiB`, `kB` … `PB` or `B`.
pub fn parse_size(text: &str) -> Result<Bytes, QuantityError> {
    let error = || QuantityError { text: text.to_string(), expected: SIZE };
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
        _ => return Err(error()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(multiplier).map(Bytes).ok_or_else(error);
    }
    let size = parse_decimal(number).ok_or_else(error)? * multiplier as f64;
    // 2^53 is where a float stops counting single bytes; past it a fraction has lost its meaning.
    (size.fract() == 0.0 && size < (1u64 << 53) as f64).then_some(Bytes(size as u64)).ok_or_else(error)
}

/// Reads a duration: a number and `ns us ms s min h d`; `m` is a minute. A bare number is refused.
pub fn parse_duration(text: &str) -> Result<Nanos, QuantityError> {
    let error = || QuantityError { text: text.to_string(), expected: DURATION };
    let (number, unit) = split_unit(text);
    let nanos = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(error()),
    };
    Nanos::from_secs_f64(parse_decimal(number).ok_or_else(error)? * nanos / 1e9).ok_or_else(error)
}

/// Reads a share of 0 % to 100 % as a number in [0, 1].
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    text.strip_suffix('%')
        .and_then(|number| parse_decimal(number.trim_end()))
        .map(|percent| percent / 100.0)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| QuantityError { text: text.to_string(), expected: SHARE })
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
    plain.then(|| text.parse().ok()).flatten()
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
            assert_eq!(parse_size(text), Ok(Bytes(bytes)), "{text}");
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
        fn whole_numbers_come_back(bytes in any::<u64>()) {
            prop_assert_eq!(parse_size(&bytes.to_string()), Ok(Bytes(bytes)));
        }
    }
}
