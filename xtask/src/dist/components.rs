//! What the program is made of, by `cargo metadata`: the licences that go with it, and the bill of materials (CycloneDX).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::files::{read, told};
use crate::failure::{Doing, Failure};
use crate::workspace::{cargo, root};

const LICENCE_NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "copyright"];

/// One crate of others that is linked into the program.
pub struct Component {
    name: String,
    version: String,
    licence: String,
    checksum: Option<String>,
    /// Texts of its licences, in the order of their files' names.
    texts: Vec<String>,
}

fn metadata(more: &[&str]) -> Result<Value, Failure> {
    let text = told(cargo(&["metadata", "--format-version=1", "--locked"]).args(more))?;
    serde_json::from_str(&text).doing("read what cargo metadata printed")
}

/// Every crate of others that is linked into the program, by name; those that only build or test it are not in it.
pub fn linked(target: &str) -> Result<Vec<Component>, Failure> {
    let mut tree = cargo(&["tree", "-p", "drivescope", "--locked", "--edges", "normal", "--prefix", "none"]);
    let tree = told(tree.args(["--format", "{p}", "--target", target]))?;
    let names: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let metadata = metadata(&["--filter-platform", target])?;
    let checksums = locked_checksums()?;
    let mut components = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (name, version) = (text(package, "name"), text(package, "version"));
        if names.contains(&(name.as_str(), version.as_str())) && package["source"].is_string() {
            let checksum = checksums.get(&(name.clone(), version.clone())).cloned();
            components.insert((name, version), Component::of(package, checksum));
        }
    }
    Ok(components.into_values().collect())
}

/// Checksums of crates by name and version, from the lock file.
fn locked_checksums() -> Result<BTreeMap<(String, String), String>, Failure> {
    let path = root().join("Cargo.lock");
    let lock = String::from_utf8_lossy(&read(&path)?)
        .parse::<toml::Table>()
        .doing(format_args!("read {}", path.display()))?;
    let mut checksums = BTreeMap::new();
    for package in lock.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
        let part = |key| Some(package.get(key)?.as_str()?.to_owned());
        if let (Some(name), Some(version), Some(checksum)) = (part("name"), part("version"), part("checksum"))
        {
            checksums.insert((name, version), checksum);
        }
    }
    Ok(checksums)
}

/// Of a line of cargo tree: `serde v1.0.2 (*)`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

fn text(package: &Value, key: &str) -> String {
    package[key].as_str().unwrap_or_default().to_owned()
}

impl Component {
    fn of(package: &Value, checksum: Option<String>) -> Component {
        let folder = text(package, "manifest_path");
        let texts = Path::new(&folder).parent().map(licence_texts).unwrap_or_default();
        Component {
            name: text(package, "name"),
            version: text(package, "version"),
            licence: text(package, "license"),
            checksum,
            texts,
        }
    }
}

fn licence_texts(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if LICENCE_NAMES.iter().any(|known| name.contains(known)) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// A text with each licence once, and the crates it stands for above it.
pub fn licences(components: &[Component]) -> String {
    let mut text =
        String::from("drivescope is MIT OR Apache-2.0. These crates are linked into the program.\n\n");
    let mut holders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for component in components {
        let Component { name, version, licence, .. } = component;
        text.push_str(&format!("{name} {version}: {licence}\n"));
        for licence in &component.texts {
            holders.entry(licence.trim()).or_default().push(format!("{name} {version}"));
        }
    }
    for (licence, crates) in holders {
        let line = "-".repeat(78);
        text.push_str(&format!("\n{line}\n{}\n{line}\n\n{licence}\n", crates.join(", ")));
    }
    text
}

pub fn bill_of_materials(release: &str, components: &[Component]) -> String {
    let mut parts = Vec::new();
    for Component { name, version, licence, checksum, .. } in components {
        let url = format!("pkg:cargo/{name}@{version}");
        let mut part = json!({
            "type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
            "licenses": [{ "expression": licence.replace('/', " OR ") }],
        });
        if let Some(checksum) = checksum {
            part["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        parts.push(part);
    }
    let bill = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": {
            "type": "application", "name": "drivescope", "version": release,
            "purl": format!("pkg:cargo/drivescope@{}", release),
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        } },
        "components": parts,
    });
    format!("{bill:#}\n")
}

#[cfg(test)]
mod tests {
    use super::{Component, licences, name_and_version};

    #[test]
    fn a_line_of_the_tree_has_name_and_version() {
        assert_eq!(name_and_version("serde v1.0.2 (*)"), Some(("serde", "1.0.2")));
        assert_eq!(name_and_version(""), None);
    }

    #[test]
    fn a_licence_that_two_crates_share_stands_once() {
        let component = |name: &str| Component {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            checksum: None,
            texts: vec!["Permission is granted.\n".to_owned()],
        };
        let text = licences(&[component("a"), component("b")]);
        assert_eq!(text.matches("Permission is granted.").count(), 1);
        assert!(text.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n") && text.contains("\na 1.0.0, b 1.0.0\n"));
    }
}
