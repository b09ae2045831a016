//! A finding as it stands in files: key `findings` of `drivescope.run/1`.

use super::{Evidence, Finding, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

/// One entry of `findings`: `code` and `unknown`, or `code` and all the other keys. Numbers that are not finite are null.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct FindingDocument {
    pub code: String,
    pub unknown: Option<String>,
    pub value: Option<ValueDocument>,
    pub unit: Option<String>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// How likely the interval holds the truth.
    pub confidence: Option<f64>,
    /// How many independent observations it rests on; null for an exact number.
    pub effective_count: Option<f64>,
    pub statement: Option<String>,
    pub evidence: Vec<EvidenceDocument>,
    pub advice: Option<String>,
    pub data: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ValueDocument {
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceDocument {
    pub phase: u32,
    #[serde(deserialize_with = "null_as_nan")]
    pub start_s: f64,
    #[serde(deserialize_with = "null_as_nan")]
    pub seconds: f64,
}

impl FindingDocument {
    pub fn known(finding: &Finding, statement: String, advice: Option<String>) -> FindingDocument {
        let mut document = FindingDocument {
            code: finding.code().name().into(),
            statement: Some(statement),
            evidence: finding.evidence().iter().map(EvidenceDocument::of).collect(),
            advice,
            data: data_of(finding),
            ..FindingDocument::default()
        };
        match finding.value() {
            Some(Value::Word(word)) => document.value = Some(ValueDocument::Text(word.into_owned())),
            Some(Value::Number(estimate)) => {
                document.value = finite(estimate.value).map(ValueDocument::Number);
                document.unit = finding.unit().map(String::from);
                document.low = finite(estimate.low);
                document.high = finite(estimate.high);
                document.confidence = finite(estimate.confidence);
                document.effective_count = finite(estimate.effective_count);
            }
            None => {}
        }
        document
    }

    pub fn unknown(finding: &Finding, why: String) -> FindingDocument {
        FindingDocument {
            code: finding.code().name().into(),
            unknown: Some(why),
            ..FindingDocument::default()
        }
    }
}

/// The details of a finding by name, as they stand in files; none when it is not known.
fn data_of(finding: &Finding) -> Map<String, Json> {
    with_outcome!(finding, outcome => {
        let Some(known) = outcome.as_known() else { return Map::new() };
        let mut data = match serde_json::to_value(&known.conclusion) {
            Ok(Json::Object(data)) => data,
            other => unreachable!("a conclusion serialises as an object: {other:?}"),
        };
        if !known.caveats.is_empty() {
            data.insert("caveats".into(), known.caveats.iter().copied().map(Json::from).collect());
        }
        data
    })
}

fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

fn null_as_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl EvidenceDocument {
    fn of(evidence: &Evidence) -> EvidenceDocument {
        EvidenceDocument { phase: evidence.phase, start_s: evidence.start_s, seconds: evidence.seconds }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Unknown<'document> {
    code: &'document str,
    unknown: &'document str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Known<'document> {
    code: &'document str,
    value: &'document Option<ValueDocument>,
    unit: &'document Option<String>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: Option<f64>,
    effective_count: Option<f64>,
    statement: &'document Option<String>,
    evidence: &'document [EvidenceDocument],
    advice: &'document Option<String>,
    data: &'document Map<String, Json>,
}

impl Serialize for FindingDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.unknown {
            Some(unknown) => Unknown { code: &self.code, unknown }.serialize(serializer),
            None => Known {
                code: &self.code,
                value: &self.value,
                unit: &self.unit,
                low: self.low,
                high: self.high,
                confidence: self.confidence,
                effective_count: self.effective_count,
                statement: &self.statement,
                evidence: &self.evidence,
                advice: &self.advice,
                data: &self.data,
            }
            .serialize(serializer),
        }
    }
}

/// What is known of any code, and for each code the keys of its `data`. A code of a later version passes.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for FindingDocument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Finding".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut by_code = Vec::new();
        for code in super::FindingCode::ALL {
            let mut data = with_conclusion!(code, C => generator.subschema_for::<C>());
            let caveats = generator.subschema_for::<Vec<String>>();
            data.insert("properties".into(), serde_json::json!({ "caveats": caveats }));
            by_code.push(serde_json::json!({
                "if": { "properties": { "code": { "const": code.name() } }, "required": ["data"] },
                "then": { "properties": { "data": data } },
            }));
        }
        let kinds = [generator.subschema_for::<Unknown>(), generator.subschema_for::<Known>()];
        schemars::json_schema!({ "oneOf": kinds, "allOf": by_code })
    }
}
