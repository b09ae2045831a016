//! Rules on what silences the compiler: `unwrap`, and lints that are switched off.

use crate::tree::tokens::{Token, begins_with};
use crate::tree::{SourceFile, Tree, Violation};

const UNWRAP: &str = "unwrap outside tests; handle it, or state the invariant with expect(\"…\")";
const ALLOW: &str = "a lint is switched off without a reason; add reason = \"…\"";

/// `unwrap`: an invariant is stated with `expect`, everything else is handled.
pub fn check_unwrap(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for pair in source.tokens.windows(2) {
            let is_use = (pair[0].is(".") || pair[0].is(":")) && pair[1].is("unwrap");
            if is_use && !source.is_test(pair[1].line) {
                found.push(Violation::new(&source.path, pair[1].line, UNWRAP));
            }
        }
    }
    found
}

/// `allow-reason`: a lint that is switched off says why.
pub fn check_allow_reason(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for index in 0..source.tokens.len() {
            let rest = &source.tokens[index..];
            let open = if begins_with(rest, &["#", "["]) { index + 1 } else { index + 2 };
            if begins_with(rest, &["#", "["]) || begins_with(rest, &["#", "!", "["]) {
                add_allows_without_reason(source, open, &mut found);
            }
        }
    }
    found
}

fn add_allows_without_reason(source: &SourceFile, open: usize, found: &mut Vec<Violation>) {
    for index in open..source.tokens[open].partner {
        let [word, group, ..] = &source.tokens[index..] else { return };
        if (word.is("allow") || word.is("expect")) && group.is("(") {
            let lints: &[Token] = &source.tokens[index + 2..group.partner];
            if !lints.iter().any(|token| token.is("reason")) {
                found.push(Violation::new(&source.path, word.line, ALLOW));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_allow_reason, check_unwrap};
    use crate::tidy::{NOTHING, lines_found};

    const PATH: &str = "crates/report/src/csv.rs";

    #[test]
    fn unwrap_is_found_in_methods_paths_and_macros() {
        let text = "fn x() {\n    a.unwrap();\n    b.map(Option::unwrap);\n    assert!(c.unwrap());\n}\n";
        assert_eq!(lines_found(check_unwrap, &[(PATH, text)]), [2, 3, 4]);
    }

    #[test]
    fn unwrap_may_stand_in_tests_strings_and_comments() {
        let text = "/// `a.unwrap()` panics\nfn x() {\n    say(\"a.unwrap()\");\n    a.unwrap_or(1);\n}\n\
                    #[test]\nfn y() {\n    a.unwrap();\n}\n";
        assert_eq!(lines_found(check_unwrap, &[(PATH, text)]), NOTHING);
        assert_eq!(
            lines_found(check_unwrap, &[("crates/report/tests/csv.rs", "fn x() {\n    a.unwrap();\n}\n")]),
            NOTHING
        );
    }

    #[test]
    fn an_allow_without_a_reason_is_found_wherever_it_hides() {
        let text = "#![allow(dead_code)]\n#[expect(unused)]\nfn x() {}\n#[cfg_attr(test, allow(unused))]\nfn y() {}\n";
        assert_eq!(lines_found(check_allow_reason, &[(PATH, text)]), [1, 2, 4]);
    }

    #[test]
    fn an_allow_with_a_reason_may_stand() {
        let text = "#[allow(dead_code, reason = \"the kernel writes it\")]\nfn x() {\n    y.expect(\"z\");\n    allow(1);\n}\n";
        assert_eq!(lines_found(check_allow_reason, &[(PATH, text)]), NOTHING);
    }
}
