//! The page of runs set side by side.

use super::section::{notes, page};
use crate::chart::{self, Chart, chart_names};
use crate::finding::contradiction::said;
use crate::finding::survey::why_unknown;
use crate::finding::{label, shown};
use crate::quantity::{Measured, capacity, measured, target_size};
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use model::comparison::{
    Change, ChangeUnknown, ChangedRegion, ComparedFigure, Comparison, Difference, RunContradiction,
    SurfaceChange,
};
use model::estimate::Estimate;
use model::finding::FindingCode;
use model::request::Operation;
use model::run::Run;
use model::units::Offset;

pub struct ComparePage<'page> {
    pub runs: &'page [&'page Run],
    pub comparison: &'page Comparison,
    pub chart: Option<&'page Chart>,
}

const INDENT: &str = "  ";
const GAP: &str = "  ";
const NOTHING: &str = "-";

/// What a run is called within a page and in its sentences: A, B, …
pub fn run_letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("run {}", index + 1),
    }
}

/// Who is compared, what speaks against it, the figures, which differ, where a drive changed, and the chart.
pub fn compare_page(content: &ComparePage<'_>, style: Style) -> String {
    let comparison = content.comparison;
    page([
        who(content.runs, style),
        notes(Tone::Warning, "! ", &comparison.caveats, style),
        notes(Tone::Warning, "! ", &contradictions(comparison), style),
        figures(comparison, content.runs.len(), style),
        differences(comparison, content.runs.len(), style),
        changes(comparison, style),
        match content.chart {
            Some(chart) => chart::terminal::draw(chart, style),
            None => Vec::new(),
        },
        note(comparison, style),
    ])
}

pub(crate) fn contradictions(comparison: &Comparison) -> Vec<String> {
    let mut sentences = Vec::new();
    for RunContradiction { first, second, between: [one, other] } in &comparison.contradictions {
        sentences.push(format!(
            "{} of {} contradicts {} of {}: same drive, same conditions. One is wrong, or the drive changed.",
            said(one),
            run_letter(*first),
            said(other),
            run_letter(*second)
        ));
    }
    sentences
}

fn who(runs: &[&Run], style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, (name, run)) in chart_names(runs).iter().zip(runs).enumerate() {
        let (name, id) = (style.name(name), style.name(&run.id));
        let text = format!("{name}, {}; run {id}", target_size(run.target.capacity));
        lines.extend(paragraph(&format!("{}  ", run_letter(index)), &text, style.columns()));
    }
    lines
}

/// The figures of all runs: a table, under which a row that is too wide for it goes on with a line for each run.
fn figures(comparison: &Comparison, count: usize, style: Style) -> Vec<String> {
    if comparison.figures.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> =
        comparison.figures.iter().map(|figure| figure_cells(figure, style)).collect();
    let name_width = rows.iter().map(|row| columns_of(&row[0])).max().unwrap_or(0);
    let taken = INDENT.len() + name_width + GAP.len() * count;
    let cell_width_max = style.columns().saturating_sub(taken) / count.max(1);
    let mut cell_width = None;
    for row in &rows {
        if width_of(row) <= cell_width_max {
            cell_width = cell_width.max(Some(width_of(row)));
        }
    }
    let mut lines = vec![style.paint(Tone::Heading, "Side by side")];
    if let Some(cell_width) = cell_width {
        let letters: Vec<String> = (0..count).map(run_letter).collect();
        lines.push(line_of(&" ".repeat(name_width), &letters, cell_width));
    }
    for row in &rows {
        match cell_width {
            Some(cell_width) if width_of(row) <= cell_width_max => {
                lines.push(line_of(&pad_end(&row[0], name_width), &row[1..], cell_width));
            }
            _ => {
                lines.push(format!("{INDENT}{}", row[0]));
                for (index, value) in row[1..].iter().enumerate() {
                    let first = format!("{INDENT}{INDENT}{}  ", run_letter(index));
                    lines.extend(paragraph(&first, value, style.columns()));
                }
            }
        }
    }
    lines
}

fn width_of(row: &[String]) -> usize {
    row[1..].iter().map(|cell| columns_of(cell)).max().unwrap_or(0)
}

fn line_of(name: &str, cells: &[String], cell_width: usize) -> String {
    let mut line = format!("{INDENT}{name}");
    for cell in cells {
        line += GAP;
        line += &pad_end(cell, cell_width);
    }
    line.trim_end().to_string()
}

pub(crate) fn figure_cells(figure: &ComparedFigure, style: Style) -> Vec<String> {
    let mut cells = vec![style.own(label(figure.code))];
    for value in &figure.values {
        cells.push(match value {
            Some(value) => style.own(&text_of(value, figure)),
            None => NOTHING.into(),
        });
    }
    cells
}

fn text_of(value: &Estimate, figure: &ComparedFigure) -> String {
    let text = shown(figure.code, value, &figure.unit);
    if text.interval == "exact" { text.value } else { text.line() }
}

fn differences(comparison: &Comparison, count: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for second in 1..count {
        let (mut stand, mut alike, mut width) = (Vec::new(), Vec::new(), 0);
        for figure in &comparison.figures {
            let Some(difference) = against_first(figure, second) else { continue };
            let label = label(figure.code);
            if difference.is_significant {
                width = width.max(columns_of(label));
                stand.push((label, difference));
            } else {
                alike.push(label);
            }
        }
        if stand.is_empty() && alike.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let title = format!("{} against {}", run_letter(second), run_letter(0));
        lines.push(style.paint(Tone::Heading, &title));
        for (label, difference) in stand {
            let text = more_or_less(&difference.ratio, "more", "less");
            let first = format!("{INDENT}{}  ", pad_end(label, width));
            lines.extend(paragraph(&first, &style.own(&text), style.columns()));
        }
        if !alike.is_empty() {
            let text = format!("No significant difference: {}.", alike.join("; "));
            lines.extend(paragraph(INDENT, &style.own(&text), style.columns()));
        }
    }
    lines
}

pub(crate) fn against_first(figure: &ComparedFigure, second: usize) -> Option<&Difference> {
    figure.differences.iter().find(|difference| difference.first == 0 && difference.second == second)
}

/// A ratio as a person says it: "12 % less (9 to 15 %)", and from a factor of two on "2.3 ×".
pub(crate) fn more_or_less(ratio: &Estimate, more: &str, less: &str) -> String {
    if !(0.5..2.0).contains(&ratio.value) {
        let Measured { value, interval } = measured(ratio, "ratio");
        return format!("{value} ({interval})");
    }
    let is_less = ratio.value < 1.0;
    let sign = if is_less { -100.0 } else { 100.0 };
    let percent = measured(&ratio.map_monotonic(|ratio| sign * (ratio - 1.0)), "%");
    format!("{} {} ({} %)", percent.value, if is_less { less } else { more }, percent.interval)
}

fn changes(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.changes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Tone::Heading, "Same drive, then and now")];
    for change in &comparison.changes {
        let text = change_text(change);
        let first = format!("{INDENT}{}: ", title(change));
        lines.extend(paragraph(&first, &style.sentence(&text), style.columns()));
    }
    lines
}

pub(crate) fn change_text(change: &Change) -> String {
    match &change.outcome {
        Err(reason) => format!("cannot be compared by LBA. {}", change_unknown(reason)),
        Ok(found) if found.regions.is_empty() => nothing_changed(found),
        Ok(found) => {
            let regions: Vec<String> = found.regions.iter().map(region).collect();
            format!("{}.", regions.join("; "))
        }
    }
}

pub(crate) fn change_unknown(reason: &ChangeUnknown) -> String {
    match reason {
        ChangeUnknown::Run { name, reason } => {
            format!("{name}: {}", why_unknown(reason, FindingCode::ReadRateMean))
        }
        ChangeUnknown::DifferentRanges => "The runs measured different ranges.".into(),
        ChangeUnknown::TooFewSamples { earlier, later } => {
            format!("The runs share {earlier} and {later} samples far enough apart; 8 of each are needed.")
        }
    }
}

pub(crate) fn title(change: &Change) -> String {
    let operation = if change.operation == Operation::Write { "Writes" } else { "Reads" };
    format!("{operation}, {} to {}", run_letter(change.earlier), run_letter(change.later))
}

fn region(region: &ChangedRegion) -> String {
    format!(
        "from {} to {} {}",
        place(region.range.first()),
        place(region.range.end()),
        more_or_less(&region.rate_ratio, "faster", "slower")
    )
}

fn place(at: Offset) -> String {
    if at == Offset::START { "the start".into() } else { capacity(at.from_start()) }
}

fn nothing_changed(found: &SurfaceChange) -> String {
    let cells = if found.cells == 1 {
        "The whole range was compared".into()
    } else {
        format!("{} regions were compared", found.cells)
    };
    format!(
        "no region changed significantly. {cells}; a change of {:.0} % would be detected in half of such comparisons.",
        (100.0 * found.smallest_seen).ceil()
    )
}

fn note(comparison: &Comparison, style: Style) -> Vec<String> {
    match note_text(comparison) {
        Some(text) => paragraph(INDENT, &style.own(&text), style.columns()),
        None => Vec::new(),
    }
}

/// The same as a sentence; none when nothing was compared.
pub(crate) fn note_text(comparison: &Comparison) -> Option<String> {
    let count: usize = comparison.figures.iter().map(|figure| figure.differences.len()).sum();
    if count == 0 {
        return None;
    }
    Some(format!(
        "Ranges are 95 % confidence intervals. {count} differences were tested together at a false discovery rate of 5 % (Benjamini and Hochberg 1995)."
    ))
}
