//! `drivescope import`: results of another program as a run.

use super::args::{DriveKindArgument, ImportArguments, OperationArgument, TellingArguments};
use super::output;
use super::stored::open_store;
use crate::error::{Cannot, UserError, exit};
use crate::imported_run::{self, Source, Telling};
use crate::stamp;
use clap::ValueEnum;
use import::{Format, Hints, TEXT_BYTES_MAX, read, read_all};
use model::quantity_text::QuantityError;
use model::request::Operation;
use model::units::Bytes;
use report::hostile::harmless;
use report::shell_words::quoted;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub fn run(arguments: &ImportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let telling = telling(&arguments.telling)?;
    let operation = match arguments.telling.operation {
        Some(OperationArgument::Read) => Some(Operation::Read),
        Some(OperationArgument::Write) => Some(Operation::Write),
        None => None,
    };
    let sources: Vec<&Path> = arguments.files.iter().map(PathBuf::as_path).collect();
    output::check(&arguments.output, &sources)?;
    let mut sources = Vec::new();
    for path in &arguments.files {
        let name = harmless(&path.to_string_lossy(), usize::MAX);
        let text = text_of(path, &name)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hints = Hints { file_name, operation };
        let what = format!("import {name}");
        let all = match arguments.telling.format {
            Some(format) => read(&text, format, &hints).map(|imported| vec![imported]),
            None => read_all(&text, &hints),
        };
        for imported in all.or_cannot(&what)? {
            sources.push(Source { name: name.clone(), imported });
        }
    }
    let records = imported_run::records(&sources, &telling)?;
    let measured_unix_s = sources.iter().find_map(|source| source.imported.measured_unix_s);
    let mut run = stamp::imported(
        command(arguments),
        measured_unix_s,
        records.target.clone(),
        records.environment.clone(),
    );
    let mut writer = open_store(store)?.begin(&run)?;
    imported_run::keep(&records, &mut run, &mut writer)?;
    run.findings = analysis::analyse(&run.view(&writer.series()?));
    stamp::finish_imported(&mut run);
    writer.finish(&run, &report::finding::documents(&run))?;
    output::give(&run, &arguments.output)?;
    Ok(output::judged(&run, &arguments.output, exit::SUCCESS))
}

fn telling(typed: &TellingArguments) -> Result<Telling, UserError> {
    let capacity = match &typed.capacity {
        Some(text) => meant("--capacity", text)?,
        None => Bytes::ZERO,
    };
    let mut positions = Vec::new();
    for text in &typed.position {
        positions.push(meant("--position", text)?);
    }
    Ok(Telling {
        model: typed.model.clone(),
        capacity: if capacity.is_zero() { None } else { Some(capacity) },
        positions,
        partitions: typed.partitions,
        turns: typed.kind.map(|kind| kind == DriveKindArgument::Disk),
    })
}

/// What is stored with the run as it was typed.
fn meant<Value: FromStr<Err = QuantityError>>(option: &str, text: &str) -> Result<Value, UserError> {
    match text.parse() {
        Ok(value) => Ok(value),
        Err(why) => Err(UserError::usage(format!("{option}: {why}"))),
    }
}

fn command(arguments: &ImportArguments) -> String {
    let typed = &arguments.telling;
    let mut words = vec!["drivescope".to_string(), "import".into()];
    for file in &arguments.files {
        words.push(quoted(&file.to_string_lossy()));
    }
    let (kind, operation) = (typed.kind.map(word), typed.operation.map(word));
    let mut options = vec![
        ("--as", typed.format.map(Format::name)),
        ("--model", typed.model.as_deref()),
        ("--capacity", typed.capacity.as_deref()),
        ("--kind", kind.as_deref()),
        ("--operation", operation.as_deref()),
    ];
    for position in &typed.position {
        options.push(("--position", Some(position)));
    }
    for (name, value) in options {
        if let Some(value) = value {
            words.extend([name.to_string(), quoted(value)]);
        }
    }
    if typed.partitions {
        words.push("--partitions".into());
    }
    words.join(" ")
}

fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("no value is hidden").get_name().to_owned()
}

/// Reading a device could take forever, and a drive is measured, not imported.
fn must_be_a_text(path: &Path, name: &str) -> Result<(), UserError> {
    let Ok(facts) = std::fs::metadata(path) else { return Ok(()) };
    let kind = facts.file_type();
    let what = match (kind.is_dir(), kind.is_block_device()) {
        (true, _) => "a folder, not a file of results".to_owned(),
        (_, true) => format!("a drive, not a file of results. To measure it: drivescope check {name}"),
        _ if kind.is_file() || kind.is_fifo() => return Ok(()),
        _ => "neither a file nor a pipe".to_owned(),
    };
    Err(UserError::usage(format!("cannot import {name}: it is {what}")))
}

/// The text of a file. Bytes that are not UTF-8 become replacement characters.
fn text_of(path: &Path, name: &str) -> Result<String, UserError> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        must_be_a_text(path, name)?;
        File::open(path).and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    read.or_cannot(&format!("read {name}"))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(UserError::failure(format!(
            "cannot import {name}: it is longer than {} MiB. Import a part of it; a log of every request of fio is shorter with \
             --log_avg_msec",
            TEXT_BYTES_MAX >> 20
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
