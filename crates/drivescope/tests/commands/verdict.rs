//! What a page begins with.

use crate::program::*;
use std::fs;

fn verdict(home: &Home, words: &[&str]) -> String {
    let page = home.print(&[words, &["-q", "--seed", "1"]].concat());
    let verdict = page.split("\n\n").find(|part| part.starts_with("Verdict: "));
    verdict.unwrap_or_else(|| panic!("{page}")).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// "Random 4 KiB reads at QD 1 average 84.3 µs over the whole drive" is a mean of what holds data and of what holds none.
#[test]
fn it_tells_that_part_of_a_drive_holds_nothing() {
    let said = verdict(&Home::new(), &["check", "sim:random-trimmed-1539501", "--deep"]);
    let told = "Random reads take 25.9 µs in about 30.4 % of the drive, and 110 µs in the rest: the fast part was never";
    assert!(said.contains(told), "{said}");
}

/// "472 requests failed" was all that it said.
#[test]
fn it_tells_that_what_failed_did_not_fail_again() {
    let home = Home::new();
    let path = home.folder.path().join("cable.toml");
    let constant = home.print(&["sim", "show", "constant"]);
    let profile = constant + "\n[[faults]]\nkind = \"short-reads\"\nevery_reads = 500\n";
    fs::write(&path, profile).expect("a profile");
    let target = format!("sim:{}", path.display());
    let outcome = home.run(&["surface", &target, "-q", "--seed", "1"]);
    let words: Vec<&str> = outcome.out.split_whitespace().collect();
    let told = "Requests failed. Bad blocks: inconclusive; ";
    let why = "requests failed, and none of 24 reads of the same blocks did afterwards";
    assert!(words.join(" ").contains(told) && words.join(" ").contains(why), "{}", outcome.out);
}
