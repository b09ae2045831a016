//! How far the system reads on, through its page cache.
//!
//! # What it finds
//! How many bytes behind what was asked for lie in the system's memory after a row of reads: after one, after two, and at most.
//! # Why it matters
//! It is the part of reading on that belongs to the system and can be set (`blockdev --setra`, `POSIX_FADV_RANDOM`), told apart from the
//! drive's own. Where a row of two brings megabytes along, a database that reads pairs of pages reads much that it does not need.
//! # How
//! With nothing of the target in the page cache, blocks are read through it: alone, in pairs, and in rows of random length. Then the kernel is
//! asked which pages are in memory (`cachestat`, or `mincore` on a mapping before Linux 6.5), which reads nothing. What lies behind a row
//! without a gap is what the system has read on. Rows of which something was in memory before are left out, and rows that lie behind one
//! that reaches to them.
//! # Cannot tell when
//! The drive is virtual and in virtual time, so that no system reads it; the kernel does not tell what is in its memory, as of files of
//! somebody else; another program reads the same places; the system reads on farther than was looked.
//! # Known problems
//! How far ahead the system is goes up and down along a row, between one window and two, so that the most that was seen may be
//! less than the most there is. Before Linux 6.5 pages that are still being read are not seen.
//! # References
//! Linux, `mm/readahead.c` ("ondemand_readahead") and `Documentation/core-api/mm-api`; Wu, Xi, Xu, "On the design of a new Linux readahead
//! framework", ACM SIGOPS Operating Systems Review 42(5), 2008.

use super::wording::memory;
use super::{Detector, Need};
use crate::measured::{EXPERIMENT_ACCESS, evidence_of_phases};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::page_cache::CachedRow;
use model::run::RunView;
use model::target::TargetKind;
use model::units::Bytes;
use model::workload::Caching;

/// See the head of this file.
pub(super) struct SystemReadAhead;

/// Of each kind of rows so many: the median of three is right though one is wrong.
const ROWS_MIN: usize = 3;

impl Detector for SystemReadAhead {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::SystemReadAhead]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT_ACCESS)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if !is_asked(run) {
            return Vec::new();
        }
        let finding = windows(run).map_or_else(
            |why| Finding::unknown(FindingCode::SystemReadAhead, why),
            |windows| finding(run, &windows),
        );
        vec![finding]
    }
}

/// Whether it was asked what an application sees, through the page cache.
fn is_asked(run: &RunView<'_>) -> bool {
    run.phases.iter().any(|summary| {
        let workload = summary.phase.workload.as_ref();
        summary.phase.experiment == EXPERIMENT_ACCESS
            && workload.is_some_and(|workload| workload.caching == Caching::Buffered)
    })
}

/// Whether it was measured how far the system reads on.
pub(super) fn is_measured(run: &RunView<'_>) -> bool {
    is_asked(run) && windows(run).is_ok()
}

/// What was in memory behind rows of reads.
struct Windows {
    phases: Vec<u32>,
    after_one: Bytes,
    after_two: Bytes,
    most: Bytes,
    rows: Vec<(u64, Bytes)>,
}

fn windows(run: &RunView<'_>) -> Result<Windows, String> {
    if run.target.kind == TargetKind::Sim {
        return Err("In virtual time no system reads the drive, so there is no page cache over it. Mount it with `drivescope sim mount` to \
                    measure through one."
            .into());
    }
    let (mut phases, mut rows) = (Vec::new(), Vec::new());
    for (number, summary) in (0u32..).zip(run.phases) {
        match summary.page_cache.as_deref() {
            Some(Err(why)) => {
                return Err(format!("The system does not tell what is in its page cache: {why}."));
            }
            Some(Ok(found)) => {
                phases.push(number);
                rows.extend(sure(found));
            }
            None => {}
        }
    }
    if phases.is_empty() {
        return Err("No blocks were read in rows to see it: that takes a range of 32 MiB at least and a minute of time.".into());
    }
    let of = |wanted: fn(u64) -> bool| -> Result<Vec<Bytes>, String> {
        let mut ahead: Vec<Bytes> =
            rows.iter().filter(|(reads, _)| wanted(*reads)).map(|(_, ahead)| *ahead).collect();
        ahead.sort_unstable();
        if ahead.len() < ROWS_MIN {
            return Err("What was read did not stay in the page cache, or lay there before: another program uses the target, or memory is \
                        short."
                .into());
        }
        Ok(ahead)
    };
    let (one, two, long) = (of(|reads| reads == 1)?, of(|reads| reads == 2)?, of(|reads| reads > 2)?);
    let longest = long[long.len() - 1];
    let most = longest.max(one[one.len() - 1]).max(two[two.len() - 1]);
    Ok(Windows { phases, after_one: one[one.len() / 2], after_two: two[two.len() / 2], most, rows })
}

/// Rows of which it is known how far the system read behind them, with how many reads each has. One that reaches as far as was looked
/// may have reached into the next.
fn sure(rows: &[CachedRow]) -> Vec<(u64, Bytes)> {
    let mut sorted: Vec<&CachedRow> = rows.iter().collect();
    sorted.sort_by_key(|row| row.first);
    let after_open = |index: usize| index.checked_sub(1).is_some_and(|before| sorted[before].is_open());
    let kept = (0..sorted.len()).filter(|&index| !after_open(index));
    kept.filter_map(|index| Some((sorted[index].reads, sorted[index].ahead()?))).collect()
}

fn finding(run: &RunView<'_>, windows: &Windows) -> Finding {
    let evidence = evidence_of_phases(run, &windows.phases);
    let is_open = |phase: &u32| {
        let rows = run.phases[*phase as usize].page_cache.as_deref();
        rows.and_then(|rows| rows.as_ref().ok()).is_some_and(|rows| rows.iter().any(CachedRow::is_open))
    };
    if windows.phases.iter().any(is_open) {
        return Finding::unknown(
            FindingCode::SystemReadAhead,
            format!(
                "The system reads on as far as was looked: {} and more behind a row of reads.",
                said(windows.most)
            ),
        );
    }
    let rows = windows.rows.iter().map(|(reads, ahead)| {
        Datum::record([("reads", Datum::Integer(*reads)), ("bytes", Datum::Integer(ahead.0))])
    });
    let finding = Finding::number(
        FindingCode::SystemReadAhead,
        Estimate::exact(windows.most.0 as f64),
        "bytes",
        statement(windows) + &said_by_the_system(run.target.read_ahead),
        evidence,
    )
    .with_data("by", Datum::Text("system".into()))
    .with_data("after_one_bytes", Datum::Integer(windows.after_one.0))
    .with_data("after_two_bytes", Datum::Integer(windows.after_two.0))
    .with_data("rows", Datum::List(rows.collect()));
    match run.target.read_ahead {
        Some(bytes) => finding.with_data("system_says_bytes", Datum::Integer(bytes.0)),
        None => finding,
    }
}

fn statement(windows: &Windows) -> String {
    let Windows { after_one, after_two, most, .. } = windows;
    if *most == Bytes::ZERO {
        return "Through the page cache the system reads nothing but what is asked for.".into();
    }
    format!(
        "Through the page cache the system reads on as well: {} behind a single read, {} behind two in a row, and up to {} behind longer \
         rows.",
        said(*after_one),
        said(*after_two),
        said(*most)
    )
}

fn said(bytes: Bytes) -> String {
    if bytes == Bytes::ZERO { "nothing".into() } else { memory(bytes.0 as f64) }
}

/// A window is what is read at a time; up to two of them lie ahead of a reader.
fn said_by_the_system(read_ahead: Option<Bytes>) -> String {
    read_ahead.map_or(String::new(), |bytes| {
        format!(
            " By its own word it reads {} at a time; two such stretches may lie ahead.",
            memory(bytes.0 as f64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Offset;

    fn row(place: u64, reads: u64, cached_kib: u64) -> CachedRow {
        CachedRow {
            first: Offset(place << 20),
            reads,
            asked: Bytes(reads * 4096),
            looked_at: Bytes(1 << 20),
            cached_before: Bytes::ZERO,
            cached: Bytes(cached_kib * 1024),
        }
    }

    /// A row that reaches to the next may be what lies in memory there; what was in memory before tells nothing.
    #[test]
    fn rows_that_others_reach_are_left_out() {
        let before = CachedRow { cached_before: Bytes(4096), ..row(9, 2, 20) };
        let rows = [row(5, 1, 4), row(3, 64, 1024), row(4, 2, 20), row(6, 2, 20), before];
        assert_eq!(sure(&rows), [(64, Bytes((1024 - 256) * 1024)), (1, Bytes::ZERO), (2, Bytes(12_288))]);
    }

    #[test]
    fn what_was_seen_is_told_by_length() {
        let (after_one, after_two, most) = (Bytes::ZERO, Bytes(12_288), Bytes(255 << 10));
        let windows = Windows { phases: Vec::new(), rows: Vec::new(), after_one, after_two, most };
        assert_eq!(
            statement(&windows),
            "Through the page cache the system reads on as well: nothing behind a single read, 12.0 KiB behind two in a row, and up to \
             255 KiB behind longer rows."
        );
        assert_eq!(said_by_the_system(None), "");
    }
}
