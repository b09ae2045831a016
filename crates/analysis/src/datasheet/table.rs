//! The reader of the table: strict, so that a slip of the pen is an error and not a missing figure.

use super::model_name::ModelPattern;
use super::{Certainty, Datasheet, Kind, Recording};
use std::str::FromStr;

/// The first line of the table, word for word.
pub(super) const HEADER: &str = "model_pattern,maker,family,capacity_gb,kind,turns_per_minute,recording,\
    rate_max_mb_per_s,rate_average_mb_per_s,write_rate_max_mb_per_s,seek_read_average_ms,seek_track_to_track_ms,\
    cache_mb,interface,endurance_tbw,source,certainty";

const COLUMNS: usize = 17;

/// All rows.
///
/// # Errors
///
/// The first thing that is not as the table must be, with its line.
pub(super) fn parse(text: &'static str) -> Result<Vec<Datasheet>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err("line 1: the header is not the one that this reader knows".to_string());
    }
    lines
        .enumerate()
        .map(|(at, line)| row(line).map_err(|error| format!("line {}: {error}", at + 2)))
        .collect()
}

fn fields_of(line: &'static str) -> Result<[&'static str; COLUMNS], String> {
    if line.contains('"') {
        return Err("a field is quoted, which this table does without".to_string());
    }
    let fields: Vec<&'static str> = line.split(',').collect();
    if let Some(field) = fields.iter().find(|field| field.trim() != **field) {
        return Err(format!("spaces around {field:?}"));
    }
    fields.try_into().map_err(|found: Vec<&str>| format!("{} fields, not {COLUMNS}", found.len()))
}

fn row(line: &'static str) -> Result<Datasheet, String> {
    let [
        model_pattern,
        maker,
        family,
        capacity,
        kind,
        turns,
        recording,
        rate_max,
        rate_average,
        write_rate,
        seek,
        track,
        cache,
        interface,
        endurance,
        source,
        certainty,
    ] = fields_of(line)?;
    if [model_pattern, maker, family, source].contains(&"") {
        return Err("a pattern, maker, family or source is missing".to_string());
    }
    Ok(Datasheet {
        model_pattern,
        maker,
        family,
        capacity_gb: optional(capacity)?.ok_or("the capacity is missing")?,
        kind: word(kind, &[("hdd", Kind::HardDisk), ("ssd", Kind::SolidState)])?,
        turns_per_minute: optional(turns)?,
        recording: word(
            recording,
            &[
                ("cmr", Recording::Conventional),
                ("smr", Recording::Shingled),
                ("unknown", Recording::Unknown),
            ],
        )?,
        rate_max_mb_per_s: optional(rate_max)?,
        rate_average_mb_per_s: optional(rate_average)?,
        write_rate_max_mb_per_s: optional(write_rate)?,
        seek_read_average_ms: optional(seek)?,
        seek_track_to_track_ms: optional(track)?,
        cache_mb: optional(cache)?,
        interface: (!interface.is_empty()).then_some(interface),
        endurance_tbw: optional(endurance)?,
        source,
        certainty: word(certainty, &[("read", Certainty::Read), ("recalled", Certainty::Recalled)])?,
        matcher: ModelPattern::new(model_pattern).ok_or("a pattern has one star at most")?,
    })
}

fn optional<T: FromStr>(field: &str) -> Result<Option<T>, String> {
    if field.is_empty() {
        return Ok(None);
    }
    field.parse().map(Some).map_err(|_| format!("{field:?} is not a number"))
}

fn word<T: Copy>(field: &str, known: &[(&str, T)]) -> Result<T, String> {
    known
        .iter()
        .find(|(name, _)| *name == field)
        .map(|(_, value)| *value)
        .ok_or_else(|| format!("unknown word {field:?}"))
}
