//! Test programs in two rows that run beside each other: many wait for devices and clocks, and one row leaves a processor idle.

use std::io::{BufRead, BufReader, Write, pipe};
use std::process::Command;

use crate::Failure;
use crate::workspace::cargo;

use super::cannot_start;

const ALL: [&str; 3] = ["test", "--workspace", "--no-fail-fast"];
/// The two rows take about as long as each other. What makes loop devices waits for its turn by itself.
const ROWS: [&[&str]; 2] = [&["--lib", "--bins", "--test", "[a-l]*"], &["--test", "[!a-l]*"]];
const DOCUMENTATION: &[&str] = &["--doc"];

/// What a row printed, and whether all of it passed.
pub struct Ended {
    pub succeeded: bool,
    pub lines: Vec<String>,
}

/// Runs all tests. The output of the first row is shown as it comes, that of the second when both have ended.
pub fn run(prepare: impl Fn(&mut Command) + Sync) -> Result<Vec<Ended>, Failure> {
    let row = |row: &[&str], shown: &mut dyn Write| {
        let arguments = [&ALL, row].concat();
        let mut command = cargo(&arguments);
        prepare(&mut command);
        stream(&mut command, shown).map_err(|error| cannot_start(&arguments, &error))
    };
    let [first, second] = ROWS;
    super::announce(&[&ALL, first].concat());
    let (first, beside) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| row(second, &mut std::io::sink()));
        (row(first, &mut std::io::stdout()), beside.join().expect("a thread that only reads"))
    });
    let (first, beside) = (first?, beside?);
    super::announce(&[&ALL, second].concat());
    beside.lines.iter().for_each(|line| println!("{line}"));
    super::announce(&[&ALL, DOCUMENTATION].concat());
    Ok(vec![first, beside, row(DOCUMENTATION, &mut std::io::stdout())?])
}

/// Passes what the program prints on line by line, its errors among it where they belong.
fn stream(command: &mut Command, shown: &mut dyn Write) -> std::io::Result<Ended> {
    let (reader, writer) = pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the ends to write to, and while it does the output has no end.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut lines = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(shown, "{line}")?;
        shown.flush()?;
        lines.push(line);
    }
    Ok(Ended { succeeded: child.wait()?.success(), lines })
}

#[cfg(test)]
mod tests {
    use super::stream;
    use std::process::Command;

    #[test]
    fn what_a_program_prints_is_passed_on_to_its_last_line_without_newline() {
        let mut shown = Vec::new();
        let program = "printf 'one\\n'; echo two >&2; printf three; exit 3";
        let ended = stream(Command::new("sh").args(["-c", program]), &mut shown).expect("sh starts");
        assert_eq!(ended.lines, ["one", "two", "three"]);
        assert_eq!(shown, b"one\ntwo\nthree\n");
        assert!(!ended.succeeded);
    }
}
