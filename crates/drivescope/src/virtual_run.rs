//! Phases on a virtual drive in virtual time, as an experiment runs them, with what re-enactments and simulated days need of
//! their records. Nothing is stored.

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
    seed: u64,
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
    /// On a drive of the caller's making; `seed` draws the places of random requests.
    pub fn on(drive: Box<dyn Drive>, seed: u64) -> VirtualRun {
        VirtualRun { rig: Rig::on_virtual_drive(drive), seed, phases: 0 }
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
        let recorder = Recorder { slice_ns: slice.0, ..Recorder::default() };
        self.run(workload, stop, recorder)
    }

    /// Runs one phase whose requests follow each other one by one; its slices are as many requests as make
    /// `piece_bytes`, so that a slow one is seen however short it is.
    ///
    /// # Errors
    /// When the workload does not fit the drive.
    pub fn measure_pieces(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        piece_bytes: u64,
    ) -> Result<PhaseResult, UserError> {
        self.run(workload, stop, Recorder { piece_bytes, ..Recorder::default() })
    }

    fn run(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        mut recorder: Recorder,
    ) -> Result<PhaseResult, UserError> {
        let began = self.rig.now();
        recorder.origin_ns = began.0;
        let traces = recorder.piece_bytes > 0;
        let phase = phase(Some(workload), stop);
        let outcome = self.rig.run_phase(&phase, self.phases, self.seed, traces, &mut recorder)?;
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
        self.rig.run_phase(&phase, self.phases, self.seed, false, &mut Recorder::default())?;
        self.phases += 1;
        Ok(())
    }
}

fn phase(workload: Option<Workload>, stop: StopCondition) -> Phase {
    let kind = if workload.is_some() { PhaseKind::Measure } else { PhaseKind::Idle };
    Phase { name: String::new(), experiment: "virtual".into(), kind, workload, stop }
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
        let operations: u64 =
            self.totals.iter().filter(|total| total.0 == operation).map(|total| total.1).sum();
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
        let (bytes, seconds) =
            inside.fold((0, 0.0), |sum, slice| (sum.0 + slice.bytes, sum.1 + slice.seconds));
        bytes as f64 / seconds
    }
}

/// Keeps the slices of a phase, put together to a length in time, or to one in bytes when that is not 0.
#[derive(Default)]
struct Recorder {
    slice_ns: u64,
    piece_bytes: u64,
    origin_ns: u64,
    slices: Vec<Slice>,
}

impl PhaseObserver for Recorder {
    fn interval(&mut self, record: &IntervalRecord) {
        if self.piece_bytes > 0 {
            return;
        }
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

    fn trace(&mut self, records: &[IoRecord]) {
        for record in records {
            let start_s = (record.submitted_ns - self.origin_ns) as f64 / 1e9;
            let end_s = (record.completed_ns - self.origin_ns) as f64 / 1e9;
            match self.slices.last_mut() {
                Some(last) if last.bytes < self.piece_bytes => {
                    last.bytes += u64::from(record.length_bytes);
                    last.seconds = end_s - last.start_s;
                }
                _ => {
                    let bytes = u64::from(record.length_bytes);
                    self.slices.push(Slice { start_s, seconds: end_s - start_s, bytes });
                }
            }
        }
    }

    fn verdict(&mut self) -> Verdict {
        Verdict::GoOn
    }
}
