//! The index of runs and findings: a SQLite file beside the runs, for quick lists and for questions across runs. The
//! truth is in the run folders; an index that is missing, damaged or behind them is brought up to date by whoever
//! lists or finishes a run.

use super::error::StoreError;
use super::folder::{RUN_FILE, run_folders};
use super::ledger::LedgerRun;
use super::listing::{Entry, RunListing, entry};
use super::{Store, ledger_rows};
use model::finding::{Finding, Outcome, Value};
use model::run::{Run, RunStatus};
use rusqlite::{Connection, ErrorCode, Row, Transaction, params};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const INDEX_FILE: &str = "index.sqlite";
/// Kept as SQLite's `user_version`; an index of another version is made again.
const INDEX_VERSION: i32 = 2;
/// How long to wait for another process that writes the index: a rebuild of thousands of runs takes seconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// `runs`: one row for each readable run; the first three columns tell whether the row is up to date.
/// `findings`: one row for each finding, `position` as in the document; `value` or `text` or `unknown` is not null.
/// `ledger`: what each run did to each drive or file under it; `drive` is its lasting name, `event` is `run` in the
/// first row of each run and then `write`, `discard`, `purge` or `idle`; `first_byte` and `span_bytes` are where,
/// `bytes` how much, `pattern` the workload's word. A run without an end has its first row only: what it did is in its
/// records.
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

/// Tells one state of a file from another: a file that is replaced gets another inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: i64,
    pub(super) modified_ns: i64,
    bytes: i64,
}

impl Stamp {
    /// Of a file as it is now; all zero if there is none.
    pub(super) fn of(path: &Path) -> Stamp {
        fs::metadata(path).map_or_else(
            |_| Stamp::default(),
            |facts| Stamp {
                inode: facts.ino().cast_signed(),
                modified_ns: facts.mtime().saturating_mul(1_000_000_000).saturating_add(facts.mtime_nsec()),
                bytes: facts.len().cast_signed(),
            },
        )
    }
}

/// The open index.
pub(super) struct Index {
    path: PathBuf,
    connection: Connection,
}

/// Brings the index up to date.
pub(super) fn refresh(store: &Store) -> Result<(), StoreError> {
    Index::open(store)?.refresh(store).map(drop)
}

/// Makes the index again.
pub(super) fn rebuild(store: &Store) -> Result<(), StoreError> {
    remove(&store.folder().join(INDEX_FILE))?;
    refresh(store)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        let file = PathBuf::from(file);
        let removed = fs::remove_file(&file).map_err(StoreError::system("remove", &file));
        removed.or_else(|error| if error.is_not_found() { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

impl Index {
    /// Opens the index; makes it anew if there is none, if it is no SQLite file, or of another version.
    pub(super) fn open(store: &Store) -> Result<Index, StoreError> {
        let path = store.folder().join(INDEX_FILE);
        match connect(&path) {
            Ok(connection) => Ok(Index { path, connection }),
            Err(error) if is_unusable(&error) => {
                remove(&path)?;
                let connection = connect(&path).map_err(failed(&path))?;
                Ok(Index { path, connection })
            }
            Err(error) => Err(failed(&path)(error)),
        }
    }

    /// Brings it up to date with the run folders, and answers all of them. Only facts that changed are read.
    pub(super) fn refresh(&mut self, store: &Store) -> Result<Vec<Entry>, StoreError> {
        match self.try_refresh(store) {
            Err(StoreError::Index { source, .. }) if is_unusable(&source) => {
                remove(&self.path)?;
                self.connection = connect(&self.path).map_err(failed(&self.path))?;
                self.try_refresh(store)
            }
            other => other,
        }
    }

    fn try_refresh(&mut self, store: &Store) -> Result<Vec<Entry>, StoreError> {
        let folders = run_folders(&store.runs_folder())?;
        let known = self.entries(store).map_err(failed(&self.path))?;
        let mut entries = Vec::with_capacity(folders.len());
        let mut changed = Vec::new();
        for (id, folder) in folders {
            let stamp = Stamp::of(&folder.join(RUN_FILE));
            match known.get(&id).filter(|entry| entry.stamp == stamp) {
                Some(entry) => entries.push(entry.clone()),
                None => {
                    let (entry, run) = entry(id, folder);
                    changed.extend(run.map(|run| (entry.clone(), run)));
                    entries.push(entry);
                }
            }
        }
        let present: HashSet<&str> = entries
            .iter()
            .filter(|entry| entry.listing.damage.is_none())
            .map(|entry| entry.listing.id.as_str())
            .collect();
        let gone: Vec<_> = known.keys().map(String::as_str).filter(|id| !present.contains(id)).collect();
        if !changed.is_empty() || !gone.is_empty() {
            self.update(&changed, &gone).map_err(failed(&self.path))?;
        }
        Ok(entries)
    }

    fn update(&mut self, changed: &[(Entry, Run)], gone: &[&str]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for id in gone.iter().copied().chain(changed.iter().map(|(entry, _)| entry.listing.id.as_str())) {
            transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        }
        for (entry, run) in changed {
            insert_run(&transaction, entry)?;
            for (position, finding) in (0i64..).zip(&run.findings) {
                insert_finding(&transaction, &entry.listing.id, position, finding)?;
            }
            if entry.is_dated {
                ledger_rows::insert(&transaction, entry, run)?;
            }
        }
        transaction.commit()
    }

    /// The ledger of what has one of these names, brought up to date.
    pub(super) fn ledger(&mut self, store: &Store, names: &[String]) -> Result<Vec<LedgerRun>, StoreError> {
        self.refresh(store)?;
        ledger_rows::select(&self.connection, store, names).map_err(failed(&self.path))
    }

    fn entries(&self, store: &Store) -> rusqlite::Result<HashMap<String, Entry>> {
        let mut statement = self.connection.prepare(
            "SELECT facts_inode, facts_modified_ns, facts_bytes, id, started, is_finished, is_dated, status, path,
                model, serial, experiments FROM runs",
        )?;
        let entries = statement.query_map([], |row| entry_of(row, store))?;
        entries.map(|entry| entry.map(|entry| (entry.listing.id.clone(), entry))).collect()
    }
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| StoreError::Index { path: path.to_owned(), source }
}

/// Whether only a new file helps: garbage, another version's tables, values of other types.
fn is_unusable(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => matches!(
            failure.code,
            ErrorCode::NotADatabase
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::Unknown
                | ErrorCode::TypeMismatch
        ),
        _ => true,
    }
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
        drop_tables(&transaction)?;
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", INDEX_VERSION)?;
    }
    transaction.commit()?;
    Ok(connection)
}

fn drop_tables(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DROP TABLE IF EXISTS findings; DROP TABLE IF EXISTS ledger; DROP TABLE IF EXISTS runs;",
    )
}

fn insert_run(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    let listing = &entry.listing;
    let experiments = serde_json::to_string(&listing.experiments).expect("a list of strings is valid JSON");
    transaction.execute(
        "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
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
        ],
    )?;
    Ok(())
}

fn insert_finding(
    transaction: &Transaction<'_>,
    run_id: &str,
    position: i64,
    finding: &Finding,
) -> rusqlite::Result<()> {
    let code = finding.code.name();
    let insert = "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let none = None::<String>;
    match &finding.outcome {
        Outcome::Unknown { why } => transaction.execute(
            insert,
            params![run_id, position, code, none, none, none, none, none, none, none, why],
        )?,
        Outcome::Known(known) => match &known.value {
            Value::Text(kind) => transaction.execute(
                insert,
                params![run_id, position, code, none, kind, none, none, none, none, known.statement, none],
            )?,
            Value::Number { estimate, unit } => transaction.execute(
                insert,
                params![
                    run_id,
                    position,
                    code,
                    estimate.value,
                    none,
                    unit,
                    estimate.low,
                    estimate.high,
                    estimate.confidence,
                    known.statement,
                    none
                ],
            )?,
        },
    };
    Ok(())
}

fn entry_of(row: &Row<'_>, store: &Store) -> rusqlite::Result<Entry> {
    let id: String = row.get("id")?;
    let status: String = row.get("status")?;
    let experiments: String = row.get("experiments")?;
    Ok(Entry {
        stamp: Stamp {
            inode: row.get("facts_inode")?,
            modified_ns: row.get("facts_modified_ns")?,
            bytes: row.get("facts_bytes")?,
        },
        listing: RunListing {
            folder: store.run_folder(&id),
            id,
            started: row.get("started")?,
            status: RunStatus::from_name(&status),
            under_way: false,
            target_path: row.get("path")?,
            target_model: row.get("model")?,
            target_serial: row.get("serial")?,
            experiments: serde_json::from_str(&experiments).unwrap_or_default(),
            damage: None,
        },
        is_finished: row.get("is_finished")?,
        is_dated: row.get("is_dated")?,
    })
}
