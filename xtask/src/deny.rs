//! `cargo xtask deny`: licences, duplicate crates and sources of the dependencies, by `deny.toml`.

use crate::Failure;
use crate::workspace::{cargo, has_cargo_subcommand};

/// What of cargo-deny is run. Advisories are left out, because they need a database from the network.
const CHECK: [&str; 5] = ["deny", "check", "licenses", "bans", "sources"];

/// Runs cargo-deny, or says how to get it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::cannot(format!(
            "'cargo xtask deny' takes no options; it was given '{argument}'."
        )));
    }
    if !has_cargo_subcommand("deny") {
        return Err(Failure::cannot(
            "cargo-deny is not installed. Install it with 'cargo install --locked cargo-deny', \
             then run 'cargo xtask deny' again.",
        ));
    }
    let status = cargo(&CHECK)
        .status()
        .map_err(|error| Failure::cannot(format!("Cannot start cargo deny: {error}.")))?;
    if status.success() { Ok(()) } else { Err(Failure::checks_failed()) }
}
