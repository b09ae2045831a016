//! `cargo xtask test`: all that has to pass before a change is done, and the system packages that takes.
//! ```text
//! system tools ──► formatting ──► building with Clippy ──► tests and pytest ──► doc tests ──► tests in a browser ──► skipped tests with reasons ──► one line of numbers
//!            └──► environments of Python ─────────────┘
//! ```
//! A test that cannot run here says so in the file named by `DRIVESCOPE_SKIP_LOG`, one line each; it is counted
//! as skipped, not as passed.

mod browser;
mod programs;
mod python;
mod queue;
mod system_tools;
mod tally;
mod temporary_folder;

use std::fs;
use std::process::Command;

use crate::dist::files;
use crate::failure::{Doing, Failure};
use crate::workspace::{cargo, has_cargo_subcommand, succeeds, target_folder};
use programs::{Program, announce};
use python::Suite;
use queue::Job;
use tally::Tally;

/// Goes on without the system tools that are missing, and installs nothing.
const WITHOUT_SYSTEM_TESTS: &str = "--without-system-tests";
/// Names the file to which tests that cannot run here append `SKIPPED NAME: WHY`.
const SKIP_LOG_VARIABLE: &str = "DRIVESCOPE_SKIP_LOG";

/// Sets up, runs every check to its end, and prints what was skipped and the numbers.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let without_system_tests = match arguments {
        [] => false,
        [argument] if argument == WITHOUT_SYSTEM_TESTS => true,
        _ => {
            let given = arguments.join(" ");
            let message =
                format!("'cargo xtask test' takes only {WITHOUT_SYSTEM_TESTS}; it was given '{given}'.");
            return Err(Failure::cannot(message));
        }
    };
    system_tools::provide(without_system_tests)?;

    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        // Packages are waited for, and the compiler computes.
        let python = scope.spawn(|| python::set_up(without_system_tests));
        check_format(&mut tally)?;
        let has_clippy = is_installed("clippy", &mut tally);
        let Some(programs) = programs::build(has_clippy)? else {
            tally.fail_step("cargo test: the tests did not compile, or Clippy refused (see above)");
            return Ok(());
        };
        let (suites, set_up) = python.join().expect("what fails there is no panic")?;
        tally.add_all(set_up);
        run_tests(programs, suites, has_clippy, &mut tally)?;
        browser::run(&mut tally)
    })?;
    conclude(&tally)
}

fn conclude(tally: &Tally) -> Result<(), Failure> {
    println!("\n{}", tally.summary());
    if tally.is_success() { Ok(()) } else { Err(Failure::checks_failed()) }
}

/// Builds the program and runs the tests of the Python package alone.
pub fn run_python(arguments: &[String]) -> Result<(), Failure> {
    Failure::check_no_options("python", arguments)?;
    if !succeeds(&mut cargo(&["build", "-p", "drivescope"]))? {
        return Err(Failure::cannot("The program does not build; its reason is above."));
    }
    let (suites, mut tally) = python::set_up(false)?;
    queue::run(suites.into_iter().map(Job::Suite).collect(), |_| {}, &mut tally)?;
    conclude(&tally)
}

fn check_format(tally: &mut Tally) -> Result<(), Failure> {
    const CHECK: [&str; 3] = ["fmt", "--all", "--check"];
    announce(&CHECK);
    if !is_installed("rustfmt", tally) {
        return Ok(());
    }
    if !succeeds(&mut cargo(&CHECK))? {
        tally.fail_step("cargo fmt");
    }
    Ok(())
}

/// Whether the toolchain has this component; counts its check as skipped if not.
fn is_installed(component: &str, tally: &mut Tally) -> bool {
    let is_installed = has_cargo_subcommand(component.trim_start_matches("rust"));
    if !is_installed {
        let why = format!("the component is not installed; 'rustup component add {component}' brings it");
        println!("SKIPPED {component}: {why}");
        tally.skip(component, &why);
    }
    is_installed
}

/// Runs all tests but those in a browser, shows their output, and counts.
fn run_tests(
    programs: Vec<Program>,
    suites: Vec<Suite>,
    has_clippy: bool,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let skip_log = target_folder().join("skipped.log");
    files::write(&skip_log, "")?;
    let temporary = temporary_folder::choose();
    let prepare = |command: &mut Command| {
        command.env(SKIP_LOG_VARIABLE, &skip_log).env("TMPDIR", &temporary);
        command.env("PATH", system_tools::path_with_system_folders());
    };
    let mut jobs: Vec<Job> = programs.into_iter().map(Job::Program).collect();
    jobs.extend(suites.into_iter().map(Job::Suite));
    queue::run(jobs, prepare, tally)?;
    programs::run_documentation(has_clippy, prepare, tally)?;
    let log = fs::read_to_string(&skip_log).doing(format_args!("read {}", skip_log.display()))?;
    tally.read_skip_log(&log);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn unknown_options_are_refused_before_anything_runs() {
        let failure = run(&["--fast".to_owned()]).expect_err("there is no such option");
        assert_eq!(failure.exit_code, 2);
        assert!(failure.message.contains("--without-system-tests") && failure.message.contains("'--fast'"));
    }
}
