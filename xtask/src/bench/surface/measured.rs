//! What a way of going over a drive came to; for ours read from the JSON that the program prints.

use serde_json::Value;

use crate::Failure;
use crate::bench::program::Program;

/// A number, and its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// The interval of 95 %.
    pub interval: Option<(f64, f64)>,
}

impl Figure {
    /// A number without an interval.
    pub fn point(value: f64) -> Figure {
        Figure { value, interval: None }
    }
}

/// A stretch of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Where it begins.
    pub first_byte: f64,
    /// How long it is.
    pub bytes: f64,
    /// How fast it reads, in bytes per second.
    pub bytes_per_second: f64,
}

/// What was found and what it cost.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How long the drive was needed, in seconds of its own time.
    pub device_s: f64,
    /// What was read.
    pub bytes: f64,
    /// What the drive holds.
    pub capacity: f64,
    /// The time of a full pass, in seconds.
    pub pass_s: Option<Figure>,
    /// The rate at the start, in bytes per second.
    pub outer: Option<Figure>,
    /// The rate at the end.
    pub inner: Option<Figure>,
    /// The one over the other.
    pub ratio: Option<Figure>,
    /// Capacity over the time of a pass.
    pub mean: Option<Figure>,
    /// The zones; none when none were looked for.
    pub zones: Option<Vec<Zone>>,
    /// First byte and length of slow regions.
    pub slow: Vec<(f64, f64)>,
    /// The link's rate, where it was found to be the limit.
    pub limit: Option<f64>,
    /// Requests that failed: regions.
    pub bad: f64,
    /// Sentences beside the findings: warnings, and why something is unknown.
    pub said: Vec<String>,
    /// The document itself.
    pub document: Value,
}

/// `drivescope surface` on a target.
pub fn surface(program: &Program, target: &str, seed: u64, options: &[&str]) -> Result<Measured, Failure> {
    let seed = seed.to_string();
    let words = [&["surface", target, "--seed", &seed], options].concat();
    Ok(read(program.run(&words)?))
}

/// What a document says.
pub fn read(document: Value) -> Measured {
    let number = |value: &Value| value.as_f64();
    let empty = Vec::new();
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let findings = document["findings"].as_array().unwrap_or(&empty);
    let finding = |code: &str| findings.iter().find(|finding| finding["code"] == code);
    let figure = |code: &str| {
        let finding = finding(code)?;
        let interval = number(&finding["low"]).zip(number(&finding["high"]));
        Some(Figure { value: number(&finding["value"])?, interval })
    };
    let stretch = |row: &Value| Some((number(&row["first_byte"])?, number(&row["bytes"])?));
    let zone = |row: &Value| {
        let (first_byte, bytes) = stretch(row)?;
        Some(Zone { first_byte, bytes, bytes_per_second: number(&row["bytes_per_second"])? })
    };
    let table = finding("zone-table").map(|finding| list(&finding["data"]["zones"]));
    let slow = finding("slow-regions").map(|finding| list(&finding["data"]["regions"])).unwrap_or_default();
    let phases = document["phases"].as_array().unwrap_or(&empty);
    let device_s = phases.last().and_then(|last| Some(number(&last["start_s"])? + number(&last["seconds"])?));
    let warnings = list(&document["environment"]["warnings"]);
    let unknowns = findings.iter().map(|finding| finding["unknown"].clone());
    let said = warnings.into_iter().chain(unknowns).filter_map(|text| text.as_str().map(str::to_owned));
    Measured {
        device_s: device_s.unwrap_or_default(),
        bytes: phases.iter().filter_map(|phase| number(&phase["bytes"])).sum(),
        capacity: number(&document["target"]["capacity_bytes"]).unwrap_or(f64::NAN),
        pass_s: figure("full-pass-time"),
        outer: figure("read-rate-outer"),
        inner: figure("read-rate-inner"),
        ratio: figure("zone-ratio"),
        mean: figure("read-rate-mean"),
        zones: table.map(|rows| rows.iter().filter_map(zone).collect()),
        slow: slow.iter().filter_map(stretch).collect(),
        limit: figure("interface-limit").map(|limit| limit.value),
        bad: figure("bad-blocks").map_or(0.0, |bad| bad.value),
        said: said.collect(),
        document: document.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Zone, read};
    use serde_json::json;

    #[test]
    fn a_document_is_understood() {
        let document = json!({
            "target": {"capacity_bytes": 100},
            "environment": {"warnings": ["somebody else"]},
            "phases": [{"start_s": 0.0, "seconds": 2.0, "bytes": 3}, {"start_s": 2.5, "seconds": 1.0, "bytes": 4}],
            "findings": [
                {"code": "full-pass-time", "value": 9.0, "low": 8.0, "high": 10.0},
                {"code": "zone-table", "value": 1.0,
                 "data": {"zones": [{"first_byte": 0, "bytes": 100, "bytes_per_second": 5.0}]}},
                {"code": "slow-regions", "value": 1.0, "data": {"regions": [{"first_byte": 7, "bytes": 2}]}},
                {"code": "zone-ratio", "unknown": "too little"}
            ]
        });
        let measured = read(document);
        assert_eq!((measured.device_s, measured.bytes, measured.capacity), (3.5, 7.0, 100.0));
        assert_eq!(measured.pass_s, Some(Figure { value: 9.0, interval: Some((8.0, 10.0)) }));
        let zone = Zone { first_byte: 0.0, bytes: 100.0, bytes_per_second: 5.0 };
        assert_eq!(measured.zones, Some(vec![zone]));
        assert_eq!(measured.slow, [(7.0, 2.0)]);
        assert_eq!((measured.ratio, measured.limit), (None, None));
        assert_eq!(measured.said, ["somebody else", "too little"]);
    }
}
