//! Several folders side by side: each task a row, each folder a column with a bar, so that what depends on the place is seen.

use crate::finding::label;
use crate::quantity::{capacity, measured};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, paragraph};
use model::file_work::FileTask;
use model::finding::{FilePlaceEffect, FileRate, Finding, FindingCode, known};
use model::run::Run;
use std::collections::BTreeMap;

const BAR_COLUMNS: usize = 20;

fn folders(run: &Run) -> Vec<&str> {
    let mut folders: Vec<&str> = Vec::new();
    for phase in &run.phases {
        if let Some(work) = &phase.files
            && !folders.contains(&work.folder.as_str())
        {
            folders.push(&work.folder);
        }
    }
    folders
}

/// Whether a finding stands in the table: a figure of one of several folders.
pub(super) fn is_in_the_table(finding: &Finding, run: &Run) -> bool {
    finding.as_known::<FileRate>().is_some() && folders(run).len() > 1
}

pub(super) fn side_by_side(run: &Run, style: Style) -> Vec<String> {
    let folders = folders(run);
    let mut figures: BTreeMap<FindingCode, Vec<&FileRate>> = BTreeMap::new();
    for finding in &run.findings {
        if let Some(known) = finding.as_known::<FileRate>() {
            figures.entry(finding.code()).or_default().push(&known.conclusion);
        }
    }
    if folders.len() < 2 || figures.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Tone::Heading, "The folders side by side")];
    let name_columns = folders.iter().map(|folder| columns_of(&style.name(folder))).max().unwrap_or(0);
    for (code, files) in figures {
        lines.push(format!("  {}{}", label(code), differs(run, files[0].task)));
        let best = files.iter().map(|file| file.rate.value).fold(0.0, f64::max);
        for folder in &folders {
            let name = pad_end(&style.name(folder), name_columns);
            let figure = match files.iter().find(|file| file.folder == *folder) {
                Some(file) => figure(file, code, best, style),
                None => "unknown".into(),
            };
            lines.push(format!("    {name}  {figure}").trim_end().to_string());
        }
    }
    lines.extend(paragraph("  ", &meaning(run), style.columns()));
    lines
}

/// "142 MB/s  141 to 143   3 %  ####################"
fn figure(file: &FileRate, code: FindingCode, best: f64, style: Style) -> String {
    let shown = measured(&file.rate, code.unit().unwrap_or_default());
    let processor = match file.processor {
        Some(processor) => format!("{:.0} %", processor.percent),
        None => String::new(),
    };
    let bar = ((file.rate.value / best * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    format!(
        "{}  {}  {}  {}",
        pad_start(&style.own(&shown.value), 12),
        pad_end(&style.own(&shown.interval), 18),
        pad_start(&processor, 5),
        "#".repeat(bar)
    )
}

fn differs(run: &Run, task: FileTask) -> &'static str {
    let Some(effect) = known::<FilePlaceEffect>(&run.findings) else { return "" };
    match effect.conclusion.tasks.iter().find(|effect| effect.task == task) {
        Some(effect) if effect.differs => "  (differs)",
        Some(_) => "  (no significant difference)",
        None => "",
    }
}

fn meaning(run: &Run) -> String {
    let mut large = None;
    for phase in &run.phases {
        if let Some(work) = &phase.files {
            large = large.max(work.file_bytes);
        }
    }
    let file = match large {
        Some(bytes) => format!(" The large file has {}.", capacity(bytes)),
        None => String::new(),
    };
    format!(
        "Each line: throughput, its 95 % CI, CPU, and a bar that is full for the fastest folder.{file} Writes include the \
         flush; the page cache was dropped before reads."
    )
}
