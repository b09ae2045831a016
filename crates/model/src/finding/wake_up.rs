//! The finding of wake up.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use serde::Serialize;
use std::convert::Infallible;

/// Latency of the first read of a run, on a drive that was in standby.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WakeUp {
    #[serde(skip)]
    pub latency_s: f64,
}

impl Conclusion for WakeUp {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        Value::Number(Estimate::exact(self.latency_s))
    }
}
