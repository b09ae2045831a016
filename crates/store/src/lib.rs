//! The store of runs: every record that was measured, kept while the run goes on, readable without drivescope.
//! ```text
//! STORE/runs/RUN/run.json                    facts and findings, schema drivescope.run/1
//!               intervals-000001.parquet     a complete part of a series: intervals, histograms, errors,
//!               intervals-000002.journal     telemetry, trace; and the part that is being written
//!               checksums.txt                CRC-32, size and name of each segment
//!               request.json                 what was asked for, to resume it by
//!               state.json                   what had been written to the drive before and after, by its counters
//!               writer.lock                  locked while a process writes the run
//! STORE/index.sqlite                         runs, findings and ledger; made again from the runs when it is lost
//! ```
//! How a kill at any moment is survived: a record is one whole frame in a journal that is already with the kernel. A
//! full journal is rewritten as the segment of the same number under a temporary name, synced, renamed, and only then
//! removed; a reader takes the segment of a number before its journal, reads a journal up to its last whole frame, and
//! passes over temporary names. Files that must be whole (`run.json`, segments) appear by a rename.
//!
//! One process writes a run, any number read it meanwhile. A run without an end whose lock nobody holds was killed,
//! and reads as interrupted; the next writer folds its journals.
//!
//! Damage is data: a run is listed and read as far as it can be, with what is wrong with it.
#![forbid(unsafe_code)]

mod column;
mod disk;
pub mod document;
mod drive_note;
mod error;
mod fingerprint;
mod follower;
mod index;
mod journal;
mod ledger;
mod ledger_rows;
mod lock;
mod parquet_file;
mod places;
mod record;
mod run_entry;
mod run_folder;
mod segment;
mod series_kind;
mod store;
mod stored_run;
mod stored_series;
pub mod table;
mod writer;

#[cfg(test)]
mod tests;

pub use column::{Cell, CellKind, Column};
pub use disk::{SyncExtent, SyncFile};
#[cfg(feature = "schema")]
pub use drive_note::schema as drive_note_schema;
pub use drive_note::{DriveNote, DriveSnapshot, Snapshot};
pub use error::{Damage, SegmentFlaw, StoreError};
pub use follower::Follower;
pub use index::IndexProgress;
pub use ledger::{EventKind, LedgerEvent, LedgerRun, UNFINISHED_PURGE};
pub use parquet_file::ParquetFile;
pub use run_entry::RunListing;
pub use series_kind::SeriesKind;
pub use store::{LOOK_AGAIN_BYTES_MAX, Store, bytes_in, default_folder, is_run_name, read_folder};
pub use stored_run::{LOST_PHASE, StoredRun};
pub use stored_series::StoredSeries;
pub use writer::RunWriter;
