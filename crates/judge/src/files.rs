//! `cargo xtask bench files`: `drivescope files` against dd, fio and bonnie++ in the same folder of one file system, in turns. The ratios
//! are the result: writing and reading in blocks, and small empty files made, looked at and removed. The flush counts on all sides:
//! bonnie++ calls sync before it stops its clock, of making and of removing.

use crate::document::number;
use crate::engine::measurement;
use crate::failure::{Doing, Failure};
use crate::machine::{conditions, load_average, publish, seed_of_now, spread, today};
use crate::options::TurnOptions;
use crate::place::{Place, command, json};
use crate::program::Program;
use model::prng::Prng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const REPORT: &str = "docs/generated/bench-files.md";
/// How long the large file is: as long as goes into the file system beside the small files and what has to stay free.
const FILE_MIB: u64 = 384;
/// Small files, in units of 1024: bonnie++ shows nothing under half a second, and looks at some 500,000 in a second.
const FILES_K: u64 = 384;
/// More than files of both programs in turns.
const INODES: &str = "500000";
const ROUNDS: u64 = 5;
/// A turn with blocks takes seconds, one with small files minutes.
const BLOCK_TURNS: u64 = 5;
/// What bonnie++ measures of small files: our task, and the field of its line. The next one is the processor's share in percent.
const NAMES: [(&str, usize); 6] = [
    ("create-in-order", 26),
    ("stat-in-order", 28),
    ("delete-in-order", 30),
    ("create-at-random", 32),
    ("stat-at-random", 34),
    ("delete-at-random", 36),
];

const FIO_ALWAYS: &str =
    "--name=one --bs=1m --ioengine=psync --end_fsync=1 --fallocate=none --output-format=json";

#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    rate: f64,
    /// Of small files: processor time of the program for each of them, in µs.
    processor_us: Option<f64>,
}

type Rates = BTreeMap<(String, &'static str), BTreeMap<u64, Rate>>;

pub fn run(options: &TurnOptions) -> Result<(), Failure> {
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let before = load_average();
    let place = Place::make()?;
    let mounted = Mounted::over(place.device())?;
    let program = Program::chosen(&options.program, &mounted.store)?;
    let mut order = Prng::new(seed_of_now(), 0);
    let mut rates = Rates::new();
    for round in 0..rounds * BLOCK_TURNS {
        let mut order_of_round = vec![("drivescope", "blocks"), ("dd", "blocks"), ("fio", "blocks")];
        if round % BLOCK_TURNS == 0 {
            order_of_round.extend([("drivescope", "names"), ("bonnie++", "names")]);
        }
        order.shuffle(&mut order_of_round);
        for (tool, what) in order_of_round {
            eprintln!("round {} of {}: {what} by {tool}", round + 1, rounds * BLOCK_TURNS);
            let measured = match tool {
                "drivescope" => ours(&program, &mounted.folder, what)?,
                "dd" => dd(&mounted.folder)?,
                "fio" => fio(&mounted.folder)?,
                _ => bonnie(&mounted.folder)?,
            };
            for (task, rate) in measured {
                rates.entry((task, tool)).or_default().insert(round, rate);
            }
        }
    }
    drop(mounted);
    drop(place);
    let is_ours = options.program.is_ours();
    publish(&report(&rates, rounds, is_ours, &before), REPORT, is_ours)
}

pub struct Mounted {
    pub folder: PathBuf,
    pub store: PathBuf,
}

impl Mounted {
    /// A file system over a device: for files that are measured, and beside it for runs.
    pub fn over(device: &str) -> Result<Mounted, Failure> {
        let base = std::env::temp_dir().join(format!("drivescope-bench-files-{}", std::process::id()));
        let mounted = Mounted { folder: base.join("mounted"), store: base.join("store") };
        for folder in [&mounted.folder, &mounted.store] {
            fs::create_dir_all(folder).doing(format_args!("make {}", folder.display()))?;
        }
        let settled = "lazy_itable_init=0,lazy_journal_init=0";
        command("mkfs.ext4", &["-q", "-F", "-N", INODES, "-E", settled, device])?;
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

type Measured = Vec<(String, Rate)>;

fn ours(program: &Program, folder: &Path, what: &str) -> Result<Measured, Failure> {
    let (size, files) = (format!("{FILE_MIB}MiB"), (FILES_K * 1024).to_string());
    let folder = folder.to_string_lossy();
    let program_words =
        ["files", &folder, "--tasks", what, "--size", &size, "--files", &files, "--file-size", "0"];
    let document = program
        .run(&[&program_words[..], &["--rounds", "1", "--time-limit", "30m", "--seed", "1"]].concat())?;
    Ok(document.phases().iter().filter(|phase| phase["kind"] == "measure").filter_map(of_phase).collect())
}

fn of_phase(phase: &Value) -> Option<(String, Rate)> {
    let task = phase["files"]["task"].as_str()?.to_string();
    let (mut seconds, mut files, mut bytes) = (phase["seconds"].as_f64()?, 0.0, 0.0);
    for one in phase["by_operation"].as_array()? {
        if one["operation"] == "flush" {
            seconds += number(&one["latency_ns"], "mean") * number(one, "operations") / 1e9;
        } else {
            files += number(one, "operations");
            bytes += number(one, "bytes");
        }
    }
    if task.starts_with("block") {
        return Some((task, Rate { rate: bytes / seconds, processor_us: None }));
    }
    let processor_ns =
        number(&phase["files"], "processor_user_ns") + number(&phase["files"], "processor_system_ns");
    Some((task, Rate { rate: files / seconds, processor_us: Some(processor_ns / files / 1e3) }))
}

/// dd writes and flushes; the file is put out of memory and read.
fn dd(folder: &Path) -> Result<Measured, Failure> {
    let file = folder.join("dd");
    let path = file.to_string_lossy().into_owned();
    let count = format!("count={FILE_MIB}");
    let write = dd_rate(&["if=/dev/zero", &format!("of={path}"), "bs=1M", &count, "conv=fsync"])?;
    command(
        "dd",
        &[&format!("of={path}"), "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"],
    )?;
    let read = dd_rate(&[&format!("if={path}"), "of=/dev/null", "bs=1M", &count])?;
    let _ = fs::remove_file(&file);
    Ok(vec![of_blocks("block-write", write), of_blocks("block-read", read)])
}

fn of_blocks(task: &str, rate: f64) -> (String, Rate) {
    (task.to_string(), Rate { rate, processor_us: None })
}

/// What dd says itself, which begins and ends with its calls, not with its process.
fn dd_rate(words: &[&str]) -> Result<f64, Failure> {
    let output = Command::new("dd").args(words).env("LC_ALL", "C").output();
    let output = output.doing("run dd")?;
    let said = String::from_utf8_lossy(&output.stderr);
    said_by_dd(&said).ok_or_else(|| Failure::cannot(format!("dd told no rate: {said}")))
}

/// `402653184 bytes (403 MB, 384 MiB) copied, 0.165 s, 2.4 GB/s`: the bytes and the seconds, since the rate is rounded.
fn said_by_dd(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains(" copied, "))?;
    let bytes: f64 = line.split(' ').next()?.parse().ok()?;
    let seconds: f64 = line.split(" copied, ").nth(1)?.split(' ').next()?.parse().ok()?;
    if seconds > 0.0 { Some(bytes / seconds) } else { None }
}

/// fio with calls that wait, a flush at the end of writing, and its own emptying of the cache before reading.
fn fio(folder: &Path) -> Result<Measured, Failure> {
    let file = folder.join("fio");
    // A file of before is written over otherwise, and a new one is measured by the others.
    let _ = fs::remove_file(&file);
    // Of writing, the time of the job, in ms, has the flush at its end.
    let write = fio_rate(&file, "write", "/jobs/0/job_runtime")?;
    let read = fio_rate(&file, "read", "/jobs/0/read/runtime")?;
    let _ = fs::remove_file(&file);
    Ok(vec![of_blocks("block-write", write), of_blocks("block-read", read)])
}

fn fio_rate(file: &Path, direction: &str, millis_at: &str) -> Result<f64, Failure> {
    let options = [
        format!("--filename={}", file.display()),
        format!("--rw={direction}"),
        format!("--size={FILE_MIB}m"),
    ];
    let options = options.each_ref().map(String::as_str);
    let printed = json("fio", &[&options[..], &FIO_ALWAYS.split(' ').collect::<Vec<_>>()[..]].concat())?;
    Ok((FILE_MIB << 20) as f64 / (measurement::number(&printed, millis_at)? / 1e3))
}

/// bonnie++ on small empty files in one folder. What it measured in less than half a second it does not show.
fn bonnie(folder: &Path) -> Result<Measured, Failure> {
    let folder = folder.to_string_lossy();
    let line = command(
        "bonnie++",
        &["-u", "root", "-d", &folder, "-s", "0", "-n", &FILES_K.to_string(), "-q", "-m", "x"],
    )?;
    Ok(of_line(&line))
}

fn of_line(line: &str) -> Measured {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let number = |field: usize| fields.get(field)?.parse::<f64>().ok();
    let mut measured = Vec::new();
    for (task, field) in NAMES {
        if let Some(rate) = number(field) {
            let processor_us = number(field + 1).map(|percent| percent / 100.0 / rate * 1e6);
            measured.push((task.to_string(), Rate { rate, processor_us }));
        }
    }
    measured
}

fn row(task: &str, tool: &str, own: &BTreeMap<u64, Rate>, theirs: &BTreeMap<u64, Rate>) -> Option<String> {
    let (scale, unit) = if task.starts_with("block") { (1e6, "MB/s") } else { (1.0, "1/s") };
    let mut ratios = Vec::new();
    for (round, one) in own {
        if let Some(other) = theirs.get(round) {
            ratios.push(one.rate / other.rate);
        }
    }
    let (ratio, least, most) = spread(ratios)?;
    Some(format!(
        "| {task} | {:.0} {unit} | {tool} | {:.0} {unit} | {ratio:.3} ({least:.2}–{most:.2}) | {} | {} |\n",
        median_rate(own)? / scale,
        median_rate(theirs)? / scale,
        cost(own),
        cost(theirs)
    ))
}

fn median_rate(rates: &BTreeMap<u64, Rate>) -> Option<f64> {
    Some(spread(rates.values().map(|one| one.rate).collect())?.0)
}

fn cost(rates: &BTreeMap<u64, Rate>) -> String {
    match spread(rates.values().filter_map(|one| one.processor_us).collect()) {
        Some((median, ..)) => format!("{median:.1} µs"),
        None => String::new(),
    }
}

fn report(rates: &Rates, rounds: u64, is_release: bool, load_before: &str) -> String {
    let mut tasks: Vec<&String> = rates.keys().map(|(task, _)| task).collect();
    tasks.dedup();
    let mut rows = String::new();
    for task in tasks {
        let of = |tool| rates.get(&(task.clone(), tool));
        let Some(own) = of("drivescope") else { continue };
        for tool in ["dd", "fio", "bonnie++"] {
            rows.extend(of(tool).and_then(|theirs| row(task, tool, own, theirs)));
        }
    }
    let build =
        if is_release { "as it is shipped" } else { "a program that was given, not as it is shipped" };
    format!(
        "# Files against dd, fio and bonnie++\n\n\
         Made by `cargo xtask bench files --rounds {rounds}` on {}, with drivescope {build}.\n{}\n\n\
         One ext4 file system on a loop device over memory, in turns in random order; medians of {} rounds with a file of {FILE_MIB} \
         MiB in\nblocks of 1 MiB, and of {rounds} with {} empty files in one folder. A ratio is the median, with the range, of the \
         ratios within rounds.\nThe flush counts, also for making and removing files: bonnie++ calls sync before it stops its clock, \
         which writes out what others on the\nmachine wrote, too. What bonnie++ measures in less than half a second it does not show, \
         and there is no row then. The last columns are\nthe processor time of each program for a file, flush included, which other \
         load changes less than the rates.\n\n\
         | task | drivescope | against | its rate | ratio | own processor time | its |\n|---|---|---|---|---|---|---|\n{rows}",
        today(),
        conditions(load_before),
        rounds * BLOCK_TURNS,
        FILES_K * 1024,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_count_and_are_no_files() {
        let phase = |task: &str| {
            serde_json::json!({
                "seconds": 1.0,
                "files": {"task": task, "processor_user_ns": 1e6, "processor_system_ns": 5e6},
                "by_operation": [
                    {"operation": "write", "operations": 3000, "bytes": 8e6, "latency_ns": {"mean": 1.0}},
                    {"operation": "flush", "operations": 2, "bytes": 0, "latency_ns": {"mean": 5e8}},
                ],
            })
        };
        let names = of_phase(&phase("create-in-order")).unwrap();
        assert_eq!(names, ("create-in-order".into(), Rate { rate: 1500.0, processor_us: Some(2.0) }));
        assert_eq!(of_phase(&phase("block-write")).unwrap(), of_blocks("block-write", 4e6));
    }

    #[test]
    fn what_the_others_say_is_read() {
        let said = "384+0 records in\n384+0 records out\n402653184 bytes (403 MB, 384 MiB) copied, 0.25 s, 1.6 GB/s\n";
        assert_eq!(said_by_dd(said), Some(1_610_612_736.0));
        let line = "1.98,2.00a,x,1,1795376591,,,,,,,,,,,,,,,,,32,,,,,12500,20,+++++,+++,15901,23,14374,25,+++++,+++,12692,22";
        let measured = of_line(line);
        assert_eq!(measured[0], ("create-in-order".into(), Rate { rate: 12500.0, processor_us: Some(16.0) }));
        let told: Vec<&str> = measured.iter().map(|(task, _)| task.as_str()).collect();
        assert_eq!(told, ["create-in-order", "delete-in-order", "create-at-random", "delete-at-random"]);
    }
}
