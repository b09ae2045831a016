//! The command line: what was typed, what it means, and one file for each command.

pub mod args;
mod begun_run;
mod choose;
mod command_line;
mod compare;
mod config;
mod declarations;
mod dry_run;
mod estimate;
mod export;
mod files;
mod help;
mod import;
mod list;
mod measure;
mod output;
mod output_file;
mod packaging;
mod picture;
mod plan;
mod power_cut;
mod purge;
mod replay;
mod report;
mod report_page;
mod restore;
mod resume;
mod runs;
#[cfg(feature = "schema")]
pub mod schemas;
mod serve;
mod settings;
mod show;
mod sim;
mod state;
mod stored;
mod stored_request;
mod written;

use crate::configuration;
use crate::console;
use crate::error::{UserError, exit};
use crate::target_choice::VIRTUAL_PREFIX;
use args::{Arguments, Command};
use clap::FromArgMatches;
use clap::error::ContextKind;
use experiment::check::CheckRequest;
use experiment::request::Request;
use model::quantity_text::QuantityError;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

const NO_NUMBER: &str = "invalid digit found in string";

pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    if words.iter().any(|word| word == "--help-json") {
        return match help::declarations(&words) {
            Ok(()) => exit::SUCCESS,
            Err(error) => refuse(&[], &error),
        };
    }
    let command = match configuration::read().and_then(|files| settings::configured(&files)) {
        Ok(command) => command,
        Err(error) => return refuse(&words, &error),
    };
    let arguments = match parse(command, words) {
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

/// What the words ask for. Without a command that is `check`, with what is set for it.
fn parse(command: clap::Command, mut words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let matches = command.clone().try_get_matches_from(&words)?;
    if matches.subcommand().is_some() {
        return Arguments::from_arg_matches(&matches);
    }
    words.push("check".into());
    Arguments::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// A damaged configuration stops everything but help and the version.
fn refuse(words: &[OsString], error: &UserError) -> u8 {
    if let Err(page) = help::command().try_get_matches_from(words)
        && !page.use_stderr()
    {
        let _ = page.print();
        return exit::SUCCESS;
    }
    output::say(&error.text);
    error.status
}

fn explain(error: &clap::Error) {
    let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
    let is_target = word.contains('/') || word.starts_with(VIRTUAL_PREFIX) || Path::new(&word).exists();
    let text = error.render().to_string();
    if !word.is_empty() && is_target {
        output::say(&format!(
            "unknown command `{word}`. To measure it: drivescope check {word}. All commands: drivescope --help"
        ));
    } else if let Some(why) = error.source().filter(|why| why.is::<QuantityError>() || why.is::<UserError>())
    {
        let option = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        output::say(&format!("{}: {why}", option.split(' ').next().unwrap_or_default()));
    } else if text.contains(NO_NUMBER) {
        let text = text.replace(NO_NUMBER, "it is not a whole number");
        output::say(text.strip_prefix("error: ").unwrap_or(&text));
    } else {
        let _ = error.print();
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, UserError> {
    console::choose(arguments.color);
    ::report::units::choose(arguments.units.units());
    let store = arguments.store.as_deref();
    match arguments.command {
        None => measure::run(Request::Check(CheckRequest::default()), store),
        Some(Command::Measure(request)) => measure::run(request, store),
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
        Some(Command::Config(config)) => config::run(&config),
        Some(Command::Completions(completions)) => packaging::completions(&completions),
        Some(Command::Man(man)) => packaging::man(&man),
        Some(Command::Help(help)) => help::run(&help),
    }
}
