//! What is read of the document of a run, `drivescope.run/1`: the one place that knows where its keys stand.

use model::finding::FindingCode;
use serde_json::Value;
use std::ops::Deref;

#[derive(Clone, Debug, Default)]
pub struct Document {
    pub json: Value,
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
}

impl Deref for Document {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.json
    }
}

impl From<Value> for Document {
    fn from(json: Value) -> Document {
        Document { json, status: Some(0) }
    }
}

impl Document {
    pub fn findings(&self) -> &[Value] {
        rows(&self.json["findings"])
    }

    pub fn finding(&self, code: FindingCode) -> Option<&Value> {
        self.findings().iter().find(|finding| finding["code"] == code.name())
    }

    pub fn said(&self, code: FindingCode) -> &Value {
        self.finding(code).unwrap_or(&Value::Null)
    }

    pub fn value(&self, code: FindingCode) -> Option<f64> {
        self.said(code)["value"].as_f64()
    }

    pub fn why(&self, code: FindingCode) -> &str {
        self.said(code)["unknown"].as_str().unwrap_or_default()
    }

    /// Whether the run asked for the finding: it has the code, and no word that it was not looked for.
    pub fn has_asked(&self, code: FindingCode) -> bool {
        self.finding(code).is_some() && !self.why(code).starts_with("Not measured")
    }

    pub fn number(&self, code: FindingCode, key: &str) -> Option<f64> {
        self.said(code)["data"][key].as_f64()
    }

    pub fn rows(&self, code: FindingCode, key: &str) -> &[Value] {
        rows(&self.said(code)["data"][key])
    }

    pub fn phases(&self) -> &[Value] {
        rows(&self.json["phases"])
    }

    pub fn device_s(&self) -> f64 {
        match self.phases().last() {
            Some(last) => number(last, "start_s") + number(last, "seconds"),
            None => 0.0,
        }
    }

    pub fn bytes(&self) -> f64 {
        self.phases().iter().map(|phase| number(phase, "bytes")).sum()
    }

    /// Bytes that phases wrote which measured. Nearly all of it is random writes of one size.
    pub fn bytes_written(&self) -> f64 {
        let mut written = 0.0;
        for phase in self.phases() {
            if phase["kind"] == "measure" && phase["workload"]["mix"]["kind"] == "write" {
                written += number(phase, "bytes");
            }
        }
        written
    }

    /// The slowest phase of random writes as a share of the quickest; none where a run wrote nothing.
    pub fn slowest_write_share(&self) -> Option<f64> {
        let (mut slowest, mut quickest) = (f64::INFINITY, 0.0f64);
        for phase in self.phases() {
            let workload = &phase["workload"];
            if phase["kind"] == "measure"
                && workload["mix"]["kind"] == "write"
                && workload["pattern"]["kind"] == "random-with-replacement"
            {
                slowest = slowest.min(number(phase, "bytes_per_second"));
                quickest = quickest.max(number(phase, "bytes_per_second"));
            }
        }
        (quickest > 0.0).then_some(slowest / quickest)
    }

    pub fn says(&self, words: &[&str]) -> bool {
        let mut texts: Vec<&Value> = rows(&self.json["environment"]["warnings"]).iter().collect();
        for finding in self.findings() {
            texts.extend([&finding["statement"], &finding["advice"], &finding["unknown"]]);
        }
        texts.into_iter().filter_map(Value::as_str).any(|text| {
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        })
    }
}

pub fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_default()
}

pub fn covers(found: &Value, truth: f64) -> Option<bool> {
    let (low, high) = found["low"].as_f64().zip(found["high"].as_f64())?;
    Some((low..=high).contains(&truth))
}

#[cfg(test)]
mod tests {
    use super::{Document, covers};
    use model::finding::FindingCode;
    use serde_json::json;

    #[test]
    fn a_document_is_understood() {
        let document = Document::from(json!({
            "environment": {"warnings": ["Somebody else"]},
            "phases": [
                {"start_s": 0.0, "seconds": 2.0, "bytes": 3, "kind": "warm-up"},
                {"start_s": 2.5, "seconds": 1.0, "bytes": 4, "kind": "measure", "workload": {"mix": {"kind": "write"}}},
            ],
            "findings": [
                {"code": "access-time", "value": 9.0, "low": 8.0, "high": 10.0, "data": {"seek_s": 2.0, "points": [1, 2]}},
                {"code": "zone-ratio", "unknown": "too little"},
            ]
        }));
        assert_eq!((document.device_s(), document.bytes(), document.bytes_written()), (3.5, 7.0, 4.0));
        let code = FindingCode::AccessTime;
        assert_eq!((document.value(code), document.number(code, "seek_s")), (Some(9.0), Some(2.0)));
        assert_eq!((document.rows(code, "points").len(), document.rows(code, "none").len()), (2, 0));
        assert_eq!(document.why(FindingCode::ZoneRatio), "too little");
        assert_eq!(document.finding(FindingCode::ReadAhead), None);
        assert!(document.has_asked(FindingCode::ZoneRatio) && !document.has_asked(FindingCode::ReadAhead));
        assert_eq!([9.5, 11.0].map(|truth| covers(document.said(code), truth)), [Some(true), Some(false)]);
        assert!(document.says(&["somebody"]) && document.says(&["too little"]) && !document.says(&["load"]));
    }
}
