//! Statistics over measured numbers. Nothing here knows of drives.
//!
//! Everything here gives a [`mean::Mean`]: its variance and degrees of freedom say what it is worth.

pub mod change_point;
pub mod dependent;
pub mod evenness;
pub mod grouped;
pub mod mean;
pub mod modes;
pub mod poststratified;
pub mod quantile;
pub mod ratio;
pub mod sample;
pub mod series;
pub mod share;
pub mod stratified;
pub mod student;

use model::estimate::Estimate;

/// The confidence of every interval in a finding: one in twenty is outside.
pub const CONFIDENCE: f64 = 0.95;

/// An interval that was computed, with [`CONFIDENCE`].
pub fn bounded(value: f64, low: f64, high: f64, effective_count: f64) -> Estimate {
    Estimate { value, low, high, confidence: CONFIDENCE, effective_count }
}

/// In another unit; the factor is positive.
pub fn scaled(estimate: &Estimate, factor: f64) -> Estimate {
    estimate.map_monotonic(|value| value * factor)
}
