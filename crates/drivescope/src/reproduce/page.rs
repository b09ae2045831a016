//! A re-enactment as a page: for a terminal, or as Markdown.

use super::Reproduction;
use super::figure::{Figure, Published, Table, Verdict};
use report::style::{Style, pad_end, pad_start, paragraph, wrap};

/// Tables of one page begin their numbers at the same column, unless a name is longer.
const NAME_COLUMNS_MIN: usize = 40;

/// As a page for a terminal.
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
        lines.extend(terminal_table(table, &mut reasons));
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

/// As a page of Markdown.
pub fn markdown(reproduction: &Reproduction) -> String {
    let letter = reproduction.article.letter();
    let mut page = format!("# {}\n\n", heading(reproduction));
    page += &format!("Made by `drivescope sim reproduce {letter} --markdown`.\n\n");
    page += &format!("{}\n", reproduction.setting);
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
        page += "\n## Why\n\n";
        for (index, reason) in reasons.texts.iter().enumerate() {
            page += &format!("{}. {reason}\n", index + 1);
        }
    }
    page + &format!("\n## What it shows\n\n{}\n", reproduction.conclusion)
}

fn heading(reproduction: &Reproduction) -> String {
    format!("{}: {}", reproduction.article.letter(), reproduction.title)
}

/// Reasons that have been given so far: the same one is given once.
#[derive(Default)]
struct Reasons {
    texts: Vec<String>,
}

impl Reasons {
    /// The number of a reason, from 1.
    fn number(&mut self, text: &str) -> usize {
        let known = self.texts.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        index + 1
    }
}

fn cells(figure: &Figure, reasons: &mut Reasons) -> [String; 5] {
    let text = |value| figure.unit.text(value);
    let published = match figure.published {
        Published::Value(value) => text(value),
        Published::AtMost(value) => format!("≤ {}", text(value)),
        Published::AtLeast(value) => format!("≥ {}", text(value)),
        Published::Nothing => String::new(),
    };
    let word = match figure.verdict() {
        Verdict::Agrees if figure.tolerance > 0.0 => {
            format!("agrees, ±{} %", (figure.tolerance * 100.0).round())
        }
        Verdict::Agrees => "agrees".into(),
        Verdict::Differs => "differs".into(),
        Verdict::Fails => "FAILS".into(),
        Verdict::OutOfReach => "not done".into(),
        Verdict::Shown => String::new(),
    };
    let reason = figure.reason.as_deref().map(|reason| format!("[{}]", reasons.number(reason)));
    let deviation = figure.deviation().map_or_else(String::new, |share| format!("{:+.1} %", share * 100.0));
    let words = [Some(word).filter(|word| !word.is_empty()), reason];
    [
        figure.name.clone(),
        published,
        figure.reproduced.map_or_else(String::new, text),
        deviation,
        words.into_iter().flatten().collect::<Vec<_>>().join(" "),
    ]
}

fn terminal_table(table: &Table, reasons: &mut Reasons) -> Vec<String> {
    let heads = ["figure", "published", "reproduced", "deviation", "verdict"].map(String::from);
    let mut rows = vec![heads];
    rows.extend(table.figures.iter().map(|figure| cells(figure, reasons)));
    let widths: Vec<usize> = (0..5)
        .map(|column| rows.iter().map(|row| report::style::columns_of(&row[column])).max().unwrap_or(0))
        .collect();
    let lines = rows.iter().map(|[name, published, reproduced, deviation, verdict]| {
        let line = format!(
            "  {}  {}  {}  {}  {verdict}",
            pad_end(name, widths[0].max(NAME_COLUMNS_MIN)),
            pad_start(published, widths[1].max(12)),
            pad_start(reproduced, widths[2].max(12)),
            pad_start(deviation, widths[3]),
        );
        line.trim_end().to_owned()
    });
    lines.collect()
}
