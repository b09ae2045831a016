//! Options that are set ahead: by a variable of the environment, or by a file of configuration.
//!
//! Which can be set is said where an option is declared, by the name of its variable. A value takes the place of the
//! default, so that an option that is typed overrides it.

use super::help;
use crate::configuration::{ConfigurationFile, NEVER_WRITE, Setting};
use crate::console::variable;
use crate::error::UserError;
use clap::builder::Resettable;
use clap::error::ContextKind;
use clap::{Arg, Command};
use std::collections::BTreeSet;
use std::error::Error;

/// Where the value of an option comes from when it is not typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Environment,
    File(Setting),
    Default,
}

/// An option with the value that it has without being typed.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The command that it belongs to; none of one that all have.
    pub command: Option<String>,
    pub key: String,
    pub variable: String,
    /// None where the default depends on the drive or on other options.
    pub value: Option<String>,
    pub source: Source,
}

/// The command line with what is set ahead as its defaults.
///
/// # Errors
/// Where an option or a value is wrong, and what is allowed.
pub fn configured(files: &[ConfigurationFile]) -> Result<Command, UserError> {
    let command = help::command();
    for file in files {
        for setting in &file.settings {
            check(&command, setting)?;
        }
    }
    check_environment(&command)?;
    Ok(with_values(command, None, files))
}

/// All options that can be set ahead, as they stand.
pub fn presets(files: &[ConfigurationFile]) -> Vec<Preset> {
    let command = help::command();
    let mut presets: Vec<Preset> = arguments(&command).map(|arg| preset(arg, None, files)).collect();
    for subcommand in command.get_subcommands() {
        for argument in all_arguments(subcommand) {
            presets.push(preset(argument, Some(subcommand.get_name()), files));
        }
    }
    presets
}

fn preset(argument: &Arg, command: Option<&str>, files: &[ConfigurationFile]) -> Preset {
    let (value, source) = match value_of(argument, command, files) {
        Some((value, source)) => (Some(value), source),
        None if !argument.get_action().takes_values() => (Some("false".into()), Source::Default),
        None => {
            let default = argument.get_default_values().first();
            let default = default.map(|value| value.to_string_lossy().into_owned());
            (default, Source::Default)
        }
    };
    Preset {
        command: command.map(str::to_owned),
        key: key_of(argument).into(),
        variable: variable_of(argument),
        value,
        source,
    }
}

fn with_values(command: Command, table: Option<&str>, files: &[ConfigurationFile]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|each| each.get_name().to_owned()).collect();
    let mut command = command.mut_args(|argument| with_value(argument, table, files));
    for name in names {
        let table = table.unwrap_or(&name).to_owned();
        command = command.mut_subcommand(name, |each| with_values(each, Some(&table), files));
    }
    command
}

fn with_value(argument: Arg, table: Option<&str>, files: &[ConfigurationFile]) -> Arg {
    if argument.get_env().is_none() {
        return argument;
    }
    let value = value_of(&argument, table, files);
    // Clap would take a variable for something typed, which may contradict what is.
    let argument = argument.env(Resettable::Reset);
    match value {
        Some((value, _)) => argument.default_value(value),
        None => argument,
    }
}

/// The strongest value: of the environment, of the last file, there for this command before that for all.
fn value_of(argument: &Arg, table: Option<&str>, files: &[ConfigurationFile]) -> Option<(String, Source)> {
    if let Some(value) = variable(&variable_of(argument)) {
        return Some((value, Source::Environment));
    }
    for file in files.iter().rev() {
        let of_key = || file.settings.iter().filter(|setting| setting.key == key_of(argument));
        let own = of_key().find(|setting| setting.command.is_some() && setting.command.as_deref() == table);
        if let Some(setting) = own.or_else(|| of_key().find(|setting| setting.command.is_none())) {
            return Some((setting.value.clone(), Source::File(setting.clone())));
        }
    }
    None
}

fn key_of(argument: &Arg) -> &str {
    argument.get_long().unwrap_or_default()
}

fn variable_of(argument: &Arg) -> String {
    argument.get_env().unwrap_or_default().to_string_lossy().into_owned()
}

fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| argument.get_env().is_some())
}

/// The same with those of its own commands, each once.
fn all_arguments(command: &Command) -> Vec<&Arg> {
    let mut found: Vec<&Arg> = Vec::new();
    let own = command.get_subcommands().flat_map(arguments);
    for argument in arguments(command).chain(own) {
        if found.iter().all(|other| key_of(other) != key_of(argument)) {
            found.push(argument);
        }
    }
    found
}

fn check(command: &Command, setting: &Setting) -> Result<(), UserError> {
    let candidates: Vec<&Arg> = match &setting.command {
        Some(name) => match command.find_subcommand(name) {
            Some(subcommand) => all_arguments(subcommand),
            None => {
                let why = format!("unknown command `[{name}]`. All commands: drivescope --help");
                return Err(setting.wrong(&why));
            }
        },
        None => {
            let own = command.get_subcommands().flat_map(all_arguments);
            arguments(command).chain(own).collect()
        }
    };
    let mut is_known = false;
    let mut allowed: BTreeSet<&str> = BTreeSet::new();
    for argument in candidates {
        allowed.insert(key_of(argument));
        if key_of(argument) != setting.key {
            continue;
        }
        is_known = true;
        if let Some(why) = why_not(argument, &setting.value) {
            return Err(setting.wrong(&format!("{}: {why}", setting.key)));
        }
    }
    if is_known {
        return Ok(());
    }
    if setting.command.is_none() {
        allowed.insert(NEVER_WRITE);
    }
    let allowed: Vec<&str> = allowed.into_iter().collect();
    let allowed = if allowed.is_empty() { "nothing".into() } else { allowed.join(", ") };
    Err(setting.wrong(&format!("`{}` cannot be set here. Allowed: {allowed}", setting.key)))
}

fn check_environment(command: &Command) -> Result<(), UserError> {
    let own = command.get_subcommands().flat_map(all_arguments);
    for argument in arguments(command).chain(own) {
        let name = variable_of(argument);
        if let Some(value) = variable(&name)
            && let Some(why) = why_not(argument, &value)
        {
            return Err(UserError::usage(format!("{name}: {why}")));
        }
    }
    Ok(())
}

/// Why the option does not take this value, by its own declaration.
fn why_not(argument: &Arg, value: &str) -> Option<String> {
    let argument = argument.clone().env(Resettable::Reset);
    if !argument.get_action().takes_values() {
        return match value {
            "true" | "false" => None,
            _ => Some(format!("it is true or false, not `{value}`")),
        };
    }
    let typed = format!("--{}={value}", key_of(&argument));
    let alone = Command::new("option").no_binary_name(true).arg(argument);
    let error = alone.try_get_matches_from([typed]).err()?;
    if let Some(source) = error.source() {
        return Some(format!("`{value}`: {source}"));
    }
    let allowed = error.get(ContextKind::ValidValue).map(ToString::to_string).unwrap_or_default();
    Some(format!("`{value}` is none of {allowed}"))
}
