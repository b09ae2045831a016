//! How it was measured: facts, every step with its settings, and the commands.

use super::content::{Heading, ReportPage, STYLE, table_head};
use crate::chart::ChartedRun;
use crate::quantity::{capacity, count, rough_time, size};
use crate::terminal::method::{commands, facts};
use maud::{Markup, html};
use model::plan::PhaseKind;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Nanos};
use model::workload::{Arrival, Caching, OperationMix, Pattern, Workload};

/// More steps than this are not read; the JSON document has all.
const STEPS_MAX: usize = 300;

pub(super) fn section(content: &ReportPage<'_>, names: &[String]) -> Markup {
    html! {
        section id="method" aria-labelledby="method-title" {
            h2 id="method-title" { "Method" }
            @for (charted, name) in content.runs.iter().zip(names) {
                @if let Some(letter) = charted.letter { h3 { (letter) " · " (name) } }
                (of_run(charted))
            }
        }
    }
}

fn of_run(charted: &ChartedRun<'_>) -> Markup {
    let run = charted.run;
    let heading = if charted.letter.is_some() { Heading::Fourth } else { Heading::Third };
    html! {
        dl class="facts" {
            @for (label, text) in facts(run, STYLE).into_iter().chain(settings_of_target(run)) {
                div { dt { (label) } dd { (text) } }
            }
        }
        (steps(charted))
        (heading.with(None, "Repeat"))
        dl class="commands" {
            @for (label, command) in commands(run, STYLE) {
                div {
                    dt { (label) }
                    dd {
                        code { (command) } " "
                        button type="button" class="copy quiet" hidden { "Copy" span class="sr" { " the command: " (label) } }
                    }
                }
            }
        }
    }
}

fn settings_of_target(run: &Run) -> Vec<(&'static str, String)> {
    let target = &run.target;
    let mut settings = Vec::new();
    if !target.stack.is_empty() {
        settings.push(("layers", STYLE.sentence(&target.stack.join(", on "))));
    }
    if let Some(scheduler) = &target.scheduler {
        settings.push(("scheduler", STYLE.sentence(scheduler)));
    }
    if let Some(bytes) = target.read_ahead {
        settings.push(("read-ahead", format!("{} by the kernel, for buffered reads", size(bytes))));
    }
    if let Some(on) = target.write_cache {
        settings.push(("write cache", if on { "on" } else { "off" }.into()));
    }
    if let Some(zoned) = &target.zoned {
        settings.push(("zoned", STYLE.sentence(zoned)));
    }
    settings.push(("run", STYLE.sentence(&run.id)));
    settings
}

fn steps(charted: &ChartedRun<'_>) -> Markup {
    let phases = &charted.run.phases;
    let left = phases.len().saturating_sub(STEPS_MAX);
    html! {
        details {
            summary { "All phases (" (count(phases.len() as u64)) ")" }
            div class="scroll" tabindex="0" role="region" aria-label={"Steps" @if let Some(letter) = charted.letter { " of " (letter) }} {
                table {
                    (table_head(&["Step", "What", "Where", "Requests", "Took", "Moved", "Failed"]))
                    tbody {
                        @for summary in phases.iter().take(STEPS_MAX) {
                            tr {
                                th scope="row" { (STYLE.name(&summary.phase.name)) }
                                @for cell in cells(summary) { td { (cell) } }
                            }
                        }
                    }
                }
            }
            @if left > 0 { p class="faint" { "And " (count(left as u64)) " more; the JSON document has all." } }
        }
    }
}

fn cells(summary: &PhaseSummary) -> [String; 6] {
    let workload = summary.phase.workload.as_ref();
    let kind = match summary.phase.kind {
        PhaseKind::Measure => "measured",
        PhaseKind::Idle => "rest",
        PhaseKind::WarmUp => "warm-up",
        PhaseKind::Precondition => "preparation",
        PhaseKind::Purge => "purge",
        PhaseKind::Verify => "data check",
        PhaseKind::Reread => "reread",
    };
    [
        match workload {
            Some(workload) => format!("{kind}: {}", what(workload)),
            None => kind.into(),
        },
        workload.map_or(String::new(), place),
        workload.map_or(String::new(), requests),
        rough_time(Nanos::new(summary.duration_ns)),
        if summary.bytes() == 0 { String::new() } else { capacity(Bytes::new(summary.bytes())) },
        if summary.errors() == 0 { String::new() } else { count(summary.errors()) },
    ]
}

fn what(workload: &Workload) -> String {
    let operations = match workload.mix {
        OperationMix::Read => "reads".into(),
        OperationMix::Write => "writes".into(),
        OperationMix::Discard => "discards".into(),
        OperationMix::ReadWrite { read_share } => format!("{:.0} % reads", 100.0 * read_share),
        OperationMix::Commit(commits) => format!("commits by {}", commits.method.name()),
    };
    let pattern = match &workload.pattern {
        Pattern::Sequential => "sequential".into(),
        Pattern::RandomOnce => "random, each block once".into(),
        Pattern::RandomWithReplacement => "random".into(),
        Pattern::Strided { stride } => format!("{} apart", size(*stride)),
        Pattern::Zoned { .. } => "random, skewed".into(),
        Pattern::Mixed { random_share } => format!("{:.0} % random", 100.0 * random_share),
        Pattern::Listed { offsets } => format!("{} given offsets", count(offsets.len() as u64)),
    };
    format!("{operations}, {pattern}")
}

fn place(workload: &Workload) -> String {
    let range = workload.range;
    match range.first().get() {
        0 => format!("the first {}", capacity(range.bytes())),
        first => format!("{} from {}", capacity(range.bytes()), capacity(Bytes::new(first))),
    }
}

fn requests(workload: &Workload) -> String {
    let block = match workload.block_sizes.single() {
        Some(block) => size(block),
        None => "several sizes".into(),
    };
    let mut text = format!("{block}, QD {}", count(workload.in_flight_max()));
    if let Arrival::OpenLoop { per_second, .. } = workload.arrival {
        text += &format!(", {per_second:.0} IOPS");
    }
    if workload.caching == Caching::Buffered {
        text += ", buffered";
    }
    text
}
