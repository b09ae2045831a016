//! What this tool itself costs, and how still the machine is: measured before every run and printed with it.

use crate::clock::{Clock, MonotonicClock};
use crate::engine::null::NullEngine;
use crate::error::IoError;
use crate::load::collect::Unobserved;
use crate::load::phase::{Load, run_threads};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

/// Requests that the calibration makes: a few milliseconds.
const CALIBRATION_OPERATIONS: u64 = 100_000;
const WATCHED: Nanos = Nanos::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Time for each I/O at depth 32, with all statistics recorded and no drive.
    pub own_cost_ns_per_io: f64,
    /// The longest time that a busy loop was kept from running.
    pub scheduling_gap: Nanos,
}

/// Measures both: about a tenth of a second.
pub fn measure(clock: MonotonicClock) -> Result<Overhead, IoError> {
    // The least of three: what disturbs a run only ever adds to it.
    let mut own_cost_ns_per_io = f64::INFINITY;
    for _ in 0..3 {
        own_cost_ns_per_io = own_cost_ns_per_io.min(null_run(clock, 32, 1, CALIBRATION_OPERATIONS)?);
    }
    Ok(Overhead { own_cost_ns_per_io, scheduling_gap: longest_gap(clock) })
}

/// Nanoseconds for each I/O of the whole path with an engine that does nothing, at that depth on each of the workers.
pub fn null_run(clock: MonotonicClock, depth: u32, workers: u32, operations: u64) -> Result<f64, IoError> {
    let range = ByteRange::whole(Bytes::from_gib(1));
    let block = Bytes::from_kib(4);
    let workload = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, block, depth);
    let stop = StopCondition { operations: Some(operations), ..StopCondition::default() };
    let load = Load { workload: &workload, stop, phase: 0, seed: 0, trace: false };
    let outcome = run_threads(&load, clock, workers, |_| Ok(NullEngine::new(depth, clock)), &mut Unobserved)?;
    let count = outcome.totals.iter().map(|totals| totals.operations).sum::<u64>().max(1);
    Ok(outcome.ended.since(outcome.began).as_f64() / count as f64)
}

fn longest_gap(clock: MonotonicClock) -> Nanos {
    let began = clock.now();
    let (mut last, mut longest) = (began, Nanos::ZERO);
    while last.since(began) < WATCHED {
        let now = clock.now();
        longest = longest.max(now.since(last));
        last = now;
    }
    longest
}
