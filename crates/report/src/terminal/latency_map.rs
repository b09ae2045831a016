//! A map of a range as rows of signs: each stands for a stretch, and says how long the slowest request in it took.

use crate::quantity::capacity;
use crate::style::{Style, Tone, columns_of};
use model::finding::{Datum, Finding, FindingCode, Outcome};
use model::latency_map::{LatencyClass, LatencyMap};
use model::range::ByteRange;
use model::run::Run;
use model::units::{Bytes, Offset};

/// Rows of a map on a page.
const PAGE_ROWS: usize = 12;
/// Of a stretch in which nothing was asked for.
const UNTOUCHED: char = '.';

/// The map in no more than so many rows, with its legend; the rows hold all there is if fewer are enough.
pub fn latency_map(map: &LatencyMap, rows: usize, style: Style) -> Vec<String> {
    let columns = style.columns().saturating_sub(MARGIN_COLUMNS).max(10);
    let cells = map.coarser(columns * rows.max(1));
    let mut lines: Vec<String> = cells
        .chunks(columns)
        .enumerate()
        .map(|(row, chunk)| {
            let begin = capacity(Bytes(map.begin_of(row * columns, cells.len()).0));
            let gap = MARGIN_COLUMNS.saturating_sub(columns_of(&begin) + 1);
            format!("{}{begin} {}", " ".repeat(gap), row_of(chunk, style))
        })
        .collect();
    lines.extend(legend(style));
    lines
}

/// Before each row stands where it begins.
const MARGIN_COLUMNS: usize = 10;

/// Signs of one tone are painted together.
fn row_of(cells: &[Option<LatencyClass>], style: Style) -> String {
    let groups = cells.chunk_by(|a, b| look(*a).1 == look(*b).1);
    groups
        .map(|group| {
            let signs: String = group.iter().map(|cell| look(*cell).0).collect();
            look(group[0]).1.map_or(signs.clone(), |tone| style.paint(tone, &signs))
        })
        .collect()
}

/// The sign of a cell, and its tone for those who see colours.
fn look(cell: Option<LatencyClass>) -> (char, Option<Tone>) {
    match cell {
        None => (UNTOUCHED, Some(Tone::Faint)),
        Some(LatencyClass::Under10Ms) => ('-', None),
        Some(LatencyClass::Under50Ms) => ('=', None),
        Some(LatencyClass::Under200Ms) => ('+', None),
        Some(LatencyClass::Under500Ms) => ('o', Some(Tone::Warning)),
        Some(LatencyClass::Slower) => ('O', Some(Tone::Bad)),
        Some(LatencyClass::Failed) => ('X', Some(Tone::Bad)),
    }
}

fn legend(style: Style) -> Vec<String> {
    let mut lines = vec![String::new()];
    let entries = std::iter::once((None, "not yet"))
        .chain(LatencyClass::ALL.into_iter().map(|class| (Some(class), class.name())));
    let mut used = 0;
    for (cell, name) in entries {
        let entry = format!("{} {name}", row_of(&[cell], style));
        let columns = columns_of(name) + 4;
        if used + columns > style.columns() {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            *line += if used == 0 { "" } else { "  " };
            *line += &entry;
        }
        used += columns;
    }
    lines
}

/// The maps of a run that went over every block: one for each operation.
pub(super) fn maps(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, map) in run.findings.iter().flat_map(maps_of) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let title = format!("Slowest request of each stretch, {name}");
        lines.push(style.paint(Tone::Heading, &style.own(&title)));
        lines.extend(latency_map(&map, PAGE_ROWS, style));
    }
    lines
}

/// The maps that a finding holds. It may come from a file.
fn maps_of(finding: &Finding) -> Vec<(&'static str, LatencyMap)> {
    if finding.code != FindingCode::BlockLatency {
        return Vec::new();
    }
    let Outcome::Known(conclusion) = &finding.outcome else { return Vec::new() };
    let maps = conclusion.data.iter().find_map(|(name, datum)| match datum {
        Datum::List(maps) if name == "maps" => Some(maps),
        _ => None,
    });
    let map = |entry: &Datum| {
        let Datum::Record(parts) = entry else { return None };
        let part = |name: &str| parts.iter().find(|(of, _)| of == name).map(|(_, datum)| datum);
        let integer = |name| match part(name) {
            Some(Datum::Integer(value)) => Some(*value),
            _ => None,
        };
        let (Some(Datum::Text(operation)), Some(Datum::Text(cells))) = (part("operation"), part("cells"))
        else {
            return None;
        };
        let range = ByteRange::new(Offset(integer("first_byte")?), Bytes(integer("bytes")?))?;
        let name = if operation == "write" { "writes" } else { "reads" };
        Some((name, LatencyMap::from_text(range, cells)?))
    };
    maps.into_iter().flatten().filter_map(map).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { width: 60, colour: false, unicode: false };

    #[test]
    fn a_map_says_where_its_rows_begin_and_what_its_signs_mean() {
        let range = ByteRange::whole(Bytes(1_000_000_000_000));
        let text = format!("{}2345{}", "0".repeat(60), ".".repeat(36));
        let map = LatencyMap::from_text(range, &text).unwrap();
        let lines = latency_map(&map, 4, PLAIN);
        assert_eq!(lines[0], format!("  0 bytes {}", "-".repeat(50)));
        assert_eq!(lines[1], format!("   500 GB {}+oOX{}", "-".repeat(10), ".".repeat(36)));
        assert_eq!(lines[2], ". not yet  - under 10 ms  = under 50 ms  + under 200 ms");
        assert_eq!(lines[3], "o under 500 ms  O 500 ms or more  X error");
        assert!(lines.iter().all(|line| columns_of(line) <= 60));
    }

    #[test]
    fn few_rows_keep_the_worst() {
        let range = ByteRange::whole(Bytes(4096 << 20));
        let mut text = "0".repeat(4096);
        text.replace_range(2000..2001, "5");
        let map = LatencyMap::from_text(range, &text).unwrap();
        let lines = latency_map(&map, 3, PLAIN);
        assert_eq!(lines[..3].iter().filter(|line| line.contains('X')).count(), 1);
    }
}
