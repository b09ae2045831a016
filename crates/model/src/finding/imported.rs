//! What is noted of figures that other programs stated.

use crate::estimate::Estimate;
use serde::Serialize;

/// How a figure came about that another program stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// Stated once, so that it has no interval.
    pub single_figure: bool,
    pub through_page_cache: bool,
}

impl Imported {
    pub fn new(estimate: &Estimate, is_direct: bool) -> Imported {
        Imported { single_figure: !estimate.low.is_finite(), through_page_cache: !is_direct }
    }
}
