//! The records that the store keeps, as rows.
//!
//! Format version 1. Columns may be added in a later version; none is renamed or changes its unit.

use crate::column::{Cell, StoredRecord, Wide, columns, next_value, stored_record};
use model::histogram::LatencyHistogram;
use model::record::{
    ErrorRecord, HistogramRecord, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use model::units::Nanos;

columns! { IntervalRecord: interval {
    "phase": u32 = interval.phase, "number of the phase in the run, from 0";
    "operation": Operation = interval.operation, "`read`, `write`, `flush`, `discard` or `commit`";
    "start_ns": u64 = interval.start_ns, "start, since the run's clock began";
    "duration_ns": u64 = interval.duration_ns, "usually 40 ms; intervals without completions are included";
    "operations": u64 = interval.operations, "requests completed without an error";
    "bytes": u64 = interval.bytes, "bytes transferred";
    "errors": u64 = interval.errors, "failed requests";
    "offset_bytes_first": u64 = interval.offset_first, "lowest offset touched";
    "offset_bytes_end": u64 = interval.offset_end, "end of the highest request";
    "latency_ns_min": Option<u64> = interval.latency.map(|latency| latency.min_ns), "minimum; empty without completions, as are the next four";
    "latency_ns_mean": Option<f64> = interval.latency.map(|latency| latency.mean_ns), "arithmetic mean";
    "latency_ns_p50": Option<u64> = interval.latency.map(|latency| latency.p50_ns), "median, to within 0.4 %";
    "latency_ns_p99": Option<u64> = interval.latency.map(|latency| latency.p99_ns), "99th percentile, to within 0.4 %";
    "latency_ns_max": Option<u64> = interval.latency.map(|latency| latency.max_ns), "maximum";
} }

impl StoredRecord for IntervalRecord {
    fn take(row: &mut impl Iterator<Item = Cell>) -> Option<IntervalRecord> {
        Some(IntervalRecord {
            phase: next_value(row)?,
            operation: next_value(row)?,
            start_ns: next_value(row)?,
            duration_ns: next_value(row)?,
            operations: next_value(row)?,
            bytes: next_value(row)?,
            errors: next_value(row)?,
            offset_first: next_value(row)?,
            offset_end: next_value(row)?,
            latency: latency_of(row)?,
        })
    }
}

fn latency_of(row: &mut impl Iterator<Item = Cell>) -> Option<Option<IntervalLatency>> {
    let min_ns: Option<u64> = next_value(row)?;
    let mean_ns: Option<f64> = next_value(row)?;
    let p50_ns: Option<u64> = next_value(row)?;
    let p99_ns: Option<u64> = next_value(row)?;
    let max_ns: Option<u64> = next_value(row)?;
    let Some(min_ns) = min_ns else { return Some(None) };
    let latency =
        IntervalLatency { min_ns, mean_ns: mean_ns?, p50_ns: p50_ns?, p99_ns: p99_ns?, max_ns: max_ns? };
    Some(Some(latency))
}

/// The sum of latencies is 128 bits wide: `sum = high × 2⁶³ + low`, so that neither column is ever negative. It
/// holds sums below 2¹²⁶ ns, more than 2⁶² requests of 584 years each.
const SUM_LOW_BITS: u32 = 63;
const SUM_LOW_MASK: u128 = (1 << SUM_LOW_BITS) - 1;

columns! { HistogramRecord: record {
    "phase": u32 = record.phase, "number of the phase in the run, from 0";
    "operation": Operation = record.operation, "`read`, `write`, `flush`, `discard` or `commit`";
    "start_ns": u64 = record.start_ns, "start, since the run's clock began";
    "duration_ns": u64 = record.duration_ns, "about a second";
    "operations": u64 = record.histogram.count(), "requests in the histogram";
    "latency_ns_sum_high": u64 = (record.histogram.sum_ns() >> SUM_LOW_BITS) as u64, "sum of latencies, in units of 2⁶³ ns";
    "latency_ns_sum_low": u64 = (record.histogram.sum_ns() & SUM_LOW_MASK) as u64, "remainder of that sum";
    "latency_ns_min": Option<u64> = record.histogram.min().map(Nanos::get), "minimum";
    "latency_ns_max": Option<u64> = record.histogram.max().map(Nanos::get), "maximum";
    "cells": Vec<u8> = encode_cells(record.histogram.cells()), "non-empty cells; encoding in the file metadata";
} }

impl StoredRecord for HistogramRecord {
    fn take(row: &mut impl Iterator<Item = Cell>) -> Option<HistogramRecord> {
        let (phase, operation) = (next_value(row)?, next_value(row)?);
        let (start_ns, duration_ns) = (next_value(row)?, next_value(row)?);
        let operations: u64 = next_value(row)?;
        let high: u64 = next_value(row)?;
        let low: u64 = next_value(row)?;
        let min_ns: Option<u64> = next_value(row)?;
        let max_ns: Option<u64> = next_value(row)?;
        let cells = decode_cells(&next_value::<Vec<u8>>(row)?)?;
        let sum = (u128::from(high) << SUM_LOW_BITS) + u128::from(low);
        let histogram = LatencyHistogram::from_parts(cells, sum, min_ns.unwrap_or(0), max_ns.unwrap_or(0))?;
        if histogram.count() != operations {
            return None;
        }
        Some(HistogramRecord { phase, operation, start_ns, duration_ns, histogram })
    }
}

/// The cells of a histogram as pairs of numbers: how many cells further than the last (the first: from 0), and its count;
/// each number in groups of seven bits, lowest first, the top bit set in all bytes but the last.
pub(crate) fn encode_cells(cells: impl Iterator<Item = (u32, u64)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (cell, count) in cells {
        assert!(cell >= last, "the cells of a histogram come in order");
        encode_varint(u64::from(cell - last), &mut bytes);
        encode_varint(count, &mut bytes);
        last = cell;
    }
    bytes
}

pub(crate) fn decode_cells(mut bytes: &[u8]) -> Option<Vec<(u32, u64)>> {
    let mut cells = Vec::new();
    let mut last = 0u32;
    while !bytes.is_empty() {
        let step = u32::try_from(decode_varint(&mut bytes)?).ok()?;
        last = last.checked_add(step)?;
        cells.push((last, decode_varint(&mut bytes)?));
    }
    Some(cells)
}

fn encode_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn decode_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

stored_record! { ErrorRecord {
    phase: u32 = "phase", "number of the phase in the run, from 0";
    at_ns: u64 = "at_ns", "completion, since the run's clock began";
    operation: Operation = "operation", "`read`, `write`, `flush`, `discard` or `commit`";
    offset_bytes: u64 = "offset_bytes", "offset of the request";
    length_bytes: Wide = "length_bytes", "length of the request";
    status: Status = "status", "0 done, 1 short, 2 medium error, 3 device gone, 4 timed out, 5 no space, 6 not supported, 7 misaligned, 8 refused, 9 to 13 wrong, stale, misplaced, blank or flipped data, 14 where misplaced data belong, 1000 + errno";
} }

stored_record! { TelemetryRecord {
    at_ns: u64 = "at_ns", "time, since the run's clock began";
    temperature_celsius: Option<f64> = "temperature_celsius", "temperature of the drive";
    cpu_busy_share: Option<f64> = "cpu_busy_share", "CPU utilization of all processors, 0 to 1";
    cpu_steal_share: Option<f64> = "cpu_steal_share", "steal time, 0 to 1";
    own_cpu_share: Option<f64> = "own_cpu_share", "CPU share of drivescope, 0 to 1";
    device_read_bytes: Option<u64> = "device_read_bytes", "bytes read from the device since the last record, all programs";
    device_write_bytes: Option<u64> = "device_write_bytes", "bytes written to the device since the last record, all programs";
    own_read_bytes: u64 = "own_read_bytes", "bytes read by drivescope since the last record";
    own_write_bytes: u64 = "own_write_bytes", "bytes written by drivescope since the last record";
} }

stored_record! { IoRecord {
    phase: u32 = "phase", "number of the phase in the run, from 0";
    operation: Operation = "operation", "`read`, `write`, `flush`, `discard` or `commit`";
    intended_ns: u64 = "intended_ns", "intended start; in a closed loop the submission";
    submitted_ns: u64 = "submitted_ns", "submission, since the run's clock began";
    completed_ns: u64 = "completed_ns", "completion, since the run's clock began";
    offset_bytes: u64 = "offset_bytes", "offset of the request";
    length_bytes: Wide = "length_bytes", "length of the request";
    status: Status = "status", "as in `errors`";
} }
