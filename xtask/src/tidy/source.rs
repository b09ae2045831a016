//! What the rules look at: the tree's Rust files (parsed), its manifests and its texts, read once.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Violation;

/// Folders that hold no source of ours.
const FOLDERS_NOT_READ: [&str; 3] = ["target", ".git", "node_modules"];
/// File names ending in these are read as text.
const TEXT_ENDINGS: [&str; 8] = [".rs", ".toml", ".md", ".txt", ".json", ".csv", ".yml", ".ci/run"];

/// Everything the rules read. Paths are relative to the root and use `/`.
#[derive(Default)]
pub struct Tree {
    /// The Rust files that could be parsed.
    pub sources: Vec<SourceFile>,
    /// All text files, the Rust files among them.
    pub texts: Vec<TextFile>,
    /// What the length rules excuse, see `tidy/length.rs`.
    pub ratchet: String,
    /// Files that could not be read or parsed.
    pub broken: Vec<Violation>,
}

/// A file as lines of text.
pub struct TextFile {
    /// Relative to the root.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// A Rust file as tokens and as a syntax tree.
pub struct SourceFile {
    /// Relative to the root.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The tokens, so that a rule sees into macros but never into strings or comments.
    pub tokens: TokenStream,
    /// The syntax tree.
    pub syntax: syn::File,
    /// First and last lines (from 1) of the parts that are only built for tests.
    pub test_lines: Vec<(usize, usize)>,
}

impl Tree {
    /// Reads the tree below `root`.
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
        if path == super::length::RATCHET_FILE {
            self.ratchet = text.to_owned();
        }
        self.texts.push(TextFile { path: path.to_owned(), text: text.to_owned() });
    }

    /// A file that its parent names as `#[cfg(test)] mod x;` is test code from end to end, and so is what it holds.
    fn mark_test_modules(&mut self) {
        let test_modules: Vec<String> = self.sources.iter().flat_map(SourceFile::test_module_stems).collect();
        for source in &mut self.sources {
            let is_below = |stem: &String| {
                source.path == format!("{stem}.rs") || source.path.starts_with(&format!("{stem}/"))
            };
            if test_modules.iter().any(is_below) {
                source.test_lines = vec![(1, usize::MAX)];
            }
        }
    }
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
    /// Parses one file.
    ///
    /// # Errors
    /// The place and the reason, when the text is not Rust.
    pub fn parse(path: &str, text: &str) -> Result<Self, Violation> {
        let not_rust =
            |line: usize, reason: String| Violation::new(path, line, format!("cannot be parsed: {reason}"));
        let syntax =
            syn::parse_file(text).map_err(|error| not_rust(error.span().start().line, error.to_string()))?;
        let tokens: TokenStream =
            text.parse().map_err(|error: proc_macro2::LexError| not_rust(1, error.to_string()))?;
        let mut finder = TestCode { lines: Vec::new() };
        if path.contains("/tests/") || path.contains("/benches/") || is_test_only(&syntax.attrs) {
            finder.lines.push((1, usize::MAX));
        }
        finder.visit_file(&syntax);
        Ok(Self { path: path.to_owned(), text: text.to_owned(), tokens, syntax, test_lines: finder.lines })
    }

    /// Whether the line is in a part that is only built for tests.
    pub fn is_test(&self, line: usize) -> bool {
        self.test_lines.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    /// The crate's name: the folder below `crates/`, or `xtask`.
    pub fn crate_name(&self) -> &str {
        let inside = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        inside.split('/').next().unwrap_or(inside)
    }

    /// The module's path inside its crate (`load/issue.rs` is `load`, `issue`); empty for the crate's root.
    pub fn module_path(&self) -> Vec<String> {
        let inside = self.path.split_once("/src/").map_or("", |(_, inside)| inside);
        let stem = inside.strip_suffix(".rs").unwrap_or(inside);
        let mut names: Vec<String> = stem.split('/').map(str::to_owned).collect();
        if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
            names.pop();
        }
        names
    }

    /// The file (without `.rs`) or folder of each module declared here as `#[cfg(test)] mod x;`.
    fn test_module_stems(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let folder = ["/mod", "/lib", "/main"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        let beside = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let declared = self.syntax.items.iter().filter_map(|item| match item {
            syn::Item::Mod(module) if module.content.is_none() && is_test_only(&module.attrs) => Some(module),
            _ => None,
        });
        let stem_of = |module: &syn::ItemMod| match path_attribute(&module.attrs) {
            Some(path) => format!("{beside}/{}", path.strip_suffix(".rs").unwrap_or(&path)),
            None => format!("{folder}/{}", module.ident),
        };
        declared.map(stem_of).collect()
    }
}

/// Collects the lines of items that are only built for tests.
struct TestCode {
    lines: Vec<(usize, usize)>,
}

impl TestCode {
    fn add(&mut self, node: &impl Spanned) {
        let span = node.span();
        self.lines.push((span.start().line, span.end().line));
    }
}

impl<'ast> Visit<'ast> for TestCode {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test_only(attributes_of(item)) {
            self.add(item);
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if is_test_only(&function.attrs) {
            self.add(function);
        }
    }
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The file named by `#[path = "…"]`, which is relative to the declaring file's folder.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }),
            ..
        }) if path.is_ident("path") => Some(file.value()),
        _ => None,
    })
}

/// Whether the attributes hold `#[test]` or a `#[cfg(…)]` that only tests fulfil.
fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| needs_test(&condition))
    })
}

fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => {
            let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
            let Ok(parts) = list.parse_args_with(parser) else { return false };
            match list.path.get_ident().map(ToString::to_string).as_deref() {
                Some("all") => parts.iter().any(needs_test),
                Some("any") => !parts.is_empty() && parts.iter().all(needs_test),
                _ => false,
            }
        }
        syn::Meta::NameValue(_) => false,
    }
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
