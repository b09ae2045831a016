//! The tests of the report in Debian's chromium; and that the page's bundle is what its sources give.
//!
//! Node runs them, with the packages of `web/package-lock.json`. Without node, npm, chromium or registry they are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use super::system_tools;
use super::tally::Tally;
use crate::failure::Failure;
use crate::workspace::{output, root, succeeds, target_folder};

const NAME: &str = "tests in a browser";
/// Written by npm when it has installed everything.
const INSTALLED: &str = "node_modules/.package-lock.json";

/// Runs them with the program that the other tests have built.
pub fn run(tally: &mut Tally) -> Result<(), Failure> {
    println!("\n== npm test --prefix web");
    let web = root().join("web");
    let Some(chromium) = ready(&web, tally)? else { return Ok(()) };
    if !succeeds(npm(&web).args(["run", "check"]))? {
        tally.fail_step(
            "npm run check: the bundle of the page is not what web/src gives, or its types are wrong",
        );
    }
    let mut test = npm(&web);
    test.arg("test").env("CHROMIUM", chromium).env("DRIVESCOPE", target_folder().join("debug/drivescope"));
    let told = output(&mut test)?;
    let text = String::from_utf8_lossy(&told.stdout);
    for line in text.lines() {
        if !line.starts_with("> ") && !line.trim().is_empty() {
            println!("{line}");
        }
    }
    print!("{}", String::from_utf8_lossy(&told.stderr));
    match counts(&text) {
        Some((passed, failed)) => tally.add(passed, failed),
        None => tally.fail_step("npm test gave no result"),
    }
    Ok(())
}

/// The browser, when all that the tests need is there; otherwise they are counted as skipped.
fn ready(web: &Path, tally: &mut Tally) -> Result<Option<PathBuf>, Failure> {
    for tool in ["node", "npm", "chromium"] {
        if system_tools::find(tool).is_none() {
            skip(tally, &format!("{tool} cannot be found"));
            return Ok(None);
        }
    }
    let install = ["ci", "--no-audit", "--no-fund", "--fetch-retries=1"];
    if !is_installed(web) && !succeeds(npm(web).args(install))? {
        skip(tally, "npm could not install the packages of web/package-lock.json");
        return Ok(None);
    }
    Ok(system_tools::find("chromium"))
}

fn skip(tally: &mut Tally, why: &str) {
    println!("SKIPPED {NAME}: {why}");
    tally.skip(NAME, why);
}

/// Whether npm installed after the lock file was last changed.
fn is_installed(web: &Path) -> bool {
    match (changed(&web.join(INSTALLED)), changed(&web.join("package-lock.json"))) {
        (Ok(installed), Ok(locked)) => installed >= locked,
        _ => false,
    }
}

fn changed(file: &Path) -> std::io::Result<SystemTime> {
    file.metadata()?.modified()
}

fn npm(web: &Path) -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(web).env("PATH", system_tools::path_with_system_folders());
    command
}

/// How many passed and failed, by the last lines of the Test Anything Protocol as node writes it.
fn counts(output: &str) -> Option<(u64, u64)> {
    Some((count_of("pass ", output)?, count_of("fail ", output)? + count_of("cancelled ", output)?))
}

fn count_of(word: &str, output: &str) -> Option<u64> {
    for line in output.lines().rev() {
        if let Some(count) = line.strip_prefix("# ").and_then(|rest| rest.strip_prefix(word)) {
            return count.trim().parse().ok();
        }
    }
    None
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
