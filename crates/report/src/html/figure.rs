//! A chart on the page: a picture that can be read, printed and listened to, and the numbers from which the script draws it
//! again so that it can be zoomed and read off.

use super::evidence::Marked;
use super::markup::{Markup, json_in_script};
use super::{chart_data, value_table};
use crate::chart::Chart;
use crate::chart::svg::{self, Theme};
use crate::hostile::escaped;

pub(super) fn section(page: &mut Markup, charts: &[Chart], marked: &[Vec<Marked>]) {
    if charts.is_empty() {
        return;
    }
    page.put(r#"<section id="charts" aria-labelledby="charts-title"><h2 id="charts-title">Charts</h2>"#);
    page.put(
        r#"<p class="hint" hidden>Drag across a chart to zoom in, turn the wheel or pinch to zoom, drag with Shift to move, double-click to see all again. With the keyboard: <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> read off one measurement after the other, <kbd>Shift</kbd> with them moves, <kbd>0</kbd> shows all.</p>"#,
    );
    for (chart, marked) in charts.iter().zip(marked) {
        figure(page, chart, marked);
    }
    page.put("</section>");
}

fn figure(page: &mut Markup, chart: &Chart, marked: &[Marked]) {
    let name = escaped(chart.name);
    page.put(format_args!(
        r#"<figure class="chart" id="chart-{name}" aria-labelledby="chart-{name}-title"><h3 id="chart-{name}-title">{} <span class="faint">{}</span></h3>"#,
        escaped(&chart.title),
        escaped(&chart.subject)
    ));
    page.put(format_args!(r#"<div class="picture">{}</div>"#, svg::document(chart, Theme::Page)));
    let document = chart_data::document(chart, marked);
    page.put(format_args!(
        r#"<script type="application/json" class="chart-data">{}</script>"#,
        json_in_script(&document.json)
    ));
    for sentence in &chart.meanwhile {
        page.paragraph("note meanwhile", sentence);
    }
    for note in &document.notes {
        page.paragraph("note", note);
    }
    page.put(r#"<details class="values"><summary>In words and numbers</summary>"#);
    page.put(format_args!(r#"<p id="chart-{name}-words">{}</p>"#, escaped(&chart.description)));
    value_table::tables(page, chart);
    page.put("</details>");
    page.put("</figure>");
}
