//! What a way of going over a drive came to; for ours read from the JSON that the program prints.

use crate::document::{Document, number};
use crate::failure::Failure;
use crate::program::Program;
use model::finding::FindingCode;
use serde_json::Value;
use sim::truth::data::RateZone;
use std::collections::BTreeMap;

/// Numbers that a survey owes, in the order of the tables.
pub const SCORED: [FindingCode; 5] = [
    FindingCode::FullPassTime,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::ZoneRatio,
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

impl Figure {
    fn of(document: &Document, code: FindingCode) -> Option<Figure> {
        let found = document.said(code);
        Some(Figure {
            value: found["value"].as_f64()?,
            interval: found["low"].as_f64().zip(found["high"].as_f64()),
        })
    }

    pub fn point(value: f64) -> Figure {
        Figure { value, interval: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    pub first_byte: f64,
    pub bytes: f64,
    pub bytes_per_second: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How long the drive was needed, in seconds of its own time.
    pub device_s: f64,
    pub bytes: f64,
    pub capacity: f64,
    pub figures: BTreeMap<FindingCode, Figure>,
    pub zones: Option<Vec<Zone>>,
    pub slow: Vec<(f64, f64)>,
    pub limit: Option<f64>,
    pub document: Document,
}

pub fn surface(program: &Program, target: &str, seed: u64, options: &[&str]) -> Result<Measured, Failure> {
    Ok(read(program.measure("surface", target, options, seed)?))
}

pub fn read(document: Document) -> Measured {
    let has_zones = document.finding(FindingCode::ZoneTable).is_some();
    let zones = document.rows(FindingCode::ZoneTable, "zones").iter().map(zone).collect();
    let slow = document.rows(FindingCode::SlowRegions, "regions").iter();
    Measured {
        device_s: document.device_s(),
        bytes: document.bytes(),
        capacity: document["target"]["capacity_bytes"].as_f64().unwrap_or(f64::NAN),
        figures: SCORED.iter().filter_map(|code| Some((*code, Figure::of(&document, *code)?))).collect(),
        zones: if has_zones { Some(zones) } else { None },
        slow: slow.map(|row| (number(row, "first_byte"), number(row, "bytes"))).collect(),
        limit: document.value(FindingCode::InterfaceLimit),
        document,
    }
}

impl Zone {
    pub fn of_truth(zone: &RateZone) -> Zone {
        let RateZone { first_byte, bytes, bytes_per_second } = *zone;
        Zone { first_byte: first_byte as f64, bytes: bytes as f64, bytes_per_second }
    }
}

fn zone(row: &Value) -> Zone {
    Zone {
        first_byte: number(row, "first_byte"),
        bytes: number(row, "bytes"),
        bytes_per_second: number(row, "bytes_per_second"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, FindingCode, Zone, read};
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
        let measured = read(document.into());
        assert_eq!((measured.device_s, measured.bytes, measured.capacity), (3.5, 7.0, 100.0));
        let pass = Figure { value: 9.0, interval: Some((8.0, 10.0)) };
        assert_eq!(measured.figures, [(FindingCode::FullPassTime, pass)].into());
        let zone = Zone { first_byte: 0.0, bytes: 100.0, bytes_per_second: 5.0 };
        assert_eq!(measured.zones, Some(vec![zone]));
        assert_eq!(measured.slow, [(7.0, 2.0)]);
        assert_eq!(measured.limit, None);
        assert!(measured.document.says(&["somebody else"]) && measured.document.says(&["too little"]));
    }
}
