//! The reader of the table: strict, so that a slip of the pen is an error and not a missing figure.

use super::model_name::ModelPattern;
use super::sheet::{Datasheet, Kind, Recording};
use model::finding::Certainty;
use std::str::FromStr;

pub(super) const HEADER: &str = "model_pattern,maker,family,capacity_gb,kind,turns_per_minute,recording,\
    rate_max_mb_per_s,rate_average_mb_per_s,write_rate_max_mb_per_s,seek_read_average_ms,seek_track_to_track_ms,\
    cache_mb,interface,endurance_tbw,source,certainty";

const COLUMNS: usize = 17;

/// What is not as the table must be, and in which line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TableError {
    pub line: usize,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Problem {
    Header,
    Quoted,
    SpacesAround(&'static str),
    FieldCount(usize),
    NameMissing,
    CapacityMissing,
    NoNumber(&'static str),
    UnknownWord(&'static str),
    SeveralStars,
}

pub(super) fn parse(text: &'static str) -> Result<Vec<Datasheet>, TableError> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let row = match number {
            1 if line == HEADER => continue,
            1 => Err(Problem::Header),
            _ => row(line),
        };
        rows.push(row.map_err(|problem| TableError { line: number, problem })?);
    }
    Ok(rows)
}

fn fields_of(line: &'static str) -> Result<[&'static str; COLUMNS], Problem> {
    if line.contains('"') {
        return Err(Problem::Quoted);
    }
    let fields: Vec<&'static str> = line.split(',').collect();
    if let Some(field) = fields.iter().find(|field| field.trim() != **field) {
        return Err(Problem::SpacesAround(field));
    }
    fields.try_into().map_err(|fields: Vec<&str>| Problem::FieldCount(fields.len()))
}

fn row(line: &'static str) -> Result<Datasheet, Problem> {
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
        return Err(Problem::NameMissing);
    }
    Ok(Datasheet {
        model_pattern,
        maker,
        family,
        capacity_gb: optional(capacity)?.ok_or(Problem::CapacityMissing)?,
        kind: match kind {
            "hdd" => Kind::HardDisk,
            "ssd" => Kind::SolidState,
            _ => return Err(Problem::UnknownWord(kind)),
        },
        turns_per_minute: optional(turns)?,
        recording: match recording {
            "cmr" => Recording::Conventional,
            "smr" => Recording::Shingled,
            "unknown" => Recording::Unknown,
            _ => return Err(Problem::UnknownWord(recording)),
        },
        rate_max_mb_per_s: optional(rate_max)?,
        rate_average_mb_per_s: optional(rate_average)?,
        write_rate_max_mb_per_s: optional(write_rate)?,
        seek_read_average_ms: optional(seek)?,
        seek_track_to_track_ms: optional(track)?,
        cache_mb: optional(cache)?,
        interface: if interface.is_empty() { None } else { Some(interface) },
        endurance_tbw: optional(endurance)?,
        source,
        certainty: match certainty {
            "read" => Certainty::Read,
            "recalled" => Certainty::Recalled,
            _ => return Err(Problem::UnknownWord(certainty)),
        },
        matcher: ModelPattern::new(model_pattern).ok_or(Problem::SeveralStars)?,
    })
}

fn optional<T: FromStr>(field: &'static str) -> Result<Option<T>, Problem> {
    if field.is_empty() {
        return Ok(None);
    }
    field.parse().map(Some).map_err(|_| Problem::NoNumber(field))
}
