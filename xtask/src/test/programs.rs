//! Test programs, two beside each other: many wait for devices and clocks, and one row leaves a processor idle.
//!
//! Cargo builds them, and they are started from here: `cargo test` of a part builds with other features, which takes minutes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::failure::{Doing, Failure};
use crate::workspace::{cargo, output};

/// What the test of docs/schema/ needs; the program does without.
const SCHEMAS: &str = "drivescope/schema";
const BUILDING: [&str; 6] =
    ["test", "--workspace", "--features", SCHEMAS, "--no-run", "--message-format=json-render-diagnostics"];
/// Tests in the documentation are called after their files, and no others are. `--doc` alone would build with other features again.
const DOCUMENTATION: [&str; 7] =
    ["test", "--workspace", "--features", SCHEMAS, "--no-fail-fast", "--", "src/"];
/// How many are under way. What makes loop devices waits for its turn by itself.
const AT_ONCE: usize = 2;
/// The longest begin first, so that none of them is left alone at the end.
const LONGEST: [&str; 3] = ["instructions_per_io", "scores", "commands"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What makes cargo run it alone: `-p io --test mount`.
    selection: String,
    name: String,
    executable: PathBuf,
    /// The folder of its package, in which cargo runs it.
    package: PathBuf,
}

pub struct Ended {
    /// What makes cargo run it alone.
    pub selection: String,
    pub status: ExitStatus,
    pub lines: Vec<String>,
}

/// Builds all test programs; none when that failed, or when Clippy (if it is there) found something.
pub fn build(has_clippy: bool) -> Result<Option<Vec<Program>>, Failure> {
    announce(&BUILDING);
    let built = output(compile(&BUILDING, has_clippy).stderr(Stdio::inherit()))?;
    if !built.status.success() {
        return Ok(None);
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let mut programs: Vec<Program> = messages.lines().filter_map(Program::of_message).collect();
    programs.sort_by_key(Program::is_short);
    Ok(Some(programs))
}

/// Compiles and lints in one pass; a separate `cargo clippy` reads all sources and packages again (75 s of 318 on 2 cores).
fn compile(arguments: &[&str], has_clippy: bool) -> Command {
    let mut command = cargo(arguments);
    if has_clippy {
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    }
    command
}

/// Runs them, and the tests in the documentation. The output of each is shown when it has ended.
pub fn run(
    programs: Vec<Program>,
    has_clippy: bool,
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<Vec<Ended>, Failure> {
    let (waiting, ended) = (Mutex::new(VecDeque::from(programs)), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let rows = [0; AT_ONCE].map(|_| scope.spawn(|| run_row(&waiting, &ended, &prepare)));
        for row in rows {
            row.join().expect("no row panics")?;
        }
        Ok(())
    })?;
    let mut ended = ended.into_inner().expect("no row panics");
    announce(&DOCUMENTATION);
    let mut command = compile(&DOCUMENTATION, has_clippy);
    prepare(&mut command);
    ended.push(stream("--doc", &mut command, &mut std::io::stdout())?);
    Ok(ended)
}

/// Runs one program after the other until none waits.
fn run_row(
    waiting: &Mutex<VecDeque<Program>>,
    ended: &Mutex<Vec<Ended>>,
    prepare: impl Fn(&mut Command),
) -> Result<(), Failure> {
    loop {
        let Some(program) = waiting.lock().expect("no row panics").pop_front() else { return Ok(()) };
        let mut command = program.command();
        prepare(&mut command);
        let done = stream(&program.selection, &mut command, &mut std::io::sink())?;
        let mut ended = ended.lock().expect("no row panics");
        println!("\n== cargo test {}", done.selection);
        for line in &done.lines {
            println!("{line}");
        }
        ended.push(done);
    }
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

    fn is_short(&self) -> bool {
        !LONGEST.contains(&self.name.as_str())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        command
    }
}

/// Passes what the program prints on line by line, its errors among it where they belong.
fn stream(selection: &str, command: &mut Command, shown: &mut dyn Write) -> Result<Ended, Failure> {
    let program = command.get_program().to_owned();
    let (status, lines) = read_lines(command, shown).doing(format_args!("run {}", program.display()))?;
    Ok(Ended { selection: selection.to_owned(), status, lines })
}

fn read_lines(command: &mut Command, shown: &mut dyn Write) -> std::io::Result<(ExitStatus, Vec<String>)> {
    let (reader, writer) = pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the ends to write to, and while it does the output has no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut lines = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(shown, "{line}")?;
        shown.flush()?;
        lines.push(line);
    }
    Ok((child.wait()?, lines))
}

pub fn announce(arguments: &[&str]) {
    println!("\n== cargo {}", arguments.join(" "));
}

#[cfg(test)]
mod tests {
    use super::{Program, stream};
    use std::process::Command;

    #[test]
    fn what_a_program_prints_is_passed_on_to_its_last_line_without_newline() {
        let mut shown = Vec::new();
        let program = "printf 'one\\n'; echo two >&2; printf three; exit 3";
        let ended = stream("sh", Command::new("sh").args(["-c", program]), &mut shown).expect("sh starts");
        assert_eq!(ended.lines, ["one", "two", "three"]);
        assert_eq!(shown, b"one\ntwo\nthree\n");
        assert_eq!(ended.status.code(), Some(3));
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
