//! `cargo xtask bench coverage`: every finding that a run has, against the truth, on drives of every random family. It knows no code
//! by name: what is scored is what both the document and the truth speak of.

mod disturbance;
mod score;
mod table;

use crate::failure::Failure;
use crate::machine::{keep, publish};
use crate::mounted_drive::MountedDrive;
use crate::options::CoverageOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Drive, Folder, drawn};
use disturbance::Disturbance;
use score::{Judged, judged};
use sim::generator::Family;
use std::ops::Range;
use table::Part;

const REPORT: &str = "docs/generated/bench-coverage.md";
const REPORT_DISTURBED: &str = "docs/generated/bench-disturbed.md";
/// What is asked of each drive: all that reads tell, and all that random writes tell.
const EXPERIMENTS: [(&str, &[&str]); 2] = [("check", &["--deep"]), ("sustain", &["--write"])];

/// So many drives of each family are judged before the table is kept anew: a bench that is stopped leaves a whole one.
const BATCH: u64 = 2;

pub fn run(options: &CoverageOptions) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let mut parts = parts(options);
    let report = if options.disturbed { REPORT_DISTURBED } else { REPORT };
    let mut done = 0;
    while done < options.random {
        let batch = done..options.random.min(done + BATCH);
        for part in &mut parts {
            let judged = of_family(options, &program, &folder, part, batch.clone())?;
            part.judged.extend(judged);
        }
        done = batch.end;
        if options.is_complete() {
            keep(&table::page(options, done, &parts), report)?;
        }
    }
    publish(&table::page(options, done, &parts), report, options.is_complete())
}

fn parts(options: &CoverageOptions) -> Vec<Part> {
    let disturbances = match options.disturbed {
        true => Disturbance::ALL.map(Some).to_vec(),
        false => vec![None],
    };
    let mut parts = Vec::new();
    for (experiment, words) in EXPERIMENTS {
        for &disturbance in &disturbances {
            for family in Family::ALL {
                let family = family.name();
                if is_wanted(&options.experiments, experiment) && is_wanted(&options.families, family) {
                    parts.push(Part { experiment, words, disturbance, family, judged: Vec::new() });
                }
            }
        }
    }
    parts
}

fn drives(
    options: &CoverageOptions,
    folder: &Folder,
    part: &Part,
    batch: Range<u64>,
) -> Result<Vec<Drive>, Failure> {
    let name = format!("random-{}", part.family);
    let mut drives = drawn(&[&name], options.first + batch.start, batch.end - batch.start)?;
    if let Some(disturbance) = part.disturbance {
        for (drive, number) in drives.iter_mut().zip(batch) {
            *drive = folder.drive(&drive.name, &disturbance.profile(&drive.name, options.first + number)?)?;
        }
    }
    Ok(drives)
}

fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|wanted| wanted == name)
}

/// Each drive with a seed of its own: with the same offsets on all of them they would err together.
fn of_family(
    options: &CoverageOptions,
    program: &Program,
    folder: &Folder,
    part: &Part,
    batch: Range<u64>,
) -> Result<Vec<Judged>, Failure> {
    let drives = drives(options, folder, part, batch.clone())?;
    let one = |number: usize| {
        let drive = &drives[number];
        let seed = options.seed + batch.start + number as u64;
        let mounted = if options.mounted { Some(MountedDrive::start(program, &drive.name)?) } else { None };
        let target = match &mounted {
            Some(mounted) => mounted.device().display().to_string(),
            None => drive.target.clone(),
        };
        let document = program.measure(part.experiment, &target, part.words, seed)?;
        let judged = judged(drive, &document)?;
        for one in &judged {
            if !one.verdict.is_bad() {
                continue;
            }
            eprintln!("{} {} --seed {seed}: {}", part.title(), drive.name, one.line);
        }
        Ok(judged)
    };
    let judged = match options.mounted {
        true => (0..drives.len()).map(one).collect::<Result<Vec<_>, Failure>>()?,
        false => on_two_threads(drives.len(), one)?,
    };
    Ok(judged.into_iter().flatten().collect())
}
