//! The foot of a page: how it was measured, how to repeat it and where more is.

use super::is_imported;
use crate::quantity::{capacity, count, rough_time, size};
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::target::TargetKind;
use model::units::{Bytes, Nanos};

/// How it was measured, one fact a line.
pub(super) fn how_it_was_measured(run: &Run, style: Style) -> Vec<String> {
    let facts = facts(run, style);
    let label_columns = facts.iter().map(|(label, _)| columns_of(label)).max().unwrap_or(0);
    let mut lines = vec![style.paint(Tone::Heading, "How it was measured")];
    for (label, text) in facts {
        let first = format!("  {}  ", pad_end(label, label_columns));
        lines.extend(paragraph(&first, &text, style.columns()));
    }
    lines
}

/// How it was measured: the name of each fact, and the fact.
pub(crate) fn facts(run: &Run, style: Style) -> Vec<(&'static str, String)> {
    // Of a run that another program made there is nothing to say of these.
    let measured = |text: &dyn Fn() -> String| (!is_imported(run)).then(text);
    [
        ("what", Some(extent(run))),
        ("when", Some(moment(run, style))),
        ("where", place(run, style)),
        ("engine", Some(engine(run, style))),
        ("blocks", measured(&|| blocks(run))),
        ("own cost", measured(&|| own_cost(run, style))),
        ("noise", measured(&|| noise(run, style))),
        ("before", sentences(&run.state_before, style)),
        ("after", sentences(&run.state_after, style)),
        ("seed", measured(&|| format!("{} (the same seed gives the same requests)", run.seed))),
    ]
    .into_iter()
    .filter_map(|(label, text)| text.map(|text| (label, text)))
    .collect()
}

fn extent(run: &Run) -> String {
    let bytes_of = |operation| -> u64 {
        let totals = run.phases.iter().filter_map(|phase| phase.totals_of(operation));
        totals.fold(0, |bytes, totals| bytes.saturating_add(totals.bytes))
    };
    let all = run.phases.len() as u64;
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure).count() as u64;
    let steps = if measured == all {
        format!("{} measurements", count(all))
    } else {
        format!("{} phases, {} of them measurements", count(all), count(measured))
    };
    let written = match bytes_of(Operation::Write) {
        0 => "wrote nothing".into(),
        bytes => format!("wrote {}", capacity(Bytes(bytes))),
    };
    let failed: String = not_served(run).into_iter().map(|what| format!("; {what}")).collect();
    format!("{steps}; read {}, {written}{failed}", capacity(Bytes(bytes_of(Operation::Read))))
}

/// What did not go well, in words. Of a comparing read the totals do not tell whether it failed or found something else; findings do.
pub(crate) fn not_served(run: &Run) -> Vec<String> {
    let errors = |compared: bool| {
        let phases = run.phases.iter().filter(|phase| phase.compares_data() == compared);
        phases.fold(0u64, |errors, phase| errors.saturating_add(phase.errors()))
    };
    let mut said = Vec::new();
    match errors(false) {
        0 => {}
        failed => said.push(format!("{} requests failed", count(failed))),
    }
    match errors(true) {
        0 => {}
        wrong => said.push(format!("{} reads found other data than belong there, or failed", count(wrong))),
    }
    said
}

fn moment(run: &Run, style: Style) -> String {
    let took = Nanos(run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0));
    format!("{}, took {}", readable_moment(&style.name(&run.started)), style.own(&rough_time(took)))
}

/// "2026-11-21 20:15 UTC" of RFC 3339 in UTC; anything else stays as it is.
pub(crate) fn readable_moment(rfc3339: &str) -> String {
    let is_utc = rfc3339.is_ascii() && rfc3339.len() >= 20 && rfc3339.ends_with('Z');
    match rfc3339.split_once('T') {
        Some((date, time)) if is_utc && date.len() == 10 => format!("{date} {} UTC", &time[..5]),
        _ => rfc3339.into(),
    }
}

fn place(run: &Run, style: Style) -> Option<String> {
    let environment = &run.environment;
    let host = (!environment.host.is_empty()).then(|| style.name(&environment.host));
    let kernel = (!matches!(environment.kernel.as_str(), "" | "none"))
        .then(|| format!("Linux {}", style.name(&environment.kernel)));
    let version = format!("drivescope {}", style.name(&run.version));
    let parts: Vec<String> = [host, kernel, Some(version)].into_iter().flatten().collect();
    Some(parts.join(", "))
}

fn engine(run: &Run, style: Style) -> String {
    let environment = &run.environment;
    let meaning = match environment.engine.as_str() {
        "uring" => "uring (io_uring)".into(),
        "psync" => "psync (plain reads and writes)".into(),
        "files" => "files (calls to the file system)".into(),
        "sim" => "sim (a model in place of a drive)".into(),
        other => style.name(other),
    };
    let caching = if environment.direct {
        "direct I/O, past the page cache"
    } else {
        "through the page cache (no direct I/O)"
    };
    let scheduler = environment.scheduler.as_deref().map(|name| format!("scheduler {}", style.name(name)));
    let features = environment.engine_features.iter().map(|feature| style.sentence(feature));
    let parts: Vec<String> = [meaning, caching.into()].into_iter().chain(scheduler).chain(features).collect();
    parts.join("; ")
}

fn blocks(run: &Run) -> String {
    let (logical, physical) = (run.target.logical_block, run.target.physical_block);
    if logical == physical {
        return format!("{} each", size(logical));
    }
    format!("{} each, handled by the drive as {}", size(logical), size(physical))
}

fn own_cost(run: &Run, style: Style) -> String {
    let cost = run.environment.own_cost_ns_per_io.and_then(|cost_ns| Nanos::from_secs_f64(cost_ns / 1e9));
    cost.map_or("none in virtual time".into(), |cost| {
        style.own(&format!("drivescope itself adds about {} to each request", rough_time(cost)))
    })
}

fn noise(run: &Run, style: Style) -> String {
    run.environment.scheduling_gap_ns_max.map_or("none in virtual time".into(), |gap_ns| {
        style.own(&format!(
            "before the start this machine kept drivescope waiting for up to {}; shorter stalls may be its own",
            rough_time(Nanos(gap_ns))
        ))
    })
}

fn sentences(sentences: &[String], style: Style) -> Option<String> {
    let shown: Vec<String> = sentences.iter().map(|sentence| style.sentence(sentence)).collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// Longest command that is shown whole; it stands on one line, so that it can be copied.
const COMMAND_COLUMNS_MAX: usize = 400;

/// The commands that repeat the run and show more of it. They are not broken into lines, so that they can be copied.
pub(super) fn what_next(run: &Run, style: Style) -> Vec<String> {
    let heading = style.paint(Tone::Heading, "What next");
    let commands = commands(run, style);
    let lines = commands.iter().map(|(label, command)| format!("  {}   {command}", pad_end(label, 7)));
    std::iter::once(heading).chain(lines).collect()
}

/// The commands that go on with the run, repeat it and show more of it: what each is for, and the command.
pub(crate) fn commands(run: &Run, style: Style) -> Vec<(&'static str, String)> {
    let id = style.name(&run.id);
    let command = style.own(&crate::hostile::harmless(&run.command, COMMAND_COLUMNS_MAX));
    let going_on = going_on(run).map(|words| ("go on", format!("{} {id}", style.own(&words))));
    let always = [
        ("again", command),
        ("more", format!("drivescope show {id}")),
        ("as JSON", format!("drivescope show {id} --json -")),
    ];
    going_on.into_iter().chain(always).collect()
}

/// The words before the name of a run that was interrupted, which go on with it. Consents to write are given again.
fn going_on(run: &Run) -> Option<String> {
    let first = &run.phases.first().filter(|_| run.status == RunStatus::Interrupted)?.phase;
    // A run on a scratch file begins with filling it, and it is gone when the run ends.
    if run.target.kind == TargetKind::File && first.kind == PhaseKind::Precondition {
        return None;
    }
    let experiment = &first.experiment;
    let experiment = crate::hostile::harmless(experiment, COMMAND_COLUMNS_MAX);
    let writes = run.command.split(' ').any(|word| word == "--write");
    let consent = if writes { " --write" } else { "" };
    Some(format!("drivescope {experiment}{consent} --resume"))
}
