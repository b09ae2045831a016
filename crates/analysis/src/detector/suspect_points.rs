//! Block sizes whose throughput something other than the size has spoilt.
//! # What it finds
//! Points of a sweep with an outlier round, their throughput before and after they were repeated; and dips that stayed.
//! # Why it matters
//! In a sweep that measures each size once, a valley or a full cache looks like a property of a size.
//! # How
//! Rounds of a point are compared with their median. An outlier differs by a tenth, and by six times what rounds scatter; its
//! point is repeated until four rounds agree. So is a size that is slower than both its neighbours.
//! # Cannot tell when
//! There were fewer than three rounds.
//! # Known problems
//! What spoils most rounds of a point looks like the point. For causes of outliers see `valleys` and `sustain`.
//! # References
//! 8thway.blogspot.com, 2009-06: dips at random sizes in File Benchmark and ATTO on an X25-M.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, measurements, phases_in_no_time};
use crate::size_profile::{EXPERIMENT, Point, SizeSweep};
use model::finding::{
    Finding, FindingCode, Outcome, SizesUnknown, SuspectPoint, SuspectPoints, SuspectReason,
};
use model::run::RunView;

const ROUNDS_MIN: usize = 3;
const ROWS_MAX: usize = 500;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::SuspectPoints], needs: &[Need::Asked(EXPERIMENT)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let outcome = match suspects(run) {
        Ok((suspects, phases)) => Outcome::known(suspects, evidence_of_phases(run, &phases)),
        Err(reason) => Outcome::Unknown(reason),
    };
    vec![Finding::SuspectPoints(outcome).with_caveats(&doubts(run))]
}

fn suspects(run: &RunView<'_>) -> Result<(SuspectPoints, Vec<u32>), SizesUnknown> {
    if phases_in_no_time(run, measurements(run)) {
        return Err(SizesUnknown::NoTime);
    }
    let sweep = SizeSweep::of(run);
    if !sweep.points.iter().any(|point| point.rounds.len() >= ROUNDS_MIN) {
        return Err(SizesUnknown::TooFewRounds);
    }
    let (mut points, mut dips, mut phases) = (Vec::new(), Vec::new(), Vec::new());
    for point in &sweep.points {
        if point.spoilt_count() > 0 {
            points.push(suspect(point));
        }
        if point.is_dip {
            dips.push(suspect(point));
        }
        phases.extend(point.spoilt_phases());
    }
    let (count, all) = (points.len(), sweep.points.len());
    points.truncate(ROWS_MAX);
    dips.truncate(ROWS_MAX);
    Ok((SuspectPoints { count, all, points, dips }, phases))
}

fn suspect(point: &Point) -> SuspectPoint {
    let spoilt_rounds = point.spoilt_count();
    SuspectPoint {
        bytes: point.key.size,
        operation: point.key.operation,
        pattern: point.key.pattern(),
        depth: point.key.depth,
        why: if spoilt_rounds > 0 {
            SuspectReason::OutlierRounds
        } else {
            SuspectReason::SlowerThanNeighbours
        },
        rounds: point.rounds.len(),
        spoilt_rounds,
        before: point.plain_rate(),
        after: point.clean_rate(),
    }
}
