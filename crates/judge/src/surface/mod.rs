//! `cargo xtask bench surface`: what `drivescope surface` makes of virtual drives, against their truth and beside three
//! ways in which people do it today. All of it in virtual time: device seconds are what a real drive would take.
//! ```text
//! drives ──► truth (sim) ─────────────────────────────┐
//!    ├─────► drivescope surface, as a process ─► measured ─► errors ─► table
//!    ├─────► peers on the same drive ─────────────────┘
//!    └─────► many seeds ─► trials: how often intervals hold, what is found that is not there, what is missed
//! ```

mod drives;
pub mod measured;
mod peer;
pub mod score;
mod table;
mod trials;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::SurfaceOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Drive, Folder};
use measured::surface;
use score::{Errors, Row, Truth};

const REPORT: &str = "docs/generated/bench-surface.md";

const OURS: [(&str, &[&str]); 2] = [("surface", &[]), ("surface --time-limit 5m", &["--time-limit", "5m"])];

pub fn run(options: &SurfaceOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let rows = rows(&drives::chosen(&options.drives, &folder)?, &program, options.seed)?;
    let trials = trials::run(&program, &folder, options)?;
    let page = format!("{}{}{trials}", table::head(options.seed), table::rows(&rows));
    publish(&page, REPORT, options.is_complete())
}

fn rows(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Row>, Failure> {
    let ways = OURS.len() + peer::PEERS.len();
    on_two_threads(drives.len() * ways, |number| {
        let (drive, way) = (&drives[number / ways], number % ways);
        let (way, is_ours, measured) = match OURS.get(way) {
            Some((name, options)) => (*name, true, surface(program, &drive.target, seed, options)?),
            None => {
                let peer = &peer::PEERS[way - OURS.len()];
                (peer.name, false, peer.measure(drive, seed)?)
            }
        };
        eprintln!("{}: {way}", drive.name);
        let errors = Errors::of_run(&measured, &Truth::of(&drive.profile)?);
        Ok(Row { drive: drive.name.clone(), way, is_ours, measured, errors })
    })
}
