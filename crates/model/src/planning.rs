//! Why plans and estimates cannot be made from a run.

use crate::finding::ConcurrencyUnknown;

/// Why no number of requests in flight stays within a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoBudget {
    /// The run measured no random requests by their number in flight.
    NotMeasured,
    Unknown(ConcurrencyUnknown),
    Inconclusive,
    /// The lowest 99th percentile measured, in seconds.
    AllSlower {
        p99_s: f64,
    },
    TooFewRequests,
}
