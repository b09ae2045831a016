//! Key `findings`: a conclusion with all its keys, or a code and why nothing could be concluded.

use super::{DocumentError, finite, known, needed};
use model::estimate::Estimate;
use model::finding::{Conclusion, Datum, Evidence, Finding, FindingCode, Name, Outcome, Value};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One entry of `findings`: `code` and `unknown`, or `code` and all the other keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FindingDocument {
    /// What it is about.
    pub code: String,
    /// Why nothing could be concluded.
    #[serde(default)]
    pub unknown: Option<String>,
    /// What was found: a number or a word.
    #[serde(default)]
    pub value: Option<ValueDocument>,
    /// The unit of a number.
    #[serde(default)]
    pub unit: Option<String>,
    /// Lower end of the interval of a number; null when there is none.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of the interval of a number; null when there is none.
    #[serde(default)]
    pub high: Option<f64>,
    /// How likely the interval holds the truth.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// How many independent observations it rests on; null for an exact number.
    #[serde(default)]
    pub effective_count: Option<f64>,
    /// One sentence.
    #[serde(default)]
    pub statement: Option<String>,
    /// The stretches of data it rests on.
    #[serde(default)]
    pub evidence: Vec<EvidenceDocument>,
    /// What to do about it.
    #[serde(default)]
    pub advice: Option<String>,
    /// Details by name.
    #[serde(default)]
    pub data: DetailsDocument,
}

/// A number or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ValueDocument {
    /// A number in the finding's unit.
    Number(f64),
    /// A kind, such as "cmr".
    Text(String),
}

/// A stretch of data that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceDocument {
    /// The number of the phase, counted from 0.
    pub phase: u32,
    /// From when in the run.
    #[serde(deserialize_with = "super::null_as_nan")]
    pub start_s: f64,
    /// For how long.
    #[serde(deserialize_with = "super::null_as_nan")]
    pub seconds: f64,
}

/// Details by name, in the order in which the detector gave them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetailsDocument(Vec<(Name, Datum)>);

impl DetailsDocument {
    pub(super) fn of(parts: &[(Name, Datum)]) -> DetailsDocument {
        DetailsDocument(parts.to_vec())
    }
}

impl FindingDocument {
    pub(super) fn of(finding: &Finding) -> FindingDocument {
        let empty = FindingDocument {
            code: finding.code.name().into(),
            unknown: None,
            value: None,
            unit: None,
            low: None,
            high: None,
            confidence: None,
            effective_count: None,
            statement: None,
            evidence: Vec::new(),
            advice: None,
            data: DetailsDocument::default(),
        };
        match &finding.outcome {
            Outcome::Unknown { why } => FindingDocument { unknown: Some(why.clone()), ..empty },
            Outcome::Known(conclusion) => empty.with_conclusion(conclusion),
        }
    }

    fn with_conclusion(self, conclusion: &Conclusion) -> FindingDocument {
        let evidence = |evidence: &Evidence| EvidenceDocument {
            phase: evidence.phase,
            start_s: evidence.start_s,
            seconds: evidence.seconds,
        };
        let common = FindingDocument {
            statement: Some(conclusion.statement.clone()),
            evidence: conclusion.evidence.iter().map(evidence).collect(),
            advice: conclusion.advice.clone(),
            data: DetailsDocument(conclusion.data.clone()),
            ..self
        };
        match &conclusion.value {
            Value::Text(kind) => {
                FindingDocument { value: Some(ValueDocument::Text(kind.to_string())), ..common }
            }
            Value::Number { estimate, unit } => FindingDocument {
                value: finite(estimate.value).map(ValueDocument::Number),
                unit: Some(unit.to_string()),
                low: finite(estimate.low),
                high: finite(estimate.high),
                confidence: finite(estimate.confidence),
                effective_count: finite(estimate.effective_count),
                ..common
            },
        }
    }

    pub(super) fn into_model(self, key: &str) -> Result<Finding, DocumentError> {
        let code = known(&format!("{key}.code"), &self.code, FindingCode::from_name)?;
        if let Some(why) = self.unknown {
            return Ok(Finding::unknown(code, why));
        }
        let value = match self.value {
            Some(ValueDocument::Text(kind)) => Value::text(kind),
            number => Value::Number {
                // Null stands for what JSON cannot hold: no value, an open end, an exact number's count.
                estimate: Estimate {
                    value: match number {
                        Some(ValueDocument::Number(value)) => value,
                        _ => f64::NAN,
                    },
                    low: self.low.unwrap_or(f64::NEG_INFINITY),
                    high: self.high.unwrap_or(f64::INFINITY),
                    confidence: self.confidence.unwrap_or(f64::NAN),
                    effective_count: self.effective_count.unwrap_or(f64::INFINITY),
                },
                unit: needed(self.unit, format!("{key}.unit"))?.into(),
            },
        };
        let evidence = self.evidence.into_iter();
        let conclusion = Conclusion {
            value,
            statement: needed(self.statement, format!("{key}.statement"))?,
            evidence: evidence
                .map(|e| Evidence { phase: e.phase, start_s: e.start_s, seconds: e.seconds })
                .collect(),
            advice: self.advice,
            data: self.data.0,
        };
        Ok(Finding { code, outcome: Outcome::Known(Box::new(conclusion)) })
    }
}

impl Serialize for FindingDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        if let Some(why) = &self.unknown {
            map.serialize_entry("unknown", why)?;
            return map.end();
        }
        map.serialize_entry("value", &self.value)?;
        map.serialize_entry("unit", &self.unit)?;
        map.serialize_entry("low", &self.low)?;
        map.serialize_entry("high", &self.high)?;
        map.serialize_entry("confidence", &self.confidence)?;
        map.serialize_entry("effective_count", &self.effective_count)?;
        map.serialize_entry("statement", &self.statement)?;
        map.serialize_entry("evidence", &self.evidence)?;
        map.serialize_entry("advice", &self.advice)?;
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}

impl Serialize for DetailsDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_record(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for DetailsDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DetailsDocument, D::Error> {
        match deserializer.deserialize_any(DatumVisitor)? {
            Datum::Record(parts) => Ok(DetailsDocument(parts)),
            _ => Err(serde::de::Error::custom("the key data of a finding holds no object")),
        }
    }
}

fn serialize_record<S: Serializer>(parts: &[(Name, Datum)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(parts.len()))?;
    for (name, datum) in parts {
        map.serialize_entry(name, &DatumOut(datum))?;
    }
    map.end()
}

struct DatumOut<'datum>(&'datum Datum);

impl Serialize for DatumOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Datum::Number(number) => finite(*number).serialize(serializer),
            Datum::Integer(number) => serializer.serialize_u64(*number),
            Datum::Flag(flag) => serializer.serialize_bool(*flag),
            Datum::Text(text) => serializer.serialize_str(text),
            Datum::Record(parts) => serialize_record(parts, serializer),
            Datum::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&DatumOut(item))?;
                }
                list.end()
            }
        }
    }
}

/// Reads any JSON value; unlike `serde_json::Value` it keeps the order of an object's keys.
struct DatumVisitor;

struct DatumIn(Datum);

impl<'de> Deserialize<'de> for DatumIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DatumIn, D::Error> {
        deserializer.deserialize_any(DatumVisitor).map(DatumIn)
    }
}

impl<'de> Visitor<'de> for DatumVisitor {
    type Value = Datum;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Datum, E> {
        Ok(Datum::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Datum, E> {
        Ok(Datum::Integer(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Datum, E> {
        Ok(Datum::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Datum, E> {
        Ok(Datum::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Datum, E> {
        Ok(Datum::Text(text.into()))
    }

    /// What is not finite was written as null.
    fn visit_unit<E>(self) -> Result<Datum, E> {
        Ok(Datum::Number(f64::NAN))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Datum, A::Error> {
        let mut list = Vec::new();
        while let Some(DatumIn(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Datum::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Datum, A::Error> {
        let mut parts = Vec::new();
        while let Some((name, DatumIn(datum))) = entries.next_entry::<String, DatumIn>()? {
            parts.push((Name::Owned(name), datum));
        }
        Ok(Datum::Record(parts))
    }
}
