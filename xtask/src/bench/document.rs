//! What benches read from the document of a run.

use serde_json::Value;

use model::finding::FindingCode;

/// The finding of that code, if there is one.
pub fn finding(document: &Value, code: FindingCode) -> Option<&Value> {
    document["findings"].as_array()?.iter().find(|finding| finding["code"] == code.name())
}

/// Seconds of the drive's time from the start of the run to the end of its last phase.
pub fn device_s(document: &Value) -> f64 {
    let last = document["phases"].as_array().and_then(|phases| phases.last());
    last.map_or(0.0, |last| {
        last["start_s"].as_f64().unwrap_or_default() + last["seconds"].as_f64().unwrap_or_default()
    })
}

/// Whether the interval of a finding holds the truth; none where it has no interval.
pub fn covers(found: &Value, truth: f64) -> Option<bool> {
    let (low, high) = found["low"].as_f64().zip(found["high"].as_f64())?;
    Some((low..=high).contains(&truth))
}
