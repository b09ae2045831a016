//! `drivescope help`: the commands by what they are for, and the terms of the glossary.

use super::args::{Arguments, HelpArguments};
use super::{declarations, output};
use crate::error::{UserError, exit};
use clap::{Command, CommandFactory, Subcommand};
use experiment::request::Request;
use report::glossary::{self, Term};
use report::style::wrap;
use std::ffi::OsString;
use std::fmt::Write;

/// Heads the experiments, which are told in the order of their declaration.
const MEASURE: &str = "Measure (read-only unless --write is given; a folder gets a scratch file)";
const GROUPS: [(&str, &[&str]); 4] = [
    ("Results", &["runs", "show", "report", "compare", "replay", "serve", "export", "import"]),
    ("Decide", &["estimate", "plan", "choose"]),
    ("Drives", &["list", "state", "purge", "restore"]),
    ("Other", &["sim", "config", "completions", "help"]),
];
const EXAMPLES: &str = "\
Examples:
  drivescope check                  a scratch file in this folder (a minute)
  drivescope check sim:smr-2tb      a virtual drive: no hardware needed
Options: --store FOLDER (of the runs), --version. Every COMMAND has --help.
";
const TEMPLATE: &str = "{about}\n\n{usage-heading} drivescope [COMMAND]{after-help}";
const COLUMNS: usize = 80;

pub fn command() -> Command {
    let command = Arguments::command();
    let mut text = String::new();
    for (heading, names) in groups() {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command.find_subcommand(&name).and_then(Command::get_about);
            let _ = writeln!(text, "  {name:<9} {}", about.map(ToString::to_string).unwrap_or_default());
        }
        text.push('\n');
    }
    command.help_template(TEMPLATE).after_help(text + EXAMPLES)
}

fn groups() -> Vec<(&'static str, Vec<String>)> {
    let experiments = Request::augment_subcommands(Command::new("drivescope"));
    let names = experiments.get_subcommands().map(Command::get_name).map(str::to_owned).collect();
    let mut groups = vec![(MEASURE, names)];
    for (heading, names) in GROUPS {
        groups.push((heading, names.iter().copied().map(str::to_owned).collect()));
    }
    groups
}

/// Fails when it is neither a command nor a term; names terms that are like it.
pub fn run(arguments: &HelpArguments) -> Result<u8, UserError> {
    let topic = arguments.topic.join(" ");
    let mut command = command();
    command.build();
    let mut found = Some(&mut command);
    for word in &arguments.topic {
        found = found.and_then(|command| command.find_subcommand_mut(word));
    }
    if let Some(command) = found {
        let page = command.render_long_help().to_string();
        output::give_text(&page, &declarations::document(command), arguments.json.as_deref())?;
        return Ok(exit::SUCCESS);
    }
    let terms = glossary::terms();
    let Some(term) = terms.iter().find(|term| term.is_named(&topic)) else {
        let mut near: Vec<&Term> = terms.iter().collect();
        near.sort_by(|a, b| likeness(b, &topic).total_cmp(&likeness(a, &topic)));
        let near: Vec<&str> = near.iter().take(3).map(|term| term.name).collect();
        return Err(UserError::usage(format!(
            "no command and no term is called `{topic}`. Similar terms: {}. All terms: docs/glossary.md",
            near.join(", ")
        )));
    };
    let page = format!("{}\n{}\n", term.name, wrap(term.text, COLUMNS).join("\n"));
    output::give_text(&page, term, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

/// `--help-json`: the declarations of the command that the words name, or of all.
///
/// # Errors
/// When there is nowhere to print to.
pub fn declarations(words: &[OsString]) -> Result<(), UserError> {
    let mut command = command();
    command.build();
    let mut found = &command;
    for word in words.iter().skip(1) {
        if let Some(below) = word.to_str().and_then(|word| found.find_subcommand(word)) {
            found = below;
        }
    }
    output::print(&output::json(&declarations::document(found)))
}

fn likeness(term: &Term, topic: &str) -> f64 {
    strsim::jaro_winkler(&term.name.to_lowercase(), &topic.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{command, groups};
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<String> = groups().into_iter().flat_map(|(_, names)| names).collect();
        let command = command();
        let all: BTreeSet<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(grouped.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
        assert_eq!(grouped.len(), all.len(), "each stands once");
    }

    #[test]
    fn help_fits_one_screen() {
        let help = command().render_long_help().to_string();
        assert!(help.lines().count() <= 50, "{}\n{help}", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
