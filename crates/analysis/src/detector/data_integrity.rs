//! Whether a drive gives back what was written to it.
//!
//! # What it finds
//! How many blocks of 4 KiB of those that were compared held something else than what was written there; how, and where.
//! # Why it matters
//! A drive that answers with other data and without an error is worse than one that fails: nobody notices.
//! # How
//! Each sector carries its place, the run and how manyth write it is, with a checksum, and all of it is compared. So what was
//! there before (a lost write), what belongs elsewhere, what is blank and what has wrong bits are told apart. Where all blocks
//! were right, at most 1 - 0.05^(1/n) of the drive is wrong, with 95 % confidence, for n blocks drawn at random (the rule of three).
//! # Cannot tell when
//! Nothing was compared, or nothing could be read.
//! # Known problems
//! Blocks past the place where a drive really ends are not counted: `capacity-true` tells of them. Of each phase the first 10,000
//! stretches are kept; with more the number is a lower bound. What a cache still holds is not read from the medium.
//! # References
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008; Hanley and Lippman-Hand, "If nothing
//! goes wrong, is everything all right?", JAMA 249 (1983).

use super::{Detector, Need};
use crate::integrity::{
    BLOCK_BYTES, Extent, WrongKind, WrongStretch, compared, extent, not_written, union, wrong_stretches,
};
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode};
use model::record::ERROR_RECORDS_MAX;
use model::run::{PhaseSummary, RunView};
use model::units::MIB;
use model::workload::Pattern;

/// See the head of this file.
pub(super) struct DataIntegrity;

const CODE: FindingCode = FindingCode::DataIntegrity;
const JOIN_GAP_BYTES: u64 = MIB;
/// Ranges listed in a finding.
const LISTED_MAX: usize = 1000;
const CONFIDENCE: f64 = 0.95;

impl Detector for DataIntegrity {
    fn codes(&self) -> &'static [FindingCode] {
        &[CODE]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(seen) = Seen::of(run) else { return Vec::new() };
        if seen.checked == 0 {
            return vec![Finding::unknown(CODE, "Nothing that was written could be read again.")];
        }
        vec![found(&seen)]
    }
}

/// What was compared, below the place where the drive really ends.
struct Seen {
    wrong: Vec<WrongStretch>,
    /// Blocks that were compared; one that was read twice counts twice.
    checked: u64,
    /// Of them those at places drawn at random.
    drawn: u64,
    /// Whether the drive ends before it says: what is past that is not counted here.
    ends_early: bool,
    /// Whether more was wrong than was kept.
    is_cut: bool,
    evidence: Vec<Evidence>,
}

impl Seen {
    /// None when nothing was compared.
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
        for (number, summary, _) in compared(run).filter(|(_, _, mark)| mark.generation > 0) {
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
        let was_written = |stretch: &WrongStretch| {
            let next = failed.partition_point(|(first, _)| *first < stretch.end);
            !failed[..next].iter().any(|(_, end)| *end > stretch.first)
        };
        seen.wrong.retain(was_written);
        seen.wrong = union(seen.wrong);
        seen.evidence.truncate(1);
        if !of_wrong.is_empty() {
            of_wrong.truncate(10);
            seen.evidence = of_wrong;
        }
        (phases > 0).then_some(seen)
    }

    fn blocks(&self) -> u64 {
        self.wrong.iter().map(WrongStretch::blocks).sum()
    }

    /// How many blocks are wrong in each way, without those in no block.
    fn by_kind(&self) -> Vec<(WrongKind, u64)> {
        let of_kind = |kind| self.wrong.iter().filter(|w| w.kind == kind).map(WrongStretch::blocks).sum();
        WrongKind::ALL
            .into_iter()
            .map(|kind| (kind, of_kind(kind)))
            .filter(|(_, blocks)| *blocks > 0)
            .collect()
    }

    /// Blocks that hold each other's data.
    fn swapped(&self) -> u64 {
        let holds = |at: u64| {
            self.wrong.binary_search_by_key(&at, |w| w.first).ok().and_then(|i| self.wrong[i].meant_for)
        };
        let misplaced = self.wrong.iter().filter_map(|w| Some((w, w.meant_for?)));
        misplaced.filter(|(w, meant)| holds(*meant) == Some(w.first)).map(|(w, _)| w.blocks()).sum()
    }
}

/// Where the drive really ends, if it ends before it says and that was asked: `capacity-true` tells of what is past it.
fn real_end(run: &RunView<'_>) -> u64 {
    let is_asked = compared(run).any(|(_, summary, _)| summary.phase.experiment == "verify");
    match extent(run).filter(|_| is_asked) {
        Some(Extent::Wraps { real_bytes }) => real_bytes,
        Some(Extent::Ends { held_to, .. }) => held_to,
        _ => u64::MAX,
    }
}

fn below(stretch: WrongStretch, end: u64) -> Option<WrongStretch> {
    (stretch.first < end).then(|| WrongStretch { end: stretch.end.min(end), ..stretch })
}

/// How many blocks a phase compared below `end`, and whether they were drawn at random.
fn checked_below(summary: &PhaseSummary, end: u64) -> (u64, bool) {
    let Some(workload) = &summary.phase.workload else { return (0, false) };
    let block = workload.block_sizes.largest().0;
    if let Pattern::Listed { offsets } = &workload.pattern {
        let below = offsets.iter().filter(|offset| offset.0 < end).count() as u64;
        return (below * block.div_ceil(BLOCK_BYTES), true);
    }
    let bytes = (summary.bytes() + summary.errors() * block).min(workload.range.bytes().0);
    let inside = end.saturating_sub(workload.range.first().0).min(bytes);
    (inside.div_ceil(BLOCK_BYTES), false)
}

fn found(seen: &Seen) -> Finding {
    let blocks = seen.blocks();
    let count = Estimate::exact(blocks as f64);
    let count = if seen.is_cut { Estimate { high: seen.checked.max(blocks) as f64, ..count } } else { count };
    let kinds = seen.by_kind();
    let finding =
        Finding::number(CODE, count, "count", statement(seen, blocks, &kinds), seen.evidence.clone());
    let counted = kinds.iter().map(|(kind, blocks)| (kind.name(), Datum::Integer(*blocks)));
    let finding = finding
        .with_data("checked_blocks", Datum::Integer(seen.checked))
        .with_data("block_bytes", Datum::Integer(BLOCK_BYTES))
        .with_data("kinds", Datum::record(counted))
        .with_data("swapped", Datum::Integer(seen.swapped()))
        .with_data("regions", regions(&seen.wrong));
    let finding = match share_max(seen.drawn) {
        Some(share) if blocks == 0 => finding.with_data("share_max", Datum::Number(share)),
        _ => finding,
    };
    if blocks == 0 {
        return finding;
    }
    let were_all_drawn = seen.checked == seen.drawn;
    let then = match were_all_drawn {
        true => "Then write and compare all of it: verify --full.",
        false => "Then write and compare all of it once more.",
    };
    finding.with_advice(format!(
        "Keep nothing on this drive. Check memory and cable first if you can: they corrupt data too. {then}"
    ))
}

fn statement(seen: &Seen, blocks: u64, kinds: &[(WrongKind, u64)]) -> String {
    let checked = grouped(seen.checked);
    if blocks == 0 {
        let rest = share_max(seen.drawn).map(|share| {
            format!(
                " {} at most {} % of blocks are wrong, by the {} that were drawn.",
                if seen.ends_early { "There" } else { "Elsewhere" },
                percent(share),
                seen.drawn
            )
        });
        let where_compared =
            if seen.ends_early { "Before the place where the drive really ends, all" } else { "All" };
        return format!(
            "{where_compared} {checked} blocks of 4 KiB held what was written.{}",
            rest.unwrap_or_default()
        );
    }
    let at_least = if seen.is_cut { "At least " } else { "" };
    let mut each: Vec<String> =
        kinds.iter().map(|(kind, blocks)| format!("{} held {}", grouped(*blocks), kind.held())).collect();
    let swapped = seen.swapped();
    if swapped > 0 {
        each.push(format!("{} of them held each other's", grouped(swapped)));
    }
    format!(
        "{at_least}{} of {checked} blocks of 4 KiB were wrong, the first at byte {}: {}.",
        grouped(blocks),
        seen.wrong[0].first,
        each.join("; ")
    )
}

/// The largest share of wrong blocks with which that many would all be right once in twenty times; none without any.
fn share_max(drawn: u64) -> Option<f64> {
    (drawn > 0).then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / drawn as f64))
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 1.0 { format!("{percent:.1}") } else { format!("{percent:.2}") }
}

/// "16,384".
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// From where to where, in order, across short gaps.
fn regions(wrong: &[WrongStretch]) -> Datum {
    let mut regions: Vec<(u64, u64, u64)> = Vec::new();
    for stretch in wrong {
        match regions.last_mut() {
            Some((_, end, blocks)) if stretch.first <= end.saturating_add(JOIN_GAP_BYTES) => {
                *end = stretch.end.max(*end);
                *blocks += stretch.blocks();
            }
            _ => regions.push((stretch.first, stretch.end, stretch.blocks())),
        }
    }
    let listed = regions.iter().take(LISTED_MAX).map(|(first, end, blocks)| {
        Datum::record([
            ("first_byte", Datum::Integer(*first)),
            ("bytes", Datum::Integer(end - first)),
            ("blocks", Datum::Integer(*blocks)),
        ])
    });
    Datum::List(listed.collect())
}
