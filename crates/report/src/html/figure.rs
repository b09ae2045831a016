//! A chart on the page: a picture that can be read, printed and listened to, and the numbers from which the script draws it
//! again so that it can be zoomed and read off.

use super::evidence::Marked;
use super::{chart_data, value_table};
use crate::chart::Chart;
use crate::chart::layout::{Layout, PHONE};
use crate::chart::legend::{self, Sign};
use crate::chart::svg::{self, Theme};
use maud::{Markup, PreEscaped, html};

pub(super) fn section(charts: &[Chart], marked: &[Vec<Marked>]) -> Markup {
    html! {
        section id="charts" aria-labelledby="charts-title" {
            h2 id="charts-title" { "Charts" }
            p class="hint" hidden {
                "Drag to zoom in, wheel or pinch to zoom, Shift-drag to pan, double-click to reset. Keyboard: " kbd { "+" } " " kbd { "−" } " zoom, " kbd { "←" } " " kbd { "→" }
                " step through measurements, " kbd { "Shift" } " pans, " kbd { "0" } " shows all."
            }
            @for (chart, marked) in charts.iter().zip(marked) { (figure(chart, marked)) }
            (data("charts-data", &chart_data::common()))
        }
    }
}

fn figure(chart: &Chart, marked: &[Marked]) -> Markup {
    let id = format!("chart-{}", chart.name);
    let document = chart_data::document(chart, marked);
    html! {
        figure class="chart" id=(id) aria-labelledby={(id) "-title"} {
            h3 id={(id) "-title"} { (chart.title) " " span class="faint" { (chart.subject) } }
            div class="picture" { (PreEscaped(svg::document(chart, Theme::Page))) }
            (interactive(chart, &id))
            (data("chart-data", &document.json))
            @for sentence in &chart.meanwhile { p class="note meanwhile" { (sentence) } }
            @for note in &document.notes { p class="note" { (note) } }
            details class="values" {
                summary { "Values" }
                p id={(id) "-words"} { (chart.description) }
                (value_table::tables(chart))
            }
        }
    }
}

fn interactive(chart: &Chart, id: &str) -> Markup {
    html! {
        div class="interactive" hidden {
            div class="tools" {
                (legend(chart))
                div class="buttons" {
                    span class="status" {}
                    @for (act, text, name) in [
                        ("in", "+", "Zoom in"),
                        ("out", "−", "Zoom out"),
                        ("fit", "↕", "Fit the height to the visible range"),
                        ("all", "All", "All: reset zoom"),
                    ] {
                        button type="button" data-act=(act) aria-label=(name) title=(name) { (text) }
                    }
                }
            }
            div class="plot" tabindex="0" role="application" aria-describedby={(id) "-words"}
                aria-label={(chart.title) ". Arrow keys step through measurements, plus and minus zoom, 0 resets."} {
                canvas aria-hidden="true" {}
                div class="tip" hidden {}
            }
            p class="sr" aria-live="polite" {}
        }
    }
}

fn legend(chart: &Chart) -> Markup {
    // On a telephone an interval has to be seen, too.
    let has_intervals = svg::shows_intervals(chart, &Layout::of(chart, 0, &[], &PHONE));
    html! {
        ul class="legend" {
            @for entry in legend::entries(chart, has_intervals) {
                li {
                    @if let Sign::Series { index, .. } = entry.sign {
                        button type="button" class="quiet" data-series=(index) aria-pressed="true" title="Show or hide" {
                            (svg::sign(&entry.sign)) (entry.name)
                        }
                    } @else {
                        span { (svg::sign(&entry.sign)) (entry.name) }
                    }
                }
            }
        }
    }
}

fn data(class: &str, json: &str) -> Markup {
    html! { script type="application/json" class=(class) { (PreEscaped(json)) } }
}
