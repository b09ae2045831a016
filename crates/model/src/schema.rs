//! JSON Schemas of documents, read off the types that write them: in no program, only in the test that keeps docs/schema/.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The schema of the document that `Document` writes and whose key `schema` is that name.
pub fn of<Document: JsonSchema>(name: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(may_be_infinite));
    let mut schema = settings.into_generator().into_root_schema_for::<Document>();
    schema.insert("title".into(), name.into());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_insert(0, "schema".into(), json!({ "const": name }));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut)
        && !required.contains(&"schema".into())
    {
        required.insert(0, "schema".into());
    }
    schema
}

// Those of a range that lies flat among others.
#[derive(JsonSchema)]
pub struct RangeKeys {
    pub first_byte: u64,
    pub bytes: u64,
}

fn may_be_infinite(schema: &mut Schema) {
    if schema.get("type") == Some(&"number".into()) {
        schema.insert("type".into(), json!(["number", "null"]));
    }
}
