//! `cargo xtask bench coverage`: every finding that a run has, against the truth, on drives of every random family. It knows no code
//! by name: what is scored is what both the document and the truth speak of.

mod score;
mod table;

use crate::failure::Failure;
use crate::machine::publish;
use crate::options::CoverageOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Folder, drawn};
use score::{Judged, judged};
use sim::generator::Family;
use table::Part;

/// Where the tables are kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-coverage.md";
/// What is asked of each drive: all that reads tell, and all that random writes tell.
const EXPERIMENTS: [(&str, &[&str]); 2] = [("check", &["--deep"]), ("sustain", &["--write"])];

pub fn run(options: &CoverageOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let mut parts = Vec::new();
    for (experiment, words) in EXPERIMENTS {
        if !is_wanted(&options.experiments, experiment) {
            continue;
        }
        for family in Family::ALL {
            if is_wanted(&options.families, family.name()) {
                let judged = of_family(options, &program, family, &[&[experiment], words].concat())?;
                parts.push(Part { experiment, family: family.name(), judged });
            }
        }
    }
    publish(&table::page(options, &parts), REPORT, options.is_complete())
}

fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|wanted| wanted == name)
}

/// Each drive with a seed of its own: with the same offsets on all of them they would err together.
fn of_family(
    options: &CoverageOptions,
    program: &Program,
    family: Family,
    command: &[&str],
) -> Result<Vec<Judged>, Failure> {
    let name = format!("random-{}", family.name());
    let drives = drawn(&[&name], options.first, options.random)?;
    let judged = on_two_threads(drives.len(), |number| {
        let drive = &drives[number];
        let seed = (options.seed + number as u64).to_string();
        let document = program.run(&[command, &[&drive.target, "--seed", &seed]].concat())?;
        let judged = judged(drive, &document)?;
        for one in &judged {
            if !one.verdict.is_bad() {
                continue;
            }
            eprintln!("{} {} --seed {seed}: {}", command[0], drive.name, one.line);
        }
        Ok(judged)
    })?;
    Ok(judged.into_iter().flatten().collect())
}
