//! Whether a drive gives back what was written to it.
//!
//! # What it finds
//! How many reads of a comparing pass found something else than what was written there, and where.
//! # Why it matters
//! A drive that answers with other data and without an error is worse than one that fails: nobody notices.
//! # How
//! What was written follows from a seed and the place, in each sector of 512 bytes. Every read of the pass is compared with
//! it as a whole; requests that differ are joined into ranges across gaps of up to 1 MiB.
//! # Cannot tell when
//! A virtual drive in virtual time holds no data. Without a comparing pass the question was not asked.
//! # Known problems
//! A request counts once, however much of it is wrong. Where a thousand in a row are wrong, the rest of the stretch is
//! sampled only, so that the number is a lower bound. What a cache still holds is not read from the medium.
//! # References
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.

use super::{Detector, Need};
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode};
use model::plan::PhaseKind;
use model::record::ErrorRecord;
use model::request::Status;
use model::run::{PhaseSummary, RunView};
use model::target::TargetKind;
use model::units::MIB;
use std::cmp::Reverse;

/// See the head of this file.
pub(super) struct DataIntegrity;

const JOIN_GAP_BYTES: u64 = MIB;
/// Ranges listed in a finding.
const LISTED_MAX: usize = 1000;

impl Detector for DataIntegrity {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::DataIntegrity]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let compared: Vec<(u32, &PhaseSummary)> =
            (0..).zip(run.phases).filter(|(_, summary)| summary.phase.kind == PhaseKind::Verify).collect();
        if compared.is_empty() {
            return Vec::new();
        }
        if run.target.kind == TargetKind::Sim {
            let why = "A virtual drive in virtual time holds no data. Mount it, and compare what the mounted drive \
                       holds: drivescope sim mount.";
            return vec![Finding::unknown(FindingCode::DataIntegrity, why)];
        }
        let errors = compared.iter().flat_map(|(phase, _)| run.series.errors(*phase));
        let mut wrong: Vec<ErrorRecord> = errors.filter(|error| error.status == Status::WrongData).collect();
        wrong.sort_by_key(|error| (error.offset_bytes, Reverse(error.length_bytes)));
        // A closer look at a request that was wrong repeats a part of it.
        let mut end = 0;
        wrong.retain(|error| {
            let of_this = error.offset_bytes.saturating_add(u64::from(error.length_bytes));
            let is_new = of_this > end;
            end = end.max(of_this);
            is_new
        });
        let read: u64 = compared.iter().map(|(_, summary)| summary.operations()).sum();
        vec![found(&compared, &wrong, read)]
    }
}

fn found(compared: &[(u32, &PhaseSummary)], wrong: &[ErrorRecord], read: u64) -> Finding {
    let regions = joined(wrong);
    let statement = match regions.first() {
        None => format!("All {read} reads that could be compared found what was written."),
        Some((first, _)) => format!(
            "{} reads found something else than what was written, in {} {}; the first at byte {first}.",
            wrong.len(),
            regions.len(),
            if regions.len() == 1 { "place" } else { "places" },
        ),
    };
    let evidence = compared.iter().map(|(phase, summary)| Evidence {
        phase: *phase,
        start_s: summary.start_ns as f64 / 1e9,
        seconds: summary.duration_ns as f64 / 1e9,
    });
    let listed = regions.iter().take(LISTED_MAX).map(|(first, end)| {
        Datum::record([("first_byte", Datum::Integer(*first)), ("bytes", Datum::Integer(end - first))])
    });
    let listed = Datum::List(listed.collect());
    let count = Estimate::exact(wrong.len() as f64);
    let finding =
        Finding::number(FindingCode::DataIntegrity, count, "count", statement, evidence.take(1).collect());
    let finding = finding.with_data("regions", listed);
    if wrong.is_empty() {
        return finding;
    }
    finding.with_advice(
        "Keep nothing on this drive. Check memory and cable first if you can: they corrupt data too. A drive that says it \
         holds more than it does fails like this from some place on.",
    )
}

/// From where to where, in order.
fn joined(wrong: &[ErrorRecord]) -> Vec<(u64, u64)> {
    let mut regions: Vec<(u64, u64)> = Vec::new();
    for error in wrong {
        let end = error.offset_bytes.saturating_add(u64::from(error.length_bytes));
        match regions.last_mut() {
            Some((_, last)) if error.offset_bytes <= last.saturating_add(JOIN_GAP_BYTES) => {
                *last = end.max(*last)
            }
            _ => regions.push((error.offset_bytes, end)),
        }
    }
    regions
}
