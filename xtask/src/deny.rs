//! `cargo xtask deny`: licences, duplicate crates and sources of the dependencies, by `deny.toml`.

use crate::failure::Failure;
use crate::workspace::{cargo, has_cargo_subcommand, succeeds};

/// What of cargo-deny is run. Advisories are left out, because they need a database from the network.
const CHECK: [&str; 5] = ["deny", "check", "licenses", "bans", "sources"];

/// Runs cargo-deny, or says how to get it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    Failure::check_no_options("deny", arguments)?;
    if !has_cargo_subcommand("deny") {
        return Err(Failure::cannot(
            "cargo-deny is not installed. Install it with 'cargo install --locked cargo-deny', \
             then run 'cargo xtask deny' again.",
        ));
    }
    if succeeds(&mut cargo(&CHECK))? { Ok(()) } else { Err(Failure::checks_failed()) }
}
