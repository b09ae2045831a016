//! What all detectors conclude together.

use super::REGISTRY;
use super::detect::Detector;
use super::limited_pass::held_up;
use super::{contradiction, datasheet_claims, rate_limit};
use crate::examined::Examined;
use crate::limit::{self, Limit};
use crate::measured::random_groups;
use model::finding::{Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;

/// Everything that can be concluded from a run: what the detectors find, and what follows from it together.
pub fn analyse(run: &RunView<'_>) -> Vec<Finding> {
    concluded(run, limit::limits(run), detected(run))
}

/// What each detector that has something to go by finds in all of a run.
pub struct Detected(Vec<(&'static Detector, Vec<Finding>)>);

/// About as long as the search for [`limit::limits`], which may go on meanwhile.
pub fn detected(run: &RunView<'_>) -> Detected {
    let needed = REGISTRY.iter().filter(|detector| detector.needs.iter().any(|need| need.is_met(run)));
    let examined = Examined::new(run);
    Detected(needed.map(|detector| (detector, (detector.detect)(&examined))).collect())
}

pub fn concluded(run: &RunView<'_>, limits: Vec<Limit>, detected: Detected) -> Vec<Finding> {
    let apart = limit::apart(run, &limits);
    let apart = apart.as_ref().map(|phases| Examined::new(&RunView { phases, ..*run }));
    let mut findings = rate_limit::found(run, &limits);
    for (detector, of_all) in detected.0 {
        match &apart {
            None => findings.extend(of_all),
            Some(before) => findings.extend(detected_apart(detector, of_all, before, &limits, run)),
        }
    }
    rate_limit::explain_drop(&mut findings, &limits);
    let contradictions = contradiction::withdrawn(&mut findings);
    findings.extend(contradictions);
    findings.extend(datasheet_claims::compared(run, &findings));
    findings
}

/// A pass takes longer than the burst shows, and no longer than the limit makes of it.
const OF_A_PASS: [FindingCode; 3] =
    [FindingCode::ReadRateMean, FindingCode::WriteRateMean, FindingCode::FullPassTime];

/// Samples before one limit may be at another, and are no parts of a drive then.
const OF_PLACES: [FindingCode; 1] = [FindingCode::UnmappedRanges];

/// What the best of all depths is, is not known where one of them was measured at the limit only.
const OF_ALL_DEPTHS: [FindingCode; 2] = [FindingCode::ConcurrencyGain, FindingCode::ConcurrencyKnee];

/// What a detector finds in the phases before a rate limit was met, which are given, if it looks for what a limit changes.
/// Where it finds other things in all of them and nothing in these, the limit is the reason.
fn detected_apart(
    detector: &Detector,
    of_all: Vec<Finding>,
    before: &Examined<'_>,
    limits: &[Limit],
    run: &RunView<'_>,
) -> Vec<Finding> {
    if !detector.codes.iter().any(|&code| Finding::rate_limited(code).is_some()) {
        return of_all;
    }
    let has_all_depths = [Operation::Read, Operation::Write]
        .into_iter()
        .all(|operation| random_groups(before, operation).keys().eq(random_groups(run, operation).keys()));
    let mut findings = (detector.detect)(before);
    for of_all in of_all {
        let code = of_all.code();
        let Some(limited) = Finding::rate_limited(code) else { continue };
        match findings.iter_mut().find(|finding| finding.code() == code) {
            None => findings.push(limited),
            Some(found) if OF_A_PASS.contains(&code) => {
                let is_at_limit = !found.is_known();
                let known = if is_at_limit { of_all } else { found.clone() };
                *found = held_up(known, is_at_limit, limits, run).unwrap_or(limited);
            }
            Some(found)
                if OF_ALL_DEPTHS.contains(&code) && !has_all_depths
                    || (!found.is_known() || OF_PLACES.contains(&code)) && *found != of_all =>
            {
                *found = limited;
            }
            Some(_) => {}
        }
    }
    findings
}
