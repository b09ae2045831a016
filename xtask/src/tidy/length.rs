//! Rules on length, with a ratchet: what is too long today is listed with its length, and may only get shorter.
//!
//! A line of the list is `PATH file LINES` or `PATH function NAME LINES`; `#` begins a comment.

use crate::shape::count::Counts;
use crate::tree::tokens::{Token, end_of_item};
use crate::tree::{RATCHET_FILE, SourceFile, Tree, Violation};

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
    let mut files = Vec::new();
    for source in &tree.sources {
        files.push(Measured {
            key: format!("{} file", source.path),
            path: source.path.clone(),
            line: 1,
            lines: lines_outside_tests(source),
        });
    }
    against_ratchet(&files, FILE_LINES_MAX, &excused(&tree.ratchet, "file"))
}

/// `function-length`: no function, in tests neither, has more than 70 lines.
pub fn check_functions(tree: &Tree) -> Vec<Violation> {
    let mut functions = Vec::new();
    for source in &tree.sources {
        add_functions(source, &mut functions);
    }
    against_ratchet(&functions, FUNCTION_LINES_MAX, &excused(&tree.ratchet, "function"))
}

fn lines_outside_tests(source: &SourceFile) -> usize {
    let counts = Counts::of(source);
    counts.code + counts.comments
}

/// An entry of the list: where it stands, what it excuses, up to which length.
pub struct Excuse {
    pub line: usize,
    pub key: String,
    pub lines: Option<usize>,
}

pub fn excused(ratchet: &str, kind: &str) -> Vec<Excuse> {
    let mut excuses = Vec::new();
    for (index, line) in ratchet.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') || line.split_whitespace().nth(1) != Some(kind) {
            continue;
        }
        let (key, lines) = line.rsplit_once(' ').unwrap_or((line, ""));
        excuses.push(Excuse { line: index + 1, key: key.trim().to_owned(), lines: lines.parse().ok() });
    }
    excuses
}

/// How many places of a kind the list excuses in the whole tree.
pub fn allowed_in_tree(ratchet: &str, kind: &str) -> usize {
    match excused(ratchet, kind).first() {
        Some(Excuse { lines: Some(lines), .. }) => *lines,
        _ => 0,
    }
}

fn against_ratchet(measured: &[Measured], limit: usize, excuses: &[Excuse]) -> Vec<Violation> {
    let mut found = Vec::new();
    for one in measured {
        let mut allowed = limit;
        for excuse in excuses {
            if excuse.key == one.key {
                allowed = excuse.lines.unwrap_or(limit);
            }
        }
        if one.lines > allowed.max(limit) {
            let message = format!("{} lines, {allowed} are allowed; divide it", one.lines);
            found.push(Violation::new(&one.path, one.line, message));
        }
    }
    for excuse in excuses {
        let mut longest = 0;
        for one in measured {
            if one.key == excuse.key {
                longest = longest.max(one.lines);
            }
        }
        let message = match excuse.lines {
            None => "does not end in a number of lines".to_owned(),
            Some(_) if longest <= limit => {
                format!("'{}' needs no excuse any more; remove the line", excuse.key)
            }
            Some(lines) if longest < lines => format!("'{}' has shrunk; write {longest} here", excuse.key),
            Some(_) => continue,
        };
        found.push(Violation::new(RATCHET_FILE, excuse.line, message));
    }
    found
}

/// Measures every function with a body, under the name `Type::function`.
fn add_functions(source: &SourceFile, functions: &mut Vec<Measured>) {
    let tokens = &source.tokens;
    // Types whose blocks are open, each with the end of its block.
    let mut owners: Vec<(String, usize)> = Vec::new();
    for index in 0..tokens.len() {
        owners.pop_if(|(_, end)| *end == index);
        if begins_block_of_type(tokens, index)
            && let Some(open) = body_after(tokens, index)
        {
            owners.push((type_name(&tokens[index + 1..open]), tokens[open].partner));
        }
        if let [function, name, ..] = &tokens[index..]
            && function.is("fn")
            && name.is_word()
            && let Some(open) = body_after(tokens, index)
        {
            let owner: String = owners.iter().map(|(owner, _)| format!("{owner}::")).collect();
            functions.push(Measured {
                key: format!("{} function {owner}{}", source.path, name.text),
                path: source.path.clone(),
                line: first_line_of_signature(tokens, index),
                lines: tokens[tokens[open].partner].line + 1 - first_line_of_signature(tokens, index),
            });
        }
    }
}

/// `impl` or `trait` where an item begins; `impl Trait` in a signature begins none.
fn begins_block_of_type(tokens: &[Token], index: usize) -> bool {
    match tokens[index].text.as_str() {
        "impl" if index == 0 => true,
        "impl" => ["}", ";", "]", "{", "unsafe"].contains(&tokens[index - 1].text.as_str()),
        "trait" => true,
        _ => false,
    }
}

/// The `{` of the item that begins here; none when a `;` comes first.
fn body_after(tokens: &[Token], first: usize) -> Option<usize> {
    let end = end_of_item(tokens, first);
    (tokens[end].is("}")).then_some(tokens[end].partner)
}

/// `Ring` in `impl<T> Engine for ring::Ring<T> where …` and in `trait Ring: Send`.
fn type_name(head: &[Token]) -> String {
    let (mut name, mut angles) = ("impl", 0);
    for (index, token) in head.iter().enumerate() {
        match token.text.as_str() {
            "<" => angles += 1,
            ">" if index > 0 && !head[index - 1].is("-") => angles -= 1,
            "where" => break,
            ":" if angles == 0
                && !matches!(head.get(index + 1), Some(next) if next.is(":"))
                && !head[index - 1].is(":") =>
            {
                break;
            }
            word if token.is_word() && angles == 0 && word != "for" => name = word,
            _ => {}
        }
    }
    name.to_owned()
}

/// A signature begins with `pub`, `const`, `unsafe` or `async` where it has one.
fn first_line_of_signature(tokens: &[Token], function: usize) -> usize {
    let mut first = function;
    while first > 0 && matches!(tokens[first - 1].text.as_str(), "const" | "unsafe" | "async") {
        first -= 1;
    }
    tokens[first].line
}

#[cfg(test)]
mod tests {
    use super::{check_files, check_functions};
    use crate::tidy::{NOTHING, lines_found};
    use crate::tree::{RATCHET_FILE, Tree, Violation};

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
