//! The gate on what the tool itself costs: instructions for each I/O, which do not depend on how busy the machine is.

mod loopdev;

use loopdev::{has_program, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two numbers of I/Os: what starting costs falls out of the difference.
const OPERATIONS: [u64; 2] = [100_000, 400_000];
/// More than this over the recorded number fails.
const TOLERANCE: f64 = 0.05;
const RECORDED: &str = "instructions-per-io.txt";
/// Nothing of virtual drives and other libraries is in the path, and to optimise them takes half a minute.
const UNOPTIMISED: [&str; 4] = [
    "--config",
    "profile.release.package.sim.opt-level=0",
    "--config",
    "profile.release.package.'*'.opt-level=0",
];

#[test]
fn no_more_instructions_for_each_io_than_recorded() {
    if !has_program("no_more_instructions_for_each_io_than_recorded", "valgrind") {
        return;
    }
    let program = release_build();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED)).expect(RECORDED);
    let mut too_many = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (depth, recorded) = line.split_once(' ').expect("depth and instructions");
        let recorded: f64 = recorded.parse().expect("a number of instructions");
        let measured = instructions_per_io(&program, depth);
        println!("depth {depth}: {measured:.1} instructions per I/O, {recorded} recorded");
        if measured > recorded * (1.0 + TOLERANCE) {
            too_many.push(format!("depth {depth}: {measured:.1} instead of {recorded}"));
        } else if measured < recorded * (1.0 - TOLERANCE) {
            println!("depth {depth}: {RECORDED} can be lowered to {measured:.0}");
        }
    }
    assert!(too_many.is_empty(), "more instructions for each I/O than {RECORDED} allows: {too_many:?}");
}

/// Builds the path of an I/O as users get it, into the folder that this test was built in.
fn release_build() -> PathBuf {
    let executable = std::env::current_exe().expect("a test knows where it is");
    let target = executable.ancestors().nth(3).expect("target/PROFILE/deps/TEST").to_owned();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "-p", "io", "--example", "engine_rate", "--target-dir"])
        .arg(&target)
        .args(UNOPTIMISED)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the example builds");
    target.join("release/examples/engine_rate")
}

fn instructions_per_io(program: &Path, depth: &str) -> f64 {
    let [few, many] = OPERATIONS.map(|operations| instructions(program, depth, operations));
    (many - few) as f64 / (OPERATIONS[1] - OPERATIONS[0]) as f64
}

fn instructions(program: &Path, depth: &str, operations: u64) -> u64 {
    let directory = tempfile::tempdir().expect("a folder");
    let log = directory.path().join("log");
    let log_option = format!("--log-file={}", log.display());
    let program = program.to_str().expect("a plain path");
    let operations = operations.to_string();
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null", &log_option];
    run("valgrind", &[&callgrind[..], &[program, "null", "none", depth, "operations", &operations]].concat());
    collected(&std::fs::read_to_string(log).expect("valgrind wrote its log"))
}

/// callgrind ends its log with `==PID== Collected : INSTRUCTIONS`.
fn collected(log: &str) -> u64 {
    let (_, count) = log.rsplit_once("Collected :").expect("callgrind says what it collected");
    count.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number of instructions")
}
