//! `cargo xtask bench valleys`: what `drivescope valleys` makes of virtual drives, against their truth: flash drives drawn at random with
//! bursts of work by time, with stalls by bytes, and drives that have neither. All of it in virtual time.
//!
//! ```text
//! drives ──► truth: from the profile (sim) ────────────────┐
//!    └─────► drivescope valleys, as a process ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod drives;
mod score;
mod speed;
mod table;

use super::program::{Program, build};
use super::random_drives::Options;
use super::virtual_drive::Folder;
use super::{keep, on_two_threads};
use crate::Failure;
use drives::Case;
use score::Score;

/// Where the tables are kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-valleys.md";
const USAGE: &str = "Usage: cargo xtask bench valleys [--random N] [--first N] [--seed N] [--program FILE]
Scores `drivescope valleys` on N flash drives that have valleys and on 500 drives that have none, drawn with the numbers from --first
on: as it is built for release, or a program that is there already. Keeps its tables from 20 drives on.";
/// With fewer, not even one valley in ten that is told wrong would be likely to be among them.
const RANDOM_KEPT_MIN: u64 = 20;

/// Runs everything, prints the tables, and keeps them when nothing was left out.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments, USAGE)?;
    let folder = Folder::make("valleys")?;
    let path = options.program.clone().map_or_else(build, Ok)?;
    let program = Program { path, folder: folder.path.clone() };
    let cases = drives::drawn(&folder, options.first, options.random)?;
    let scores: Result<Vec<Score>, Failure> = on_two_threads(cases.len(), |number| {
        let score = measured(&program, &cases[number], options.seed)?;
        eprintln!("{} of {}: {}", number + 1, cases.len(), score.name);
        Ok(score)
    })
    .into_iter()
    .collect();
    let text = format!("{}{}", table::page(&options, &scores?), speed::section()?);
    println!("{text}");
    if options.random >= RANDOM_KEPT_MIN { keep(REPORT, &text) } else { Ok(()) }
}

fn measured(program: &Program, case: &Case, seed: u64) -> Result<Score, Failure> {
    let seed = seed.to_string();
    let words = [&["valleys", &case.drive.target, "--write", "--seed", &seed], case.sort.options()].concat();
    Score::of(case, &program.run(&words)?)
}
