//! The page of runs set side by side.

use super::findings::label;
use super::page;
use crate::chart::{self, Chart, chart_names};
use crate::quantity::{Measured, capacity, measured, target_size};
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use model::comparison::{Change, ChangedRegion, ComparedFigure, Comparison, Difference, SurfaceChange};
use model::estimate::Estimate;
use model::request::Operation;
use model::run::Run;
use model::units::Bytes;

/// What the page shows.
pub struct ComparePage<'page> {
    /// The runs, in the order in which the comparison numbers them.
    pub runs: &'page [&'page Run],
    /// What came of it.
    pub comparison: &'page Comparison,
    /// All of them in one chart.
    pub chart: Option<&'page Chart>,
}

const INDENT: &str = "  ";
const GAP: &str = "  ";
/// Stands where nothing is known.
const NOTHING: &str = "-";

/// What a run is called within a page and in its sentences: A, B, …
pub fn run_letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(|| format!("run {}", index + 1), |index| char::from(b'A' + index).to_string())
}

/// Who is compared, what speaks against it, the figures, which differ, where a drive changed, and the chart.
pub fn compare_page(content: &ComparePage<'_>, style: Style) -> String {
    let comparison = content.comparison;
    page([
        who(content.runs, style),
        comparison.caveats.iter().flat_map(|caveat| caveat_lines(caveat, style)).collect(),
        figures(comparison, content.runs.len(), style),
        differences(comparison, content.runs.len(), style),
        changes(comparison, style),
        content.chart.map_or(Vec::new(), |chart| chart::terminal::draw(chart, style)),
        note(comparison, style),
    ])
}

fn who(runs: &[&Run], style: Style) -> Vec<String> {
    let names = chart_names(runs).into_iter().zip(runs).enumerate();
    names
        .flat_map(|(index, (name, run))| {
            let first = format!("{}  ", pad_end(&run_letter(index), 1));
            let text = format!(
                "{}, {}; run {}",
                style.name(&name),
                target_size(run.target.capacity),
                style.name(&run.id)
            );
            paragraph(&first, &text, style.columns())
        })
        .collect()
}

fn caveat_lines(caveat: &str, style: Style) -> Vec<String> {
    let lines = paragraph("! ", &style.sentence(caveat), style.columns());
    lines.into_iter().map(|line| style.paint(Tone::Warning, &line)).collect()
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
    let width_of = |row: &Vec<String>| row[1..].iter().map(|cell| columns_of(cell)).max().unwrap_or(0);
    let fitting = rows.iter().map(width_of).filter(|width| *width <= cell_width_max);
    let cell_width = fitting.max();

    let mut lines = vec![style.paint(Tone::Heading, "Side by side")];
    if let Some(cell_width) = cell_width {
        let letters: Vec<String> = (0..count).map(|index| pad_end(&run_letter(index), cell_width)).collect();
        let blank = " ".repeat(name_width);
        lines.push(format!("{INDENT}{blank}{GAP}{}", letters.join(GAP)).trim_end().to_string());
    }
    for row in &rows {
        if width_of(row) <= cell_width_max {
            let cells: Vec<String> =
                row[1..].iter().map(|cell| pad_end(cell, cell_width.unwrap_or(0))).collect();
            let name = pad_end(&row[0], name_width);
            lines.push(format!("{INDENT}{name}{GAP}{}", cells.join(GAP)).trim_end().to_string());
        } else {
            lines.push(format!("{INDENT}{}", row[0]));
            for (index, value) in row[1..].iter().enumerate() {
                let first = format!("{INDENT}{INDENT}{}  ", run_letter(index));
                lines.extend(paragraph(&first, value, style.columns()));
            }
        }
    }
    lines
}

/// The name of a figure and its value in each run.
pub(crate) fn figure_cells(figure: &ComparedFigure, style: Style) -> Vec<String> {
    let values =
        figure.values.iter().map(|value| value.map_or(NOTHING.into(), |value| text_of(&value, figure)));
    std::iter::once(label(figure.code)).chain(values).map(|cell| style.own(&cell)).collect()
}

fn text_of(value: &Estimate, figure: &ComparedFigure) -> String {
    let text = measured(value, &figure.unit);
    if text.interval == "exact" { text.value } else { text.line() }
}

/// Which figures of each run differ from those of the first.
fn differences(comparison: &Comparison, count: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for second in 1..count {
        let against_first = |difference: &&Difference| difference.first == 0 && difference.second == second;
        let all: Vec<(&ComparedFigure, &Difference)> = comparison
            .figures
            .iter()
            .filter_map(|figure| Some((figure, figure.differences.iter().find(against_first)?)))
            .collect();
        if all.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let title = format!("{} against {}", run_letter(second), run_letter(0));
        lines.push(style.paint(Tone::Heading, &title));
        let (stand, alike): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, difference)| difference.is_significant);
        let width = stand.iter().map(|(figure, _)| columns_of(&label(figure.code))).max().unwrap_or(0);
        for (figure, difference) in stand {
            let text = more_or_less(&difference.ratio, "more", "less");
            let first = format!("{INDENT}{}  ", pad_end(&label(figure.code), width));
            lines.extend(paragraph(&first, &style.own(&text), style.columns()));
        }
        if !alike.is_empty() {
            let names: Vec<String> = alike.iter().map(|(figure, _)| label(figure.code)).collect();
            let text = format!("No difference seen: {}.", names.join("; "));
            lines.extend(paragraph(INDENT, &style.own(&text), style.columns()));
        }
    }
    lines
}

/// A ratio as a person says it: "12 % less (9 to 15 %)", and from a factor of two on "2.3 ×".
pub(crate) fn more_or_less(ratio: &Estimate, more: &str, less: &str) -> String {
    if !(0.5..2.0).contains(&ratio.value) {
        let Measured { value, interval } = measured(ratio, "ratio");
        return format!("{value} as much ({interval})");
    }
    let is_less = ratio.value < 1.0;
    let sign = if is_less { -100.0 } else { 100.0 };
    let percent = measured(&ratio.map_monotonic(|ratio| sign * (ratio - 1.0)), "%");
    format!("{} {} ({} %)", percent.value, if is_less { less } else { more }, percent.interval)
}

/// Where each drive that was measured more than once changed.
fn changes(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.changes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Tone::Heading, "The same drive, then and now")];
    for change in &comparison.changes {
        let text = change_text(change);
        let first = format!("{INDENT}{}: ", title(change));
        lines.extend(paragraph(&first, &style.sentence(&text), style.columns()));
    }
    lines
}

/// What became of the rates by position.
pub(crate) fn change_text(change: &Change) -> String {
    match &change.outcome {
        Err(why) => format!("cannot be compared by position. {why}"),
        Ok(found) if found.regions.is_empty() => nothing_changed(found),
        Ok(found) => {
            let regions: Vec<String> = found.regions.iter().map(region).collect();
            format!("{}.", regions.join("; "))
        }
    }
}

/// What was compared with what: "Reads, A to B".
pub(crate) fn title(change: &Change) -> String {
    let operation = if change.operation == Operation::Write { "Writes" } else { "Reads" };
    format!("{operation}, {} to {}", run_letter(change.earlier), run_letter(change.later))
}

fn region(region: &ChangedRegion) -> String {
    let place = |at: u64| if at == 0 { "the start".into() } else { capacity(Bytes(at)) };
    format!(
        "from {} to {} {}",
        place(region.range.first().0),
        place(region.range.end().0),
        more_or_less(&region.rate_ratio, "faster", "slower")
    )
}

fn nothing_changed(found: &SurfaceChange) -> String {
    let cells = if found.cells == 1 {
        "The range as a whole was compared".into()
    } else {
        format!("{} parts of the range were compared", found.cells)
    };
    format!(
        "no part became slower or faster that could be seen. {cells}; half of such comparisons would show a change of {:.0} % or more.",
        (100.0 * found.smallest_seen).ceil()
    )
}

/// What the numbers mean.
fn note(comparison: &Comparison, style: Style) -> Vec<String> {
    let text = note_text(comparison);
    text.map_or(Vec::new(), |text| paragraph(INDENT, &style.own(&text), style.columns()))
}

/// The same as a sentence; none when nothing was compared.
pub(crate) fn note_text(comparison: &Comparison) -> Option<String> {
    let count: usize = comparison.figures.iter().map(|figure| figure.differences.len()).sum();
    if count == 0 {
        return None;
    }
    Some(format!(
        "A range holds the true value with 95 % confidence. {count} differences were looked at together, so that chance alone makes at most \
         one in twenty of those that are listed (Benjamini and Hochberg 1995)."
    ))
}
