//! `drivescope sim new`.

use crate::cli::args::SimNewArguments;
use crate::cli::output;
use crate::cli::written::{self, Written};
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

pub fn run(arguments: &SimNewArguments) -> Result<u8, UserError> {
    let file = &arguments.file;
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Err(UserError::usage(format!(
            "{} does not end in .toml, as files of profiles do. Try: drivescope sim new {0}.toml",
            file.display()
        )));
    }
    written::check(arguments.json.as_deref(), file)?;
    let drive = find(&arguments.from)?;
    write(file, &drive.text)?;
    if arguments.json.is_some() {
        let mut written = Written::default();
        written.add_file(file);
        written.give("toml", arguments.json.as_deref())?;
        return Ok(exit::SUCCESS);
    }
    output::print(&format!(
        "Wrote {0}, a copy of {1}. Its keys: docs/reference/profiles.md\n  check it    drivescope sim show {0}\n  measure it  \
         drivescope check sim:{0}\n",
        file.display(),
        drive.profile.name
    ))?;
    Ok(exit::SUCCESS)
}

fn write(file: &Path, text: &str) -> Result<(), UserError> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let Err(error) = opened.and_then(|mut file| file.write_all(text.as_bytes())) else { return Ok(()) };
    let why = match error.kind() {
        ErrorKind::AlreadyExists => "it exists, and would be overwritten. Choose another name".into(),
        ErrorKind::NotFound => "its folder does not exist. Make it first".into(),
        _ => error.to_string(),
    };
    Err(UserError::failure(format!("cannot write the profile {}: {why}", file.display())))
}
