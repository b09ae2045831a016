//! How fast the platters turn.
//!
//! # What it finds
//! The time of a turn, in seconds, and turns a minute.
//! # Why it matters
//! Half a turn is what each random access waits on average, however good the arm is; and all that is told of tracks and seeks
//! counts in turns.
//! # How
//! Places all over the drive are read again and again, each time after hundreds of others. Two reads of one sector end whole
//! turns apart, whatever the arm did in between. See `geometry::rotation`.
//! # Cannot tell when
//! No speed that disks have makes the phases of repeated reads agree: flash, memory, a cache that answers. Reads take about the
//! same time each, as on no disk. Some places turn at another speed than others, or sectors side by side lie on
//! no track: several drives.
//! # Known problems
//! The interval holds the speed on average over the run as
//! the host's clock tells it; clocks of hosts are off by up to some 50 millionths.
//! # References
//! Henry Wong, "Hard disk geometry microbenchmarking", 2019. Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI
//! disk drive parameters", SIGMETRICS 1995. Mardia and Jupp, "Directional statistics", 2000.

use super::{Detector, Need};
use crate::geometry::{Rotation, all_readings, counts_of, evidence_of, probe_count};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct RotationPeriod;

/// Probes of tracks without which it is not asked whether addresses follow tracks.
const PROBES_MIN: usize = 10;

impl Detector for RotationPeriod {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::RotationPeriod]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("geometry")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let finding = known(run).unwrap_or_else(|why| Finding::unknown(FindingCode::RotationPeriod, why));
        vec![finding]
    }
}

fn known(run: &RunView<'_>) -> Result<Finding, String> {
    let readings = all_readings(run)?;
    let rotation = Rotation::of(&readings)?;
    let sector = run.target.physical_block.max(run.target.logical_block).0;
    let (probes, fitting) = (probe_count(&readings), counts_of(&readings, &rotation, sector).len());
    if probes >= PROBES_MIN && 2 * fitting < probes {
        return Err(format!(
            "Reads of the same place come back in whole turns at {:.1} rpm, but at {} of {probes} places the angles of sectors \
             side by side fit no track: not one disk answers, but several, or something that moves data.",
            60.0 / rotation.turn_s(),
            probes - fitting
        ));
    }
    Ok(found(run, &rotation))
}

fn found(run: &RunView<'_>, rotation: &Rotation) -> Finding {
    let period = rotation.period;
    let statement =
        format!("The platters turn once in {:.4} ms: {:.1} rpm.", period.value * 1e3, 60.0 / period.value);
    let (agreeing, of) = rotation.agreeing;
    Finding::number(FindingCode::RotationPeriod, period, "s", statement, evidence_of(run))
        .with_data("rpm", Datum::Number(60.0 / period.value))
        .with_data("phase_scatter_turns", Datum::Number(rotation.scatter_turns))
        .with_data("repeated_reads", Datum::Integer(of as u64))
        .with_data("repeated_reads_in_phase", Datum::Integer(agreeing as u64))
}
