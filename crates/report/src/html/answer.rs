//! The answer: what was measured, whether it is sound, the findings that matter and what to do.

use super::findings::{finding_id, index_of};
use super::markup::Markup;
use super::{ReportPage, STYLE};
use crate::hostile::escaped;
use crate::quantity::target_size;
use crate::style::Tone;
use crate::terminal::findings::{GROUPS, Group, Row, advice_of, rows_of};
use crate::terminal::heading::{description, identity, notices_of, path};
use crate::terminal::method::not_served;
use crate::terminal::readable_moment;
use model::finding::FindingCode;
use model::run::Run;
use model::target::TargetKind;

/// How many findings stand in the answer.
const ANSWERS: usize = 5;

/// Findings that say most about a drive, the first first: what is wrong with it, what kind it is, how fast it is, and what
/// limits it. Those that are bad news come before all others.
const WEIGHTY: [FindingCode; 21] = [
    FindingCode::DeviceLost,
    FindingCode::DataIntegrity,
    FindingCode::CapacityTrue,
    FindingCode::BadBlocks,
    FindingCode::SlowRegions,
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
];

pub(super) fn section(page: &mut Markup, content: &ReportPage<'_>, names: &[String]) {
    page.put(r#"<section id="answer" class="answer" aria-labelledby="title">"#);
    match content.runs {
        [only] => of_one(page, only.run),
        _ => of_several(page, content, names),
    }
    page.put("</section>");
}

fn of_one(page: &mut Markup, run: &Run) {
    page.paragraph("eyebrow", &format!("Report on a run {}", moment(run)));
    let path = path(&run.target, STYLE);
    let title = run.target.model.as_deref().map(|model| STYLE.name(model)).filter(|model| !model.is_empty());
    page.put(format_args!(r#"<h1 id="title">{}</h1>"#, escaped(title.as_deref().unwrap_or(&path))));
    let mut facts = vec![description(&run.target, STYLE)];
    if title.is_some() {
        facts.push(path);
    }
    // The model is the title; what follows it is not.
    let rest = identity(&run.target, STYLE).and_then(|whole| Some(whole.split_once(", ")?.1.to_string()));
    facts.extend(rest.filter(|_| run.target.serial.is_some() || run.target.firmware.is_some()));
    page.paragraph("what", &facts.join(" · "));
    verdict(page, run);
    notices(page, run);
    tiles(page, run);
    advice(page, run, "h2");
}

/// "of 2026-11-21 20:15 UTC"; virtual drives know no day.
fn moment(run: &Run) -> String {
    match run.target.kind {
        TargetKind::Sim => "on a virtual drive".into(),
        _ => format!("of {}", readable_moment(&STYLE.name(&run.started))),
    }
}

fn of_several(page: &mut Markup, content: &ReportPage<'_>, names: &[String]) {
    page.paragraph("eyebrow", "Report");
    page.put(format_args!(r#"<h1 id="title">{} runs side by side</h1>"#, content.runs.len()));
    page.put(r#"<ol class="runs">"#);
    for (charted, name) in content.runs.iter().zip(names) {
        let run = charted.run;
        let (class, title, sentence) = judgement(run);
        page.put(format_args!(
            r#"<li><span class="letter">{}</span><div><strong>{}</strong> <span class="faint">{}</span><p class="short {class}"><b>{title}</b> {}</p></div></li>"#,
            escaped(charted.letter.unwrap_or("")),
            escaped(name),
            escaped(&format!("{}, run {}", target_size(run.target.capacity), STYLE.name(&run.id))),
            escaped(&sentence),
        ));
    }
    page.put("</ol>");
}

fn verdict(page: &mut Markup, run: &Run) {
    let (class, title, sentence) = judgement(run);
    page.put(format_args!(
        r#"<div class="verdict {class}"><strong>{title}</strong><span>{}</span></div>"#,
        escaped(&sentence)
    ));
}

/// Whether the drive is sound: a class of the style sheet, the answer and what it rests on.
fn judgement(run: &Run) -> (&'static str, &'static str, String) {
    let rows = rows_of(Group::Sound, run, STYLE);
    let worst = |tone| {
        let all: Vec<String> =
            rows.iter().filter(|row| row.tone == Some(tone)).map(|row| row.sentence.clone()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    };
    if let Some(sentence) = worst(Tone::Bad) {
        return ("bad", "Not sound.", sentence);
    }
    let failed = not_served(run);
    if !failed.is_empty() {
        return ("bad", "Requests failed.", format!("{}.", failed.join("; ")));
    }
    if let Some(sentence) = worst(Tone::Warning) {
        return ("care", "Take care.", sentence);
    }
    let slow = rows.iter().find(|row| row.code == Some(FindingCode::SlowRegions) && is_known(row));
    if let Some(slow) = slow.filter(|row| row.number != "0") {
        return ("care", "Take care.", slow.sentence.clone());
    }
    match rows.iter().find(|row| row.code.is_none()) {
        Some(nothing) => ("sound", "No failure seen.", nothing.sentence.clone()),
        None => ("open", "Not known.", "Nothing in this run tells whether the drive is sound.".into()),
    }
}

fn is_known(row: &Row) -> bool {
    row.tone != Some(Tone::Faint)
}

fn notices(page: &mut Markup, run: &Run) {
    let all = notices_of(run, STYLE);
    if all.is_empty() {
        return;
    }
    page.put(r#"<ul class="notices">"#);
    for (tone, text) in all {
        let class = if tone == Tone::Bad { "bad" } else { "care" };
        page.put(format_args!(r#"<li class="{class}">{}</li>"#, escaped(&text)));
    }
    page.put("</ul>");
}

fn tiles(page: &mut Markup, run: &Run) {
    let mut rows: Vec<Row> = GROUPS.iter().flat_map(|group| rows_of(*group, run, STYLE)).collect();
    rows.retain(|row| is_known(row) && row.code.is_some() && !row.number.is_empty());
    rows.sort_by_key(|row| {
        let weight = row.code.and_then(|code| WEIGHTY.iter().position(|weighty| *weighty == code));
        (row.tone.is_none(), row.number == "none" || row.number == "0", weight.unwrap_or(WEIGHTY.len()))
    });
    rows.truncate(ANSWERS);
    if rows.is_empty() {
        page.paragraph("faint", "Nothing was concluded from this run that could stand here.");
        return;
    }
    page.put(r#"<ul class="tiles">"#);
    for row in &rows {
        let Some(code) = row.code else { continue };
        let class = if row.tone.is_some() { "tile alarm" } else { "tile" };
        page.put(format_args!(
            r##"<li class="{class}"><a href="#{}"><span class="label">{}</span> {}</a><p>{}</p></li>"##,
            finding_id(0, index_of(run, code)),
            escaped(&row.label),
            value(row),
            escaped(&row.sentence)
        ));
    }
    page.put("</ul>");
}

/// The number with unit and interval.
pub(super) fn value(row: &Row) -> String {
    // "4 h 58 min 40 s" is one number; its first part alone would mean nothing.
    let is_composite = row.unit.contains(' ');
    let number = if is_composite { format!("{} {}", row.number, row.unit) } else { row.number.clone() };
    let mut text = format!(r#"<span class="value"><span class="number">{}</span>"#, escaped(&number));
    if !row.unit.is_empty() && !is_composite {
        text += &format!(r#" <span class="unit">{}</span>"#, escaped(&row.unit));
    }
    text += "</span>";
    if !row.interval.is_empty() {
        text += &format!(r#" <span class="interval">{}</span>"#, escaped(&row.interval));
    }
    text
}

/// What to do, under a heading of that level.
pub(super) fn advice(page: &mut Markup, run: &Run, heading: &str) {
    let all = advice_of(run);
    if all.is_empty() {
        return;
    }
    page.put(format_args!(r#"<{heading}>What to do</{heading}><ul class="advice">"#));
    for advice in all {
        page.put(format_args!("<li>{}</li>", escaped(&STYLE.sentence(advice))));
    }
    page.put("</ul>");
}
