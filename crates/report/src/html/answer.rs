//! The answer: what was measured, whether it is sound, the findings that matter and what to do.

use super::content::{Heading, ReportPage, STYLE};
use super::evidence::{finding_id, index_of};
use crate::quantity::readable_moment;
use crate::quantity::target_size;
use crate::style::Tone;
use crate::terminal::findings::{Row, advice_of};
use crate::terminal::heading::{description, identity, notices_of, path};
use crate::verdict::{Severity, Verdict, weightiest};
use maud::{Markup, html};
use model::run::Run;
use model::target::TargetKind;

const TILES: usize = 5;

pub(super) fn section(content: &ReportPage<'_>, names: &[String]) -> Markup {
    html! {
        section id="answer" class="answer" aria-labelledby="title" {
            @match content.runs {
                [only] => { (of_one(only.run)) },
                _ => { (of_several(content, names)) },
            }
        }
    }
}

fn of_one(run: &Run) -> Markup {
    let target = &run.target;
    let path = path(target, STYLE);
    let mut facts = vec![description(target, STYLE)];
    let mut title = STYLE.name(target.model.as_deref().unwrap_or_default());
    if title.is_empty() {
        title = path;
    } else {
        facts.push(path);
    }
    // The model is the title; what follows it is not.
    if let Some(whole) = identity(target, STYLE)
        && let Some((_, rest)) = whole.split_once(", ")
        && (target.serial.is_some() || target.firmware.is_some())
    {
        facts.push(rest.to_string());
    }
    html! {
        p class="eyebrow" { "Report on a run " (moment(run)) }
        h1 id="title" { (title) }
        p class="what" { (facts.join(" · ")) }
        (verdict(run))
        (notices(run))
        (tiles(run))
        (advice(run, Heading::Second))
    }
}

fn moment(run: &Run) -> String {
    match run.target.kind {
        TargetKind::Sim => "on a virtual drive".into(),
        _ => format!("of {}", readable_moment(&STYLE.name(&run.started))),
    }
}

fn of_several(content: &ReportPage<'_>, names: &[String]) -> Markup {
    html! {
        p class="eyebrow" { "Report" }
        h1 id="title" { (content.runs.len()) " runs side by side" }
        ol class="runs" {
            @for (charted, name) in content.runs.iter().zip(names) {
                @let run = charted.run;
                @let Verdict { severity, headline, sentence, .. } = Verdict::of(run, STYLE);
                li {
                    span class="letter" { (charted.letter.unwrap_or("")) }
                    div {
                        strong { (name) } " "
                        span class="faint" { (target_size(run.target.capacity)) ", run " (STYLE.name(&run.id)) }
                        p class={"short " (class(severity))} { b { (headline) } " " (sentence) }
                    }
                }
            }
        }
    }
}

fn verdict(run: &Run) -> Markup {
    let Verdict { severity, headline, sentence, .. } = Verdict::of(run, STYLE);
    html! { div class={"verdict " (class(severity))} { strong { (headline) } span { (sentence) } } }
}

fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Bad => "bad",
        Severity::Care => "care",
        Severity::Sound => "sound",
        Severity::Open => "open",
    }
}

fn notices(run: &Run) -> Markup {
    let all = notices_of(run, STYLE);
    html! {
        @if !all.is_empty() {
            ul class="notices" {
                @for (tone, text) in all {
                    li class=(if tone == Tone::Bad { "bad" } else { "care" }) { (text) }
                }
            }
        }
    }
}

fn tiles(run: &Run) -> Markup {
    let rows = weightiest(run, STYLE, TILES);
    html! {
        @if rows.is_empty() {
            p class="faint" { "This run has no finding for this table." }
        } @else {
            ul class="tiles" {
                @for row in &rows {
                    @if let Some(code) = row.code {
                        li class=(if row.tone.is_some() { "tile alarm" } else { "tile" }) {
                            a href={"#" (finding_id(0, index_of(run, code)))} {
                                span class="label" { (row.label) } " " (value(row))
                            }
                            p { (row.sentence) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn value(row: &Row) -> Markup {
    // "4 h 58 min 40 s" is one number; its first part alone would mean nothing.
    let is_composite = row.unit.contains(' ');
    html! {
        span class="value" {
            span class="number" { (row.number) @if is_composite { " " (row.unit) } }
            @if !row.unit.is_empty() && !is_composite { " " span class="unit" { (row.unit) } }
        }
        @if !row.interval.is_empty() { " " span class="interval" { (row.interval) } }
    }
}

pub(super) fn advice(run: &Run, heading: Heading) -> Markup {
    let all = advice_of(run);
    html! {
        @if !all.is_empty() {
            (heading.with(None, "Recommendations"))
            ul class="advice" {
                @for advice in all { li { (STYLE.sentence(&advice)) } }
            }
        }
    }
}
