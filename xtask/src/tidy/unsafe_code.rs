//! Rules on `unsafe`: it lives in crate `io`, and the compiler forbids it everywhere else.

use crate::tree::{SourceFile, Tree, Violation};

const CRATE_WITH_UNSAFE: &str = "io";
const FORBIDDEN: [&str; 8] = ["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"];

/// `unsafe-only-in-io`: the word stands in no other crate, not in tests and not in macros.
pub fn check_keyword(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources_outside_io(tree) {
        for line in source.lines_of(&["unsafe"]) {
            found.push(Violation::new(&source.path, line, "unsafe outside crate io; move it there"));
        }
    }
    found
}

/// `forbid-unsafe`: every root of every other crate says `#![forbid(unsafe_code)]`.
pub fn check_forbidden(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources_outside_io(tree) {
        if is_crate_root(source) && source.lines_of(&FORBIDDEN).is_empty() {
            found.push(Violation::new(&source.path, 1, "the crate's root lacks #![forbid(unsafe_code)]"));
        }
    }
    found
}

fn sources_outside_io(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.sources.iter().filter(|source| source.crate_name() != CRATE_WITH_UNSAFE)
}

fn is_crate_root(source: &SourceFile) -> bool {
    source.path.ends_with("/src/lib.rs")
        || source.path.ends_with("/src/main.rs")
        || source.path.contains("/src/bin/")
}

#[cfg(test)]
mod tests {
    use super::{check_forbidden, check_keyword};
    use crate::tidy::{NOTHING, lines_found};

    #[test]
    fn unsafe_is_found_outside_io() {
        let text = "fn x() {\n    unsafe { y() }\n}\nmacro_rules! z { () => { unsafe { y() } } }\n#[unsafe(no_mangle)]\nfn w() {}\n";
        assert_eq!(lines_found(check_keyword, &[("crates/sim/src/queue.rs", text)]), [2, 4, 5]);
    }

    #[test]
    fn unsafe_may_stand_in_io_and_in_words() {
        let in_io = ("crates/io/src/buffer.rs", "fn x() {\n    unsafe { y() }\n}\n");
        let in_words = ("crates/sim/src/lib.rs", "//! No unsafe.\n#![forbid(unsafe_code)]\n");
        assert_eq!(lines_found(check_keyword, &[in_io, in_words]), NOTHING);
    }

    #[test]
    fn a_root_that_does_not_forbid_unsafe_is_found() {
        let without = ("crates/sim/src/lib.rs", "//! A drive.\n#![warn(missing_docs)]\n");
        let denied_only = ("crates/drivescope/src/main.rs", "//! Main.\n#![deny(unsafe_code)]\n");
        assert_eq!(lines_found(check_forbidden, &[without, denied_only]), [1, 1]);
    }

    #[test]
    fn a_root_that_forbids_unsafe_passes_and_io_need_not() {
        let with = ("crates/sim/src/lib.rs", "//! A drive.\n#![forbid(unsafe_code)]\n");
        let io = ("crates/io/src/lib.rs", "//! I/O.\n");
        let no_root = ("crates/sim/src/queue.rs", "//! A queue.\n");
        assert_eq!(lines_found(check_forbidden, &[with, io, no_root]), NOTHING);
    }
}
