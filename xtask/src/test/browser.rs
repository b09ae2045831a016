//! The tests of the report in a browser: the page's bundle is what its sources give, and the page does in Debian's chromium
//! what it should.
//!
//! Node runs them, with packages that `web/package-lock.json` pins. Without node, npm, chromium or a package registry they are
//! skipped and counted.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::system_tools;
use super::tally::Tally;
use crate::Failure;
use crate::workspace::{root, target_folder};

const NAME: &str = "tests in a browser";
/// Written by npm when it has installed everything.
const INSTALLED: &str = "node_modules/.package-lock.json";

/// Runs them with the program that the other tests have built.
pub fn run(tally: &mut Tally) -> Result<(), Failure> {
    println!("\n== npm test --prefix web");
    let web = root().join("web");
    let Some(chromium) = ready(&web, tally) else { return Ok(()) };
    if !succeeds(npm(&web).args(["run", "check"]))? {
        tally.fail_step(
            "npm run check: the bundle of the page is not what web/src gives, or its types are wrong",
        );
    }
    let mut test = npm(&web);
    test.arg("test").env("CHROMIUM", chromium).env("DRIVESCOPE", target_folder().join("debug/drivescope"));
    let output = test.output().map_err(|error| cannot_start(&error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let interesting = |line: &&str| !line.starts_with("> ") && !line.trim().is_empty();
    text.lines().filter(interesting).for_each(|line| println!("{line}"));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    match counts(&text) {
        Some((passed, failed)) => tally.add(passed, failed),
        None => tally.fail_step("npm test gave no result"),
    }
    Ok(())
}

/// The browser, when all that the tests need is there; otherwise they are counted as skipped.
fn ready(web: &Path, tally: &mut Tally) -> Option<PathBuf> {
    let missing: Vec<&str> =
        ["node", "npm", "chromium"].into_iter().filter(|tool| system_tools::find(tool).is_none()).collect();
    if !missing.is_empty() {
        skip(tally, &format!("{} cannot be found", missing.join(", ")));
        return None;
    }
    if !is_installed(web)
        && !npm(web)
            .args(["ci", "--no-audit", "--no-fund", "--fetch-retries=1"])
            .status()
            .is_ok_and(|it| it.success())
    {
        skip(tally, "npm could not install the packages of web/package-lock.json");
        return None;
    }
    system_tools::find("chromium")
}

fn skip(tally: &mut Tally, why: &str) {
    println!("SKIPPED {NAME}: {why}");
    tally.skip(NAME, why);
}

/// Whether npm installed after the lock file was last changed.
fn is_installed(web: &Path) -> bool {
    let changed = |name: &str| web.join(name).metadata().and_then(|facts| facts.modified());
    match (changed(INSTALLED), changed("package-lock.json")) {
        (Ok(installed), Ok(locked)) => installed >= locked,
        _ => false,
    }
}

fn npm(web: &Path) -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(web).env("PATH", system_tools::path_with_system_folders());
    command
}

fn succeeds(command: &mut Command) -> Result<bool, Failure> {
    Ok(command.status().map_err(|error| cannot_start(&error))?.success())
}

fn cannot_start(error: &std::io::Error) -> Failure {
    Failure::cannot(format!("Cannot run npm: {error}."))
}

/// How many passed and failed, by the last lines of the Test Anything Protocol as node writes it.
fn counts(output: &str) -> Option<(u64, u64)> {
    let of = |word: &str| -> Option<u64> {
        let line = output.lines().rev().find_map(|line| line.strip_prefix("# ")?.strip_prefix(word));
        line?.trim().parse().ok()
    };
    Some((of("pass ")?, of("fail ")? + of("cancelled ")?))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn the_numbers_are_those_at_the_end() {
        let output = "TAP version 13\nok 1 - it draws\n1..13\n# tests 13\n# pass 11\n# fail 1\n# cancelled 1\n# skipped 0\n";
        assert_eq!(counts(output), Some((11, 2)));
        assert_eq!(counts("npm error"), None);
    }
}
