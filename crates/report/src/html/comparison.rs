//! What differs between runs: every figure of each, against the first, and where a drive changed.

use super::STYLE;
use super::markup::Markup;
use crate::hostile::escaped;
use crate::terminal::compare::{change_text, figure_cells, more_or_less, note_text, title};
use crate::terminal::run_letter;
use model::comparison::{ComparedFigure, Comparison};

pub(super) fn section(page: &mut Markup, comparison: &Comparison, names: &[String]) {
    page.put(r#"<section id="comparison" aria-labelledby="comparison-title"><h2 id="comparison-title">What differs</h2>"#);
    if !comparison.caveats.is_empty() {
        page.put(r#"<ul class="notices">"#);
        for caveat in &comparison.caveats {
            page.put(format_args!(r#"<li class="care">{}</li>"#, escaped(&STYLE.sentence(caveat))));
        }
        page.put("</ul>");
    }
    if comparison.figures.is_empty() {
        page.paragraph("faint", "The runs have no figure in common.");
    } else {
        table(page, comparison, names);
    }
    for change in &comparison.changes {
        page.put(format_args!(
            "<p><strong>{}:</strong> {}</p>",
            escaped(&title(change)),
            escaped(&STYLE.sentence(&change_text(change)))
        ));
    }
    if let Some(note) = note_text(comparison) {
        page.paragraph("note", &note);
    }
    page.put("</section>");
}

fn table(page: &mut Markup, comparison: &Comparison, names: &[String]) {
    page.put(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="Figures of all runs"><table class="figures"><thead><tr><th scope="col">Figure</th>"#,
    );
    for (index, name) in names.iter().enumerate() {
        page.put(format_args!(
            r#"<th scope="col"><span class="letter">{}</span> {}</th>"#,
            run_letter(index),
            escaped(name)
        ));
    }
    page.put("</tr></thead><tbody>");
    for figure in &comparison.figures {
        let cells = figure_cells(figure, STYLE);
        page.put(format_args!(r#"<tr><th scope="row">{}</th>"#, escaped(&cells[0])));
        for (index, cell) in cells[1..].iter().enumerate() {
            page.put(format_args!("<td>{}{}</td>", with_interval(cell), against_first(figure, index)));
        }
        page.put("</tr>");
    }
    page.put("</tbody></table></div>");
}

/// "167 MB/s (164 to 171)", the interval on a line of its own.
fn with_interval(cell: &str) -> String {
    match cell.strip_suffix(')').and_then(|cell| cell.split_once(" (")) {
        Some((value, interval)) => {
            format!(r#"<b>{}</b><span class="interval">{}</span>"#, escaped(value), escaped(interval))
        }
        None => escaped(cell),
    }
}

/// How a run differs from the first in a figure.
fn against_first(figure: &ComparedFigure, index: usize) -> String {
    let Some(difference) =
        figure.differences.iter().find(|difference| difference.first == 0 && difference.second == index)
    else {
        return String::new();
    };
    if !difference.is_significant {
        return r#"<span class="alike">no difference seen</span>"#.into();
    }
    let class = if difference.ratio.value < 1.0 { "less" } else { "more" };
    let sign = if difference.ratio.value < 1.0 { "▼" } else { "▲" };
    format!(
        r#"<span class="{class}"><span aria-hidden="true">{sign}</span> {}</span>"#,
        escaped(&more_or_less(&difference.ratio, "more", "less"))
    )
}
