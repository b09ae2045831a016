//! The command line: what was typed, what it means, and one file for each command.

mod access;
pub mod args;
mod check;
mod choose;
mod compare;
mod estimate;
mod export;
mod files;
mod geometry;
mod import;
mod list;
mod measure;
pub(crate) mod output;
mod output_file;
mod picture;
mod plan;
mod purge;
mod replay;
mod report;
mod report_page;
mod resolve;
mod restore;
mod resume;
mod run_plan;
mod runs;
mod serve;
mod show;
mod sim;
mod sizes;
mod state;
mod stored;
mod surface;
mod sustain;
mod valleys;
mod verify;

use crate::error::{UserError, exit};
use crate::store::{self, Store};
use crate::target_choice::VIRTUAL_PREFIX;
use args::{Arguments, CheckArguments, Command};
use clap::Parser;
use clap::error::ContextKind;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What the standard library says of text that is no number.
const NO_NUMBER: &str = "invalid digit found in string";

/// Runs the program with these arguments; the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            explain(&error);
            return if error.use_stderr() { exit::USAGE } else { exit::SUCCESS };
        }
    };
    match dispatch(arguments) {
        Ok(status) => status,
        Err(error) => {
            output::say(&error.text);
            error.status
        }
    }
}

/// Says what is wrong with the words; help and version come this way too.
fn explain(error: &clap::Error) {
    let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
    let is_target = word.contains('/') || word.starts_with(VIRTUAL_PREFIX) || Path::new(&word).exists();
    let text = error.render().to_string();
    if !word.is_empty() && is_target {
        output::say(&format!(
            "`{word}` is no command. To measure it: drivescope check {word}. All commands: drivescope --help"
        ));
    } else if text.contains(NO_NUMBER) {
        output::say(&text.replace(NO_NUMBER, "it is not a whole number"));
    } else {
        // Nothing can be done when the terminal is gone.
        let _ = error.print();
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, UserError> {
    let store = arguments.store.as_deref();
    match arguments.command {
        None => check::run(&CheckArguments::plain(), store),
        Some(Command::Check(check)) => check::run(&check, store),
        Some(Command::Surface(surface)) => surface::run(&surface, store),
        Some(Command::Access(access)) => access::run(&access, store),
        Some(Command::Geometry(geometry)) => geometry::run(&geometry, store),
        Some(Command::Sustain(sustain)) => sustain::run(&sustain, store),
        Some(Command::Valleys(valleys)) => valleys::run(&valleys, store),
        Some(Command::Run(plan)) => run_plan::run(&plan, store),
        Some(Command::Sizes(sizes)) => sizes::run(&sizes, store),
        Some(Command::Files(files)) => files::run(&files, store),
        Some(Command::Verify(verify)) => verify::run(&verify, store),
        Some(Command::List(list)) => list::run(&list),
        Some(Command::Runs(runs)) => runs::run(&runs, store),
        Some(Command::Replay(replay)) => replay::run(&replay, store),
        Some(Command::Show(show)) => show::run(&show, store),
        Some(Command::Import(import)) => import::run(&import, store),
        Some(Command::Compare(compare)) => compare::run(&compare, store),
        Some(Command::Report(report)) => report::run(&report, store),
        Some(Command::Serve(serve)) => serve::run(&serve, store),
        Some(Command::Export(export)) => export::run(&export, store),
        Some(Command::Estimate(estimate)) => estimate::run(&estimate, store),
        Some(Command::Plan(plan)) => plan::run(&plan, store),
        Some(Command::Purge(purge)) => purge::run(&purge, store),
        Some(Command::Restore(restore)) => restore::run(&restore, store),
        Some(Command::State(state)) => state::run(&state, store),
        Some(Command::Choose(choose)) => choose::run(&choose, store),
        Some(Command::Sim(sim)) => sim::run(&sim.command),
    }
}

/// A word as a shell reads it back.
pub(crate) fn quoted_word(word: &str) -> String {
    resolve::quoted(word)
}

fn store_folder(folder: Option<&Path>) -> Result<PathBuf, UserError> {
    Ok(folder.map_or_else(store::default_folder, |folder| Ok(folder.to_owned()))?)
}

/// The store to write to, made if there is none.
fn open_store(folder: Option<&Path>) -> Result<Store, UserError> {
    Ok(Store::open(&store_folder(folder)?)?)
}

/// The store to read from; none when nobody has made one. Looking at a folder by mistake leaves nothing there.
fn existing_store(folder: Option<&Path>) -> Result<Option<Store>, UserError> {
    let folder = store_folder(folder)?;
    match folder.join("runs").symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => Ok(Some(Store::open(&folder)?)),
    }
}

/// What somebody is told who looks into a store without runs.
fn no_runs(folder: Option<&Path>) -> Result<String, UserError> {
    Ok(format!("no runs in {} yet. Make one: drivescope check .", store_folder(folder)?.display()))
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
