//! `cargo xtask bench` and `cargo xtask compare-peers`: crate `judge`, built as the program is shipped, on the whole product.

use crate::failure::Failure;
use crate::workspace::{cargo, succeeds};

const JUDGE: [&str; 6] = ["run", "--quiet", "--release", "-p", "judge", "--"];

pub fn bench(arguments: &[String]) -> Result<(), Failure> {
    run("bench", arguments)
}

pub fn compare_peers(arguments: &[String]) -> Result<(), Failure> {
    run("compare-peers", arguments)
}

fn run(command: &str, arguments: &[String]) -> Result<(), Failure> {
    if succeeds(cargo(&JUDGE).arg(command).args(arguments))? { Ok(()) } else { Err(Failure::checks_failed()) }
}
