//! What all documents share.

use model::estimate::Estimate;
use serde::Serialize;

pub fn text_of(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("numbers, words and lists have a form in JSON") + "\n"
}

/// A number with its interval. An end is null where there is none.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct NumberDocument {
    value: f64,
    low: f64,
    high: f64,
    confidence: f64,
}

impl NumberDocument {
    pub(super) fn of(estimate: &Estimate) -> NumberDocument {
        let Estimate { value, low, high, confidence, .. } = *estimate;
        NumberDocument { value, low, high, confidence }
    }
}

pub(super) fn finite(value: f64) -> Option<f64> {
    if value.is_finite() { Some(value) } else { None }
}
