//! `commit` beside fio's recipe, pg_test_fsync and a bare loop on the same file system, in turns.

use crate::document::{Document, number, rows};
use crate::engine::measurement;
use crate::failure::{Doing, Failure};
use crate::machine::spread;
use crate::place::{json, output};
use crate::program::Program;
use io::clock::{Clock, MonotonicClock};
use io::engine::choice::EngineOptions;
use io::load::collect::Unobserved;
use io::rig::Rig;
use io::targets::ScratchFile;
use model::commit::{CommitMethod, Commits, Log};
use model::experiment_name::ExperimentName;
use model::finding::FindingCode;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::units::{Bytes, Instant, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packages of PostgreSQL put it where the shell does not look.
const POSTGRESQL: &str = "/usr/lib/postgresql";
/// Phases beside fio then last as long as its turns.
const TURN: &str = "36s";
const PG_TIME: Nanos = Nanos::from_secs(2);
const FIO: &str = "--name=wal --rw=write --ioengine=sync --fdatasync=1 --output-format=json";
/// As long as a phase of ours.
const RECIPE: &str = "--bs=2k --size=22m --runtime=700ms";
const TURN_TIME: Nanos = Nanos::from_millis(700);
/// The size of PostgreSQL's logs, and of what it writes to them.
const LOG: Bytes = Bytes::from_mib(16);
const BLOCK: Bytes = Bytes::from_kib(8);
/// As many as `commit` has rounds.
const TURNS: usize = 3;
/// The same writes of ours: options, and the name of their phases. They are measured longest.
const PREALLOCATED: (&[&str], &str) = (&["--sizes", "2KiB"], "commits of 2 KiB, fdatasync, preallocated");
const OVERWRITTEN: (&[&str], &str) =
    (&["--sizes", "8KiB", "--for", "postgresql"], "commits of 8 KiB, fdatasync, overwrite");

model::words! {
    pub enum Peer {
        Fio = "fio, 2 KiB, a growing file",
        PgTestFsync = "pg_test_fsync, 8 KiB, the same offset",
        Bare = "a bare loop, 8 KiB, over 16 MiB",
    }
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    per_second: f64,
    p99_s: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Compared {
    pub peer: Peer,
    pub rounds: usize,
    /// Ours over theirs within rounds: median, least, most.
    pub ratio: (f64, f64, f64),
    pub per_second: f64,
    /// How many of our intervals of the 99th percentile overlap the range of theirs before and after, and of how many.
    pub agree: Option<(usize, usize)>,
}

/// Each round is theirs, ours, and theirs again: the host is not equally busy from one second to the next.
pub fn compared(program: &Program, folder: &Path, rounds: u64) -> Result<Vec<Compared>, Failure> {
    let pg = pg_test_fsync();
    if pg.is_none() {
        eprintln!("pg_test_fsync is not installed: no row for it. It is in the packages postgresql-NN.");
    }
    let mut found = Vec::new();
    for peer in Peer::ALL {
        if peer == Peer::PgTestFsync && pg.is_none() {
            continue;
        }
        let (mut ratios, mut rates, mut agree) = (Vec::new(), Vec::new(), (0, 0));
        for round in 0..rounds {
            eprintln!("{}: round {} of {rounds} with {}", folder.display(), round + 1, peer.name());
            let mut turns = Vec::new();
            theirs(peer, pg.as_deref(), folder, &mut turns)?;
            let (ours, interval) = match peer {
                Peer::Fio => measured(program, folder, PREALLOCATED)?,
                Peer::PgTestFsync => (one_offset(folder)?, None),
                Peer::Bare => measured(program, folder, OVERWRITTEN)?,
            };
            theirs(peer, pg.as_deref(), folder, &mut turns)?;
            let (mut theirs_per_second, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
            for turn in &turns {
                theirs_per_second += turn.per_second;
                least = least.min(turn.p99_s.unwrap_or(least));
                most = most.max(turn.p99_s.unwrap_or(most));
            }
            ratios.push(ours * turns.len() as f64 / theirs_per_second);
            rates.push(ours);
            if let Some((low, high)) = interval
                && least <= most
            {
                agree.1 += 1;
                agree.0 += usize::from(low <= most && least <= high);
            }
        }
        let (Some(ratio), Some((per_second, ..))) = (spread(ratios), spread(rates)) else { continue };
        let agree = if agree.1 > 0 { Some(agree) } else { None };
        found.push(Compared { peer, rounds: rounds as usize, ratio, per_second, agree });
    }
    Ok(found)
}

fn theirs(peer: Peer, pg: Option<&str>, folder: &Path, turns: &mut Vec<Turn>) -> Result<(), Failure> {
    match peer {
        Peer::PgTestFsync => turns.push(postgresql(pg.unwrap_or_default(), folder)?),
        Peer::Fio | Peer::Bare => {
            for _ in 0..TURNS {
                turns.push(if peer == Peer::Fio { fio(folder)? } else { bare_loop(folder)? });
            }
        }
    }
    Ok(())
}

/// Commits a second to one offset, which is what pg_test_fsync does; `commit` goes over a log as databases do. Otherwise as `commit` does; by this tree, whatever program is compared.
fn one_offset(folder: &Path) -> Result<f64, Failure> {
    let commits = Commits {
        method: CommitMethod::Fdatasync,
        log: Log::Overwrite,
        is_main: true,
        beside: None,
        application: None,
    };
    let place = ByteRange::new(Offset::START, BLOCK).expect("a block is a range");
    let workload = Workload::new(place, Pattern::Sequential, OperationMix::Commit(commits), BLOCK, 1);
    let phase = Phase {
        name: "one offset".into(),
        experiment: ExperimentName::Commit,
        kind: PhaseKind::Measure,
        workload: Some(workload),
        stop: StopCondition::after(PG_TIME),
    };
    let scratch = ScratchFile::create(folder, LOG).doing("make a scratch file")?;
    let mut rig = Rig::on_scratch(scratch, EngineOptions::default()).doing("try the engine")?;
    let outcome = rig.run_phase(&phase, 0, 1, false, &mut Unobserved).doing("commit to one offset")?;
    let mut done = 0;
    for totals in &outcome.totals {
        done += totals.operations;
    }
    Ok(done as f64 / outcome.ended.since(outcome.began).seconds())
}

/// Commits a second of the phases called `name`, and the interval of their 99th percentile.
fn measured(
    program: &Program,
    folder: &Path,
    (options, name): (&[&str], &str),
) -> Result<(f64, Option<(f64, f64)>), Failure> {
    let folder = folder.to_string_lossy();
    let words = ["commit", &folder, "--committers", "1", "--time-limit", TURN, "--max-size", "64MiB"];
    let document = program.run(&[&words[..], options].concat())?;
    let Some(per_second) = rate_of(&document, name) else {
        return Err(Failure::cannot(format!("drivescope measured no {name}.")));
    };
    let point = rows(&document.said(FindingCode::CommitLatency)["data"]["points"]).first();
    let interval = point.and_then(|point| point["p99"]["low"].as_f64().zip(point["p99"]["high"].as_f64()));
    Ok((per_second, interval))
}

fn rate_of(document: &Document, name: &str) -> Option<f64> {
    let (mut commits, mut seconds) = (0.0, 0.0);
    for phase in document.phases() {
        if phase["name"] != name {
            continue;
        }
        seconds += number(phase, "seconds");
        for one in rows(&phase["by_operation"]) {
            commits += number(one, "operations");
        }
    }
    if seconds > 0.0 { Some(commits / seconds) } else { None }
}

/// It tells the latencies of flushes apart from those of writes; a commit is both, and its write nearly always takes the same few µs.
fn fio(folder: &Path) -> Result<Turn, Failure> {
    let file = folder.join("wal");
    let _ = fs::remove_file(&file);
    let filename = format!("--filename={}", file.display());
    let mut words: Vec<&str> = FIO.split(' ').chain(RECIPE.split(' ')).collect();
    words.push(&filename);
    let printed = json("fio", &words)?;
    fs::remove_file(&file).doing(format_args!("remove {}", file.display()))?;
    let flush_ns = measurement::number(&printed, "/jobs/0/sync/lat_ns/percentile/99.000000")?;
    let write_ns = measurement::number(&printed, "/jobs/0/write/clat_ns/percentile/50.000000")?;
    let per_second = measurement::number(&printed, "/jobs/0/write/iops")?;
    Ok(Turn { per_second, p99_s: Some((flush_ns + write_ns) / 1e9) })
}

/// What nobody can be faster than: the two calls, and the clock.
fn bare_loop(folder: &Path) -> Result<Turn, Failure> {
    let (block, blocks) = (vec![0x5a; BLOCK.get() as usize], LOG.get() / BLOCK.get());
    let log = tempfile::tempfile_in(folder).doing("make a file for the bare loop")?;
    // In blocks: the page cache keeps what one call writes as one folio, and commits into larger ones take longer.
    for number in 0..blocks {
        log.write_all_at(&block, number * BLOCK.get()).doing("fill it")?;
    }
    log.sync_all().doing("flush it")?;
    let clock = MonotonicClock::start();
    let (mut now, mut latencies_ns) = (clock.now(), Vec::new());
    while now < Instant::START + TURN_TIME {
        let began = now;
        let number = latencies_ns.len() as u64 % blocks;
        log.write_all_at(&block, number * BLOCK.get())
            .and_then(|()| log.sync_data())
            .doing("commit to it")?;
        now = clock.now();
        latencies_ns.push(now.since(began).get());
    }
    latencies_ns.sort_unstable();
    let p99_ns = latencies_ns[latencies_ns.len() * 99 / 100];
    Ok(Turn {
        per_second: latencies_ns.len() as f64 / now.since(Instant::START).seconds(),
        p99_s: Some(p99_ns as f64 / 1e9),
    })
}

fn pg_test_fsync() -> Option<String> {
    if output(Command::new("pg_test_fsync").arg("--version")).is_ok() {
        return Some("pg_test_fsync".into());
    }
    let mut found = None;
    for entry in fs::read_dir(POSTGRESQL).ok()?.flatten() {
        let path = entry.path().join("bin/pg_test_fsync");
        if path.exists() {
            found = Some(path.to_string_lossy().into_owned());
        }
    }
    found
}

/// Until it has told that of fdatasync; what else it measures takes half a minute.
fn postgresql(program: &str, folder: &Path) -> Result<Turn, Failure> {
    let file = folder.join("pg");
    let mut command = Command::new(program);
    let mut running = command
        .args(["-s", &format!("{:.0}", PG_TIME.seconds()), "-f"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .doing(format_args!("run {program}"))?;
    let mut found = None;
    if let Some(printed) = running.stdout.take() {
        found = BufReader::new(printed).lines().map_while(Result::ok).find_map(|line| fdatasync_of(&line));
    }
    let _ = running.kill();
    running.wait().doing(format_args!("wait for {program}"))?;
    let _ = fs::remove_file(&file);
    match found {
        Some(per_second) => Ok(Turn { per_second, p99_s: None }),
        None => Err(Failure::cannot("pg_test_fsync told no rate of fdatasync.")),
    }
}

fn fdatasync_of(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    if words.next() == Some("fdatasync") { words.next()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{fdatasync_of, rate_of};
    use crate::document::Document;

    #[test]
    fn rates_are_read() {
        assert_eq!(fdatasync_of("        fdatasync    5079.662 ops/sec 197 usecs/op"), Some(5079.662));
        assert_eq!(fdatasync_of("        open_datasync   2045.162 ops/sec     489 usecs/op"), None);
        let round = |name: &str| serde_json::json!({"name": name, "seconds": 2.0, "by_operation": [{"operations": 500}]});
        let document = Document::from(serde_json::json!({"phases": [round("a"), round("b"), round("a")]}));
        assert_eq!((rate_of(&document, "a"), rate_of(&document, "c")), (Some(250.0), None));
    }
}
