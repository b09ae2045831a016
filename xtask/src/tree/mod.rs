//! What rules and measures look at: the tree's Rust files as tokens, its manifests and its texts, read once.

pub mod imports;
pub mod tokens;

use std::fmt;
use std::fs;
use std::path::Path;

use proc_macro2::{LexError, TokenStream};
use tokens::{Token, begins_with, end_of_item, flatten};

const FOLDERS_NOT_READ: [&str; 3] = ["target", ".git", "node_modules"];
const TEXT_ENDINGS: [&str; 8] = [".rs", ".toml", ".md", ".txt", ".json", ".csv", ".yml", ".ci/run"];
/// The words with which an item begins, after its attributes.
const ITEM_WORDS: [&str; 15] = [
    "pub", "fn", "mod", "use", "const", "static", "struct", "enum", "union", "impl", "trait", "type",
    "unsafe", "async", "extern",
];
pub const RATCHET_FILE: &str = "xtask/tidy-ratchet.txt";

/// Everything the rules read. Paths are relative to the root and use `/`.
#[derive(Default)]
pub struct Tree {
    pub sources: Vec<SourceFile>,
    /// All text files, the Rust files among them.
    pub texts: Vec<TextFile>,
    pub ratchet: String,
    /// Files that could not be read or parsed.
    pub broken: Vec<Violation>,
}

pub struct TextFile {
    pub path: String,
    pub text: String,
}

/// A Rust file as text and as tokens.
pub struct SourceFile {
    pub path: String,
    pub text: String,
    pub tokens: Vec<Token>,
    /// First and last lines (from 1) of the parts that are only built for tests.
    test_lines: Vec<(usize, usize)>,
    /// The file (without `.rs`) or folder of each module declared here as `#[cfg(test)] mod x;`.
    test_module_stems: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub path: String,
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Violation {
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl Tree {
    pub fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        let mut paths = Vec::new();
        list_files(root, "", &mut paths, &mut tree.broken);
        paths.sort();
        for path in paths {
            match fs::read_to_string(root.join(&path)) {
                Ok(text) => tree.add(&path, &text),
                Err(error) => tree.broken.push(Violation::new(&path, 1, format!("cannot be read: {error}"))),
            }
        }
        tree.mark_test_modules();
        tree
    }

    /// A tree of the given files (path, text), for the rules' own tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add(path, text);
        }
        tree.mark_test_modules();
        tree
    }

    fn add(&mut self, path: &str, text: &str) {
        if path.ends_with(".rs") {
            match SourceFile::parse(path, text) {
                Ok(source) => self.sources.push(source),
                Err(violation) => self.broken.push(violation),
            }
        }
        if path == RATCHET_FILE {
            self.ratchet = text.to_owned();
        }
        self.texts.push(TextFile { path: path.to_owned(), text: text.to_owned() });
    }

    pub fn sources_of<'tree>(&'tree self, name: &'tree str) -> impl Iterator<Item = &'tree SourceFile> {
        self.sources.iter().filter(move |source| source.crate_name() == name)
    }

    /// A file that its parent names as `#[cfg(test)] mod x;` is test code from end to end, and so is what it holds.
    fn mark_test_modules(&mut self) {
        let mut stems = Vec::new();
        for source in &self.sources {
            stems.extend(source.test_module_stems.iter().cloned());
        }
        for source in &mut self.sources {
            for stem in &stems {
                if let Some(rest) = source.path.strip_prefix(stem.as_str())
                    && (rest == ".rs" || rest.starts_with('/'))
                {
                    source.test_lines = vec![(1, usize::MAX)];
                }
            }
        }
    }
}

fn begins_item(tokens: &[Token]) -> bool {
    matches!(tokens, [word, ..] if word.is("macro_rules") || ITEM_WORDS.contains(&word.text.as_str()))
}

fn list_files(root: &Path, below: &str, paths: &mut Vec<String>, broken: &mut Vec<Violation>) {
    let entries = match fs::read_dir(root.join(below)) {
        Ok(entries) => entries.flatten(),
        Err(error) => return broken.push(Violation::new(below, 1, format!("cannot be listed: {error}"))),
    };
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !FOLDERS_NOT_READ.contains(&name.as_str()) => {
                list_files(root, &path, paths, broken);
            }
            Ok(kind) if kind.is_file() && TEXT_ENDINGS.iter().any(|ending| path.ends_with(ending)) => {
                paths.push(path);
            }
            _ => {}
        }
    }
}

impl SourceFile {
    pub fn parse(path: &str, text: &str) -> Result<Self, Violation> {
        let stream: Result<TokenStream, LexError> = text.parse();
        let tokens = match stream {
            Ok(stream) => flatten(stream),
            Err(error) => {
                let message = format!("cannot be parsed: {error}");
                return Err(Violation::new(path, error.span().start().line, message));
            }
        };
        let mut source = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens,
            test_lines: Vec::new(),
            test_module_stems: Vec::new(),
        };
        if path.contains("/tests/") || path.contains("/benches/") {
            source.test_lines.push((1, usize::MAX));
        }
        source.find_test_code();
        Ok(source)
    }

    fn find_test_code(&mut self) {
        let mut index = 0;
        while index < self.tokens.len() {
            if begins_with(&self.tokens[index..], &["#", "!", "["]) {
                let close = self.tokens[index + 2].partner;
                if is_test_only(&self.tokens[index + 3..close]) {
                    self.test_lines.push((1, usize::MAX));
                }
                index = close + 1;
                continue;
            }
            let first_line = self.tokens[index].line;
            let (mut for_tests, mut beside) = (false, None);
            while begins_with(&self.tokens[index..], &["#", "["]) {
                let close = self.tokens[index + 1].partner;
                let attribute = &self.tokens[index + 2..close];
                for_tests |= is_test_only(attribute);
                if let [word, equals, literal, ..] = attribute
                    && word.is("path")
                    && equals.is("=")
                {
                    beside = Some(literal.text.trim_matches('"').to_owned());
                }
                index = close + 1;
            }
            let item = self.tokens.get(index..).unwrap_or_default();
            if for_tests && begins_item(item) {
                let last = end_of_item(&self.tokens, index);
                if let [.., word, name, end] = &self.tokens[index..=last]
                    && word.is("mod")
                    && end.is(";")
                {
                    let stem = self.stem_of_module(&name.text, beside);
                    self.test_module_stems.push(stem);
                }
                self.test_lines.push((first_line, self.tokens[last].line));
                index = last;
            }
            index += 1;
        }
    }

    /// Where the module `name` that this file declares is; `beside` is what a `#[path]` says, relative to this file's folder.
    fn stem_of_module(&self, name: &str, beside: Option<String>) -> String {
        let folder = match self.path.rsplit_once('/') {
            Some((folder, _)) => folder,
            None => "",
        };
        if let Some(path) = beside {
            return format!("{folder}/{}", path.trim_end_matches(".rs"));
        }
        let stem = self.path.trim_end_matches(".rs");
        if ["/mod", "/lib", "/main"].iter().any(|end| stem.ends_with(end)) {
            return format!("{folder}/{name}");
        }
        format!("{stem}/{name}")
    }

    /// Whether the line is in a part that is only built for tests.
    pub fn is_test(&self, line: usize) -> bool {
        self.test_lines.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    /// Where in it these tokens follow each other.
    pub fn lines_of(&self, texts: &[&str]) -> Vec<usize> {
        let mut lines = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            if begins_with(&self.tokens[index..], texts) {
                lines.push(token.line);
            }
        }
        lines
    }

    pub fn crate_name(&self) -> &str {
        let inside = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        inside.split('/').next().unwrap_or(inside)
    }

    /// The module's path inside its crate (`load/issue.rs` is `load`, `issue`); empty for the crate's root.
    pub fn module_path(&self) -> Vec<String> {
        let inside = match self.path.split_once("/src/") {
            Some((_, inside)) => inside,
            None => "",
        };
        let mut names: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if let Some(name) = names.last()
            && ["mod", "lib", "main", ""].contains(&name.as_str())
        {
            names.pop();
        }
        names
    }
}

/// Whether an attribute is `test` or a `cfg(…)` that only tests fulfil.
fn is_test_only(attribute: &[Token]) -> bool {
    match attribute {
        [word] => word.is("test"),
        [word, ..] if word.is("cfg") => needs_test(&attribute[2..attribute.len() - 1]),
        _ => false,
    }
}

fn needs_test(condition: &[Token]) -> bool {
    match condition {
        [word] => word.is("test"),
        [word, _, parts @ .., _] if word.is("all") => parts_of(parts).any(needs_test),
        [word, _, parts @ .., _] if word.is("any") => !parts.is_empty() && parts_of(parts).all(needs_test),
        _ => false,
    }
}

/// The conditions between commas that stand in no parentheses.
fn parts_of(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let (mut parts, mut first, mut depth) = (Vec::new(), 0, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[first..index]);
                first = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[first..]);
    parts.into_iter().filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, Tree};

    fn parse(text: &str) -> SourceFile {
        SourceFile::parse("crates/io/src/load/issue.rs", text).expect("the text is Rust")
    }

    #[test]
    fn test_code_is_what_only_tests_build() {
        let source = parse(
            "fn made() {}\n#[cfg(test)]\nmod tests {\n    fn x() {}\n}\n#[cfg(any(test, feature = \"x\"))]\nfn both() {}\n\
             #[cfg(all(test, unix))]\nfn only() {}\n#[cfg(not(test))]\nfn never() {}\n",
        );
        let lines: Vec<usize> = (1..=11).filter(|line| source.is_test(*line)).collect();
        assert_eq!(lines, [2, 3, 4, 5, 8, 9]);
    }

    #[test]
    fn an_import_for_tests_ends_with_its_line_and_a_method_with_its_body() {
        let source = parse(
            "#[cfg(test)]\nuse a::{b, c};\nfn made() {}\nimpl A {\n    /// For tests.\n    #[cfg(test)]\n    fn x() {\n    }\n    fn y() {}\n}\n",
        );
        let lines: Vec<usize> = (1..=11).filter(|line| source.is_test(*line)).collect();
        assert_eq!(lines, [1, 2, 5, 6, 7, 8]);
    }

    #[test]
    fn a_file_declared_for_tests_is_test_code_whole() {
        let tree = Tree::of(&[
            ("crates/io/src/engine/mod.rs", "#[cfg(test)]\nmod conformance;\nmod null;\n"),
            ("crates/io/src/engine/conformance.rs", "fn x() {}\n"),
            ("crates/io/src/engine/conformance/order.rs", "fn x() {}\n"),
            ("crates/io/src/engine/null.rs", "#[cfg(test)]\n#[path = \"null_tests.rs\"]\nmod tests;\n"),
            ("crates/io/src/engine/null_tests.rs", "fn x() {}\n"),
        ]);
        // Line 4 lies behind the declarations in the files that make them.
        let of_tests: Vec<&str> = tree
            .sources
            .iter()
            .filter(|source| source.is_test(4))
            .map(|source| source.path.as_str())
            .collect();
        assert_eq!(
            of_tests,
            [
                "crates/io/src/engine/conformance.rs",
                "crates/io/src/engine/conformance/order.rs",
                "crates/io/src/engine/null_tests.rs",
            ]
        );
    }

    #[test]
    fn modules_and_crates_are_read_from_the_path() {
        let source = parse("");
        assert_eq!(
            (source.crate_name(), source.module_path()),
            ("io", vec!["load".to_owned(), "issue".to_owned()])
        );
        let root = SourceFile::parse("xtask/src/main.rs", "").expect("an empty file is Rust");
        assert_eq!((root.crate_name(), root.module_path()), ("xtask", vec![]));
    }

    #[test]
    fn text_that_is_not_rust_is_reported_with_its_line() {
        let tree = Tree::of(&[("crates/io/src/lib.rs", "fn x() {}\nfn (\n")]);
        assert_eq!((tree.sources.len(), tree.broken.len()), (0, 1));
        assert_eq!((tree.broken[0].path.as_str(), tree.broken[0].line), ("crates/io/src/lib.rs", 2));
    }
}
