//! `cargo xtask bench report`: time and memory of a report of ten runs with a million slices, and how soon a browser shows it.

use crate::document::Document;
use crate::failure::{Doing, Failure};
use crate::machine::{cores, publish};
use crate::options::ProgramOption;
use crate::place::{output, parsed};
use crate::program::Program;
use crate::virtual_drive::Folder;
use crate::workspace::root;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const REPORT: &str = "docs/generated/bench-report.md";
const RUNS: u64 = 10;
/// A quarter of this disk takes 4900 s to read: 122,000 slices of 40 ms in each run.
const MEASURING: [&str; 5] = ["surface", "sim:wd20ears", "--full", "--range", "0%..25%"];
const ROUNDS: usize = 5;
/// How often the memory of a program is looked at while it runs.
const LOOK: Duration = Duration::from_millis(2);

struct Cost {
    seconds: f64,
    peak_mib: f64,
    page_mib: f64,
    opened_ms: Option<f64>,
}

pub fn run(options: &ProgramOption) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(options, folder.path())?;
    let names = make_runs(&program)?;
    let intervals = count_intervals(&program, &names[0])?;
    let one = cost(&program, &names[..1])?;
    let all = cost(&program, &names)?;
    publish(&table(intervals, &one, &all), REPORT, options.is_ours())
}

fn make_runs(program: &Program) -> Result<Vec<String>, Failure> {
    for seed in 1..=RUNS {
        output(drivescope(program, &MEASURING).args(["--quiet", "--seed", &seed.to_string()]))?;
        eprintln!("run {seed} of {RUNS} is there");
    }
    run_names(&program.folder.join("store/runs"))
}

pub fn run_names(runs: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(runs).doing(format_args!("read {}", runs.display()))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Beside the runs lies a lock, hidden as all that is no run.
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Seconds and MiB of memory that a report of all of them takes.
pub fn page_of_ten(program: &Program) -> Result<(f64, f64), Failure> {
    let names = make_runs(program)?;
    let cost = cost(program, &names)?;
    Ok((cost.seconds, cost.peak_mib))
}

fn drivescope(program: &Program, words: &[&str]) -> Command {
    let mut command = program.command(&["--store"]);
    command.arg(program.folder.join("store")).args(words);
    command
}

/// Intervals of 40 ms in a run, by how long its phases took.
fn count_intervals(program: &Program, name: &str) -> Result<f64, Failure> {
    let document =
        Document::from(parsed(&output(&mut drivescope(program, &["show", name, "--json", "-"]))?)?);
    Ok(document.phases().iter().filter_map(|phase| phase["seconds"].as_f64()).sum::<f64>() / 0.04)
}

fn cost(program: &Program, names: &[String]) -> Result<Cost, Failure> {
    let page = program.folder.join("page.html");
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let child = drivescope(program, &["report"]).args(names).arg("-o").arg(&page).spawn();
        let peak_mib = watched(child.doing("start drivescope")?)?;
        rounds.push((begun.elapsed().as_secs_f64(), peak_mib));
    }
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bytes = page.metadata().map_or(0, |facts| facts.len());
    Ok(Cost {
        seconds: rounds[ROUNDS / 2].0,
        peak_mib: rounds.iter().map(|(_, peak)| *peak).fold(0.0, f64::max),
        page_mib: bytes as f64 / f64::from(1 << 20),
        opened_ms: opened_ms(&page),
    })
}

fn watched(mut child: Child) -> Result<f64, Failure> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib: f64 = 0.0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let seen = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak_kib = peak_kib.max(seen.unwrap_or(0.0));
        match child.try_wait() {
            Ok(Some(ended)) if ended.success() => return Ok(peak_kib / 1024.0),
            Ok(Some(_)) => return Err(Failure::cannot("`drivescope report` failed; its reason is above.")),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(Failure::to("wait for drivescope", error)),
        }
    }
}

/// What `web/tests/opening.mjs` says of the page.
fn opened_ms(page: &Path) -> Option<f64> {
    let output = Command::new("node").arg(root().join("web/tests/opening.mjs")).arg(page).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

fn table(slices: f64, one: &Cost, all: &Cost) -> String {
    let mut text = format!(
        "# How long a report takes\n\n\
         `cargo xtask bench report`: {RUNS} runs of `drivescope {}` with {slices:.0} slices of 40 ms each, on a machine with {} processors. Time \
         is the median of {ROUNDS} reports, the runs analysed anew and compared with each other; memory is the most that the kernel counted. \
         Opening is from asking for the file to all charts being drawn, in headless Chromium.\n\n\
         | runs | slices | time | memory | page | opening |\n|---:|---:|---:|---:|---:|---:|\n",
        MEASURING.join(" "),
        cores(),
    );
    for (runs, cost) in [(1, one), (RUNS, all)] {
        let opened = cost.opened_ms.map_or("no browser".to_string(), |ms| format!("{ms:.0} ms"));
        // Text in memory cannot fail to be written.
        let _ = writeln!(
            text,
            "| {runs} | {:.0} | {:.2} s | {:.0} MiB | {:.2} MiB | {opened} |",
            slices * runs as f64,
            cost.seconds,
            cost.peak_mib,
            cost.page_mib
        );
    }
    text
}
