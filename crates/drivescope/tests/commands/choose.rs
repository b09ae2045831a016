//! `choose` asks for what it was not told. Its worked cases are examples in the documents.

use crate::program::Home;

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
