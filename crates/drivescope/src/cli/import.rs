//! `drivescope import`: what another program measured becomes a run.

use super::args::ImportArguments;
use super::{open_store, output, resolve};
use crate::error::{UserError, exit};
use crate::imported_run::{self, Source};
use crate::stamp;
use import::{Hints, TEXT_BYTES_MAX, read, recognised};
use report::hostile::harmless;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Runs the command; the exit status.
///
/// # Errors
/// When a file cannot be read, is in no known format or breaks off where it matters, or when what is missing must be said.
pub fn run(arguments: &ImportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let wish = resolve::import(arguments)?;
    let sources: Vec<&Path> = arguments.files.iter().map(PathBuf::as_path).collect();
    output::check(&arguments.output, &sources)?;
    let mut sources = Vec::new();
    for path in &arguments.files {
        let name = harmless(&path.to_string_lossy(), usize::MAX);
        let text = text_of(path, &name)?;
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let hints = Hints { file_name, operation: wish.operation };
        let format = wish.format.map_or_else(|| recognised(&text, &hints), Ok);
        let imported = format.and_then(|format| read(&text, format, &hints));
        let imported =
            imported.map_err(|error| UserError::failure(format!("cannot import {name}: {error}")))?;
        sources.push(Source { name, imported });
    }
    let records = imported_run::records(&sources, &wish.telling)?;
    let measured_unix_s = sources.iter().find_map(|source| source.imported.measured_unix_s);
    let mut run =
        stamp::imported(wish.command, measured_unix_s, records.target.clone(), records.environment.clone());
    let mut writer = open_store(store)?.begin(&run)?;
    imported_run::keep(&records, &mut run, &mut writer)?;
    run.findings = analysis::analyse(&run.view(&writer.series()?));
    stamp::finish_imported(&mut run);
    writer.finish(&run)?;
    output::give(&run, &arguments.output)?;
    Ok(exit::SUCCESS)
}

/// Results are files and pipes. Reading a device could take forever, and a drive is measured and not imported.
fn must_be_a_text(path: &Path, name: &str) -> Result<(), UserError> {
    let Ok(kind) = std::fs::metadata(path).map(|facts| facts.file_type()) else { return Ok(()) };
    let what = match (kind.is_dir(), kind.is_block_device()) {
        (true, _) => "a folder, and results are files".to_owned(),
        (_, true) => {
            format!("a drive, and not what was measured on one. To measure it: drivescope check {name}")
        }
        _ if kind.is_file() || kind.is_fifo() => return Ok(()),
        _ => "neither a file nor a pipe".to_owned(),
    };
    Err(UserError::usage(format!("cannot import {name}: it is {what}")))
}

/// The text of a file, as far as it is text: what is none becomes the sign for that.
fn text_of(path: &Path, name: &str) -> Result<String, UserError> {
    let cannot = |error: std::io::Error| UserError::failure(format!("cannot read {name}: {error}"));
    let mut bytes = Vec::new();
    let most = TEXT_BYTES_MAX + 1;
    if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(cannot)?;
    } else {
        must_be_a_text(path, name)?;
        File::open(path).map_err(cannot)?.take(most).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(UserError::failure(format!(
            "cannot import {name}: it is longer than {} MiB, and results are pages. Import a part of it; a log of every request of fio is \
             shorter with --log_avg_msec",
            TEXT_BYTES_MAX >> 20
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
