//! The answers of a run: findings in three groups, as rows of what, value, range and sentence.

use super::method::WRITES;
use super::section::toned;
use super::stated::is_imported;
use crate::finding::numbers::listed;
use crate::finding::sizes::peak_interval;
use crate::finding::{
    Group, NARROWS_INTERVALS, NONE_FOUND, QUEUE_DEPTH, Text, alarm, label, parts, place, shown, text,
};
use crate::not_tested::not_tested;
use crate::quantity::{Measured, capacity, count, measured, rough_share};
use crate::style::{Style, Tone, columns_of, lower, pad_end, pad_start, paragraph, wrap};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, SizeProfile, TrackLayout, ValleyCure, Value, known};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run, moved};
use model::target::TargetKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefFinding {
    pub is_bad: bool,
    pub label: String,
    pub value: String,
}

pub fn brief_finding(finding: &Finding) -> Option<BriefFinding> {
    let value = finding.value()?;
    let style = Style { width: NAME_COLUMNS, colour: false, unicode: true, draws: true };
    let row = Row::default().with_value(finding, &value, style);
    let interval = if row.interval.is_empty() { String::new() } else { format!(" ({})", row.interval) };
    let value = format!("{} {}", row.number, row.unit);
    Some(BriefFinding {
        is_bad: !row.mark.trim().is_empty(),
        label: label(finding.code()).into(),
        value: format!("{}{interval}", value.trim_end()),
    })
}

const NAME_COLUMNS: usize = 120;

const UNKNOWN_MARK: &str = "?";

#[derive(Default)]
pub(crate) struct Row {
    /// What it is about; none of the row that says that nothing failed.
    pub code: Option<FindingCode>,
    mark: &'static str,
    /// How bad it is; faint when it is not known.
    pub tone: Option<Tone>,
    pub label: String,
    pub number: String,
    pub unit: String,
    pub interval: String,
    pub sentence: String,
    /// Whether it is a number beside the value of a finding, which has a row of its own.
    pub is_part: bool,
    /// The interval that is too wide for a value.
    too_wide: Option<String>,
}

/// The widest of each column, over all groups, so that they line up down the page.
#[derive(Default)]
struct Columns {
    label: usize,
    number: usize,
    unit: usize,
    interval: usize,
}

/// "Write cliff: inconclusive; …" for "Inconclusive: …".
pub(crate) fn named(label: &str, why: &str) -> String {
    for word in ["Inconclusive", "Not measured", "Not possible", "None detected"] {
        if let Some(rest) = why.strip_prefix(word).and_then(|rest| rest.strip_prefix(": ")) {
            return format!("{label}: {}; {rest}", word.to_lowercase());
        }
    }
    format!("{label}: {why}")
}

/// What is not known, and why, unless the verdict says it. Equal reasons are said once.
pub(super) fn inconclusive(run: &Run, verdict: &str, style: Style) -> Vec<String> {
    let mut reasons: Vec<(Vec<String>, String)> = Vec::new();
    let mut too_wide: Vec<(String, String, String)> = Vec::new();
    for group in Group::ALL {
        for row in rows_of(group, run, style) {
            if row.mark != UNKNOWN_MARK
                || verdict.contains(&row.sentence)
                || verdict.contains(&named(&row.label, &row.sentence))
            {
                continue;
            }
            if let Some(interval) = row.too_wide {
                too_wide.push((row.label, interval, row.sentence));
                continue;
            }
            match reasons.iter_mut().find(|(_, why)| *why == row.sentence) {
                Some((labels, _)) => labels.push(lower(&row.label)),
                None => reasons.push((vec![row.label], row.sentence)),
            }
        }
    }
    let mut lines = Vec::new();
    match too_wide.as_slice() {
        [] => {}
        [(label, _, why)] => reasons.push((vec![label.clone()], why.clone())),
        several => {
            let spans: Vec<String> =
                several.iter().map(|(label, interval, _)| format!("{label} {interval}")).collect();
            let text = format!(
                "Inconclusive, because the 95 % confidence interval is too wide: {}. {NARROWS_INTERVALS}",
                spans.join("; ")
            );
            lines.extend(toned(Tone::Faint, "  ", &text, style));
        }
    }
    for (labels, why) in reasons {
        lines.extend(toned(Tone::Faint, "  ", &named(&listed(&labels), &why), style));
    }
    for what in not_tested(run) {
        lines.extend(toned(Tone::Faint, "  ", &style.sentence(&what), style));
    }
    if !lines.is_empty() {
        lines.insert(0, style.paint(Tone::Heading, "Not measured, or inconclusive"));
    }
    lines
}

/// Rows of the findings in their groups. In brief, only of what is known, and without sentences that repeat the row or the verdict.
pub(super) fn rows(run: &Run, verdict: &str, is_full: bool, style: Style) -> Vec<String> {
    let mut grouped = Group::ALL.map(|group| (group, rows_of(group, run, style)));
    for (_, rows) in &mut grouped {
        rows.retain(|row| {
            row.code.is_some() && (is_full || row.mark != UNKNOWN_MARK && !is_detail(row, run))
        });
        for row in rows {
            if !is_full && is_said_by_its_row(row) {
                row.sentence.clear();
            } else {
                row.sentence = without_said(&row.sentence, verdict);
            }
        }
    }
    let mut columns = Columns::default();
    for row in grouped.iter().flat_map(|(_, rows)| rows) {
        columns.widen(row);
    }
    let mut lines = Vec::new();
    for (group, rows) in &grouped {
        if rows.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(style.paint(Tone::Heading, group.name()));
        for row in rows {
            lines.extend(row.lines(&columns, style));
        }
    }
    if run.findings.is_empty() && run.phases.iter().all(|phase| phase.phase.experiment != ExperimentName::Run)
    {
        lines.extend(paragraph("", "This run has no findings.", style.columns()));
    }
    // What a drive writes depends on what it went through, so that stands below figures of writes.
    if let Some(text) = state_sentence(run) {
        lines.push(String::new());
        lines.extend(paragraph("  ", &style.sentence(&text), style.columns()));
    }
    if let Some(note) = confidence_sentence(&run.findings) {
        lines.push(String::new());
        lines.extend(toned(Tone::Faint, "  ", &style.own(&note), style));
    }
    lines
}

fn without_said(text: &str, verdict: &str) -> String {
    let said = |sentence: &&str| !verdict.contains(sentence.trim_end_matches('.'));
    text.split_inclusive(". ").map(str::trim_end).filter(said).collect::<Vec<&str>>().join(" ")
}

/// The state in which writes were measured; none when nothing of writes was found.
pub(crate) fn state_sentence(run: &Run) -> Option<String> {
    if run.state_before.is_empty() || !run.findings.iter().any(depends_on_state) {
        return None;
    }
    Some(format!("Drive state before writes: {}", run.state_before.join(" ")))
}

fn depends_on_state(finding: &Finding) -> bool {
    let name = finding.code().name();
    let is_of_writes =
        name.starts_with("write-") || matches!(name, "idle-recovery" | "clipping-effect" | "valley-cure");
    is_of_writes && finding.is_known()
}

pub(crate) fn rows_of(group: Group, run: &Run, style: Style) -> Vec<Row> {
    let mut rows = Vec::new();
    for finding in &run.findings {
        let (of, label) = place(finding);
        if of == group && !super::files::is_in_the_table(finding, run) {
            rows.push(Row::new(finding, label, run, style));
            rows.extend(Row::parts(finding, style));
        }
    }
    if group == Group::Sound {
        rows.extend(nothing_failed(run));
    }
    // The row that says that nothing failed has no code, and comes first.
    rows.sort_by_key(|row| row.code);
    rows
}

/// A row for a run without a failure: detectors are silent about what is in order, but a reader asks. It says how many bytes
/// that is, since a look at a part of a drive says nothing of the rest.
fn nothing_failed(run: &Run) -> Option<Row> {
    let (mut requests, mut has_failed) = (0u64, false);
    for phase in &run.phases {
        requests = requests.saturating_add(phase.operations());
        has_failed |= phase.errors() > 0;
    }
    let is_found = run.findings.iter().any(|finding| finding.code() == FindingCode::BadBlocks);
    // What another program stated says nothing of requests that failed.
    if requests == 0 || has_failed || is_found || is_imported(run) {
        return None;
    }
    let mut transferred = Vec::new();
    for (operations, done) in [(&[Operation::Read][..], "read"), (&WRITES, "written")] {
        let bytes = moved(&run.phases, operations);
        if !bytes.is_zero() {
            transferred.push(format!("{} {done}", capacity(bytes)));
        }
    }
    let transferred =
        if transferred.is_empty() { String::new() } else { format!(" ({})", transferred.join(", ")) };
    let warm_up = match run.experiments().as_slice() {
        // The page of a ping names how many reads it is of.
        [ExperimentName::Ping] => requests.saturating_sub(measured_requests(run)),
        _ => 0,
    };
    let warm_up =
        if warm_up > 0 { format!(", {} of them for warm-up", count(warm_up)) } else { String::new() };
    let sentence = format!("{} requests{transferred}{warm_up}.", count(requests));
    Some(Row { label: "I/O errors".into(), number: "none".into(), sentence, ..Row::default() })
}

fn measured_requests(run: &Run) -> u64 {
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure);
    measured.map(PhaseSummary::operations).sum()
}

/// "0.3 %" of a drive that was not read or written as a whole. Through a file system nobody asked about the drive, or about its size.
pub(crate) fn sampled_share(run: &Run) -> Option<String> {
    let bytes = run.phases.iter().map(PhaseSummary::bytes).fold(0u64, u64::saturating_add);
    let share = bytes as f64 / run.target.capacity.as_f64();
    if share < 1.0 && run.target.kind != TargetKind::Folder { Some(rough_share(share)) } else { None }
}

impl Row {
    fn parts(finding: &Finding, style: Style) -> Vec<Row> {
        let mut rows = Vec::new();
        for (label, estimate, unit) in parts(finding) {
            let (number, unit, interval) = columns_of_number(&measured(&estimate, unit), style);
            rows.push(Row {
                code: Some(finding.code()),
                is_part: true,
                mark: " ",
                label: label.into(),
                number,
                unit,
                interval,
                ..Row::default()
            });
        }
        rows
    }

    fn new(finding: &Finding, label: &str, run: &Run, style: Style) -> Row {
        let row = Row { code: Some(finding.code()), label: label.into(), ..Row::default() };
        match (text(finding, &run.target), finding.value()) {
            (Text::Known { statement, .. }, Some(value)) => {
                let sentence = style.sentence(&statement);
                Row { sentence, ..row.with_value(finding, &value, style) }
            }
            (Text::Unknown { why, is_answer: true }, _) => {
                Row { number: NONE_FOUND.into(), sentence: style.sentence(&why), ..row }
            }
            (Text::Known { statement: why, .. } | Text::Unknown { why, .. }, _) => row.unknown(&why, style),
            (Text::TooWide { why, interval }, _) => {
                Row { too_wide: Some(style.own(&interval)), ..row.unknown(&why, style) }
            }
        }
    }

    fn unknown(self, why: &str, style: Style) -> Row {
        Row {
            mark: UNKNOWN_MARK,
            tone: Some(Tone::Faint),
            number: "unknown".into(),
            sentence: style.sentence(why),
            ..self
        }
    }

    fn with_value(self, finding: &Finding, value: &Value, style: Style) -> Row {
        let code = finding.code();
        let tone = alarm(finding);
        let row = Row { mark: if tone.is_some() { "!" } else { " " }, tone, ..self };
        let (number, unit, interval) = match value {
            Value::Number(estimate) => {
                let unit = finding.unit().unwrap_or_default();
                let shown = shown(code, estimate, &style.name(&unit));
                columns_of_number(&shown, style)
            }
            // A kind of recording is an abbreviation.
            Value::Word(kind) if matches!(kind.as_ref(), "cmr" | "smr") => {
                (kind.to_uppercase(), String::new(), String::new())
            }
            Value::Word(word) => (style.name(word_shown(code, word)), String::new(), String::new()),
        };
        Row { number, unit, interval, ..row }
    }

    fn lines(&self, columns: &Columns, style: Style) -> Vec<String> {
        let value = if self.unit.is_empty() && self.interval.is_empty() {
            // A word stands where the numbers end, and may run on into the other columns.
            pad_end(
                &pad_start(&self.number, columns.number),
                columns.number + columns.unit + columns.interval + 3,
            )
        } else {
            format!(
                "{} {}  {}",
                pad_start(&self.number, columns.number),
                pad_end(&self.unit, columns.unit),
                pad_end(&self.interval, columns.interval)
            )
        };
        let row = format!("{} {}  {value}", pad_end(self.mark, 1), pad_end(&self.label, columns.label));
        let beside = columns_of(&row) + 2;
        if style.columns() >= beside + SENTENCE_COLUMNS_MIN {
            self.with_sentence_beside(&row, style.columns() - beside, style)
        } else {
            self.with_sentence_below(&row, style)
        }
    }

    fn with_sentence_beside(&self, row: &str, columns: usize, style: Style) -> Vec<String> {
        let blank = " ".repeat(columns_of(row));
        let sentence = wrap(&self.sentence, columns);
        let mut lines = Vec::new();
        for (index, text) in sentence.iter().enumerate() {
            let head = if index == 0 { &self.painted(row, style) } else { &blank };
            lines.push(format!("{head}  {text}").trim_end().to_string());
        }
        lines
    }

    fn with_sentence_below(&self, row: &str, style: Style) -> Vec<String> {
        let mut lines = vec![self.painted(row.trim_end(), style)];
        if !self.sentence.is_empty() {
            lines.extend(paragraph("      ", &self.sentence, style.columns()));
        }
        lines
    }

    fn painted(&self, row: &str, style: Style) -> String {
        match self.tone {
            Some(tone) => style.paint(tone, row),
            None => row.into(),
        }
    }
}

/// Number, unit and interval; what is no number with a unit stands in the first of them.
fn columns_of_number(shown: &Measured, style: Style) -> (String, String, String) {
    let (number, unit) = match shown.value.split_once(' ') {
        Some(parts) if !shown.value.starts_with(QUEUE_DEPTH) && shown.value != NONE_FOUND => parts,
        _ => (shown.value.as_str(), ""),
    };
    (style.own(number), style.own(unit), style.own(&shown.interval))
}

/// Words of documents that say too much or too little beside a label.
fn word_shown(code: FindingCode, word: &str) -> &str {
    match (code, word) {
        // Only a power cut shows what becomes of a flush.
        (FindingCode::FlushHonoured, "honoured") => "honoured (inferred)",
        (FindingCode::FlushHonoured, "ignored") => "ignored (inferred)",
        (FindingCode::FlushHonoured, "protected") => "cache protected (reported)",
        (FindingCode::CommitMethod, "alike") => "no difference",
        (FindingCode::ValleyCure, "none") => NONE_FOUND,
        (FindingCode::ValleyCure, "fill") => "sequential fill",
        _ => word,
    }
}

/// Whether the sentence says no more than label, value and interval.
fn is_said_by_its_row(row: &Row) -> bool {
    let Some(code) = row.code else { return false };
    let is_single = row.sentence.matches(". ").count() == 0;
    let is_file_rate = code.name().starts_with("file-") && code.unit() != Some("count");
    // The parts of an access time stand in brackets.
    let is_bare = code == FindingCode::AccessTime && !row.sentence.contains('(');
    is_bare
        || is_file_rate && code != FindingCode::FilePlaceEffect
        || is_single && SAID_BY_ROWS.contains(&code)
        || is_single && code == FindingCode::SlowRegions && row.number == NONE_FOUND
}

/// Whether its number is that of another row, or it is a table, which stands below or in files.
fn is_detail(row: &Row, run: &Run) -> bool {
    match row.code {
        Some(FindingCode::ZoneTable | FindingCode::SizeProfile) => true,
        // Where no remedy was tried there is nothing to tell of one.
        Some(FindingCode::ValleyCure) => {
            known::<ValleyCure>(&run.findings).is_some_and(|known| !known.conclusion.is_treated)
        }
        // Sectors per track tell more zones apart than throughput does.
        Some(FindingCode::ZoneCount) => known::<TrackLayout>(&run.findings).is_some(),
        _ => false,
    }
}

const SAID_BY_ROWS: [FindingCode; 13] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::WriteRateOuter,
    FindingCode::WriteRateInner,
    FindingCode::WriteRateMean,
    FindingCode::ZoneRatio,
    FindingCode::FullPassTime,
    FindingCode::ReadAhead,
    FindingCode::RotationPeriod,
    FindingCode::SeekTrackToTrack,
    FindingCode::SeekAverage,
    FindingCode::SeekFullStroke,
];

/// A sentence beside the table needs this much room to read well; with less it goes below.
const SENTENCE_COLUMNS_MIN: usize = 40;

impl Columns {
    fn widen(&mut self, row: &Row) {
        self.label = self.label.max(columns_of(&row.label));
        self.number = self.number.max(columns_of(&row.number));
        self.unit = self.unit.max(columns_of(&row.unit));
        self.interval = self.interval.max(columns_of(&row.interval));
    }
}

/// What the ranges of the table mean; none when there are none.
pub(crate) fn confidence_sentence(findings: &[Finding]) -> Option<String> {
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    let beside = findings.iter().flat_map(parts).map(|(_, estimate, _)| estimate);
    for estimate in findings.iter().filter_map(Finding::estimate).chain(beside) {
        let Estimate { low, high, confidence, .. } = estimate;
        if low != high && low.is_finite() && high.is_finite() && (confidence * 100.0).is_finite() {
            lowest = lowest.min(confidence * 100.0);
            highest = highest.max(confidence * 100.0);
        }
    }
    // The peaks of rates by size have intervals, too.
    let has_peaks =
        |sizes: &SizeProfile| sizes.saturation.iter().any(|peak| peak_interval(peak, sizes).is_some());
    if known::<SizeProfile>(findings).is_some_and(|sizes| has_peaks(&sizes.conclusion)) {
        (lowest, highest) = (lowest.min(95.0), highest.max(95.0));
    }
    let confidence = if lowest > highest {
        return None;
    } else if lowest == highest {
        format!("{} %", percent_text(lowest))
    } else {
        format!("{} % to {} %", percent_text(lowest), percent_text(highest))
    };
    Some(format!("Ranges and ± are {confidence} confidence intervals."))
}

/// One decimal where it matters: 99.9 % is not 100 %.
fn percent_text(percent: f64) -> String {
    format!("{percent:.1}").trim_end_matches(".0").to_string()
}

pub(super) fn advice(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for advice in advice_of(run) {
        lines.extend(paragraph("  - ", &style.sentence(&advice), style.columns()));
    }
    if !lines.is_empty() {
        lines.insert(0, style.paint(Tone::Heading, "Recommendations"));
    }
    lines
}

pub(super) fn has_failed(run: &Run) -> bool {
    run.findings.iter().any(is_failure)
}

fn is_failure(finding: &Finding) -> bool {
    let is_of_data = matches!(
        finding.code(),
        FindingCode::DeviceLost
            | FindingCode::DataIntegrity
            | FindingCode::CapacityTrue
            | FindingCode::BadBlocks
    );
    is_of_data && alarm(finding) == Some(Tone::Bad)
}

pub(crate) fn advice_of(run: &Run) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut findings: Vec<&Finding> = run.findings.iter().collect();
    // Of a drive that failed, nothing matters but what is on it.
    if has_failed(run) {
        findings.retain(|finding| is_failure(finding));
    }
    findings.sort_by_key(|finding: &&Finding| finding.code());
    for finding in findings {
        if let Text::Known { advice: Some(advice), .. } = text(finding, &run.target)
            && !all.contains(&advice)
        {
            all.push(advice);
        }
    }
    all
}
