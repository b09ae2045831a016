//! What makes valleys go away.
//!
//! # What it finds
//! Whether a fill in order, repeated passes or an erase left none, with which size of blocks and after how many passes, and whether one part of the
//! drive can be cured without another; with a table of all that was tried.
//! # Why it matters
//! It says how to bring a drive back to an even rate, and what to do before a measurement that shall be repeatable.
//! # How
//! Passes are put in groups by what was done before them, by block and by area. A group is free of valleys when its pass lasted for two gaps
//! between valleys and had none. A cure is what was done before a group that is free from its first pass on, while another group
//! was not; passes are a cure when a group becomes free.
//! # Cannot tell when
//! There are no valleys, or passes are shorter than two gaps between valleys.
//! # Known problems
//! What was done before the run is not known. A cure may not last: smaller blocks may bring valleys back, which the table shows where
//! it was tried.
//! # References
//! 8thway.blogspot.com, "X25-M no sequential write no tani", 2009-06 (passes, halves, fills with large blocks).

use super::wording::{memory, short_time, size};
use super::{Detector, Need};
use crate::valley::{EXPERIMENT, Group, Pass, Story, Verdict};
use model::finding::{Conclusion, Datum, Finding, FindingCode, Outcome, Value};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::workload::{DataPattern, Pattern};

/// See the head of this file.
pub(super) struct ValleyCure;

/// A pass is free of valleys if it had none in so many gaps between them.
const GAPS_WITHOUT_MIN: f64 = 2.0;
/// A group that is at least so much as bad as one that was not treated was not helped; one that is below the other share was.
const AS_BAD: f64 = 0.75;
const BETTER: f64 = 0.6;
const ROWS_MAX: usize = 200;

impl Detector for ValleyCure {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::ValleyCure]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let story = Story::of(run);
        let is_asked = story.groups.len() > 1 || story.passes().count() > 1;
        let (Verdict::Recurring(rhythm), true) = (story.verdict(), is_asked) else { return Vec::new() };
        let cases = cases(run, &story);
        vec![found(&cases, &story, rhythm.seconds.value)]
    }
}

/// A group with what was done before it.
struct Case<'story> {
    group: &'story Group,
    /// "mixed writes of 40 GB, then 80 GB in order in blocks of 8 MiB".
    before: String,
    treatment: Treatment,
}

/// What was done last before a group.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Treatment {
    None,
    /// Written in order with blocks of so many bytes.
    Fill(u64),
    Erase,
}

fn cases<'story>(run: &RunView<'_>, story: &'story Story) -> Vec<Case<'story>> {
    let mut phases: Vec<u32> = Vec::new();
    let of = |group: &'story Group| {
        if !group.conditioning.is_empty() {
            phases.clone_from(&group.conditioning);
        }
        let before: Vec<&PhaseSummary> =
            phases.iter().filter_map(|&phase| run.phases.get(phase as usize)).collect();
        let texts: Vec<String> = before.iter().map(|summary| described(summary)).collect();
        let text = if texts.is_empty() { "nothing".to_string() } else { texts.join(", then ") };
        // Of several treatments of different parts the one that covers this group's area counts.
        let covers = |summary: &&&PhaseSummary| {
            let range = summary.phase.workload.as_ref().map(|workload| workload.range);
            let first = group.passes.first();
            range.zip(first).is_some_and(|(range, pass)| {
                range.first().0 <= pass.first_byte && range.end().0 >= pass.end_byte
            })
        };
        let treatment =
            before.iter().rev().find(covers).map_or(Treatment::None, |summary| treatment(summary));
        Case { group, before: text, treatment }
    };
    story.groups.iter().map(of).collect()
}

fn treatment(summary: &PhaseSummary) -> Treatment {
    let Some(workload) = &summary.phase.workload else { return Treatment::None };
    match (summary.phase.kind, &workload.pattern) {
        (PhaseKind::Purge, _) => Treatment::Erase,
        (_, Pattern::Sequential) => Treatment::Fill(workload.block_sizes.largest().0),
        _ => Treatment::None,
    }
}

fn described(summary: &PhaseSummary) -> String {
    let Some(workload) = &summary.phase.workload else { return summary.phase.name.clone() };
    let bytes = size(summary.totals_of(Operation::Write).map_or(summary.bytes(), |totals| totals.bytes));
    match (&workload.pattern, workload.mix.operations(), &workload.data) {
        (_, [Operation::Discard], _) => format!("{bytes} discarded"),
        (Pattern::Sequential, _, DataPattern::Zero) => format!("{bytes} of zeroes"),
        (Pattern::Sequential, ..) => {
            format!("{bytes} in order in blocks of {}", workload.block_sizes.largest())
        }
        (Pattern::Mixed { .. }, ..) => format!("{bytes} of mixed writes"),
        _ => format!("{bytes} of random writes"),
    }
}

/// What took valleys away.
enum Cure {
    Fill(u64),
    Passes { block: u64, passes: usize },
    Erase,
    None,
}

fn found(cases: &[Case<'_>], story: &Story, gap_s: f64) -> Finding {
    let is_free = |pass: &Pass| pass.count() == 0 && pass.seconds >= GAPS_WITHOUT_MIN * gap_s;
    let cure = cure(cases, is_free);
    let apart = is_local(cases);
    let (word, sentence) = match &cure {
        Cure::Fill(block) => (
            "fill",
            format!(
                "Valleys are gone after the drive is written once in order in blocks of {}.",
                memory(*block as f64)
            ),
        ),
        Cure::Erase => ("erase", "Valleys are gone after an erase.".to_string()),
        Cure::Passes { block, passes } => (
            "passes",
            format!(
                "Valleys are gone after {passes} passes in order in blocks of {}.",
                memory(*block as f64)
            ),
        ),
        Cure::None if cases.iter().all(|case| case.treatment == Treatment::None) => (
            "none",
            "Passing over it again did not take the valleys away; nothing else was tried.".to_string(),
        ),
        Cure::None => ("none", "Nothing that was tried took the valleys away.".to_string()),
    };
    let narrower = narrowed(cases, story.depth_ratio());
    let local = match apart {
        Some(true) => " It helps only where it is written: another part of the drive stayed as bad.",
        Some(false) => " Another part of the drive became better with it.",
        None => "",
    };
    let conclusion = Conclusion {
        value: Value::text(word),
        statement: format!("{sentence}{narrower}{local}"),
        evidence: Vec::new(),
        advice: None,
        data: Vec::new(),
    };
    let mut finding =
        Finding { code: FindingCode::ValleyCure, outcome: Outcome::Known(Box::new(conclusion)) };
    match cure {
        Cure::Fill(block) => finding = finding.with_data("block_bytes", Datum::Integer(block)),
        Cure::Passes { block, passes } => {
            finding = finding
                .with_data("block_bytes", Datum::Integer(block))
                .with_data("passes", Datum::Integer(passes as u64));
        }
        Cure::Erase | Cure::None => {}
    }
    if let Some(apart) = apart {
        let area = if apart { "what is written" } else { "the whole drive" };
        finding = finding.with_data("area", Datum::Text(area.into()));
    }
    let depth = story.depth_ratio();
    let rows = cases.iter().take(ROWS_MAX).map(|case| row(case, depth)).collect();
    finding.with_data("conditions", Datum::List(rows))
}

fn cure(cases: &[Case<'_>], is_free: impl Fn(&Pass) -> bool) -> Cure {
    let first_is_free = |case: &&Case<'_>| case.group.full_rate().first().is_some_and(|pass| is_free(pass));
    let of_fill = |case: &Case<'_>| match case.treatment {
        Treatment::Fill(block) => Some(block),
        _ => None,
    };
    if let Some(block) = cases.iter().filter(first_is_free).filter_map(of_fill).min() {
        return Cure::Fill(block);
    }
    if cases.iter().filter(first_is_free).any(|case| case.treatment == Treatment::Erase) {
        return Cure::Erase;
    }
    let by_passes = cases.iter().find_map(|case| {
        let passes = case.group.full_rate();
        let freed = passes.iter().position(|pass| is_free(pass)).filter(|&freed| freed > 0)?;
        let stays = passes[freed..].iter().all(|pass| pass.count() == 0);
        stays.then(|| Cure::Passes { block: passes[0].shape.block.0, passes: freed })
    });
    by_passes.unwrap_or(Cure::None)
}

/// " Each pass … made them narrower: 0.54 s, 0.36 s, …"
fn narrowed(cases: &[Case<'_>], depth: f64) -> String {
    let longest = cases.iter().map(|case| case.group.full_rate()).max_by_key(Vec::len).unwrap_or_default();
    let widths: Vec<String> =
        longest.iter().filter(|pass| pass.count() > 0).map(|pass| short_time(width_s(pass, depth))).collect();
    let (Some(first), Some(last)) = (longest.first(), longest.iter().rfind(|pass| pass.count() > 0)) else {
        return String::new();
    };
    if widths.len() < 2 || last.lost_s() > BETTER * first.lost_s() {
        return String::new();
    }
    format!(" Passes in blocks of {} make them narrower: {}.", first.shape.block, widths.join(", "))
}

/// Whether passes over one part left another as bad; none when this was not tried, or nothing became better.
fn is_local(cases: &[Case<'_>]) -> Option<bool> {
    cases.windows(2).find_map(|pair| {
        let (one, other) = (pair[0].group.full_rate(), pair[1].group.full_rate());
        let (first, last, elsewhere) = (one.first()?, one.last()?, other.first()?);
        let is_elsewhere = elsewhere.first_byte >= first.end_byte || elsewhere.end_byte <= first.first_byte;
        // Nothing was done between them, and what was done before was done to both.
        let is_fair = pair[1].group.conditioning.is_empty() && pair[0].treatment == pair[1].treatment;
        let is_better = first.count() > 0 && last.lost_s() <= BETTER * first.lost_s();
        let was_tried = is_elsewhere && is_fair && first.shape == elsewhere.shape;
        (was_tried && is_better).then(|| elsewhere.lost_s() >= AS_BAD * first.lost_s())
    })
}

fn width_s(pass: &Pass, depth: f64) -> f64 {
    pass.lost_s() / (1.0 - depth.min(0.95))
}

fn row(case: &Case<'_>, depth: f64) -> Datum {
    let passes = case.group.full_rate();
    let (first, last) = (passes.first(), passes.last());
    let count = |pass: Option<&&Pass>| Datum::Integer(pass.map_or(0, |pass| pass.count()));
    let wide = |pass: Option<&&Pass>| {
        Datum::Number(pass.filter(|pass| pass.count() > 0).map_or(0.0, |pass| width_s(pass, depth)))
    };
    Datum::record([
        ("after", Datum::Text(case.before.clone())),
        ("block_bytes", Datum::Integer(first.map_or(0, |pass| pass.shape.block.0))),
        ("first_byte", Datum::Integer(first.map_or(0, |pass| pass.first_byte))),
        ("end_byte", Datum::Integer(first.map_or(0, |pass| pass.end_byte))),
        ("passes", Datum::Integer(passes.len() as u64)),
        ("valleys_first", count(first)),
        ("valleys_last", count(last)),
        ("width_first_s", wide(first)),
        ("width_last_s", wide(last)),
    ])
}
