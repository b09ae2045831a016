//! Rule on circles: no files of a crate use each other, directly or through others.

use super::length::allowed_in_tree;
use crate::shape::circles::{Circle, circles};
use crate::tree::{Tree, Violation};

/// `import-circles`: none, but for as many files in circles as the list of excuses has today.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let circles = circles(tree);
    let in_circles: usize = circles.iter().map(Circle::size).sum();
    let allowed = allowed_in_tree(&tree.ratchet, "circle-files");
    if in_circles <= allowed {
        return Vec::new();
    }
    let mut found = Vec::new();
    for circle in circles {
        let message = format!("files use each other in a circle: {}", circle.files.join(", "));
        found.push(Violation::new(&circle.files[0], 1, message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::{NOTHING, lines_found};
    use crate::tree::RATCHET_FILE;

    const A: (&str, &str) = ("crates/io/src/a.rs", "use crate::b::B;\n");
    const B: (&str, &str) = ("crates/io/src/b.rs", "use crate::a::A;\n");

    #[test]
    fn a_circle_is_found_and_a_row_is_none() {
        assert_eq!(lines_found(check, &[A, B]), [1]);
        assert_eq!(lines_found(check, &[A, ("crates/io/src/b.rs", "use crate::c::C;\n")]), NOTHING);
    }

    #[test]
    fn what_is_listed_may_stay_and_not_grow() {
        let excused = |list| lines_found(check, &[A, B, (RATCHET_FILE, list)]).len();
        assert_eq!(excused("tree circle-files 2\n"), 0);
        assert_eq!(excused("tree circle-files 1\n"), 1);
    }
}
