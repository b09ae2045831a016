//! Several folders side by side: each task a row, each folder a column, with a bar for each, so that what depends on the place is seen at
//! a glance.

use super::findings::label;
use crate::quantity::{capacity, measured};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, paragraph};
use model::file_work::FileWork;
use model::finding::{Datum, Finding, FindingCode, Outcome, Value};
use model::run::Run;
use model::units::Bytes;

/// The longest bar.
const BAR_COLUMNS: usize = 20;

/// The folders that were measured, in the order in which they come.
fn folders(run: &Run) -> Vec<&FileWork> {
    let mut folders: Vec<&FileWork> = Vec::new();
    for work in run.phases.iter().filter_map(|phase| phase.files.as_deref()) {
        if !folders.iter().any(|known| known.folder == work.folder) {
            folders.push(work);
        }
    }
    folders
}

/// Whether a finding stands in the table: a figure of one of several folders.
pub(super) fn is_in_the_table(finding: &Finding, run: &Run) -> bool {
    folder_of(finding).is_some() && finding.code != FindingCode::FileLayout && folders(run).len() > 1
}

fn folder_of(finding: &Finding) -> Option<&str> {
    match &finding.outcome {
        Outcome::Known(conclusion) => conclusion.data.iter().find_map(|(name, datum)| match datum {
            Datum::Text(folder) if name == "folder" => Some(folder.as_str()),
            _ => None,
        }),
        Outcome::Unknown { .. } => None,
    }
}

/// The table; nothing for a single folder.
pub(super) fn side_by_side(run: &Run, style: Style) -> Vec<String> {
    let folders = folders(run);
    let figures: Vec<&Finding> =
        run.findings.iter().filter(|finding| is_in_the_table(finding, run)).collect();
    if folders.len() < 2 || figures.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Tone::Heading, "The folders side by side")];
    let mut codes: Vec<FindingCode> = figures.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let name_columns = folders.iter().map(|work| columns_of(&style.name(&work.folder))).max().unwrap_or(0);
    for code in codes {
        lines.push(format!("  {}{}", label(code), differs(run, code)));
        let of_code: Vec<&Finding> = figures.iter().copied().filter(|finding| finding.code == code).collect();
        let best = of_code.iter().filter_map(|finding| finding.estimate()).map(|estimate| estimate.value);
        let best = best.fold(0.0, f64::max);
        for work in &folders {
            let finding = of_code.iter().find(|finding| folder_of(finding) == Some(work.folder.as_str()));
            let name = pad_end(&style.name(&work.folder), name_columns);
            lines.push(
                format!("    {name}  {}", figure(finding.copied(), best, style)).trim_end().to_string(),
            );
        }
    }
    lines.extend(paragraph("  ", &meaning(run), style.columns()));
    lines
}

/// "142 MB/s  141 to 143   3 %  ####################"
fn figure(finding: Option<&Finding>, best: f64, style: Style) -> String {
    let Some(Outcome::Known(conclusion)) = finding.map(|finding| &finding.outcome) else {
        return "unknown".into();
    };
    let Value::Number { estimate, unit } = &conclusion.value else { return String::new() };
    let shown = measured(estimate, unit);
    let processor = conclusion.data.iter().find_map(|(name, datum)| match datum {
        Datum::Number(percent) if name == "processor_percent" => Some(format!("{percent:.0} %")),
        _ => None,
    });
    let bar = ((estimate.value / best * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    format!(
        "{}  {}  {}  {}",
        pad_start(&style.own(&shown.value), 12),
        pad_end(&style.own(&shown.interval), 18),
        pad_start(&processor.unwrap_or_default(), 5),
        "#".repeat(bar)
    )
}

/// Whether the folders differ in it, as `file-place-effect` found.
fn differs(run: &Run, code: FindingCode) -> &'static str {
    let task =
        run.findings.iter().find(|finding| finding.code == code).and_then(|finding| text_of(finding, "task"));
    let effect = run.findings.iter().find(|finding| finding.code == FindingCode::FilePlaceEffect);
    let Some(Outcome::Known(conclusion)) = effect.map(|effect| &effect.outcome) else { return "" };
    let tasks = conclusion.data.iter().find_map(|(name, datum)| match datum {
        Datum::List(tasks) if name == "tasks" => Some(tasks),
        _ => None,
    });
    let is_of_task = |parts: &&Vec<(model::finding::Name, Datum)>| {
        parts.iter().any(|(name, datum)| name == "task" && Some(datum) == task.as_ref())
    };
    let record = tasks.into_iter().flatten().filter_map(|datum| match datum {
        Datum::Record(parts) => Some(parts),
        _ => None,
    });
    match record.into_iter().find(is_of_task) {
        Some(parts) if parts.contains(&("differs".into(), Datum::Flag(true))) => "  (differs)",
        Some(_) => "  (no difference that stands)",
        None => "",
    }
}

fn text_of(finding: &Finding, wanted: &str) -> Option<Datum> {
    match &finding.outcome {
        Outcome::Known(conclusion) => {
            conclusion.data.iter().find(|(name, _)| name == wanted).map(|(_, datum)| datum.clone())
        }
        Outcome::Unknown { .. } => None,
    }
}

fn meaning(run: &Run) -> String {
    let large = run.phases.iter().filter_map(|phase| phase.files.as_deref()?.file_bytes).max();
    let file =
        large.map_or_else(String::new, |bytes: Bytes| format!(" The large file has {}.", capacity(bytes)));
    format!(
        "Each line: the rate, its range, the share of one processor, and a bar that is full for the fastest folder.{file} Writes count \
         when they are flushed; what is read was put out of memory before."
    )
}
