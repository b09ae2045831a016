//! From what was typed to what it means, one function for each group of options. Nothing is opened here.

mod choose;
mod import;

use super::args::{EstimateArguments, WishArguments};
use crate::error::UserError;
use analysis::plan::{PARTS_MAX, Wish};
pub use choose::choose;
pub use import::import;
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};

pub(super) fn list<Value>(
    name: &str,
    texts: &[String],
    read: impl Fn(&str) -> Result<Value, UserError>,
) -> Result<Vec<Value>, UserError> {
    let mut values = Vec::new();
    for text in texts {
        values.extend(option(name, Some(text), &read)?);
    }
    Ok(values)
}

pub(super) fn size(text: &str) -> Result<Bytes, UserError> {
    Ok(parse_size(text)?)
}

pub struct EstimateWish {
    pub runs: Vec<String>,
    pub full_pass: bool,
    pub backup: Option<ByteRange>,
    pub rebuild: bool,
    pub surface_check: bool,
    pub latency_budget: Option<Nanos>,
}

/// Reads the options of `estimate`. Without any, all that needs no size is asked for.
pub fn estimate(arguments: &EstimateArguments) -> Result<EstimateWish, UserError> {
    let EstimateArguments { runs, full_pass, backup, from, rebuild, latency_budget, surface_check, page: _ } =
        arguments;
    let from = option("--from", from.as_deref(), size)?.unwrap_or(Bytes::ZERO);
    let backup = match option("--backup", backup.as_deref(), size)? {
        None => None,
        Some(Bytes::ZERO) => {
            let why = "--backup: a backup of nothing takes no time. Give a size such as 2TB";
            return Err(UserError::usage(why));
        }
        Some(size) => match ByteRange::new(Offset::START + from, size) {
            None => return Err(UserError::usage("--from: the backup would end past 64 bits")),
            range => range,
        },
    };
    let latency_budget = latency_budget_of(latency_budget.as_deref())?;
    let is_all = !full_pass && backup.is_none() && !rebuild && !surface_check && latency_budget.is_none();
    Ok(EstimateWish {
        runs: runs.clone(),
        full_pass: *full_pass || is_all,
        backup,
        rebuild: *rebuild || is_all,
        surface_check: *surface_check || is_all,
        latency_budget,
    })
}

pub fn latency_budget_of(text: Option<&str>) -> Result<Option<Nanos>, UserError> {
    option("--latency-budget", text, |text| match parse_duration(text)? {
        Nanos::ZERO => Err(UserError::usage("no drive answers in no time; give a time such as 20ms")),
        budget => Ok(budget),
    })
}

pub fn wish(arguments: &WishArguments) -> Result<Option<Wish>, UserError> {
    let fast = option("--fast", arguments.fast.as_deref(), fast_share)?;
    let at_least = option("--at-least", arguments.at_least.as_deref(), rate)?;
    let parts = option("--parts", arguments.parts.as_deref(), parts)?;
    Ok(at_least.or(parts).or(fast))
}

fn fast_share(text: &str) -> Result<Wish, UserError> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(Wish::Fastest(share)),
        _ => Err(UserError::usage(format!("{text} leaves nothing to divide; give a share such as 10%"))),
    }
}

fn rate(text: &str) -> Result<Wish, UserError> {
    if let Some(size) = text.strip_suffix("/s")
        && let Ok(size) = parse_size(size.trim_end())
        && !size.is_zero()
    {
        return Ok(Wish::AtLeast(size.as_f64()));
    }
    Err(UserError::usage(format!("`{text}` is not a rate such as 150MB/s")))
}

fn parts(text: &str) -> Result<Wish, UserError> {
    match text.parse() {
        Ok(count @ 1..=PARTS_MAX) => Ok(Wish::Parts(count)),
        _ => Err(UserError::usage(format!("`{text}` is not a number of partitions from 1 to {PARTS_MAX}"))),
    }
}

pub(super) fn option<Value>(
    name: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<Value, UserError>,
) -> Result<Option<Value>, UserError> {
    let Some(text) = text else { return Ok(None) };
    match read(text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(UserError { text: format!("{name}: {}", error.text), ..error }),
    }
}
