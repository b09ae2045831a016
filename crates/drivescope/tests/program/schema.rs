//! What the program prints as JSON, held against the schemas in docs/schema/.

use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// By the names of their documents.
static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut validators = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("schemas") {
        let text = fs::read_to_string(entry.expect("a file").path()).expect("a schema");
        let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        close(&mut schema);
        close_below(&mut schema);
        let name = schema["title"].as_str().expect("the name of its document").to_owned();
        validators.insert(name, jsonschema::validator_for(&schema).expect("a schema"));
    }
    validators
});

/// A reader passes over keys that it does not know; here each has to be in the schema.
fn close(place: &mut Value) {
    let Value::Object(place) = place else { return };
    let is_of_objects = |place: &Map<String, Value>| {
        ["$ref", "properties", "anyOf", "oneOf"].into_iter().any(|key| place.contains_key(key))
    };
    if is_of_objects(place) {
        place.insert("unevaluatedProperties".into(), false.into());
    }
}

/// Closes what stands under keys and in lists, and not what is a part of another object, of which it does not have all keys.
fn close_below(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(close_below),
        Value::Object(keys) => {
            for (key, below) in keys {
                match key.as_str() {
                    "properties" => {
                        for property in below.as_object_mut().expect("properties have names").values_mut() {
                            close(property);
                        }
                    }
                    "items" | "additionalProperties" => close(below),
                    _ => {}
                }
                close_below(below);
            }
        }
        _ => {}
    }
}

/// The names of all documents that have a schema.
pub fn names() -> Vec<&'static str> {
    VALIDATORS.keys().map(String::as_str).collect()
}

/// What a document has that its schema does not allow, with the place.
pub fn flaws(document: &Value) -> Vec<String> {
    let name = document["schema"].as_str().expect("a document names its schema");
    let validator = VALIDATORS.get(name).unwrap_or_else(|| panic!("docs/schema has no schema of {name}"));
    let flaws = validator.iter_errors(document);
    flaws.map(|flaw| format!("{name}, {}: {flaw}", flaw.instance_path())).collect()
}

/// The document of a text, which must be as its schema says.
pub fn document(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let flaws = flaws(&document);
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
    document
}
