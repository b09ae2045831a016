//! `cargo xtask bench valleys`: what `drivescope valleys` makes of virtual drives, against their truth: flash drives drawn at random with
//! bursts of work by time, with stalls by bytes, and drives that have neither. All of it in virtual time.
//! ```text
//! drives ──► truth: from the profile (sim) ────────────────┐
//!    └─────► drivescope valleys, as a process ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod drives;
mod score;
mod speed;
mod table;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::ScoreOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::Folder;
use score::Score;

const REPORT: &str = "docs/generated/bench-valleys.md";
/// With fewer, not even one valley in ten that is told wrong would be likely to be among them.
const RANDOM_KEPT_MIN: u64 = 20;

pub fn run(options: &ScoreOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let cases = drives::drawn(&folder, options.first, options.random)?;
    let scores = on_two_threads(cases.len(), |number| {
        let case = &cases[number];
        let document = program.measure("valleys", &case.drive.target, case.sort.options(), options.seed)?;
        eprintln!("{} of {}: {}", number + 1, cases.len(), case.drive.name);
        Score::of(case, &document)
    })?;
    let page = format!("{}{}", table::page(options, &scores), speed::section()?);
    publish(&page, REPORT, options.random >= RANDOM_KEPT_MIN)
}
