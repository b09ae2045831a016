//! Rules on imports inside a crate: which module may not use which, what the pure crates may not use, no globs.

use crate::tree::imports::imports;
use crate::tree::{Tree, Violation};

/// Inside a crate: the modules on the left may not use the modules on the right.
const WALLS: &[(&str, &[&str], &[&str])] = &[
    ("drivescope", &["session", "store"], &["cli", "tui", "screen"]),
    ("analysis", &["stats"], &["detector"]),
];
/// Crates that are pure: same input, same output, on every machine.
const PURE_CRATES: [&str; 5] = ["model", "sim", "analysis", "experiment", "import"];
/// What a pure crate may not use: clocks, threads, files, the network, other programs.
const IMPURE: &[&[&str]] = &[
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "thread"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "env"],
];

/// `module-layers`: no import through a wall, in tests neither.
pub fn check_layers(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (crate_name, from, walled_off) in WALLS {
        for source in tree.sources_of(crate_name) {
            let path = source.module_path();
            let Some(module) = path.first() else { continue };
            if !from.contains(&module.as_str()) {
                continue;
            }
            for import in imports(source) {
                for target in *walled_off {
                    if import.begins_with(&["crate", target]) {
                        let message = format!("{module} may not use {target}");
                        found.push(Violation::new(&source.path, import.line, message));
                    }
                }
            }
        }
    }
    found
}

/// `pure-crates`: `model`, `sim`, `analysis`, `experiment` and `import` use no clock, thread or file outside their tests.
pub fn check_purity(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in PURE_CRATES.iter().flat_map(|name| tree.sources_of(name)) {
        for import in imports(source) {
            for impure in IMPURE {
                if import.begins_with(impure) && !source.is_test(import.line) {
                    let (name, impure) = (source.crate_name(), impure.join("::"));
                    let message = format!("crate {name} is pure and may not use {impure}");
                    found.push(Violation::new(&source.path, import.line, message));
                }
            }
        }
    }
    found
}

/// `glob-import`: `use super::*` hides what a file uses; only a test module may have it.
pub fn check_globs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for import in imports(source) {
            if import.is_super_glob && !source.is_test(import.line) {
                let message = "use super::* outside tests; name what is used";
                found.push(Violation::new(&source.path, import.line, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{check_globs, check_layers, check_purity};
    use crate::tidy::{NOTHING, lines_found};

    #[test]
    fn an_import_through_a_wall_is_found_however_it_is_written() {
        let text = "use crate::cli::Options;\nuse crate::{store, tui::Screen};\nuse super::cli;\nuse drivescope::screen as s;\n\
                    fn x() {\n    crate::cli::run();\n    println!(\"{}\", crate::tui::NAME);\n}\n\
                    mod inner {\n    use super::super::cli;\n}\n";
        let found = lines_found(check_layers, &[("crates/drivescope/src/session.rs", text)]);
        assert_eq!(found, [1, 2, 3, 4, 6, 7, 10]);
        let nested = "use super::super::tui::Screen;\nuse super::cli;\n";
        assert_eq!(lines_found(check_layers, &[("crates/drivescope/src/store/writer.rs", nested)]), [1]);
        let stats = "use super::super::detector::Detector;\n";
        assert_eq!(lines_found(check_layers, &[("crates/analysis/src/stats/robust.rs", stats)]), [1]);
    }

    #[test]
    fn imports_on_the_right_side_of_a_wall_pass() {
        let session = (
            "crates/drivescope/src/session.rs",
            "use crate::store;\nuse io::clock::Clock;\nfn cli(tui: u8) {}\n",
        );
        let cli = ("crates/drivescope/src/cli/run.rs", "use crate::session;\nuse crate::tui;\n");
        let detector = ("crates/analysis/src/detector/stalls.rs", "use crate::stats::robust;\n");
        assert_eq!(lines_found(check_layers, &[session, cli, detector]), NOTHING);
    }

    #[test]
    fn a_clock_thread_or_file_in_a_pure_crate_is_found() {
        let text = "use std::time::{Duration, Instant};\nfn x() {\n    std::thread::yield_now();\n    assert!(std::fs::exists(\"x\"));\n}\n";
        assert_eq!(lines_found(check_purity, &[("crates/sim/src/queue.rs", text)]), [1, 3, 4]);
    }

    #[test]
    fn durations_tests_and_the_other_crates_may() {
        let pure = (
            "crates/sim/src/queue.rs",
            "use std::time::Duration;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
        );
        let io = ("crates/io/src/clock.rs", "use std::time::Instant;\n");
        assert_eq!(lines_found(check_purity, &[pure, io]), NOTHING);
    }

    #[test]
    fn a_glob_from_above_is_found_outside_tests() {
        let text = "use super::*;\nuse super::super::*;\nuse super::{a, *};\n";
        assert_eq!(lines_found(check_globs, &[("crates/sim/src/queue.rs", text)]), [1, 2, 3]);
    }

    #[test]
    fn globs_in_tests_and_from_elsewhere_pass() {
        let text = "use model::units::*;\nuse super::a;\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
        assert_eq!(lines_found(check_globs, &[("crates/sim/src/queue.rs", text)]), NOTHING);
    }
}
