//! Counts passed, failed and skipped tests from what cargo prints and from the skip log.

/// The numbers of one `cargo xtask test`.
#[derive(Debug, Default)]
pub struct Tally {
    passed: u64,
    failed: u64,
    failed_names: Vec<String>,
    /// Tests marked `#[ignore]`, by the results of their programs.
    ignored: u64,
    /// The same tests by name, with the attribute's reason if it gives one.
    ignored_names: Vec<String>,
    /// What could not run here, with the reason.
    skipped: Vec<(String, String)>,
    failed_steps: Vec<String>,
    /// The test program whose output is seen.
    program: String,
    /// It has announced its tests and not yet their result.
    is_program_open: bool,
    /// Its last line, which tells the most of a program that dies.
    last_line: String,
}

impl Tally {
    /// The lines seen from now on are those of this program: `-p io --test mount`.
    pub fn begin(&mut self, program: &str) {
        self.program = program.to_owned();
        self.last_line.clear();
    }

    /// Sees one line of a program's output.
    pub fn see(&mut self, line: &str) {
        if !line.is_empty() {
            line.clone_into(&mut self.last_line);
        }
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.is_program_open = false;
            self.passed += count_before(counts, "passed");
            self.failed += count_before(counts, "failed");
            self.ignored += count_before(counts, "ignored");
        } else if is_announcement(line) {
            self.is_program_open = true;
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failed_names.push(format!("FAILED {name} of {}", self.program));
        } else if let Some((name, reason)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ignored"))
        {
            let reason = reason.trim_start_matches([',', ' ']);
            let reason = if reason.is_empty() { "marked #[ignore]" } else { reason };
            self.ignored_names.push(format!("SKIPPED {name}: {reason}"));
        }
    }

    /// The program has ended, with success or as `ending` says: `signal: 6 (SIGABRT)`.
    pub fn end(&mut self, succeeded: bool, ending: &str) {
        if self.is_program_open {
            self.is_program_open = false;
            let (program, last_line) = (&self.program, &self.last_line);
            self.fail_step(&format!(
                "{program} died before its result ({ending}); its last line: {last_line}"
            ));
        } else if !succeeded && self.failed == 0 && self.failed_steps.is_empty() {
            self.fail_step(&format!("{} ({ending}), though no test of it failed: see above", self.program));
        }
    }

    /// Takes in what was counted at the same time elsewhere.
    pub fn add_all(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.failed_names.extend(other.failed_names);
        self.ignored_names.extend(other.ignored_names);
        self.skipped.extend(other.skipped);
        self.failed_steps.extend(other.failed_steps);
    }

    pub fn add(&mut self, passed: u64, failed: u64) {
        self.passed += passed;
        self.failed += failed;
    }

    pub fn fail_step(&mut self, name: &str) {
        self.failed_steps.push(name.to_owned());
    }

    pub fn skip(&mut self, name: &str, why: &str) {
        self.skipped.push((name.to_owned(), why.to_owned()));
    }

    /// Takes the tests that reported themselves as skipped. The harness counted each as passed, which it was not.
    /// A test that gives two reasons counts once.
    pub fn read_skip_log(&mut self, log: &str) {
        for line in log.lines() {
            if line.trim().is_empty() {
                continue;
            }
            let entry = line.strip_prefix("SKIPPED ").unwrap_or(line);
            let (name, why) = entry.split_once(": ").unwrap_or((entry, "no reason given"));
            match self.skipped.iter_mut().find(|(known, _)| known == name) {
                Some((_, reasons)) if reasons.contains(why) => {}
                Some((_, reasons)) => {
                    reasons.push_str("; ");
                    reasons.push_str(why);
                }
                None => {
                    self.passed = self.passed.saturating_sub(1);
                    self.skip(name, why);
                }
            }
        }
    }

    /// Whether at least one test ran and nothing failed.
    pub fn is_success(&self) -> bool {
        self.failures() == 0 && self.passed > 0
    }

    fn failures(&self) -> u64 {
        self.failed + self.failed_steps.len() as u64
    }

    /// What was skipped and why, which checks failed, and as the last line the three numbers.
    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        for (name, why) in &self.skipped {
            lines.push(format!("SKIPPED {name}: {why}"));
        }
        lines.extend(self.ignored_names.iter().cloned());
        lines.extend(self.failed_names.iter().cloned());
        for step in &self.failed_steps {
            lines.push(format!("FAILED {step}"));
        }
        let skipped = self.skipped.len() as u64 + self.ignored;
        lines.push(format!("{} passed, {} failed, {skipped} skipped", self.passed, self.failures()));
        lines.join("\n")
    }
}

/// The number before a word: 3 in `ok. 12 passed; 3 failed; …`.
fn count_before(counts: &str, word: &str) -> u64 {
    let words: Vec<&str> = counts.split([' ', ';']).filter(|part| !part.is_empty()).collect();
    for pair in words.windows(2) {
        if pair[1] == word {
            return pair[0].parse().unwrap_or(0);
        }
    }
    0
}

fn is_announcement(line: &str) -> bool {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["running", count, "test" | "tests"] => count.parse::<u64>().is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn tally_of(output: &str, succeeded: bool, skip_log: &str) -> Tally {
        let mut tally = Tally::default();
        tally.begin("-p io --test mount");
        output.lines().for_each(|line| tally.see(line));
        tally.end(succeeded, "signal: 6 (SIGABRT)");
        tally.read_skip_log(skip_log);
        tally
    }

    const TWO_PROGRAMS: &str = "\
running 3 tests
test prng::tests::same_seed_same_numbers ... ok
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 14 tests
test permit::tests::whole_disk ... ignored, takes an hour
test permit::tests::partition ... ignored
test result: FAILED. 11 passed; 2 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.20s";

    #[test]
    fn results_of_all_programs_are_summed() {
        let tally = tally_of(TWO_PROGRAMS, false, "");
        assert_eq!(
            tally.summary(),
            "SKIPPED permit::tests::whole_disk: takes an hour\nSKIPPED permit::tests::partition: marked #[ignore]\n\
             14 passed, 2 failed, 2 skipped"
        );
        assert!(!tally.is_success());
    }

    #[test]
    fn a_test_that_skips_counts_once_as_skipped_and_not_as_passed() {
        let output =
            "running 5 tests\ntest result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let log = "SKIPPED permit::mounted_is_refused: no root\nSKIPPED permit::mounted_is_refused: no loop device\n\
                   SKIPPED swap_is_refused: no root\nSKIPPED swap_is_refused: no root\n";
        let tally = tally_of(output, true, log);
        assert_eq!(
            tally.summary(),
            "SKIPPED permit::mounted_is_refused: no root; no loop device\nSKIPPED swap_is_refused: no root\n\
             3 passed, 0 failed, 2 skipped"
        );
        assert!(tally.is_success());
    }

    #[test]
    fn a_program_that_dies_before_its_result_is_named_with_its_last_line() {
        let tally = tally_of("running 2 tests\ntest mounts ... ok\nfatal error\n", false, "");
        assert_eq!(
            tally.summary(),
            "FAILED -p io --test mount died before its result (signal: 6 (SIGABRT)); its last line: fatal error\n\
             0 passed, 1 failed, 0 skipped"
        );
        assert!(!tally.is_success());
    }

    #[test]
    fn a_program_that_fails_without_a_failed_test_is_a_failure() {
        let tally = tally_of("", false, "");
        assert_eq!(
            tally.summary(),
            "FAILED -p io --test mount (signal: 6 (SIGABRT)), though no test of it failed: see above\n\
             0 passed, 1 failed, 0 skipped"
        );
        assert!(!tally.is_success());
    }

    #[test]
    fn failed_tests_are_named_in_the_summary() {
        let output = "running 1 test\ntest unmounts ... FAILED\n\
                      test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        let summary = tally_of(output, false, "").summary();
        assert_eq!(summary, "FAILED unmounts of -p io --test mount\n0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn what_ran_at_the_same_time_counts_too() {
        let mut tally = tally_of(TWO_PROGRAMS, false, "");
        let mut other = tally_of("", true, "");
        other.add(2, 1);
        other.skip("mypy", "it needs Python 3.10");
        other.fail_step("the fleet: no network");
        tally.add_all(other);
        assert_eq!(
            tally.summary(),
            "SKIPPED mypy: it needs Python 3.10\nSKIPPED permit::tests::whole_disk: takes an hour\n\
             SKIPPED permit::tests::partition: marked #[ignore]\nFAILED the fleet: no network\n\
             16 passed, 4 failed, 3 skipped"
        );
    }

    #[test]
    fn a_run_without_tests_is_no_success() {
        let tally = tally_of("", true, "");
        assert_eq!(tally.summary(), "0 passed, 0 failed, 0 skipped");
        assert!(!tally.is_success());
    }

    #[test]
    fn other_checks_count_when_they_fail_or_are_skipped() {
        let mut tally = Tally::default();
        tally.fail_step("cargo fmt");
        tally.skip("cargo clippy", "the component is not installed");
        tally.see("test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.end(true, "exit status: 0");
        assert_eq!(
            tally.summary(),
            "SKIPPED cargo clippy: the component is not installed\nFAILED cargo fmt\n7 passed, 1 failed, 1 skipped"
        );
        assert!(!tally.is_success());
    }
}
