//! Rule on detectors: each file tells, under the same headings, what it finds and when it cannot tell.

use crate::tree::{SourceFile, Tree, Violation};

/// The headings every detector's file has, as `//! # …`.
const SECTIONS: [&str; 6] =
    ["What it finds", "Why it matters", "How", "Cannot tell when", "Known problems", "References"];

/// `detector-sections`: the file of every `Detector = Detector { … }` has all headings.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in tree.sources_of("analysis") {
        if holds_detector(source) {
            found.extend(missing_sections(source));
        }
    }
    found
}

fn missing_sections(source: &SourceFile) -> Vec<Violation> {
    let mut headings = Vec::new();
    for line in source.text.lines() {
        let Some(line) = line.strip_prefix("//!") else { break };
        if line.trim_start().starts_with('#') {
            headings.push(line.trim_matches(['#', ' ']));
        }
    }
    let mut found = Vec::new();
    for section in SECTIONS {
        if !headings.contains(&section) {
            let message = format!("a detector without the section '//! # {section}'");
            found.push(Violation::new(&source.path, 1, message));
        }
    }
    found
}

/// Whether `Detector = Detector { … }` stands in it outside tests.
fn holds_detector(source: &SourceFile) -> bool {
    source.lines_of(&["Detector", "=", "Detector"]).into_iter().any(|line| !source.is_test(line))
}

#[cfg(test)]
mod tests {
    use super::{check, missing_sections};
    use crate::tidy::{NOTHING, lines_found};
    use crate::tree::SourceFile;

    const PATH: &str = "crates/analysis/src/detector/stalls.rs";
    const WHOLE: &str = "//! Stalls.\n//!\n//! # What it finds\n//! # Why it matters\n//! # How\n//! # Cannot tell when\n\
                         //! # Known problems\n//! # References\nconst STALLS: Detector = Detector { detect };\n";

    #[test]
    fn a_detector_without_a_section_is_found_and_the_section_named() {
        let text = WHOLE.replace("//! # Cannot tell when\n", "");
        assert_eq!(lines_found(check, &[(PATH, &text)]), [1]);
        let source = SourceFile::parse(PATH, &text).expect("the text is Rust");
        assert_eq!(
            missing_sections(&source)[0].message,
            "a detector without the section '//! # Cannot tell when'"
        );
    }

    #[test]
    fn a_detector_with_all_sections_and_a_file_without_detector_pass() {
        let test_only = "//! The registry.\n#[cfg(test)]\nmod tests {\n    const FAKE: Detector = Detector { detect };\n}\n";
        let files = [(PATH, WHOLE), ("crates/analysis/src/detector/mod.rs", test_only)];
        assert_eq!(lines_found(check, &files), NOTHING);
    }
}
