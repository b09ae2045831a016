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
//! same time each, as on no disk. Some places turn at another speed than others: several drives.
//! # Known problems
//! Drives that turn at exactly the same speed cannot be told from one. The interval holds the speed on average over the run as
//! the host's clock tells it; clocks of hosts are off by up to some 50 millionths.
//! # References
//! Henry Wong, "Hard disk geometry microbenchmarking", 2019. Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI
//! disk drive parameters", SIGMETRICS 1995. Mardia and Jupp, "Directional statistics", 2000.

use super::{Detector, Need};
use crate::geometry::{Rotation, all_readings, evidence_of};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct RotationPeriod;

impl Detector for RotationPeriod {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::RotationPeriod]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("geometry")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let readings = all_readings(run);
        vec![match Rotation::of(&readings) {
            Ok(rotation) => found(run, &rotation),
            Err(why) => Finding::unknown(FindingCode::RotationPeriod, why),
        }]
    }
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
