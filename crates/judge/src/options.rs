//! What is typed behind `cargo xtask bench` and `cargo xtask compare-peers`.

use crate::engine::contender::Target;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Scores drivescope on virtual drives and compares it with its peers.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
pub struct Options {
    #[command(subcommand)]
    pub chore: Chore,
}

#[derive(Debug, Subcommand)]
pub enum Chore {
    /// Measures or scores one part of drivescope, and keeps its table
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Asks fio, dd, bonnie++, zcav, ioping, hdparm and drivescope the same of a mounted virtual drive (as root)
    ComparePeers(ProgramOption),
}

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Every goal of speed in one table, of the release build on a quiet machine (as root)
    All(AllOptions),
    /// The engine against fio, in turns, on a loop device over memory (as root) and without a drive
    Engine(EngineOptions),
    /// Scores `access` and `geometry` against the truth; keeps its table from 100 random drives on
    Access(ScoreOptions),
    /// Scores `commit` against the truth, and sets it beside fio and pg_test_fsync in turns (as root)
    Commits(CommitsOptions),
    /// Scores every finding on every family of random drives; keeps its table from 20 drives each on
    Coverage(CoverageOptions),
    /// Files against dd, fio and bonnie++, in turns (as root)
    Files(TurnOptions),
    /// Mounted virtual drives against their models (as root, with fio and dd)
    Mount { drive: Option<String> },
    /// Times a report of ten runs with a million intervals
    Report(ProgramOption),
    /// Counts how many requests per second virtual drives complete
    Sim(SimOptions),
    /// Scores `surface` against the truth, beside what people do
    Surface(SurfaceOptions),
    /// Scores `valleys` against the truth; keeps its table from 20 random drives on
    Valleys(ScoreOptions),
    /// `verify --full` against the rate of its target, in turns with dd and fio (as root)
    Verify(TurnOptions),
    /// Scores `sustain` against the truth; keeps its table from 45 random drives on
    Writes(ScoreOptions),
}

#[derive(Args, Debug)]
pub struct ProgramOption {
    /// A drivescope that is there already, instead of the one of this tree
    #[arg(long)]
    pub program: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct AllOptions {
    /// Fewer and shorter turns: at most 6 minutes
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub program: ProgramOption,
}

/// Of benches that score an experiment on random drives.
#[derive(Args, Debug)]
pub struct ScoreOptions {
    #[arg(long, default_value_t = 200)]
    pub random: u64,
    /// The number of the first; nobody looked at those from 5000 on while the detectors were made
    #[arg(long, default_value_t = 5000)]
    pub first: u64,
    /// Decides all randomness of the runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub program: ProgramOption,
}

#[derive(Args, Debug)]
pub struct CommitsOptions {
    /// How many targets with heavy tails
    #[arg(long, default_value_t = 500)]
    pub tails: u64,
    /// How many drives whose flushes are honoured, ignored and protected in turns
    #[arg(long, default_value_t = 300)]
    pub flushes: u64,
    /// How many targets at the edge of a limit, and as many beyond twice the limit
    #[arg(long, default_value_t = 200)]
    pub edges: u64,
    /// How often each program has its turn; 0 leaves the peers out
    #[arg(long, default_value_t = 10)]
    pub rounds: u64,
    /// The number of the first target; nobody looked at those from 910000 on while the detectors were made
    #[arg(long, default_value_t = 910_000)]
    pub first: u64,
    #[command(flatten)]
    pub program: ProgramOption,
}

#[derive(Args, Debug)]
pub struct CoverageOptions {
    /// Only these families, and keeps no table
    #[arg(long, value_delimiter = ',')]
    pub families: Vec<String>,
    /// Only these experiments, and keeps no table
    #[arg(long, value_delimiter = ',')]
    pub experiments: Vec<String>,
    /// How many drives of each family
    #[arg(long, default_value_t = 60)]
    pub random: u64,
    /// The number of the first; nobody looked at those from 9000 on while the detectors were made
    #[arg(long, default_value_t = 9000)]
    pub first: u64,
    /// Decides all randomness of the runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Serves each drive in real time, one after the other, and judges its device (as root); keeps no table
    #[arg(long)]
    pub mounted: bool,
    /// While somebody else uses each drive, and on a host that is late
    #[arg(long, conflicts_with = "mounted")]
    pub disturbed: bool,
    #[command(flatten)]
    pub program: ProgramOption,
}

#[derive(Args, Debug)]
pub struct TurnOptions {
    /// How often each program has its turn
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    #[command(flatten)]
    pub program: ProgramOption,
}

#[derive(Args, Debug)]
pub struct EngineOptions {
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: u64,
    /// How often each contender has its turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// Decides the order of turns; the time of day if it is not given
    #[arg(long)]
    pub seed: Option<u64>,
    /// Compares on this target only, and keeps no table
    #[arg(long)]
    pub only: Option<Target>,
}

#[derive(Args, Debug)]
pub struct SimOptions {
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: u64,
    /// How often each drive has its turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
}

#[derive(Args, Debug)]
pub struct SurfaceOptions {
    /// Only these drives, and keeps no table
    #[arg(long, value_delimiter = ',')]
    pub drives: Vec<String>,
    /// How many runs tell how often intervals hold; below 100 no table is kept
    #[arg(long, default_value_t = 500)]
    pub coverage: usize,
    /// Decides all randomness of the runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub program: ProgramOption,
}

impl ProgramOption {
    /// Whether the program is the one of this tree: only then a comparison keeps its table.
    pub fn is_ours(&self) -> bool {
        self.program.is_none()
    }
}

impl CommitsOptions {
    /// With fewer, a share of 95 % is known to no better than 2 % to either side.
    pub fn is_complete(&self) -> bool {
        let is_whole = self.tails >= 500 && self.flushes >= 300 && self.edges >= 200 && self.rounds > 0;
        is_whole && self.program.is_ours()
    }
}

impl CoverageOptions {
    /// With fewer, a share of 95 % is known to no better than 10 % to either side.
    const RANDOM_KEPT_MIN: u64 = 20;

    pub fn is_complete(&self) -> bool {
        let is_whole = self.families.is_empty() && self.experiments.is_empty() && !self.mounted;
        is_whole && self.random >= Self::RANDOM_KEPT_MIN && self.program.is_ours()
    }
}

impl SurfaceOptions {
    /// With fewer runs, a share of 95 % is known to no better than 4 % to either side.
    const COVERAGE_KEPT_MIN: usize = 100;

    pub fn is_complete(&self) -> bool {
        self.drives.is_empty() && self.coverage >= Self::COVERAGE_KEPT_MIN && self.program.is_ours()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bench, Chore, Options, SurfaceOptions};
    use clap::{CommandFactory, Parser};

    fn bench(line: &str) -> Option<Bench> {
        let words = ["judge", "bench"].into_iter().chain(line.split_whitespace());
        match Options::try_parse_from(words).ok()?.chore {
            Chore::Bench { what } => Some(what),
            Chore::ComparePeers(_) => None,
        }
    }

    fn surface(line: &str) -> SurfaceOptions {
        match bench(line) {
            Some(Bench::Surface(options)) => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_are_declared_soundly() {
        Options::command().debug_assert();
    }

    #[test]
    fn what_is_not_typed_is_as_usual() {
        let Some(Bench::Access(options)) = bench("access") else { panic!("it is a bench") };
        assert_eq!((options.random, options.first, options.seed), (200, 5000, 1));
        let Some(Bench::Writes(options)) = bench("writes --random 3 --seed 7 --program a/b") else {
            panic!("it is")
        };
        assert_eq!((options.random, options.first, options.seed), (3, 5000, 7));
        assert!(!options.program.is_ours());
        let Some(Bench::Verify(options)) = bench("verify --rounds 3") else { panic!("it is") };
        assert!(options.rounds == Some(3) && options.program.is_ours());
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        for line in [
            "disk",
            "access --random",
            "access --drives 3",
            "verify --rounds 0",
            "verify --rounds few",
            "engine --seconds 0",
            "engine --only disk",
            "sim --only disk",
            "surface --coverage",
            "surface --runs 3",
            "mount a b",
        ] {
            assert!(bench(line).is_none(), "{line}");
        }
    }

    #[test]
    fn only_the_whole_comparison_is_kept() {
        assert!(surface("surface --seed 3").is_complete());
        assert_eq!(surface("surface --drives zoned,null").drives, ["zoned", "null"]);
        for line in ["surface --drives zoned", "surface --coverage 20", "surface --program x"] {
            assert!(!surface(line).is_complete(), "{line}");
        }
    }
}
