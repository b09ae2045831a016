//! How fast the platters turn.
//! # What it finds
//! The time of a turn, in seconds, and turns a minute.
//! # Why it matters
//! Half a revolution is the mean rotational latency of random access; all that is told of tracks and seeks counts in revolutions.
//! # How
//! Places all over the drive are read again and again, each time after hundreds of others. Two reads of one sector end whole
//! turns apart, whatever the arm did in between. See `geometry::rotation`.
//! # Cannot tell when
//! No speed that disks have makes the phases of repeated reads agree: flash, memory, a cache that answers. Reads take about the
//! same time each. Some places turn at another speed than others, or sectors side by side lie on no track.
//! # Known problems
//! The interval holds the mean speed by the host's clock, and those are off by up to some 50 millionths.
//! # References
//! Henry Wong, "Hard disk geometry microbenchmarking", 2019. Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI
//! disk drive parameters", SIGMETRICS 1995. Mardia and Jupp, "Directional statistics", 2000.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::geometry::{Tracks, evidence_of};
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, NoGeometry, Outcome, RotationPeriod};

/// Probes of tracks without which it is not asked whether addresses follow tracks.
const PROBES_MIN: usize = 10;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::RotationPeriod],
    needs: &[Need::Asked(ExperimentName::Geometry)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    vec![Finding::RotationPeriod(Outcome::of(period(run), evidence_of(run)))]
}

fn period(run: &Examined<'_>) -> Result<RotationPeriod, NoGeometry> {
    let mechanics = run.mechanics()?;
    let (rotation, Tracks { probes, .. }) = (&mechanics.rotation, mechanics.tracks());
    // On a stripe or a mirror no row of sectors is a track, and yet each of its places comes round.
    if *probes >= PROBES_MIN && !rotation.has_all_angles() {
        mechanics.counts()?;
    }
    let (agreeing, of) = rotation.agreeing;
    Ok(RotationPeriod {
        period: rotation.period,
        rpm: mechanics.rpm(),
        phase_scatter_turns: rotation.scatter_turns,
        repeated_reads: of,
        repeated_reads_in_phase: agreeing,
    })
}
