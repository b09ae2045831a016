//! Reading what was measured: a run of a million intervals, a page of ten runs, and a store of ten thousand.

use crate::failure::{Doing, Failure};
use crate::goal::{Bound, Goal};
use crate::machine::median;
use crate::place::output;
use crate::program::Program;
use crate::report;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const RUNS: usize = 10_000;
const LONG: [&str; 5] = ["surface", "sim:exos-x20", "--full", "--range", "0%..45%"];
const SHORT: [&str; 2] = ["check", "sim:disk-4tb"];

pub fn measured(program: &Program, rounds: u64) -> Result<Vec<Goal>, Failure> {
    let mut goals = Vec::new();
    let mut hold = |what: &str, value: f64, unit: &'static str, most: f64| {
        eprintln!("{value:>8.3} {unit}  {what}");
        goals.push(Goal { what: what.to_owned(), value, unit, bound: Bound::AtMost(most) });
    };
    let long = program.folder.join("long");
    made(program, &long, &LONG)?;
    let id = the_run(&long)?;
    let seconds = timed(rounds, || on(program, &long, &["show", &id, "--json", "-"]))?;
    hold("findings of a run of a million intervals, made anew", seconds, "s", 0.4);

    let (seconds, peak_mib) = report::page_of_ten(program)?;
    hold("page of ten runs with 857,000 intervals", seconds, "s", 0.6);
    hold("memory of that page", peak_mib, "MiB", 150.0);

    let many = program.folder.join("many");
    made(program, &many, &SHORT)?;
    let id = the_run(&many)?;
    multiply(&many.join("runs"), &id)?;
    let seconds = timed(1, || on(program, &many, &["runs"]))?;
    hold("store of 10,000 runs: index made anew", seconds, "s", 5.0);
    let seconds = timed(rounds, || on(program, &many, &["show", &id]))?;
    hold("store of 10,000 runs: `show`", seconds * 1e3, "ms", 50.0);
    let seconds = timed(rounds, || on(program, &many, &["runs"]))?;
    hold("store of 10,000 runs: `runs`", seconds * 1e3, "ms", 100.0);
    Ok(goals)
}

fn on(program: &Program, store: &Path, words: &[&str]) -> Command {
    let mut command = program.command(&["--store"]);
    command.arg(store).args(words);
    command
}

fn made(program: &Program, store: &Path, words: &[&str]) -> Result<(), Failure> {
    output(on(program, store, words).args(["--quiet", "--seed", "1"])).map(drop)
}

fn timed(rounds: u64, command: impl Fn() -> Command) -> Result<f64, Failure> {
    let mut took = Vec::new();
    for _ in 0..rounds {
        let begun = Instant::now();
        output(&mut command())?;
        took.push(begun.elapsed().as_secs_f64());
    }
    Ok(median(took))
}

fn the_run(store: &Path) -> Result<String, Failure> {
    match report::run_names(&store.join("runs"))?.as_slice() {
        [only] => Ok(only.clone()),
        runs => {
            Err(Failure::cannot(format!("{} holds {} runs instead of one.", store.display(), runs.len())))
        }
    }
}

/// Ten thousand runs of the same files: each folder has names of its own.
fn multiply(runs: &Path, id: &str) -> Result<(), Failure> {
    let files: Vec<_> = fs::read_dir(runs.join(id)).doing("read the run")?.flatten().collect();
    for number in 1..RUNS {
        let copy = runs.join(format!("{id}-{number:04}"));
        fs::create_dir(&copy).doing(format_args!("make {}", copy.display()))?;
        for file in &files {
            fs::hard_link(file.path(), copy.join(file.file_name())).doing("link a file of a run")?;
        }
    }
    Ok(())
}
