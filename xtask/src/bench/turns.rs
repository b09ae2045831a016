//! How often the programs of a comparison have their turn, and which program of ours is compared.

use std::path::PathBuf;

use super::program::build;
use crate::Failure;

/// What was typed behind the name of a comparison in turns.
#[derive(Debug)]
pub struct Turns {
    /// How often each has its turn.
    pub rounds: u64,
    /// A program that is there; without it the one of this tree is built as it is shipped.
    program: Option<PathBuf>,
}

impl Turns {
    /// Reads `--rounds N` (`usual` if it is not given) and `--program FILE`; what is neither is refused with `usage`.
    pub fn parse(arguments: &[String], usual: u64, usage: &str) -> Result<Turns, Failure> {
        let mut turns = Turns { rounds: usual, program: None };
        for pair in arguments.chunks(2) {
            match pair {
                [name, value] if name == "--program" => turns.program = Some(PathBuf::from(value)),
                [name, value] if name == "--rounds" => {
                    let rounds = value.parse().ok().filter(|rounds| *rounds > 0);
                    turns.rounds = rounds.ok_or_else(|| Failure::cannot(usage))?;
                }
                _ => return Err(Failure::cannot(usage)),
            }
        }
        Ok(turns)
    }

    /// Whether the program compared is the one that is shipped: only then its table is kept.
    pub fn is_release(&self) -> bool {
        self.program.is_none()
    }

    /// Where the program is, built before if none was named.
    pub fn program(&self) -> Result<PathBuf, Failure> {
        self.program.clone().map_or_else(build, Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    fn parse(line: &str) -> Result<Turns, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Turns::parse(&arguments, 15, "how it is used").map_err(|failure| failure.message)
    }

    #[test]
    fn rounds_and_a_program_are_taken() {
        let usual = parse("").expect("nothing is needed");
        assert!(usual.rounds == 15 && usual.is_release());
        let named = parse("--rounds 3 --program /usr/bin/true").expect("both are options");
        assert!(named.rounds == 3 && !named.is_release());
        assert_eq!(named.program().ok(), Some("/usr/bin/true".into()));
    }

    #[test]
    fn what_is_no_option_is_refused_with_the_usage() {
        for line in ["--rounds", "--rounds 0", "--rounds few", "--seed 1", "program"] {
            assert_eq!(parse(line).expect_err(line), "how it is used");
        }
    }
}
