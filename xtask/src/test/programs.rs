//! Test programs of the workspace.
//!
//! Cargo builds them, and they are started from here: `cargo test` of a part builds with other features, which takes minutes.

use std::io::{BufRead, BufReader, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;

use super::tally::Tally;
use crate::failure::{Doing, Failure};
use crate::workspace::{cargo, output};

/// What the test of docs/schema/ needs; the program does without.
const SCHEMAS: &str = "drivescope/schema";
const BUILDING: [&str; 6] =
    ["test", "--workspace", "--features", SCHEMAS, "--no-run", "--message-format=json-render-diagnostics"];
/// Tests in the documentation are called after their files, and no others are. `--doc` alone would build with other features again.
const DOCUMENTATION: [&str; 7] =
    ["test", "--workspace", "--features", SCHEMAS, "--no-fail-fast", "--", "src/"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What makes cargo run it alone: `-p io --test mount`.
    selection: String,
    pub name: String,
    executable: PathBuf,
    /// The folder of its package, in which cargo runs it.
    package: PathBuf,
}

/// Builds all test programs; none when that failed, or when Clippy (if it is there) found something.
pub fn build(has_clippy: bool) -> Result<Option<Vec<Program>>, Failure> {
    announce(&BUILDING);
    let built = output(compile(&BUILDING, has_clippy).stderr(Stdio::inherit()))?;
    if !built.status.success() {
        return Ok(None);
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    Ok(Some(messages.lines().filter_map(Program::of_message).collect()))
}

/// Compiles and lints in one pass; a separate `cargo clippy` reads all sources and packages again (75 s of 318 on 2 cores).
fn compile(arguments: &[&str], has_clippy: bool) -> Command {
    let mut command = cargo(arguments);
    if has_clippy {
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    }
    command
}

/// Runs the tests in the documentation.
pub fn run_documentation(
    has_clippy: bool,
    prepare: impl Fn(&mut Command),
    tally: &mut Tally,
) -> Result<(), Failure> {
    announce(&DOCUMENTATION);
    let mut command = compile(&DOCUMENTATION, has_clippy);
    prepare(&mut command);
    run_counted("--doc", &mut command, &mut std::io::stdout(), tally)
}

impl Program {
    /// The program of tests that a message of cargo tells of, if it does.
    fn of_message(line: &str) -> Option<Program> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["profile"]["test"] != true {
            return None;
        }
        let package = Path::new(message["manifest_path"].as_str()?).parent()?;
        let (kind, name) = (message["target"]["kind"][0].as_str()?, message["target"]["name"].as_str()?);
        let target = if kind == "lib" { "--lib".to_owned() } else { format!("--{kind} {name}") };
        Some(Program {
            selection: format!("-p {} {target}", package.file_name()?.to_str()?),
            name: name.to_owned(),
            executable: message["executable"].as_str()?.into(),
            package: package.to_owned(),
        })
    }

    pub fn run(&self, prepare: impl Fn(&mut Command), tally: &mut Tally) -> Result<String, Failure> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        prepare(&mut command);
        let mut printed = format!("cargo test {}\n", self.selection).into_bytes();
        run_counted(&self.selection, &mut command, &mut printed, tally)?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }
}

/// Passes what the program prints on line by line, its errors among it where they belong, and counts its tests.
fn run_counted(
    selection: &str,
    command: &mut Command,
    shown: &mut dyn Write,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let program = command.get_program().to_owned();
    tally.begin(selection);
    let status = read_lines(command, shown, tally).doing(format_args!("run {}", program.display()))?;
    tally.end(status.success(), &status.to_string());
    Ok(())
}

fn read_lines(
    command: &mut Command,
    shown: &mut dyn Write,
    tally: &mut Tally,
) -> std::io::Result<ExitStatus> {
    let (reader, writer) = pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the ends to write to, and while it does the output has no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(shown, "{line}")?;
        shown.flush()?;
        tally.see(line.trim_end());
    }
    child.wait()
}

pub fn announce(arguments: &[&str]) {
    println!("\n== cargo {}", arguments.join(" "));
}

#[cfg(test)]
mod tests {
    use super::{Program, Tally, read_lines};
    use std::process::Command;

    impl Program {
        pub fn called(name: &str) -> Program {
            let (executable, package) = (name.into(), "/w".into());
            Program { selection: String::new(), name: name.to_owned(), executable, package }
        }
    }

    #[test]
    fn what_a_program_prints_is_passed_on_to_its_last_line_without_newline() {
        let (mut shown, mut tally) = (Vec::new(), Tally::default());
        let program = "printf 'test result: ok. 1 passed;\\n'; echo two >&2; printf three; exit 3";
        let status = read_lines(Command::new("sh").args(["-c", program]), &mut shown, &mut tally);
        assert_eq!(shown, b"test result: ok. 1 passed;\ntwo\nthree\n");
        assert_eq!(status.expect("sh starts").code(), Some(3));
        assert_eq!(tally.summary(), "1 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn programs_of_tests_are_told_from_all_else_that_was_built() {
        let message = |kind: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/io/Cargo.toml","target":{{"kind":["{kind}"],"name":"mount"}},
                "profile":{{"test":{is_test}}},"executable":"/t/mount-1"}}"#
            )
        };
        let program = Program::of_message(&message("test", true)).expect("it is one");
        assert_eq!(program.selection, "-p io --test mount");
        assert_eq!(program.executable.to_str(), Some("/t/mount-1"));
        assert_eq!(program.package.to_str(), Some("/w/crates/io"));
        let library = Program::of_message(&message("lib", true)).expect("it is one");
        assert_eq!(library.selection, "-p io --lib");
        for other in
            [message("bin", false).as_str(), r#"{"reason":"build-finished","success":true}"#, "warning"]
        {
            assert_eq!(Program::of_message(other), None);
        }
    }
}
