//! Whether small random writes go in place: from rounds in which reads and writes go to as many places of the same range.
//!
//! A **single read** takes a mean seek and half a revolution. A **sweep** reads in LBA order with many in flight: hardly anything
//! that visits each place takes less. A **burst** writes in random order, with its flush, so that a volatile cache counts only for
//! the order. **Lone writes** go one at a time: in place each costs what a single read does; appended to a log it needs no seek.

pub mod bands;
pub mod motion;
pub mod signs;

use crate::measured::is_measurement;
use crate::stats::quantile::of_histogram;
use crate::sustained::{Cause, History, Standing, cause, standing};
use bands::{Bands, Looks};
use model::finding::ProbeTimes;
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Nanos, Offset, Quantile};
use model::workload::Pattern;
use motion::{Motion, is_reread};
use signs::signs_of_shingles;
use std::collections::BTreeSet;

/// A single read of a drive with an arm takes longer: a quarter of a turn at 15,000 rpm is 1 ms. Flash takes less.
pub(crate) const ARM_LATENCY: Nanos = Nanos::from_millis(1);
/// Writes in place may be this much faster than the sweep: a full queue saves rotational latency, 4.2 of the 4.2 + 1.5 ms of a
/// short hop at 7200 rpm; half of it is more than any published scheduler saves.
const SWEEP_GAIN_MAX: f64 = 2.5;
/// Without rotational latency a hop still takes 0.6 ms of 0.6 + 5.6 ms at 5400 rpm: under a tenth did not visit each place.
const NO_HOP_SHARE: f64 = 0.1;
/// A write in place may take so many times a single read: a second turn to verify, and the slower of two mirrors.
const IN_PLACE_TIMES_MAX: f64 = 2.5;
/// After a cliff a write of this many times a single read and its transfer rewrites a band: a fifth above the most in place.
const BEHIND_TIMES_MIN: f64 = 3.0;
/// What a disk moves at least, in bytes per second: inner tracks of 2005.
const DISK_RATE_MIN: f64 = 30e6;
/// A lone write that takes less than this share of a single read was answered by a cache: no mechanism is that quick.
const CACHED_SHARE: f64 = 0.1;
/// One in place takes as long as a single read: a fifth less is over five standard errors of the mean of 96 writes.
const LONE_IN_PLACE_SHARE: f64 = 0.8;
/// One that is appended takes a turn at most, and no seek: 11.1 of 11.1 / 2 + 11 ms at 5400 rpm.
const LONE_APPENDED_SHARE: f64 = 0.7;
/// No parity takes ten times getting there; reading and writing a band of tens of megabytes does.
const REWRITE_TIMES_MIN: f64 = 10.0;
/// Medians of two kinds of requests differ by a factor only if their intervals do. With this confidence chance makes it so one time in 10⁶.
const SURE: f64 = 1.0 - 1e-6;
/// A read that takes twice as long as a write spends half of its time not on the way, which both go, but at a medium that is read more
/// slowly than a buffer takes writes: memory and volumes behind a network have none.
const BUFFER_TIMES: f64 = 2.0;
/// No network completes reads in so little: round trips between hosts of one site are 0.1 to 0.5 ms. Memory has no time of its own.
const NEAR_READ_S: f64 = 200e-6;
/// Cells take 5 to 50 times as long to program as to read (data sheets of MLC to QLC); a verified write of a cached disk twice.
const PROGRAM_TIMES: f64 = 3.0;
/// Reads of what was written sense cells, of 40 µs and more; others only look into a map, and take some 20 µs with their way.
const SENSE_TIMES: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    NoArm,
    InPlace,
    /// They went somewhere else first, one after the other.
    Appended,
    /// Their times tell no log, but they were seen to leave a media cache, band by band.
    Cleaned,
    Rewritten,
    /// Something between, or rounds that contradict each other.
    Unclear,
}

#[derive(Clone, Debug)]
pub struct Probes {
    /// What shows that parts move, or by how many standard deviations latency follows the distance; none without rereads.
    pub motion: Result<Motion, Option<f64>>,
    single: LatencyHistogram,
    lone: LatencyHistogram,
    written: LatencyHistogram,
    written_offsets: BTreeSet<Offset>,
    sweep_s: Vec<f64>,
    burst_s: Vec<f64>,
    cleans_bands: bool,
    pub(crate) phases: Vec<u32>,
}

impl Probes {
    pub fn of(run: &RunView<'_>, experiment: &model::experiment_name::ExperimentName) -> Option<Probes> {
        let mut probes = Probes {
            motion: motion::motion(run, experiment),
            single: LatencyHistogram::default(),
            lone: LatencyHistogram::default(),
            written: LatencyHistogram::default(),
            written_offsets: BTreeSet::new(),
            sweep_s: Vec::new(),
            burst_s: Vec::new(),
            cleans_bands: match Looks::of(run, experiment) {
                Some(looks) => matches!(looks.bands(), Bands::Told { .. }),
                None => false,
            },
            phases: Vec::new(),
        };
        for (number, summary) in (0..).zip(run.phases) {
            if summary.phase.experiment == *experiment && is_measurement(summary) {
                probes.add(number, summary);
            }
        }
        (!probes.phases.is_empty()).then_some(probes)
    }

    fn add(&mut self, number: u32, summary: &PhaseSummary) {
        let Some(workload) = summary.phase.workload.as_ref() else { return };
        let Pattern::Listed { offsets } = &workload.pattern else { return };
        if bands::is_look(workload) || is_reread(workload) {
            return;
        }
        let is_of_written = offsets.iter().all(|offset| self.written_offsets.contains(offset));
        let (reads, writes) = (summary.totals_of(Operation::Read), summary.totals_of(Operation::Write));
        let per_request = |count: u64| summary.lasting_ns() as f64 / 1e9 / count as f64;
        match (reads, writes) {
            (Some(reads), None) if is_of_written => self.written.merge(&reads.histogram),
            (Some(reads), None) if workload.in_flight_max() == 1 => self.single.merge(&reads.histogram),
            (Some(reads), None) if reads.operations > 0 => self.sweep_s.push(per_request(reads.operations)),
            (None, Some(writes)) if workload.in_flight_max() == 1 => self.lone.merge(&writes.histogram),
            (None, Some(writes)) if writes.operations > 0 => {
                self.burst_s.push(per_request(writes.operations));
            }
            _ => return,
        }
        if writes.is_some() {
            self.written_offsets.extend(offsets);
        }
        self.phases.push(number);
    }

    pub fn single_read_s(&self) -> Option<f64> {
        self.single.quantile(Quantile::MEDIAN).map(Nanos::seconds)
    }

    pub fn lone_write_s(&self) -> Option<f64> {
        self.lone.quantile(Quantile::MEDIAN).map(Nanos::seconds)
    }

    pub fn sweep_s(&self) -> Option<f64> {
        median(&self.sweep_s)
    }

    pub fn burst_s(&self) -> Option<f64> {
        median(&self.burst_s)
    }

    pub fn times(&self) -> ProbeTimes {
        ProbeTimes {
            write_s: self.burst_s(),
            sweep_read_s: self.sweep_s(),
            single_read_s: self.single_read_s(),
        }
    }

    /// Whether single reads take as long as an arm does. Other things are as slow.
    pub fn is_slow(&self) -> bool {
        matches!(self.single_read_s(), Some(read_s) if read_s >= ARM_LATENCY.seconds())
    }

    pub fn has_arm(&self) -> bool {
        self.is_slow() && self.motion.is_ok()
    }

    /// Whether a buffer takes lone writes, before a medium that is read more slowly.
    pub fn buffers_writes(&self) -> bool {
        takes_times(&self.single, &self.lone, BUFFER_TIMES)
    }

    /// Whether lone writes take as much longer than reads as cells do.
    pub fn programs_cells(&self) -> bool {
        self.is_near() && takes_times(&self.lone, &self.single, PROGRAM_TIMES)
    }

    /// Whether what was written is read more slowly than anything else.
    pub fn senses_cells(&self) -> bool {
        self.is_near() && takes_times(&self.written, &self.single, SENSE_TIMES)
    }

    /// Whether anything shows cells, but for space that is reclaimed.
    pub fn shows_cells(&self) -> bool {
        self.buffers_writes() || self.programs_cells() || self.senses_cells()
    }

    fn is_near(&self) -> bool {
        matches!(self.single_read_s(), Some(read_s) if read_s < NEAR_READ_S)
    }

    /// Whether no cache can fill: small writes go in place, or nothing moves and a lone write waits as long as a read.
    pub fn has_no_cache_to_fill(&self, target: &TargetFacts) -> bool {
        let times = (self.single_read_s(), self.lone_write_s());
        let waits = matches!(times, (Some(read_s), Some(write_s)) if write_s >= LONE_IN_PLACE_SHARE * read_s);
        self.goes_in_place(target) || self.is_slow() && !self.has_arm() && waits
    }

    /// Other I/O makes appended writes as slow as those in place: what the target says of itself may not speak against it.
    pub fn goes_in_place(&self, target: &TargetFacts) -> bool {
        self.writing() == Writing::InPlace && signs_of_shingles(target).is_empty()
    }

    /// Whether a disk may have a media cache that is not full yet: bands are rewritten behind it.
    pub fn may_have_media_cache_to_fill(&self, run: &RunView<'_>) -> bool {
        self.has_arm() && !self.goes_in_place(run.target) && !self.rewrites_behind_drop(run)
    }

    /// What writes cost behind a lasting drop, in times of getting to a place and writing there; none without a drop.
    pub fn cost_behind_drop(&self, run: &RunView<'_>) -> Option<f64> {
        let history = History::of(run)?;
        let Standing::Fell(drop) = standing(history.first()) else { return None };
        let block_bytes = history.workload.block_sizes.largest().as_f64();
        let in_place_s = self.single_read_s()? + block_bytes / DISK_RATE_MIN;
        Some(drop.after.seconds_per_byte() * block_bytes / in_place_s)
    }

    /// Whether the rate of a drive without an arm fell for good, and why.
    pub fn fell_without_arm(&self, run: &RunView<'_>) -> Option<Cause> {
        let history = History::of(run)?;
        let Standing::Fell(drop) = standing(history.first()) else { return None };
        Some(cause(run, &history, &drop))
    }

    /// Whether bands are rewritten behind the drop, and no writes go to their places.
    pub fn rewrites_behind_drop(&self, run: &RunView<'_>) -> bool {
        // What went to its place before needs more to be believed: something else may use the drive since.
        let times = if self.writing() == Writing::InPlace { REWRITE_TIMES_MIN } else { BEHIND_TIMES_MIN };
        self.has_arm() && matches!(self.cost_behind_drop(run), Some(cost) if cost >= times)
    }

    pub fn writing(&self) -> Writing {
        let Some(single_s) = self.single_read_s() else { return Writing::Unclear };
        if !self.has_arm() {
            return Writing::NoArm;
        }
        let by_times = match (self.bursts(single_s), self.lone(single_s)) {
            (bursts, None) => bursts,
            // Where the queue is long even a log is filled in batches; what one write at a time does is the surer sign.
            (Writing::InPlace | Writing::Unclear | Writing::Appended, Some(Writing::Appended)) => {
                Writing::Appended
            }
            (bursts, Some(lone)) if bursts == lone => bursts,
            _ => Writing::Unclear,
        };
        if self.cleans_bands && by_times != Writing::Appended { Writing::Cleaned } else { by_times }
    }

    /// What the lone writes say; nothing when a cache took them.
    fn lone(&self, single_s: f64) -> Option<Writing> {
        let median = self.lone.quantile(Quantile::MEDIAN)?.seconds();
        let share = self.lone.mean_ns()? / 1e9 / single_s;
        (median / single_s >= CACHED_SHARE).then_some(if share <= LONE_APPENDED_SHARE {
            Writing::Appended
        } else if share < LONE_IN_PLACE_SHARE || median / single_s < LONE_APPENDED_SHARE {
            // Where only the mean is that of a seek, some waited for other I/O.
            Writing::Unclear
        } else if share <= IN_PLACE_TIMES_MAX {
            Writing::InPlace
        } else if share >= REWRITE_TIMES_MIN {
            Writing::Rewritten
        } else {
            Writing::Unclear
        })
    }

    fn bursts(&self, single_s: f64) -> Writing {
        let mut rounds = self.sweep_s.iter().zip(&self.burst_s).map(|(sweep_s, burst_s)| {
            let to_sweep = burst_s / sweep_s;
            let to_single = burst_s / single_s;
            if to_sweep <= NO_HOP_SHARE {
                Writing::Appended
            } else if to_sweep >= 1.0 / SWEEP_GAIN_MAX && to_single <= IN_PLACE_TIMES_MAX {
                Writing::InPlace
            } else if to_single >= REWRITE_TIMES_MIN {
                Writing::Rewritten
            } else {
                Writing::Unclear
            }
        });
        let Some(first) = rounds.next() else { return Writing::Unclear };
        if rounds.all(|round| round == first) { first } else { Writing::Unclear }
    }
}

/// Whether half of the ones take so many times as long as half of the others, and not by chance.
fn takes_times(ones: &LatencyHistogram, others: &LatencyHistogram, times: f64) -> bool {
    let median = |histogram| of_histogram(histogram, Quantile::MEDIAN, SURE);
    matches!((median(ones), median(others)), (Some(ones), Some(others)) if ones.low >= times * others.high)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(single: LatencyHistogram, lone: LatencyHistogram) -> Probes {
        Probes {
            motion: Ok(Motion::Seeks),
            single,
            lone,
            written: LatencyHistogram::default(),
            written_offsets: BTreeSet::new(),
            sweep_s: Vec::new(),
            burst_s: Vec::new(),
            cleans_bands: false,
            phases: vec![0],
        }
    }

    /// Rounds of a disk whose single reads take 12 ms and whose sweeps take 5 ms a place.
    fn rounds(burst_ms: &[f64]) -> Writing {
        rounds_of(burst_ms).writing()
    }

    fn rounds_of(burst_ms: &[f64]) -> Probes {
        let mut single = LatencyHistogram::default();
        (0..64).for_each(|_| single.record(12_000_000));
        let burst_s: Vec<f64> = burst_ms.iter().map(|burst| burst / 1e3).collect();
        let sweep_s = vec![0.005; burst_s.len()];
        Probes { sweep_s, burst_s, ..probes(single, LatencyHistogram::default()) }
    }

    /// The same, with bursts of 5 ms a write and lone writes that take so long.
    fn lone(lone_ms: f64) -> Writing {
        let mut single = LatencyHistogram::default();
        let mut lone = LatencyHistogram::default();
        (0..64).for_each(|_| single.record(12_000_000));
        (0..96).for_each(|_| lone.record((lone_ms * 1e6) as u64));
        Probes { sweep_s: vec![0.005], burst_s: vec![0.005], ..probes(single, lone) }.writing()
    }

    #[test]
    fn a_lone_write_that_needs_no_seek_is_appended() {
        assert_eq!(lone(0.2), Writing::InPlace, "a cache takes it, and the burst tells");
        assert_eq!(lone(5.0), Writing::Appended, "half a turn");
        assert_eq!(lone(12.6), Writing::InPlace);
        assert_eq!(lone(9.0), Writing::Unclear);
    }

    #[test]
    fn a_write_is_told_by_how_long_it_takes() {
        assert_eq!(rounds(&[4.5, 5.0, 6.0]), Writing::InPlace);
        assert_eq!(rounds(&[12.0, 15.0, 14.0]), Writing::InPlace, "no cache, no order");
        assert_eq!(rounds(&[0.26, 0.2, 0.3]), Writing::Appended);
        assert_eq!(rounds(&[250.0, 300.0, 180.0]), Writing::Rewritten);
        assert_eq!(rounds(&[1.2, 1.3, 1.2]), Writing::Unclear, "faster than an arm, slower than a log");
        assert_eq!(rounds(&[5.0, 0.3, 5.0]), Writing::Unclear, "rounds that contradict each other");
        assert_eq!(rounds(&[]), Writing::Unclear);
    }

    #[test]
    fn without_an_arm_nothing_is_said_of_places() {
        let mut single = LatencyHistogram::default();
        (0..64).for_each(|_| single.record(80_000));
        let (lone, sweep_s, burst_s) = (LatencyHistogram::default(), vec![5e-6], vec![4e-6]);
        let probes = Probes { sweep_s, burst_s, ..probes(single, lone) };
        assert_eq!(probes.writing(), Writing::NoArm);
        let slow = Probes { motion: Err(Some(1.2)), ..rounds_of(&[5.0]) };
        assert!(slow.is_slow() && slow.writing() == Writing::NoArm, "as a stick is");
    }
}
