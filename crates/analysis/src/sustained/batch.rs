//! Phases of one workload that follow each other, each with its flush, without which it is only in the drive's memory.

use model::request::Operation;
use model::run::PhaseSummary;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    pub phase: u32,
    pub start_s: f64,
    pub bytes: f64,
    pub seconds: f64,
    pub flush_s: f64,
}

/// Batches that follow each other with nothing in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    pub batches: Vec<Batch>,
    /// The phases between it and the stream before it.
    pub before: Vec<u32>,
}

impl Batch {
    /// In seconds, from the first write to the last, without the flush behind it.
    pub fn wrote_s(&self) -> f64 {
        (self.seconds - self.flush_s).max(1e-9)
    }

    pub fn of(phase: u32, summary: &PhaseSummary) -> Option<Batch> {
        let bytes = summary.totals_of(Operation::Write)?.bytes as f64;
        let flush_s = summary.flush_ns() as f64 / 1e9;
        let seconds = summary.duration_ns as f64 / 1e9 + flush_s;
        let start_s = summary.start_ns as f64 / 1e9;
        // What took no time at all took less than the clock shows.
        (bytes > 0.0).then_some(Batch { phase, start_s, bytes, seconds: seconds.max(1e-9), flush_s })
    }

    pub fn seconds_per_byte(&self) -> f64 {
        self.seconds / self.bytes
    }
}

pub(super) fn bytes_of(batches: &[Batch]) -> f64 {
    // The sum of nothing is minus nothing.
    0.0 + batches.iter().map(|batch| batch.bytes).sum::<f64>()
}

pub(super) fn seconds_of(batches: &[Batch]) -> f64 {
    0.0 + batches.iter().map(|batch| batch.seconds).sum::<f64>()
}

impl Stream {
    pub fn bytes(&self) -> f64 {
        bytes_of(&self.batches)
    }

    pub fn seconds(&self) -> f64 {
        seconds_of(&self.batches)
    }
}
