//! `cargo xtask bench access`: what `drivescope access` and `drivescope geometry` make of virtual drives, against their truth. All of
//! it in virtual time.
//!
//! ```text
//! drives ──► truth: from the profile (sim); the knee by running requests at many numbers at a time (knee.rs)
//!    └─────► drivescope access, drivescope geometry, as processes ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod article;
mod drives;
mod knee;
mod score;
mod table;

use super::program::{Program, build};
use super::random_drives::Options;
use super::virtual_drive::{Drive, Folder};
use super::{keep, on_two_threads};
use crate::Failure;
use score::Score;

/// Where the tables are kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-access.md";
const USAGE: &str = "Usage: cargo xtask bench access [--random N] [--first N] [--seed N] [--program FILE]
Scores `drivescope access` and `drivescope geometry` on the drives that come with the program and on N random disks and volumes, drawn
with the numbers from --first on. Keeps its tables from 100 random drives on.";
/// With fewer, a share of 95 % is known to no better than 4 % to either side.
const RANDOM_KEPT_MIN: u64 = 100;

/// Runs everything, prints the tables, and keeps them when nothing was left out.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments, USAGE)?;
    let folder = Folder::make("access")?;
    let program =
        Program { path: options.program.clone().map_or_else(build, Ok)?, folder: folder.path.clone() };
    let known = scores(&drives::known()?, &program, options.seed)?;
    let drawn = drives::drawn(options.first, options.random)?;
    let random = scores(&drawn, &program, options.seed)?;
    let loaded = scores(&drives::shared(&folder)?, &program, options.seed)?;
    let columns = article::columns(&program, options.seed)?;
    let mut text = table::head(options.seed, options.first, options.random);
    text.push_str(&table::by_drive("Drives that come with the program", &known));
    text.push_str(&table::by_code("All of these", &known));
    text.push_str(&table::by_code("Random disks and volumes", &random));
    text.push_str(&table::by_drive("Drives that somebody else uses for a third of their time", &loaded));
    text.push_str(&article::table(&columns));
    println!("{text}");
    if options.random >= RANDOM_KEPT_MIN { keep(REPORT, &text) } else { Ok(()) }
}

/// Each drive by both experiments, with a seed of its own: with the same places on all of them they would err together, and a table of
/// a hundred drives would say little more of intervals than one drive does.
fn scores(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Score>, Failure> {
    let scores = on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let seed = (seed + number as u64).to_string();
        let access = program.run(&["access", &drive.target, "--seed", &seed])?;
        let geometry = program.run(&["geometry", &drive.target, "--seed", &seed])?;
        eprintln!("{} of {}: {}", number + 1, drives.len(), drive.name);
        Score::of(drive, &access, &geometry)
    });
    scores.into_iter().collect()
}
