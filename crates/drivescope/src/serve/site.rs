//! What pages are made from.

use super::cache::Cache;
use super::gate::Gate;
use super::live::Live;
use crate::store::{Store, StoredRun};

/// Makes the report of runs as a self-contained page, with where the program's name leads.
pub type ReportMaker = fn(&[StoredRun], &str) -> String;

pub(super) struct Site {
    pub store: Store,
    pub gate: Gate,
    pub cache: Cache,
    pub live: Live,
    pub report: ReportMaker,
}
