//! `cargo xtask fuzz`: libFuzzer on everything that reads bytes of others, built with the compiler that builds the rest. What it found
//! stays below the target folder; each case that did harm belongs into a test of the module that it harmed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist::release::host;
use crate::failure::{Doing, Failure};
use crate::workspace::{cargo, root, succeeds, target_folder};

const USAGE: &str = "Usage: cargo xtask fuzz [TARGET…] [--seconds N]\nNeeds a C++ compiler.";
/// How long each target is tried, if not told.
const SECONDS: u64 = 60;
/// What one try may take of memory, and of time, before it counts as harm. The longest import may take 16 MiB of text.
const MEMORY_MIB: u32 = 2048;
const TRY_SECONDS: u32 = 20;
/// What makes LLVM count edges and compared values, as libFuzzer wants them (LLVM's SanitizerCoverage). Overflows are harm.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions=on -Coverflow-checks=on -Ccodegen-units=1";

/// Builds the fuzzer and runs it on each target, whatever came of the one before.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (wished, seconds) = wishes(arguments)?;
    let targets = chosen(&wished, &seeded()?)?;
    let program = build()?;
    let mut harmed = Vec::new();
    for target in targets {
        println!("{target}: {seconds} s");
        if !fuzz(&program, &target, seconds)? {
            harmed.push(target);
        }
    }
    if harmed.is_empty() {
        return Ok(());
    }
    println!("Harm was done to: {}. The bytes are in {}.", harmed.join(", "), place("harm").display());
    Err(Failure::checks_failed())
}

/// The targets that are named, and how long each is tried.
fn wishes(arguments: &[String]) -> Result<(Vec<String>, u64), Failure> {
    let (mut targets, mut seconds) = (Vec::new(), SECONDS);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument != "--seconds" {
            targets.push(argument.clone());
            continue;
        }
        seconds = match rest.next().map(|count| count.parse()) {
            Some(Ok(count)) if count > 0 => count,
            _ => return Err(Failure::cannot(format!("--seconds needs a number.\n{USAGE}"))),
        };
    }
    Ok((targets, seconds))
}

/// The targets to try: all, unless some are named.
fn chosen(wished: &[String], known: &[String]) -> Result<Vec<String>, Failure> {
    for name in wished {
        if !known.contains(name) {
            return Err(Failure::cannot(format!(
                "There is no target '{name}': {}.\n{USAGE}",
                known.join(", ")
            )));
        }
    }
    Ok(if wished.is_empty() { known.to_vec() } else { wished.to_vec() })
}

/// The fuzzer. Its own target folder: everything in it is instrumented.
fn build() -> Result<PathBuf, Failure> {
    // Named, so that what runs while the build goes on is not instrumented.
    let host = host()?;
    let folder = place("build");
    let mut command =
        cargo(&["build", "--release", "-p", "fuzz", "--bin", "fuzz", "--features", "libfuzzer"]);
    command.args(["--target", &host]).env("RUSTFLAGS", INSTRUMENTED).env("CARGO_TARGET_DIR", &folder);
    if !succeeds(&mut command)? {
        return Err(Failure::cannot("The fuzzer does not build; its reason is above."));
    }
    Ok(folder.join(host).join("release/fuzz"))
}

/// Gives every target what it begins with; their names.
fn seeded() -> Result<Vec<String>, Failure> {
    let corpus = place("corpus");
    // Without the fuzzer's instruments, which do not link without it.
    let mut command = cargo(&["run", "-q", "-p", "fuzz", "--bin", "fuzz-seeds", "--"]);
    if !succeeds(command.arg(root()).arg(&corpus))? {
        return Err(Failure::cannot(format!("No seeds could be written to {}.", corpus.display())));
    }
    let entries = std::fs::read_dir(&corpus).doing(format_args!("read {}", corpus.display()))?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn fuzz(program: &Path, target: &str, seconds: u64) -> Result<bool, Failure> {
    let harm = place("harm").join(target);
    std::fs::create_dir_all(&harm).doing(format_args!("make {}", harm.display()))?;
    let mut command = Command::new(program);
    command
        .env("DRIVESCOPE_FUZZ_TARGET", target)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={TRY_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .args(["-max_len=65536", "-print_final_stats=1", "-verbosity=0", "-print_funcs=0"])
        .arg(format!("-artifact_prefix={}/", harm.display()))
        .arg(place("corpus").join(target));
    succeeds(&mut command)
}

fn place(what: &str) -> PathBuf {
    target_folder().join("fuzz").join(what)
}

#[cfg(test)]
mod tests {
    use super::{chosen, wishes};

    fn asked(words: &[&str]) -> Option<(Vec<String>, u64)> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let known = ["drive", "import"].map(str::to_owned);
        let (targets, seconds) = wishes(&words).ok()?;
        Some((chosen(&targets, &known).ok()?, seconds))
    }

    #[test]
    fn all_targets_are_tried_unless_some_are_named() {
        assert_eq!(asked(&[]), Some((vec!["drive".into(), "import".into()], 60)));
        assert_eq!(asked(&["import", "--seconds", "5"]), Some((vec!["import".into()], 5)));
        assert_eq!(asked(&["imports"]), None);
        assert_eq!(asked(&["--seconds", "0"]), None);
        assert_eq!(asked(&["--seconds"]), None);
    }
}
