//! Whether a link is the limit: of a disk that is as fast inside as outside.

use super::super::interface_limit::link_of;
use crate::measured::evidence_of;
use crate::moving_parts::turns;
use crate::stated::{edges, in_order, spots};
use model::finding::{Finding, Imported, InterfaceLimit, Outcome, SurveyUnknown};
use model::request::Operation;
use model::run::RunView;

/// Two ends of a disk within this share of each other: zones of disks with ratios from 1.5 on make at least 17 % over a third of it.
const FLAT_SHARE: f64 = 0.02;

/// The limit, if there is one; nothing when the ends differ or are not known.
pub(in super::super) fn link(run: &RunView<'_>) -> Vec<Finding> {
    let reads = in_order(run, Operation::Read);
    let figures = if reads.is_empty() { in_order(run, Operation::Write) } else { reads };
    let places = spots(&figures);
    let Ok([Some(_), Some(_)]) = edges(run, &places) else { return Vec::new() };
    let rates: Vec<f64> = places
        .iter()
        .filter_map(crate::stated::Spot::seconds_per_byte)
        .map(|seconds| 1.0 / seconds.value)
        .collect();
    let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    if !(least > 0.0 && most <= least * (1.0 + FLAT_SHARE)) {
        return Vec::new();
    }
    let outcome = match turns(run) {
        Some(false) => return Vec::new(),
        None => Outcome::Unknown(SurveyUnknown::FlatOfUnknownKind),
        Some(true) => {
            let Some(rate) = crate::stated::estimate_of(&rates) else { return Vec::new() };
            let link = link_of(run, rate.value).unwrap_or_else(|| "unknown".into());
            let imported = Some(Imported::new(&rate, run.environment.direct));
            let limit = InterfaceLimit { rate, link, reach: None, imported };
            Outcome::known(limit, evidence_of(&figures))
        }
    };
    vec![Finding::InterfaceLimit(outcome)]
}
