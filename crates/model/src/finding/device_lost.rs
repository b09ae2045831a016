//! The finding of device lost.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use serde::Serialize;
use std::convert::Infallible;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceLost {
    #[serde(skip)]
    pub at_s: f64,
    /// Requests that failed from then on, where no error said that the device is gone.
    #[serde(skip)]
    pub failed: Option<u64>,
}

impl Conclusion for DeviceLost {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        Value::Number(Estimate::exact(self.at_s))
    }
}
