//! Every finding, under the question that it answers.

use super::answer::{advice, value};
use super::evidence::Marked;
use super::markup::Markup;
use super::{ReportPage, STYLE};
use crate::chart::ChartedRun;
use crate::hostile::escaped;
use crate::style::Tone;
use crate::terminal::findings::{GROUPS, Row, confidence_sentence, rows_of, state_sentence};
use model::finding::FindingCode;
use model::run::Run;

/// The name of a finding within the page.
pub(super) fn finding_id(run: usize, finding: usize) -> String {
    format!("finding-{run}-{finding}")
}

/// The place of a finding among those of its run.
pub(super) fn index_of(run: &Run, code: FindingCode) -> usize {
    run.findings.iter().position(|finding| finding.code == code).unwrap_or(0)
}

pub(super) fn section(page: &mut Markup, content: &ReportPage<'_>, marked: &[Vec<Marked>], names: &[String]) {
    page.put(r#"<section id="findings" aria-labelledby="findings-title"><h2 id="findings-title">All findings</h2>"#);
    for (number, charted) in content.runs.iter().enumerate() {
        if let Some(letter) = charted.letter {
            page.put(format_args!("<h3>{} · {}</h3>", escaped(letter), escaped(&names[number])));
        }
        of_run(page, content, marked, number);
        if charted.letter.is_some() {
            advice(page, charted.run, "h4");
        }
    }
    page.put("</section>");
}

fn of_run(page: &mut Markup, content: &ReportPage<'_>, marked: &[Vec<Marked>], number: usize) {
    let run = content.runs[number].run;
    let heading = if content.runs.len() == 1 { "h3" } else { "h4" };
    for group in GROUPS {
        let rows = rows_of(group, run, STYLE);
        if rows.is_empty() {
            continue;
        }
        page.put(format_args!(
            r#"<{heading} class="question">{}</{heading}><ul class="findings">"#,
            group.question()
        ));
        for row in &rows {
            of_row(page, &content.runs[number], marked, number, row);
        }
        page.put("</ul>");
    }
    if run.findings.is_empty() {
        page.paragraph("faint", "Nothing was concluded from this run.");
    }
    for sentence in [state_sentence(run), confidence_sentence(&run.findings)].into_iter().flatten() {
        page.paragraph("note", &STYLE.sentence(&sentence));
    }
}

fn of_row(page: &mut Markup, charted: &ChartedRun<'_>, marked: &[Vec<Marked>], number: usize, row: &Row) {
    let class = match row.tone {
        Some(Tone::Bad) => "finding bad",
        Some(Tone::Warning) => "finding care",
        Some(Tone::Faint) => "finding open",
        _ => "finding",
    };
    let run = charted.run;
    let index = row.code.map(|code| index_of(run, code));
    let id = index.map_or(String::new(), |index| format!(r#" id="{}""#, finding_id(number, index)));
    let button = index
        .filter(|index| marked.iter().flatten().any(|one| one.finding == finding_id(number, *index)))
        .map_or(String::new(), |index| {
            format!(
                r#"<button type="button" class="show quiet" data-finding="{}" hidden>Show what it rests on<span class="sr"> of {}</span></button>"#,
                finding_id(number, index),
                escaped(&row.label)
            )
        });
    page.put(format_args!(
        r#"<li class="{class}"{id}><span class="label">{}</span><div class="amount">{}</div><div class="says"><p>{}</p>{button}</div></li>"#,
        escaped(&row.label),
        value(row),
        escaped(&row.sentence),
    ));
}
