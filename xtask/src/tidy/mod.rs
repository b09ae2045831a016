//! `cargo xtask tidy`: the rules of STYLE.md that a program can check. `cargo test --workspace` runs them too.
//!
//! A rule is a function from the [`Tree`] to the places that break it. Its test shows one source that breaks it
//! (so that we know the alarm rings) and one that does not.

mod detector_sections;
mod layers;
mod length;
mod module_imports;
mod source;
mod tokens;
mod unsafe_code;
mod wording;

use std::fmt;

use crate::{Failure, workspace};
use source::Tree;

/// A rule: the name by which STYLE.md cites it, and the check.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Violation>,
}

/// Every rule, in the order of STYLE.md.
const RULES: &[Rule] = &[
    Rule { name: "crate-layers", check: layers::check },
    Rule { name: "module-layers", check: module_imports::check_layers },
    Rule { name: "pure-crates", check: module_imports::check_purity },
    Rule { name: "unsafe-only-in-io", check: unsafe_code::check_keyword },
    Rule { name: "forbid-unsafe", check: unsafe_code::check_forbidden },
    Rule { name: "file-header", check: wording::check_header },
    Rule { name: "file-name", check: wording::check_file_name },
    Rule { name: "file-length", check: length::check_files },
    Rule { name: "function-length", check: length::check_functions },
    Rule { name: "detector-sections", check: detector_sections::check },
    Rule { name: "banned-words", check: wording::check_banned_words },
    Rule { name: "unwrap", check: tokens::check_unwrap },
    Rule { name: "glob-import", check: module_imports::check_globs },
    Rule { name: "allow-reason", check: tokens::check_allow_reason },
    Rule { name: "machine-paths", check: wording::check_machine_paths },
];

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Violation {
    /// A violation at a line of a file.
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Checks the tree and prints what breaks the rules.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::cannot(format!(
            "'cargo xtask tidy' takes no options; it was given '{argument}'."
        )));
    }
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
    let unreadable = tree.broken.iter().map(|violation| format!("{violation} [parses]"));
    let broken_rules = RULES.iter().flat_map(|rule| {
        (rule.check)(tree).into_iter().map(move |violation| format!("{violation} [{}]", rule.name))
    });
    unreadable.chain(broken_rules).collect()
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
