//! Rule on crates: who may depend on whom. Cargo would build any acyclic order; this is ours.

use toml::{Table, Value};

use crate::shape::package_name;
use crate::tree::{TextFile, Tree, Violation};

/// What each crate may use of ours. `model` takes nothing of others but its serialisation.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("sim", &["model"]),
    ("io", &["model", "sim"]),
    ("analysis", &["model"]),
    ("experiment", &["model", "analysis"]),
    ("report", &["model"]),
    ("import", &["model"]),
    ("store", &["model"]),
    ("drivescope", &["model", "sim", "io", "analysis", "experiment", "report", "import", "store"]),
    ("fuzz", &["model", "sim", "io", "analysis", "report", "experiment", "import", "store", "drivescope"]),
    ("judge", &["model", "sim", "io", "analysis", "experiment", "report", "store", "import", "drivescope"]),
    ("xtask", &[]),
];
const CRATE_OF_WORDS: &str = "model";
const SERIALISATION: [&str; 3] = ["schemars", "serde", "serde_json"];
/// The crates on which nothing may depend, in tests neither.
const CRATES_UNSEEN: [&str; 2] = ["judge", "xtask"];

struct Dependency {
    name: String,
    is_ours: bool,
    for_tests: bool,
}

/// `crate-layers`: the manifests name only what the table allows, and take the workspace's lints.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let (mut found, mut shared) = (Vec::new(), Table::new());
    for file in &tree.texts {
        if file.path == "Cargo.toml" {
            shared = file.text.parse().unwrap_or_default();
        }
    }
    for file in &tree.texts {
        if is_member(&file.path) {
            found.extend(check_manifest(file, &shared));
        }
    }
    found
}

fn is_member(path: &str) -> bool {
    match path.split('/').collect::<Vec<_>>()[..] {
        ["crates", _, file] | ["fuzz" | "xtask", file] => file == "Cargo.toml",
        _ => false,
    }
}

fn check_manifest(file: &TextFile, shared: &Table) -> Vec<Violation> {
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Violation::new(&file.path, 1, format!("cannot be parsed: {error}"))],
    };
    let name = package_name(&manifest);
    let Some((name, allowed)) = ALLOWED.iter().find(|(known, _)| Some(*known) == name) else {
        let message = "a crate without a place in the layers; add it to ARCHITECTURE.md and to tidy";
        return vec![Violation::new(&file.path, 1, message)];
    };
    let mut found = Vec::new();
    for dependency in dependencies(&manifest, shared) {
        if !is_allowed(&dependency, name, allowed) {
            let message =
                format!("{name} may not depend on {}; see the layers in ARCHITECTURE.md", dependency.name);
            found.push(Violation::new(&file.path, line_naming(&file.text, &dependency.name), message));
        }
    }
    if !matches!(manifest.get("lints"), Some(lints) if is_true(lints, "workspace")) {
        let message = "does not take the workspace's lints; add [lints] workspace = true";
        found.push(Violation::new(&file.path, 1, message));
    }
    found
}

fn is_true(table: &Value, key: &str) -> bool {
    table.get(key) == Some(&Value::Boolean(true))
}

fn is_allowed(dependency: &Dependency, of: &str, allowed: &[&str]) -> bool {
    if CRATES_UNSEEN.contains(&dependency.name.as_str()) {
        return false;
    }
    dependency.for_tests
        || allowed.contains(&dependency.name.as_str())
        || (!dependency.is_ours
            && (of != CRATE_OF_WORDS || SERIALISATION.contains(&dependency.name.as_str())))
}

/// All dependencies of a manifest, those of single platforms included, under their true names.
fn dependencies(manifest: &Table, shared: &Table) -> Vec<Dependency> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = platforms.filter_map(Value::as_table).chain([manifest]);
    let mut found = Vec::new();
    for table in tables {
        for (section, for_tests) in
            [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)]
        {
            for (key, entry) in table.get(section).and_then(Value::as_table).into_iter().flatten() {
                let name = true_name(key, entry, shared);
                let is_ours = ALLOWED.iter().any(|(ours, _)| *ours == name);
                found.push(Dependency { name, is_ours, for_tests });
            }
        }
    }
    found
}

/// The package behind a key, which `package = "…"` may rename here or in the workspace's table.
fn true_name(key: &str, entry: &Value, shared: &Table) -> String {
    let mut renamed = entry.get("package");
    if renamed.is_none() && is_true(entry, "workspace") {
        renamed = shared_package(key, shared);
    }
    renamed.and_then(Value::as_str).unwrap_or(key).to_owned()
}

fn shared_package<'table>(key: &str, shared: &'table Table) -> Option<&'table Value> {
    shared.get("workspace")?.get("dependencies")?.get(key)?.get("package")
}

fn line_naming(text: &str, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    for (index, line) in text.lines().enumerate() {
        if line.starts_with(name) || line.contains(&quoted) {
            return index + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::{NOTHING, lines_found};

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{rest}")
    }

    /// The lines found in the manifest of crate `name`, whose dependencies begin at line 6.
    fn lines(name: &str, rest: &str) -> Vec<usize> {
        let root = "[workspace.dependencies]\ndrive = { path = \"crates/sim\", package = \"sim\" }\n";
        lines_found(
            check,
            &[("Cargo.toml", root), (&format!("crates/{name}/Cargo.toml"), &manifest(name, rest))],
        )
    }

    #[test]
    fn an_arrow_against_the_layers_is_found() {
        assert_eq!(lines("analysis", "[dependencies]\nsim.workspace = true\n"), [6]);
        assert_eq!(lines("io", "[dependencies]\nanalysis = { path = \"../analysis\" }\n"), [6]);
        assert_eq!(lines("report", "[target.'cfg(unix)'.dependencies]\nio.workspace = true\n"), [6]);
        assert_eq!(lines("sim", "[build-dependencies]\nreport.workspace = true\n"), [6]);
    }

    #[test]
    fn a_renamed_crate_does_not_get_through() {
        assert_eq!(
            lines("analysis", "[dependencies]\ntruth = { path = \"../sim\", package = \"sim\" }\n"),
            [6]
        );
        assert_eq!(lines("analysis", "[dependencies]\ndrive.workspace = true\n").len(), 1);
    }

    #[test]
    fn arrows_along_the_layers_pass() {
        assert_eq!(
            lines("io", "[dependencies]\nmodel.workspace = true\nsim.workspace = true\nlibc = \"0.2\"\n"),
            NOTHING
        );
        assert_eq!(
            lines(
                "analysis",
                "[dependencies]\nmodel.workspace = true\n[dev-dependencies]\nsim.workspace = true\n"
            ),
            NOTHING
        );
        assert_eq!(
            lines("drivescope", "[dependencies]\nio.workspace = true\nreport.workspace = true\n"),
            NOTHING
        );
    }

    #[test]
    fn the_words_depend_on_nothing_and_nothing_on_the_chores() {
        assert_eq!(lines("model", "[dependencies]\nlibc = \"1\"\n"), [6]);
        assert_eq!(lines("model", "[dev-dependencies]\nproptest = \"1\"\n"), NOTHING);
        assert_eq!(lines("drivescope", "[dev-dependencies]\nxtask = { path = \"../../xtask\" }\n"), [6]);
        assert_eq!(lines("analysis", "[dev-dependencies]\njudge = { path = \"../judge\" }\n"), [6]);
    }

    #[test]
    fn a_crate_without_a_place_or_without_the_lints_is_found() {
        assert_eq!(lines("common", ""), [1]);
        assert_eq!(lines_found(check, &[("crates/sim/Cargo.toml", "[package]\nname = \"sim\"\n")]), [1]);
    }
}
