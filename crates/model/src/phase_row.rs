//! What one operation did in one phase, with intervals: a row of the table that users of fio expect.

use crate::estimate::Estimate;
use crate::request::Operation;
use crate::units::Bytes;

#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRow {
    pub phase: String,
    pub operation: Operation,
    /// Of one size; none of a mix of sizes.
    pub block: Option<Bytes>,
    pub queue_depth: u64,
    pub errors: u64,
    pub iops: Estimate,
    pub bytes_per_second: Estimate,
    /// Over all completions of the operation, in seconds.
    pub latency_mean: Estimate,
    /// Quantiles in seconds with the name of each: ("p99", …). One without enough requests for an interval is left out.
    pub latency_quantiles: Vec<(&'static str, Estimate)>,
    /// The slowest completion of the operation, in seconds.
    pub latency_max: f64,
    /// Share of all processors' time that this program used, in [0, 1]; none where it was not measured.
    pub cpu_share: Option<f64>,
}
