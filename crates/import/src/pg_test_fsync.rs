//! PostgreSQL's pg_test_fsync: how often one or two writes of 8 KiB are made durable in a second, by each method. It writes the same place
//! again and again and states means only. What it says of other sizes and of writes that are not durable is left out.

use crate::error::ImportError;
use crate::figure::{Commits, Figure, Imported, Order, Set, Transfer};
use crate::text::{lines, position_of};
use model::commit::CommitMethod;
use model::request::Operation;
use model::units::Bytes;

const BLOCK: u64 = 8192;
const METHODS: [&str; 5] = ["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"];
/// A mean is of so many commits at least, so that its time is some seconds.
const SECONDS: f64 = 5.0;

pub(crate) fn fits(text: &str) -> bool {
    text.contains("Compare file sync methods using")
}

/// Those that `drivescope commit` measures, too. `O_SYNC` and a flush of the whole drive's cache on macOS are others.
fn commit_method(word: &str) -> Option<CommitMethod> {
    match word {
        "fdatasync" => Some(CommitMethod::Fdatasync),
        "fsync" => Some(CommitMethod::Fsync),
        "open_datasync" => Some(CommitMethod::OpenDsync),
        _ => None,
    }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "pg_test_fsync", ..Imported::default() };
    let mut set = Set::default();
    let mut writes = None;
    for line in lines(text) {
        if line.text.contains("using one ") {
            writes = Some(1);
        } else if line.text.contains("using two ") {
            writes = Some(2);
        } else if line.text.contains("Compare ")
            || line.text.contains("Non-sync")
            || line.text.contains("Test if")
        {
            writes = None;
        }
        let words = line.words();
        let Some(at) = position_of(&words, &METHODS) else { continue };
        let (Some(writes), [method, rate, unit, ..]) = (writes, &words[at..]) else { continue };
        if rate.text == "n/a" || unit.text != "ops/sec" {
            continue;
        }
        let count = rate.number("commits per second")? * SECONDS * f64::from(writes);
        let count = rate.needs(crate::text::above_zero(count), "commits per second above zero")?;
        let bytes = rate.needs(count.checked_mul(BLOCK), "commits per second")?;
        let transfer = Transfer::of(Order::Unknown, Operation::Write, bytes, BLOCK);
        let name = if writes == 1 { "write with" } else { "two writes with" };
        let commits = match (writes, commit_method(method.text)) {
            (1, Some(method)) => Some(Commits { method, write: Bytes::new(BLOCK), seconds: SECONDS }),
            _ => None,
        };
        let figure = Figure::of(format!("{name} {}", method.text), transfer, SECONDS);
        set.figures.push(Figure { commits, ..figure });
    }
    imported.sets.push(set);
    imported
        .note("pg_test_fsync states means only; to see the 99th percentile of commits: drivescope commit.");
    Ok(imported)
}
