//! Phases on a virtual drive in virtual time, as an experiment runs them, with what a re-enactment needs of their
//! records.

use super::SEED;
use crate::error::UserError;
use io::load::collect::{PhaseObserver, Verdict};
use io::rig::Rig;
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::Operation;
use model::units::{Bytes, Nanos};
use model::workload::Workload;
use sim::Drive;

/// A drive and the phases that were run on it.
pub struct VirtualRun {
    rig: Rig,
    phases: u32,
}

/// What one phase came to.
#[derive(Clone, Debug)]
pub struct PhaseResult {
    /// How long it took, without the flush at its end.
    pub seconds: f64,
    /// How long the flush took that made lasting what it wrote.
    pub flush_s: f64,
    /// What it moved.
    pub bytes: u64,
    /// Its time slices, with what was moved in each.
    pub slices: Vec<Slice>,
    /// Requests of each operation, and their latencies.
    totals: Vec<(Operation, u64, LatencyHistogram)>,
}

/// A slice of a phase's time.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// From the start of the phase.
    pub start_s: f64,
    /// How long it was.
    pub seconds: f64,
    /// What was moved in it.
    pub bytes: u64,
}

impl VirtualRun {
    /// Opens the virtual drive of that name, without the `sim:` before it.
    ///
    /// # Errors
    /// When there is none, which is an error of the program.
    pub fn open(name: &str) -> Result<VirtualRun, UserError> {
        Ok(VirtualRun::on(open_drive(name)?))
    }

    /// On a drive of the caller's making.
    pub fn on(drive: Box<dyn Drive>) -> VirtualRun {
        VirtualRun { rig: Rig::on_virtual_drive(drive), phases: 0 }
    }

    /// What the drive holds.
    pub fn capacity(&self) -> Bytes {
        self.rig.facts().capacity
    }

    /// Runs one phase; its slices are at least `slice` long.
    ///
    /// # Errors
    /// When the workload does not fit the drive.
    pub fn measure(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        slice: Nanos,
    ) -> Result<PhaseResult, UserError> {
        let began = self.rig.now();
        let mut recorder = Recorder { slice_ns: slice.0, origin_ns: began.0, ..Recorder::default() };
        let phase = phase(Some(workload), stop);
        let outcome = self.rig.run_phase(&phase, self.phases, SEED, false, &mut recorder)?;
        self.phases += 1;
        let moved = |operation| matches!(operation, Operation::Read | Operation::Write);
        let flushes = outcome.totals.iter().filter(|totals| totals.operation == Operation::Flush);
        Ok(PhaseResult {
            seconds: outcome.ended.since(outcome.began).seconds(),
            flush_s: flushes.map(|totals| totals.histogram.sum_ns() as f64 / 1e9).sum(),
            bytes: outcome.totals.iter().map(|totals| totals.bytes).sum(),
            slices: recorder.slices,
            totals: outcome
                .totals
                .into_iter()
                .filter(|totals| moved(totals.operation))
                .map(|totals| (totals.operation, totals.operations, totals.histogram))
                .collect(),
        })
    }

    /// Leaves the drive alone.
    ///
    /// # Errors
    /// Never in virtual time.
    pub fn idle(&mut self, time: Nanos) -> Result<(), UserError> {
        let phase = phase(None, StopCondition::after(time));
        self.rig.run_phase(&phase, self.phases, SEED, false, &mut Recorder::default())?;
        self.phases += 1;
        Ok(())
    }
}

/// Opens the virtual drive of that name.
///
/// # Errors
/// When there is none, which is an error of the program.
pub fn open_drive(name: &str) -> Result<Box<dyn Drive>, UserError> {
    Ok(sim::open(name, SEED).map_err(|error| UserError::failure(error.to_string()))?)
}

fn phase(workload: Option<Workload>, stop: StopCondition) -> Phase {
    let kind = if workload.is_some() { PhaseKind::Measure } else { PhaseKind::Idle };
    Phase { name: String::new(), experiment: "reproduce".into(), kind, workload, stop }
}

impl PhaseResult {
    /// Bytes per second, without the flush.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// Bytes per second until all was on the medium.
    pub fn lasting_rate(&self) -> f64 {
        self.bytes as f64 / (self.seconds + self.flush_s)
    }

    /// Requests of one operation per second.
    pub fn per_second(&self, operation: Operation) -> f64 {
        let operations: u64 = self.totals.iter().filter(|total| total.0 == operation).map(|total| total.1).sum();
        operations as f64 / self.seconds
    }

    /// The longest that a request took, in seconds.
    pub fn latency_s_max(&self) -> f64 {
        let slowest = self.totals.iter().filter_map(|total| total.2.max()).max();
        slowest.map_or(0.0, Nanos::seconds)
    }

    /// When that many bytes had been moved, in seconds from the start of the phase.
    pub fn seconds_to(&self, bytes: u64) -> f64 {
        let mut moved = 0;
        for slice in &self.slices {
            if moved + slice.bytes >= bytes {
                return slice.start_s + slice.seconds * (bytes - moved) as f64 / slice.bytes.max(1) as f64;
            }
            moved += slice.bytes;
        }
        self.seconds
    }

    /// Bytes per second between two moments.
    pub fn rate_between(&self, from_s: f64, to_s: f64) -> f64 {
        let inside = self.slices.iter().filter(|slice| slice.start_s >= from_s && slice.start_s < to_s);
        let (bytes, seconds) = inside.fold((0, 0.0), |sum, slice| (sum.0 + slice.bytes, sum.1 + slice.seconds));
        bytes as f64 / seconds
    }
}

/// Keeps the slices of a phase, put together to a length.
#[derive(Default)]
struct Recorder {
    slice_ns: u64,
    origin_ns: u64,
    slices: Vec<Slice>,
}

impl PhaseObserver for Recorder {
    fn interval(&mut self, record: &IntervalRecord) {
        let start_s = (record.start_ns - self.origin_ns) as f64 / 1e9;
        let seconds = record.duration_ns as f64 / 1e9;
        // Reads and writes of one moment come as two records.
        match self.slices.last_mut() {
            Some(last) if start_s < last.start_s + last.seconds - 1e-9 => last.bytes += record.bytes,
            Some(last) if last.seconds < self.slice_ns as f64 / 1e9 - 1e-9 => {
                last.bytes += record.bytes;
                last.seconds += seconds;
            }
            _ => self.slices.push(Slice { start_s, seconds, bytes: record.bytes }),
        }
    }

    fn histogram(&mut self, _record: &HistogramRecord) {}

    fn error(&mut self, _record: &ErrorRecord) {}

    fn trace(&mut self, _records: &[IoRecord]) {}

    fn verdict(&mut self) -> Verdict {
        Verdict::GoOn
    }
}
