//! What can be typed, as a document: commands, options, defaults and values, read off their declarations.

use clap::{Arg, ArgAction, Command};
use serde::Serialize;

/// Schema `drivescope.help/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.help/1")]
pub struct HelpDocument {
    version: &'static str,
    #[serde(flatten)]
    command: CommandDocument,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CommandDocument {
    /// With the names of the commands that it belongs to.
    name: String,
    about: Option<String>,
    arguments: Vec<ArgumentDocument>,
    options: Vec<ArgumentDocument>,
    commands: Vec<CommandDocument>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ArgumentDocument {
    /// As it is typed; of an argument without dashes the name of its value.
    name: String,
    short: Option<char>,
    /// Of what stands behind it; none of a flag.
    value: Option<String>,
    help: Option<String>,
    heading: Option<String>,
    default: Vec<String>,
    /// All values that it takes, where they can be listed.
    values: Vec<ValueDocument>,
    required: bool,
    repeatable: bool,
    /// The variable of the environment that sets it.
    variable: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ValueDocument {
    name: String,
    help: Option<String>,
}

/// Of one command with all below it.
pub fn document(command: &Command) -> HelpDocument {
    let command = command_document(command, command.get_bin_name().unwrap_or(command.get_name()).to_owned());
    HelpDocument { version: env!("CARGO_PKG_VERSION"), command }
}

fn command_document(command: &Command, name: String) -> CommandDocument {
    let visible = || command.get_arguments().filter(|argument| !argument.is_hide_set());
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    CommandDocument {
        about: command.get_about().map(ToString::to_string),
        arguments: visible().filter(|argument| argument.is_positional()).map(argument_document).collect(),
        options: visible().filter(|argument| !argument.is_positional()).map(argument_document).collect(),
        commands: below
            .map(|below| command_document(below, format!("{name} {}", below.get_name())))
            .collect(),
        name,
    }
}

fn argument_document(argument: &Arg) -> ArgumentDocument {
    let takes_values = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let value = names.first().map_or_else(|| argument.get_id().as_str().to_uppercase(), ToString::to_string);
    let default = argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    let values = argument.get_possible_values().into_iter().filter(|_| takes_values).map(|value| {
        ValueDocument { name: value.get_name().into(), help: value.get_help().map(ToString::to_string) }
    });
    let many = argument.get_num_args().is_some_and(|number| number.max_values() > 1);
    ArgumentDocument {
        name: argument.get_long().map_or_else(|| value.clone(), |long| format!("--{long}")),
        short: argument.get_short(),
        help: argument.get_help().map(ToString::to_string),
        heading: argument.get_help_heading().map(str::to_owned),
        default: default.filter(|_| takes_values).collect(),
        values: values.collect(),
        required: argument.is_required_set(),
        repeatable: many || matches!(argument.get_action(), ArgAction::Append),
        variable: argument.get_env().map(|name| name.to_string_lossy().into_owned()),
        value: takes_values.then_some(value),
    }
}
