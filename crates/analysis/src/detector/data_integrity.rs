//! Whether a drive returns what was written to it.
//! # What it finds
//! How many of the 4 KiB blocks that were compared held something else than was written; how, and where.
//! # Why it matters
//! Wrong data without an error is worse than a failure: nobody notices.
//! # How
//! Each sector carries its offset, the run and the number of the write, with a checksum. So stale data (a lost write), misdirected
//! writes, blank blocks and wrong bits are told apart. Where all blocks were right, at most 1 - 0.05^(1/n) of the drive
//! is wrong, with 95 % confidence, for n blocks drawn at random (the rule of three).
//! # Cannot tell when
//! Nothing was compared, or nothing could be read.
//! # Known problems
//! Blocks past the real end are not counted: see `capacity-true`. Of each phase the first 10,000 extents are kept; with more the
//! number is a lower bound. What a cache still holds is not read from the medium.
//! # References
//! Bairavasundaram et al., "Data corruption in the storage stack", FAST 2008; Hanley, Lippman-Hand, JAMA 249, 1983.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::integrity::{
    BLOCK_BYTES, Extent, WrongStretch, compared, compared_writes, extent, not_written, union, wrong_stretches,
};
use model::estimate::Estimate;
use model::finding::{
    DataIntegrity, DataIntegrityUnknown, Evidence, Finding, FindingCode, Outcome, WrongRegion,
};
use model::record::ERROR_RECORDS_MAX;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, MIB};
use model::workload::Pattern;
use std::collections::BTreeMap;

const JOIN_GAP_BYTES: u64 = MIB;
const LISTED_MAX: usize = 1000;
const CONFIDENCE: f64 = 0.95;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::DataIntegrity], needs: &[Need::Phase], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some(seen) = Seen::of(run) else { return Vec::new() };
    let outcome = if seen.checked == 0 {
        Outcome::Unknown(DataIntegrityUnknown::NothingRead)
    } else {
        Outcome::known(integrity(&seen), seen.evidence)
    };
    vec![Finding::DataIntegrity(outcome)]
}

struct Seen {
    wrong: Vec<WrongStretch>,
    /// Blocks that were compared; one that was read twice counts twice.
    checked: u64,
    drawn: u64,
    ends_early: bool,
    is_cut: bool,
    evidence: Vec<Evidence>,
}

impl Seen {
    fn of(run: &RunView<'_>) -> Option<Seen> {
        let end = real_end(run);
        let mut seen = Seen {
            wrong: Vec::new(),
            checked: 0,
            drawn: 0,
            ends_early: end < u64::MAX,
            is_cut: false,
            evidence: Vec::new(),
        };
        let mut phases = 0;
        let mut of_wrong = Vec::new();
        for (number, summary, _) in compared_writes(run) {
            phases += 1;
            let evidence = summary.evidence(number);
            seen.evidence.push(evidence.clone());
            let (checked, is_drawn) = checked_below(summary, end);
            seen.checked += checked;
            seen.drawn += if is_drawn { checked } else { 0 };
            if summary.errors() == 0 {
                continue;
            }
            let errors: Vec<_> = run.series.errors(number).collect();
            seen.is_cut |= errors.len() >= ERROR_RECORDS_MAX;
            let before = seen.wrong.len();
            seen.wrong.extend(wrong_stretches(errors.into_iter()).into_iter().filter_map(|w| below(w, end)));
            if seen.wrong.len() > before {
                of_wrong.push(evidence);
            }
        }
        let failed = not_written(run);
        seen.wrong.retain(|extent| was_written(extent, &failed));
        seen.wrong = union(seen.wrong);
        seen.evidence.truncate(1);
        if !of_wrong.is_empty() {
            of_wrong.truncate(10);
            seen.evidence = of_wrong;
        }
        if phases > 0 { Some(seen) } else { None }
    }

    fn swapped(&self) -> u64 {
        let mut blocks = 0;
        for extent in &self.wrong {
            let Some(meant_for) = extent.meant_for else { continue };
            if let Ok(other) = self.wrong.binary_search_by_key(&meant_for, |wrong| wrong.first)
                && self.wrong[other].meant_for == Some(extent.first)
            {
                blocks += extent.blocks();
            }
        }
        blocks
    }
}

/// The real end, if it is before the claimed one and was measured: `capacity-true` covers what is past it.
fn real_end(run: &RunView<'_>) -> u64 {
    let is_asked = compared(run)
        .any(|(_, summary, _)| summary.phase.experiment == model::experiment_name::ExperimentName::Verify);
    match extent(run).filter(|_| is_asked) {
        Some(Extent::Wraps { period_bytes, spared: (from, _) }) => period_bytes + from,
        Some(Extent::Ends { held_to, .. }) => held_to,
        _ => u64::MAX,
    }
}

/// Whether none of the writes to it failed; those that did are sorted.
fn was_written(extent: &WrongStretch, failed: &[(u64, u64)]) -> bool {
    let next = failed.partition_point(|(first, _)| *first < extent.end);
    !failed[..next].iter().any(|(_, end)| *end > extent.first)
}

fn below(stretch: WrongStretch, end: u64) -> Option<WrongStretch> {
    if stretch.first < end { Some(WrongStretch { end: stretch.end.min(end), ..stretch }) } else { None }
}

fn checked_below(summary: &PhaseSummary, end: u64) -> (u64, bool) {
    let Some(workload) = &summary.phase.workload else { return (0, false) };
    let block = workload.block_sizes.largest().get();
    if let Pattern::Listed { offsets } = &workload.pattern {
        let below = offsets.iter().filter(|offset| offset.get() < end).count() as u64;
        return (below * block.div_ceil(BLOCK_BYTES), true);
    }
    let bytes = (summary.bytes() + summary.errors() * block).min(workload.range.bytes().get());
    let inside = end.saturating_sub(workload.range.first().get()).min(bytes);
    (inside.div_ceil(BLOCK_BYTES), false)
}

fn integrity(seen: &Seen) -> DataIntegrity {
    let mut kinds = BTreeMap::new();
    for extent in &seen.wrong {
        *kinds.entry(extent.kind).or_insert(0) += extent.blocks();
    }
    kinds.retain(|_, blocks| *blocks > 0);
    let blocks: u64 = kinds.values().sum();
    let mut wrong = Estimate::exact(blocks as f64);
    if seen.is_cut {
        wrong.high = seen.checked.max(blocks) as f64;
    }
    DataIntegrity {
        wrong,
        checked_blocks: seen.checked,
        block_bytes: Bytes::new(BLOCK_BYTES),
        kinds,
        swapped: seen.swapped(),
        regions: regions(&seen.wrong),
        share_max: if blocks == 0 { share_max(seen.drawn) } else { None },
        drawn_blocks: seen.drawn,
        ends_early: seen.ends_early,
    }
}

/// The largest share of wrong blocks with which that many would all be right once in twenty times; none without any.
fn share_max(drawn: u64) -> Option<f64> {
    if drawn == 0 { None } else { Some(1.0 - (1.0 - CONFIDENCE).powf(1.0 / drawn as f64)) }
}

fn regions(wrong: &[WrongStretch]) -> Vec<WrongRegion> {
    let mut regions: Vec<WrongRegion> = Vec::new();
    for extent in wrong {
        match regions.last_mut() {
            Some(last) if extent.first <= (last.first_byte + last.bytes).saturating_add(JOIN_GAP_BYTES) => {
                last.bytes = last.bytes.max(extent.end - last.first_byte);
                last.blocks += extent.blocks();
            }
            _ => regions.push(WrongRegion {
                first_byte: extent.first,
                bytes: extent.end - extent.first,
                blocks: extent.blocks(),
            }),
        }
    }
    regions.truncate(LISTED_MAX);
    regions
}
