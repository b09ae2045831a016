//! `cargo xtask bench writes`: what `drivescope sustain` and `drivescope valleys` make of virtual drives, against their truth. All of
//! it in virtual time.
//!
//! ```text
//! drives ──► truth: from the profile (sim) ───────────────┐
//!    └─────► drivescope sustain, as a process ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod bands;
mod conditions;
mod drives;
mod levels;
mod score;
mod table;

use super::program::{Program, build};
use super::random_drives::Options;
use super::virtual_drive::{Drive, Folder};
use super::{keep, on_two_threads};
use crate::Failure;
use score::Score;

/// Where the tables are kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-writes.md";
const USAGE: &str = "Usage: cargo xtask bench writes [--random N] [--first N] [--seed N] [--program FILE]
Scores `drivescope sustain` on the drives that come with the program and on N random drives, drawn with the numbers from --first on.
Keeps its tables from 45 random drives on.";
/// With fewer, not even one drive in twenty that is told wrong would be likely to be among them.
const RANDOM_KEPT_MIN: u64 = 45;

/// Runs everything, prints the tables, and keeps them when nothing was left out.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments, USAGE)?;
    let folder = Folder::make("writes")?;
    let program =
        Program { path: options.program.clone().map_or_else(build, Ok)?, folder: folder.path.clone() };
    let (shipped, drawn) = (drives::known()?, drives::drawn(options.first, options.random)?);
    let known = scores(&shipped, &program, options.seed)?;
    let random = scores(&drawn, &program, options.seed)?;
    let mut text = table::head(options.seed, options.first, options.random);
    text.push_str(&table::by_drive("Drives that come with the program", &known));
    text.push_str(&table::by_family("All of these", &known));
    text.push_str(&table::by_family("Random drives", &random));
    text.push_str(&table::oddities(&random));
    text.push_str(&bands::text(&known.iter().chain(&random).collect::<Vec<_>>()));
    text.push_str(&levels::table(&[&shipped, &drawn], &program, options.seed)?);
    text.push_str(&conditions::table(&program, options.seed)?);
    println!("{text}");
    if options.random >= RANDOM_KEPT_MIN { keep(REPORT, &text) } else { Ok(()) }
}

fn scores(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Score>, Failure> {
    let seed = seed.to_string();
    let scores = on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let document = program.run(&["sustain", &drive.target, "--write", "--seed", &seed])?;
        eprintln!("{} of {}: {}", number + 1, drives.len(), drive.name);
        Score::of(drive, &document)
    });
    scores.into_iter().collect()
}
