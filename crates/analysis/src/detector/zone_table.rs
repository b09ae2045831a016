//! Zones: where the throughput of a disk steps, and how fast each zone is.
//! # What it finds
//! Zones of one throughput each: where each begins and how fast it is, with intervals.
//! # Why it matters
//! A partition should begin where a zone does, and copying a part of a drive takes as long as its zones say.
//! # How
//! The levels of the map: see `surface`. Tracks of one zone hold the same number of sectors, so that throughput steps.
//! # Cannot tell when
//! The drive does not rotate, or nothing tells whether it does; other load hides the zones; too few samples.
//! # Known problems
//! Zones that differ by less than the stated step are one. Surfaces' differences come from the noise, less 1 % for cut tracks.
//! # References
//! See `surface::level` and `surface::border`.

use super::detect::{Detector, Need};
use super::zones::{map_of_disk, operation};
use crate::examined::Examined;
use crate::measured::survey_evidence;
use crate::surface::{Level, SurfaceMap};
use model::finding::{Finding, FindingCode, Outcome, SurveyUnknown, Zone, ZoneCount, ZoneTable};

/// A zone of 40, as wide as is usual: the missed step is stated for it.
const USUAL_ZONE_SHARE: f64 = 0.025;
/// Noise of cut tracks alone: 8 MiB are four tracks and more, whose ends are a skew of a seventh of a revolution.
const CUT_NOISE: f64 = 0.01;
/// The edge of a uniform distribution in standard deviations.
const EDGE_DEVIATIONS: f64 = 1.732;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::ZoneCount, FindingCode::ZoneTable], needs: Need::SURVEYED, detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let map = match map_of_disk(run) {
        Ok(map) if map.levels.is_empty() => Err(SurveyUnknown::TooFewSamples { usable: map.visits.len() }),
        other => other,
    };
    let (count, table) = match map {
        Ok(map) => {
            let step_missed = map.step_found(USUAL_ZONE_SHARE);
            let evidence = survey_evidence(run, operation(run));
            let count = ZoneCount { zones: map.levels.len(), step_missed };
            (Outcome::known(count, evidence.clone()), Outcome::known(table(map, step_missed), evidence))
        }
        Err(reason) => (Outcome::Unknown(reason), Outcome::Unknown(reason)),
    };
    vec![Finding::ZoneCount(count), Finding::ZoneTable(table)]
}

fn table(map: &SurfaceMap, step_missed: f64) -> ZoneTable {
    let between_surfaces = map.noise * map.noise - CUT_NOISE * CUT_NOISE;
    let stripe_spread = if between_surfaces > 0.25 * CUT_NOISE * CUT_NOISE {
        Some(EDGE_DEVIATIONS * between_surfaces.sqrt())
    } else {
        None
    };
    ZoneTable { zones: map.levels.iter().map(zone).collect(), step_missed, noise: map.noise, stripe_spread }
}

fn zone(level: &Level) -> Zone {
    let rates = level.seconds_per_byte.map_monotonic(|seconds| 1.0 / seconds.max(f64::MIN_POSITIVE));
    Zone {
        first_byte: level.first_byte,
        bytes: level.bytes,
        bytes_per_second: rates.value,
        low: rates.low,
        high: rates.high,
        border_low_byte: level.border_low,
        border_high_byte: level.border_high,
        visits: level.visits,
    }
}
