//! What a measurement leaves behind: time slices, histograms, single I/Os, errors, and facts about the host.

use crate::histogram::LatencyHistogram;
use crate::request::{Operation, Status};

/// How often a slice of time ends while a phase runs: 25 times a second, so that a stall of 50 ms spans a slice.
pub const INTERVAL_NS: u64 = 40_000_000;

/// One time slice of a phase, for one kind of operation. One without completions is kept: it is a stall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalRecord {
    pub phase: u32,
    pub operation: Operation,
    /// When the slice began, since the run's clock began.
    pub start_ns: u64,
    pub duration_ns: u64,
    pub operations: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Lowest offset touched, in bytes; 0 when nothing was.
    pub offset_first: u64,
    /// End of the highest request, in bytes; 0 when nothing was touched.
    pub offset_end: u64,
    /// Latencies of the requests completed without an error; none when there were none.
    pub latency: Option<IntervalLatency>,
}

/// Latencies within one slice, in nanoseconds. Quantiles of slices must not be averaged: merge histograms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalLatency {
    pub min_ns: u64,
    pub mean_ns: f64,
    /// Median, to within the histogram's relative error.
    pub p50_ns: u64,
    /// The 99th percentile, to within the same error.
    pub p99_ns: u64,
    pub max_ns: u64,
}

/// All latencies of one kind of operation over about a second. These merge without loss.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRecord {
    pub phase: u32,
    pub operation: Operation,
    pub start_ns: u64,
    pub duration_ns: u64,
    pub histogram: LatencyHistogram,
}

/// One I/O. Kept only when a trace was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRecord {
    /// When it was meant to start, since the run's clock began. In a closed loop, when it was submitted.
    pub intended_ns: u64,
    pub submitted_ns: u64,
    /// When it was seen to be done.
    pub completed_ns: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub phase: u32,
    pub status: Status,
    pub operation: Operation,
}

/// One failed request. The first [`ERROR_RECORDS_MAX`] of a phase are kept, all are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRecord {
    pub phase: u32,
    /// When it was seen, since the run's clock began.
    pub at_ns: u64,
    pub operation: Operation,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub status: Status,
}

/// Errors kept in full for one phase: 10,000 of 40 bytes. A drive with more needs no finer list.
pub const ERROR_RECORDS_MAX: usize = 10_000;

/// Facts about host and drive at one moment, about once a second. What a host does not tell is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TelemetryRecord {
    pub at_ns: u64,
    /// Of the drive, where a sensor is readable.
    pub temperature_celsius: Option<f64>,
    /// Share of all processors' time that was not idle since the last record, in [0, 1].
    pub cpu_busy_share: Option<f64>,
    /// Share that the hypervisor gave to others while this machine wanted it, in [0, 1].
    pub cpu_steal_share: Option<f64>,
    /// Share of all processors' time that this program used, in [0, 1].
    pub own_cpu_share: Option<f64>,
    /// Bytes the device says it read since the last record, by whomever.
    pub device_read_bytes: Option<u64>,
    /// Bytes the device says it wrote since the last record, by whomever.
    pub device_write_bytes: Option<u64>,
    /// Bytes this program read from the target since the last record.
    pub own_read_bytes: u64,
    /// Bytes this program wrote to the target since the last record.
    pub own_write_bytes: u64,
}

impl IntervalLatency {
    /// The latencies of a slice from its histogram; none when it is empty.
    pub fn of(histogram: &LatencyHistogram) -> Option<IntervalLatency> {
        use crate::units::Quantile;
        Some(IntervalLatency {
            min_ns: histogram.min()?.get(),
            mean_ns: histogram.mean_ns()?,
            p50_ns: histogram.quantile(Quantile::MEDIAN)?.get(),
            p99_ns: histogram.quantile(Quantile::P99)?.get(),
            max_ns: histogram.max()?.get(),
        })
    }
}

impl IoRecord {
    pub fn is_done(&self) -> bool {
        self.status.is_done()
    }

    /// How long it took from its submission on. A record that was altered may end before it begins: then no time at all.
    pub fn service_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.submitted_ns)
    }
}

impl IntervalRecord {
    /// The end of the slice, since the run's clock began. A record that was altered may end past all time.
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

const _: () = assert!(size_of::<IoRecord>() <= 56, "a trace of a billion I/Os is 56 GB in memory units");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_that_was_altered_ends_with_time_itself() {
        let slice = IntervalRecord {
            phase: 0,
            operation: Operation::Write,
            start_ns: u64::MAX - 1,
            duration_ns: INTERVAL_NS,
            operations: 1,
            bytes: 4096,
            errors: 0,
            offset_first: 0,
            offset_end: 4096,
            latency: None,
        };
        assert_eq!(slice.end_ns(), u64::MAX);
    }
}
