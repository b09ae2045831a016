//! How a disk is built, from the moments at which single reads end; experiments ask, and detectors answer, by the same estimates.
//!
//! A read of one sector ends when that sector has passed the head. So the moment it ends, less whole turns, is the angle at which the sector
//! lies, whatever the arm had to do before: seeks, other load and retries only add whole turns (Wong 2019). Everything here is made of that:
//! ```text
//! single reads ─► rotation ─► tracks ─► density ─► hops ─► seeks
//!                 (sectors      (angles     (cylinders   (was the sector caught in this
//!                  read again)   side by side) over bytes)  turn or only in the next?)
//! ```

mod censored;
mod density;
mod ends;
mod layout;
mod linear;
mod mechanics;
mod near;
mod rotation;
mod seek;
mod track;

pub use density::Density;
pub use ends::{TrackEnds, track_ends};
pub use layout::{Layout, ZoneSeen};
pub(crate) use mechanics::{Mechanics, Tracks};
pub use near::{NearMap, NearMaps, NearSeeks, near_maps, other_borders};
pub use rotation::Rotation;
pub use seek::{Hop, SeekCurve, hops_of};
pub use track::{TrackBorder, TrackCount, counts_of, is_answered_by_cache, probe_count, scatters};

use crate::measured::evidence_across;
use crate::stats::sample::middle;
use model::experiment_name::ExperimentName;
use model::finding::Evidence;
use model::finding::NoGeometry;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::record::IoRecord;
use model::request::{Operation, Status};
use model::run::{PhaseSummary, RunView};
use model::target::TargetKind;
use model::units::Bytes;
use model::workload::{Caching, Pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub offset: u64,
    /// When it was asked for, since the run's clock began.
    pub submitted_ns: u64,
    pub completed_ns: u64,
    pub phase: u32,
    /// Where the one before it in the same phase began, and when it was done, if that succeeded too.
    pub before: Option<(u64, u64)>,
}

impl Reading {
    pub fn seconds(&self) -> f64 {
        self.completed_ns.saturating_sub(self.submitted_ns) as f64 / 1e9
    }
}

/// The reads of one phase that succeeded, in the order in which they were done.
pub fn readings_of(ios: impl Iterator<Item = IoRecord>) -> Vec<Reading> {
    let mut before: Option<(u64, u64)> = None;
    let mut readings = Vec::new();
    for io in ios {
        if io.status != Status::Done || io.operation != Operation::Read {
            before = None;
            continue;
        }
        let reading = Reading {
            offset: io.offset_bytes,
            submitted_ns: io.submitted_ns,
            completed_ns: io.completed_ns,
            phase: io.phase,
            before: before.filter(|(_, done_ns)| *done_ns <= io.submitted_ns),
        };
        before = Some((io.offset_bytes, io.completed_ns));
        readings.push(reading);
    }
    readings
}

/// The phases of single reads of listed places at QD 1. Where `geometry` made some, these alone, since a cache answers many of the others;
/// and only its last blocks, with which it began anew where others were not the sectors of the disk.
fn single_read_phases<'run>(run: &RunView<'run>) -> impl Iterator<Item = (u32, &'run PhaseSummary)> {
    let sector = geometry_sector(run);
    (0u32..).zip(run.phases).filter(move |(_, summary)| match sector {
        Some(sector) => locates_sectors(summary, sector),
        None => single_read_block(summary).is_some(),
    })
}

fn is_of_geometry(summary: &PhaseSummary) -> bool {
    summary.phase.experiment == ExperimentName::Geometry
}

/// Whether `geometry` made single reads of such blocks in that phase.
pub fn locates_sectors(summary: &PhaseSummary, sector: Bytes) -> bool {
    is_of_geometry(summary) && single_read_block(summary) == Some(sector)
}

/// The block that `geometry` made single reads of last, where it made any.
fn geometry_sector(run: &RunView<'_>) -> Option<Bytes> {
    run.phases.iter().filter(|summary| is_of_geometry(summary)).filter_map(single_read_block).next_back()
}

/// The block of a phase of single reads of listed places at QD 1; none of any other phase.
fn single_read_block(summary: &PhaseSummary) -> Option<Bytes> {
    let workload = summary.phase.workload.as_ref()?;
    let is_single_read = summary.phase.kind == PhaseKind::Measure
        && matches!(workload.pattern, Pattern::Listed { .. })
        && workload.caching == Caching::Direct
        && workload.in_flight_max() == 1
        && workload.mix.operations() == [Operation::Read];
    is_single_read.then(|| workload.block_sizes.largest())
}

/// The sectors that tracks are counted in: those that `geometry` read, else those that the target says it has.
fn sector_of(run: &RunView<'_>) -> Bytes {
    geometry_sector(run).unwrap_or(run.target.physical_block.max(run.target.logical_block))
}

/// All single reads of listed places in a run that were kept.
/// Fails when the run was stopped and gone on with: its clock stood still meanwhile, and a drive went on turning.
pub fn all_readings(run: &RunView<'_>) -> Result<Vec<Reading>, NoGeometry> {
    let is_cut = |summary: &PhaseSummary| summary.stopped.is_none_or(|why| why == StopReason::Interrupted);
    let gone_on_from = run.phases.split_last().is_some_and(|(_, before)| before.iter().any(is_cut));
    if gone_on_from && run.target.kind != TargetKind::Sim {
        return Err(NoGeometry::Resumed);
    }
    Ok(single_read_phases(run).flat_map(|(number, _)| readings_of(run.series.ios(number))).collect())
}

/// From here on up to twice as much a float has no digits behind the point, so that what is added to it is rounded.
const NO_FRACTIONS: f64 = 1.5 * (1u64 << 52) as f64;

/// A number of turns, fewer than 2^51, without its whole ones, in [−0.5, 0.5]. A call of `round` would take most of the time of telling tracks.
pub(crate) fn wrapped(turns: f64) -> f64 {
    turns - ((turns + NO_FRACTIONS) - NO_FRACTIONS)
}

/// The standard deviation that the median of absolute deviations stands for: it is 0.6745 of that of a normal distribution.
pub(crate) fn robust_deviation(deviations: &mut [f64]) -> f64 {
    if deviations.is_empty() {
        return f64::INFINITY;
    }
    deviations.iter_mut().for_each(|deviation| *deviation = deviation.abs());
    1.4826 * middle(deviations)
}

/// The stretch of time in which the single reads of a run were made.
pub(crate) fn evidence_of(run: &RunView<'_>) -> Vec<Evidence> {
    evidence_across(single_read_phases(run))
}

pub(crate) fn range_of(run: &RunView<'_>) -> Option<ByteRange> {
    single_read_phases(run)
        .find_map(|(_, summary)| summary.phase.workload.as_ref().map(|workload| workload.range))
}

/// At either end a fortieth of the range and more is a part of its own: of the places that are read again some five lie in one.
const ENDS_PART: u64 = 40;

/// The part of a range that an actuator serves: without what an SSD answers at either end of it, as in tiers.
pub fn served_by_actuator(range: ByteRange, readings: &[Reading], rotation: &Rotation) -> ByteRange {
    let (mut moved, mut quick) = (Vec::new(), Vec::new());
    for reading in readings {
        if rotation.is_cached(reading) {
            quick.push(reading.offset);
        } else if rotation.angle(reading.offset).is_some() {
            moved.push(reading.offset);
        }
    }
    moved.sort_unstable();
    quick.sort_unstable();
    let [Some(&first), Some(&last)] = [moved.first(), moved.last()] else { return range };
    let before = quick[..quick.partition_point(|offset| *offset < first)].last();
    let behind = quick.get(quick.partition_point(|offset| *offset <= last));
    let mut first = if let Some(before) = before { before.midpoint(first) } else { first };
    let mut end = if let Some(behind) = behind { behind.midpoint(last) } else { last };
    let least = range.bytes().get() / ENDS_PART;
    if first.saturating_sub(range.first().get()) < least {
        first = range.first().get();
    }
    if range.end().get().saturating_sub(end) < least {
        end = range.end().get();
    }
    ByteRange::from_bytes(first, end.saturating_sub(first)).unwrap_or(range)
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn turns_without_whole_ones() {
        for (turns, rest) in
            [(0.0, 0.0), (0.25, 0.25), (13_200.75, -0.25), (-3.125, -0.125), (1e9 + 0.375, 0.375)]
        {
            assert_eq!(wrapped(turns), rest, "{turns}");
        }
        assert_eq!(wrapped(0.5).abs(), 0.5);
    }
}
