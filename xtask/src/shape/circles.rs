//! Import circles: files of a crate that use each other. A `mod` is no use; a `pub use` means the file behind it.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::imports::imports;
use crate::tree::{SourceFile, Tree};

/// Files that use each other in a circle, by their paths.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle {
    pub crate_name: String,
    pub files: Vec<String>,
}

impl Circle {
    pub fn size(&self) -> usize {
        self.files.len()
    }
}

pub fn circles(tree: &Tree) -> Vec<Circle> {
    let mut modules: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for source in &tree.sources {
        if is_module(source) {
            modules.entry(source.crate_name()).or_default().push(source);
        }
    }
    let mut found = Vec::new();
    for (name, files) in modules {
        for members in circles_of_graph(&uses(&files)) {
            let mut circle = Circle { crate_name: name.to_owned(), files: Vec::new() };
            for member in members {
                circle.files.push(files[member].path.clone());
            }
            found.push(circle);
        }
    }
    found
}

/// Whether the file is a module of its crate outside tests; programs are crates of their own.
fn is_module(source: &SourceFile) -> bool {
    let Some((_, inside)) = source.path.split_once("/src/") else { return false };
    !inside.starts_with("bin/") && !source.is_test(usize::MAX)
}

/// The modules of a crate by their paths, and the names that they pass on.
#[derive(Default)]
struct Modules {
    files: BTreeMap<Vec<String>, usize>,
    /// By path: what `pub use` means by it.
    passed_on: BTreeMap<Vec<String>, Vec<String>>,
}

fn uses(files: &[&SourceFile]) -> Vec<BTreeSet<usize>> {
    let has_library = files.iter().any(|source| source.path.ends_with("/src/lib.rs"));
    let mut modules = Modules::default();
    for (number, source) in files.iter().enumerate() {
        if has_library && source.path.ends_with("/src/main.rs") {
            continue;
        }
        modules.files.insert(source.module_path(), number);
        for import in imports(source) {
            if let Some(name) = import.exported_as
                && import.path[0] == "crate"
            {
                let path = source.module_path().into_iter().chain([name]).collect();
                modules.passed_on.insert(path, import.path[1..].to_vec());
            }
        }
    }
    let mut used_by = Vec::new();
    for (number, source) in files.iter().enumerate() {
        let mut used = BTreeSet::new();
        for import in imports(source) {
            if import.path[0] == "crate" && import.exported_as.is_none() && !source.is_test(import.line) {
                used.extend(modules.file_of(&import.path[1..]));
            }
        }
        used.remove(&number);
        used_by.push(used);
    }
    used_by
}

impl Modules {
    fn file_of(&self, path: &[String]) -> Option<usize> {
        let mut path = path.to_vec();
        // No name is passed on more often than there are modules.
        for _ in 0..self.files.len() {
            let Some(next) = self.followed(&path) else { break };
            path = next;
        }
        (0..=path.len()).rev().find_map(|length| self.files.get(&path[..length])).copied()
    }

    /// The path with its first name that is passed on replaced by what is meant.
    fn followed(&self, path: &[String]) -> Option<Vec<String>> {
        for length in 1..=path.len() {
            if let Some(meant) = self.passed_on.get(&path[..length])
                && meant[..] != path[..length]
            {
                return Some(meant.iter().chain(&path[length..]).cloned().collect());
            }
        }
        None
    }
}

/// Groups of two and more, each of which reaches all others of its group.
fn circles_of_graph(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|start| reached_from(start, edges)).collect();
    let (mut circles, mut grouped) = (Vec::new(), BTreeSet::new());
    for start in 0..edges.len() {
        if grouped.contains(&start) || !reached[start].contains(&start) {
            continue;
        }
        let members: Vec<usize> =
            reached[start].iter().copied().filter(|other| reached[*other].contains(&start)).collect();
        grouped.extend(members.iter().copied());
        circles.push(members);
    }
    circles
}

fn reached_from(start: usize, edges: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(node) = waiting.pop() {
        for next in &edges[node] {
            if reached.insert(*next) {
                waiting.push(*next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::circles;
    use crate::tree::Tree;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        circles(&Tree::of(files)).into_iter().map(|circle| circle.files).collect()
    }

    #[test]
    fn files_that_use_each_other_through_a_third_are_a_circle() {
        let files = [
            ("crates/io/src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("crates/io/src/a.rs", "use crate::b::B;\n"),
            ("crates/io/src/b.rs", "fn b() { crate::c::C::new(); }\n"),
            (
                "crates/io/src/c.rs",
                "#[derive(Args)]\nstruct C {\n    #[arg(value_parser = crate::a::parse)]\n    x: u8,\n}\n",
            ),
            ("crates/io/src/d.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(found(&files), [["crates/io/src/a.rs", "crates/io/src/b.rs", "crates/io/src/c.rs"]]);
    }

    #[test]
    fn a_parent_and_its_child_are_a_circle_when_each_uses_the_other() {
        let child = ("crates/io/src/a/b.rs", "use super::A;\n");
        let declares = ("crates/io/src/a/mod.rs", "mod b;\nstruct A;\n");
        assert_eq!(found(&[child, declares]), Vec::<Vec<String>>::new());
        let uses = ("crates/io/src/a/mod.rs", "mod b;\nuse b::B;\nstruct A;\n");
        assert_eq!(found(&[child, uses]), [["crates/io/src/a/b.rs", "crates/io/src/a/mod.rs"]]);
        let calls = ("crates/io/src/a/mod.rs", "mod b;\nfn x() { b::y() }\n");
        assert_eq!(found(&[child, calls]).len(), 1);
    }

    #[test]
    fn a_name_that_is_passed_on_is_followed_to_its_file() {
        let root = ("crates/io/src/lib.rs", "mod a;\nmod b;\npub use a::{A as Z, inner::B};\n");
        let user = ("crates/io/src/b.rs", "use crate::Z;\n");
        let used = ("crates/io/src/a.rs", "pub mod inner { pub struct B; }\n");
        assert_eq!(found(&[root, user, used]), Vec::<Vec<String>>::new());
        let back = ("crates/io/src/a.rs", "use crate::b::Y;\n");
        assert_eq!(found(&[root, user, back]), [["crates/io/src/b.rs", "crates/io/src/a.rs"]]);
    }

    #[test]
    fn tests_words_and_other_crates_are_no_uses() {
        let files = [
            (
                "crates/io/src/a.rs",
                "mod b;\n//! See [`crate::b`].\nfn x(b: u8) -> u8 { b }\nuse sim::b::C;\n",
            ),
            ("crates/io/src/b.rs", "use crate::a::A;\n"),
            ("crates/sim/src/b.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n"),
            ("crates/sim/src/c.rs", "use crate::b::C;\nuse io::a::A;\n"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn the_program_beside_a_library_is_in_no_circle() {
        let files = [
            ("crates/drivescope/src/lib.rs", "pub mod cli;\n"),
            ("crates/drivescope/src/main.rs", "fn main() { drivescope::cli::run() }\n"),
            ("crates/drivescope/src/cli.rs", "use crate::VERSION;\n"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }
}
