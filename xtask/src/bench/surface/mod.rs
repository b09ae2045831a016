//! `cargo xtask bench surface`: what `drivescope surface` makes of virtual drives, against their truth and beside three
//! ways in which people do it today. All of it in virtual time: device seconds are what a real drive would take.
//!
//! ```text
//! drives ──► truth (sim) ─────────────────────────────┐
//!    ├─────► drivescope surface, as a process ─► measured ─► errors ─► table
//!    ├─────► peers on the same drive ─────────────────┘
//!    └─────► many seeds ─► trials: how often intervals hold, what is found that is not there, what is missed
//! ```

mod drives;
mod measured;
mod options;
mod peer;
mod score;
mod table;
mod trials;

use std::io::Write as _;

use super::program::{Program, build};
use super::virtual_drive::{Drive, Folder};
use super::{keep, on_two_threads};
use crate::Failure;
use measured::{Measured, surface};
use options::Options;
use score::Truth;

/// Where the tables are kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-surface.md";

/// A way of going over a drive.
enum Way {
    /// `drivescope surface` with these options.
    Ours(&'static str, &'static [&'static str]),
    /// What somebody does without it.
    Peer(&'static peer::Peer),
}

/// Ways, in the order of the table.
fn ways() -> Vec<Way> {
    let ours = [Way::Ours("surface", &[]), Way::Ours("surface --time-limit 5m", &["--time-limit", "5m"])];
    ours.into_iter().chain(peer::PEERS.iter().map(Way::Peer)).collect()
}

/// One drive gone over in one way.
struct Row {
    drive: String,
    way: &'static str,
    is_ours: bool,
    measured: Measured,
    errors: score::Errors,
}

/// Runs everything, prints the tables, and keeps them when nothing was left out.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    let program = options.program.clone().map_or_else(build, Ok)?;
    let folder = Folder::make("surface")?;
    let program = Program { path: program, folder: folder.path.clone() };
    let mut page = Page::default();
    page.add(table::head(&options));
    let rows = rows(&drives::chosen(&options, &folder)?, &program, options.seed)?;
    page.add(table::rows(&rows));
    trials::run(&program, &folder, &options, &mut page)?;
    if options.is_complete() { keep(REPORT, &page.text) } else { Ok(()) }
}

/// What is kept at the end, printed as it comes: all of it takes minutes.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn add(&mut self, section: String) {
        print!("{section}");
        // Nobody may read it, which is no reason to stop.
        let _ = std::io::stdout().flush();
        self.text.push_str(&section);
    }
}

/// Each drive in each way.
fn rows(drives: &[Drive], program: &Program, seed: u64) -> Result<Vec<Row>, Failure> {
    let ways = ways();
    let rows = on_two_threads(drives.len() * ways.len(), |number| {
        let (drive, way) = (&drives[number / ways.len()], &ways[number % ways.len()]);
        let truth = Truth::of(&drive.profile)?;
        let (name, is_ours, measured) = match way {
            Way::Ours(name, options) => (*name, true, surface(program, &drive.target, seed, options)?),
            Way::Peer(peer) => (peer.name, false, peer.measure(drive, seed)?),
        };
        eprintln!("{}: {name}", drive.name);
        let errors = score::Errors::of(&measured, &truth);
        Ok(Row { drive: drive.name.clone(), way: name, is_ours, measured, errors })
    });
    rows.into_iter().collect()
}
