//! A re-enactment as a page: for a terminal, or as Markdown.

use super::article::Reproduction;
use super::figure::{Figure, Published, Table, Verdict};
use super::picture;
use report::style::{Style, columns_of, pad_end, pad_start, paragraph, wrap};

/// Numbers of all tables begin at the same column, unless a name is longer.
const NAME_COLUMNS_MIN: usize = 40;
const NUMBER_COLUMNS_MIN: usize = 12;
const COLUMNS_OF_A_TABLE: usize = 100;

pub fn terminal(reproduction: &Reproduction, style: Style) -> String {
    let columns = style.width.clamp(60, 100);
    let mut lines = vec![heading(reproduction)];
    lines.push(String::new());
    lines.extend(wrap(&reproduction.setting, columns));
    let mut reasons = Reasons::default();
    for table in &reproduction.tables {
        lines.push(String::new());
        lines.push(table.title.clone());
        if !table.method.is_empty() {
            lines.extend(paragraph("  ", &table.method, columns));
        }
        lines.push(String::new());
        lines.extend(terminal_table(table, &mut reasons, columns));
    }
    if !reasons.texts.is_empty() {
        lines.push(String::new());
        for (index, reason) in reasons.texts.iter().enumerate() {
            lines.extend(paragraph(&format!("[{}] ", index + 1), reason, columns));
        }
    }
    lines.push(String::new());
    lines.extend(wrap(&reproduction.conclusion, columns));
    lines.push(String::new());
    style.own(&lines.join("\n"))
}

pub fn markdown(reproduction: &Reproduction) -> String {
    let letter = reproduction.article.name();
    let mut page = format!("# {}\n\n", heading(reproduction));
    page += &format!("Made by `drivescope sim reproduce {letter} --markdown`.\n\n");
    page += &format!("{}\n", reproduction.setting);
    for chart in &reproduction.pictures {
        page += &format!("\n{}", picture::markdown(chart));
    }
    let mut reasons = Reasons::default();
    for table in &reproduction.tables {
        page += &format!("\n## {}\n\n", table.title);
        if !table.method.is_empty() {
            page += &format!("{}\n\n", table.method);
        }
        page += "| figure | published | reproduced | deviation | verdict |\n|---|---:|---:|---:|---|\n";
        for figure in &table.figures {
            let [name, published, reproduced, deviation, verdict] = cells(figure, &mut reasons);
            page += &format!("| {name} | {published} | {reproduced} | {deviation} | {verdict} |\n");
        }
    }
    if !reasons.texts.is_empty() {
        page += "\n## Notes\n\n";
        for (index, reason) in reasons.texts.iter().enumerate() {
            page += &format!("{}. {reason}\n", index + 1);
        }
    }
    page + &format!("\n## Conclusion\n\n{}\n", reproduction.conclusion)
}

fn heading(reproduction: &Reproduction) -> String {
    format!("{}: {}", reproduction.article.name(), reproduction.title)
}

#[derive(Default)]
struct Reasons {
    texts: Vec<String>,
}

impl Reasons {
    fn number(&mut self, text: &str) -> usize {
        let index = self.texts.iter().position(|known| known == text).unwrap_or(self.texts.len());
        if index == self.texts.len() {
            self.texts.push(text.to_owned());
        }
        index + 1
    }
}

fn cells(figure: &Figure, reasons: &mut Reasons) -> [String; 5] {
    let unit = figure.unit;
    let published = match figure.published {
        Published::Value(value) => unit.text(value),
        Published::AtMost(value) => format!("≤ {}", unit.text(value)),
        Published::AtLeast(value) => format!("≥ {}", unit.text(value)),
        Published::Nothing => String::new(),
    };
    let mut verdict = match figure.verdict() {
        Verdict::Agrees if figure.tolerance > 0.0 => {
            format!("agrees, ±{} %", (figure.tolerance * 100.0).round())
        }
        Verdict::Agrees => "agrees".into(),
        Verdict::Differs => "differs".into(),
        Verdict::Fails => "FAILS".into(),
        Verdict::OutOfReach => "not modelled".into(),
        Verdict::Shown => String::new(),
    };
    if let Some(reason) = &figure.reason {
        verdict += if verdict.is_empty() { "" } else { " " };
        verdict += &format!("[{}]", reasons.number(reason));
    }
    let deviation = figure.deviation().map(signed_percent).unwrap_or_default();
    [figure.name.clone(), published, figure.reproduced_text(), deviation, verdict]
}

fn signed_percent(share: f64) -> String {
    let text = format!("{:+.1} %", share * 100.0);
    if text[1..].starts_with("0.0 ") { text[1..].to_owned() } else { text }
}

/// A table within `columns`. In a narrow one numbers move together, and a name that is too long is above its numbers.
fn terminal_table(table: &Table, reasons: &mut Reasons, columns: usize) -> Vec<String> {
    let heads = ["figure", "published", "reproduced", "deviation", "verdict"].map(String::from);
    let mut rows = vec![heads];
    rows.extend(table.figures.iter().map(|figure| cells(figure, reasons)));
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns_of(cell).max(*width);
        }
    }
    let gaps = 10;
    let name_columns = if columns >= COLUMNS_OF_A_TABLE {
        widths[1] = widths[1].max(NUMBER_COLUMNS_MIN);
        widths[2] = widths[2].max(NUMBER_COLUMNS_MIN);
        widths[0].max(NAME_COLUMNS_MIN)
    } else {
        widths[0].min(columns.saturating_sub(gaps + widths[1..].iter().sum::<usize>()))
    };
    let mut lines = Vec::new();
    for [name, published, reproduced, deviation, verdict] in &rows {
        let is_above = columns_of(name) > name_columns;
        if is_above {
            lines.push(format!("  {name}"));
        }
        let line = format!(
            "  {}  {}  {}  {}  {verdict}",
            pad_end(if is_above { "" } else { name }, name_columns),
            pad_start(published, widths[1]),
            pad_start(reproduced, widths[2]),
            pad_start(deviation, widths[3]),
        );
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::figure::Unit;

    #[test]
    fn a_deviation_that_rounds_to_nothing_has_no_sign() {
        assert_eq!(
            [-0.000_3, 0.000_3, -0.000_6, 0.25].map(signed_percent),
            ["0.0 %", "0.0 %", "-0.1 %", "+25.0 %"]
        );
    }

    #[test]
    fn a_table_fits_a_narrow_terminal() {
        let mut table = Table::new("", "");
        table.compare("quarter 1", Unit::Rate, (120.8e6, 151e6), 0.03).because("There is a reason.");
        table.compare("block read, outermost to innermost", Unit::Ratio, (1.0, 1.0), 0.01);
        let lines = terminal_table(&table, &mut Reasons::default(), 60);
        assert_eq!(
            lines,
            [
                "  figure      published  reproduced  deviation  verdict",
                "  quarter 1  120.8 MB/s    151 MB/s    +25.0 %  differs [1]",
                "  block read, outermost to innermost",
                "                 1.00 ×      1.00 ×      0.0 %  agrees, ±1 %",
            ]
        );
    }
}
