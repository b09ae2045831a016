//! The command line: what was typed, what it means, and one file for each command.

pub mod args;
mod check;
mod list;
pub(crate) mod output;
mod resolve;
mod runs;
mod show;

use crate::error::{UserError, exit};
use crate::store::{self, Store};
use args::{Arguments, CheckArguments, Command};
use clap::Parser;
use std::ffi::OsString;
use std::path::Path;

/// Runs the program with these arguments; the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too; nothing can be done when the terminal is gone.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::SUCCESS };
        }
    };
    match dispatch(arguments) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("drivescope: {error}");
            error.status
        }
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, UserError> {
    let store = arguments.store.as_deref();
    match arguments.command {
        None => check::run(CheckArguments::plain(), store),
        Some(Command::Check(check)) => check::run(check, store),
        Some(Command::List(list)) => list::run(&list),
        Some(Command::Runs(runs)) => runs::run(&runs, store),
        Some(Command::Show(show)) => show::run(&show, store),
    }
}

fn open_store(folder: Option<&Path>) -> Result<Store, UserError> {
    match folder {
        Some(folder) => Ok(Store::open(folder)?),
        None => Ok(Store::open(&store::default_folder()?)?),
    }
}

impl CheckArguments {
    /// What `drivescope` without a command stands for: `drivescope check .`
    fn plain() -> CheckArguments {
        let arguments = Arguments::try_parse_from(["drivescope", "check"]);
        match arguments.map(|arguments| arguments.command) {
            Ok(Some(Command::Check(check))) => check,
            _ => unreachable!("`drivescope check` needs no options"),
        }
    }
}
