//! What all documents share.

use serde::Serialize;

pub fn text_of(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("numbers, words and lists have a form in JSON") + "\n"
}

pub(super) fn finite(value: f64) -> Option<f64> {
    if value.is_finite() { Some(value) } else { None }
}
