//! Rule on detectors: each file tells, under the same headings, what it finds and when it cannot tell.

use syn::visit::{self, Visit};

use super::Violation;
use super::source::{SourceFile, Tree};

/// The headings every detector's file has, as `//! # …`.
const SECTIONS: [&str; 6] =
    ["What it finds", "Why it matters", "How", "Cannot tell when", "Known problems", "References"];

/// `detector-sections`: the file of every `impl Detector for …` has all headings.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let detectors =
        tree.sources.iter().filter(|source| source.crate_name() == "analysis" && holds_detector(source));
    detectors.flat_map(missing_sections).collect()
}

fn missing_sections(source: &SourceFile) -> Vec<Violation> {
    let header = source.text.lines().map_while(|line| line.strip_prefix("//!"));
    let headings: Vec<&str> = header
        .filter_map(|line| line.trim_start().strip_prefix('#'))
        .map(|line| line.trim_matches(['#', ' ']))
        .collect();
    let missing = SECTIONS.iter().filter(|section| !headings.contains(section));
    missing
        .map(|section| {
            Violation::new(&source.path, 1, format!("a detector without the section '//! # {section}'"))
        })
        .collect()
}

fn holds_detector(source: &SourceFile) -> bool {
    let mut finder = DetectorImpl { source, found: false };
    finder.visit_file(&source.syntax);
    finder.found
}

/// Looks for `impl Detector for …` outside tests.
struct DetectorImpl<'a> {
    source: &'a SourceFile,
    found: bool,
}

impl<'ast> Visit<'ast> for DetectorImpl<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_detector = item
            .trait_
            .as_ref()
            .is_some_and(|(path, _)| path.segments.last().is_some_and(|segment| segment.ident == "Detector"));
        self.found |= is_detector && !self.source.is_test(item.impl_token.span.start().line);
        visit::visit_item_impl(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::{check, missing_sections};
    use crate::tidy::source::SourceFile;
    use crate::tidy::{NOTHING, lines_found};

    const PATH: &str = "crates/analysis/src/detector/stalls.rs";
    const WHOLE: &str = "//! Stalls.\n//!\n//! # What it finds\n//! # Why it matters\n//! # How\n//! # Cannot tell when\n\
                         //! # Known problems\n//! # References\nimpl Detector for Stalls {}\n";

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
        let test_only = "//! The registry.\n#[cfg(test)]\nmod tests {\n    impl Detector for Fake {}\n}\n";
        let files = [(PATH, WHOLE), ("crates/analysis/src/detector/mod.rs", test_only)];
        assert_eq!(lines_found(check, &files), NOTHING);
    }
}
