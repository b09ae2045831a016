//! `cargo xtask shape`: what the tree consists of, beside the goals it is held to.
//! ```text
//! tree ──► counts of each file (count.rs) ──► by crate ──► page
//!   └────► import circles (circles.rs) ─────────────────────┘
//! ```

pub mod circles;
pub mod count;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use toml::{Table, Value};

use crate::failure::Failure;
use crate::tree::Tree;
use crate::workspace::root;
use circles::{Circle, circles};
use count::Counts;

const PAGE: &str = "docs/generated/shape.md";
/// Where a wrong state corrupts a measurement or what is kept of it.
const ASSERTING_CRATES: [&str; 3] = ["io", "sim", "store"];

/// Prints the page; with `--write` keeps it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let is_kept = match arguments {
        [] => false,
        [option] if option == "--write" => true,
        _ => return Err(Failure::cannot("Usage: cargo xtask shape [--write]")),
    };
    let tree = Tree::read(&root());
    let page = page(&tree);
    println!("{page}");
    for circle in circles(&tree) {
        println!("circle in {}: {}", circle.crate_name, circle.files.join(" "));
    }
    if is_kept && let Err(error) = fs::write(root().join(PAGE), page) {
        return Err(Failure::cannot(format!("Cannot write {PAGE}: {error}.")));
    }
    Ok(())
}

fn page(tree: &Tree) -> String {
    let by_crate = counts_by_crate(tree);
    let mut text = String::from(
        "# Shape\n\nWritten by `cargo xtask shape --write`. Lines are without blanks; everything but *tests* is outside tests \
         (`#[cfg(test)]`, `tests/`, `benches/`).\n\n| measure | now | goal | before the rebuild |\n|---|---:|---:|---:|\n",
    );
    for (name, now, goal, before) in measures(tree, &by_crate) {
        let _ = writeln!(text, "| {name} | {now} | {goal} | {before} |");
    }
    text.push_str(
        "\n| crate | code | comments | tests | tests per line of code | closures per 1,000 | asserts per 1,000 | unwrap, expect per 1,000 | \
         short docs | `Result<_, String>` | circles |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, counts) in &by_crate {
        let own_circles = circles(tree).iter().filter(|circle| circle.crate_name == *name).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {own_circles} |",
            counts.code,
            counts.comments,
            counts.tests,
            per_line(counts.tests, counts.code),
            per_thousand(counts.closures, counts.code),
            per_thousand(counts.asserts, counts.code),
            per_thousand(counts.unwraps, counts.code),
            counts.short_docs,
            counts.string_errors,
        );
    }
    text
}

fn counts_by_crate(tree: &Tree) -> BTreeMap<String, Counts> {
    let mut by_crate: BTreeMap<String, Counts> = BTreeMap::new();
    for source in &tree.sources {
        *by_crate.entry(source.crate_name().to_owned()).or_default() += Counts::of(source);
    }
    by_crate
}

/// Name, number, goal, and what it was before the rebuild in November 2026.
fn measures(
    tree: &Tree,
    by_crate: &BTreeMap<String, Counts>,
) -> Vec<(&'static str, String, &'static str, &'static str)> {
    let (mut all, mut asserting) = (Counts::default(), Counts::default());
    for (name, counts) in by_crate {
        all += *counts;
        if ASSERTING_CRATES.contains(&name.as_str()) {
            asserting += *counts;
        }
    }
    let asserts = per_thousand(asserting.asserts, asserting.code);
    let circles = circles(tree);
    let largest = circles.iter().map(Circle::size).max().unwrap_or(0);
    vec![
        ("lines of code", all.code.to_string(), "≤ 74000", "84800"),
        ("lines of comments", all.comments.to_string(), "≤ 10500", "15200"),
        ("lines of tests per line of code", per_line(all.tests, all.code), "≥ 0.5", ""),
        ("closures per 1,000 lines", per_thousand(all.closures, all.code), "< 25", "68"),
        ("asserts per 1,000 lines of io, sim and store", asserts, "≥ 5", ""),
        ("unwrap and expect per 1,000 lines", per_thousand(all.unwraps, all.code), "≤ 1", ""),
        ("doc comments of five words or fewer", all.short_docs.to_string(), "0", "2116"),
        ("`Result<_, String>`", all.string_errors.to_string(), "0", "183"),
        ("import circles", format!("{} (largest: {largest} files)", circles.len()), "0", "17 (51)"),
        ("libraries named in manifests", libraries(tree).len().to_string(), "", ""),
        ("packages in Cargo.lock", packages_locked().to_string(), "", ""),
    ]
}

fn per_line(count: usize, lines: usize) -> String {
    format!("{:.2}", count as f64 / lines.max(1) as f64)
}

fn per_thousand(count: usize, lines: usize) -> String {
    format!("{:.1}", 1000.0 * count as f64 / lines.max(1) as f64)
}

/// Crates of others that a manifest of ours names, tests apart.
fn libraries(tree: &Tree) -> BTreeSet<String> {
    let mut manifests: Vec<Table> = Vec::new();
    for file in &tree.texts {
        if file.path.ends_with("/Cargo.toml") {
            manifests.extend(file.text.parse());
        }
    }
    let ours: BTreeSet<&str> = manifests.iter().filter_map(package_name).collect();
    let mut named = BTreeSet::new();
    for manifest in &manifests {
        for (name, _) in manifest.get("dependencies").and_then(Value::as_table).into_iter().flatten() {
            if !ours.contains(name.as_str()) {
                named.insert(name.clone());
            }
        }
    }
    named
}

pub fn package_name(manifest: &Table) -> Option<&str> {
    manifest.get("package")?.get("name")?.as_str()
}

fn packages_locked() -> usize {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap_or_default();
    lock.matches("[[package]]").count()
}

#[cfg(test)]
mod tests {
    use super::{counts_by_crate, libraries, page};
    use crate::tree::Tree;

    #[test]
    fn files_are_summed_by_crate_and_shown_beside_their_goals() {
        let tree = Tree::of(&[
            ("crates/io/src/lib.rs", "fn a() {}\nfn b() { assert!(c); }\n"),
            ("crates/io/tests/a.rs", "fn a() {}\n"),
            ("crates/report/src/lib.rs", "/// Why.\nfn a() -> Result<u8, String> {}\n"),
        ]);
        let by_crate = counts_by_crate(&tree);
        assert_eq!((by_crate["io"].code, by_crate["io"].tests, by_crate["report"].comments), (2, 1, 1));
        let page = page(&tree);
        assert!(page.contains("| lines of code | 3 | ≤ 74000 | 84800 |"), "{page}");
        assert!(page.contains("| asserts per 1,000 lines of io, sim and store | 500.0 | ≥ 5 |"), "{page}");
        assert!(page.contains("| report | 1 | 1 | 0 | 0.00 | 0.0 | 0.0 | 0.0 | 1 | 1 | 0 |"), "{page}");
    }

    #[test]
    fn libraries_are_what_is_not_ours_and_not_for_tests() {
        let tree = Tree::of(&[
            (
                "crates/io/Cargo.toml",
                "[package]\nname = \"io\"\n[dependencies]\nsim.workspace = true\nlibc = \"1\"\n",
            ),
            (
                "crates/sim/Cargo.toml",
                "[package]\nname = \"sim\"\n[dependencies]\nlibc = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n",
            ),
        ]);
        assert_eq!(libraries(&tree).into_iter().collect::<Vec<_>>(), ["libc"]);
    }
}
