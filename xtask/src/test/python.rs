//! The tests of the Python package, with every CPython that it supports and this machine has.
//! ```text
//! uv ──► environment of each python3.9 … python3.13 below the target folder, packages of python/requirements.txt ──► pytest, mypy with the newest
//!    └─► environment of the fleet ──► pytest of the fleet, and of Ansible
//! ```
//! Nothing here can hang the test command: each program has a time limit after which it is killed with all that it started, reads nothing,
//! and writes to a file, so that no pipe that somebody still holds keeps us waiting.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::system_tools;
use super::tally::Tally;
use crate::failure::{Doing, Failure};
use crate::workspace::{root, target_folder};

const NAME: &str = "tests of the Python package";
/// The versions that `python/pyproject.toml` promises, the oldest first.
const VERSIONS: [&str; 5] = ["3.9", "3.10", "3.11", "3.12", "3.13"];
/// Makes environments and installs packages: pip takes three times as long for Spark and 20 times for the others.
const UV_PACKAGES: &str = "python/requirements-uv.txt";
const PACKAGES: &str = "python/requirements.txt";
/// The fleet has an environment of its own, with DuckDB, statistics and Ansible, for the newest Python only.
pub const FLEET_NAME: &str = "tests of the fleet";
const FLEET_PACKAGES: &str = "python/requirements-fleet.txt";
const FLEET_VERSION_MIN: &str = "3.11";
pub const ANSIBLE_NAME: &str = "tests of Ansible and Kubernetes";
const PACKAGE_TESTS: &[&str] = &["--ignore=tests/fleet", "--ignore=tests/ansible"];
const FLEET_TESTS: &[&str] = &["tests/fleet"];
/// All plays are one fixture, which takes longer than any test: it is not to be taken for one that hangs.
const ANSIBLE_TESTS: &[&str] = &["tests/ansible", "-o", "faulthandler_timeout=880"];
/// Time limits: making an environment, installing 600 MB of packages (most are Spark), and the tests. They take 5 s; the plays 3 min of processor time, and
/// 11 min of a machine on which ten others compute.
const ENVIRONMENT_SECONDS: u32 = 120;
const INSTALL_SECONDS: u32 = 600;
const TEST_SECONDS: u32 = 1200;
/// From being asked to end until being killed.
const GRACE_SECONDS: u32 = 10;

/// One CPython, and the environment with its packages.
#[derive(Clone)]
struct Python {
    version: &'static str,
    interpreter: PathBuf,
    environment: PathBuf,
    /// The locked list of its packages, below the root of the repository.
    packages: &'static str,
}

/// What pytest runs in an environment that is ready.
pub struct Suite {
    pub name: String,
    python: Python,
    tests: &'static [&'static str],
    has_types: bool,
}

/// Makes the environments. What cannot be set up fails the step, unless `without_system_tests`: then it is skipped and counted.
pub fn set_up(without_system_tests: bool) -> Result<(Vec<Suite>, Tally), Failure> {
    let (mut suites, mut tally) = (Vec::new(), Tally::default());
    let pythons = pythons()?;
    let Some(newest) = pythons.last() else {
        give_up(
            without_system_tests,
            &mut tally,
            NAME,
            "there is no CPython 3.9 to 3.13. Install python3-venv.",
        );
        return Ok((suites, tally));
    };
    let uv = match newest.uv()? {
        Ok(uv) => uv,
        Err(why) => {
            give_up(without_system_tests, &mut tally, NAME, &why.to_string());
            return Ok((suites, tally));
        }
    };
    for python in &pythons {
        let name = format!("{NAME} with {}", python.version);
        if python.is_prepared(&uv, &name, without_system_tests, &mut tally)? {
            let (python, has_types) = (python.clone(), python.version == newest.version);
            suites.push(Suite { name, python, tests: PACKAGE_TESTS, has_types });
        }
    }
    if let Some(fleet) = newest.of_fleet() {
        if fleet.is_prepared(&uv, FLEET_NAME, without_system_tests, &mut tally)? {
            for (name, tests) in [(FLEET_NAME, FLEET_TESTS), (ANSIBLE_NAME, ANSIBLE_TESTS)] {
                suites.push(Suite { name: name.to_owned(), python: fleet.clone(), tests, has_types: false });
            }
        }
    } else {
        tally.skip(FLEET_NAME, "they need Python 3.11");
        tally.skip(ANSIBLE_NAME, "they need Python 3.11");
    }
    let downloads = downloads();
    if downloads.exists() {
        fs::remove_dir_all(&downloads).doing(format_args!("remove {}", downloads.display()))?;
    }
    Ok((suites, tally))
}

fn give_up(without_system_tests: bool, tally: &mut Tally, name: &str, why: &str) {
    if without_system_tests {
        println!("SKIPPED {name}: {why}");
        tally.skip(name, why);
    } else {
        tally.fail_step(&format!("{name}: {why} Or run 'cargo xtask test --without-system-tests'."));
    }
}

/// Every supported CPython, the oldest first: on the search path, or of pyenv, whose names on the path are only for those it has chosen.
fn pythons() -> Result<Vec<Python>, Failure> {
    let mut found = Vec::new();
    for version in VERSIONS {
        for interpreter in candidates(version) {
            if is_version(&interpreter, version)? {
                let environment = folder().join(version);
                found.push(Python { version, interpreter, environment, packages: PACKAGES });
                break;
            }
        }
    }
    Ok(found)
}

fn candidates(version: &str) -> Vec<PathBuf> {
    let mut candidates = pyenv(version);
    candidates.extend(system_tools::find(&format!("python{version}")));
    candidates.extend(system_tools::find("python3"));
    candidates
}

fn pyenv(version: &str) -> Vec<PathBuf> {
    let root = match (std::env::var_os("PYENV_ROOT"), std::env::var_os("HOME")) {
        (Some(root), _) => PathBuf::from(root),
        (None, Some(home)) => PathBuf::from(home).join(".pyenv"),
        (None, None) => return Vec::new(),
    };
    let mut interpreters = Vec::new();
    for entry in fs::read_dir(root.join("versions")).into_iter().flatten().flatten() {
        let interpreter = entry.path().join("bin/python");
        if entry.file_name().to_string_lossy().starts_with(&format!("{version}.")) && interpreter.is_file() {
            interpreters.push(interpreter);
        }
    }
    interpreters.sort();
    interpreters
}

fn is_version(interpreter: &Path, version: &str) -> Result<bool, Failure> {
    let script = "import sys; print('%s %d.%d' % (sys.implementation.name, *sys.version_info[:2]))";
    let mut command = limited(30, interpreter);
    let told = logged(command.args(["-c", script]), "version")?;
    Ok(told.is_success && told.text.trim() == format!("cpython {version}"))
}

/// What of an environment could not be made, by its version or list, and the last line that said why.
enum Unprepared {
    Environment(&'static str, String),
    Packages(&'static str, String),
}

impl fmt::Display for Unprepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unprepared::Environment(version, why) => {
                write!(
                    formatter,
                    "no environment of Python {version} could be made ({why}). Install python3-venv."
                )
            }
            Unprepared::Packages(list, why) => {
                write!(formatter, "{list} could not be installed ({why}). Check the network.")
            }
        }
    }
}

impl Python {
    /// The same with the environment of the fleet, if it is new enough for that.
    fn of_fleet(&self) -> Option<Python> {
        let position = |version| VERSIONS.iter().position(|known| *known == version);
        if position(self.version) < position(FLEET_VERSION_MIN) {
            return None;
        }
        let environment = folder().join("fleet");
        Some(Python { environment, packages: FLEET_PACKAGES, ..self.clone() })
    }

    fn is_prepared(
        &self,
        uv: &Path,
        name: &str,
        without_system_tests: bool,
        tally: &mut Tally,
    ) -> Result<bool, Failure> {
        let prepared = self.prepare(uv)?;
        if let Err(why) = &prepared {
            give_up(without_system_tests, tally, name, &why.to_string());
        }
        Ok(prepared.is_ok())
    }

    /// Makes the environment, unless it was made of the same list of packages; otherwise why it cannot be made.
    fn prepare(&self, uv: &Path) -> Result<Result<(), Unprepared>, Failure> {
        let mut make = limited(ENVIRONMENT_SECONDS, uv);
        make.args(["venv", "--quiet", "--clear", "--python"]).arg(&self.interpreter);
        make.env("UV_CACHE_DIR", downloads());
        let mut install = limited(INSTALL_SECONDS, uv);
        install.args(["pip", "install", "--quiet", "--system-certs", "--only-binary", ":all:"]);
        // There is no wheel of it.
        install.args(["--no-binary", "pyspark", "--python"]).arg(self.program());
        install.env("UV_CACHE_DIR", downloads());
        self.prepare_by(make, install)
    }

    /// The program uv, installed by pip.
    fn uv(&self) -> Result<Result<PathBuf, Unprepared>, Failure> {
        let uv = Python { environment: folder().join("uv"), packages: UV_PACKAGES, ..self.clone() };
        let mut make = limited(ENVIRONMENT_SECONDS, &self.interpreter);
        make.args(["-m", "venv", "--clear"]);
        let mut install = limited(INSTALL_SECONDS, &uv.program());
        install.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
        Ok(uv.prepare_by(make, install)?.map(|()| uv.environment.join("bin/uv")))
    }

    fn prepare_by(&self, mut make: Command, mut install: Command) -> Result<Result<(), Unprepared>, Failure> {
        let list = root().join(self.packages);
        let wanted = fs::read(&list).doing(format_args!("read {}", list.display()))?;
        let installed = self.environment.join("installed.txt");
        if fs::read(&installed).is_ok_and(|installed| installed == wanted) {
            return Ok(Ok(()));
        }
        if let Some(why) = why_failed(make.arg(&self.environment), &self.log("venv"))? {
            return Ok(Err(Unprepared::Environment(self.version, why)));
        }
        if let Some(why) = why_failed(install.args(["--require-hashes", "-r"]).arg(&list), &self.log("pip"))?
        {
            return Ok(Err(Unprepared::Packages(self.packages, why)));
        }
        fs::write(&installed, wanted).doing(format_args!("write {}", installed.display())).map(Ok)
    }

    fn program(&self) -> PathBuf {
        self.environment.join("bin/python")
    }

    /// Steps that run concurrently write to different logs.
    fn log(&self, what: &str) -> String {
        let environment = self.environment.file_name().unwrap_or_default().to_string_lossy();
        format!("{environment}-{}", what.replace(['/', '=', '-'], "_"))
    }

    fn command(&self) -> Command {
        let mut command = limited(TEST_SECONDS, &self.program());
        // Plays start Python hundreds of times, and uv compiles nothing beforehand.
        command
            .current_dir(root().join("python"))
            .env("PYTHONPYCACHEPREFIX", self.environment.join("bytecode"));
        command
    }
}

impl Suite {
    /// Runs it with the program that cargo has built; gives what it printed.
    pub fn run(&self, tally: &mut Tally) -> Result<String, Failure> {
        let mut command = self.python.command();
        let program = target_folder().join("debug/drivescope");
        command
            .args(["-m", "pytest", "-q", "--color=no"])
            .args(self.tests)
            .env("DRIVESCOPE_PROGRAM", program);
        let told = logged(&mut command, &self.python.log(self.tests[0]))?;
        let counts = counts(&told.text);
        tally.add(counts.passed, counts.failed);
        for why in counts.skipped {
            tally.skip(&self.name, &why);
        }
        if !told.is_success && counts.failed == 0 {
            tally.fail_step(&format!(
                "{}: pytest {}, though no test of it failed: see above",
                self.name, told.ending
            ));
        }
        let types = if self.has_types { self.check_types(tally)? } else { String::new() };
        Ok(format!("{}\n{}{types}", self.name, told.text.trim_start()))
    }

    fn check_types(&self, tally: &mut Tally) -> Result<String, Failure> {
        // mypy has no version for Python 3.9 any more.
        if self.python.version == VERSIONS[0] {
            tally.skip("mypy", "it needs Python 3.10");
            return Ok(String::new());
        }
        let mut command = self.python.command();
        let told = logged(command.args(["-m", "mypy", "--no-incremental"]), &self.python.log("mypy"))?;
        if !told.is_success {
            tally.fail_step("mypy --strict of the Python package");
        }
        Ok(told.text)
    }
}

/// A program that is killed with everything it has started when it takes longer than this, and that has nothing to read.
fn limited(seconds: u32, program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.arg(format!("--kill-after={GRACE_SECONDS}")).arg(seconds.to_string()).arg(program);
    command.stdin(Stdio::null()).env_remove("PYTHONPATH").env_remove("PYTHONHOME");
    command
}

struct Told {
    is_success: bool,
    ending: String,
    text: String,
}

/// Runs a program with its output going to a file below the target folder.
fn logged(command: &mut Command, name: &str) -> Result<Told, Failure> {
    let path = folder().join(format!("{name}.log"));
    let made = fs::create_dir_all(folder()).and_then(|()| File::create(&path));
    let log =
        made.and_then(|log| Ok((log.try_clone()?, log))).doing(format_args!("write {}", path.display()))?;
    let status = command.stdout(log.0).stderr(log.1).status().doing("run timeout (coreutils)")?;
    let text = fs::read(&path).doing(format_args!("read {}", path.display()))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Told { is_success: status.success(), ending: ending(status.code(), &status.to_string()), text })
}

fn ending(code: Option<i32>, status: &str) -> String {
    match code {
        // As timeout(1) says that it had to end the program, politely or not.
        Some(124 | 137) => "was stopped at its time limit".to_owned(),
        _ => format!("ended with {status}"),
    }
}

/// The last line of what a program printed, if it failed.
fn why_failed(command: &mut Command, name: &str) -> Result<Option<String>, Failure> {
    let told = logged(command, name)?;
    if told.is_success {
        return Ok(None);
    }
    print!("{}", told.text);
    let last = told.text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(Some(format!("it {}: {}", told.ending, last.trim())))
}

fn folder() -> PathBuf {
    target_folder().join("python")
}

/// What the environments share while they are made. The user's own cache would keep 1.9 GB of each run where an index
/// does not say how long its files are good, since Spark is then built anew.
fn downloads() -> PathBuf {
    folder().join("downloads")
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
}

/// Of the last line of pytest, `1 failed, 26 passed, 1 error in 3.31s`, and of its lines about tests that could not run.
fn counts(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines() {
        if let Some(skipped) = line.strip_prefix("SKIPPED ") {
            counts.skipped.push(skipped.to_owned());
        }
    }
    let Some(result) = output.lines().rev().find(|line| line.contains(" in ")) else { return counts };
    for part in result.split(" in ").next().unwrap_or_default().split(", ") {
        let Some((count, what)) = part.trim().split_once(' ') else { continue };
        let Ok(count) = count.parse::<u64>() else { continue };
        match what {
            "passed" => counts.passed += count,
            "failed" | "error" | "errors" => counts.failed += count,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::{Counts, counts, ending, limited, logged};
    use std::path::Path;

    #[test]
    fn the_numbers_are_those_of_the_last_line() {
        let output = "..s.F\nSKIPPED [1] tests/test_x.py:12: no root\n2 failed, 26 passed, 1 skipped, 1 error in 3.31s\n";
        let skipped = vec!["[1] tests/test_x.py:12: no root".to_owned()];
        assert_eq!(counts(output), Counts { passed: 26, failed: 3, skipped });
        assert_eq!(counts("usage: pytest"), Counts::default());
    }

    #[test]
    fn a_program_that_hangs_is_stopped_with_what_it_started_and_gets_no_input() {
        let mut command = limited(1, Path::new("sh"));
        let told = logged(command.args(["-c", "read line; echo read:$?; sleep 60 & wait"]), "hang")
            .expect("sh starts");
        assert_eq!((told.text.as_str(), told.is_success), ("read:1\n", false));
        assert_eq!(told.ending, "was stopped at its time limit");
        assert_eq!(ending(Some(3), "exit status: 3"), "ended with exit status: 3");
    }
}
