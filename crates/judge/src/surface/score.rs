//! What was found against what is true.

use super::measured::{Measured, Zone};
use crate::failure::Failure;
use crate::truth::Truths;
use model::finding::FindingCode;
use sim::profile::Profile;
use std::collections::BTreeMap;

/// A step between zones that must be found, as a share of the rate.
const STEP_MIN: f64 = 0.02;
/// How near to where it is, as a share of the capacity.
const PLACE_MAX: f64 = 0.005;
/// A change of the true rates that makes a border that was found none of nothing.
const TRUE_CHANGE_MIN: f64 = 0.002;

pub struct Row {
    pub drive: String,
    pub way: &'static str,
    pub is_ours: bool,
    pub measured: Measured,
    pub errors: Errors,
}

pub struct Truth {
    pub truths: Truths,
    pub zones: Vec<Zone>,
    pub slow: Vec<(f64, f64)>,
}

impl Truth {
    pub fn of(profile: &Profile) -> Result<Truth, Failure> {
        let truths = Truths::of(profile)?;
        let (mut zones, mut slow) = (Vec::new(), Vec::new());
        if let Some(table) = truths.get(FindingCode::ZoneTable) {
            zones.extend(table.data.zones().iter().map(Zone::of_truth));
        }
        if let Some(regions) = truths.get(FindingCode::SlowRegions) {
            slow.extend(
                regions.data.regions().iter().map(|region| (region.first_byte as f64, region.bytes as f64)),
            );
        }
        Ok(Truth { truths, zones, slow })
    }
}

#[derive(Debug, Default)]
pub struct Errors {
    pub by_code: BTreeMap<FindingCode, f64>,
    pub zones: Option<ZoneErrors>,
    pub limit: LimitVerdict,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LimitVerdict {
    #[default]
    Nothing,
    Found(f64),
    Missed,
    Invented,
}

#[derive(Debug, PartialEq)]
pub struct ZoneErrors {
    pub steps: usize,
    /// Of those, the ones with a border that was found within 0.5 % of the capacity.
    pub found: usize,
    pub invented: usize,
    pub worst_rate: f64,
}

impl Errors {
    pub fn of_run(measured: &Measured, truth: &Truth) -> Errors {
        let mut by_code = BTreeMap::new();
        for (code, found) in &measured.figures {
            if let Some(is) = truth.truths.value(*code) {
                by_code.insert(*code, found.value / is - 1.0);
            }
        }
        let zones = match &measured.zones {
            Some(zones) if !zones.is_empty() && !truth.zones.is_empty() => {
                Some(ZoneErrors::of(zones, &truth.zones))
            }
            _ => None,
        };
        let limit = match (measured.limit, truth.truths.value(FindingCode::InterfaceLimit)) {
            (Some(found), Some(limit)) => LimitVerdict::Found(found / limit - 1.0),
            (Some(_), None) => LimitVerdict::Invented,
            (None, Some(_)) => LimitVerdict::Missed,
            (None, None) => LimitVerdict::Nothing,
        };
        Errors { by_code, zones, limit }
    }

    pub fn of(&self, code: FindingCode) -> Option<f64> {
        self.by_code.get(&code).copied()
    }
}

impl ZoneErrors {
    pub fn of(found: &[Zone], truth: &[Zone]) -> ZoneErrors {
        let capacity: f64 = truth.iter().map(|zone| zone.bytes).sum();
        let near = PLACE_MAX * capacity;
        let borders: Vec<f64> = found.iter().skip(1).map(|zone| zone.first_byte).collect();
        let large = steps(truth, STEP_MIN);
        let any = steps(truth, TRUE_CHANGE_MIN);
        let mut worst_rate: f64 = 0.0;
        for zone in found {
            worst_rate = worst_rate.max((zone.bytes_per_second / true_rate(zone, truth) - 1.0).abs());
        }
        ZoneErrors {
            steps: large.len(),
            found: large.iter().filter(|step| is_near(&borders, **step, near)).count(),
            invented: borders.iter().filter(|border| !is_near(&any, **border, near)).count(),
            worst_rate,
        }
    }
}

fn steps(zones: &[Zone], least: f64) -> Vec<f64> {
    let mut steps = Vec::new();
    for pair in zones.windows(2) {
        if (pair[1].bytes_per_second / pair[0].bytes_per_second).ln().abs() > least {
            steps.push(pair[1].first_byte);
        }
    }
    steps
}

fn is_near(borders: &[f64], at: f64, near: f64) -> bool {
    borders.iter().any(|border| (border - at).abs() <= near)
}

fn true_rate(stretch: &Zone, truth: &[Zone]) -> f64 {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for zone in truth {
        let first = zone.first_byte.max(stretch.first_byte);
        let end = (zone.first_byte + zone.bytes).min(stretch.first_byte + stretch.bytes);
        if end > first {
            bytes += end - first;
            seconds += (end - first) / zone.bytes_per_second;
        }
    }
    bytes / seconds
}

/// How many true regions were found, with some byte in common; and how many were found without one.
pub fn regions(found: &[(f64, f64)], truth: &[(f64, f64)]) -> (usize, usize) {
    let hits = truth.iter().filter(|region| meets_any(region, found)).count();
    let invented = found.iter().filter(|region| !meets_any(region, truth)).count();
    (hits, invented)
}

pub fn meets_any(region: &(f64, f64), others: &[(f64, f64)]) -> bool {
    others.iter().any(|other| region.0 < other.0 + other.1 && other.0 < region.0 + region.1)
}

#[cfg(test)]
mod tests {
    use super::{Zone, ZoneErrors, regions};

    fn zones(rows: &[(f64, f64)]) -> Vec<Zone> {
        let ends = rows.iter().skip(1).map(|row| row.0).chain([1000.0]);
        let zone = |(&(first_byte, bytes_per_second), end): (&(f64, f64), f64)| Zone {
            first_byte,
            bytes: end - first_byte,
            bytes_per_second,
        };
        rows.iter().zip(ends).map(zone).collect()
    }

    /// Steps of 10 % at 400 and of 1 % at 700; found one at 404 (within 5), one at 700, one at 800 where nothing is.
    #[test]
    fn a_table_of_zones_is_scored_by_its_steps() {
        let truth = zones(&[(0.0, 100.0), (400.0, 90.0), (700.0, 89.0)]);
        let found = zones(&[(0.0, 101.0), (404.0, 90.0), (700.0, 89.0), (800.0, 88.11)]);
        let errors = ZoneErrors::of(&found, &truth);
        assert_eq!((errors.steps, errors.found, errors.invented), (1, 1, 1));
        // 404 bytes take 4 + 4/90 s: 99.89 B/s, of which 101 is 1.1 % more.
        assert!((errors.worst_rate - 0.0111).abs() < 0.0001, "{errors:?}");
        let far = ZoneErrors::of(&zones(&[(0.0, 100.0), (406.0, 90.0)]), &truth);
        assert_eq!((far.steps, far.found, far.invented), (1, 0, 1));
    }

    #[test]
    fn regions_are_found_by_any_of_their_bytes() {
        let truth = [(10.0, 5.0), (100.0, 5.0)];
        assert_eq!(regions(&[(14.0, 1.0), (15.0, 2.0), (50.0, 10.0)], &truth), (1, 2));
    }
}
