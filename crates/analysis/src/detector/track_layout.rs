//! Where the tracks of a disk lie.
//! # What it finds
//! How many zones were seen, with the numbers of sectors on their tracks; by how much tracks are turned against each other (skew);
//! and how many surfaces there are at least.
//! # Why it matters
//! Sectors on a track decide how fast each part of a disk is, and surfaces that differ make the stripes that sequential rates show.
//! # How
//! Sectors side by side on a track pass at angles that are a whole number of sectors apart; a few reads give the number exactly.
//! See `geometry::track`, and `geometry::layout` for how zones come of it. No surface holds more further in, so counts that rise with the
//! address are of as many surfaces: the longest rise that is met more often than counts may be wrong is the least number of heads.
//! Where completion times scatter, as on a busy host, both ends of a track are looked for instead, where the angle jumps by the skew: see
//! `geometry::ends`. It takes half a second a track.
//! # Cannot tell when
//! Nothing turns; at most places no number of sectors fits the angles: the addresses do not follow tracks (several drives, a
//! drive that moves data), or the clock is too coarse for them. A stripe has tracks only within its chunks.
//! # Known problems
//! The number of zones is a lower bound: zones that no probe met are missing, and neighbours count as one where their counts may be those of
//! surfaces of one zone. What was seen of each stretch may hold tracks of two. Surfaces of which two hold the same in one zone and not in
//! another are only counted at least, and a drive whose surfaces held more further in would be given too many. A number holds where it was counted;
//! drives that leave out single bad sectors have tracks with some fewer. Skews of a turn and more are seen without their whole turns.
//! # References
//! Henry Wong, "Hard disk geometry microbenchmarking", 2019. Gim and Won, "Extract and infer quickly", ACM TOS 6(2), 2010. Rissanen, "Modeling
//! by shortest data description", Automatica 14, 1978. Schensted, "Longest increasing and decreasing subsequences", Canadian Journal of
//! Mathematics 13, 1961. Chao, "Nonparametric estimation of the number of classes in a population", 1984.

use super::detect::{Detector, Need};
use super::seek::may_be_of_one_arm;
use crate::examined::Examined;
use crate::geometry::{Layout, evidence_of, range_of};
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, NoGeometry, Outcome, TrackLayout, TrackZone};
use model::units::Bytes;

const WHOLE_SHARE_MIN: f64 = 0.99;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::TrackLayout], needs: &[Need::Asked(ExperimentName::Geometry)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    vec![Finding::TrackLayout(Outcome::of(track_layout(run), evidence_of(run)))]
}

fn track_layout(run: &Examined<'_>) -> Result<TrackLayout, NoGeometry> {
    let mechanics = run.mechanics()?;
    let sector = mechanics.sector;
    // Within a chunk of a stripe sectors lie on a track of one member, and the next chunk is another's.
    if run.has_several_arms() {
        return Err(NoGeometry::SeveralActuators);
    }
    if mechanics.tracks().probes == 0 {
        return Err(NoGeometry::NoProbes);
    }
    let counts = mechanics.counts()?;
    let layout = Layout::of(counts, &mechanics.rotation).ok_or(NoGeometry::CoarseTiming)?;
    if 2 * layout.exact.0 < counts.len() {
        return Err(NoGeometry::CoarseTiming);
    }
    // Disks of one model that turn together have the same tracks, which the blocks of their volume hide.
    if sector < run.target.physical_block && !may_be_of_one_arm(run) {
        return Err(NoGeometry::NoSingleActuator);
    }
    let measured = range_of(run).ok_or(NoGeometry::NoSingleReads)?;
    if (measured.bytes().as_f64()) < WHOLE_SHARE_MIN * run.target.capacity.as_f64() {
        return Err(NoGeometry::OnlyPart { sectors: extremes(&layout), sector });
    }
    Ok(conclusion(&layout, sector))
}

/// The fewest and the most sectors on a track of the first and the last zone.
fn extremes(layout: &Layout) -> Option<(u32, u32)> {
    let (first, last) = (layout.zones.first()?, layout.zones.last()?);
    let counts = || first.sectors.iter().chain(&last.sectors).copied();
    Some((counts().min()?, counts().max()?))
}

fn conclusion(layout: &Layout, sector: Bytes) -> TrackLayout {
    let mut zones = Vec::new();
    for zone in &layout.zones {
        zones.push(TrackZone {
            first_byte: zone.first_byte,
            last_byte: zone.last_byte,
            sectors: zone.sectors.clone(),
            probes: zone.probes,
        });
    }
    TrackLayout {
        zones: layout.zone_count(),
        sector,
        sectors_per_track: zones,
        surfaces_at_least: layout.surfaces_min,
        tracks_counted: layout.exact.1,
        tracks_exact: layout.exact.0,
        same_skew_share: layout.same_skew_share,
        surfaces: layout.surfaces(),
        skew: layout.skew_turns,
    }
}
