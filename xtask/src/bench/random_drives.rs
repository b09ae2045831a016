//! What was typed behind a bench that scores an experiment on random drives too: how many, from which number on, with which seed.

use std::path::PathBuf;

use crate::Failure;

/// Numbers from here on were looked at by nobody while the detectors were made.
const FIRST: u64 = 5000;
const RANDOM: u64 = 200;

/// What was typed.
pub struct Options {
    /// How many random drives.
    pub random: u64,
    /// The number of the first.
    pub first: u64,
    /// Of all randomness of the runs.
    pub seed: u64,
    /// The program to score; none is to build it.
    pub program: Option<PathBuf>,
}

impl Options {
    /// Reads it; `usage` is said when it makes no sense.
    pub fn parse(arguments: &[String], usage: &str) -> Result<Options, Failure> {
        let mut options = Options { random: RANDOM, first: FIRST, seed: 1, program: None };
        let wrong = || Failure::cannot(usage);
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(wrong()) };
            let number = || value.parse().map_err(|_| wrong());
            match name.as_str() {
                "--random" => options.random = number()?,
                "--first" => options.first = number()?,
                "--seed" => options.seed = number()?,
                "--program" => options.program = Some(value.into()),
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn what_is_not_typed_is_as_usual() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Options::parse(&words, "usage").map(|options| (options.random, options.first, options.seed)).ok()
        };
        assert_eq!(parse(&[]), Some((200, 5000, 1)));
        assert_eq!(parse(&["--random", "3", "--seed", "7"]), Some((3, 5000, 7)));
        assert_eq!(parse(&["--random"]), None);
        assert_eq!(parse(&["--drives", "3"]), None);
        assert_eq!(parse(&["--program", "path/to/program"]), Some((200, 5000, 1)));
    }
}
