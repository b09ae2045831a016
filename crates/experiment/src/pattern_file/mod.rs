//! Access patterns from files: plan files (TOML), Iometer's `.icf`, simple fio job files; and built-in ones by name.
//!
//! A [`PatternFile`] knows no drive: [`PatternFile::phases`] makes phases of it on a range. An experiment that brings a drive
//! into a state by a pattern asks for [`PatternFile::conditioning`], which is not analysed.

mod fio;
mod flaw;
mod icf;
mod phases;
mod plan;
mod types;

#[cfg(test)]
mod tests;

pub use flaw::{Flaw, PatternError, Reason, StepError};
pub use types::{Amount, Load, PatternFile, PatternStep, Shape, Stop};

use std::path::Path;

/// More steps than this nobody has typed.
const STEPS_MAX: usize = 1000;

const SHIPPED: [&str; 5] = [
    include_str!("../../data/plans/mixed-writes.toml"),
    include_str!("../../data/plans/sequential-1-mib.toml"),
    include_str!("../../data/plans/sequential-8-mib.toml"),
    include_str!("../../data/plans/sequential-64-kib.toml"),
    include_str!("../../data/plans/jesd219.toml"),
];

pub fn shipped() -> Vec<PatternFile> {
    let plans: Result<Vec<PatternFile>, Flaw> = SHIPPED.into_iter().map(plan::read).collect();
    plans.expect("the plans that ship are sound, as a test holds")
}

pub fn named(name: &str) -> Option<PatternFile> {
    shipped().into_iter().find(|plan| plan.name == name)
}

/// Reads the text of a file whose name, as it was typed, says by its ending what it holds: `.toml`, `.icf`, `.fio` or `.job`.
pub fn read(typed: &str, text: &str) -> Result<PatternFile, PatternError> {
    match read_named(typed, text) {
        Ok(file) => Ok(file),
        Err(flaw) => Err(PatternError { file: typed.into(), flaw }),
    }
}

fn read_named(typed: &str, text: &str) -> Result<PatternFile, Flaw> {
    let reader = reader_of(typed).ok_or(Reason::UnknownEnding)?;
    let mut file = reader(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    if file.name.is_empty() {
        let stem = Path::new(typed).file_stem().unwrap_or_default();
        file.name = stem.to_string_lossy().into_owned();
    }
    match file.steps.len() {
        0 => Err(Reason::NothingToDo.into()),
        count if count > STEPS_MAX => Err(Reason::TooManySteps { count, most: STEPS_MAX }.into()),
        _ => Ok(file),
    }
}

pub fn is_file_name(typed: &str) -> bool {
    reader_of(typed).is_some()
}

type Reader = fn(&str) -> Result<PatternFile, Flaw>;

fn reader_of(typed: &str) -> Option<Reader> {
    let ending = Path::new(typed).extension()?.to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "toml" => Some(plan::read),
        "icf" => Some(icf::read),
        "fio" | "job" => Some(fio::read),
        _ => None,
    }
}
