//! How it was measured: facts, every step with its settings, and the commands.

use super::markup::Markup;
use super::{ReportPage, STYLE};
use crate::chart::ChartedRun;
use crate::hostile::escaped;
use crate::quantity::{capacity, count, rough_time, size};
use crate::terminal::method::{commands, facts};
use model::plan::PhaseKind;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Nanos};
use model::workload::{Arrival, Caching, OperationMix, Pattern, Workload};

/// More steps than this are not read; the JSON document has all.
const STEPS_MAX: usize = 300;

pub(super) fn section(page: &mut Markup, content: &ReportPage<'_>, names: &[String]) {
    page.put(r#"<section id="method" aria-labelledby="method-title"><h2 id="method-title">How it was measured</h2>"#);
    for (charted, name) in content.runs.iter().zip(names) {
        if let Some(letter) = charted.letter {
            page.put(format_args!("<h3>{} · {}</h3>", escaped(letter), escaped(name)));
        }
        of_run(page, charted);
    }
    page.put("</section>");
}

fn of_run(page: &mut Markup, charted: &ChartedRun<'_>) {
    let run = charted.run;
    let heading = if charted.letter.is_some() { "h4" } else { "h3" };
    page.put(r#"<dl class="facts">"#);
    for (label, text) in facts(run, STYLE) {
        page.put(format_args!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(label), escaped(&text)));
    }
    for (label, text) in settings_of_target(run) {
        page.put(format_args!("<div><dt>{label}</dt><dd>{}</dd></div>", escaped(&text)));
    }
    page.put("</dl>");
    steps(page, charted);
    page.put(format_args!(r#"<{heading}>How to repeat it</{heading}><dl class="commands">"#));
    for (label, command) in commands(run, STYLE) {
        page.put(format_args!(
            r#"<div><dt>{}</dt><dd><code>{}</code> <button type="button" class="copy quiet" hidden>Copy<span class="sr"> the command: {}</span></button></dd></div>"#,
            escaped(label),
            escaped(&command),
            escaped(label)
        ));
    }
    page.put("</dl>");
}

fn settings_of_target(run: &Run) -> Vec<(&'static str, String)> {
    let target = &run.target;
    let on_off = |on: bool| if on { "on" } else { "off" }.to_string();
    let facts = [
        ("layers", (!target.stack.is_empty()).then(|| target.stack.join(", on "))),
        ("scheduler", target.scheduler.clone()),
        (
            "read-ahead",
            target.read_ahead.map(|bytes| format!("{} by the kernel, for buffered reads", size(bytes))),
        ),
        ("write cache", target.write_cache.map(on_off)),
        ("zoned", target.zoned.clone()),
        ("run", Some(run.id.clone())),
    ];
    facts.into_iter().filter_map(|(label, text)| Some((label, STYLE.sentence(&text?)))).collect()
}

fn steps(page: &mut Markup, charted: &ChartedRun<'_>) {
    let run = charted.run;
    let name = charted.letter.map_or("Steps".to_string(), |letter| format!("Steps of {letter}"));
    page.put(format_args!(
        r#"<details><summary>Every step and its settings ({})</summary><div class="scroll" tabindex="0" role="region" aria-label="{}"><table><thead><tr><th scope="col">Step</th><th scope="col">What</th><th scope="col">Where</th><th scope="col">Requests</th><th scope="col">Took</th><th scope="col">Moved</th><th scope="col">Failed</th></tr></thead><tbody>"#,
        count(run.phases.len() as u64),
        escaped(&name)
    ));
    for summary in run.phases.iter().take(STEPS_MAX) {
        let cells = cells(summary);
        let cells: Vec<String> = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let name = STYLE.name(&summary.phase.name);
        page.put(format_args!(r#"<tr><th scope="row">{}</th>{}</tr>"#, escaped(&name), cells.concat()));
    }
    page.put("</tbody></table></div>");
    if run.phases.len() > STEPS_MAX {
        let left = count((run.phases.len() - STEPS_MAX) as u64);
        page.paragraph("faint", &format!("And {left} more; the run as JSON has all."));
    }
    page.put("</details>");
}

fn cells(summary: &PhaseSummary) -> [String; 6] {
    let workload = summary.phase.workload.as_ref();
    let kind = match summary.phase.kind {
        PhaseKind::Measure => "measured",
        PhaseKind::Idle => "rest",
        PhaseKind::WarmUp => "warm-up",
        PhaseKind::Precondition => "preparation",
        PhaseKind::Purge => "purge",
        PhaseKind::Verify => "check of the data",
    };
    let what = workload.map_or(kind.to_string(), |workload| format!("{kind}: {}", what(workload)));
    [
        what,
        workload.map_or(String::new(), place),
        workload.map_or(String::new(), requests),
        rough_time(Nanos(summary.duration_ns)),
        if summary.bytes() == 0 { String::new() } else { capacity(Bytes(summary.bytes())) },
        if summary.errors() == 0 { String::new() } else { count(summary.errors()) },
    ]
}

fn what(workload: &Workload) -> String {
    let operations = match workload.mix {
        OperationMix::Read => "reads".into(),
        OperationMix::Write => "writes".into(),
        OperationMix::Discard => "discards".into(),
        OperationMix::ReadWrite { read_share } => {
            format!("{:.0} % reads, the rest writes", 100.0 * read_share)
        }
    };
    let pattern = match &workload.pattern {
        Pattern::Sequential => "one after the other".into(),
        Pattern::RandomOnce => "random, each place once".into(),
        Pattern::RandomWithReplacement => "random".into(),
        Pattern::Strided { stride } => format!("{} apart", size(*stride)),
        Pattern::Zoned { .. } => "random, some parts more often".into(),
        Pattern::Mixed { random_share } => format!("{:.0} % of them random", 100.0 * random_share),
        Pattern::Listed { offsets } => format!("at {} given places", count(offsets.len() as u64)),
    };
    format!("{operations}, {pattern}")
}

fn place(workload: &Workload) -> String {
    let range = workload.range;
    match range.first().0 {
        0 => format!("the first {}", capacity(range.bytes())),
        first => format!("{} from {}", capacity(range.bytes()), capacity(Bytes(first))),
    }
}

fn requests(workload: &Workload) -> String {
    let block = match workload.block_sizes.single() {
        Some(block) => size(block),
        None => "several sizes".into(),
    };
    let mut text = format!("{block}, {} at once", count(workload.in_flight_max()));
    if let Arrival::OpenLoop { per_second, .. } = workload.arrival {
        text += &format!(", {per_second:.0} a second");
    }
    if workload.caching == Caching::Buffered {
        text += ", through the page cache";
    }
    text
}
