//! Key `page_cache` of a phase: what was in the system's memory after reads through it.

use model::page_cache::CachedRow;
use model::units::{Bytes, Offset};
use serde::{Deserialize, Serialize};

/// What was in the page cache after a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageCacheDocument {
    /// Why that cannot be told; null where it can.
    pub unknown: Option<String>,
    /// Row by row.
    pub rows: Vec<CachedRowDocument>,
}

/// Blocks that were read one behind the other, and what lay in memory then; sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedRowDocument {
    /// Where the row begins.
    pub first_byte: u64,
    /// How many blocks were read.
    pub reads: u64,
    /// What they hold together.
    pub asked_bytes: u64,
    /// How far from its beginning was looked.
    pub looked_at_bytes: u64,
    /// How much of that was in memory before.
    pub cached_before_bytes: u64,
    /// How much was in memory after, from the beginning without a gap.
    pub cached_bytes: u64,
}

impl PageCacheDocument {
    pub(super) fn of(rows: &Result<Vec<CachedRow>, String>) -> PageCacheDocument {
        match rows {
            Ok(rows) => {
                PageCacheDocument { unknown: None, rows: rows.iter().map(CachedRowDocument::of).collect() }
            }
            Err(why) => PageCacheDocument { unknown: Some(why.clone()), rows: Vec::new() },
        }
    }

    pub(super) fn into_model(self) -> Result<Vec<CachedRow>, String> {
        match self.unknown {
            Some(why) => Err(why),
            None => Ok(self.rows.into_iter().map(CachedRowDocument::into_model).collect()),
        }
    }
}

impl CachedRowDocument {
    fn of(row: &CachedRow) -> CachedRowDocument {
        CachedRowDocument {
            first_byte: row.first.0,
            reads: row.reads,
            asked_bytes: row.asked.0,
            looked_at_bytes: row.looked_at.0,
            cached_before_bytes: row.cached_before.0,
            cached_bytes: row.cached.0,
        }
    }

    fn into_model(self) -> CachedRow {
        CachedRow {
            first: Offset(self.first_byte),
            reads: self.reads,
            asked: Bytes(self.asked_bytes),
            looked_at: Bytes(self.looked_at_bytes),
            cached_before: Bytes(self.cached_before_bytes),
            cached: Bytes(self.cached_bytes),
        }
    }
}
