//! What a flush does.
//! # What it finds
//! Whether a flush waits for the medium (`honoured`), does not despite a volatile cache (`ignored`), or need not (`protected`).
//! # Why it matters
//! A commit that is only in a volatile cache is lost with the power, whatever the database was told.
//! # How
//! Random reads, writes and commits of 4 KiB, one at a time. Where a read takes a millisecond the medium moves parts, and a stored commit takes
//! as long as getting there. On flash a stored commit takes programming time beyond a write and a command, and a write without a cache takes longer
//! than a read. What is faster was not stored, and what the drive reports of its cache decides what that means.
//! # Cannot tell when
//! The target is in memory or on a network; commits are too fast on a hypervisor's disk, or one that reports nothing; a commit failed;
//! a flush adds no time and writes are no quicker than a cache behind a slow link, so that each may be durable by itself; a flush adds
//! 30 to 75 µs, or 15 to 30 % of a disk's access, which is neither a cache's time nor a medium's.
//! # Known problems
//! A drive with power-loss protection that reports its cache as volatile looks as if it ignored flushes; its data sheet tells.
//! # References
//! NVMe Base Specification 2.0, VWC and Flush. ACS-3, FLUSH CACHE. docs/reference/sync-latency.md: sync latencies as published.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, phases_where};
use model::experiment_name::ExperimentName;
use model::finding::{
    Finding, FindingCode, FlushEffect, FlushEvidence, FlushHonoured, FlushUnknown, Outcome,
};
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::target::{Caveat, TargetFacts};
use model::units::Quantile;

/// An interval of a median needs 6, and one of 20 spans the middle half.
const COUNT_MIN: u64 = 20;
/// Flash reads in 100 µs; an arm gets nowhere in 1 ms.
const MECHANICAL_S: f64 = 1e-3;
/// A commit at random takes an arm as long as a read; a media cache saves it the seek, at best two thirds of that.
const STORED_SHARE: f64 = 0.3;
const CACHED_SHARE: f64 = 0.15;
/// The fastest programming of a page that is published: 75 µs (Z-NAND 100 µs, XL-Flash 75 µs).
const PROGRAM_S: f64 = 75e-6;
/// Beyond what two commands cost; hosts differ by less between two medians.
const CACHED_S: f64 = 30e-6;
/// Programming takes three times as long as reading, at least.
const PROGRAMMED_SHARE: f64 = 1.5;
/// And a write into a buffer is a good deal quicker than reading flash.
const BUFFERED_SHARE: f64 = 0.75;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::FlushHonoured], needs: &[Need::Asked(ExperimentName::Commit)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let probes = phases_where(run, is_probe);
    vec![Finding::FlushHonoured(Outcome::of(judge(run), evidence_of_phases(run, &probes)))]
}

fn is_probe(summary: &PhaseSummary) -> bool {
    let is_random = |workload: &model::workload::Workload| {
        workload.pattern.is_random() == Some(true) && workload.in_flight_max() == 1
    };
    summary.phase.kind != PhaseKind::Measure && summary.phase.workload.as_ref().is_some_and(is_random)
}

fn probed(run: &RunView<'_>, operation: Operation) -> LatencyHistogram {
    let mut all = LatencyHistogram::small();
    for summary in run.phases {
        if let (true, Some(totals)) = (is_probe(summary), summary.totals_of(operation)) {
            all.merge(&totals.histogram);
        }
    }
    all
}

fn median_s(latencies: &LatencyHistogram) -> Option<f64> {
    if latencies.count() < COUNT_MIN {
        return None;
    }
    latencies.quantile(Quantile::MEDIAN).map(model::units::Nanos::seconds)
}

pub(super) fn judge(run: &RunView<'_>) -> Result<FlushHonoured, FlushUnknown> {
    let mut failed = 0;
    for summary in run.phases {
        if let Some(totals) = summary.totals_of(Operation::Commit) {
            failed += totals.errors;
        }
    }
    // A method that the file system does not have fails at once and loses nothing.
    if failed > 0 && has_lost(run) {
        return Err(FlushUnknown::Failed { commits: failed });
    }
    for caveat in &run.target.caveats {
        match caveat {
            Caveat::InMemory => return Err(FlushUnknown::InMemory),
            Caveat::Network => return Err(FlushUnknown::Network),
            _ => {}
        }
    }
    let [reads, writes, commits] =
        [Operation::Read, Operation::Write, Operation::Commit].map(|operation| probed(run, operation));
    let (Some(read_s), Some(write_s), Some(commit_s)) =
        (median_s(&reads), median_s(&writes), median_s(&commits))
    else {
        let [reads, writes, commits] = [reads.count(), writes.count(), commits.count()];
        return Err(FlushUnknown::TooFew { reads, writes, commits });
    };
    let reports_volatile_cache = run.target.write_cache;
    let seen = FlushEvidence { read_s, write_s, commit_s, reports_volatile_cache, state: state(run.target) };
    let is_virtual = run.target.caveats.contains(&Caveat::VirtualDisk);
    match (stored(&seen), reports_volatile_cache) {
        (Stored::Unclear, _) => Err(FlushUnknown::Unclear(seen)),
        (Stored::PerhapsByWrites, _) => Err(FlushUnknown::DurableByItself(seen)),
        (Stored::Yes, _) => Ok(FlushHonoured { effect: FlushEffect::Honoured, seen }),
        (Stored::No, _) if is_virtual => Err(FlushUnknown::Hypervisor(seen)),
        (Stored::No, None) => Err(FlushUnknown::Unreported(seen)),
        (Stored::No, Some(true)) => Ok(FlushHonoured { effect: FlushEffect::Ignored, seen }),
        (Stored::No, Some(false)) => Ok(FlushHonoured { effect: FlushEffect::Protected, seen }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Yes,
    No,
    /// A flush adds nothing, and a write may be slow enough to have stored its data by itself.
    PerhapsByWrites,
    /// The flush took something, and less than programming does.
    Unclear,
}

fn stored(seen: &FlushEvidence) -> Stored {
    let FlushEvidence { read_s, write_s, commit_s, .. } = *seen;
    if read_s >= MECHANICAL_S {
        let share = commit_s / read_s;
        return if share >= STORED_SHARE {
            Stored::Yes
        } else if share < CACHED_SHARE {
            Stored::No
        } else {
            Stored::Unclear
        };
    }
    // A write that takes as long as programming may have gone to the medium by itself, whatever is reported of a cache: a volume
    // elsewhere answers reads, writes and flushes alike, and a loop device calls every cache volatile.
    let is_cached = seen.reports_volatile_cache == Some(true) && write_s < PROGRAM_S;
    let beyond_s = commit_s - 2.0 * write_s;
    let is_programmed = write_s >= PROGRAM_S && write_s >= PROGRAMMED_SHARE * read_s;
    if beyond_s >= PROGRAM_S || is_programmed {
        Stored::Yes
    } else if beyond_s >= CACHED_S {
        Stored::Unclear
    } else if is_cached || write_s < BUFFERED_SHARE * read_s.max(PROGRAM_S) {
        Stored::No
    } else {
        Stored::PerhapsByWrites
    }
}

/// Whether commits with that median may be durable, where flushes are known to wait for the medium: none is quicker than it.
pub(super) fn reaches_medium(seen: &FlushEvidence, median_s: f64) -> bool {
    if seen.read_s >= MECHANICAL_S {
        median_s >= CACHED_SHARE * seen.read_s
    } else if seen.write_s < PROGRAM_S && seen.reports_volatile_cache == Some(true) {
        median_s >= seen.write_s + PROGRAM_S
    } else {
        // A write that takes so long may be durable by itself, and so may one without a volatile cache.
        median_s >= PROGRAM_S.min(seen.write_s)
    }
}

fn has_lost(run: &RunView<'_>) -> bool {
    use model::request::Status;
    (0..).zip(run.phases).any(|(number, _)| {
        run.series.errors(number).any(|error| {
            let is_refusal = matches!(
                error.status,
                Status::NotSupported | Status::NoSpace | Status::Refused | Status::Misaligned
            );
            error.operation == Operation::Commit && !is_refusal
        })
    })
}

fn state(target: &TargetFacts) -> Vec<String> {
    let mut state = Vec::new();
    state.push(match target.write_cache {
        Some(true) => "write_cache: write back".to_string(),
        Some(false) => "write_cache: write through".into(),
        None => "write_cache: not reported".into(),
    });
    if let Some(link) = &target.link {
        state.push(format!("link: {}", link.name));
    }
    if let Some(scheduler) = &target.scheduler {
        state.push(format!("scheduler: {scheduler}"));
    }
    state.extend(target.stack.iter().map(|layer| format!("stack: {layer}")));
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(read_us: f64, write_us: f64, commit_us: f64, reports_volatile_cache: Option<bool>) -> Stored {
        let [read_s, write_s, commit_s] = [read_us, write_us, commit_us].map(|us| us * 1e-6);
        stored(&FlushEvidence { read_s, write_s, commit_s, reports_volatile_cache, state: Vec::new() })
    }

    #[test]
    fn flash_stores_or_does_not() {
        // Programs for 700 µs; answers from its buffer; has no buffer and programs before it answers.
        assert_eq!(judged(80.0, 20.0, 750.0, Some(true)), Stored::Yes);
        assert_eq!(judged(80.0, 20.0, 42.0, Some(true)), Stored::No);
        assert_eq!(judged(80.0, 220.0, 250.0, Some(false)), Stored::Yes);
    }

    #[test]
    fn a_slow_volume_that_answers_all_commands_alike_is_not_accused() {
        // Through a loop device, which reports every cache as volatile.
        assert_eq!(judged(349.0, 349.0, 698.0, Some(true)), Stored::PerhapsByWrites);
        assert_eq!(judged(349.0, 349.0, 698.0, None), Stored::PerhapsByWrites);
        assert_eq!(judged(110.0, 100.0, 205.0, Some(true)), Stored::PerhapsByWrites);
        // A buffer is quicker than reading flash, and nothing is programmed in 60 µs.
        assert_eq!(judged(349.0, 150.0, 300.0, Some(true)), Stored::No);
        assert_eq!(judged(60.0, 60.0, 120.0, Some(true)), Stored::No);
        assert_eq!(judged(60.0, 60.0, 120.0, None), Stored::PerhapsByWrites);
        // The flush took something, and less than programming.
        assert_eq!(judged(110.0, 100.0, 250.0, Some(true)), Stored::Unclear);
    }
}
