//! The paths that a file names, in `use`, in code, in attributes and in macros, each made absolute.

use std::collections::BTreeSet;

use super::SourceFile;
use super::tokens::{Kind, Token, begins_with};

/// A path that the source names, absolute: `crate::store::format`, `std::fs`.
pub struct Import {
    pub line: usize,
    pub path: Vec<String>,
    pub is_super_glob: bool,
    /// Of `pub use a::b::C`: `C`, or the name behind `as`.
    pub exported_as: Option<String>,
}

impl Import {
    pub fn begins_with(&self, names: &[&str]) -> bool {
        self.path.len() >= names.len() && self.path.iter().zip(names).all(|(ours, theirs)| ours == theirs)
    }
}

pub fn imports(source: &SourceFile) -> Vec<Import> {
    let mut reader = Reader {
        tokens: &source.tokens,
        crate_name: source.crate_name(),
        module: source.module_path(),
        children: children(&source.tokens),
        inner_modules: Vec::new(),
        is_exported: false,
        found: Vec::new(),
    };
    reader.read();
    reader.found
}

/// The modules that the file declares at its own level.
fn children(tokens: &[Token]) -> BTreeSet<&str> {
    let (mut names, mut index) = (BTreeSet::new(), 0);
    while let Some(token) = tokens.get(index) {
        match &tokens[index..] {
            [module, name, ..] if module.is("mod") && name.is_word() => {
                names.insert(name.text.as_str());
                index += 2;
            }
            _ if token.kind == Kind::Open => index = token.partner + 1,
            _ => index += 1,
        }
    }
    names
}

struct Reader<'a> {
    tokens: &'a [Token],
    crate_name: &'a str,
    module: Vec<String>,
    children: BTreeSet<&'a str>,
    /// Where each `mod name { … }` that is being read ends.
    inner_modules: Vec<usize>,
    /// Whether the `use` that is being read has a `pub` before it.
    is_exported: bool,
    found: Vec<Import>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut index = 0;
        while index < self.tokens.len() {
            if self.inner_modules.last() == Some(&index) {
                self.inner_modules.pop();
                self.module.pop();
            }
            index = self.read_at(index);
        }
    }

    /// Reads what begins at `index`; where to go on.
    fn read_at(&mut self, index: usize) -> usize {
        match &self.tokens[index..] {
            [module, name, open, ..] if module.is("mod") && open.is("{") => {
                self.module.push(name.text.clone());
                self.inner_modules.push(open.partner);
                index + 3
            }
            [word, ..] if word.is("use") => {
                self.is_exported =
                    index > 0 && (self.tokens[index - 1].is("pub") || self.is_visibility(index));
                self.read_use(index + 1, &[])
            }
            [word, ..] if word.is_word() && !self.is_continued(index) => {
                let (names, next) = self.path_at(index);
                // A name alone is no path; `pub(in a::b)` says who may use something.
                if names.len() > 1
                    && !(index >= 3 && begins_with(&self.tokens[index - 3..], &["pub", "(", "in"]))
                {
                    self.add(word.line, &names, None);
                }
                next
            }
            _ => index + 1,
        }
    }

    fn is_continued(&self, index: usize) -> bool {
        index >= 2 && self.tokens[index - 1].is(":") && self.tokens[index - 2].is(":")
    }

    fn is_visibility(&self, index: usize) -> bool {
        let close = &self.tokens[index - 1];
        close.is(")") && close.partner > 0 && self.tokens[close.partner - 1].is("pub")
    }

    /// The names of the path `a::b::c` that begins here, and where it ends.
    fn path_at(&self, first: usize) -> (Vec<String>, usize) {
        let mut names = vec![self.tokens[first].text.clone()];
        let mut next = first + 1;
        while begins_with(&self.tokens[next..], &[":", ":"])
            && let Some(name) = self.tokens.get(next + 2)
            && name.is_word()
        {
            names.push(name.text.clone());
            next += 3;
        }
        (names, next)
    }

    /// Reads a tree of `use`, which stands behind `before`; where to go on.
    fn read_use(&mut self, first: usize, before: &[String]) -> usize {
        let (mut names, mut index, mut renamed) = (before.to_vec(), first, None);
        let mut line = self.tokens[first.min(self.tokens.len() - 1)].line;
        while let Some(token) = self.tokens.get(index) {
            match token.text.as_str() {
                ":" => index += 1,
                "as" => {
                    renamed = self.tokens.get(index + 1).map(|name| name.text.clone());
                    index += 2;
                }
                "{" => {
                    let mut part = index + 1;
                    while part < token.partner {
                        part = self.read_use(part, &names);
                    }
                    return token.partner + 2;
                }
                "*" => {
                    self.add(token.line, &names, Some("*".to_owned()));
                    return index + 2;
                }
                _ if token.is_word() => {
                    line = token.line;
                    names.push(token.text.clone());
                    index += 1;
                }
                _ => break,
            }
        }
        if names.len() > before.len() {
            let name = renamed.or_else(|| names.last().cloned());
            self.add(line, &names, name);
        }
        index + 1
    }

    /// Makes `crate`, `self`, `super`, the crate's own name and the file's own modules one and the same, and keeps the path.
    /// `name` is what a `use` calls it.
    fn add(&mut self, line: usize, names: &[String], name: Option<String>) {
        let Some((first, rest)) = names.split_first() else { return };
        let mut path = vec!["crate".to_owned()];
        match first.as_str() {
            "crate" => path.extend_from_slice(rest),
            "self" => path.extend(self.module.iter().chain(rest).cloned()),
            "super" => {
                let ups = names.iter().take_while(|name| *name == "super").count();
                let kept = self.module.len().saturating_sub(ups);
                path.extend(self.module[..kept].iter().chain(&names[ups..]).cloned());
            }
            name if name == self.crate_name => path.extend_from_slice(rest),
            name if self.inner_modules.is_empty() && self.children.contains(name) => {
                path.extend(self.module.iter().chain(names).cloned());
            }
            _ => path = names.to_vec(),
        }
        let is_super_glob = name.as_deref() == Some("*") && names.iter().all(|name| name == "super");
        let exported_as = name.filter(|_| self.is_exported);
        self.found.push(Import { line, path, is_super_glob, exported_as });
    }
}
