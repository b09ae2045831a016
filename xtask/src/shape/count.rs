//! What is counted in one file.

use std::ops::AddAssign;

use crate::tree::SourceFile;
use crate::tree::tokens::{Kind, Token, begins_with};

/// A doc comment of so many words and fewer says what the name says.
pub const SHORT_DOC_WORDS: usize = 5;
const ASSERTS: [&str; 6] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];
/// Words after which a `|` begins a closure and is no operator.
const WORDS_BEFORE_CLOSURE: [&str; 8] = ["move", "mut", "return", "break", "in", "else", "async", "static"];

/// Lines are without blanks; all but `tests` is counted outside tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub code: usize,
    pub comments: usize,
    pub tests: usize,
    pub closures: usize,
    pub asserts: usize,
    pub unwraps: usize,
    pub short_docs: usize,
    pub string_errors: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.comments += other.comments;
        self.tests += other.tests;
        self.closures += other.closures;
        self.asserts += other.asserts;
        self.unwraps += other.unwraps;
        self.short_docs += other.short_docs;
        self.string_errors += other.string_errors;
    }
}

impl Counts {
    pub fn of(source: &SourceFile) -> Counts {
        let mut counts = Counts { short_docs: short_docs(source).len(), ..Counts::default() };
        counts.count_lines(source);
        let mut index = 0;
        while index < source.tokens.len() {
            let is_test = source.is_test(source.tokens[index].line);
            let next = if is_test { index + 1 } else { counts.count_at(&source.tokens, index) };
            index = next;
        }
        counts
    }

    fn count_lines(&mut self, source: &SourceFile) {
        for (index, line) in source.text.lines().enumerate() {
            let (line, is_test) = (line.trim(), source.is_test(index + 1));
            match (line.is_empty(), line.starts_with("//"), is_test) {
                (true, ..) | (_, true, true) => {}
                (_, true, false) => self.comments += 1,
                (_, false, true) => self.tests += 1,
                (_, false, false) => self.code += 1,
            }
        }
    }

    /// Counts what begins at a token; where to go on.
    fn count_at(&mut self, tokens: &[Token], index: usize) -> usize {
        let rest = &tokens[index..];
        if begins_closure(tokens, index) {
            self.closures += 1;
            return index + 1 + rest[1..].iter().take_while(|token| !token.is("|")).count() + 1;
        }
        match rest {
            [word, bang, ..] if ASSERTS.contains(&word.text.as_str()) && bang.is("!") => self.asserts += 1,
            [dot, word, open, ..]
                if dot.is(".") && (word.is("unwrap") || word.is("expect")) && open.is("(") =>
            {
                self.unwraps += 1;
            }
            [word, ..] if word.is("Result") && ends_in_string(&rest[1..]) => self.string_errors += 1,
            _ => {}
        }
        index + 1
    }
}

/// Whether a `|` here is the first of a closure: what stands before it is no operand.
fn begins_closure(tokens: &[Token], index: usize) -> bool {
    if !tokens[index].is("|") {
        return false;
    }
    let Some(before) = index.checked_sub(1).map(|before| &tokens[before]) else { return false };
    match before.kind {
        Kind::Open => true,
        Kind::Sign => !["?", "|", "'"].contains(&before.text.as_str()),
        Kind::Word => WORDS_BEFORE_CLOSURE.contains(&before.text.as_str()),
        Kind::Close | Kind::Literal => false,
    }
}

fn ends_in_string(tokens: &[Token]) -> bool {
    if !begins_with(tokens, &["<"]) {
        return false;
    }
    let mut depth = 0_i32;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "<" => depth += 1,
            ">" if !tokens[index - 1].is("-") => depth -= 1,
            ";" | "{" => return false,
            _ => {}
        }
        if depth == 0 {
            return tokens[index - 1].is("String") && tokens[index - 2].is(",");
        }
    }
    false
}

/// The first lines of the doc comments of items that have five words or fewer.
pub fn short_docs(source: &SourceFile) -> Vec<usize> {
    let (mut found, mut first_line, mut words) = (Vec::new(), 0, 0);
    for (index, line) in source.text.lines().chain([""]).enumerate() {
        match line.trim_start().strip_prefix("///") {
            Some(text) if !source.is_test(index + 1) => {
                if words == 0 {
                    first_line = index + 1;
                }
                words += text.split_whitespace().count();
            }
            _ => {
                if (1..=SHORT_DOC_WORDS).contains(&words) {
                    found.push(first_line);
                }
                words = 0;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Counts, short_docs};
    use crate::tree::SourceFile;

    fn counts(text: &str) -> Counts {
        Counts::of(&parse(text))
    }

    fn parse(text: &str) -> SourceFile {
        SourceFile::parse("crates/io/src/queue.rs", text).expect("the text is Rust")
    }

    #[test]
    fn lines_are_code_comments_or_tests_and_blanks_are_none() {
        let text = "//! A queue.\n\n/// Why.\nfn x() {\n    // Why.\n    y(); // Why.\n}\n\n#[cfg(test)]\nmod tests {\n    // Why.\n    fn x() {}\n}\n";
        let counts = counts(text);
        assert_eq!((counts.code, counts.comments, counts.tests), (3, 3, 4));
        let tests =
            SourceFile::parse("crates/io/tests/queue.rs", "//! Tests.\nfn x() {}\n").expect("it is Rust");
        assert_eq!((Counts::of(&tests).code, Counts::of(&tests).tests), (0, 1));
    }

    #[test]
    fn closures_are_told_from_operators_and_patterns() {
        assert_eq!(counts("fn x() { a(|b| b); c(d, move |e: Vec<u8>| e | f, || g); }").closures, 3);
        assert_eq!(counts("fn x() { let a = |b| { b.map(|c| c) }; return |d| d; }").closures, 3);
        assert_eq!(counts("fn x() { match y { 1 => |a| a, A | B => f(&|c| c) } }").closures, 2);
        assert_eq!(counts("fn x() { a || b | c; (d) || e()? | f; matches!(g, A | B); }").closures, 0);
        assert_eq!(counts("#[test]\nfn x() { a(|b| b); }").closures, 0);
        assert_eq!(counts("fn x() { assert!(a.iter().any(|b| b)); }").closures, 1);
    }

    #[test]
    fn asserts_and_unwraps_are_counted_outside_tests() {
        let text = "fn x() {\n    assert!(a);\n    debug_assert_eq!(b, c, \"assert!(d)\");\n    e.unwrap().expect(\"f\").unwrap_or(g);\n}\n\
                    #[test]\nfn y() { assert!(a.unwrap()); }\n";
        assert_eq!((counts(text).asserts, counts(text).unwraps), (2, 2));
    }

    #[test]
    fn an_error_that_is_a_string_is_counted() {
        let text = "fn a() -> Result<u8, String> {}\nfn b() -> Result<Vec<(u8, String)>, Error> {}\n\
                    fn c() -> Result<Box<dyn Fn() -> u8>, String>;\nfn d(x: Vec<Result<(), String>>) -> Result<u8> {}\n";
        assert_eq!(counts(text).string_errors, 3);
    }

    #[test]
    fn doc_comments_of_five_words_are_short_and_of_six_are_not() {
        let text = "//! One.\n/// One two three four five.\nfn a() {}\n/// One two three\n/// four five six.\nfn b() {}\n    /// One.\n    c: u8,\n\
                    // One.\n#[cfg(test)]\nmod tests {\n    /// One.\n    fn d() {}\n}\n";
        assert_eq!(short_docs(&parse(text)), [2, 7]);
    }
}
