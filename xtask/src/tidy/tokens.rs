//! Rules over tokens: they see into macros, and are not fooled by strings and comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Violation;
use super::source::{SourceFile, Tree};

/// Calls `visit` with each place of the stream, groups included, and the tokens from that place to the group's end.
pub fn each_place(tokens: &TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for index in 0..tokens.len() {
        visit(&tokens[index..]);
        if let TokenTree::Group(group) = &tokens[index] {
            each_place(&group.stream(), visit);
        }
    }
}

/// The line of a token, from 1.
pub fn line_of(token: &TokenTree) -> usize {
    token.span().start().line
}

/// Whether the token is this word.
pub fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == word)
}

/// Whether the token is this sign.
pub fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// `unwrap`: an invariant is stated with `expect`, everything else is handled.
pub fn check_unwrap(tree: &Tree) -> Vec<Violation> {
    tree.sources.iter().flat_map(unwraps).collect()
}

fn unwraps(source: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    each_place(&source.tokens, &mut |tokens| {
        let [before, word, ..] = tokens else { return };
        let is_use = (is_sign(before, '.') || is_sign(before, ':')) && is_word(word, "unwrap");
        if is_use && !source.is_test(line_of(word)) {
            let advice = "unwrap outside tests; handle it, or state the invariant with expect(\"…\")";
            found.push(Violation::new(&source.path, line_of(word), advice));
        }
    });
    found
}

/// `allow-reason`: a lint that is switched off says why.
pub fn check_allow_reason(tree: &Tree) -> Vec<Violation> {
    tree.sources.iter().flat_map(allows_without_reason).collect()
}

fn allows_without_reason(source: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    each_place(&source.tokens, &mut |tokens| {
        let attribute = match tokens {
            [hash, TokenTree::Group(group), ..] if is_sign(hash, '#') => group,
            [hash, bang, TokenTree::Group(group), ..] if is_sign(hash, '#') && is_sign(bang, '!') => group,
            _ => return,
        };
        if attribute.delimiter() != Delimiter::Bracket {
            return;
        }
        each_place(&attribute.stream(), &mut |tokens| {
            let [word, TokenTree::Group(lints), ..] = tokens else { return };
            let has_reason = lints.stream().into_iter().any(|token| is_word(&token, "reason"));
            if (is_word(word, "allow") || is_word(word, "expect")) && !has_reason {
                let advice = "a lint is switched off without a reason; add reason = \"…\"";
                found.push(Violation::new(&source.path, line_of(word), advice));
            }
        });
    });
    found
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
