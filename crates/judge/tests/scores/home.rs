//! Drivescope as it was built with these tests, and a folder for its runs and for drives of our own.

use judge::document::Document;
use judge::program::{Outcome, Program};
use judge::truth::Truths;
use judge::virtual_drive::{Drive, Folder, named};
use model::finding::FindingCode;
use sim::profile::Profile;
use std::path::Path;

pub struct Home {
    pub folder: Folder,
    program: Program,
}

impl Home {
    pub fn new() -> Home {
        let folder = Folder::make().expect("a temporary folder");
        let program = Program::in_judge(Path::new(env!("CARGO_BIN_EXE_judge")), folder.path());
        Home { folder, program }
    }

    pub fn run(&self, words: &[&str]) -> Outcome {
        self.program.outcome(words).expect("drivescope starts")
    }

    /// What a command prints that must succeed.
    pub fn print(&self, words: &[&str]) -> String {
        let outcome = self.run(words);
        assert_eq!(outcome.status, Some(0), "{words:?}: {}", outcome.err);
        outcome.out
    }

    pub fn changed(&self, of: &str, changes: &[(&str, &str)], more: &str) -> Drive {
        self.folder.changed(of, changes, more).expect("a drive")
    }

    /// That drive, which something else uses as well.
    pub fn shared(&self, of: &str, load: &str) -> Drive {
        self.changed(of, &[], &format!("\n[[faults]]\nkind = \"other-load\"\n{load}\n"))
    }

    /// That drive, of which the host sees completions late: by `mean_us` on average, and one in a hundred by a millisecond more.
    pub fn delayed(&self, of: &str, mean_us: u32) -> Drive {
        let fault = format!("kind = \"host-delay\"\nmean_us = {mean_us}\nlate_share = 0.01\nlate_ms = 1");
        self.changed(of, &[], &format!("\n[[faults]]\n{fault}\n"))
    }

    pub fn drive(&self, name: &str, text: &str) -> Drive {
        self.folder.drive(name, text).expect("a drive")
    }
}

/// The document of an experiment, with seed 1 unless another is given, however it ended.
pub fn ended(experiment: &str, target: &str, options: &[&str]) -> Document {
    let seed: &[&str] = if options.contains(&"--seed") { &[] } else { &["--seed", "1"] };
    let words = [&[experiment, target], seed, options].concat();
    let document = Home::new().program.run(&words).expect("a document");
    assert_certain(&document);
    document
}

/// No run states a number whose interval spans zero or a factor of more than three, but for bounds and counts.
fn assert_certain(document: &Document) {
    for finding in document.findings() {
        let is_bound =
            ["capacity-true", "data-integrity", "read-ahead", "commit-latency", "commit-interference"]
                .contains(&finding["code"].as_str().unwrap_or_default());
        let (Some(low), Some(high)) = (finding["low"].as_f64(), finding["high"].as_f64()) else { continue };
        let says =
            low == high || low * high > 0.0 && high.abs().max(low.abs()) <= 3.0 * high.abs().min(low.abs());
        assert!(is_bound || says, "{finding}");
    }
}

/// The same of an experiment that must succeed.
pub fn measured(experiment: &str, target: &str, options: &[&str]) -> Document {
    let document = ended(experiment, target, options);
    assert_eq!(document.status, Some(0), "{experiment} {target} {options:?}");
    document
}

pub fn value(document: &Document, code: FindingCode) -> f64 {
    document.value(code).unwrap_or_else(|| panic!("{}: {}", code.name(), document.said(code)))
}

/// The number that is true of a drive.
pub fn truth(profile: &Profile, code: FindingCode) -> f64 {
    let truths = Truths::of(profile).expect("a sound drive");
    truths.value(code).unwrap_or_else(|| panic!("{} is not known", code.name()))
}

pub fn shipped(name: &str) -> Profile {
    named(name).expect("a drive that ships").profile
}
