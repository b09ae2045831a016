//! `cargo xtask bench report`: how long a report of ten runs with a million slices of time takes, how much memory, and how soon a
//! browser shows it.

use std::fmt::Write;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::keep;
use super::program::build;
use super::virtual_drive::Folder;
use crate::Failure;
use crate::workspace::root;

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-report.md";
const USAGE: &str = "Usage: cargo xtask bench report [--program FILE]
Makes ten runs with a million slices of 40 ms on a virtual drive, and reports on one and on all of them. With --program it takes
that drivescope instead of building one, and keeps no table.";
const RUNS: u64 = 10;
/// A quarter of this disk takes 4900 s to read: 122,000 slices of 40 ms in each run.
const MEASURING: [&str; 5] = ["surface", "sim:wd20ears", "--full", "--range", "0%..25%"];
const ROUNDS: usize = 5;
/// How often the memory of a program is looked at while it runs.
const LOOK: Duration = Duration::from_millis(2);

/// What one report took.
struct Cost {
    seconds: f64,
    peak_mib: f64,
    page_mib: f64,
    /// From asking for the page to its charts being drawn; none where there is no browser.
    opened_ms: Option<f64>,
}

/// Makes the runs, reports on them, prints the table, and keeps it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let given = match arguments {
        [] => None,
        [option, path] if option == "--program" => Some(PathBuf::from(path)),
        _ => return Err(Failure::cannot(USAGE)),
    };
    let program = given.clone().map_or_else(build, Ok)?;
    let folder = Folder::make("report")?;
    let names = make_runs(&program, &folder.path)?;
    let slices = count_slices(&program, &folder.path, &names[0])?;
    let one = cost(&program, &folder.path, &names[..1])?;
    let all = cost(&program, &folder.path, &names)?;
    let text = table(slices, &one, &all);
    println!("{text}");
    if given.is_none() { keep(REPORT, &text) } else { Ok(()) }
}

fn make_runs(program: &Path, folder: &Path) -> Result<Vec<String>, Failure> {
    for seed in 1..=RUNS {
        let mut command = drivescope(program, folder);
        command.args(MEASURING).args(["--quiet", "--seed", &seed.to_string()]);
        said(&mut command)?;
        eprintln!("run {seed} of {RUNS} is there");
    }
    let listed = std::fs::read_dir(folder.join("store/runs"))
        .map_err(|error| Failure::cannot(format!("Cannot read the runs: {error}.")))?;
    let name =
        |entry: std::io::Result<DirEntry>| Some(entry.ok()?.file_name().to_string_lossy().into_owned());
    // Beside the runs lies a lock, hidden as all that is no run.
    let mut names: Vec<String> = listed.filter_map(name).filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    Ok(names)
}

fn drivescope(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--store").arg(folder.join("store"));
    command
}

fn said(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output = command.output().map_err(|error| cannot_start(&error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::cannot(String::from_utf8_lossy(&output.stderr)))
}

fn cannot_start(error: &std::io::Error) -> Failure {
    Failure::cannot(format!("Cannot start drivescope: {error}."))
}

/// Slices of 40 ms in a run, by how long its phases took.
fn count_slices(program: &Path, folder: &Path, name: &str) -> Result<f64, Failure> {
    let document = said(drivescope(program, folder).args(["show", name, "--json", "-"]))?;
    let document: serde_json::Value = serde_json::from_slice(&document)
        .map_err(|error| Failure::cannot(format!("`show` printed no JSON: {error}.")))?;
    let phases = document["phases"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(phases.iter().filter_map(|phase| phase["seconds"].as_f64()).sum::<f64>() / 0.04)
}

/// The median of several reports on these runs.
fn cost(program: &Path, folder: &Path, names: &[String]) -> Result<Cost, Failure> {
    let page = folder.join("page.html");
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let child = drivescope(program, folder).arg("report").args(names).arg("-o").arg(&page).spawn();
        let peak_mib = watched(child.map_err(|error| cannot_start(&error))?)?;
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

/// Waits for a program; the most memory that it had, in MiB.
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
            Err(error) => return Err(cannot_start(&error)),
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
        std::thread::available_parallelism().map_or(1, usize::from),
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
