//! `choose` answers as its page in the documents says, word by word, and asks for what it was not told.

use crate::program::Home;

/// The page with the worked cases, from this crate.
const PAGE: &str = include_str!("../../../../docs/choose.md");

/// What was typed, and what came, of each block of the page that is a command.
fn cases() -> Vec<(Vec<&'static str>, &'static str)> {
    let blocks = PAGE.split("```\n").filter_map(|block| block.strip_prefix("$ drivescope "));
    let case = |block: &'static str| {
        let (command, output) = block.split_once('\n').expect("output behind a command");
        (command.split(' ').collect(), output)
    };
    blocks.map(case).collect()
}

#[test]
fn the_worked_cases_are_what_the_program_says() {
    let cases = cases();
    assert_eq!(cases.len(), 3);
    for (words, expected) in cases {
        let outcome = Home::new().run(&[&words[..], &["--plain"]].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        assert_eq!(outcome.out, expected, "{words:?}");
    }
}

#[test]
fn what_was_not_answered_is_asked() {
    let outcome = Home::new().run(&["choose", "--tolerate-fall", "yes", "--plain"]);
    let words: Vec<&str> = outcome.out.split_whitespace().collect();
    let asked = words.join(" ");
    assert!(asked.contains("Answer with --prefer cost|performance|steadiness"), "{}", outcome.out);
    assert!(!outcome.out.contains("\nAnswer\n"), "{}", outcome.out);
}

#[test]
fn what_makes_no_sense_is_named() {
    for (words, expected) in [
        (&["choose", "sim:smr-2tb"][..], "--daily 60GB"),
        (&["choose", "--daily", "60GB"], "name the drives"),
        (&["choose", "--daily", "0GB", "sim:null"], "takes no time"),
        (&["choose", "--daily", "60GB", "--random", "120%", "sim:null"], "`120%` is not a share"),
        (&["choose", "--daily", "60TB", "sim:null"], "2TB"),
        (&["choose", "--daily", "60GB", "sim:nothing"], "nothing"),
    ] {
        let outcome = Home::new().run(words);
        assert!(outcome.status == Some(2) && outcome.err.contains(expected), "{words:?}: {}", outcome.err);
    }
}
