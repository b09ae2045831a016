//! The ledger in the index: rows in, runs out.

use crate::drive_note::DriveNote;
use crate::ledger::{EventKind, LedgerEvent, LedgerRun, events_of, names_of};
use crate::places::Places;
use crate::run_entry::RunEntry;
use model::run::{Run, RunStatus};
use rusqlite::{Connection, Row, Transaction, params, params_from_iter};

/// The word of the row that says that there was a run at all.
const RUN: &str = "run";

/// Adds what a run did, once for each name of what lies under it.
pub(crate) fn insert(transaction: &Transaction<'_>, entry: &RunEntry, run: &Run) -> rusqlite::Result<()> {
    let listing = &entry.listing;
    let events = if entry.is_finished { events_of(run) } else { Vec::new() };
    let mut first_row = transaction.prepare_cached(
        "INSERT OR REPLACE INTO ledger (drive, run_id, position, time, event) VALUES (?1, ?2, 0, ?3, ?4)",
    )?;
    let mut statement = transaction.prepare_cached(
        "INSERT OR REPLACE INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for name in names_of(run, &listing.folder) {
        first_row.execute(params![name, listing.id, run.started, RUN])?;
        for (position, event) in (1i64..).zip(&events) {
            statement.execute(params![
                name,
                listing.id,
                position,
                event.at,
                event.kind.name(),
                signed(event.bytes),
                signed(event.first_byte),
                signed(event.span_bytes),
                signed(event.block_bytes),
                event.seconds,
                event.pattern
            ])?;
        }
    }
    Ok(())
}

pub(crate) fn select(
    connection: &Connection,
    places: &Places,
    names: &[String],
) -> rusqlite::Result<Vec<LedgerRun>> {
    let mut runs: Vec<LedgerRun> = Vec::new();
    for name in names {
        let mut statement = connection.prepare_cached(
            "SELECT ledger.*, runs.started, runs.status, runs.is_finished, runs.path FROM ledger
             JOIN runs ON runs.id = ledger.run_id WHERE ledger.drive = ?1 ORDER BY ledger.run_id, ledger.position",
        )?;
        let known = runs.len();
        let mut rows = statement.query(params_from_iter([name]))?;
        while let Some(row) = rows.next()? {
            let id: String = row.get("run_id")?;
            // What was found under an earlier name is the same run.
            if runs[..known].iter().any(|run| run.id == id) {
                continue;
            }
            let word: String = row.get("event")?;
            if word == RUN {
                runs.push(run_of(row, places, id)?);
            } else if let Some(kind) = EventKind::from_name(&word)
                && let Some(run) = runs.last_mut()
                && run.id == id
            {
                run.events.push(event_of(row, kind)?);
            }
        }
    }
    Ok(runs)
}

fn run_of(row: &Row<'_>, places: &Places, id: String) -> rusqlite::Result<LedgerRun> {
    let status: String = row.get("status")?;
    Ok(LedgerRun {
        started: row.get("started")?,
        status: RunStatus::from_name(&status).unwrap_or(RunStatus::Interrupted),
        is_finished: row.get("is_finished")?,
        path: row.get("path")?,
        events: Vec::new(),
        note: DriveNote::read(&places.run(&id)),
        id,
    })
}

fn event_of(row: &Row<'_>, kind: EventKind) -> rusqlite::Result<LedgerEvent> {
    Ok(LedgerEvent {
        kind,
        at: row.get("time")?,
        pattern: row.get("pattern")?,
        first_byte: bytes(row, "first_byte")?,
        span_bytes: bytes(row, "span_bytes")?,
        bytes: bytes(row, "bytes")?,
        block_bytes: bytes(row, "block_bytes")?,
        seconds: row.get("seconds")?,
    })
}

fn bytes(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    let value: Option<i64> = row.get(column)?;
    Ok(value.unwrap_or(0).max(0).cast_unsigned())
}

/// SQLite's numbers have a sign; no drive holds 2⁶³ bytes.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
