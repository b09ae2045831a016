//! Values of options that are less than all of their type, and why others are refused.

use crate::error::UserError;
use analysis::plan::{PARTS_MAX, Wish};
use import::Format;
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::units::{Bytes, Nanos};

/// A virtual drive is written to in virtual time, which takes a second of ours for some ten gigabytes.
const DAILY_MAX: Bytes = Bytes::new(2_000_000_000_000);

pub fn daily(text: &str) -> Result<Bytes, UserError> {
    match parse_size(text)? {
        Bytes::ZERO => Err(UserError::usage("nothing written takes no time; give a size such as 60GB")),
        size if size > DAILY_MAX => {
            Err(UserError::usage(format!("{text} is more than the 2TB that are tried; give less")))
        }
        size => Ok(size),
    }
}

pub fn backup(text: &str) -> Result<Bytes, UserError> {
    match parse_size(text)? {
        Bytes::ZERO => Err(UserError::usage("a backup of nothing takes no time. Give a size such as 2TB")),
        size => Ok(size),
    }
}

pub fn budget(text: &str) -> Result<Nanos, UserError> {
    match parse_duration(text)? {
        Nanos::ZERO => Err(UserError::usage("no drive answers in no time; give a time such as 20ms")),
        budget => Ok(budget),
    }
}

pub fn fast(text: &str) -> Result<Wish, UserError> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(Wish::Fastest(share)),
        _ => Err(UserError::usage(format!("{text} leaves nothing to divide; give a share such as 10%"))),
    }
}

pub fn rate(text: &str) -> Result<Wish, UserError> {
    if let Some(size) = text.strip_suffix("/s")
        && let Ok(size) = parse_size(size.trim_end())
        && !size.is_zero()
    {
        return Ok(Wish::AtLeast(size.as_f64()));
    }
    Err(UserError::usage(format!("`{text}` is not a rate such as 150MB/s")))
}

pub fn parts(text: &str) -> Result<Wish, UserError> {
    match text.parse() {
        Ok(count @ 1..=PARTS_MAX) => Ok(Wish::Parts(count)),
        _ => Err(UserError::usage(format!("`{text}` is not a number of partitions from 1 to {PARTS_MAX}"))),
    }
}

pub fn format(name: &str) -> Result<Format, UserError> {
    match Format::from_name(name) {
        Some(format) => Ok(format),
        None => {
            let known = Format::ALL.map(Format::name).join(", ");
            Err(UserError::usage(format!("`{name}` is none of {known}")))
        }
    }
}
