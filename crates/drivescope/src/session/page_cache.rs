//! Phases through the page cache: it is emptied before each, and asked what it holds before and after a list of reads.

use crate::error::UserError;
use io::error::IoError;
use io::targets::{CachedStretch, Target, cached_stretches, drop_page_cache};
use model::page_cache::{CachedRow, CachedRows};
use model::plan::Phase;
use model::range::ByteRange;
use model::untold::Untold;
use model::workload::{Caching, Workload};
use thiserror::Error;

/// Up to this share of a target in the page cache, next to no read hits it.
const CACHED_SHARE_MAX: f64 = 0.001;

pub type AskedRows = Result<Vec<CachedRow>, NotAsked>;

#[derive(Debug, Error)]
pub enum NotAsked {
    #[error("The target is gone.")]
    Gone,
    #[error(transparent)]
    System(#[from] IoError),
}

fn buffered(phase: &Phase) -> Option<&Workload> {
    let workload = phase.workload.as_ref()?;
    if workload.caching == Caching::Buffered { Some(workload) } else { None }
}

pub fn empty(target: Option<&Target>, phase: &Phase) -> Result<Option<String>, UserError> {
    let (Some(target), Some(_)) = (target, buffered(phase)) else { return Ok(None) };
    Ok(Some(match drop_page_cache(target)? {
        Some(share) if share < CACHED_SHARE_MAX => {
            "Reads went through the page cache, which was emptied before each phase; nothing remained in it".into()
        }
        Some(share) => format!(
            "Reads went through the page cache, and {:.0} % of the target remained in it after emptying: another program \
             uses it",
            100.0 * share
        ),
        None => "Reads went through the page cache; it was emptied before, but the system does not report whether it was empty"
            .into(),
    }))
}

pub fn rows_before(target: Option<&Target>, phase: &Phase) -> Option<AskedRows> {
    let mut rows = CachedRow::all(buffered(phase)?);
    if rows.is_empty() {
        return None;
    }
    Some(match ask(target?, &rows) {
        Ok(found) => {
            for (row, found) in rows.iter_mut().zip(found) {
                row.cached_before = found.all;
            }
            Ok(rows)
        }
        Err(why) => Err(why),
    })
}

/// The same rows with what of them is cached after they were read.
pub fn rows_after(target: Option<&Target>, rows: AskedRows) -> Result<CachedRows, Untold> {
    match asked_again(target, rows) {
        Ok(rows) => Ok(CachedRows { rows }),
        Err(why) => Err(Untold::new(why.to_string())),
    }
}

fn asked_again(target: Option<&Target>, rows: AskedRows) -> AskedRows {
    let (mut rows, target) = (rows?, target.ok_or(NotAsked::Gone)?);
    let found = ask(target, &rows)?;
    for (row, found) in rows.iter_mut().zip(found) {
        row.cached = found.from_start;
    }
    Ok(rows)
}

fn ask(target: &Target, rows: &[CachedRow]) -> Result<Vec<CachedStretch>, NotAsked> {
    let ranges: Vec<ByteRange> = rows.iter().map(CachedRow::stretch).collect();
    Ok(cached_stretches(target, &ranges)?)
}
