//! Phases on a virtual drive in virtual time, for re-enactments and simulated days. Nothing is stored.

use crate::error::UserError;
use io::load::collect::{PhaseObserver, Verdict};
use io::rig::Rig;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::Operation;
use model::run::OperationTotals;
use model::units::{Bytes, Nanos};
use model::workload::Workload;
use sim::Drive;

pub struct VirtualRun {
    rig: Rig,
    seed: u64,
    phases: u32,
}

#[derive(Clone, Debug)]
pub struct PhaseResult {
    pub seconds: f64,
    pub flush_s: f64,
    pub bytes: u64,
    pub slices: Vec<Slice>,
    totals: Vec<OperationTotals>,
}

#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: u64,
}

impl VirtualRun {
    pub fn on(drive: Box<dyn Drive>, seed: u64) -> VirtualRun {
        VirtualRun { rig: Rig::on_virtual_drive(drive), seed, phases: 0 }
    }

    pub fn capacity(&self) -> Bytes {
        self.rig.facts().capacity
    }

    pub fn measure(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        slice: Nanos,
    ) -> Result<PhaseResult, UserError> {
        let recorder = Recorder { slice_ns: slice.get(), ..Recorder::default() };
        self.run(workload, stop, recorder)
    }

    /// Runs one phase at QD 1 with a slice for every `slice_bytes`, so that a slow request shows however short it is.
    pub fn measure_by_bytes(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        slice_bytes: u64,
    ) -> Result<PhaseResult, UserError> {
        self.run(workload, stop, Recorder { slice_bytes, ..Recorder::default() })
    }

    fn run(
        &mut self,
        workload: Workload,
        stop: StopCondition,
        mut recorder: Recorder,
    ) -> Result<PhaseResult, UserError> {
        let began = self.rig.now();
        recorder.origin_ns = began.get();
        let traces = recorder.slice_bytes > 0;
        let phase = phase(Some(workload), stop);
        let outcome = self.rig.run_phase(&phase, self.phases, self.seed, traces, &mut recorder)?;
        self.phases += 1;
        let mut result = PhaseResult {
            seconds: outcome.ended.since(outcome.began).seconds(),
            flush_s: 0.0,
            bytes: 0,
            slices: recorder.slices,
            totals: Vec::new(),
        };
        for totals in outcome.totals {
            result.bytes += totals.bytes;
            match totals.operation {
                Operation::Flush => result.flush_s += totals.histogram.sum_ns() as f64 / 1e9,
                Operation::Read | Operation::Write | Operation::Commit => result.totals.push(totals),
                Operation::Discard => {}
            }
        }
        Ok(result)
    }

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

impl Slice {
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }
}

impl PhaseResult {
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    pub fn lasting_rate(&self) -> f64 {
        self.bytes as f64 / (self.seconds + self.flush_s)
    }

    pub fn per_second(&self, operation: Operation) -> f64 {
        let totals = self.totals.iter().find(|totals| totals.operation == operation);
        totals.map_or(0, |totals| totals.operations) as f64 / self.seconds
    }

    pub fn latency_s_max(&self) -> f64 {
        let max = self.totals.iter().filter_map(|totals| totals.histogram.max()).max();
        max.unwrap_or(Nanos::ZERO).seconds()
    }

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

    pub fn rates_by_bytes(&self) -> Vec<(f64, f64)> {
        let (mut rates, mut moved) = (Vec::new(), 0.0);
        for slice in &self.slices {
            rates.push((moved, slice.rate()));
            moved += slice.bytes as f64;
        }
        rates
    }

    pub fn rate_between(&self, from_s: f64, to_s: f64) -> f64 {
        let (mut bytes, mut seconds) = (0, 0.0);
        for slice in &self.slices {
            if (from_s..to_s).contains(&slice.start_s) {
                bytes += slice.bytes;
                seconds += slice.seconds;
            }
        }
        bytes as f64 / seconds
    }
}

#[derive(Default)]
struct Recorder {
    slice_ns: u64,
    slice_bytes: u64,
    origin_ns: u64,
    slices: Vec<Slice>,
}

impl PhaseObserver for Recorder {
    fn interval(&mut self, record: &IntervalRecord) {
        if self.slice_bytes > 0 {
            return;
        }
        let start_s = (record.start_ns - self.origin_ns) as f64 / 1e9;
        let seconds = record.duration_ns as f64 / 1e9;
        // Reads and writes of one interval come as two records.
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
                Some(last) if last.bytes < self.slice_bytes => {
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
