//! `cargo xtask bench access`: what `drivescope access` and `drivescope geometry` make of virtual drives, against their truth. All of
//! it in virtual time.
//! ```text
//! drives ──► truth: from the profile (sim); the knee by running requests at many queue depths (knee.rs)
//!    └─────► drivescope access, drivescope geometry, as processes ─► verdicts (score.rs) ─► tables (table.rs)
//! ```

mod article;
mod knee;
pub mod score;
mod table;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::ScoreOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Drive, Folder, all_named, drawn};
use score::Score;

const REPORT: &str = "docs/generated/bench-access.md";
/// With fewer, a share of 95 % is known to no better than 4 % to either side.
const RANDOM_KEPT_MIN: u64 = 100;

/// Hard disks, shingled ones, links, volumes, flash, and drives that show nothing.
const KNOWN: &str = "st3250823a sata-160gb wd3000bkhg wd20ears wd20ears-usb2 wd20ears-usb3 hds723030ala640 \
    st3000dm001 dt01aca300 disk-4tb x300-hdwe150 exos-x20 failing-disk smr-2tb st8000as0002 \
    st8000dm004 raid0-3x64k raid1-2 x25-m sata-tlc-500gb 970-pro constant null";
const FAMILIES: [&str; 3] = ["random-volume", "random-hard-disk", "random-hard-disk"];
/// 25 random reads a second take a disk a third of its time.
const LOAD: &str = "per_second = 25";
const LOADED: [&str; 3] = ["st3000dm001", "dt01aca300", "sata-160gb"];

pub fn run(options: &ScoreOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let known = scores(&all_named(KNOWN)?, &program, options.seed)?;
    let random = scores(&drawn(&FAMILIES, options.first, options.random)?, &program, options.seed)?;
    let loaded = scores(&shared(&folder)?, &program, options.seed)?;
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

/// Disks that answer somebody else's random reads too.
fn shared(folder: &Folder) -> Result<Vec<Drive>, Failure> {
    LOADED.iter().map(|of| folder.loaded(of, &format!("{of}, shared"), LOAD)).collect()
}

/// Each drive by both experiments, with a seed of its own: with the same offsets on all of them they would err together.
fn scores(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Score>, Failure> {
    on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let seed = seed + number as u64;
        let access = program.measure("access", &drive.target, &[], seed)?;
        let geometry = program.measure("geometry", &drive.target, &[], seed)?;
        eprintln!("{} of {}: {}", number + 1, drives.len(), drive.name);
        Score::of(drive, &access, &geometry)
    })
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, KNOWN, shared};
    use crate::virtual_drive::{Folder, all_named, drawn};

    #[test]
    fn all_drives_can_be() {
        assert_eq!(all_named(KNOWN).map_or(0, |drives| drives.len()), KNOWN.split(' ').count());
        assert_eq!(drawn(&FAMILIES, 5000, 6).map_or(0, |drives| drives.len()), 6);
        let folder = Folder::make().expect("a folder");
        assert_eq!(shared(&folder).map_or(0, |drives| drives.len()), 3);
    }
}
