//! `cargo xtask bench access`: what `drivescope access` and `drivescope geometry` make of virtual drives, against their truth. All of
//! it in virtual time.
//! ```text
//! drives ──► truth: from the profile (sim); the knee by running requests at many queue depths (knee.rs)
//!    └─────► drivescope access, drivescope geometry, as processes ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod article;
mod drives;
mod knee;
pub mod score;
mod table;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::ScoreOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Drive, Folder};
use score::Score;

const REPORT: &str = "docs/generated/bench-access.md";
/// With fewer, a share of 95 % is known to no better than 4 % to either side.
const RANDOM_KEPT_MIN: u64 = 100;

pub fn run(options: &ScoreOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let known = scores(&drives::known()?, &program, options.seed)?;
    let random = scores(&drives::drawn(options.first, options.random)?, &program, options.seed)?;
    let loaded = scores(&drives::shared(&folder)?, &program, options.seed)?;
    let columns = article::columns(&program, options.seed)?;
    let page = [
        table::head(options),
        table::by_drive("Drives that come with the program", &known),
        table::by_code("All of these", &known),
        table::by_code("Random disks and volumes", &random),
        table::by_drive("Drives that somebody else uses for a third of their time", &loaded),
        article::table(&columns),
    ];
    publish(&page.concat(), REPORT, options.random >= RANDOM_KEPT_MIN)
}

/// Each drive by both experiments, with a seed of its own: with the same offsets on all of them they would err together.
fn scores(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Score>, Failure> {
    on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let seed = (seed + number as u64).to_string();
        let access = program.run(&["access", &drive.target, "--seed", &seed])?;
        let geometry = program.run(&["geometry", &drive.target, "--seed", &seed])?;
        eprintln!("{} of {}: {}", number + 1, drives.len(), drive.name);
        Score::of(drive, &access, &geometry)
    })
}
