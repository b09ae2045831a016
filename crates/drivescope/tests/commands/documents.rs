//! The examples in README.md and docs/ are what the program prints, and the documents are one book without dead links.
//!
//! A block of the language `console` has commands after `$ `, run in order in one store for each document, and what they print;
//! a line `...` stands for any lines. The program is `drivescope` alone, on virtual drives.

use crate::program::Home;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

const ANY_LINES: &str = "...";

/// A command and what it has to print.
struct Example {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        if !is_inside {
            is_inside = line == "```console";
        } else if line == "```" {
            is_inside = false;
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Example { line: index + 1, command: command.into(), expected: Vec::new() });
        } else if let Some(example) = found.last_mut() {
            example.expected.push(line.into());
        }
    }
    found
}

/// Whether the lines are what is expected, from the first to the last.
fn matches(expected: &[String], printed: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return printed.is_empty() };
    if first == ANY_LINES {
        return (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]));
    }
    printed.first().is_some_and(|line| line.trim_end() == first) && matches(rest, &printed[1..])
}

fn check(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("a document");
    let home = Home::new();
    let mut wrong = Vec::new();
    for example in examples(&text) {
        let words = shlex::split(&example.command).expect("words as a shell has them");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words[0], "drivescope", "{}: {}", document.display(), example.command);
        let outcome = home.run(&words[1..]);
        let printed: Vec<&str> = outcome.out.lines().collect();
        if !matches(&example.expected, &printed) {
            let place = format!("{}:{}", document.display(), example.line);
            wrong.push(format!("{place}: {} prints\n{}{}", example.command, outcome.out, outcome.err));
        }
    }
    wrong
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("generated") {
            documents(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            found.push(entry);
        }
    }
}

#[test]
fn every_example_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = vec![root.join("README.md")];
    documents(&root.join("docs"), &mut all);
    all.sort();
    let parts: Vec<&[PathBuf]> = all.chunks(all.len().div_ceil(2)).collect();
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(|| part.iter().flat_map(|path| check(path)).collect::<Vec<_>>()))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The local targets of the links of a page, without anchors; code has none.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(page).expect("a document");
    let prose: String = text.split("```").step_by(2).collect();
    let folder = page.parent().expect("a folder");
    let mut found = Vec::new();
    for after in prose.split("](").skip(1) {
        let target = after.split([')', '#']).next().unwrap_or_default();
        if !target.is_empty() && !target.contains("://") {
            found.push(folder.join(target));
        }
    }
    found
}

#[test]
fn every_page_is_in_the_summary_and_no_link_is_dead() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the project");
    let summary = root.join("docs/SUMMARY.md");
    let mut pages = Vec::new();
    documents(&root.join("docs"), &mut pages);
    documents(&root.join("docs/generated"), &mut pages);
    let listed: Vec<PathBuf> =
        links(&summary).iter().filter_map(|link| fs::canonicalize(link).ok()).collect();
    let unlisted: Vec<&PathBuf> =
        pages.iter().filter(|page| **page != summary && !listed.contains(page)).collect();
    assert!(unlisted.is_empty(), "not in docs/SUMMARY.md: {unlisted:?}");
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "CHANGELOG.md"] {
        pages.push(root.join(name));
    }
    assert!(pages.len() > 60, "{pages:?}");
    for page in pages {
        let dead: Vec<PathBuf> = links(&page).into_iter().filter(|link| !link.exists()).collect();
        assert!(dead.is_empty(), "{} links to {dead:?}", page.display());
    }
}

#[test]
fn what_differs_is_seen() {
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nc"), &["a", "b", "c"]));
    assert!(matches(&lines("...\nc\n..."), &["a", "b", "c"]));
    assert!(!matches(&lines("a\n...\nc"), &["a", "b"]));
    assert!(!matches(&lines("a"), &["a", "b"]));
    assert_eq!(examples("```console\n$ drivescope list\nx\n```\n```text\n$ other\n```\n").len(), 1);
}
