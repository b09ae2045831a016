//! `cargo xtask bench writes`: what `drivescope sustain` and `drivescope valleys` make of virtual drives, against their truth. All of
//! it in virtual time.
//! ```text
//! drives ──► truth: from the profile (sim) ───────────────┐
//!    └─────► drivescope sustain, as a process ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod bands;
mod conditions;
mod levels;
pub mod score;
mod table;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::ScoreOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Drive, Folder, all_named, drawn};
use score::Score;

const REPORT: &str = "docs/generated/bench-writes.md";
/// With fewer, not even one drive in twenty that is told wrong would be likely to be among them.
const RANDOM_KEPT_MIN: u64 = 45;

/// Hard disks, shingled ones, links, volumes, flash, and drives that show nothing.
const KNOWN: &str = "st3250823a sata-160gb wd3000bkhg wd20ears wd20ears-usb2 wd20ears-usb3 hds723030ala640 \
    st3000dm001 dt01aca300 disk-4tb x300-hdwe150 exos-x20 failing-disk raid0-3x64k raid1-2 smr-2tb \
    st8000as0002 st8000dm004 x25-m sata-tlc-500gb 870-qvo 660p 970-pro 980-pro nm790 zoned constant \
    null";
const FAMILIES: [&str; 3] = ["random-hard-disk", "random-shingled", "random-flash"];

pub fn run(options: &ScoreOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let (shipped, drawn) = (all_named(KNOWN)?, drawn(&FAMILIES, options.first, options.random)?);
    let known = scores(&shipped, &program, options.seed)?;
    let random = scores(&drawn, &program, options.seed)?;
    let page = [
        table::head(options),
        table::by_drive("Drives that come with the program", &known),
        table::by_family("All of these", &known),
        table::by_family("Random drives", &random),
        table::oddities(&random),
        bands::text(&[&known[..], &random[..]]),
        levels::table(&[&shipped, &drawn], &program, options.seed)?,
        conditions::table(&program, options.seed)?,
    ];
    publish(&page.concat(), REPORT, options.random >= RANDOM_KEPT_MIN)
}

fn scores(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Score>, Failure> {
    on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let document = program.measure("sustain", &drive.target, &["--write"], seed)?;
        eprintln!("{} of {}: {}", number + 1, drives.len(), drive.name);
        Score::of(drive, &document)
    })
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, KNOWN};
    use crate::virtual_drive::{all_named, drawn};

    #[test]
    fn all_drives_can_be() {
        assert_eq!(all_named(KNOWN).map_or(0, |drives| drives.len()), KNOWN.split(' ').count());
        assert_eq!(drawn(&FAMILIES, 5000, 6).map_or(0, |drives| drives.len()), 6);
    }
}
