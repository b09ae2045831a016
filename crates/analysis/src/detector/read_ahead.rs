//! How far a drive reads on after a read.
//!
//! # What it finds
//! How many bytes behind a read memory answers, some time after it.
//! # Why it matters
//! Neighbours of what was asked for come for nothing: an access time of 12 ms covers that much. It is also why a benchmark that reads
//! neighbours measures a memory and not a drive.
//! # How
//! Two reads with a pause between them, the second behind the first by a distance that is looked for by halving. Reads of what was
//! just read are surely answered by memory and first reads surely not; where these two kinds lie apart, every answer is one of them. The
//! step that explains most reads is taken. Reads go past the page cache, so that it is the drive that reads on and not the system.
//! # Cannot tell when
//! Both kinds take equally long, as on flash and on drives whose cache is off; a fifth of the reads is not explained; a pause is too
//! short for the drive to read on as far as it would. Several arms answer and are no stripe: of a mirror the other drive may be asked. On a
//! stripe pairs of reads are looked at that lie on one drive.
//! # Known problems
//! How far the system reads on is a question of its own (`system-read-ahead`); where it was not measured, its own word is told.
//! A drive that reads on only after several reads in order is found to read on not at all.
//! # References
//! Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995 (caches by hits and
//! misses).

use super::drive_cache::why_no_memory;
use super::system_read_ahead;
use super::trust::Subject;
use super::wording::short_time;
use super::{Detector, Need};
use crate::cache::{ReadOn, first_reads_ns, read_on};
use crate::measured::{
    EXPERIMENT_ACCESS, HELD_UP_SHARE_MAX, evidence_of_phases, held_up_share, held_up_share_of,
};
use crate::stats::CONFIDENCE;
use crate::stripe::Arms;
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;
use model::units::Bytes;
use std::cell::LazyCell;

/// See the head of this file.
pub(super) struct ReadAhead;

const STRAY_SHARE_MAX: f64 = 0.2;

impl Detector for ReadAhead {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ReadAhead]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT_ACCESS)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let unknown = |why: &str| vec![Finding::unknown(FindingCode::ReadAhead, why)];
        let arms = LazyCell::new(|| Arms::of(run, EXPERIMENT_ACCESS));
        match read_on(run) {
            ReadOn::NotAsked => Vec::new(),
            ReadOn::NotTold(_) | ReadOn::Found { .. } if *arms == Arms::Shared => unknown(
                "Several drives share the reads: what lies behind a read is soon on another of them, so that how far one reads on does not \
                 show. Measure one of them by itself.",
            ),
            ReadOn::NotTold(why) => unknown(why_no_memory(run, why)),
            ReadOn::Found { stray_share, .. } if stray_share > STRAY_SHARE_MAX => unknown(
                "Memory answers now near and now far behind a read: something else used the drive, or its cache follows no such rule.",
            ),
            ReadOn::Found { late_share, .. } if late_share > STRAY_SHARE_MAX => unknown(
                "Memory answers late time and again: something else used the drive. Measure again while nothing does.",
            ),
            ReadOn::Found { low: None | Some(Bytes::ZERO), .. } if was_called_away(run) => unknown(
                "Something else used the drive, and an arm that is called away cannot read on. Measure again while nothing else uses it.",
            ),
            ReadOn::Found { low, high: Some(high), lowest, highest: Some(highest), phases, .. } => {
                let low = low.unwrap_or(Bytes::ZERO);
                let estimate = Estimate {
                    value: middle(low, high),
                    low: lowest.unwrap_or(Bytes::ZERO).0 as f64,
                    high: highest.0 as f64,
                    confidence: CONFIDENCE,
                    effective_count: f64::INFINITY,
                };
                vec![finding(run, estimate, low, &phases, *arms)]
            }
            ReadOn::Found { low, .. } => unknown(&format!(
                "Memory answers as far behind a read as was looked: {} and more.",
                low.unwrap_or(Bytes::ZERO)
            )),
        }
    }
}

/// Whether something else moved the arm, all along or while the pairs were read.
fn was_called_away(run: &RunView<'_>) -> bool {
    held_up_share(run).max(held_up_share_of(run, &first_reads_ns(run))) > HELD_UP_SHARE_MAX
}

/// Nothing read on lies before the first distance that was tried.
fn middle(low: Bytes, high: Bytes) -> f64 {
    if low == Bytes::ZERO { 0.0 } else { (low.0 as f64 * high.0 as f64).sqrt() }
}

fn finding(run: &RunView<'_>, estimate: Estimate, low: Bytes, phases: &[u32], arms: Arms) -> Finding {
    let pause_s = phases.first().and_then(|&phase| pause_s(run, phase));
    let who = match arms {
        Arms::Stripe(_) => "its drive",
        Arms::One | Arms::Shared => "the drive",
    };
    let within = pause_s.map_or(String::new(), |pause_s| format!(" within {}", short_time(pause_s)));
    let statement = if low == Bytes::ZERO {
        format!("After a single read {who} does not read on{within}.")
    } else {
        format!(
            "After a single read {who} reads on by itself: {}{within}, by its own means and not the system's.",
            near(estimate.value)
        )
    };
    let finding = Finding::number(
        FindingCode::ReadAhead,
        estimate,
        "bytes",
        statement + &said_by_the_system(run.target.read_ahead, system_read_ahead::is_measured(run)),
        evidence_of_phases(run, phases),
    )
    .with_data("by", Datum::Text("drive".into()));
    let finding = match run.target.read_ahead {
        Some(bytes) => finding.with_data("system_says_bytes", Datum::Integer(bytes.0)),
        None => finding,
    };
    let finding = match pause_s {
        Some(pause_s) => finding.with_data("pause_s", Datum::Number(pause_s)),
        None => finding,
    };
    Subject::of(run).qualify(finding)
}

/// What the system does of its own, as a sentence that begins with a blank; nothing where it states nothing.
fn said_by_the_system(read_ahead: Option<Bytes>, is_measured: bool) -> String {
    match read_ahead {
        _ if is_measured => {
            " What the system reads on through its page cache is no part of it and stands for itself.".into()
        }
        Some(bytes) => format!(
            " Through the page cache the system reads on as well, by its own word up to {}: that is not part of this figure and was not \
             measured; `drivescope access --buffered` does.",
            near(bytes.0 as f64)
        ),
        None => String::new(),
    }
}

/// "2.05 MiB": a step between two distances is no round number.
fn near(bytes: f64) -> String {
    super::wording::memory(bytes)
}

fn pause_s(run: &RunView<'_>, phase: u32) -> Option<f64> {
    match run.phases.get(phase as usize)?.phase.workload.as_ref()?.arrival {
        model::workload::Arrival::OpenLoop { per_second, .. } => Some(1.0 / per_second),
        model::workload::Arrival::ClosedLoop => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_told_as_its_word() {
        assert_eq!(said_by_the_system(None, false), "");
        let said = said_by_the_system(Some(Bytes::from_kib(128)), false);
        assert!(said.starts_with(
            " Through the page cache the system reads on as well, by its own word up to 128 KiB"
        ));
        assert!(!said_by_the_system(Some(Bytes::from_kib(128)), true).contains("not measured"));
    }
}
