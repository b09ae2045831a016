//! What people read of a finding: its name, its group on a page, its sentence, its advice, and why it is not known. A file
//! for each conclusion; nothing else in the program makes sentences about findings.

pub(crate) mod access;
mod bad_blocks;
mod block_latency;
mod cache_influence;
mod capacity_true;
mod commit;
pub(crate) mod contradiction;
mod data_integrity;
mod datasheet_claims;
mod device_lost;
mod files;
mod geometry;
pub(crate) mod numbers;
mod rate_limit;
mod read_latency;
mod recording;
pub(crate) mod sizes;
mod span_effect;
mod subject;
pub(crate) mod survey;
mod sustained;
mod valleys;
mod wake_up;
mod write_cache;
pub(crate) mod write_cliff;

pub(crate) use subject::Subject;

use crate::quantity::{Measured, interval_with_unit, measured};
use crate::style::Tone;
use crate::units::in_decimal;
use model::estimate::Estimate;
use model::finding::{Conclusion, Finding, FindingCode, FindingDocument, Imported, Known, Outcome};
use model::run::Run;
use model::target::TargetFacts;
use model::{with_outcome, words};
use std::convert::Infallible;

words! {
    /// Findings of a page under the question that they answer. Whether a drive is sound comes first.
    pub(crate) enum Group {
        Sound = "Health and result validity",
        Speed = "Throughput",
        Commits = "Durable writes",
        Writes = "Sustained writes",
        Access = "Random access",
        Mechanics = "Mechanics",
        Files = "File system",
        Sheet = "Published values",
    }
}

/// How a conclusion is put into words. Codes that share a conclusion are told apart by `code`.
pub(crate) trait Wording: Conclusion<Unknown: Reason> {
    /// Its group on a page and its name there.
    const PLACE: (Group, &'static str);

    /// What its number counts, one and several of them; none where the label says it.
    const COUNTED: Option<(&'static str, &'static str)> = None;

    /// Its name where not all codes that share it have the same.
    fn label(_code: FindingCode) -> &'static str {
        Self::PLACE.1
    }

    fn narrower_label(_known: &Known<Self>) -> Option<&'static str> {
        None
    }

    /// One or two sentences: verdict, numbers, limits.
    fn statement(known: &Known<Self>, code: FindingCode, subject: &Subject<'_>) -> String;

    /// The sentence of the statement that answers by itself, for a verdict that has other answers, too.
    fn headline(known: &Known<Self>, code: FindingCode, subject: &Subject<'_>) -> String {
        Self::statement(known, code, subject)
    }

    fn advice(_known: &Known<Self>, _code: FindingCode, _subject: &Subject<'_>) -> Option<String> {
        None
    }

    /// The extents on the target that it names, from and to which byte.
    fn extents(known: &Known<Self>) -> Vec<(f64, f64)> {
        let places = known.conclusion.places();
        places.iter().map(|place| (place.first().as_f64(), place.end().as_f64())).collect()
    }

    fn alarm(_known: &Known<Self>, _code: FindingCode) -> Option<Tone> {
        None
    }

    /// Numbers beside its value that have a row of their own: label, number and unit.
    fn parts(_known: &Known<Self>) -> Vec<(&'static str, Estimate, &'static str)> {
        Vec::new()
    }
}

pub(crate) trait Reason {
    /// In words, with the command that would tell.
    fn why(&self, code: FindingCode, subject: &Subject<'_>) -> String;

    /// Whether it answers the question: what was looked for is not there.
    fn is_answer(&self) -> bool {
        false
    }
}

impl Reason for Infallible {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match *self {}
    }
}

/// What helps where an interval is too wide.
pub(crate) const NARROWS_INTERVALS: &str = "Measure longer, or on an idle system.";

/// Why nothing is known of completions that took no time.
const NO_TIME: &str =
    "Inconclusive: requests completed in less time than the clock resolves, as on a drive that only counts.";

/// Why nothing is known of a drive that was held back before enough was measured.
const RATE_LIMITED: &str = "Inconclusive: the rate limit took effect before enough was measured.";

/// What is said of a number that another program stated once.
fn imported_remark(imported: Option<Imported>) -> &'static str {
    match imported {
        Some(Imported { single_figure: true, .. }) => " (a single figure)",
        _ => "",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Known {
        headline: String,
        statement: String,
        advice: Option<String>,
    },
    Unknown {
        why: String,
        is_answer: bool,
    },
    /// Measured, but the interval is too wide for a value.
    TooWide {
        why: String,
        interval: String,
    },
}

pub fn text(finding: &Finding, target: &TargetFacts) -> Text {
    with_outcome!(finding, outcome => text_of(outcome, finding.code(), target))
}

fn text_of<C: Wording>(outcome: &Outcome<C>, code: FindingCode, target: &TargetFacts) -> Text {
    match outcome {
        Outcome::Known(known) => {
            let subject = Subject::new(target, &known.caveats);
            Text::Known {
                headline: C::headline(known, code, &subject),
                statement: C::statement(known, code, &subject),
                advice: C::advice(known, code, &subject),
            }
        }
        Outcome::Inconclusive(estimate) => inconclusive(estimate, code),
        Outcome::Withdrawn(by) => Text::Unknown {
            why: format!("Inconclusive: it contradicts the finding \"{}\". See Contradictions.", label(*by)),
            is_answer: false,
        },
        Outcome::Unknown(reason) => {
            Text::Unknown { why: reason.why(code, &Subject::new(target, &[])), is_answer: reason.is_answer() }
        }
    }
}

fn inconclusive(estimate: &Estimate, code: FindingCode) -> Text {
    if !(estimate.low.is_finite() && estimate.high.is_finite()) {
        let why = "Inconclusive: the interval of the value has no bounds. Measure longer.".into();
        return Text::Unknown { why, is_answer: false };
    }
    // No quantity of a finding is below zero; only the arithmetic of its interval is.
    let possible = Estimate { low: estimate.low.max(0.0), ..*estimate };
    let before = if code == FindingCode::ConcurrencyKnee { QUEUE_DEPTH } else { "" };
    let interval = format!("{before}{}", interval_with_unit(&possible, code.unit().unwrap_or_default()));
    let why = match code {
        FindingCode::ConcurrencyKnee => format!(
            "Inconclusive: the best balance of IOPS and latency may lie anywhere from {interval} (95 % confidence). \
             {NARROWS_INTERVALS}"
        ),
        FindingCode::WriteCache => {
            format!(
                "Inconclusive: the 95 % confidence interval of its size spans {interval}. {NARROWS_INTERVALS}"
            )
        }
        _ => format!("Inconclusive: the 95 % confidence interval spans {interval}. {NARROWS_INTERVALS}"),
    };
    Text::TooWide { why, interval }
}

pub fn documents(run: &Run) -> Vec<FindingDocument> {
    in_decimal(|| run.findings.iter().map(|finding| document(finding, &run.target)).collect())
}

fn document(finding: &Finding, target: &TargetFacts) -> FindingDocument {
    match text(finding, target) {
        Text::Known { statement, advice, .. } => FindingDocument::known(finding, statement, advice),
        Text::Unknown { why, .. } | Text::TooWide { why, .. } => FindingDocument::unknown(finding, why),
    }
}

pub(crate) fn place(finding: &Finding) -> (Group, &'static str) {
    with_outcome!(finding, outcome => place_of(outcome, finding.code()))
}

fn place_of<C: Wording>(outcome: &Outcome<C>, code: FindingCode) -> (Group, &'static str) {
    let narrower = outcome.as_known().and_then(C::narrower_label);
    (C::PLACE.0, narrower.unwrap_or(C::label(code)))
}

pub(crate) fn label(code: FindingCode) -> &'static str {
    model::with_conclusion!(code, C => <C as Wording>::label(code))
}

/// The number of a finding as pages show it, with the name of what it counts: "16 zones", "QD 8", "none found".
pub(crate) fn shown(code: FindingCode, estimate: &Estimate, unit: &str) -> Measured {
    if is_count_of_trouble(code) && estimate.value == 0.0 {
        return Measured { value: NONE_FOUND.into(), interval: String::new() };
    }
    if code == FindingCode::StripeLayout && estimate.value == 1.0 {
        return Measured { value: NONE_FOUND.into(), interval: String::new() };
    }
    // How many reasons there are for doubt measures nothing.
    if code == FindingCode::CacheInfluence {
        return Measured { value: "doubtful".into(), interval: String::new() };
    }
    // What is written is counted as rates are, in powers of ten; what a memory holds in powers of two.
    let shown = match (code, unit) {
        (FindingCode::WriteCliff, _) => measured(estimate, "bytes written"),
        (FindingCode::RateLimit, "1/s") => measured(estimate, "IOPS"),
        _ => measured(estimate, unit),
    };
    if shown.value.contains(' ') {
        return shown;
    }
    let value = match model::with_conclusion!(code, C => <C as Wording>::COUNTED) {
        _ if code == FindingCode::ConcurrencyKnee => format!("{QUEUE_DEPTH}{}", shown.value),
        Some((one, _)) if estimate.value == 1.0 => format!("{} {one}", shown.value),
        Some((_, several)) => format!("{} {several}", shown.value),
        None => return shown,
    };
    Measured { value, ..shown }
}

/// Stands before its number, as no unit does.
pub(crate) const QUEUE_DEPTH: &str = "QD ";

/// Zero of what is wrong: a sample does not show that there is none.
pub(crate) const NONE_FOUND: &str = "none found";

/// Codes whose number counts what is wrong, so that zero reads [`NONE_FOUND`].
fn is_count_of_trouble(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::BadBlocks
            | FindingCode::DataIntegrity
            | FindingCode::BlockLatency
            | FindingCode::CacheInfluence
            | FindingCode::SlowRegions
            | FindingCode::SuspectPoints
    )
}

/// How bad the news is; none when it is not known.
pub(crate) fn alarm(finding: &Finding) -> Option<Tone> {
    with_outcome!(finding, outcome => Wording::alarm(outcome.as_known()?, finding.code()))
}

pub(crate) fn parts(finding: &Finding) -> Vec<(&'static str, Estimate, &'static str)> {
    with_outcome!(finding, outcome => outcome.as_known().map_or(Vec::new(), Wording::parts))
}

pub(crate) fn extents(finding: &Finding) -> Vec<(f64, f64)> {
    with_outcome!(finding, outcome => outcome.as_known().map_or(Vec::new(), Wording::extents))
}

#[cfg(test)]
mod testing {
    use super::{Conclusion, FindingCode, Known, Reason, Subject, Wording};
    use model::target::{TargetFacts, TargetKind};
    use model::units::Bytes;

    pub(super) fn known<C: Conclusion>(conclusion: C) -> Known<C> {
        Known { conclusion, evidence: Vec::new(), caveats: Vec::new() }
    }

    pub(super) fn statement<C: Wording>(known: &Known<C>, code: FindingCode) -> String {
        let target = target();
        C::statement(known, code, &Subject::new(&target, &known.caveats))
    }

    pub(super) fn advice<C: Wording>(known: &Known<C>, code: FindingCode) -> Option<String> {
        let target = target();
        C::advice(known, code, &Subject::new(&target, &known.caveats))
    }

    pub(super) fn why<C: Wording>(reason: &C::Unknown, code: FindingCode) -> String {
        let target = target();
        reason.why(code, &Subject::new(&target, &[]))
    }

    pub(super) fn target() -> TargetFacts {
        TargetFacts::unidentified(TargetKind::Device, "/dev/sdx".into(), Bytes::new(500_000_000_000))
    }
}
