//! Throughput by block size as a table, a column for each operation, order and queue depth.

use super::tables::Table;
use crate::quantity::rough_rate;
use crate::style::{Style, Tone};
use model::finding::{SizePattern, SizePoint, SizeProfile, known};
use model::run::Run;
use model::units::Bytes;
use std::collections::BTreeMap;

const INDENT: &str = "  ";

pub(super) fn table(run: &Run, style: Style) -> Vec<String> {
    let Some(profile) = known::<SizeProfile>(&run.findings) else { return Vec::new() };
    let mut columns: Vec<String> = Vec::new();
    let mut rows: BTreeMap<Bytes, Vec<&SizePoint>> = BTreeMap::new();
    for point in &profile.conclusion.points {
        let column = column_of(point);
        if !columns.contains(&column) {
            columns.push(column);
        }
        rows.entry(point.bytes).or_default().push(point);
    }
    let mut header = vec!["block size"];
    header.extend(columns.iter().map(String::as_str));
    let style_inside = Style { width: style.columns().saturating_sub(INDENT.len()), ..style };
    let mut table = Table::new(&header, 1, style_inside);
    for (bytes, points) in &rows {
        let mut cells = vec![style.own(&bytes.to_string())];
        for column in &columns {
            let measured = points.iter().find(|point| column_of(point) == *column);
            cells.push(measured.map_or("-".into(), |point| style.own(&rough_rate(point.bytes_per_second))));
        }
        table.row(cells, Vec::new());
    }
    let mut lines = vec![style.paint(Tone::Heading, "Throughput by block size")];
    for line in table.lines() {
        lines.push(format!("{INDENT}{line}"));
    }
    lines
}

fn column_of(point: &SizePoint) -> String {
    let order = if point.pattern == SizePattern::Random { "random " } else { "" };
    format!("{order}{} QD {}", point.operation.name(), point.depth)
}
