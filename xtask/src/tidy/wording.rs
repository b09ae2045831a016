//! Rules on words: how a file begins, what it is called, what must not stand in it.

use proc_macro2::TokenTree;

use super::Violation;
use super::source::{SourceFile, TextFile, Tree};
use super::tokens::{each_place, is_sign, is_word, line_of};

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
    let headless = tree.sources.iter().filter(|source| {
        let first = source.text.lines().next().unwrap_or_default();
        first.strip_prefix("//!").is_none_or(|words| words.trim().is_empty())
    });
    headless
        .map(|source| {
            Violation::new(&source.path, 1, "does not begin with '//!' saying what the file is for")
        })
        .collect()
}

/// `file-name`: files and folders are called by what they hold.
pub fn check_file_name(tree: &Tree) -> Vec<Violation> {
    let is_empty = |part: &str| EMPTY_NAMES.contains(&part.strip_suffix(".rs").unwrap_or(part));
    let nameless = tree.sources.iter().filter(|source| source.path.split('/').any(is_empty));
    nameless
        .map(|source| {
            Violation::new(&source.path, 1, "a name that says nothing; name the file by what it holds")
        })
        .collect()
}

/// `banned-words`: no notes to oneself and no unfinished macros.
pub fn check_banned_words(tree: &Tree) -> Vec<Violation> {
    tree.sources
        .iter()
        .flat_map(|source| notes(source).into_iter().chain(unfinished_macros(source)))
        .collect()
}

fn notes(source: &SourceFile) -> Vec<Violation> {
    let numbered = source.text.lines().enumerate();
    let found = numbered.flat_map(|(index, line)| {
        let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.filter(|word| NOTES.contains(word)).map(move |word| (index + 1, word))
    });
    found
        .map(|(line, word)| {
            Violation::new(&source.path, line, format!("{word}; do it now, or open an issue"))
        })
        .collect()
}

fn unfinished_macros(source: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    each_place(&source.tokens, &mut |tokens: &[TokenTree]| {
        let [word, bang, TokenTree::Group(_), ..] = tokens else { return };
        let banned = UNFINISHED_MACROS.iter().find(|name| is_sign(bang, '!') && is_word(word, name));
        if let Some(name) = banned {
            found.push(Violation::new(
                &source.path,
                line_of(word),
                format!("{name}! is for the time of writing; finish it"),
            ));
        }
    });
    found
}

/// `machine-paths`: nothing refers to a folder that only one developer has. Documents, data and comments may
/// show a home folder as an example.
pub fn check_machine_paths(tree: &Tree) -> Vec<Violation> {
    tree.texts.iter().flat_map(machine_paths).collect()
}

fn machine_paths(file: &TextFile) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let is_code = CODE_ENDINGS.iter().any(|ending| file.path.ends_with(ending))
            && !line.trim_start().starts_with("//");
        let folders = if is_code { &MACHINE_FOLDERS[..] } else { &MACHINE_FOLDERS[..1] };
        for folder in folders.iter().filter(|folder| names_machine_folder(line, folder)) {
            let message = format!("{folder} is a folder of one machine; use a relative or a temporary path");
            found.push(Violation::new(&file.path, index + 1, message));
        }
    }
    found
}

/// Whether the folder stands in the line as the beginning of a path, with a name after it.
fn names_machine_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"_.-}*".contains(letter))
            && after.is_some_and(|letter| letter.is_alphanumeric() || "_.<$".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::{check_banned_words, check_file_name, check_header, check_machine_paths};
    use crate::tidy::{NOTHING, lines_found};

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
