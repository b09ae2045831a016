//! Rule on crates: who may depend on whom. Cargo would build any acyclic order; this is ours.

use toml::{Table, Value};

use super::Violation;
use super::source::{TextFile, Tree};

/// What each crate may use of ours. `model` may use nothing at all, of others' neither.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("sim", &["model"]),
    ("io", &["model", "sim"]),
    ("analysis", &["model"]),
    ("report", &["model"]),
    ("import", &["model"]),
    ("drivescope", &["model", "sim", "io", "analysis", "report", "import"]),
    ("fuzz", &["model", "sim", "io", "analysis", "report", "import", "drivescope"]),
    ("xtask", &["model", "sim", "io", "analysis", "report", "import", "drivescope"]),
];
/// The crate without any dependency.
const CRATE_OF_WORDS: &str = "model";
/// The crate on which nothing may depend, in tests neither.
const CRATE_OF_CHORES: &str = "xtask";

/// A crate of ours that a manifest names.
struct Dependency {
    name: String,
    is_ours: bool,
    for_tests: bool,
}

/// `crate-layers`: the manifests name only what the table allows, and take the workspace's lints.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let manifests = tree.texts.iter().filter(|file| is_member(&file.path));
    let workspace = tree.texts.iter().find(|file| file.path == "Cargo.toml");
    let shared = workspace.and_then(|file| file.text.parse::<Table>().ok()).unwrap_or_default();
    manifests.flat_map(|manifest| check_manifest(manifest, &shared)).collect()
}

fn is_member(path: &str) -> bool {
    let is_crate = path.strip_prefix("crates/").is_some_and(|inside| inside.matches('/').count() == 1);
    path.ends_with("/Cargo.toml") && (is_crate || ["fuzz/Cargo.toml", "xtask/Cargo.toml"].contains(&path))
}

fn check_manifest(file: &TextFile, shared: &Table) -> Vec<Violation> {
    let report = |line: usize, message: String| Violation::new(&file.path, line, message);
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![report(1, format!("cannot be parsed: {error}"))],
    };
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let Some((name, allowed)) = ALLOWED.iter().find(|(known, _)| Some(*known) == name) else {
        return vec![report(
            1,
            "a crate without a place in the layers; add it to ARCHITECTURE.md and to tidy".to_owned(),
        )];
    };
    let mut found = Vec::new();
    for dependency in dependencies(&manifest, shared) {
        if !is_allowed(&dependency, name, allowed) {
            let message =
                format!("{name} may not depend on {}; see the layers in ARCHITECTURE.md", dependency.name);
            found.push(report(line_naming(&file.text, &dependency.name), message));
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool) != Some(true) {
        found.push(report(1, "does not take the workspace's lints; add [lints] workspace = true".to_owned()));
    }
    found
}

fn is_allowed(dependency: &Dependency, of: &str, allowed: &[&str]) -> bool {
    if dependency.name == CRATE_OF_CHORES {
        return false;
    }
    dependency.for_tests
        || allowed.contains(&dependency.name.as_str())
        || (!dependency.is_ours && of != CRATE_OF_WORDS)
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
    let in_workspace =
        shared.get("workspace").and_then(|table| table.get("dependencies")).and_then(|table| table.get(key));
    let is_shared = entry.get("workspace").and_then(Value::as_bool) == Some(true);
    let renamed = entry
        .get("package")
        .or_else(|| in_workspace.filter(|_| is_shared).and_then(|entry| entry.get("package")));
    renamed.and_then(Value::as_str).unwrap_or(key).to_owned()
}

fn line_naming(text: &str, name: &str) -> usize {
    text.lines()
        .position(|line| line.starts_with(name) || line.contains(&format!("\"{name}\"")))
        .map_or(1, |at| at + 1)
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
        assert_eq!(lines("model", "[dependencies]\nserde = \"1\"\n"), [6]);
        assert_eq!(lines("model", "[dev-dependencies]\nproptest = \"1\"\n"), NOTHING);
        assert_eq!(lines("drivescope", "[dev-dependencies]\nxtask = { path = \"../../xtask\" }\n"), [6]);
    }

    #[test]
    fn a_crate_without_a_place_or_without_the_lints_is_found() {
        assert_eq!(lines("common", ""), [1]);
        assert_eq!(lines_found(check, &[("crates/sim/Cargo.toml", "[package]\nname = \"sim\"\n")]), [1]);
    }
}
