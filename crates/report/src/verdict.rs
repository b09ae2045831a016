//! Whether a drive is sound, and the findings that say most about it: what a page, a report and a post begin with.

use crate::finding::{Group, NONE_FOUND, Subject, Text, label, text};
use crate::style::{Style, Tone, lower};
use crate::terminal::findings::{Row, named, rows_of, sampled_share};
use crate::terminal::method::not_served;
use model::experiment_name::ExperimentName;
use model::finding::{
    BadBlocksUnknown, CommitVerdict, Finding, FindingCode, Outcome, StripeLayout, UnmappedRanges,
    VerdictUnknown, VolumeKind, known,
};
use model::run::Run;

/// Findings that say most about a drive, the first first: what is wrong with it, what kind it is, how fast it is, and what
/// limits it. Those that are bad news come before all others.
const WEIGHTY: [FindingCode; 27] = [
    FindingCode::DeviceLost,
    FindingCode::DataIntegrity,
    FindingCode::CapacityTrue,
    FindingCode::BadBlocks,
    FindingCode::SlowRegions,
    FindingCode::RateLimit,
    FindingCode::WriteCliff,
    FindingCode::WriteValleys,
    FindingCode::RecordingKind,
    FindingCode::ReadRateMean,
    FindingCode::WriteSteadyState,
    FindingCode::AccessTime,
    FindingCode::WriteRateMean,
    FindingCode::FullPassTime,
    FindingCode::InterfaceLimit,
    FindingCode::ConcurrencyKnee,
    FindingCode::StripeLayout,
    FindingCode::RotationPeriod,
    FindingCode::SeekAverage,
    FindingCode::DriveCache,
    FindingCode::ReadAhead,
    FindingCode::IdleRecovery,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ConcurrencyGain,
    FindingCode::WriteRateOuter,
    FindingCode::WriteRateInner,
];

pub(crate) fn is_weighty(row: &Row) -> bool {
    row.code.is_some_and(|code| WEIGHTY.contains(&code))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Bad,
    Care,
    Sound,
    Open,
}

pub(crate) struct Verdict {
    pub severity: Severity,
    /// A page that judges nothing has a result and no verdict.
    pub title: &'static str,
    pub headline: String,
    pub sentence: String,
}

impl Verdict {
    /// What is wrong comes before the answer to the question of the command; that nothing is wrong comes after it.
    pub(crate) fn of(run: &Run, style: Style) -> Verdict {
        let verdict = |severity, headline: &str, sentence| {
            let title = if is_judgement(severity, run) { "Verdict" } else { "Result" };
            Verdict { severity, title, headline: headline.into(), sentence }
        };
        let rows = rows_of(Group::Sound, run, style);
        let limits = limits(run, style);
        let answers = answers(run, style, &limits);
        let and_answers = |text: String| {
            let news = answers.iter().filter(|answer| !text.contains(*answer));
            [&text].into_iter().chain(news).cloned().collect::<Vec<String>>().join(" ")
        };
        let requests = without_errors(&rows);
        let bad = sentences_of(&rows, Tone::Bad);
        if !bad.is_empty() {
            // What such a drive leaves unknown stands below.
            let is_known =
                run.findings.iter().any(|finding| Some(finding.code()) == asked(run) && finding.is_known());
            return verdict(Severity::Bad, "Failed.", if is_known { and_answers(bad) } else { bad });
        }
        let failed = not_served(run);
        if !failed.is_empty() {
            let counted = format!("{}.", failed.join("; "));
            let said = why_no_bad_blocks(run, style).unwrap_or(counted);
            return verdict(Severity::Bad, "Requests failed.", and_answers(said));
        }
        let warnings = sentences_of(&rows, Tone::Warning);
        if !warnings.is_empty() {
            return verdict(Severity::Care, "Caution.", followed_by(and_answers(warnings), requests));
        }
        for row in &rows {
            if row.code == Some(FindingCode::SlowRegions) && is_known(row) && row.number != NONE_FOUND {
                let found = headline_of(FindingCode::SlowRegions, run, style);
                let found = and_answers(found.unwrap_or_default());
                return verdict(Severity::Care, "Caution.", followed_by(found, requests));
            }
        }
        let Some(requests) = requests else {
            return verdict(
                Severity::Open,
                &and_answers(String::new()),
                "Drive health was not tested.".into(),
            );
        };
        if answers.is_empty() {
            return verdict(Severity::Sound, &requests, String::new());
        }
        if !run.experiments().iter().any(|asked| tests_health(asked)) {
            return verdict(Severity::Sound, &answers.join(" "), requests);
        }
        let answers = &answers[limits.len()..];
        let headed = |headline: String| [&limits[..], &[headline]].concat().join(" ");
        if !rows.iter().any(has_no_slow_region) {
            let headline = format!("{}; not scanned for slow regions.", requests.trim_end_matches('.'));
            return verdict(Severity::Sound, &headed(headline), answers.join(" "));
        }
        let headline = match sampled_share(run) {
            Some(share) => {
                let noun = Subject::new(&run.target, &[]).noun();
                format!("No fault found in a sample of {share} of the {noun}.")
            }
            None => "No fault found.".into(),
        };
        let answers = [answers, &[requests]].concat();
        verdict(Severity::Sound, &headed(headline), answers.join(" "))
    }

    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.headline, self.sentence).trim_end().into()
    }
}

/// What requests that failed tell, where that is not which blocks are bad.
fn why_no_bad_blocks(run: &Run, style: Style) -> Option<String> {
    for finding in &run.findings {
        if let Finding::BadBlocks(Outcome::Unknown(
            BadBlocksUnknown::NotAgain { .. } | BadBlocksUnknown::OnlyInQueue { .. },
        )) = finding
            && let Text::Unknown { why, .. } = text(finding, &run.target)
        {
            return Some(named(label(FindingCode::BadBlocks), &style.sentence(&why)));
        }
    }
    None
}

/// "No I/O errors in 5,318 requests (2.77 GB read).", where none failed.
fn without_errors(rows: &[Row]) -> Option<String> {
    let nothing_failed = rows.iter().find(|row| row.code.is_none())?;
    Some(format!("No I/O errors in {}", nothing_failed.sentence))
}

fn followed_by(text: String, next: Option<String>) -> String {
    match next {
        Some(next) => format!("{text} {next}"),
        None => text,
    }
}

fn is_judgement(severity: Severity, run: &Run) -> bool {
    let asks = |asked: &&ExperimentName| tests_health(asked) || **asked == ExperimentName::Verify;
    matches!(severity, Severity::Bad | Severity::Care)
        || run.experiments().iter().any(asks)
        || known::<CommitVerdict>(&run.findings).is_some()
}

fn tests_health(experiment: &ExperimentName) -> bool {
    matches!(experiment, ExperimentName::Check | ExperimentName::Surface)
}

fn has_no_slow_region(row: &Row) -> bool {
    row.code == Some(FindingCode::SlowRegions) && row.number == NONE_FOUND
}

/// The findings that answer the question of a command, the first in full and the others in a sentence.
fn answering(experiment: &ExperimentName) -> &'static [FindingCode] {
    match experiment {
        ExperimentName::Check => {
            &[FindingCode::ReadRateMean, FindingCode::AccessTime, FindingCode::ConcurrencyGain]
        }
        ExperimentName::Surface => &[FindingCode::ReadRateMean],
        ExperimentName::Access => &[
            FindingCode::AccessTime,
            FindingCode::ConcurrencyGain,
            FindingCode::ConcurrencyKnee,
            FindingCode::StripeLayout,
        ],
        ExperimentName::Geometry => &[FindingCode::RotationPeriod, FindingCode::SeekAverage],
        ExperimentName::Sustain => &[FindingCode::WriteCliff, FindingCode::RecordingKind],
        ExperimentName::Valleys => &[FindingCode::WriteValleys, FindingCode::ValleyCure],
        ExperimentName::Sizes => &[FindingCode::SizeProfile],
        ExperimentName::Verify => &[FindingCode::CapacityTrue],
        ExperimentName::Ping => &[FindingCode::ReadLatency],
        ExperimentName::Import => {
            &[FindingCode::ReadRateMean, FindingCode::AccessTime, FindingCode::CommitLatency]
        }
        ExperimentName::Commit => {
            &[FindingCode::CommitVerdict, FindingCode::CommitLatency, FindingCode::FlushHonoured]
        }
        _ => &[],
    }
}

/// The findings that answer the question of the run's command. Of several experiments, the first of each.
fn all_answering(run: &Run) -> Vec<FindingCode> {
    match run.experiments().as_slice() {
        [one] => answering(one).to_vec(),
        several => {
            let mut codes = Vec::new();
            for experiment in several {
                if let Some(&first) = answering(experiment).first()
                    && !codes.contains(&first)
                {
                    codes.push(first);
                }
            }
            codes
        }
    }
}

/// The first of the findings that answer the question of the run's command.
fn asked(run: &Run) -> Option<FindingCode> {
    all_answering(run).first().copied()
}

fn has_no_limit(finding: &Finding) -> bool {
    matches!(finding, Finding::CommitVerdict(Outcome::Unknown(VerdictUnknown::NoLimit { .. })))
}

/// Behind the rate limits, which bound them.
fn answers(run: &Run, style: Style, limits: &[String]) -> Vec<String> {
    if let Some(first) = run.phases.first()
        && first.phase.experiment == ExperimentName::Files
    {
        return file_rates(run, style);
    }
    // The limit answers why nothing else is known, and a verdict on commits has their latency.
    let is_limited = !limits.is_empty();
    let is_judged = known::<CommitVerdict>(&run.findings).is_some();
    let mut answers = limits.to_vec();
    let mut says_while_credit_lasts = false;
    for (place_in_line, code) in all_answering(run).iter().enumerate() {
        let Some(finding) = run.findings.iter().find(|finding| finding.code() == *code) else { continue };
        if is_judged && *code == FindingCode::CommitLatency {
            continue;
        }
        match text(finding, &run.target) {
            Text::Known { statement, headline, .. } => {
                let said = if place_in_line == 0 { statement } else { headline };
                // A pass has its time with credit and without.
                let needs_credit = is_limited
                    && Finding::rate_limited(*code).is_some()
                    && *code != FindingCode::ReadRateMean;
                let when = if needs_credit && !says_while_credit_lasts { "While credit lasts: " } else { "" };
                says_while_credit_lasts |= needs_credit;
                answers.push(format!("{when}{}", style.sentence(&said)));
            }
            // "No lasting drop within 6.17 GB" is an answer by itself.
            Text::Unknown { why, is_answer: true } if place_in_line == 0 => {
                answers.push(style.sentence(&why));
            }
            // Nothing is open where a program publishes no limit.
            Text::Unknown { why, .. } if has_no_limit(finding) => answers.push(style.sentence(&why)),
            Text::Unknown { why, .. } | Text::TooWide { why, .. } if place_in_line == 0 && !is_limited => {
                answers.push(named(label(*code), &style.sentence(&why)));
            }
            Text::Unknown { .. } | Text::TooWide { .. } => {}
        }
    }
    // Whoever reads "the drive" has to know that there are several, or that part of it holds nothing.
    let has_members =
        known::<StripeLayout>(&run.findings).is_some_and(|known| known.conclusion.kind != VolumeKind::None);
    if has_members && !all_answering(run).contains(&FindingCode::StripeLayout) {
        answers.extend(headline_of(FindingCode::StripeLayout, run, style));
    }
    if known::<UnmappedRanges>(&run.findings).is_some_and(|known| !known.conclusion.ranges.is_empty()) {
        answers.extend(headline_of(FindingCode::UnmappedRanges, run, style));
    }
    answers
}

fn limits(run: &Run, style: Style) -> Vec<String> {
    let mut limits = Vec::new();
    for finding in &run.findings {
        if let (FindingCode::RateLimit, Text::Known { headline, .. }) =
            (finding.code(), text(finding, &run.target))
        {
            limits.push(style.sentence(&headline));
        }
    }
    limits
}

fn headline_of(code: FindingCode, run: &Run, style: Style) -> Option<String> {
    let finding = run.findings.iter().find(|finding| finding.code() == code)?;
    match text(finding, &run.target) {
        Text::Known { headline, .. } => Some(style.sentence(&headline)),
        Text::Unknown { .. } | Text::TooWide { .. } => None,
    }
}

/// "Sequential write 220 MB/s, sequential read 1.06 GB/s."
fn file_rates(run: &Run, style: Style) -> Vec<String> {
    let (mut rates, mut is_undecided) = (Vec::new(), false);
    for row in rows_of(Group::Files, run, style) {
        let is_asked = matches!(
            row.code,
            Some(
                FindingCode::FileWriteRate
                    | FindingCode::FileReadRate
                    | FindingCode::FileSeeks
                    | FindingCode::FileCreateRate
            )
        );
        is_undecided |= is_asked && !is_known(&row);
        if is_asked && is_known(&row) {
            let label = row.label.split(',').next().unwrap_or_default();
            let label = if rates.is_empty() { label.to_string() } else { lower(label) };
            let unit = if row.unit == "/s" { row.unit } else { format!(" {}", row.unit) };
            rates.push(format!("{label} {}{unit}", row.number));
        }
    }
    match rates.is_empty() {
        false => vec![format!("{}.", rates.join(", "))],
        true if is_undecided => {
            vec!["Inconclusive: no file system figure repeats well enough to state it.".into()]
        }
        true => Vec::new(),
    }
}

fn sentences_of(rows: &[Row], tone: Tone) -> String {
    let mut sentences = Vec::new();
    for row in rows {
        if row.tone == Some(tone) {
            sentences.push(row.sentence.as_str());
        }
    }
    sentences.join(" ")
}

fn is_known(row: &Row) -> bool {
    row.tone != Some(Tone::Faint)
}

/// What is known and says most, at most so many.
pub(crate) fn weightiest(run: &Run, style: Style, count: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for group in Group::ALL {
        rows.extend(rows_of(group, run, style));
    }
    rows.retain(|row| is_known(row) && row.code.is_some() && !row.is_part && !row.number.is_empty());
    rows.sort_by_key(importance);
    rows.truncate(count);
    rows
}

/// Bad news first, numbers of nothing last, and between them what says most about a drive.
fn importance(row: &Row) -> (bool, bool, usize) {
    let weight = WEIGHTY.iter().position(|weighty| row.code == Some(*weighty));
    (row.tone.is_none(), row.number == NONE_FOUND, weight.unwrap_or(WEIGHTY.len()))
}
