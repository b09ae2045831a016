//! The finding of device lost.

use crate::estimate::Estimate;
use serde::Serialize;
use std::convert::Infallible;

concludes! {
    DeviceLost(it): Infallible => Estimate::exact(it.at_s);
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLost {
    #[serde(skip)]
    pub at_s: f64,
    /// Requests that failed from then on, where no error said that the device is gone.
    #[serde(skip)]
    pub failed: Option<u64>,
}
