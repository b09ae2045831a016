//! Rule on language: what people read uses the standard terms of storage, in sentences of at most 25 words.

use super::length::excused;
use crate::tree::tokens::{Kind, Token};
use crate::tree::{RATCHET_FILE, SourceFile, TextFile, Tree, Violation};

const SENTENCE_WORDS_MAX: usize = 25;
/// Crates whose texts only developers read, and the name of the folder of the fuzz targets.
const CRATES_NOT_READ: [&str; 3] = ["judge", "xtask", "fuzz"];
const BANNED: [(&str, &str); 20] = [
    ("at a time", "QD, queue depth"),
    ("at random places", "at random offsets, random"),
    ("at places in order", "sequential"),
    ("is no command", "unknown command"),
    ("by itself", "name the mechanism, such as prefetch"),
    ("of its own work", "garbage collection, housekeeping"),
    ("gives back", "recovers, restores"),
    ("turns of the platter", "revolutions"),
    ("half a turn", "rotational latency"),
    ("lasting rate", "sustained throughput"),
    ("behind the fall", "after the write cliff"),
    ("after the fall", "after the write cliff"),
    ("falls for good", "write cliff"),
    ("nobody gave", "there is no permission"),
    ("was not looked for", "not measured"),
    ("nothing tells", "inconclusive"),
    ("kinds of answers", "modes of the latency distribution"),
    ("small fast area", "write cache, media cache, SLC cache"),
    ("may have answered", "may have served requests"),
    ("cannot be told", "is unknown, cannot read"),
];

/// `plain-language`: no paraphrase and no long sentence, but for as many in a file as the list of excuses has.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        found.extend(beyond_excuse(tree, &source.path, in_source(source)));
    }
    for file in &tree.texts {
        if !(is_document(&file.path)) {
            continue;
        }
        found.extend(beyond_excuse(tree, &file.path, in_document(file)));
    }
    for excuse in excused(&tree.ratchet, "plain-language") {
        let above = excuse.line.checked_sub(2).and_then(|index| tree.ratchet.lines().nth(index));
        if !matches!(above, Some(line) if line.starts_with("# ")) {
            found.push(Violation::new(RATCHET_FILE, excuse.line, "needs its reason as a comment above"));
        }
    }
    found
}

/// Nothing when the list excuses exactly as many; all of them when there are more, a word when there are fewer.
fn beyond_excuse(tree: &Tree, path: &str, found: Vec<Violation>) -> Vec<Violation> {
    let key = format!("{path} plain-language");
    let excuses = excused(&tree.ratchet, "plain-language");
    let Some(excuse) = excuses.iter().find(|excuse| excuse.key == key) else { return found };
    let allowed = excuse.lines.unwrap_or(0);
    if found.len() < allowed {
        let message = format!("'{key}' has shrunk; write {} here, or remove the line", found.len());
        return vec![Violation::new(RATCHET_FILE, excuse.line, message)];
    }
    if found.len() == allowed { Vec::new() } else { found }
}

fn is_document(path: &str) -> bool {
    path == "README.md"
        || (path.starts_with("docs/") && path.ends_with(".md") && !path.starts_with("docs/generated/"))
}

/// What is wrong with the literals of a file outside tests, and with its comments where they are the help of options.
fn in_source(source: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    if CRATES_NOT_READ.contains(&source.crate_name())
        || source.path.contains("tests")
        || source.path.contains("/examples/")
    {
        return found;
    }
    for (index, token) in source.tokens.iter().enumerate() {
        if token.kind == Kind::Literal
            && !source.is_test(token.line)
            && !is_for_developers(&source.tokens, index)
        {
            add_flaws(&source.path, token.line, &token.text, &mut found);
        }
    }
    if source.text.contains("#[arg(") {
        let help = source.text.lines().enumerate().filter(|(index, _)| !source.is_test(index + 1));
        for (index, words) in
            help.filter_map(|(index, line)| Some((index, line.trim().strip_prefix("/// ")?)))
        {
            add_flaws(&source.path, index + 1, words, &mut found);
        }
    }
    found
}

/// Whether the literal is what a broken invariant says, or the reason of an attribute.
fn is_for_developers(tokens: &[Token], index: usize) -> bool {
    let before = |steps: usize| index.checked_sub(steps).map_or("", |at| tokens[at].text.as_str());
    ["expect", "expect_err"].contains(&before(2)) || ["reason", "doc"].contains(&before(2))
}

/// Paragraphs of a document, without code, tables and headings.
fn in_document(file: &TextFile) -> Vec<Violation> {
    let (mut found, mut paragraph, mut first, mut in_code) = (Vec::new(), String::new(), 1, false);
    for (index, line) in file.text.lines().chain([""]).enumerate() {
        let line = line.trim();
        in_code ^= line.starts_with("```");
        let ends = line.is_empty() || in_code || line.starts_with(['#', '|', '`', '-', '*']);
        if ends {
            add_flaws(&file.path, first, &paragraph, &mut found);
            paragraph.clear();
        }
        if !line.is_empty() && !in_code && !line.starts_with(['#', '|']) && !line.starts_with("```") {
            first = if paragraph.is_empty() { index + 1 } else { first };
            paragraph = format!("{paragraph} {line}");
        }
    }
    found
}

fn add_flaws(path: &str, line: usize, text: &str, found: &mut Vec<Violation>) {
    let text = text.replace("\\n", ". ").replace("\\\n", " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower = words.join(" ").to_lowercase();
    for (phrase, term) in BANNED.iter().filter(|(phrase, _)| lower.contains(phrase)) {
        found.push(Violation::new(path, line, format!("'{phrase}'; the standard term is: {term}")));
    }
    let ends = |word: &&str| word.trim_end_matches(['"', ')']).ends_with(['.', '?', '!', ':', ';']);
    for sentence in words.split_inclusive(ends) {
        let words = sentence.iter().filter(|word| word.contains(char::is_alphabetic)).count();
        if words > SENTENCE_WORDS_MAX && !lower.contains("select ") && !lower.contains("create table") {
            found.push(Violation::new(path, line, format!("a sentence of {words} words; divide it")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::{NOTHING, lines_found};
    use crate::tree::RATCHET_FILE;

    const PATH: &str = "crates/report/src/page.rs";

    #[test]
    fn a_paraphrase_is_found_in_literals_help_and_documents() {
        let literal = "fn x() {\n    print(\"100 reads at a \\\n     time\");\n}\n";
        assert_eq!(lines_found(check, &[(PATH, literal)]), [2]);
        let help = "struct A {\n    /// One read at a time\n    #[arg(long)]\n    a: u8,\n}\n";
        assert_eq!(lines_found(check, &[(PATH, help)]), [2]);
        assert_eq!(lines_found(check, &[("docs/x.md", "# One\n\nIt reads on\nby itself.\n")]), [3]);
    }

    #[test]
    fn a_sentence_of_26_words_is_found_and_one_of_25_is_not() {
        let text = |words: usize| format!("const A: &str = \"{}.\";\n", vec!["word"; words].join(" "));
        assert_eq!(lines_found(check, &[(PATH, &text(26))]), [1]);
        assert_eq!(lines_found(check, &[(PATH, &text(25))]), NOTHING);
    }

    #[test]
    fn tests_invariants_code_and_other_crates_pass() {
        let text = "fn x() {\n    y.expect(\"one at a time\");\n}\n#[cfg(test)]\nmod tests {\n    const A: &str = \"by itself\";\n}\n";
        let document = ("docs/x.md", "```\none at a time\n```\n");
        let judge = ("crates/judge/src/x.rs", "const A: &str = \"one at a time\";\n");
        assert_eq!(lines_found(check, &[(PATH, text), document, judge]), NOTHING);
    }

    #[test]
    fn an_excuse_needs_a_reason_and_the_right_number() {
        let text = (PATH, "const A: &str = \"one at a time\";\n");
        let list = |line: &str| lines_found(check, &[text, (RATCHET_FILE, line)]);
        assert_eq!(list("# Quoted.\ncrates/report/src/page.rs plain-language 1\n"), NOTHING);
        assert_eq!(list("crates/report/src/page.rs plain-language 1\n"), [1]);
        assert_eq!(list("# Quoted.\ncrates/report/src/page.rs plain-language 2\n"), [2]);
    }
}
