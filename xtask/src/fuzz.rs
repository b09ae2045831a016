//! `cargo xtask fuzz`: libFuzzer on everything that reads bytes of others, built with the compiler that builds the rest. What it found
//! stays below the target folder; each case that did harm belongs into a test of the module that it harmed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::workspace::{cargo, root, target_folder};

const USAGE: &str = "Usage: cargo xtask fuzz [TARGET…] [--seconds N]\nNeeds a C++ compiler.";
/// How long each target is tried, if not told.
const SECONDS: u64 = 60;
/// What one try may take of memory, and of time, before it counts as harm. The longest import may take 16 MiB of text.
const MEMORY_MIB: u32 = 2048;
const TRY_SECONDS: u32 = 20;
/// What makes LLVM count the edges that are run and the values that are compared, as libFuzzer wants them; it stands so in LLVM's
/// SanitizerCoverage. Overflows are harm.
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
        if argument == "--seconds" {
            let count = rest.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
            seconds = count.ok_or_else(|| Failure::cannot(format!("--seconds needs a number.\n{USAGE}")))?;
        } else {
            targets.push(argument.clone());
        }
    }
    Ok((targets, seconds))
}

/// The targets to try: all, unless some are named.
fn chosen(wished: &[String], known: &[String]) -> Result<Vec<String>, Failure> {
    match wished.iter().find(|name| !known.contains(name)) {
        Some(name) => {
            Err(Failure::cannot(format!("There is no target '{name}': {}.\n{USAGE}", known.join(", "))))
        }
        None => Ok(if wished.is_empty() { known.to_vec() } else { wished.to_vec() }),
    }
}

/// The fuzzer. Its own target folder: everything in it is instrumented.
fn build() -> Result<PathBuf, Failure> {
    // Named, so that what runs while the build goes on is not instrumented.
    let host = host()?;
    let folder = place("build");
    let status = cargo(&[
        "build",
        "--release",
        "-p",
        "fuzz",
        "--bin",
        "fuzz",
        "--features",
        "libfuzzer",
        "--target",
        &host,
    ])
    .env("RUSTFLAGS", INSTRUMENTED)
    .env("CARGO_TARGET_DIR", &folder)
    .status()
    .map_err(|error| Failure::cannot(format!("Cannot start cargo build: {error}.")))?;
    if !status.success() {
        return Err(Failure::cannot("The fuzzer does not build; its reason is above."));
    }
    Ok(folder.join(host).join("release/fuzz"))
}

fn host() -> Result<String, Failure> {
    let told = Command::new("rustc").arg("-vV").output();
    let told = told.map_err(|error| Failure::cannot(format!("Cannot start rustc: {error}.")))?;
    let text = String::from_utf8_lossy(&told.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::cannot("rustc -vV names no host."))
}

/// Gives every target what it begins with; their names.
fn seeded() -> Result<Vec<String>, Failure> {
    let corpus = place("corpus");
    let (workspace, folder) = (root(), corpus.to_string_lossy().into_owned());
    // Without the fuzzer's instruments, which do not link without it.
    let words =
        ["run", "-q", "-p", "fuzz", "--bin", "fuzz-seeds", "--", &workspace.to_string_lossy(), &folder];
    if !cargo(&words).status().is_ok_and(|status| status.success()) {
        return Err(Failure::cannot(format!("No seeds could be written to {folder}.")));
    }
    let entries = std::fs::read_dir(&corpus);
    let entries =
        entries.map_err(|error| Failure::cannot(format!("Cannot read {}: {error}.", corpus.display())))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Whether nothing did harm.
fn fuzz(program: &Path, target: &str, seconds: u64) -> Result<bool, Failure> {
    let harm = place("harm").join(target);
    std::fs::create_dir_all(&harm)
        .map_err(|error| Failure::cannot(format!("Cannot make {}: {error}.", harm.display())))?;
    let status = Command::new(program)
        .env("DRIVESCOPE_FUZZ_TARGET", target)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={TRY_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .arg("-max_len=65536")
        .arg("-print_final_stats=1")
        .args(["-verbosity=0", "-print_funcs=0"])
        .arg(format!("-artifact_prefix={}/", harm.display()))
        .arg(place("corpus").join(target))
        .status()
        .map_err(|error| Failure::cannot(format!("Cannot start {}: {error}.", program.display())))?;
    Ok(status.success())
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
