//! Access patterns from files: plan files of our own (TOML), Iometer access specifications (`.icf`) and fio job files of
//! the simple kind; and those that come with the program, by name.
//!
//! [`find`] takes what somebody typed, a name or a path. A [`PatternFile`] knows no drive: [`PatternFile::phases`] makes
//! phases of it on a range. An experiment that wants to put a drive into a state by a pattern asks for
//! [`PatternFile::conditioning`], which is not analysed:
//! `pattern_file::find("mixed-writes")?.conditioning("valleys", range, &facts, Some(time))?`.

mod fio;
mod icf;
mod phases;
mod plan;

#[cfg(test)]
mod tests;

use model::plan::PhaseKind;
use model::units::{Bytes, Nanos};
use model::workload::{DataPattern, ZoneShare};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// A file of patterns is a page or two; what is longer is something else. Iometer's files with all their results pages
/// off are some tens of kilobytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// More steps than this nobody has typed.
const STEPS_MAX: usize = 1000;

/// What a file of patterns asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternFile {
    /// What it calls itself, else the name of the file.
    pub name: String,
    /// In a line, what it is for; may be empty.
    pub description: String,
    /// One after the other.
    pub steps: Vec<PatternStep>,
    /// Where it does less or something else than the file asks for, as sentences.
    pub notes: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternStep {
    /// For people.
    pub name: String,
    /// What it is for.
    pub kind: PhaseKind,
    /// What is done; nothing while idle.
    pub load: Option<Load>,
    /// When it ends: the first of those given.
    pub stop: Stop,
}

/// When a step ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// After this long.
    pub time: Option<Nanos>,
    /// After this much.
    pub bytes: Option<Amount>,
    /// After so many requests.
    pub operations: Option<u64>,
    /// After so many times through the range.
    pub passes: Option<u64>,
}

/// An amount or a place: in bytes, or as a share of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes.
    Bytes(Bytes),
    /// In [0, 1].
    Share(f64),
}

/// What a step does, on a drive that is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// From where in the range.
    pub from: Amount,
    /// Over how much of it; to its end if nothing is said.
    pub over: Option<Amount>,
    /// Where requests go.
    pub shape: Shape,
    /// Sizes and how often each is used.
    pub blocks: Vec<(Bytes, f64)>,
    /// Places are multiples of this; of the block if nothing is said.
    pub alignment: Option<Bytes>,
    /// The share of requests that read, in [0, 1]; none for discards.
    pub reads: Option<f64>,
    /// What is written.
    pub data: DataPattern,
    /// Requests under way in each thread.
    pub depth: u32,
    /// Threads.
    pub threads: u32,
    /// Requests per second over all threads, at equal distances; as fast as it goes if nothing is said.
    pub per_second: Option<f64>,
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// In order.
    Sequential,
    /// Each place once in random order; any place at any time where sizes differ.
    RandomOnce,
    /// Any place at any time.
    Random,
    /// Some parts more often.
    Zoned(Vec<ZoneShare>),
    /// In order with jumps: so many of the requests jump, in [0, 1].
    Mixed(f64),
    /// At equal distances.
    Strided(Bytes),
}

/// Why a file of patterns cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The file, as it was typed.
    pub file: String,
    /// The line, counted from 1, if it is about one.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}, line {line}: {}", self.file, self.reason),
            None => write!(formatter, "{}: {}", self.file, self.reason),
        }
    }
}

impl std::error::Error for PatternError {}

/// The reason why a line cannot be, before the file's name is known.
type Flaw = (Option<usize>, String);

/// The plans that come with the program: their texts.
const SHIPPED: [&str; 5] = [
    include_str!("../../data/plans/mixed-writes.toml"),
    include_str!("../../data/plans/sequential-1-mib.toml"),
    include_str!("../../data/plans/sequential-8-mib.toml"),
    include_str!("../../data/plans/sequential-64-kib.toml"),
    include_str!("../../data/plans/jesd219.toml"),
];

/// The plans that come with the program.
pub fn shipped() -> Vec<PatternFile> {
    let plans = SHIPPED.iter().map(|text| plan::read(text));
    plans.map(|plan| plan.expect("a plan that ships is sound, as a test holds")).collect()
}

/// The plan of that name that comes with the program.
pub fn named(name: &str) -> Option<PatternFile> {
    shipped().into_iter().find(|plan| plan.name == name)
}

/// Reads what was typed: the name of a plan that comes with the program, or a path whose ending says what it holds:
/// `.toml`, `.icf`, `.fio` or `.job`.
///
/// # Errors
/// Names file, line and reason.
pub fn find(typed: &str) -> Result<PatternFile, PatternError> {
    let fail = |reason: String| PatternError { file: typed.into(), line: None, reason };
    let ending = Path::new(typed).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let read: fn(&str) -> Result<PatternFile, Flaw> = match ending.as_deref() {
        Some("toml") => plan::read,
        Some("icf") => icf::read,
        Some("fio" | "job") => fio::read,
        _ => {
            return named(typed).ok_or_else(|| {
                let names: Vec<String> = shipped().into_iter().map(|plan| plan.name).collect();
                fail(format!(
                    "there is no plan of this name, and no file that ends in .toml, .icf or .fio. The plans that come with \
                     drivescope: {}",
                    names.join(", ")
                ))
            });
        }
    };
    let text = text_of(Path::new(typed)).map_err(fail)?;
    let mut file = read(&text).map_err(|(line, reason)| PatternError { file: typed.into(), line, reason })?;
    if file.name.is_empty() {
        let stem = Path::new(typed).file_stem().unwrap_or_default();
        file.name = stem.to_string_lossy().into_owned();
    }
    match file.steps.len() {
        0 => Err(fail("there is nothing to do in it".into())),
        count if count > STEPS_MAX => Err(fail(format!("{count} steps are more than {STEPS_MAX}"))),
        _ => Ok(file),
    }
}

/// The text of a file, which is not read further than it may be long. Letters of other character sets become signs for
/// what cannot be read: they can only be in names.
fn text_of(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is longer than {}: that is no file of patterns", Bytes(FILE_BYTES_MAX)));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}
