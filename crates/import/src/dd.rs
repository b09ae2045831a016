//! dd: one transcript or several, each with its command if the text has it. Of one that reports its progress, by a signal or by
//! `status=progress`, the steps between the reports are figures of their own.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Place, Set, Transfer};
use crate::text::{Field, Line, any_line, lines, position_of};
use model::quantity_text::parse_size;
use model::request::Operation;

/// A block, where there is no command that says otherwise.
const BLOCK: u64 = 512;

#[derive(Clone, Debug, Default)]
struct Command {
    input: String,
    output: String,
    block: u64,
    skip: u64,
    seek: u64,
    has_count: bool,
    direct: bool,
    synced: bool,
}

#[derive(Clone, Copy)]
struct Report {
    bytes: u64,
    seconds: f64,
}

#[derive(Default)]
struct Run {
    command: Option<Command>,
    reports: Vec<Report>,
    /// Whether it came to the end of the drive: a part of a block, or no space left.
    ended: bool,
}

struct Reader {
    imported: Imported,
    told: Option<Operation>,
    run: Run,
}

pub(crate) fn fits(text: &str) -> bool {
    any_line(text, report_fields)
}

/// "N bytes (…) copied, S s, …", "N bytes transferred in S secs (…)": where bytes and seconds stand.
fn report_fields<'text>(line: Line<'text>) -> Option<(Field<'text>, Field<'text>)> {
    let words = line.words();
    let bytes_at = position_of(&words, &["bytes", "byte"])?;
    let seconds = word_after(&words, "copied", 1).or(word_after(&words, "transferred", 2))?;
    Some((*words.get(bytes_at.checked_sub(1)?)?, seconds))
}

fn word_after<'text>(words: &[Field<'text>], mark: &str, distance: usize) -> Option<Field<'text>> {
    let at = words.iter().position(|word| word.text.trim_end_matches(',') == mark)?;
    words.get(at + distance).copied()
}

pub(crate) fn read(text: &str, told: Option<Operation>) -> Result<Imported, ImportError> {
    let imported = Imported { tool: "dd", ..Imported::default() };
    let mut reader = Reader { imported, told, run: Run::default() };
    for line in lines(text) {
        if let Some(command) = command_of(line)? {
            reader.finish(line)?;
            reader.run.command = Some(command);
        } else if let Some((bytes, seconds)) = report_fields(line) {
            reader.report(line, &bytes, &seconds)?;
        } else if line.text.contains("No space left") {
            reader.run.ended = true;
        } else if let Some((count, _)) = line.text.split_once("records in")
            && let Some((whole, part)) = count.trim().split_once('+')
        {
            reader.run.ended |= whole.parse::<u64>().is_ok() && part == "1";
        }
    }
    let number = text.matches('\n').count() + 1;
    reader.finish(Line { number, text: "" })?;
    Ok(reader.imported)
}

/// The command, if the line holds one: after a prompt, in a loop, or alone.
fn command_of(line: Line<'_>) -> Result<Option<Command>, ImportError> {
    let words = line.words();
    let Some(at) = words.iter().position(|word| {
        let name = word.text.trim_start_matches(['`', '$', '(']);
        name == "dd" || name.ends_with("/dd")
    }) else {
        return Ok(None);
    };
    let operands = &words[at + 1..];
    if !operands.iter().any(|word| word.text.starts_with("if=") || word.text.starts_with("of=")) {
        return Ok(None);
    }
    let mut command = Command { block: BLOCK, ..Command::default() };
    for word in operands {
        let Some((key, value)) = word.text.trim_end_matches(['`', ';', ',']).split_once('=') else {
            continue;
        };
        match key {
            "if" => command.input = value.to_owned(),
            "of" => command.output = value.trim_end_matches(';').to_owned(),
            "bs" | "ibs" | "obs" => command.block = operand(word, value)?,
            "skip" | "iseek" => command.skip = operand(word, value)?,
            "seek" | "oseek" => command.seek = operand(word, value)?,
            "count" => command.has_count = true,
            "iflag" => command.direct |= value.contains("direct"),
            "oflag" => {
                command.direct |= value.contains("direct");
                command.synced |= value.contains("sync");
            }
            "conv" => command.synced |= value.contains("sync"),
            _ => {}
        }
    }
    Ok(Some(command))
}

fn operand(word: &Field<'_>, value: &str) -> Result<u64, ImportError> {
    let what = "a size or a number, such as bs=1M";
    // A shell computes `$((1024*1024))`, and dd itself `2x512`.
    let factors = value.trim_start_matches("$((").trim_end_matches(')').split(['*', 'x']);
    let mut product = 1u64;
    for factor in factors {
        let size = word.needs(parse_size(factor.trim_end_matches('B')).ok(), what)?.get();
        product = word.needs(product.checked_mul(size), what)?;
    }
    Ok(product)
}

impl Command {
    /// What it measures, and the drive or file that it measures; none when it copies from one to the other or from nothing to nothing.
    fn subject(&self) -> Option<(Operation, &str)> {
        match (is_nothing(&self.input), is_nothing(&self.output)) {
            (false, true) => Some((Operation::Read, &self.input)),
            (true, false) => Some((Operation::Write, &self.output)),
            // An image to a drive, or a drive to an image.
            (false, false) => match (is_device(&self.input), is_device(&self.output)) {
                (true, false) => Some((Operation::Read, &self.input)),
                (false, true) => Some((Operation::Write, &self.output)),
                _ => None,
            },
            _ => None,
        }
    }
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

fn is_nothing(path: &str) -> bool {
    path.is_empty() || is_no_drive(path)
}

fn is_no_drive(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
    )
}

impl Reader {
    fn report(&mut self, line: Line<'_>, bytes: &Field<'_>, seconds: &Field<'_>) -> Result<(), ImportError> {
        let bytes_moved = bytes.whole("a number of bytes")?;
        let (elapsed, _) = seconds.number_and_rest("a number of seconds")?;
        let report = Report { bytes: bytes_moved, seconds: elapsed };
        // The counts of one dd only grow; where they do not, another one has begun.
        if let Some(last) = self.run.reports.last()
            && !(report.bytes > last.bytes && report.seconds > last.seconds)
        {
            // The last report of progress and the one at the end are of the same bytes.
            let again = last.bytes == report.bytes && report.seconds >= last.seconds;
            if again && self.run.command.is_some() {
                self.run.reports.pop();
            } else {
                self.finish(line)?;
            }
        }
        self.run.reports.push(report);
        Ok(())
    }

    /// A run has ended, at that line: what it reported becomes figures.
    fn finish(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let Run { command, reports, ended } = std::mem::take(&mut self.run);
        let Some(last) = reports.last().copied() else { return Ok(()) };
        if last.seconds <= 0.0 || last.bytes == 0 {
            self.imported.note("A transfer of zero bytes or zero time was left out.");
            return Ok(());
        }
        let subject = match &command {
            Some(command) => command.subject(),
            None => self.told.map(|operation| (operation, "")),
        };
        let Some((operation, path)) = subject else {
            if command.is_some() {
                self.imported.note("A dd that copies between drives or files says nothing about either alone and was left out.");
                return Ok(());
            }
            return Err(ImportError::at(
                line.number,
                0,
                "the command of each dd before its result, or --operation read or --operation write",
                line.text.trim(),
            ));
        };
        let command = command.clone().unwrap_or(Command { block: BLOCK, ..Command::default() });
        let on_device = is_device(path);
        let first_byte = match operation {
            Operation::Read => command.skip,
            _ => command.seek,
        };
        let Some(first_byte) = first_byte.checked_mul(command.block) else {
            return Err(
                line.error("a place that a drive can have: skip or seek times the block is too large")
            );
        };
        // An image ends where it ends, not where the drive does.
        let is_image = operation == Operation::Write && !is_nothing(&command.input);
        let is_whole = ended && !command.has_count && first_byte == 0 && !is_image;
        self.facts(&command, operation, path, if is_whole { Some(last.bytes) } else { None });
        let mut set = Set::default();
        let mut before = Report { bytes: 0, seconds: 0.0 };
        // What was moved between one report and the next.
        for report in reports {
            let (bytes, seconds) = (report.bytes - before.bytes, report.seconds - before.seconds);
            if bytes > 0 && seconds > 0.0 {
                let transfer = Transfer::of(Order::Sequential, operation, bytes, command.block);
                let place = Place { first_byte: first_byte.saturating_add(before.bytes), bytes };
                let figure = Figure::of(format!("{} in order", operation.name()), transfer, seconds);
                set.figures.push(figure.at(if on_device { Some(place) } else { None }));
            }
            before = report;
        }
        self.imported.sets.push(set);
        Ok(())
    }

    fn facts(&mut self, command: &Command, operation: Operation, path: &str, whole: Option<u64>) {
        if !path.is_empty() && self.imported.target.is_none() {
            self.imported.target = Some(path.to_owned());
        }
        if is_device(path)
            && let Some(bytes) = whole
        {
            self.imported.capacity = Some(model::units::Bytes::new(bytes));
        }
        if !is_nothing(&command.input) && !is_nothing(&command.output) {
            self.imported
                .note("dd copied between a drive and a file: the slower of the two sets the throughput.");
        }
        self.imported.direct = Some(self.imported.direct.unwrap_or(true) && command.direct);
        if !command.direct {
            self.imported.note("dd used the page cache: reads include kernel read-ahead and cached data.");
        }
        if operation == Operation::Write && !command.direct && !command.synced {
            self.imported.note("Without conv=fsync or oflag=direct the last of what dd wrote was still in memory when it stopped its clock.");
        }
    }
}
