//! Every finding, under the question that it answers.

use super::answer::{advice, value};
use super::content::{Heading, ReportPage, STYLE};
use super::evidence::{Marked, finding_id, index_of};
use crate::finding::Group;
use crate::glossary::meaning;
use crate::not_tested::not_tested;
use crate::style::Tone;
use crate::terminal::findings::{Row, confidence_sentence, rows_of, state_sentence};
use maud::{Markup, html};

use model::run::Run;

pub(super) fn section(content: &ReportPage<'_>, marked: &[Vec<Marked>], names: &[String]) -> Markup {
    html! {
        section id="findings" aria-labelledby="findings-title" {
            h2 id="findings-title" { "All findings" }
            @for (number, charted) in content.runs.iter().enumerate() {
                @if let Some(letter) = charted.letter { h3 { (letter) " · " (names[number]) } }
                (of_run(content, marked, number))
                @if charted.letter.is_some() { (advice(charted.run, Heading::Fourth)) }
            }
        }
    }
}

fn of_run(content: &ReportPage<'_>, marked: &[Vec<Marked>], number: usize) -> Markup {
    let run = content.runs[number].run;
    let heading = if content.runs.len() == 1 { Heading::Third } else { Heading::Fourth };
    html! {
        @for group in Group::ALL {
            @let rows = rows_of(group, run, STYLE);
            @if !rows.is_empty() {
                (heading.with(Some("question"), group.name()))
                ul class="findings" {
                    @for row in &rows { (of_row(run, marked, number, row)) }
                }
            }
        }
        @if run.findings.is_empty() { p class="faint" { "This run has no findings." } }
        @for sentence in [state_sentence(run), confidence_sentence(&run.findings)].into_iter().flatten() {
            p class="note" { (STYLE.sentence(&sentence)) }
        }
        @for sentence in not_tested(run) { p class="note" { (STYLE.sentence(&sentence)) } }
    }
}

fn of_row(run: &Run, marked: &[Vec<Marked>], number: usize, row: &Row) -> Markup {
    let class = match row.tone {
        Some(Tone::Bad) => "finding bad",
        Some(Tone::Warning) => "finding care",
        Some(Tone::Faint) => "finding open",
        _ => "finding",
    };
    let id = row.code.filter(|_| !row.is_part).map(|code| finding_id(number, index_of(run, code)));
    let is_marked = marked.iter().flatten().any(|one| Some(&one.finding) == id.as_ref());
    html! {
        li class=(class) id=[&id] {
            span class="label" title=[meaning(&row.label)] { (row.label) }
            div class="amount" { (value(row)) }
            div class="says" {
                p { (row.sentence) }
                @if is_marked {
                    button type="button" class="show quiet" data-finding=[&id] hidden {
                        "Show evidence" span class="sr" { " of " (row.label) }
                    }
                }
            }
        }
    }
}
