//! A map of a range as rows of signs: each stands for a stretch, and says how long the slowest request in it took.

use crate::quantity::{amount_unit, capacity};
use crate::style::{Style, Tone, columns_of, pad_start};
use model::finding::{BlockLatency, OperationMap, known};
use model::latency_map::{LatencyClass, LatencyMap};
use model::run::Run;
use model::units::Bytes;

const PAGE_ROWS: usize = 12;
const UNTOUCHED: char = '.';

/// The map in no more than so many rows, with its legend; the rows hold all there is if fewer are enough.
pub fn latency_map(map: &LatencyMap, rows: usize, style: Style) -> Vec<String> {
    let columns = style.columns().saturating_sub(MARGIN_COLUMNS).max(10);
    let cells = map.coarser(columns * rows.max(1));
    let rows: Vec<_> = cells.chunks(columns).collect();
    let begins = (0..rows.len()).map(|row| Bytes::new(map.begin_of(row * columns, cells.len()).get()));
    let begins = begins_shown(&begins.collect::<Vec<Bytes>>());
    let mut lines = Vec::new();
    for (begin, chunk) in begins.iter().zip(rows) {
        lines.push(format!("{} {}", pad_start(begin, MARGIN_COLUMNS - 1), row_of(chunk, style)));
    }
    lines.extend(legend(style));
    lines
}

const MARGIN_COLUMNS: usize = 10;

/// Capacities with as many digits as tell the rows of a small range apart: "299.50 GB".
fn begins_shown(begins: &[Bytes]) -> Vec<String> {
    let shown: Vec<String> = begins.iter().map(|begin| capacity(*begin)).collect();
    let are_alike = shown.windows(2).any(|pair| pair[0] == pair[1]);
    let Some((divisor, unit)) = begins.last().filter(|_| are_alike).map(|last| amount_unit(last.as_f64()))
    else {
        return shown;
    };
    begins.iter().map(|begin| format!("{:.2} {unit}", begin.as_f64() / divisor)).collect()
}

fn row_of(cells: &[Option<LatencyClass>], style: Style) -> String {
    let mut row = String::new();
    for group in cells.chunk_by(|a, b| look(*a).1 == look(*b).1) {
        let signs: String = group.iter().map(|cell| look(*cell).0).collect();
        match look(group[0]).1 {
            Some(tone) => row += &style.paint(tone, &signs),
            None => row += &signs,
        }
    }
    row
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
    let mut entries = vec![(None, "not tested")];
    for class in LatencyClass::ALL {
        entries.push((Some(class), class.name()));
    }
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

pub(super) fn maps(run: &Run, style: Style) -> Vec<String> {
    let Some(latency) = known::<BlockLatency>(&run.findings).filter(|_| style.draws) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for OperationMap { operation, map } in &latency.conclusion.maps {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let title = format!("Slowest {} by offset", operation.name());
        lines.push(style.paint(Tone::Heading, &style.own(&title)));
        lines.extend(latency_map(map, PAGE_ROWS, style));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::range::ByteRange;

    const PLAIN: Style = Style { width: 60, colour: false, unicode: false, draws: true };

    #[test]
    fn a_map_says_where_its_rows_begin_and_what_its_signs_mean() {
        let range = ByteRange::whole(Bytes::new(1_000_000_000_000));
        let text = format!("{}2345{}", "0".repeat(60), ".".repeat(36));
        let map = LatencyMap::from_text(range, &text).unwrap();
        let lines = latency_map(&map, 4, PLAIN);
        assert_eq!(lines[0], format!("  0 bytes {}", "-".repeat(50)));
        assert_eq!(lines[1], format!("   500 GB {}+oOX{}", "-".repeat(10), ".".repeat(36)));
        assert_eq!(lines[2], ". not tested  - under 10 ms  = under 50 ms  + under 200 ms");
        assert_eq!(lines[3], "o under 500 ms  O 500 ms or more  X error");
        assert!(lines.iter().all(|line| columns_of(line) <= 60));
    }

    #[test]
    fn rows_of_a_small_range_have_different_beginnings() {
        let begins = [299_000_000_000, 299_166_000_000, 300_166_000_000].map(Bytes::new);
        assert_eq!(begins_shown(&begins), ["299.00 GB", "299.17 GB", "300.17 GB"]);
        assert_eq!(begins_shown(&[Bytes::ZERO, Bytes::new(500_000_000_000)]), ["0 bytes", "500 GB"]);
    }

    #[test]
    fn few_rows_keep_the_worst() {
        let range = ByteRange::whole(Bytes::new(4096 << 20));
        let mut text = "0".repeat(4096);
        text.replace_range(2000..2001, "5");
        let map = LatencyMap::from_text(range, &text).unwrap();
        let lines = latency_map(&map, 3, PLAIN);
        assert_eq!(lines[..3].iter().filter(|line| line.contains('X')).count(), 1);
    }
}
