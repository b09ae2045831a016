//! Whether what lies between drive and machine is the limit: a disk that is as fast inside as outside.

use super::super::interface_limit::link_of;
use super::super::wording::rate;
use super::{remark, remarked};
use crate::measured::turns;
use crate::stated::{Stated, edges, in_order, spots};
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// Two ends of a disk within this share of each other: where a third of the drive lies between them, the zones of disks with ratios from 1.5 on
/// make at least 17 %.
const FLAT_SHARE: f64 = 0.02;

/// The limit, if there is one; nothing when the ends differ or are not known.
pub(in super::super) fn link(run: &RunView<'_>) -> Vec<Finding> {
    let code = FindingCode::InterfaceLimit;
    let reads = in_order(run, Operation::Read);
    let figures = if reads.is_empty() { in_order(run, Operation::Write) } else { reads };
    let places = spots(&figures);
    let Ok((Some(_), Some(_))) = edges(run, &places) else { return Vec::new() };
    let rates: Vec<f64> =
        places.iter().filter_map(|spot| spot.seconds_per_byte()).map(|seconds| 1.0 / seconds.value).collect();
    let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    if !(least > 0.0 && most <= least * (1.0 + FLAT_SHARE)) {
        return Vec::new();
    }
    match turns(run) {
        Some(false) => return Vec::new(),
        None => {
            let why = "The drive is as fast at its end as at its start. Of a disk that would mean that something between limits it; whether it \
                       is one is not known. Import it again with --kind disk if it is.";
            return vec![Finding::unknown(code, why)];
        }
        Some(true) => {}
    }
    let Some(estimate) = crate::stated::estimate_of(&rates) else { return Vec::new() };
    let link = link_of(run, estimate.value);
    let by = link
        .clone()
        .map_or("Something between it and the machine".into(), |link| format!("Its link ({link})"));
    let statement = format!(
        "{by} limits the drive to {}{}: it is as fast at its end as at its start, and the medium of a disk is not.",
        rate(estimate.value),
        remark(&estimate)
    );
    let evidence = figures.iter().map(Stated::evidence).collect();
    let finding = Finding::number(code, estimate, "B/s", statement, evidence)
        .with_advice(
            "Connect the drive to a faster port, without a bridge or hub between, if the host has one.",
        )
        .with_data("link", Datum::Text(link.unwrap_or_else(|| "unknown".into())));
    vec![remarked(finding, run, &estimate)]
}
