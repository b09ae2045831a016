//! Rules on imports inside a crate: which module may not use which, what the pure crates may not use, no globs.

use proc_macro2::TokenTree;
use syn::visit::{self, Visit};

use super::Violation;
use super::source::{SourceFile, Tree};
use super::tokens::{each_place, is_sign, line_of};

/// Inside a crate: the modules on the left may not use the modules on the right.
const WALLS: &[(&str, &[&str], &[&str])] = &[
    ("drivescope", &["session", "store", "experiment"], &["cli", "tui", "screen"]),
    ("analysis", &["stats"], &["detector"]),
];
/// Crates that are pure: same input, same output, on every machine.
const PURE_CRATES: [&str; 4] = ["model", "sim", "analysis", "import"];
/// What a pure crate may not use: clocks, threads, files, the network, other programs.
const IMPURE: &[&[&str]] = &[
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "thread"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "env"],
];

/// A path that the source names, absolute: `crate::store::format`, `std::fs`.
struct Import {
    line: usize,
    path: Vec<String>,
}

impl Import {
    fn begins_with(&self, names: &[&str]) -> bool {
        self.path.len() >= names.len() && self.path.iter().zip(names).all(|(ours, theirs)| ours == theirs)
    }
}

/// `module-layers`: no import through a wall, in tests neither.
pub fn check_layers(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (crate_name, from, walled_off) in WALLS {
        for source in tree.sources.iter().filter(|source| source.crate_name() == *crate_name) {
            let module = source.module_path();
            if !module.first().is_some_and(|name| from.contains(&name.as_str())) {
                continue;
            }
            for import in imports(source) {
                if let Some(target) = walled_off.iter().find(|target| import.begins_with(&["crate", target]))
                {
                    let message = format!("{} may not use {target}", module[0]);
                    found.push(Violation::new(&source.path, import.line, message));
                }
            }
        }
    }
    found
}

/// `pure-crates`: `model`, `sim`, `analysis` and `import` use no clock, thread or file outside their tests.
pub fn check_purity(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in tree.sources.iter().filter(|source| PURE_CRATES.contains(&source.crate_name())) {
        for import in imports(source).iter().filter(|import| !source.is_test(import.line)) {
            if let Some(impure) = IMPURE.iter().find(|impure| import.begins_with(impure)) {
                let message =
                    format!("crate {} is pure and may not use {}", source.crate_name(), impure.join("::"));
                found.push(Violation::new(&source.path, import.line, message));
            }
        }
    }
    found
}

/// `glob-import`: `use super::*` hides what a file uses; only a test module may have it.
pub fn check_globs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let mut finder = SuperGlobs { lines: Vec::new() };
        finder.visit_file(&source.syntax);
        let outside_tests = finder.lines.into_iter().filter(|line| !source.is_test(*line));
        found.extend(
            outside_tests.map(|line| {
                Violation::new(&source.path, line, "use super::* outside tests; name what is used")
            }),
        );
    }
    found
}

fn imports(source: &SourceFile) -> Vec<Import> {
    let mut collector =
        ImportCollector { crate_name: source.crate_name(), module: source.module_path(), found: Vec::new() };
    collector.visit_file(&source.syntax);
    collector.found
}

/// Collects every path of a file: in `use`, in expressions and types, in macros.
struct ImportCollector<'a> {
    crate_name: &'a str,
    module: Vec<String>,
    found: Vec<Import>,
}

impl ImportCollector<'_> {
    /// Makes `crate`, `self`, `super` and the crate's own name one and the same, and keeps the path.
    fn add(&mut self, line: usize, names: &[String]) {
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
            _ => path = names.to_vec(),
        }
        self.found.push(Import { line, path });
    }

    fn add_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        match tree {
            syn::UseTree::Path(step) => {
                let mut names = before.to_vec();
                names.push(step.ident.to_string());
                self.add_tree(&step.tree, &names);
            }
            syn::UseTree::Name(leaf) => self.add_leaf(&leaf.ident, before),
            syn::UseTree::Rename(leaf) => self.add_leaf(&leaf.ident, before),
            syn::UseTree::Glob(leaf) => self.add(leaf.star_token.spans[0].start().line, before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(tree, before)),
        }
    }

    fn add_leaf(&mut self, leaf: &syn::Ident, before: &[String]) {
        let mut names = before.to_vec();
        names.push(leaf.to_string());
        self.add(leaf.span().start().line, &names);
    }
}

impl<'ast> Visit<'ast> for ImportCollector<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(first.ident.span().start().line, &names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        each_place(&call.tokens, &mut |tokens| {
            let names = leading_path(tokens);
            if names.len() > 1 {
                self.add(line_of(&tokens[0]), &names);
            }
        });
        visit::visit_macro(self, call);
    }
}

/// The names of the path `a::b::c` with which the tokens begin.
fn leading_path(tokens: &[TokenTree]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = tokens;
    while let [TokenTree::Ident(name), after @ ..] = rest {
        names.push(name.to_string());
        match after {
            [first, second, next @ ..] if is_sign(first, ':') && is_sign(second, ':') => rest = next,
            _ => break,
        }
    }
    names
}

/// Finds `use super::*`, `use super::super::*` and the same inside braces.
struct SuperGlobs {
    lines: Vec<usize>,
}

impl SuperGlobs {
    fn look(&mut self, tree: &syn::UseTree, below_super: bool) {
        match tree {
            syn::UseTree::Path(step) if step.ident == "super" => self.look(&step.tree, true),
            syn::UseTree::Glob(glob) if below_super => self.lines.push(glob.star_token.spans[0].start().line),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.look(tree, below_super)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for SuperGlobs {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.look(&item.tree, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{check_globs, check_layers, check_purity};
    use crate::tidy::{NOTHING, lines_found};

    #[test]
    fn an_import_through_a_wall_is_found_however_it_is_written() {
        let text = "use crate::cli::Options;\nuse crate::{store, tui::Screen};\nuse super::cli;\nuse drivescope::screen as s;\n\
                    fn x() {\n    crate::cli::run();\n    println!(\"{}\", crate::tui::NAME);\n}\n\
                    mod inner {\n    use super::super::cli;\n}\n";
        let found = lines_found(check_layers, &[("crates/drivescope/src/session.rs", text)]);
        assert_eq!(found, [1, 2, 3, 4, 6, 7, 10]);
        let nested = "use super::super::tui::Screen;\nuse super::cli;\n";
        assert_eq!(lines_found(check_layers, &[("crates/drivescope/src/store/writer.rs", nested)]), [1]);
        let stats = "use super::super::detector::Detector;\n";
        assert_eq!(lines_found(check_layers, &[("crates/analysis/src/stats/robust.rs", stats)]), [1]);
    }

    #[test]
    fn imports_on_the_right_side_of_a_wall_pass() {
        let session = (
            "crates/drivescope/src/session.rs",
            "use crate::store;\nuse io::clock::Clock;\nfn cli(tui: u8) {}\n",
        );
        let cli = ("crates/drivescope/src/cli/run.rs", "use crate::session;\nuse crate::tui;\n");
        let detector = ("crates/analysis/src/detector/stalls.rs", "use crate::stats::robust;\n");
        assert_eq!(lines_found(check_layers, &[session, cli, detector]), NOTHING);
    }

    #[test]
    fn a_clock_thread_or_file_in_a_pure_crate_is_found() {
        let text = "use std::time::{Duration, Instant};\nfn x() {\n    std::thread::yield_now();\n    assert!(std::fs::exists(\"x\"));\n}\n";
        assert_eq!(lines_found(check_purity, &[("crates/sim/src/queue.rs", text)]), [1, 3, 4]);
    }

    #[test]
    fn durations_tests_and_the_other_crates_may() {
        let pure = (
            "crates/sim/src/queue.rs",
            "use std::time::Duration;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
        );
        let io = ("crates/io/src/clock.rs", "use std::time::Instant;\n");
        assert_eq!(lines_found(check_purity, &[pure, io]), NOTHING);
    }

    #[test]
    fn a_glob_from_above_is_found_outside_tests() {
        let text = "use super::*;\nuse super::super::*;\nuse super::{a, *};\n";
        assert_eq!(lines_found(check_globs, &[("crates/sim/src/queue.rs", text)]), [1, 2, 3]);
    }

    #[test]
    fn globs_in_tests_and_from_elsewhere_pass() {
        let text = "use model::units::*;\nuse super::a;\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
        assert_eq!(lines_found(check_globs, &[("crates/sim/src/queue.rs", text)]), NOTHING);
    }
}
