//! Rules on words: how a file begins, what it is called, what must not stand in it.

use super::length::allowed_in_tree;
use crate::shape::count::{SHORT_DOC_WORDS, short_docs};
use crate::tree::{SourceFile, TextFile, Tree, Violation};

/// Notes to oneself. Put together here, so that this file does not break its own rule.
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
/// Macros that are for the time of writing.
const UNFINISHED_MACROS: [&str; 3] = ["dbg", "todo", "unimplemented"];
/// Names that say nothing about what is in the file.
const EMPTY_NAMES: [&str; 6] = ["common", "helper", "helpers", "misc", "util", "utils"];
/// Files that run: a home folder in them is no example.
const CODE_ENDINGS: [&str; 3] = [".rs", ".toml", ".ci/run"];
/// Folders of one developer's machine. The first is nobody's home, and so no example anywhere.
const MACHINE_FOLDERS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/ro", "ot/")];

/// `file-header`: every file begins by saying what it is for.
pub fn check_header(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let first = source.text.lines().next().unwrap_or_default();
        if !first.starts_with("//!") || first.trim_end() == "//!" {
            let message = "does not begin with '//!' saying what the file is for";
            found.push(Violation::new(&source.path, 1, message));
        }
    }
    found
}

/// `file-name`: files and folders are called by what they hold.
pub fn check_file_name(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let stem = source.path.trim_end_matches(".rs");
        if stem.split('/').any(|part| EMPTY_NAMES.contains(&part)) {
            let message = "a name that says nothing; name the file by what it holds";
            found.push(Violation::new(&source.path, 1, message));
        }
    }
    found
}

/// `banned-words`: no notes to oneself and no unfinished macros.
pub fn check_banned_words(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        add_notes(source, &mut found);
        add_unfinished_macros(source, &mut found);
    }
    found
}

fn add_notes(source: &SourceFile, found: &mut Vec<Violation>) {
    for (index, line) in source.text.lines().enumerate() {
        for word in line.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            if NOTES.contains(&word) {
                let message = format!("{word}; do it now, or open an issue");
                found.push(Violation::new(&source.path, index + 1, message));
            }
        }
    }
}

fn add_unfinished_macros(source: &SourceFile, found: &mut Vec<Violation>) {
    for call in source.tokens.windows(3) {
        let name = call[0].text.as_str();
        if call[1].is("!") && call[2].partner > 0 && UNFINISHED_MACROS.contains(&name) {
            let message = format!("{name}! is for the time of writing; finish it");
            found.push(Violation::new(&source.path, call[0].line, message));
        }
    }
}

/// `short-docs`: no doc comment that can only repeat the name, but for as many as the list of excuses has today.
pub fn check_short_docs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for line in short_docs(source) {
            let message = format!("a doc comment of {SHORT_DOC_WORDS} words or fewer; say why, or nothing");
            found.push(Violation::new(&source.path, line, message));
        }
    }
    let allowed = allowed_in_tree(&tree.ratchet, "short-docs");
    if found.len() <= allowed { Vec::new() } else { found }
}

/// `machine-paths`: nothing refers to a folder that only one developer has. Documents, data and comments may
/// show a home folder as an example.
pub fn check_machine_paths(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in &tree.texts {
        add_machine_paths(file, &mut found);
    }
    found
}

fn add_machine_paths(file: &TextFile, found: &mut Vec<Violation>) {
    for (index, line) in file.text.lines().enumerate() {
        let is_code = CODE_ENDINGS.iter().any(|ending| file.path.ends_with(ending))
            && !line.trim_start().starts_with("//");
        let folders = if is_code { &MACHINE_FOLDERS[..] } else { &MACHINE_FOLDERS[..1] };
        for folder in folders {
            if names_machine_folder(line, folder) {
                let message =
                    format!("{folder} is a folder of one machine; use a relative or a temporary path");
                found.push(Violation::new(&file.path, index + 1, message));
            }
        }
    }
}

/// Whether the folder stands in the line as the beginning of a path, with a name after it.
fn names_machine_folder(line: &str, folder: &str) -> bool {
    for (at, _) in line.match_indices(folder) {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        let after = line[at + folder.len()..].chars().next().unwrap_or(' ');
        let begins = !before.is_alphanumeric() && !"_.-}*".contains(before);
        if begins && (after.is_alphanumeric() || "_.<$".contains(after)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{check_banned_words, check_file_name, check_header, check_machine_paths, check_short_docs};
    use crate::tidy::{NOTHING, lines_found};
    use crate::tree::RATCHET_FILE;

    const PATH: &str = "crates/sim/src/queue.rs";

    #[test]
    fn a_file_without_a_header_is_found() {
        for text in ["fn x() {}\n", "", "//!\nfn x() {}\n", "// A queue.\nfn x() {}\n"] {
            assert_eq!(lines_found(check_header, &[(PATH, text)]), [1], "{text:?}");
        }
    }

    #[test]
    fn a_file_with_a_header_passes() {
        assert_eq!(lines_found(check_header, &[(PATH, "//! The drive's queue.\nfn x() {}\n")]), NOTHING);
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        let files = [
            ("crates/io/src/util.rs", ""),
            ("crates/io/tests/common/mod.rs", ""),
            ("xtask/src/helpers.rs", ""),
        ];
        assert_eq!(lines_found(check_file_name, &files), [1, 1, 1]);
    }

    #[test]
    fn names_that_only_contain_such_a_word_pass() {
        let files = [("crates/analysis/src/utilisation.rs", ""), ("crates/io/src/engine/mod.rs", "")];
        assert_eq!(lines_found(check_file_name, &files), NOTHING);
    }

    #[test]
    fn a_doc_comment_of_five_words_is_found_unless_as_many_are_listed() {
        let short = (PATH, "//! A queue.\n/// The queue.\nstruct Queue;\n");
        assert_eq!(lines_found(check_short_docs, &[short]), [2]);
        assert_eq!(lines_found(check_short_docs, &[short, (RATCHET_FILE, "tree short-docs 1\n")]), NOTHING);
        let long = "/// Requests in the order of arrival, oldest first.\nstruct Queue;\n#[cfg(test)]\nmod tests {\n    /// One.\n    fn x() {}\n}\n";
        assert_eq!(lines_found(check_short_docs, &[(PATH, long)]), NOTHING);
    }

    #[test]
    fn notes_and_unfinished_macros_are_found() {
        let text =
            format!("// {}: later\nfn x() {{\n    dbg!(1);\n    vec![todo!()];\n}}\n", concat!("TO", "DO"));
        assert_eq!(lines_found(check_banned_words, &[(PATH, &text)]), [1, 3, 4]);
    }

    #[test]
    fn words_that_look_alike_pass() {
        let text = "//! mktemp wants XXXXXX; the word dbg!() in a comment is none.\nfn todo() -> bool {\n    todo != dbg\n}\n";
        assert_eq!(lines_found(check_banned_words, &[(PATH, text)]), NOTHING);
    }

    #[test]
    fn folders_of_one_machine_are_found_in_any_text() {
        let work = format!("cd {}main\n", concat!("/wo", "rk/"));
        let home = format!("fn x() {{\n    open(\"{}ada/disk.img\");\n}}\n", concat!("/ho", "me/"));
        assert_eq!(lines_found(check_machine_paths, &[("docs/method.md", &work), (PATH, &home)]), [1, 2]);
    }

    #[test]
    fn examples_mount_points_and_longer_paths_pass() {
        let home = concat!("/ho", "me/");
        let example = format!("/// `--store {home}ada/runs`\nfn x() {{}}\n");
        let longer = format!(
            "fn x() {{\n    a(\"/home ext4\");\n    b(\"/srv{home}x\");\n    c(\"https://x.org{home}y\");\n}}\n"
        );
        let document = format!("Runs are kept below {home}ada.\n");
        let files =
            [(PATH, example.as_str()), ("crates/io/src/mounts.rs", &longer), ("README.md", &document)];
        assert_eq!(lines_found(check_machine_paths, &files), NOTHING);
    }
}
