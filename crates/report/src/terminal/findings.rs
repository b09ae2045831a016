//! The answers of a run: findings in three groups, as rows of what, value, range and sentence.

use super::is_imported;
use crate::quantity::{capacity, count, measured};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, paragraph, wrap};
use model::estimate::Estimate;
use model::finding::{Conclusion, Datum, Finding, FindingCode, Outcome, Value};
use model::run::Run;
use model::target::TargetKind;
use model::units::Bytes;

/// The questions that a page answers, in this order. Whether a drive is sound comes first: the speed of a drive
/// that loses data is of no interest.
pub(crate) const GROUPS: [Group; 6] =
    [Group::Sound, Group::Speed, Group::Writes, Group::Access, Group::Files, Group::Other];

/// A question that findings answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Sound,
    Speed,
    Writes,
    Access,
    Files,
    Other,
}

impl Group {
    pub(crate) fn question(self) -> &'static str {
        match self {
            Group::Sound => "Is it sound, and can the numbers be trusted?",
            Group::Speed => "How fast does it move data?",
            Group::Writes => "How does it take writes that go on?",
            Group::Access => "How fast does it reach data?",
            Group::Files => "How fast is the file system?",
            Group::Other => "What else was found?",
        }
    }
}

/// The group of a code and its name on a page. Codes without a line here show up in the last group, by their code.
fn group_and_label(code: FindingCode) -> (Group, String) {
    let (group, label) = match code.name() {
        "bad-blocks" => (Group::Sound, "Bad blocks"),
        "block-latency" => (Group::Sound, "Late answers"),
        "capacity-true" => (Group::Sound, "Real capacity"),
        "data-integrity" => (Group::Sound, "Wrong blocks"),
        "device-lost" => (Group::Sound, "Device lost after"),
        "cache-influence" => (Group::Sound, "Signs of a cache"),
        "read-rate-outer" => (Group::Speed, "Read rate, start"),
        "read-rate-inner" => (Group::Speed, "Read rate, end"),
        "read-rate-mean" => (Group::Speed, "Read rate, mean"),
        "write-rate-outer" => (Group::Speed, "Write rate, start"),
        "write-rate-inner" => (Group::Speed, "Write rate, end"),
        "write-rate-mean" => (Group::Speed, "Write rate, mean"),
        "full-pass-time" => (Group::Speed, "Full pass"),
        "zone-ratio" => (Group::Speed, "Start against end"),
        "zone-count" => (Group::Speed, "Zones"),
        "zone-table" => (Group::Speed, "Zones in a table"),
        "interface-limit" => (Group::Speed, "Limit of the link"),
        "slow-regions" => (Group::Sound, "Slow regions"),
        "recording-kind" => (Group::Writes, "Recording"),
        "band-size" => (Group::Writes, "Bands of"),
        "write-cliff" => (Group::Writes, "Rate falls after"),
        "write-steady-state" => (Group::Writes, "Lasting rate"),
        "idle-recovery" => (Group::Writes, "Won by a rest"),
        "clipping-effect" => (Group::Writes, "Gain of a part"),
        "write-valleys" => (Group::Writes, "Valleys in a pass"),
        "valley-cure" => (Group::Writes, "Cure of valleys"),
        "size-profile" => (Group::Speed, "Sizes measured"),
        "suspect-points" => (Group::Sound, "Sizes spoilt"),
        "unmapped-ranges" => (Group::Other, "Ranges not in use"),
        "datasheet-claims" => (Group::Speed, "Figures stated"),
        "access-time" => (Group::Access, "Access time"),
        "latency-modes" => (Group::Access, "Kinds of answers"),
        "concurrency-gain" => (Group::Access, "Parallel gain"),
        "concurrency-knee" => (Group::Access, "Best parallelism"),
        "span-effect" => (Group::Access, "Gain of 1 % span"),
        "drive-cache" => (Group::Access, "Drive's cache"),
        "read-ahead" => (Group::Access, "Read-ahead"),
        "stripe-layout" => (Group::Access, "Drives"),
        "rotation-period" => (Group::Access, "Turn of platters"),
        "seek-track-to-track" => (Group::Access, "Seek, next track"),
        "seek-average" => (Group::Access, "Seek, average"),
        "seek-full-stroke" => (Group::Access, "Seek, full stroke"),
        "track-layout" => (Group::Access, "Track zones"),
        "file-write-rate" => (Group::Files, "Write, blocks"),
        "file-rewrite-rate" => (Group::Files, "Rewrite"),
        "file-read-rate" => (Group::Files, "Read, blocks"),
        "file-per-byte-write-rate" => (Group::Files, "Write, byte by byte"),
        "file-per-byte-read-rate" => (Group::Files, "Read, byte by byte"),
        "file-seeks" => (Group::Files, "Random seeks"),
        "file-create-rate" => (Group::Files, "Create, in order"),
        "file-stat-rate" => (Group::Files, "Look at, in order"),
        "file-open-rate" => (Group::Files, "Open and read, in order"),
        "file-delete-rate" => (Group::Files, "Delete, in order"),
        "file-random-create-rate" => (Group::Files, "Create, random"),
        "file-random-stat-rate" => (Group::Files, "Look at, random"),
        "file-random-open-rate" => (Group::Files, "Open and read, random"),
        "file-random-delete-rate" => (Group::Files, "Delete, random"),
        "file-layout" => (Group::Files, "Pieces of the file"),
        "file-place-effect" => (Group::Files, "Fastest to slowest"),
        name => return (Group::Other, name.replace('-', " ")),
    };
    (group, label.into())
}

/// The name of a code on a page.
pub(crate) fn label(code: FindingCode) -> String {
    group_and_label(code).1
}

/// A finding in a line: for a screen on which findings firm up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefFinding {
    /// Whether it is bad news.
    pub is_bad: bool,
    /// Its name on a page: "Read rate, start".
    pub label: String,
    /// Its value and interval: "211 MB/s (208 to 214)".
    pub value: String,
}

/// The finding in a line; none when it is not known.
pub fn brief_finding(finding: &Finding) -> Option<BriefFinding> {
    let Outcome::Known(conclusion) = &finding.outcome else { return None };
    let style = Style { width: NAME_COLUMNS, colour: false, unicode: true };
    let row = Row::default().with_value(finding.code, conclusion, style);
    let interval = if row.interval.is_empty() { String::new() } else { format!(" ({})", row.interval) };
    let value = format!("{} {}", row.number, row.unit);
    Some(BriefFinding {
        is_bad: !row.mark.trim().is_empty(),
        label: label(finding.code),
        value: format!("{}{interval}", value.trim_end()),
    })
}

/// Of a line that is cut where it is shown.
const NAME_COLUMNS: usize = 120;

/// One finding, ready to be laid out.
#[derive(Default)]
pub(crate) struct Row {
    /// What it is about; none of the row that says that nothing failed.
    pub code: Option<FindingCode>,
    mark: &'static str,
    /// How bad it is; faint when it is not known.
    pub tone: Option<Tone>,
    /// Its name.
    pub label: String,
    /// "211", right-aligned.
    pub number: String,
    /// "MB/s", left-aligned.
    pub unit: String,
    /// "208 to 214".
    pub interval: String,
    /// What it means.
    pub sentence: String,
}

/// The widest of each column, over all groups, so that they line up down the page.
struct Columns {
    label: usize,
    number: usize,
    unit: usize,
    interval: usize,
}

/// All findings, by group.
pub(super) fn answers(run: &Run, style: Style) -> Vec<String> {
    let grouped = GROUPS.map(|group| (group, rows_of(group, run, style)));
    let columns = Columns::of(grouped.iter().flat_map(|(_, rows)| rows));
    let mut lines = Vec::new();
    for (group, rows) in grouped.iter().filter(|(_, rows)| !rows.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(style.paint(Tone::Heading, group.question()));
        for row in rows {
            lines.extend(row.lines(&columns, style));
        }
    }
    if run.findings.is_empty() {
        lines.extend(paragraph("", "Nothing was concluded from this run.", style.columns()));
    }
    lines.extend(state_note(run, style));
    lines.extend(confidence_note(&run.findings, style));
    lines
}

/// What a drive writes depends on what it went through, so that stands below figures of writes.
fn state_note(run: &Run, style: Style) -> Vec<String> {
    let Some(text) = state_sentence(run) else { return Vec::new() };
    let mut lines = vec![String::new()];
    lines.extend(paragraph("  ", &style.sentence(&text), style.columns()));
    lines
}

/// The same as a sentence; none when nothing of writes was found.
pub(crate) fn state_sentence(run: &Run) -> Option<String> {
    let depends = |finding: &Finding| {
        let name = finding.code.name();
        let is_of_writes =
            name.starts_with("write-") || matches!(name, "idle-recovery" | "clipping-effect" | "valley-cure");
        is_of_writes && matches!(finding.outcome, Outcome::Known(_))
    };
    if run.state_before.is_empty() || !run.findings.iter().any(depends) {
        return None;
    }
    Some(format!(
        "What was measured of writes holds for the state that the drive was in. {}",
        run.state_before.join(" ")
    ))
}

/// The findings of a group, in the order of their codes.
pub(crate) fn rows_of(group: Group, run: &Run, style: Style) -> Vec<Row> {
    let mut of_group: Vec<(FindingCode, Row)> = run
        .findings
        .iter()
        .filter(|finding| !super::files::is_in_the_table(finding, run))
        .filter_map(|finding| {
            let (of, label) = group_and_label(finding.code);
            (of == group).then(|| (finding.code, Row::new(finding, label, run, style)))
        })
        .collect();
    of_group.sort_by_key(|(code, _)| *code);
    let nothing_failed = (group == Group::Sound).then(|| nothing_failed(run)).flatten();
    nothing_failed.into_iter().chain(of_group.into_iter().map(|(_, row)| row)).collect()
}

/// A row for a run without a failure: detectors are silent about what is in order, but a reader asks. It says how
/// much that covers, since a look at a part of a drive says nothing of the rest.
fn nothing_failed(run: &Run) -> Option<Row> {
    let requests = run.phases.iter().fold(0u64, |sum, phase| sum.saturating_add(phase.operations()));
    let bytes = run.phases.iter().fold(0u64, |sum, phase| sum.saturating_add(phase.bytes()));
    let has_failed = run.phases.iter().any(|phase| phase.errors() > 0);
    let is_found = run.findings.iter().any(|finding| finding.code == FindingCode::BadBlocks);
    // What another program stated says nothing of requests that failed.
    if requests == 0 || has_failed || is_found || is_imported(run) {
        return None;
    }
    let mut sentence = format!("All {} requests were answered.", count(requests));
    // Through a file system nobody asked about the drive, or about its size.
    if Bytes(bytes) < run.target.capacity && run.target.kind != TargetKind::Folder {
        sentence += &format!(
            " They moved {} on a target of {}, and say nothing of the rest of it.",
            capacity(Bytes(bytes)),
            capacity(run.target.capacity)
        );
    }
    Some(Row { label: "Failed requests".into(), number: "none".into(), sentence, ..Row::default() })
}

impl Row {
    fn new(finding: &Finding, label: String, run: &Run, style: Style) -> Row {
        let row = Row { code: Some(finding.code), label, ..Row::default() };
        match &finding.outcome {
            Outcome::Unknown { why } => Row {
                mark: "?",
                tone: Some(Tone::Faint),
                number: "unknown".into(),
                sentence: style.sentence(why),
                ..row
            },
            Outcome::Known(conclusion) => {
                let statement = without_notices(&conclusion.statement, run);
                Row {
                    sentence: style.sentence(&statement),
                    ..row.with_value(finding.code, conclusion, style)
                }
            }
        }
    }

    fn with_value(self, code: FindingCode, conclusion: &Conclusion, style: Style) -> Row {
        let (number, unit, interval) = match &conclusion.value {
            Value::Number { estimate, .. } if is_count_of_trouble(code) && estimate.value == 0.0 => {
                ("none".into(), String::new(), String::new())
            }
            // How many reasons there are for doubt measures nothing.
            Value::Number { .. } if code == FindingCode::CacheInfluence => {
                ("yes".into(), String::new(), String::new())
            }
            Value::Number { estimate, unit } => {
                // What is written is counted as rates are, in powers of ten; what a memory holds in powers of two.
                let unit = if code == FindingCode::WriteCliff { "bytes written" } else { unit.as_ref() };
                let shown = measured(estimate, &style.name(unit));
                let (number, unit) = shown.value.split_once(' ').unwrap_or((&shown.value, ""));
                let unit = if unit == "depth" { "at once" } else { unit };
                (style.own(number), style.own(unit), style.own(&shown.interval))
            }
            Value::Text(kind) => (style.name(kind), String::new(), String::new()),
        };
        let (mark, tone) = alarm(code, conclusion);
        Row { mark, tone, number, unit, interval, ..self }
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
        let lines = sentence.iter().enumerate().map(|(index, text)| {
            let head = if index == 0 { self.painted(row, style) } else { blank.clone() };
            format!("{head}  {text}").trim_end().to_string()
        });
        lines.collect()
    }

    fn with_sentence_below(&self, row: &str, style: Style) -> Vec<String> {
        let mut lines = vec![self.painted(row.trim_end(), style)];
        if !self.sentence.is_empty() {
            lines.extend(paragraph("      ", &self.sentence, style.columns()));
        }
        lines
    }

    fn painted(&self, row: &str, style: Style) -> String {
        self.tone.map_or(row.into(), |tone| style.paint(tone, row))
    }
}

/// The statement without the sentences that the head of the page has said already.
fn without_notices(statement: &str, run: &Run) -> String {
    run.target.caveats.iter().fold(statement.to_string(), |text, caveat| text.replace(caveat.statement(), ""))
}

/// A sentence beside the table needs this much room to read well; with less it goes below.
const SENTENCE_COLUMNS_MIN: usize = 40;

impl Columns {
    fn of<'rows>(rows: impl Iterator<Item = &'rows Row>) -> Columns {
        let mut columns = Columns { label: 0, number: 0, unit: 0, interval: 0 };
        for row in rows {
            columns.label = columns.label.max(columns_of(&row.label));
            columns.number = columns.number.max(columns_of(&row.number));
            columns.unit = columns.unit.max(columns_of(&row.unit));
            columns.interval = columns.interval.max(columns_of(&row.interval));
        }
        columns
    }
}

/// Codes whose number counts what is wrong, so that zero reads "none".
fn is_count_of_trouble(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::BadBlocks
            | FindingCode::DataIntegrity
            | FindingCode::BlockLatency
            | FindingCode::CacheInfluence
    )
}

/// Whether a drive holds as much as it claims.
fn holds_all(conclusion: &Conclusion) -> bool {
    conclusion.data.contains(&("past_the_end".into(), Datum::Text("all".into())))
}

/// The mark and colour of a finding that is bad news.
fn alarm(code: FindingCode, conclusion: &Conclusion) -> (&'static str, Option<Tone>) {
    let is_zero = matches!(&conclusion.value, Value::Number { estimate, .. } if estimate.value == 0.0);
    match code {
        FindingCode::DeviceLost => ("!", Some(Tone::Bad)),
        FindingCode::CapacityTrue if !holds_all(conclusion) => ("!", Some(Tone::Bad)),
        FindingCode::BadBlocks | FindingCode::DataIntegrity if !is_zero => ("!", Some(Tone::Bad)),
        FindingCode::BlockLatency | FindingCode::CacheInfluence if !is_zero => ("!", Some(Tone::Warning)),
        _ => (" ", None),
    }
}

/// What the ranges of the table mean; nothing when there are none.
fn confidence_note(findings: &[Finding], style: Style) -> Vec<String> {
    let Some(note) = confidence_sentence(findings) else { return Vec::new() };
    let lines = paragraph("  ", &note, style.columns());
    std::iter::once(String::new()).chain(lines.iter().map(|line| style.paint(Tone::Faint, line))).collect()
}

/// The same as a sentence.
pub(crate) fn confidence_sentence(findings: &[Finding]) -> Option<String> {
    let has_range = |e: &&Estimate| e.low != e.high && (e.low.is_finite() || e.high.is_finite());
    let uncertain = findings.iter().filter_map(Finding::estimate).filter(has_range);
    let confidences: Vec<f64> = uncertain.map(|e| e.confidence * 100.0).filter(|c| c.is_finite()).collect();
    let lowest = confidences.iter().copied().reduce(f64::min)?;
    let highest = confidences.iter().copied().fold(lowest, f64::max);
    let confidence = if lowest == highest {
        format!("{} %", percent_text(lowest))
    } else {
        format!("{} % to {} %", percent_text(lowest), percent_text(highest))
    };
    Some(format!("A range holds the true value with {confidence} confidence."))
}

/// One decimal where it matters: 99.9 % is not 100 %.
fn percent_text(percent: f64) -> String {
    format!("{percent:.1}").trim_end_matches(".0").to_string()
}

/// What to do, each advice once, in the order of the findings.
pub(super) fn advice(run: &Run, style: Style) -> Vec<String> {
    let all = advice_of(run);
    if all.is_empty() {
        return Vec::new();
    }
    let heading = style.paint(Tone::Heading, "What to do");
    let items = all.iter().flat_map(|advice| paragraph("  - ", &style.sentence(advice), style.columns()));
    std::iter::once(heading).chain(items).collect()
}

/// Each advice once, in the order of the findings.
pub(crate) fn advice_of(run: &Run) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    let mut findings: Vec<&Finding> = run.findings.iter().collect();
    findings.sort_by_key(|finding| finding.code);
    for finding in findings {
        if let Outcome::Known(conclusion) = &finding.outcome
            && let Some(advice) = conclusion.advice.as_deref()
            && !all.contains(&advice)
        {
            all.push(advice);
        }
    }
    all
}
