//! What makes valleys go away.
//! # What it finds
//! Whether a sequential fill, repeated passes or an erase left none, with which blocks and after how many passes, and whether one
//! part of the drive can be cured without another; with a table of all that was tried.
//! # Why it matters
//! It says how to bring a drive back to an even throughput, and what to do before a repeatable measurement.
//! # How
//! Passes are grouped by what was done before them, by block and by area. A group is free when its pass lasted for two gaps without valleys. A
//! cure is what was done before a group whose first pass is free; the pass in which valleys are back is told with it.
//! # Cannot tell when
//! There are no valleys, or passes are shorter than two gaps between them.
//! # Known problems
//! What was done before the run is not known. A cure may not last: smaller blocks may bring valleys back.
//! # References
//! 8thway.blogspot.com, "X25-M no sequential write no tani", 2009-06 (passes, halves, fills with large blocks).

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::valley::{EXPERIMENT, Group, Pass, Story, Verdict};
use model::finding::{
    Cure, CureArea, CureCondition, Finding, FindingCode, Narrowed, Outcome, Treatment, ValleyCure,
};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{DataPattern, Pattern};

/// A pass is free of valleys if it had none in this many gaps between them.
const GAPS_WITHOUT_MIN: f64 = 2.0;
/// Lost time relative to a group that was not treated: from here on it was not helped; up to there it was.
const AS_BAD: f64 = 0.75;
const BETTER: f64 = 0.6;
const ROWS_MAX: usize = 200;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::ValleyCure], needs: &[Need::Asked(EXPERIMENT)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let story = Story::of(run);
    if story.passes().count() < 2 {
        return Vec::new();
    }
    let Verdict::Recurring(rhythm) = story.verdict() else { return Vec::new() };
    let cases = cases(run, &story);
    let depth = story.depth_ratio();
    let (cure, returns_in_pass) = cure(&cases, GAPS_WITHOUT_MIN * rhythm.seconds.value);
    let found = ValleyCure {
        cure,
        returns_in_pass,
        area: area(&cases),
        conditions: cases.iter().take(ROWS_MAX).map(|case| case.condition(depth)).collect(),
        is_treated: cases.iter().any(|case| case.last != Last::Nothing),
        narrowed: narrowed(&cases, depth),
    };
    vec![Finding::ValleyCure(Outcome::known(found, Vec::new()))]
}

struct Case<'story> {
    group: &'story Group,
    before: Vec<Treatment>,
    last: Last,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Last {
    Nothing,
    Fill(u64),
    Erase,
}

fn cases<'story>(run: &RunView<'_>, story: &'story Story) -> Vec<Case<'story>> {
    let mut phases: &[u32] = &[];
    let mut cases = Vec::new();
    for group in &story.groups {
        if !group.conditioning.is_empty() {
            phases = &group.conditioning;
        }
        let before: Vec<&PhaseSummary> =
            phases.iter().filter_map(|&phase| run.phases.get(phase as usize)).collect();
        // Of several treatments of different parts the one that covers this group's area counts.
        let last = before.iter().rev().find(|summary| covers(summary, group));
        cases.push(Case {
            group,
            before: before.iter().copied().map(treatment).collect(),
            last: last.copied().map_or(Last::Nothing, last_treatment),
        });
    }
    cases
}

fn covers(summary: &PhaseSummary, group: &Group) -> bool {
    let (Some(workload), Some(pass)) = (&summary.phase.workload, group.passes.first()) else { return false };
    workload.range.first().get() <= pass.first_byte && workload.range.end().get() >= pass.end_byte
}

fn last_treatment(summary: &PhaseSummary) -> Last {
    let Some(workload) = &summary.phase.workload else { return Last::Nothing };
    match (summary.phase.kind, &workload.pattern) {
        (PhaseKind::Purge, _) => Last::Erase,
        (_, Pattern::Sequential) => Last::Fill(workload.block_sizes.largest().get()),
        _ => Last::Nothing,
    }
}

fn treatment(summary: &PhaseSummary) -> Treatment {
    let Some(workload) = &summary.phase.workload else { return Treatment::Other(summary.phase.name.clone()) };
    let bytes = Bytes::new(match summary.totals_of(Operation::Write) {
        Some(totals) => totals.bytes,
        None => summary.bytes(),
    });
    match (&workload.pattern, workload.mix.operations(), &workload.data) {
        (_, [Operation::Discard], _) => Treatment::Discard(bytes),
        (Pattern::Sequential, _, DataPattern::Zero) => Treatment::Zeroes(bytes),
        (Pattern::Sequential, ..) => Treatment::Sequential { bytes, block: workload.block_sizes.largest() },
        (Pattern::Mixed { .. }, ..) => Treatment::Mixed(bytes),
        _ => Treatment::Random(bytes),
    }
}

fn is_free(pass: &Pass, seconds_min: f64) -> bool {
    !pass.has_dips() && pass.seconds >= seconds_min
}

/// What left a first pass without valleys, and in which pass they are back.
fn cure(cases: &[Case<'_>], seconds_min: f64) -> (Cure, Option<usize>) {
    let mut fill: Option<(u64, _)> = None;
    let mut erase = None;
    for case in cases {
        let passes = case.group.full_rate();
        let is_first_free = matches!(passes.first(), Some(pass) if is_free(pass, seconds_min));
        let returns = passes.iter().copied().position(Pass::has_dips).map(|index| index + 1);
        match case.last {
            Last::Fill(block_bytes) if is_first_free && fill.is_none_or(|(least, _)| block_bytes < least) => {
                fill = Some((block_bytes, returns));
            }
            Last::Erase if is_first_free => erase = Some(returns),
            _ => {}
        }
    }
    if let Some((block_bytes, returns)) = fill {
        return (Cure::Fill { block_bytes }, returns);
    }
    if let Some(returns) = erase {
        return (Cure::Erase {}, returns);
    }
    (cases.iter().find_map(|case| cured_by_passes(case, seconds_min)).unwrap_or(Cure::None {}), None)
}

fn cured_by_passes(case: &Case<'_>, seconds_min: f64) -> Option<Cure> {
    let passes = case.group.full_rate();
    let freed = passes.iter().position(|pass| is_free(pass, seconds_min))?;
    if freed == 0 || passes[freed..].iter().copied().any(Pass::has_dips) {
        return None;
    }
    Some(Cure::Passes { block_bytes: passes[0].shape.block.get(), passes: freed })
}

/// The widths of valleys in the longest series of passes, if it made them narrower.
fn narrowed(cases: &[Case<'_>], depth: f64) -> Option<Narrowed> {
    let longest = cases.iter().map(|case| case.group.full_rate()).max_by_key(Vec::len)?;
    let with_dips: Vec<&Pass> = longest.iter().copied().filter(|pass| pass.has_dips()).collect();
    let (first, last) = (longest.first()?, with_dips.last()?);
    if with_dips.len() < 2 || last.lost_s() > BETTER * first.lost_s() {
        return None;
    }
    let widths_s = with_dips.iter().map(|pass| width_s(pass, depth)).collect();
    Some(Narrowed { block: first.shape.block, widths_s })
}

/// Whether passes over one part left another as bad; none when this was not tried, or nothing improved.
fn area(cases: &[Case<'_>]) -> Option<CureArea> {
    cases.windows(2).find_map(|pair| area_of(&pair[0], &pair[1]))
}

fn area_of(case: &Case<'_>, next: &Case<'_>) -> Option<CureArea> {
    let (one, other) = (case.group.full_rate(), next.group.full_rate());
    let (first, last, elsewhere) = (one.first()?, one.last()?, other.first()?);
    let is_elsewhere = elsewhere.first_byte >= first.end_byte || elsewhere.end_byte <= first.first_byte;
    // Nothing was done between them, and what was done before was done to both.
    let is_fair = next.group.conditioning.is_empty() && case.last == next.last;
    let is_better = first.has_dips() && last.lost_s() <= BETTER * first.lost_s();
    if !is_elsewhere || !is_fair || !is_better || first.shape != elsewhere.shape {
        return None;
    }
    let is_as_bad = elsewhere.lost_s() >= AS_BAD * first.lost_s();
    Some(if is_as_bad { CureArea::Written } else { CureArea::WholeDrive })
}

fn width_s(pass: &Pass, depth: f64) -> f64 {
    pass.lost_s() / (1.0 - depth.min(0.95))
}

impl Case<'_> {
    fn condition(&self, depth: f64) -> CureCondition {
        let passes = self.group.full_rate();
        let (Some(first), Some(last)) = (passes.first(), passes.last()) else {
            return CureCondition {
                after: self.before.clone(),
                block_bytes: 0,
                first_byte: 0,
                end_byte: 0,
                passes: 0,
                valleys_first: 0,
                valleys_last: 0,
                width_first_s: 0.0,
                width_last_s: 0.0,
            };
        };
        CureCondition {
            after: self.before.clone(),
            block_bytes: first.shape.block.get(),
            first_byte: first.first_byte,
            end_byte: first.end_byte,
            passes: passes.len(),
            valleys_first: first.count(),
            valleys_last: last.count(),
            width_first_s: shown_width_s(first, depth),
            width_last_s: shown_width_s(last, depth),
        }
    }
}

fn shown_width_s(pass: &Pass, depth: f64) -> f64 {
    if pass.has_dips() { width_s(pass, depth) } else { 0.0 }
}
