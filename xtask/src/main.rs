//! The project's chores, as `cargo xtask COMMAND`. One file per command; this one only picks it.
//!
//! To add a command: a file with `pub fn run(arguments: &[String]) -> Result<(), Failure>`, and a row in [`COMMANDS`].
#![forbid(unsafe_code)]

mod deny;
mod dist;
mod failure;
mod fuzz;
mod judge;
mod shape;
mod test;
mod tidy;
mod tree;
mod workspace;

use std::process::ExitCode;

use failure::Failure;

/// One chore: what to type, what it is for, what it runs.
struct Command {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

/// Every chore, in the order in which the help lists them.
const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        summary: "install the system packages the tests need (as root), then formatting, clippy and all tests",
        run: test::run,
    },
    Command {
        name: "python",
        summary: "pytest and mypy of the Python package alone, with every CPython from 3.9 that is here",
        run: test::run_python,
    },
    Command { name: "tidy", summary: "check the rules of STYLE.md that a program can check", run: tidy::run },
    Command {
        name: "shape",
        summary: "count lines, comments, closures, import circles and the like beside their goals; --write keeps the page",
        run: shape::run,
    },
    Command {
        name: "bench",
        summary: "measure drivescope against fio, or score what it finds on virtual drives; --help lists them",
        run: judge::bench,
    },
    Command {
        name: "compare-peers",
        summary: "ask fio, dd, bonnie++, zcav, ioping, hdparm and drivescope the same of a mounted virtual drive (as root)",
        run: judge::compare_peers,
    },
    Command {
        name: "fuzz",
        summary: "look with libFuzzer for bytes that do harm to what reads bytes of others (needs a C++ compiler)",
        run: fuzz::run,
    },
    Command {
        name: "deny",
        summary: "check licences, duplicate crates and sources of the dependencies (needs cargo-deny)",
        run: deny::run,
    },
    Command {
        name: "dist",
        summary: "make what people install into dist/; --check installs each in a clean place, --reproduce makes all again",
        run: dist::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{}", failure.message);
            }
            ExitCode::from(failure.exit_code)
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first() {
        None => Err(Failure::cannot(usage())),
        Some((name, _)) if ["help", "--help", "-h"].contains(&name.as_str()) => {
            println!("{}", usage());
            Ok(())
        }
        Some((name, rest)) => {
            for command in COMMANDS {
                if command.name == name {
                    return (command.run)(rest);
                }
            }
            Err(Failure::cannot(format!("There is no command '{name}'.\n\n{}", usage())))
        }
    }
}

fn usage() -> String {
    let mut text = String::from("Usage: cargo xtask COMMAND [OPTIONS]\n");
    for command in COMMANDS {
        text.push_str(&format!("\n  {:<15}{}", command.name, command.summary));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, dispatch, usage};

    #[test]
    fn command_names_are_unique_and_listed_in_the_help() {
        for (index, command) in COMMANDS.iter().enumerate() {
            assert!(
                COMMANDS[..index].iter().all(|other| other.name != command.name),
                "{} twice",
                command.name
            );
            assert!(
                usage().contains(&format!("\n  {} ", command.name)),
                "{} is not in the help",
                command.name
            );
        }
    }

    #[test]
    fn an_unknown_command_names_itself_and_the_ones_there_are() {
        let failure = dispatch(&["tset".to_owned()]).expect_err("there is no such command");
        assert_eq!(failure.exit_code, 2);
        assert!(
            failure.message.contains("'tset'") && failure.message.contains("  test "),
            "{}",
            failure.message
        );
    }
}
