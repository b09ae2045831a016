//! Where the rate of a disk steps, and how fast each stretch is.
//!
//! # What it finds
//! Stretches of one rate each: where each begins, with an interval, and how fast it is, with an interval.
//! # Why it matters
//! A partition should begin where a zone does, and a copy of a part of a drive takes as long as its zones say.
//! # How
//! The levels of the map: see `surface`. A disk's tracks of one zone hold the same number of sectors, so that rates step.
//! # Cannot tell when
//! The drive does not turn, or it is not known whether it does; other load hides the zones; too few visits.
//! # Known problems
//! Zones that differ by less than the noise of visits shows are one stretch: the count is at least that of the zones that differ by
//! more than the step that the data state. How much surfaces differ is estimated from the noise, of which a cut of tracks is taken
//! to be 1 %; it is left out where it is no larger than that.
//! # References
//! See `surface::level` and `surface::border`.

use super::wording::{number, rate};
use super::zones::{map_of_disk, operation};
use super::{Detector, Need};
use crate::measured::survey_evidence;
use crate::surface::{Level, SurfaceMap};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// See the head of this file.
pub(super) struct ZoneTable;

/// A zone of 40, as wide as is usual: the missed step is stated for it.
const USUAL_ZONE_SHARE: f64 = 0.025;
/// What the cut of tracks alone makes visits scatter: 8 MiB are four tracks and more, whose ends are a skew of a seventh of a turn.
const CUT_NOISE: f64 = 0.01;
/// The edge of a uniform distribution in standard deviations.
const EDGE_DEVIATIONS: f64 = 1.732;

impl Detector for ZoneTable {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ZoneCount, FindingCode::ZoneTable]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Survey(Operation::Read), Need::Survey(Operation::Write)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let map = map_of_disk(run).and_then(|map| match map.levels.is_empty() {
            true => Err("Too few usable visits for a map. Measure longer.".into()),
            false => Ok(map),
        });
        match map {
            Ok(map) => vec![count(run, &map), table(run, &map)],
            Err(why) => self.codes().iter().map(|&code| Finding::unknown(code, why.clone())).collect(),
        }
    }
}

fn count(run: &RunView<'_>, map: &SurfaceMap) -> Finding {
    let missed = map.step_found(USUAL_ZONE_SHARE);
    let (count, steps) = (map.levels.len(), number(missed * 100.0));
    let statement = match count {
        1 => format!("The drive has the same rate everywhere; steps below {steps} % may have been missed."),
        _ => format!("{count} zones can be told apart; steps below {steps} % may have been missed."),
    };
    of_levels(run, map, FindingCode::ZoneCount, statement).with_data("step_missed", Datum::Number(missed))
}

fn table(run: &RunView<'_>, map: &SurfaceMap) -> Finding {
    let speed = |level: Option<&Level>| level.map_or(0.0, |level| 1.0 / level.seconds_per_byte.value);
    let (first, last) = (rate(speed(map.levels.first())), rate(speed(map.levels.last())));
    let statement = match map.levels.len() {
        1 => format!("The whole range runs at {first}."),
        count => format!("{count} zones, from {first} at the start to {last} at the end."),
    };
    let finding = of_levels(run, map, FindingCode::ZoneTable, statement)
        .with_data("zones", Datum::List(map.levels.iter().map(row).collect()))
        .with_data("step_missed", Datum::Number(map.step_found(USUAL_ZONE_SHARE)))
        .with_data("noise", Datum::Number(map.noise));
    let between_surfaces = map.noise * map.noise - CUT_NOISE * CUT_NOISE;
    if between_surfaces <= 0.25 * CUT_NOISE * CUT_NOISE {
        return finding;
    }
    finding.with_data("stripe_spread", Datum::Number(EDGE_DEVIATIONS * between_surfaces.sqrt()))
}

/// What was told apart is counted exactly; how many more there are is not known.
fn of_levels(run: &RunView<'_>, map: &SurfaceMap, code: FindingCode, statement: String) -> Finding {
    let count = Estimate::exact(map.levels.len() as f64);
    Finding::number(code, count, "count", statement, survey_evidence(run, operation(run)))
}

fn row(level: &Level) -> Datum {
    let rates = level.seconds_per_byte.map_monotonic(|seconds| 1.0 / seconds.max(f64::MIN_POSITIVE));
    Datum::record([
        ("first_byte", Datum::Integer(level.first_byte)),
        ("bytes", Datum::Integer(level.bytes)),
        ("bytes_per_second", Datum::Number(rates.value)),
        ("low", Datum::Number(rates.low)),
        ("high", Datum::Number(rates.high)),
        ("border_low_byte", Datum::Integer(level.border_low)),
        ("border_high_byte", Datum::Integer(level.border_high)),
        ("visits", Datum::Integer(level.visits as u64)),
    ])
}
