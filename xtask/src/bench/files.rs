//! `cargo xtask bench files`: `drivescope files` against dd, fio and bonnie++ in the same folder of one file system, in turns. The ratios
//! are the result: writing and reading in blocks, with the flush, and small empty files made, looked at and removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::place::{Place, command};
use super::program::{Program, build};
use super::summary::{load_average, machine, today};
use super::{Shuffle, keep};
use crate::Failure;

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-files.md";
const USAGE: &str =
    "Usage: cargo xtask bench files [--rounds N] [--program FILE]\nNeeds root, dd, fio and bonnie++.";
/// How long the large file is, and what one call moves.
const FILE_MIB: u64 = 256;
/// Small files, in units of 1024 as bonnie++ counts.
const FILES_K: u64 = 32;
/// What bonnie++ measures of small files: our task, and the field of its line.
const NAMES: [(&str, usize); 6] = [
    ("create-in-order", 26),
    ("stat-in-order", 28),
    ("delete-in-order", 30),
    ("create-at-random", 32),
    ("stat-at-random", 34),
    ("delete-at-random", 36),
];

/// Rates by task and tool, of all rounds.
type Rates = BTreeMap<(String, &'static str), Vec<f64>>;

/// Runs the comparison, prints its table and keeps it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (mut rounds, mut program) = (5, None);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--program" => program = Some(PathBuf::from(value)),
            [name, value] if name == "--rounds" => {
                rounds = value.parse().ok().filter(|n| *n > 0).ok_or_else(|| Failure::cannot(USAGE))?;
            }
            _ => return Err(Failure::cannot(USAGE)),
        }
    }
    let is_release = program.is_none();
    let program = program.map_or_else(build, Ok)?;
    let before = load_average();
    let place = Place::make()?;
    let mounted = Mounted::over(place.device())?;
    let program = Program { path: program, folder: mounted.store.clone() };
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let mut order = Shuffle(seed);
    let mut rates = Rates::new();
    for round in 1..=rounds {
        let mut turns = ["drivescope", "dd", "fio", "bonnie++"];
        order.apply(&mut turns);
        for tool in turns {
            eprintln!("round {round} of {rounds}: {tool}");
            let measured = match tool {
                "drivescope" => ours(&program, &mounted.folder)?,
                "dd" => dd(&mounted.folder)?,
                "fio" => fio(&mounted.folder)?,
                _ => bonnie(&mounted.folder)?,
            };
            for (task, rate) in measured {
                rates.entry((task, tool)).or_default().push(rate);
            }
        }
    }
    drop(mounted);
    drop(place);
    let report = report(&rates, rounds, is_release, &before);
    println!("{report}");
    keep(REPORT, &report)
}

/// An ext4 file system on the device, and a folder for our runs.
struct Mounted {
    folder: PathBuf,
    store: PathBuf,
}

impl Mounted {
    fn over(device: &str) -> Result<Mounted, Failure> {
        let base = std::env::temp_dir().join(format!("drivescope-bench-files-{}", std::process::id()));
        let mounted = Mounted { folder: base.join("mounted"), store: base.join("store") };
        for folder in [&mounted.folder, &mounted.store] {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::cannot(format!("Cannot make {}: {error}.", folder.display())))?;
        }
        command("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device])?;
        command("mount", &[device, &mounted.folder.to_string_lossy()])?;
        Ok(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.folder).status();
        if let Some(base) = self.folder.parent() {
            let _ = fs::remove_dir(&self.folder);
            let _ = fs::remove_dir_all(base.join("store"));
            let _ = fs::remove_dir(base);
        }
    }
}

type Measured = Vec<(String, f64)>;

/// One round of ours: rates of blocks with the flush, rates of small files without, as bonnie++ has them.
fn ours(program: &Program, folder: &Path) -> Result<Measured, Failure> {
    let (size, files) = (format!("{FILE_MIB}MiB"), (FILES_K * 1024).to_string());
    let folder = folder.to_string_lossy();
    let words = [
        "files",
        &folder,
        "--tasks",
        "blocks,names",
        "--size",
        &size,
        "--files",
        &files,
        "--file-size",
        "0",
        "--rounds",
        "1",
        "--time-limit",
        "10m",
        "--seed",
        "1",
    ];
    let document = program.run(&words)?;
    let phases = document["phases"].as_array().cloned().unwrap_or_default();
    let measured = phases.iter().filter(|phase| phase["kind"] == "measure").filter_map(|phase| {
        let task = phase["files"]["task"].as_str()?.to_string();
        let calls_s = phase["seconds"].as_f64()?;
        let operations = phase["by_operation"].as_array()?;
        let flush_s: f64 =
            operations.iter().filter(|one| one["operation"] == "flush").filter_map(flush_s).sum();
        let is_of_blocks = task.starts_with("block");
        let amount = phase[if is_of_blocks { "bytes" } else { "operations" }].as_f64()?;
        let flushes = operations.iter().filter(|one| one["operation"] == "flush").count() as f64;
        let amount = if is_of_blocks { amount } else { amount - flushes };
        Some((task, amount / if is_of_blocks { calls_s + flush_s } else { calls_s }))
    });
    Ok(measured.collect())
}

fn flush_s(flush: &Value) -> Option<f64> {
    Some(flush["latency_ns"]["mean"].as_f64()? * flush["operations"].as_f64()? / 1e9)
}

/// dd writes and flushes; the file is put out of memory and read.
fn dd(folder: &Path) -> Result<Measured, Failure> {
    let file = folder.join("dd");
    let path = file.to_string_lossy().into_owned();
    let count = format!("count={FILE_MIB}");
    let bytes = (FILE_MIB << 20) as f64;
    let timed = |words: &[&str]| -> Result<f64, Failure> {
        let began = Instant::now();
        command("dd", words)?;
        Ok(bytes / began.elapsed().as_secs_f64())
    };
    let write =
        timed(&["if=/dev/zero", &format!("of={path}"), "bs=1M", &count, "conv=fsync", "status=none"])?;
    command(
        "dd",
        &[&format!("of={path}"), "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"],
    )?;
    let read = timed(&[&format!("if={path}"), "of=/dev/null", "bs=1M", &count, "status=none"])?;
    let _ = fs::remove_file(&file);
    Ok(vec![("block-write".into(), write), ("block-read".into(), read)])
}

/// fio with calls that wait, a flush at the end of writing, and its own emptying of the cache before reading.
fn fio(folder: &Path) -> Result<Measured, Failure> {
    let file = folder.join("fio");
    let run = |direction: &str| -> Result<f64, Failure> {
        let options = [
            format!("--filename={}", file.display()),
            format!("--rw={direction}"),
            format!("--size={FILE_MIB}m"),
        ];
        let fixed = [
            "--name=one",
            "--bs=1m",
            "--ioengine=psync",
            "--end_fsync=1",
            "--fallocate=none",
            "--output-format=json",
        ];
        let words: Vec<&str> = options.iter().map(String::as_str).chain(fixed).collect();
        let text = command("fio", &words)?;
        let start = text.find('{').unwrap_or(0);
        let document: Value = serde_json::from_str(&text[start..])
            .map_err(|error| Failure::cannot(format!("fio printed no JSON: {error}.")))?;
        // Of writing, the time of the job, in ms, has the flush at its end.
        let job = &document["jobs"][0];
        let millis = match direction {
            "write" => job["job_runtime"].as_f64().unwrap_or_default(),
            _ => job["read"]["runtime"].as_f64().unwrap_or_default(),
        };
        Ok((FILE_MIB << 20) as f64 / (millis / 1e3))
    };
    // A file of before is written over otherwise, and a new one is measured by the others.
    let _ = fs::remove_file(&file);
    let measured = vec![("block-write".into(), run("write")?), ("block-read".into(), run("read")?)];
    let _ = fs::remove_file(&file);
    Ok(measured)
}

/// bonnie++ on small empty files in one folder. What it measured in less than half a second it does not show.
fn bonnie(folder: &Path) -> Result<Measured, Failure> {
    let folder = folder.to_string_lossy();
    let line = command(
        "bonnie++",
        &["-u", "root", "-d", &folder, "-s", "0", "-n", &FILES_K.to_string(), "-q", "-m", "x"],
    )?;
    let fields: Vec<&str> = line.trim().split(',').collect();
    let number = |(task, field): (&str, usize)| Some((task.to_string(), fields.get(field)?.parse().ok()?));
    Ok(NAMES.into_iter().filter_map(number).collect())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn report(rates: &Rates, rounds: u64, is_release: bool, load_before: &str) -> String {
    let mut tasks: Vec<&String> = rates.keys().map(|(task, _)| task).collect();
    tasks.dedup();
    let mut rows = String::new();
    for task in tasks {
        let of = |tool| rates.get(&(task.clone(), tool)).map(|all: &Vec<f64>| median(all));
        let Some(own) = of("drivescope") else { continue };
        for tool in ["dd", "fio", "bonnie++"] {
            let Some(theirs) = of(tool) else { continue };
            let (scale, unit) = if task.starts_with("block") { (1e6, "MB/s") } else { (1.0, "1/s") };
            rows += &format!(
                "| {task} | {:.0} {unit} | {tool} | {:.0} {unit} | {:.3} |\n",
                own / scale,
                theirs / scale,
                own / theirs
            );
        }
    }
    let build =
        if is_release { "as it is shipped" } else { "a program that was given, not as it is shipped" };
    format!(
        "# Files against dd, fio and bonnie++\n\n\
         Made by `cargo xtask bench files --rounds {rounds}` on {}, with drivescope {build}.\n{}\n\
         Load averages before and after: {load_before}; {}.\n\n\
         One ext4 file system on a loop device over memory; medians of rounds in random order. A file of {FILE_MIB} MiB in blocks of \
         1 MiB,\nthe flush counted; {}empty files in one folder, without the flush, which bonnie++ does not have. What bonnie++ \
         measures in less\nthan half a second it does not show, and there is no row then.\n\n\
         | task | drivescope | against | its rate | ratio |\n|---|---|---|---|---|\n{rows}",
        today(),
        machine(),
        load_average(),
        format_args!("{} ", FILES_K * 1024),
    )
}
