//! What of the comparison is run, and for how long.

use std::time::{SystemTime, UNIX_EPOCH};

use super::contender::Target;
use crate::Failure;

/// How the command is typed.
pub const USAGE: &str =
    "Usage: cargo xtask bench engine [--seconds N] [--rounds N] [--seed N] [--only loop|zero|null]
       cargo xtask bench access [--random N] [--first N] [--seed N] [--program FILE]
       cargo xtask bench files [--rounds N] [--program FILE]
       cargo xtask bench mount [DRIVE]
       cargo xtask bench report [--program FILE]
       cargo xtask bench sim [--seconds N] [--rounds N]
       cargo xtask bench surface [--drives NAME,NAME…] [--coverage RUNS] [--seed N] [--program FILE]
       cargo xtask bench valleys [--random N] [--first N] [--seed N] [--program FILE]
       cargo xtask bench verify [--rounds N] [--program FILE]
       cargo xtask bench writes [--random N] [--first N] [--seed N] [--program FILE]
The first compares the engine with fio in turns. A loop device over memory is set up for it, which needs root.
`access`, `surface`, `valleys` and `writes` score the experiments on virtual drives against their truth.
`files` compares measuring files with dd, fio and bonnie++ in turns, which needs root.
`mount` compares mounted virtual drives with their models, which needs root, fio and dd.
`report` times a report of ten runs with a million slices of time.
`sim` counts how many requests a second virtual drives answer.
`surface` has what people do beside it.";

/// The options of one comparison.
pub struct Options {
    /// How long each turn is.
    pub seconds: u64,
    /// How often each contender has its turn.
    pub rounds: u64,
    /// Decides the order of turns.
    pub seed: u64,
    only: Option<Target>,
}

impl Options {
    /// Reads what was typed behind `engine`.
    pub fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let seconds_since_1970 =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
        let mut options = Options { seconds: 2, rounds: 5, seed: seconds_since_1970, only: None };
        for pair in arguments.chunks(2) {
            match pair {
                [name, value] if name == "--only" => {
                    let known = Target::ALL.into_iter().find(|target| target.name() == value);
                    options.only = Some(known.ok_or_else(|| Failure::cannot(USAGE))?);
                }
                [name, value] => *options.number(name)? = positive(name, value)?,
                _ => return Err(Failure::cannot(USAGE)),
            }
        }
        Ok(options)
    }

    fn number(&mut self, name: &str) -> Result<&mut u64, Failure> {
        match name {
            "--seconds" => Ok(&mut self.seconds),
            "--rounds" => Ok(&mut self.rounds),
            "--seed" => Ok(&mut self.seed),
            _ => Err(Failure::cannot(USAGE)),
        }
    }

    /// Whether that target has its turn.
    pub fn includes(&self, target: Target) -> bool {
        self.only.is_none_or(|only| only == target)
    }

    /// Whether nothing is left out.
    pub fn is_complete(&self) -> bool {
        self.only.is_none()
    }

    /// The command that repeats it, with the same order of turns.
    pub fn command(&self) -> String {
        let Options { seconds, rounds, seed, .. } = self;
        let only = self.only.map(|only| format!(" --only {}", only.name())).unwrap_or_default();
        format!("cargo xtask bench engine --seconds {seconds} --rounds {rounds} --seed {seed}{only}")
    }
}

fn positive(name: &str, value: &str) -> Result<u64, Failure> {
    match value.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Failure::cannot(format!("{name} takes a whole number from 1 on; it was given '{value}'."))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Target};

    fn parse(line: &str) -> Result<Options, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments).map_err(|failure| failure.message)
    }

    #[test]
    fn the_command_repeats_itself() {
        let line = "--seconds 3 --rounds 4 --seed 5 --only zero";
        let options = parse(line).expect("they are options");
        assert_eq!(options.command(), format!("cargo xtask bench engine {line}"));
        assert!(options.includes(Target::Zero) && !options.includes(Target::Loop) && !options.is_complete());
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        for line in ["--seconds", "--seconds 0", "--rounds few", "--only disk", "--fast 1"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
