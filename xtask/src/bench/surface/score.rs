//! What was found against what is true.

use model::finding::{Datum, FindingCode};
use sim::profile::Profile;
use sim::truth::truth_of;

use super::measured::{Figure, Measured, Zone};
use crate::Failure;

/// A step between zones that must be found, as a share of the rate.
const STEP_MIN: f64 = 0.02;
/// How near to where it is, as a share of the capacity.
const PLACE_MAX: f64 = 0.005;
/// A change of the true rates that makes a border that was found none of nothing.
const TRUE_CHANGE_MIN: f64 = 0.002;

/// What is true of a drive; what it says nothing about is none.
pub struct Truth {
    /// The time of a full pass, in seconds.
    pub pass_s: Option<f64>,
    /// The rate at the start, in bytes per second.
    pub outer: Option<f64>,
    /// The rate at the end.
    pub inner: Option<f64>,
    /// The one over the other.
    pub ratio: Option<f64>,
    /// Capacity over the time of a pass.
    pub mean: Option<f64>,
    /// The zones.
    pub zones: Vec<Zone>,
    /// First byte and length of what is slow.
    pub slow: Vec<(f64, f64)>,
    /// The link's rate, where it is the limit.
    pub limit: Option<f64>,
}

impl Truth {
    /// What follows from a profile.
    pub fn of(profile: &Profile) -> Result<Truth, Failure> {
        let truths = truth_of(profile)
            .map_err(|flaw| Failure::cannot(format!("{} has no truth: {flaw}.", profile.name)))?;
        let of_code = |code: FindingCode| truths.iter().find(|truth| truth.code == code);
        let value = |code: FindingCode| of_code(code).and_then(|truth| truth.value());
        let rows = |code: FindingCode, name: &str| {
            let data = of_code(code).map(|truth| truth.data.as_slice()).unwrap_or_default();
            match data.iter().find(|(key, _)| key == name) {
                Some((_, Datum::List(rows))) => rows.clone(),
                _ => Vec::new(),
            }
        };
        let zone = |row: &Datum| {
            let bytes_per_second = part(row, "bytes_per_second")?;
            Some(Zone { first_byte: part(row, "first_byte")?, bytes: part(row, "bytes")?, bytes_per_second })
        };
        let region = |row: &Datum| Some((part(row, "first_byte")?, part(row, "bytes")?));
        Ok(Truth {
            pass_s: value(FindingCode::FullPassTime),
            outer: value(FindingCode::ReadRateOuter),
            inner: value(FindingCode::ReadRateInner),
            ratio: value(FindingCode::ZoneRatio),
            mean: value(FindingCode::ReadRateMean),
            zones: rows(FindingCode::ZoneTable, "zones").iter().filter_map(zone).collect(),
            slow: rows(FindingCode::SlowRegions, "regions").iter().filter_map(region).collect(),
            limit: value(FindingCode::InterfaceLimit),
        })
    }
}

fn part(row: &Datum, name: &str) -> Option<f64> {
    let Datum::Record(parts) = row else { return None };
    match parts.iter().find(|(key, _)| key == name) {
        Some((_, Datum::Integer(value))) => Some(*value as f64),
        Some((_, Datum::Number(value))) => Some(*value),
        _ => None,
    }
}

/// How far what was found is from the truth, as shares of it; none where one of them says nothing.
#[derive(Debug, Default)]
pub struct Errors {
    /// Of the time of a full pass.
    pub pass: Option<f64>,
    /// Of the rate at the start.
    pub outer: Option<f64>,
    /// Of the rate at the end.
    pub inner: Option<f64>,
    /// Of their ratio.
    pub ratio: Option<f64>,
    /// Of the table of zones.
    pub zones: Option<ZoneErrors>,
    /// What was said of the link.
    pub limit: LimitVerdict,
}

/// What was said of a link as the limit, where links were asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LimitVerdict {
    /// None there, none found; or nobody asked.
    #[default]
    Nothing,
    /// Found, and its rate is so far off.
    Found(f64),
    /// There, and not found.
    Missed,
    /// Found, and not there.
    Invented,
}

/// How good a table of zones is.
#[derive(Debug, PartialEq)]
pub struct ZoneErrors {
    /// True steps of more than 2 %.
    pub steps: usize,
    /// Of those, the ones with a border that was found within 0.5 % of the capacity.
    pub found: usize,
    /// Borders that were found where nothing is near.
    pub invented: usize,
    /// The rate of a zone that is furthest from the mean of what is true there, as a share.
    pub worst_rate: f64,
}

impl Errors {
    /// Compares.
    pub fn of(measured: &Measured, truth: &Truth) -> Errors {
        let error = |found: Option<Figure>, truth: Option<f64>| Some(found?.value / truth? - 1.0);
        let zones = measured.zones.as_ref().filter(|zones| !zones.is_empty() && !truth.zones.is_empty());
        Errors {
            pass: error(measured.pass_s, truth.pass_s),
            outer: error(measured.outer, truth.outer),
            inner: error(measured.inner, truth.inner),
            ratio: error(measured.ratio, truth.ratio),
            zones: zones.map(|zones| ZoneErrors::of(zones, &truth.zones)),
            limit: match (measured.limit, truth.limit) {
                (Some(found), Some(limit)) => LimitVerdict::Found(found / limit - 1.0),
                (Some(_), None) => LimitVerdict::Invented,
                (None, Some(_)) => LimitVerdict::Missed,
                (None, None) => LimitVerdict::Nothing,
            },
        }
    }
}

impl ZoneErrors {
    fn of(found: &[Zone], truth: &[Zone]) -> ZoneErrors {
        let capacity: f64 = truth.iter().map(|zone| zone.bytes).sum();
        let near = PLACE_MAX * capacity;
        let steps = |zones: &[Zone], least: f64| -> Vec<f64> {
            let pairs = zones.windows(2);
            let large =
                pairs.filter(|pair| (pair[1].bytes_per_second / pair[0].bytes_per_second).ln().abs() > least);
            large.map(|pair| pair[1].first_byte).collect()
        };
        let is_near = |borders: &[f64], at: f64| borders.iter().any(|border| (border - at).abs() <= near);
        let borders: Vec<f64> = found.iter().skip(1).map(|zone| zone.first_byte).collect();
        let large = steps(truth, STEP_MIN);
        let any = steps(truth, TRUE_CHANGE_MIN);
        let worst = found.iter().map(|zone| (zone.bytes_per_second / true_rate(zone, truth) - 1.0).abs());
        ZoneErrors {
            steps: large.len(),
            found: large.iter().filter(|&&step| is_near(&borders, step)).count(),
            invented: borders.iter().filter(|&&border| !is_near(&any, border)).count(),
            worst_rate: worst.fold(0.0, f64::max),
        }
    }
}

/// The rate at which a stretch is truly read through.
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

/// How many true regions were found: some byte of each is in one that was found. And how many were found that have no
/// byte of a true one.
pub fn regions(found: &[(f64, f64)], truth: &[(f64, f64)]) -> (usize, usize) {
    let meets = |one: &(f64, f64), other: &(f64, f64)| one.0 < other.0 + other.1 && other.0 < one.0 + one.1;
    let hits = truth.iter().filter(|region| found.iter().any(|other| meets(region, other))).count();
    let invented = found.iter().filter(|region| !truth.iter().any(|other| meets(region, other))).count();
    (hits, invented)
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
