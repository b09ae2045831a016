//! Rules on length, with a ratchet: what is too long today is listed with its length, and may only get shorter.
//!
//! A line of the list is `PATH file LINES` or `PATH function NAME LINES`; `#` begins a comment.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Violation;
use super::source::{SourceFile, Tree};

/// The list of what is excused.
pub const RATCHET_FILE: &str = "xtask/tidy-ratchet.txt";
/// Longest function, signature and braces included; TigerBeetle's limit, one screen.
const FUNCTION_LINES_MAX: usize = 70;
/// Longest file, in lines that are neither blank nor in tests.
const FILE_LINES_MAX: usize = 600;

/// Something with a length: a file, or a function of it.
struct Measured {
    /// What stands in the list before the length.
    key: String,
    path: String,
    line: usize,
    lines: usize,
}

/// `file-length`: no file has more than 600 lines outside tests.
pub fn check_files(tree: &Tree) -> Vec<Violation> {
    let files = tree.sources.iter().map(|source| Measured {
        key: format!("{} file", source.path),
        path: source.path.clone(),
        line: 1,
        lines: lines_outside_tests(source),
    });
    against_ratchet(files.collect(), FILE_LINES_MAX, &excused(&tree.ratchet, "file"))
}

/// `function-length`: no function, in tests neither, has more than 70 lines.
pub fn check_functions(tree: &Tree) -> Vec<Violation> {
    let functions = tree.sources.iter().flat_map(|source| {
        let mut meter = FunctionMeter { path: &source.path, owner: Vec::new(), functions: Vec::new() };
        meter.visit_file(&source.syntax);
        meter.functions
    });
    against_ratchet(functions.collect(), FUNCTION_LINES_MAX, &excused(&tree.ratchet, "function"))
}

fn lines_outside_tests(source: &SourceFile) -> usize {
    let numbered = source.text.lines().enumerate();
    numbered.filter(|(index, line)| !line.trim().is_empty() && !source.is_test(index + 1)).count()
}

/// An entry of the list: where it stands, what it excuses, up to which length.
struct Excuse {
    line: usize,
    key: String,
    lines: Option<usize>,
}

fn excused(ratchet: &str, kind: &str) -> Vec<Excuse> {
    let entries =
        ratchet.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let of_kind = entries.filter(|(_, line)| line.split_whitespace().nth(1) == Some(kind));
    of_kind
        .map(|(index, line)| {
            let (key, lines) = line.trim().rsplit_once(' ').unwrap_or((line, ""));
            Excuse { line: index + 1, key: key.trim().to_owned(), lines: lines.parse().ok() }
        })
        .collect()
}

fn against_ratchet(measured: Vec<Measured>, limit: usize, excuses: &[Excuse]) -> Vec<Violation> {
    let too_long = measured.iter().filter(|one| one.lines > limit);
    let unexcused = too_long.filter_map(|one| {
        let allowed = excuses
            .iter()
            .find(|excuse| excuse.key == one.key)
            .map_or(limit, |excuse| excuse.lines.unwrap_or(limit));
        let message = format!("{} lines, {allowed} are allowed; divide it", one.lines);
        (one.lines > allowed).then(|| Violation::new(&one.path, one.line, message))
    });
    let stale = excuses.iter().filter_map(|excuse| {
        let longest =
            measured.iter().filter(|one| one.key == excuse.key).map(|one| one.lines).max().unwrap_or(0);
        let message = match excuse.lines {
            None => "does not end in a number of lines".to_owned(),
            Some(_) if longest <= limit => {
                format!("'{}' needs no excuse any more; remove the line", excuse.key)
            }
            Some(lines) if longest < lines => format!("'{}' has shrunk; write {longest} here", excuse.key),
            Some(_) => return None,
        };
        Some(Violation::new(RATCHET_FILE, excuse.line, message))
    });
    unexcused.chain(stale).collect()
}

/// Measures every function with a body, under the name `Type::function`.
struct FunctionMeter<'a> {
    path: &'a str,
    owner: Vec<String>,
    functions: Vec<Measured>,
}

impl FunctionMeter<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.span().start().line;
        let name =
            self.owner.iter().chain([&signature.ident.to_string()]).cloned().collect::<Vec<_>>().join("::");
        self.functions.push(Measured {
            key: format!("{} function {name}", self.path),
            path: self.path.to_owned(),
            line: first,
            lines: body.span().end().line + 1 - first,
        });
    }
}

impl<'ast> Visit<'ast> for FunctionMeter<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let type_name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        self.owner.push(type_name.unwrap_or_else(|| "impl".to_owned()));
        visit::visit_item_impl(self, item);
        self.owner.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.owner.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.owner.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::{RATCHET_FILE, check_files, check_functions};
    use crate::tidy::{NOTHING, Tree, Violation, lines_found};

    const PATH: &str = "crates/io/src/engine/uring.rs";

    /// A method `Ring::reap` of so many lines, beginning at line 2.
    fn method_of(lines: usize) -> String {
        format!("impl Ring {{\n    fn reap() {{\n{}    }}\n}}\n", "        step();\n".repeat(lines - 2))
    }

    fn messages(check: fn(&Tree) -> Vec<Violation>, files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_function_of_71_lines_is_found_and_one_of_70_is_not() {
        assert_eq!(lines_found(check_functions, &[(PATH, &method_of(71))]), [2]);
        assert_eq!(lines_found(check_functions, &[(PATH, &method_of(70))]), NOTHING);
    }

    #[test]
    fn free_functions_and_default_methods_are_measured_without_their_comments() {
        let body = "    step();\n".repeat(69);
        let text = format!(
            "/// Says why.\n#[inline]\nfn x() {{\n{body}}}\ntrait T {{\nfn y() {{\n{body}}}\nfn z();\n}}\n"
        );
        assert_eq!(lines_found(check_functions, &[(PATH, &text)]), [3, 75]);
    }

    #[test]
    fn a_listed_function_may_not_grow_and_the_list_follows_when_it_shrinks() {
        let list = format!("# known\n{PATH} function Ring::reap 80\n");
        let with = |lines| messages(check_functions, &[(PATH, &method_of(lines)), (RATCHET_FILE, &list)]);
        assert_eq!(with(80), Vec::<String>::new());
        assert_eq!(with(81), [format!("{PATH}:2: 81 lines, 80 are allowed; divide it")]);
        assert_eq!(
            with(79),
            [format!("{RATCHET_FILE}:2: '{PATH} function Ring::reap' has shrunk; write 79 here")]
        );
        assert_eq!(
            with(70),
            [format!(
                "{RATCHET_FILE}:2: '{PATH} function Ring::reap' needs no excuse any more; remove the line"
            )]
        );
    }

    #[test]
    fn a_file_of_601_lines_is_found_and_blanks_and_tests_do_not_count() {
        let lines = |count: usize| "const A: u8 = 1;\n".repeat(count);
        let tests = format!("\n\n#[cfg(test)]\nmod tests {{\n{}}}\n", lines(300));
        assert_eq!(lines_found(check_files, &[(PATH, &lines(601))]), [1]);
        assert_eq!(lines_found(check_files, &[(PATH, &(lines(600) + &tests))]), NOTHING);
    }

    #[test]
    fn a_listed_file_may_not_grow() {
        let text = "const A: u8 = 1;\n".repeat(610);
        let excused = |lines: &str| {
            messages(check_files, &[(PATH, &text), (RATCHET_FILE, &format!("{PATH} file {lines}\n"))])
        };
        assert_eq!(excused("610"), Vec::<String>::new());
        assert_eq!(excused("609"), [format!("{PATH}:1: 610 lines, 609 are allowed; divide it")]);
        assert_eq!(excused("many")[1], format!("{RATCHET_FILE}:1: does not end in a number of lines"));
    }
}
