//! The index of runs and findings: a SQLite file beside the runs, for quick lists and for questions across runs. The
//! run folders are the truth: whoever lists or finishes a run brings the index up to date.

use crate::document::Facts;
use crate::error::StoreError;
use crate::ledger::LedgerRun;
use crate::ledger_rows;
use crate::places::Places;
use crate::run_entry::{RunEntry, RunListing, Stamp};
use crate::run_folder::run_folders;
use model::finding::{FindingDocument, ValueDocument};
use model::run::RunStatus;
use rusqlite::{Connection, ErrorCode, Row, Transaction, params};
use std::collections::HashMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, available_parallelism};
use std::time::Duration;

const INDEX_FILE: &str = "index.sqlite";
/// Kept as SQLite's `user_version`; an index of another version is made again.
const INDEX_VERSION: i32 = 2;
/// How long to wait for another process that writes the index: a rebuild of thousands of runs takes seconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// `runs`: one row for each readable run; the first three columns tell whether the row is up to date. `findings`: one row for each finding,
/// `position` as in the document; `value` or `text` or `unknown` is not null. `ledger`: what each run did to each drive or file under it;
/// `drive` is its lasting name, `event` is `run` in the first row of each run and then `write`, `discard`, `purge` or `idle`; `first_byte` and
/// `span_bytes` are where, `bytes` how much, `pattern` the workload's word. A run without an end has its first row only.
const SCHEMA: &str = "
    CREATE TABLE runs (
        facts_inode INTEGER NOT NULL, facts_modified_ns INTEGER NOT NULL, facts_bytes INTEGER NOT NULL,
        id TEXT PRIMARY KEY, started TEXT NOT NULL, is_finished INTEGER NOT NULL, is_dated INTEGER NOT NULL,
        status TEXT NOT NULL, path TEXT NOT NULL, model TEXT, serial TEXT, experiments TEXT NOT NULL
    ) STRICT;
    CREATE TABLE findings (
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        code TEXT NOT NULL, value REAL, text TEXT, unit TEXT, low REAL, high REAL, confidence REAL,
        statement TEXT, unknown TEXT, PRIMARY KEY (run_id, position)
    ) STRICT;
    CREATE INDEX findings_by_code ON findings (code);
    CREATE TABLE ledger (
        drive TEXT NOT NULL, run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        time TEXT NOT NULL, event TEXT NOT NULL, bytes INTEGER, first_byte INTEGER, span_bytes INTEGER,
        block_bytes INTEGER, seconds REAL, pattern TEXT, PRIMARY KEY (drive, run_id, position)
    ) STRICT;
    CREATE INDEX ledger_by_run ON ledger (run_id);
";

pub(crate) struct Index {
    path: PathBuf,
    connection: Connection,
    progress: IndexProgress,
}

/// Told how many runs were read into the index, and how many will be.
pub type IndexProgress = fn(usize, usize);

pub(crate) fn refresh(places: &Places) -> Result<(), StoreError> {
    Index::open(places)?.refresh(places).map(drop)
}

pub(crate) fn rebuild(places: &Places) -> Result<(), StoreError> {
    remove(&places.folder().join(INDEX_FILE))?;
    refresh(places)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        let file = PathBuf::from(file);
        match fs::remove_file(&file).map_err(StoreError::system("remove", &file)) {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

impl Index {
    /// Opens the index; makes it anew if there is none, if it is no SQLite file, or of another version.
    pub(crate) fn open(places: &Places) -> Result<Index, StoreError> {
        let path = places.folder().join(INDEX_FILE);
        let connection = match connect(&path) {
            Err(error) if is_unusable(&error) => {
                remove(&path)?;
                connect(&path)
            }
            opened => opened,
        };
        match connection {
            Ok(connection) => Ok(Index { path, connection, progress: |_, _| {} }),
            Err(source) => Err(StoreError::Index { path, source }),
        }
    }

    pub(crate) fn telling(self, progress: IndexProgress) -> Index {
        Index { progress, ..self }
    }

    /// Brings it up to date with the run folders, and answers all of them. Only facts that changed are read.
    pub(crate) fn refresh(&mut self, places: &Places) -> Result<Vec<RunEntry>, StoreError> {
        match self.try_refresh(places) {
            Err(StoreError::Index { source, .. }) if is_unusable(&source) => {
                remove(&self.path)?;
                self.connection = self.checked(connect(&self.path))?;
                self.try_refresh(places)
            }
            other => other,
        }
    }

    fn try_refresh(&mut self, places: &Places) -> Result<Vec<RunEntry>, StoreError> {
        let mut known = self.checked(self.entries(places))?;
        let (mut entries, mut stale) = (Vec::new(), Vec::new());
        for (id, folder) in run_folders(&places.runs())? {
            match known.remove(&id) {
                Some(entry) if entry.stamp == Stamp::of(&folder) => entries.push(entry),
                Some(outdated) => {
                    known.insert(id.clone(), outdated);
                    stale.push((id, folder));
                }
                None => stale.push((id, folder)),
            }
        }
        if !stale.is_empty() || !known.is_empty() {
            let updated = self.update(&known, &stale, &mut entries);
            self.checked(updated)?;
        }
        Ok(entries)
    }

    fn checked<Given>(&self, result: rusqlite::Result<Given>) -> Result<Given, StoreError> {
        match result {
            Ok(given) => Ok(given),
            Err(source) => Err(StoreError::Index { path: self.path.clone(), source }),
        }
    }

    /// Forgets runs that are gone or outdated, and reads the stale ones. Their facts are read on all processors and let go of one by one.
    fn update(
        &mut self,
        outdated: &HashMap<String, RunEntry>,
        stale: &[(String, PathBuf)],
        entries: &mut Vec<RunEntry>,
    ) -> rusqlite::Result<()> {
        // Nothing is locked before something is written: of damaged runs there is nothing to write.
        let transaction = self.connection.transaction()?;
        for id in outdated.keys() {
            forget(&transaction, id)?;
        }
        let next = AtomicUsize::new(0);
        let readers = available_parallelism().map_or(1, NonZero::get).min(stale.len());
        // At most one waits for each reader: facts take up to some MB.
        let (given, read) = sync_channel(readers);
        thread::scope(|scope| -> rusqlite::Result<()> {
            for _ in 0..readers {
                let (given, next) = (given.clone(), &next);
                scope.spawn(move || {
                    while let Some((id, folder)) = stale.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if given.send(RunEntry::of(id.clone(), folder.clone())).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(given);
            let mut done = 0;
            for (entry, facts) in read {
                if let Some(facts) = facts {
                    insert(&transaction, &entry, &facts)?;
                }
                entries.push(entry);
                done += 1;
                (self.progress)(done, stale.len());
            }
            Ok(())
        })?;
        transaction.commit()
    }

    pub(crate) fn ledger(&mut self, places: &Places, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        self.refresh(places)?;
        self.checked(ledger_rows::select(&self.connection, places, names))
    }

    fn entries(&self, places: &Places) -> rusqlite::Result<HashMap<String, RunEntry>> {
        let mut statement = self.connection.prepare(
            "SELECT facts_inode, facts_modified_ns, facts_bytes, id, started, is_finished, is_dated, status, path,
                model, serial, experiments FROM runs",
        )?;
        let mut entries = HashMap::new();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let entry = entry_of(row, places)?;
            entries.insert(entry.listing.id.clone(), entry);
        }
        Ok(entries)
    }
}

/// Whether only a new file helps: garbage, another version's tables, values of other types.
fn is_unusable(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return true };
    matches!(
        failure.code,
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch
    )
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // The index can be made again: a power cut may cost its last change, never its soundness.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != INDEX_VERSION {
        transaction.execute_batch(
            "DROP TABLE IF EXISTS findings; DROP TABLE IF EXISTS ledger; DROP TABLE IF EXISTS runs;",
        )?;
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", INDEX_VERSION)?;
    }
    transaction.commit()?;
    Ok(connection)
}

fn forget(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([id]).map(drop)
}

fn insert(transaction: &Transaction<'_>, entry: &RunEntry, facts: &Facts) -> rusqlite::Result<()> {
    forget(transaction, &entry.listing.id)?;
    insert_run(transaction, entry)?;
    for (position, finding) in (0i64..).zip(&facts.findings) {
        insert_finding(transaction, &entry.listing.id, position, finding)?;
    }
    if entry.is_dated {
        ledger_rows::insert(transaction, entry, &facts.run)?;
    }
    Ok(())
}

fn insert_run(transaction: &Transaction<'_>, entry: &RunEntry) -> rusqlite::Result<()> {
    let listing = &entry.listing;
    assert!(listing.damage.is_none(), "the index holds readable runs only");
    let experiments = serde_json::to_string(&listing.experiments).expect("a list of strings is valid JSON");
    let mut statement = transaction
        .prepare_cached("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?;
    statement.execute(params![
        entry.stamp.inode,
        entry.stamp.modified_ns,
        entry.stamp.bytes,
        listing.id,
        listing.started,
        entry.is_finished,
        entry.is_dated,
        listing.status.map(RunStatus::name),
        listing.target_path,
        listing.target_model,
        listing.target_serial,
        experiments,
    ])?;
    Ok(())
}

fn insert_finding(
    transaction: &Transaction<'_>,
    run_id: &str,
    position: i64,
    finding: &FindingDocument,
) -> rusqlite::Result<()> {
    let (number, word) = match &finding.value {
        Some(ValueDocument::Number(number)) => (Some(*number), None),
        Some(ValueDocument::Text(word)) => (None, Some(word)),
        None => (None, None),
    };
    let mut statement = transaction
        .prepare_cached("INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?;
    statement.execute(params![
        run_id,
        position,
        finding.code,
        number,
        word,
        finding.unit,
        finding.low,
        finding.high,
        finding.confidence,
        finding.statement,
        finding.unknown
    ])?;
    Ok(())
}

/// By number: with thousands of runs looking names up takes as long as all else.
fn entry_of(row: &Row<'_>, places: &Places) -> rusqlite::Result<RunEntry> {
    let id: String = row.get(3)?;
    let status: String = row.get(7)?;
    let experiments: String = row.get(11)?;
    Ok(RunEntry {
        stamp: Stamp { inode: row.get(0)?, modified_ns: row.get(1)?, bytes: row.get(2)? },
        listing: RunListing {
            folder: places.run(&id),
            id,
            started: row.get(4)?,
            status: RunStatus::from_name(&status),
            target_path: row.get(8)?,
            target_model: row.get(9)?,
            target_serial: row.get(10)?,
            experiments: serde_json::from_str(&experiments).unwrap_or_default(),
            ..RunListing::default()
        },
        is_finished: row.get(5)?,
        is_dated: row.get(6)?,
    })
}
