//! What differs between runs: every figure of each, against the first, and where a drive changed.

use super::content::STYLE;
use crate::terminal::compare::{self, change_text, figure_cells, more_or_less, note_text, title};
use crate::terminal::run_letter;
use maud::{Markup, html};
use model::comparison::{ComparedFigure, Comparison};

pub(super) fn section(comparison: &Comparison, names: &[String]) -> Markup {
    html! {
        section id="comparison" aria-labelledby="comparison-title" {
            h2 id="comparison-title" { "What differs" }
            @if !comparison.caveats.is_empty() {
                ul class="notices" {
                    @for caveat in &comparison.caveats { li class="care" { (STYLE.sentence(caveat)) } }
                }
            }
            @if !comparison.contradictions.is_empty() {
                ul class="notices" {
                    @for sentence in compare::contradictions(comparison) { li class="care" { (STYLE.sentence(&sentence)) } }
                }
            }
            @if comparison.figures.is_empty() {
                p class="faint" { "The runs have no finding in common." }
            } @else {
                (table(comparison, names))
            }
            @for change in &comparison.changes {
                p { strong { (title(change)) ":" } " " (STYLE.sentence(&change_text(change))) }
            }
            @if let Some(note) = note_text(comparison) { p class="note" { (note) } }
        }
    }
}

fn table(comparison: &Comparison, names: &[String]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Figures of all runs" {
            table class="figures" {
                thead {
                    tr {
                        th scope="col" { "Figure" }
                        @for (index, name) in names.iter().enumerate() {
                            th scope="col" { span class="letter" { (run_letter(index)) } " " (name) }
                        }
                    }
                }
                tbody {
                    @for figure in &comparison.figures { (row(figure)) }
                }
            }
        }
    }
}

fn row(figure: &ComparedFigure) -> Markup {
    let cells = figure_cells(figure, STYLE);
    html! {
        tr {
            th scope="row" { (cells[0]) }
            @for (index, cell) in cells[1..].iter().enumerate() {
                td { (with_interval(cell)) (against_first(figure, index)) }
            }
        }
    }
}

fn with_interval(cell: &str) -> Markup {
    match cell.strip_suffix(')').and_then(|cell| cell.split_once(" (")) {
        Some((value, interval)) => html! { b { (value) } span class="interval" { (interval) } },
        None => html! { (cell) },
    }
}

fn against_first(figure: &ComparedFigure, index: usize) -> Markup {
    let Some(difference) = compare::against_first(figure, index) else { return Markup::default() };
    if !difference.is_significant {
        return html! { span class="alike" { "no significant difference" } };
    }
    let (class, sign) = if difference.ratio.value < 1.0 { ("less", "▼") } else { ("more", "▲") };
    html! { span class=(class) { span aria-hidden="true" { (sign) } " " (more_or_less(&difference.ratio, "more", "less")) } }
}
