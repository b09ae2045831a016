//! Every target on what it begins with, and on that with pieces of it changed at random: nothing may panic.

use fuzz::{TARGETS, target};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// How often each is tried: to read and analyse a whole run takes a second where nothing is optimised.
fn cases(name: &str) -> u32 {
    if name == "stored-run" { 16 } else { 128 }
}

#[test]
fn every_target_reads_its_seeds() {
    for target in TARGETS {
        let seeds = target.seeds(root());
        assert!(!seeds.is_empty(), "{} has nothing to begin with", target.name);
        seeds.iter().for_each(|seed| (target.read)(seed));
        (target.read)(b"");
    }
}

#[test]
fn every_target_bears_changed_seeds() {
    for target in TARGETS {
        let seeds = target.seeds(root());
        let change = (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..9), any::<bool>());
        let changes = prop::collection::vec(change, 1..5);
        let mut runner = TestRunner::new(Config::with_cases(cases(target.name)));
        let outcome = runner.run(&(0..seeds.len(), changes), |(seed, changes)| {
            let mut bytes = seeds[seed].clone();
            for (place, new, replaces) in changes {
                let at = place.index(bytes.len() + 1);
                let end = if replaces { (at + new.len()).min(bytes.len()) } else { at };
                bytes.splice(at..end, new);
            }
            (target.read)(&bytes);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{}: {error}", target.name));
    }
}

#[test]
fn targets_are_found_by_their_names() {
    assert_eq!(target("import").map(|target| target.name), Some("import"));
    assert!(target("").is_none());
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TARGETS.len());
}
