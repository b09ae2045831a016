//! The finding of wake up.

use crate::estimate::Estimate;
use serde::Serialize;
use std::convert::Infallible;

concludes! {
    WakeUp(it): Infallible => Estimate::exact(it.latency_s);
}

/// Latency of the first read of a run, on a drive that was in standby.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WakeUp {
    #[serde(skip)]
    pub latency_s: f64,
}
