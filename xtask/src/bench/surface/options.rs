//! What was typed behind `bench surface`.

use std::path::PathBuf;

use crate::Failure;

const USAGE: &str = "Usage: cargo xtask bench surface [--drives NAME,NAME…] [--coverage RUNS] [--seed N] [--program FILE]
Scores `drivescope surface` on virtual drives, in virtual time: as it is built for release, or a program that is there
already. Keeps its tables unless --drives, --program or a --coverage below 100 is given.";
/// Runs for each coverage and each kind of false alarm.
const COVERAGE: usize = 500;
/// With fewer, a share of 95 % is known to no better than 4 % to either side.
const COVERAGE_KEPT_MIN: usize = 100;

/// What to measure.
pub struct Options {
    /// Only these drives.
    pub drives: Vec<String>,
    /// How many runs tell how often intervals hold.
    pub coverage: usize,
    /// Of all randomness.
    pub seed: u64,
    /// The program to score; none is to build it.
    pub program: Option<PathBuf>,
}

impl Options {
    /// Reads what was typed.
    pub fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options { drives: Vec::new(), coverage: COVERAGE, seed: 1, program: None };
        let usage = || Failure::cannot(USAGE);
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(usage()) };
            match name.as_str() {
                "--drives" => options.drives = value.split(',').map(str::to_owned).collect(),
                "--coverage" => options.coverage = value.parse().map_err(|_| usage())?,
                "--program" => options.program = Some(value.into()),
                "--seed" => options.seed = value.parse().map_err(|_| usage())?,
                _ => return Err(usage()),
            }
        }
        Ok(options)
    }

    /// Whether nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.drives.is_empty() && self.coverage >= COVERAGE_KEPT_MIN && self.program.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn only_the_whole_comparison_is_kept() {
        let parse =
            |words: &[&str]| Options::parse(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(parse(&[]).is_ok_and(|options| options.is_complete()));
        assert!(parse(&["--seed", "3"]).is_ok_and(|options| options.is_complete() && options.seed == 3));
        assert!(parse(&["--drives", "zoned,null"]).is_ok_and(|options| options.drives == ["zoned", "null"]));
        assert!(parse(&["--coverage", "20"]).is_ok_and(|options| !options.is_complete()));
        assert!(parse(&["--program", "x"]).is_ok_and(|options| !options.is_complete()));
        assert!(parse(&["--coverage"]).is_err() && parse(&["--runs", "3"]).is_err());
    }
}
