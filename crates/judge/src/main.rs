//! Benches and comparisons, as `cargo xtask bench` and `cargo xtask compare-peers` start them; and drivescope itself, as it is built here.
#![forbid(unsafe_code)]

use clap::Parser;
use judge::failure::Failure;
use judge::options::{Bench, Chore, Options};
use judge::program::AS_PROGRAM;
use judge::{
    access, all, commits, compare_peers, coverage, engine, files, mount, report, sim_speed, surface, valleys,
    verify, writes,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if let Some(word) = arguments.nth(1)
        && word == AS_PROGRAM
    {
        return ExitCode::from(drivescope::cli::run(std::env::args_os().skip(1)));
    }
    match run(&Options::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Missed) => ExitCode::from(1),
        Err(Failure::Cannot(why)) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(chore: &Chore) -> Result<(), Failure> {
    match chore {
        Chore::ComparePeers(options) => compare_peers::run(options),
        Chore::Bench { what } => match what {
            Bench::All(options) => all::run(options),
            Bench::Commits(options) => commits::run(options),
            Bench::Coverage(options) => coverage::run(options),
            Bench::Engine(options) => engine::run(options),
            Bench::Access(options) => access::run(options),
            Bench::Files(options) => files::run(options),
            Bench::Mount { drive } => mount::run(drive.as_deref()),
            Bench::Report(options) => report::run(options),
            Bench::Sim(options) => sim_speed::run(options),
            Bench::Surface(options) => surface::run(options),
            Bench::Valleys(options) => valleys::run(options),
            Bench::Verify(options) => verify::run(options),
            Bench::Writes(options) => writes::run(options),
        },
    }
}
