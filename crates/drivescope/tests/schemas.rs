//! docs/schema/ holds the schema of every document, as its type has it. `UPDATE_SCHEMAS=1` writes it anew.

use drivescope::cli::schemas::schemas;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// `drivescope.run/1` is `run-1.json`.
fn file_name(title: &str) -> String {
    let name = title.strip_prefix("drivescope.").expect("our name comes first");
    format!("{}.json", name.replace('/', "-"))
}

#[test]
fn documents_have_their_schemas() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut made = BTreeMap::new();
    for schema in schemas() {
        let title = schema.get("title").and_then(|title| title.as_str()).expect("the name of its document");
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        assert!(made.insert(file_name(title), text).is_none(), "{title} has two schemas");
    }
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in &made {
            fs::write(folder.join(name), text).expect("a schema");
        }
    }
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("schemas") {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().expect("a plain name");
        // The lake is declared in Python, where a test keeps its file.
        if name != "fleet-1.json" {
            kept.insert(name, fs::read_to_string(entry.path()).expect("a schema"));
        }
    }
    let names = |all: &BTreeMap<String, String>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&made), "docs/schema has other files than there are documents");
    for (name, text) in &made {
        let hint = "UPDATE_SCHEMAS=1 cargo test -p drivescope --features schema --test schemas";
        assert!(kept[name] == *text, "docs/schema/{name} is out of date: {hint}");
    }
}
