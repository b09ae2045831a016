//! How far the system reads on, through its page cache.
//! # What it finds
//! How many bytes behind what was asked for lie in the system's memory after a row of reads: after one, after two, and at most.
//! # Why it matters
//! It is the part of reading on that belongs to the system and can be set (`blockdev --setra`, `POSIX_FADV_RANDOM`), told apart from the
//! drive's own. Where a row of two brings megabytes along, a database that reads pairs of pages reads much that it does not need.
//! # How
//! With nothing of the target in the page cache, blocks are read through it: alone, in pairs, and in rows of random length. Then the kernel
//! is asked which pages are in memory (`cachestat`, or `mincore` on a mapping before Linux 6.5), which reads nothing. What lies behind a
//! row without a gap is what the system has read on. Rows with something in memory before are left out.
//! # Cannot tell when
//! The drive is virtual and in virtual time, so that no system reads it; the kernel does not tell what is in its memory, as of files of
//! somebody else; another program reads the same places; the system reads on farther than was looked.
//! # Known problems
//! How far ahead the system is goes up and down along a row, between one window and two, so that the most that was seen may be
//! less than the most there is. Before Linux 6.5 pages that are still being read are not seen.
//! # References
//! Linux, `mm/readahead.c` and `Documentation/core-api/mm-api`; Wu, Xi, Xu, "On the design of a new Linux readahead framework", 2008.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::measured::{EXPERIMENT_ACCESS, evidence_of_phases, phases_where};
use model::estimate::Estimate;
use model::finding::{
    CachedSequence, Finding, FindingCode, Outcome, Reader, SystemReadAhead, SystemReadAheadUnknown,
};
use model::page_cache::CachedRow;
use model::run::{PhaseSummary, RunView};
use model::target::TargetKind;
use model::units::Bytes;
use model::workload::Caching;
use std::ops::RangeInclusive;

/// Of each kind of sequences so many: the median of three is right though one is wrong.
const ROWS_MIN: usize = 3;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::SystemReadAhead], needs: &[Need::Asked(EXPERIMENT_ACCESS)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    if !is_asked(run) {
        return Vec::new();
    }
    let evidence = evidence_of_phases(run, &phases_where(run, has_rows));
    vec![Finding::SystemReadAhead(Outcome::of(system_read_ahead(run), evidence))]
}

fn is_asked(run: &RunView<'_>) -> bool {
    run.phases.iter().any(is_buffered)
}

fn is_buffered(summary: &PhaseSummary) -> bool {
    let Some(workload) = &summary.phase.workload else { return false };
    summary.phase.experiment == EXPERIMENT_ACCESS && workload.caching == Caching::Buffered
}

pub(super) fn is_measured(run: &RunView<'_>) -> bool {
    let found = system_read_ahead(run);
    is_asked(run) && (found.is_ok() || matches!(found, Err(SystemReadAheadUnknown::AtLeast(_))))
}

fn has_rows(summary: &PhaseSummary) -> bool {
    matches!(summary.page_cache, Some(Ok(_)))
}

fn system_read_ahead(run: &RunView<'_>) -> Result<SystemReadAhead, SystemReadAheadUnknown> {
    if run.target.kind == TargetKind::Sim {
        return Err(SystemReadAheadUnknown::VirtualTime);
    }
    let (mut rows, mut is_open, mut is_measured) = (Vec::new(), false, false);
    for summary in run.phases {
        match &summary.page_cache {
            Some(Err(why)) => return Err(SystemReadAheadUnknown::NotTold(why.to_string())),
            Some(Ok(found)) => {
                is_measured = true;
                is_open |= found.rows.iter().any(CachedRow::is_open);
                rows.extend(sure(&found.rows));
            }
            None => {}
        }
    }
    if !is_measured {
        return Err(SystemReadAheadUnknown::NotMeasured);
    }
    let one = ahead_of(&rows, 1..=1)?;
    let two = ahead_of(&rows, 2..=2)?;
    let long = ahead_of(&rows, 3..=u64::MAX)?;
    let most = one[one.len() - 1].max(two[two.len() - 1]).max(long[long.len() - 1]);
    if is_open {
        return Err(SystemReadAheadUnknown::AtLeast(most));
    }
    Ok(SystemReadAhead {
        most: Estimate::exact(most.as_f64()),
        by: Reader::System,
        after_one_bytes: one[one.len() / 2].get(),
        after_two_bytes: two[two.len() / 2].get(),
        rows: rows.into_iter().map(|(reads, ahead)| CachedSequence { reads, bytes: ahead.get() }).collect(),
        system_says_bytes: run.target.read_ahead.map(Bytes::get),
    })
}

/// What was read ahead behind sequences of such a length, the least first.
fn ahead_of(
    rows: &[(u64, Bytes)],
    of_reads: RangeInclusive<u64>,
) -> Result<Vec<Bytes>, SystemReadAheadUnknown> {
    let mut ahead: Vec<Bytes> = Vec::new();
    for (reads, bytes) in rows {
        if of_reads.contains(reads) {
            ahead.push(*bytes);
        }
    }
    if ahead.len() < ROWS_MIN {
        return Err(SystemReadAheadUnknown::Evicted);
    }
    ahead.sort_unstable();
    Ok(ahead)
}

/// Rows of which it is known how far the system read behind them, with how many reads each has: none that may reach the next.
fn sure(rows: &[CachedRow]) -> Vec<(u64, Bytes)> {
    let mut sorted: Vec<&CachedRow> = rows.iter().collect();
    sorted.sort_by_key(|row| row.first);
    let (mut kept, mut is_after_open) = (Vec::new(), false);
    for row in sorted {
        if let Some(ahead) = row.ahead()
            && !is_after_open
        {
            kept.push((row.reads, ahead));
        }
        is_after_open = row.is_open();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Offset;

    fn row(place: u64, reads: u64, cached_kib: u64) -> CachedRow {
        CachedRow {
            first: Offset::new(place << 20),
            reads,
            asked: Bytes::new(reads * 4096),
            looked_at: Bytes::new(1 << 20),
            cached_before: Bytes::ZERO,
            cached: Bytes::new(cached_kib * 1024),
        }
    }

    /// A row that reaches to the next may be what lies in memory there; what was in memory before tells nothing.
    #[test]
    fn rows_that_others_reach_are_left_out() {
        let before = CachedRow { cached_before: Bytes::new(4096), ..row(9, 2, 20) };
        let rows = [row(5, 1, 4), row(3, 64, 1024), row(4, 2, 20), row(6, 2, 20), before];
        assert_eq!(
            sure(&rows),
            [(64, Bytes::new((1024 - 256) * 1024)), (1, Bytes::ZERO), (2, Bytes::new(12_288))]
        );
    }
}
