//! `cargo xtask tidy`: the rules of STYLE.md that a program can check. `cargo test --workspace` runs them too.
//!
//! A rule is a function from the [`Tree`] to the places that break it; its test shows both kinds.

mod circles;
mod detector_sections;
mod language;
mod layers;
mod length;
mod lints;
mod module_imports;
mod unsafe_code;
mod wording;

use crate::failure::Failure;
use crate::tree::{Tree, Violation};
use crate::workspace;

/// A rule: the name by which STYLE.md cites it, and the check.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Violation>,
}

const RULES: &[Rule] = &[
    Rule { name: "crate-layers", check: layers::check },
    Rule { name: "module-layers", check: module_imports::check_layers },
    Rule { name: "import-circles", check: circles::check },
    Rule { name: "pure-crates", check: module_imports::check_purity },
    Rule { name: "unsafe-only-in-io", check: unsafe_code::check_keyword },
    Rule { name: "forbid-unsafe", check: unsafe_code::check_forbidden },
    Rule { name: "file-header", check: wording::check_header },
    Rule { name: "file-name", check: wording::check_file_name },
    Rule { name: "file-length", check: length::check_files },
    Rule { name: "function-length", check: length::check_functions },
    Rule { name: "detector-sections", check: detector_sections::check },
    Rule { name: "short-docs", check: wording::check_short_docs },
    Rule { name: "banned-words", check: wording::check_banned_words },
    Rule { name: "plain-language", check: language::check },
    Rule { name: "unwrap", check: lints::check_unwrap },
    Rule { name: "glob-import", check: module_imports::check_globs },
    Rule { name: "allow-reason", check: lints::check_allow_reason },
    Rule { name: "machine-paths", check: wording::check_machine_paths },
];

/// Checks the tree and prints what breaks the rules.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    Failure::check_no_options("tidy", arguments)?;
    let tree = Tree::read(&workspace::root());
    let lines = violations(&tree);
    for line in &lines {
        println!("{line}");
    }
    println!("{} rules, {} Rust files, {} violations", RULES.len(), tree.sources.len(), lines.len());
    if lines.is_empty() { Ok(()) } else { Err(Failure::checks_failed()) }
}

/// One line per violation, the rule's name at its end.
fn violations(tree: &Tree) -> Vec<String> {
    let mut lines = Vec::new();
    for violation in &tree.broken {
        lines.push(format!("{violation} [parses]"));
    }
    for rule in RULES {
        for violation in (rule.check)(tree) {
            lines.push(format!("{violation} [{}]", rule.name));
        }
    }
    lines
}

/// No line at all, for [`lines_found`].
#[cfg(test)]
const NOTHING: [usize; 0] = [];

/// The lines at which a rule finds these files (path, text) wanting.
#[cfg(test)]
fn lines_found(check: fn(&Tree) -> Vec<Violation>, files: &[(&str, &str)]) -> Vec<usize> {
    let tree = Tree::of(files);
    assert_eq!(tree.broken, [], "the test's own source must parse");
    check(&tree).into_iter().map(|violation| violation.line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{RULES, Tree, violations};
    use crate::workspace;

    #[test]
    fn the_tree_is_tidy() {
        let found = violations(&Tree::read(&workspace::root()));
        assert!(found.is_empty(), "STYLE.md is broken at {} places:\n{}", found.len(), found.join("\n"));
    }

    #[test]
    fn style_and_rules_name_each_other() {
        let tree = Tree::read(&workspace::root());
        let style = tree.texts.iter().find(|file| file.path == "STYLE.md").expect("STYLE.md is at the root");
        let cited: BTreeSet<&str> =
            style.text.split("`tidy ").skip(1).filter_map(|rest| rest.split('`').next()).collect();
        let there: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(cited, there, "left: cited by STYLE.md, right: rules of tidy");
        assert_eq!(there.len(), RULES.len(), "two rules have the same name");
    }

    #[test]
    fn a_tree_that_breaks_a_rule_is_reported_with_path_line_and_rule() {
        let tree = Tree::of(&[("crates/sim/src/queue.rs", "fn x() {}\n")]);
        assert_eq!(
            violations(&tree),
            [
                "crates/sim/src/queue.rs:1: does not begin with '//!' saying what the file is for [file-header]"
            ]
        );
    }
}
