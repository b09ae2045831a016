//! `commit` beside fio's recipe and pg_test_fsync on the same file system, in turns.

use crate::document::{Document, number, rows};
use crate::engine::measurement;
use crate::failure::{Doing, Failure};
use crate::machine::spread;
use crate::place::{json, output};
use crate::program::Program;
use model::finding::FindingCode;
use model::prng::Prng;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Packages of PostgreSQL put it where the shell does not look.
const POSTGRESQL: &str = "/usr/lib/postgresql";
const FIO: &str =
    "--name=wal --rw=write --ioengine=sync --fdatasync=1 --bs=2k --size=22m --output-format=json";

#[derive(Clone, Copy, Debug)]
struct Turn {
    per_second: f64,
    p99_s: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Compared {
    pub peer: &'static str,
    pub rounds: usize,
    /// Ours over theirs within rounds: median, least, most.
    pub ratio: (f64, f64, f64),
    pub per_second: f64,
    /// How many 99th percentiles of theirs lay in our interval of the round, and of how many.
    pub inside: Option<(usize, usize)>,
}

pub fn compared(
    program: &Program,
    folder: &Path,
    rounds: u64,
    order: &mut Prng,
) -> Result<Vec<Compared>, Failure> {
    let pg = pg_test_fsync();
    if pg.is_none() {
        eprintln!("pg_test_fsync is not installed: no row for it. It is in the packages postgresql-NN.");
    }
    let mut against = vec!["fio"];
    against.extend(pg.as_ref().map(|_| "pg_test_fsync"));
    let mut found = Vec::new();
    for peer in against {
        let (mut ratios, mut rates, mut inside) = (Vec::new(), Vec::new(), (0, 0));
        for round in 0..rounds {
            eprintln!("{}: round {} of {rounds} with {peer}", folder.display(), round + 1);
            let mut turns = ["drivescope", peer];
            order.shuffle(&mut turns);
            let (mut ours, mut theirs) = (None, None);
            for turn in turns {
                match turn {
                    "drivescope" => ours = Some(drivescope(program, folder, peer)?),
                    "fio" => theirs = Some(fio(folder)?),
                    _ => theirs = Some(postgresql(pg.as_deref().unwrap_or_default(), folder)?),
                }
            }
            let (Some((ours, interval)), Some(theirs)) = (ours, theirs) else { continue };
            ratios.push(ours.per_second / theirs.per_second);
            rates.push(ours.per_second);
            if let (Some(p99), Some((low, high))) = (theirs.p99_s, interval) {
                inside.1 += 1;
                inside.0 += usize::from((low..=high).contains(&p99));
            }
        }
        let (Some(ratio), Some((per_second, ..))) = (spread(ratios), spread(rates)) else { continue };
        let inside = if inside.1 > 0 { Some(inside) } else { None };
        found.push(Compared { peer, rounds: rounds as usize, ratio, per_second, inside });
    }
    Ok(found)
}

/// The same writes as the peer does: fio's to a preallocated file, those of PostgreSQL again and again to written blocks.
fn drivescope(program: &Program, folder: &Path, peer: &str) -> Result<(Turn, Option<(f64, f64)>), Failure> {
    let (size, name) = match peer {
        "fio" => ("2KiB", "commits of 2 KiB, fdatasync, preallocated"),
        _ => ("8KiB", "commits of 8 KiB, fdatasync, overwrite"),
    };
    let folder = folder.to_string_lossy();
    let words = ["commit", &folder, "--sizes", size, "--committers", "1", "--time-limit", "20s"];
    let document = program.run(&[&words[..], &["--max-size", "256MiB"]].concat())?;
    let Some(per_second) = rate_of(&document, name) else {
        return Err(Failure::cannot(format!("drivescope measured no {name}.")));
    };
    let point = rows(&document.said(FindingCode::CommitLatency)["data"]["points"]).first();
    let interval = point.and_then(|point| point["p99"]["low"].as_f64().zip(point["p99"]["high"].as_f64()));
    Ok((Turn { per_second, p99_s: None }, interval))
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

/// Its latencies are those of flushes: the write before takes a few µs.
fn fio(folder: &Path) -> Result<Turn, Failure> {
    let file = folder.join("wal");
    let _ = fs::remove_file(&file);
    let filename = format!("--filename={}", file.display());
    let printed = json("fio", &[&FIO.split(' ').collect::<Vec<_>>()[..], &[&filename]].concat())?;
    fs::remove_file(&file).doing(format_args!("remove {}", file.display()))?;
    let p99_ns = measurement::number(&printed, "/jobs/0/sync/lat_ns/percentile/99.000000")?;
    let per_second = measurement::number(&printed, "/jobs/0/write/iops")?;
    Ok(Turn { per_second, p99_s: Some(p99_ns / 1e9) })
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

fn postgresql(program: &str, folder: &Path) -> Result<Turn, Failure> {
    let file = folder.join("pg");
    let printed = output(Command::new(program).args(["-s", "2", "-f"]).arg(&file))?;
    match fdatasync_of(&printed) {
        Some(per_second) => Ok(Turn { per_second, p99_s: None }),
        None => Err(Failure::cannot(format!("pg_test_fsync told no rate of fdatasync: {printed}"))),
    }
}

/// The first line of fdatasync is of one write.
fn fdatasync_of(printed: &str) -> Option<f64> {
    let line = printed.lines().find(|line| line.trim_start().starts_with("fdatasync "))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{fdatasync_of, rate_of};
    use crate::document::Document;

    #[test]
    fn rates_are_read() {
        let printed = "using one 8kB write:\n        open_datasync   2045.162 ops/sec     489 usecs/op\n        fdatasync    5079.662 ops/sec 197 usecs/op\n\
                       using two 8kB writes:\n        fdatasync     3371.791 ops/sec     297 usecs/op\n";
        assert_eq!(fdatasync_of(printed), Some(5079.662));
        let round = |name: &str| serde_json::json!({"name": name, "seconds": 2.0, "by_operation": [{"operations": 500}]});
        let document = Document::from(serde_json::json!({"phases": [round("a"), round("b"), round("a")]}));
        assert_eq!((rate_of(&document, "a"), rate_of(&document, "c")), (Some(250.0), None));
    }
}
