//! The foot of a page: how it was measured, how to repeat it and where more is.

use super::section::toned;
use super::stated::is_imported;
use crate::finding::Subject;
use crate::finding::numbers::number;
use crate::hostile::harmless;
use crate::quantity::{
    binary_capacity, capacity, count, counted, readable_moment, rough_time, size, target_size,
};
use crate::style::{Style, Tone, columns_of, pad_end, paragraph};
use model::experiment_name::{EngineName, ExperimentName};
use model::finding::{CapacityTrue, DataIntegrity, PastTheEnd, known};
use model::plan::PhaseKind;
use model::range::ByteRange;
use model::request::Operation;
use model::run::{Asked, Consent, PhaseSummary, Run, RunStatus, moved};
use model::target::TargetKind;
use model::units::{Bytes, Nanos};
use model::workload::Arrival;
use std::collections::BTreeSet;

pub(super) fn in_full(run: &Run, style: Style) -> Vec<String> {
    let facts = facts(run, style);
    let label_columns = facts.iter().map(|(label, _)| columns_of(label)).max().unwrap_or(0);
    let mut lines = vec![style.paint(Tone::Heading, "Method")];
    for (label, text) in facts {
        let first = format!("  {}  ", pad_end(label, label_columns));
        lines.extend(paragraph(&first, &text, style.columns()));
    }
    lines
}

/// One sentence for those who only want to know whether it was a minute or a night.
pub(super) fn in_brief(run: &Run, style: Style) -> Vec<String> {
    let caching = match (&run.environment.engine, run.environment.direct) {
        // Files are put out of memory before they are read.
        (EngineName::Files, _) => "buffered, writes flushed, page cache dropped before reads",
        (_, true) => "direct I/O",
        (_, false) => "buffered I/O",
    };
    let took = Nanos::new(run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0));
    // Figures of another program may overlap in time.
    let is_own = !is_imported(run);
    let lead = if is_own { style.own(&rough_time(took)) } else { style.name(run.environment.engine.name()) };
    let mut text = format!("Method: {lead}; {}", transferred(run));
    text += &overwritten(run);
    if is_own {
        let engine = match &run.environment.engine {
            EngineName::Files => "file I/O".into(),
            engine => style.name(engine.name()),
        };
        text += &format!("; {engine}, {caching}, seed {}", run.seed);
        text += &file_sizes(run);
        if let Some(per_second) = pace(run) {
            text += &format!("; measured requests paced at {}/s", number(per_second));
        }
    }
    toned(Tone::Faint, "", &format!("{text}."), style)
}

/// "; one file of 190 MiB, 500 small files": what its rates are of.
fn file_sizes(run: &Run) -> String {
    let (mut large, mut small) = (Bytes::ZERO, 0);
    for work in run.phases.iter().filter_map(|summary| summary.files.as_deref()) {
        match work.file_bytes {
            Some(bytes) => large = large.max(bytes),
            None => small = small.max(work.files),
        }
    }
    let mut text = String::new();
    if !large.is_zero() {
        text += &format!("; one file of {}", binary_capacity(large));
    }
    if small > 0 {
        let gap = if large.is_zero() { "; " } else { ", " };
        text += &format!("{gap}{} small files", count(small));
    }
    text
}

/// At how many requests a second they were sent, whatever the drive does.
pub(super) fn pace(run: &Run) -> Option<f64> {
    let measured = run.phases.iter().find(|phase| phase.phase.kind == PhaseKind::Measure)?;
    match measured.phase.workload.as_ref()?.arrival {
        Arrival::OpenLoop { per_second, .. } if measured.phase.experiment == ExperimentName::Ping => {
            Some(per_second)
        }
        _ => None,
    }
}

pub(crate) fn facts(run: &Run, style: Style) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("what", extent(run)),
        ("when", moment(run, style)),
        ("where", place(run, style)),
        ("engine", engine(run, style)),
    ];
    // Of a run that another program made there is nothing to say of these.
    let is_own = !is_imported(run);
    if is_own {
        facts.push(("blocks", blocks(run)));
        facts.push(("overhead", own_cost(run, style)));
        facts.push(("noise", noise(run, style)));
    }
    for (label, states) in [("before", &run.state_before), ("after", &run.state_after)] {
        if !states.is_empty() {
            facts.push((label, sentences(states, style)));
        }
    }
    if is_own {
        facts.push(("seed", format!("{} (repeats the same requests)", run.seed)));
    }
    facts
}

/// What a run with consent to write leaves of the data that were there. A scratch file and a folder had none.
fn overwritten(run: &Run) -> String {
    if run.target.kind == TargetKind::Folder && run.phases.iter().any(changed_data) {
        return "; wrote only its own temporary files".into();
    }
    let consent = run.asked.as_ref().map(|asked| asked.consent);
    if consent != Some(Consent::Overwrite) {
        return String::new();
    }
    let ranges = ranges(run, changed_data);
    let Some(range) = hull_of(&ranges) else { return String::new() };
    let subject = Subject::new(&run.target, &[]);
    let mut extent = subject.extent(range);
    let is_fake = known::<CapacityTrue>(&run.findings)
        .is_some_and(|known| known.conclusion.past_the_end != PastTheEnd::All);
    if is_fake && subject.is_whole(range) {
        extent = format!("the claimed {}", target_size(run.target.capacity));
    }
    // A pass may have been made of parts with gaps between them.
    match ByteRange::union(&ranges) == [range] && moved(&run.phases, &WRITES) >= range.bytes() {
        true => format!("; overwrote {extent}"),
        false => format!("; overwrote data in places across {extent}"),
    }
}

fn changed_data(summary: &PhaseSummary) -> bool {
    summary.totals.iter().any(|totals| totals.operation.changes_data())
}

/// The least range that holds those of all phases of a kind.
pub(crate) fn hull(run: &Run, is_meant: fn(&PhaseSummary) -> bool) -> Option<ByteRange> {
    hull_of(&ranges(run, is_meant))
}

fn ranges(run: &Run, is_meant: fn(&PhaseSummary) -> bool) -> Vec<ByteRange> {
    let mut ranges = Vec::new();
    for summary in run.phases.iter().filter(|summary| is_meant(summary)) {
        ranges.extend(summary.phase.workload.as_ref().map(|workload| workload.range));
    }
    ranges
}

fn hull_of(ranges: &[ByteRange]) -> Option<ByteRange> {
    let first = ranges.iter().map(ByteRange::first).min()?;
    let end = ranges.iter().map(ByteRange::end).max()?;
    ByteRange::new(first, end - first)
}

pub(super) const WRITES: [Operation; 2] = [Operation::Write, Operation::Commit];

fn extent(run: &Run) -> String {
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure).count();
    let all = run.phases.len();
    let phases = match measured {
        0 => format!("{} phases", count(all as u64)),
        _ if measured == all => format!("{} phases", count(all as u64)),
        _ => format!("{} phases, {} measured", count(all as u64), count(measured as u64)),
    };
    format!("{phases}; {}", transferred(run))
}

fn transferred(run: &Run) -> String {
    let (read, written) = (moved(&run.phases, &[Operation::Read]), moved(&run.phases, &WRITES));
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure);
    let measured = moved(measured, &WRITES);
    let written = match (capacity(written), capacity(measured)) {
        _ if written.is_zero() => "wrote nothing".into(),
        (all, measured_only) if measured.is_zero() || all == measured_only => format!("wrote {all}"),
        (all, measured_only) => format!("wrote {all} ({measured_only} in measured phases)"),
    };
    let read = if read.is_zero() { "read nothing".into() } else { format!("read {}", capacity(read)) };
    let mut text = format!("{read}, {written}");
    text += &committed(run);
    for what in not_served(run) {
        text += &format!("; {what}");
    }
    text
}

/// Commits are told apart from other writes, since each of them waited for a flush.
fn committed(run: &Run) -> String {
    let (mut commits, mut bytes, mut sizes) = (0, Bytes::ZERO, BTreeSet::new());
    for phase in &run.phases {
        let Some(totals) = phase.totals_of(Operation::Commit) else { continue };
        commits += totals.operations;
        bytes = bytes.saturating_add(Bytes::new(totals.bytes));
        sizes.extend(phase.phase.workload.as_ref().and_then(|workload| workload.block_sizes.single()));
    }
    // Of another program's, the bytes may count as written.
    if bytes.is_zero() {
        return String::new();
    }
    let of_size = match sizes.last() {
        Some(largest) if sizes.len() == 1 => format!(" of {}", size(*largest)),
        Some(largest) => format!(" of up to {}", size(*largest)),
        None => String::new(),
    };
    format!(", {} of it in {} commits{of_size}", capacity(bytes), count(commits))
}

/// What did not go well, in words. Of a comparing read the totals do not tell whether it failed or found something else; findings do.
pub(crate) fn not_served(run: &Run) -> Vec<String> {
    let (mut failed, mut uncommitted, mut wrong) = (0u64, 0u64, 0u64);
    for phase in &run.phases {
        for totals in &phase.totals {
            let errors = match totals.operation {
                _ if phase.compares_data() => &mut wrong,
                Operation::Commit => &mut uncommitted,
                _ => &mut failed,
            };
            *errors = errors.saturating_add(totals.errors);
        }
    }
    let mut said = Vec::new();
    if failed > 0 {
        said.push(format!("{} failed", counted(failed, "request", "requests")));
    }
    if uncommitted > 0 {
        said.push(format!("{} failed: what was written is lost", counted(uncommitted, "commit", "commits")));
    }
    if wrong > 0 {
        let place = if are_past_the_end(run) { " past the true capacity" } else { "" };
        said.push(format!("{}{place} did not return what was written", counted(wrong, "read", "reads")));
    }
    said
}

/// Whether what was compared was right wherever the drive holds data at all.
fn are_past_the_end(run: &Run) -> bool {
    let capacity = known::<CapacityTrue>(&run.findings);
    let is_smaller = capacity.is_some_and(|known| known.conclusion.past_the_end != PastTheEnd::All);
    let integrity = known::<DataIntegrity>(&run.findings);
    is_smaller && integrity.is_some_and(|known| known.conclusion.wrong.value == 0.0)
}

fn moment(run: &Run, style: Style) -> String {
    let took = Nanos::new(run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0));
    let started = readable_moment(&style.name(&run.started));
    // Figures of another program may overlap in time.
    if is_imported(run) { started } else { format!("{started}, took {}", style.own(&rough_time(took))) }
}

fn place(run: &Run, style: Style) -> String {
    let environment = &run.environment;
    let mut parts = Vec::new();
    if !environment.host.is_empty() {
        parts.push(style.name(&environment.host));
    }
    if !matches!(environment.kernel.as_str(), "" | "none") {
        parts.push(format!("Linux {}", style.name(&environment.kernel)));
    }
    parts.push(format!("drivescope {}", style.name(&run.version)));
    parts.join(", ")
}

fn engine(run: &Run, style: Style) -> String {
    let environment = &run.environment;
    let meaning = match &environment.engine {
        EngineName::Uring => "uring (io_uring)".into(),
        EngineName::Psync => "psync (blocking pread and pwrite)".into(),
        EngineName::Files => "files (file system calls)".into(),
        EngineName::Sim => "sim (simulated drive)".into(),
        EngineName::Null => "null (no drive)".into(),
        EngineName::Other(program) => style.name(program),
    };
    let caching = if environment.direct { "direct I/O" } else { "buffered (through the page cache)" };
    let mut parts = vec![meaning, caching.into()];
    if let Some(scheduler) = &environment.scheduler {
        parts.push(format!("scheduler {}", style.name(scheduler)));
    }
    for feature in &environment.engine_features {
        parts.push(style.sentence(feature));
    }
    parts.extend(busy_waiting(run));
    parts.join("; ")
}

/// How much of the measuring time its worker busy-waited for completions.
fn busy_waiting(run: &Run) -> Option<String> {
    let (mut spun_ns, mut took_ns) = (0, 0);
    for summary in run.phases.iter().filter(|summary| summary.phase.workload.is_some()) {
        spun_ns += summary.spun_ns;
        took_ns += summary.duration_ns;
    }
    if spun_ns == 0 {
        return None;
    }
    let share = 100.0 * spun_ns as f64 / took_ns.max(1) as f64;
    Some(if share < 1.0 {
        "busy-waited for less than 1 % of the time".into()
    } else {
        format!("busy-waited for {share:.0} % of the time")
    })
}

fn blocks(run: &Run) -> String {
    let (logical, physical) = (run.target.logical_block, run.target.physical_block);
    if logical == physical {
        return format!("{} logical and physical", size(logical));
    }
    format!("{} logical, {} physical", size(logical), size(physical))
}

fn own_cost(run: &Run, style: Style) -> String {
    if let Some(cost_ns) = run.environment.own_cost_ns_per_io
        && let Some(cost) = Nanos::from_secs_f64(cost_ns / 1e9)
    {
        return style.own(&format!("drivescope adds about {} per request", rough_time(cost)));
    }
    "none in virtual time".into()
}

fn noise(run: &Run, style: Style) -> String {
    let Some(gap_ns) = run.environment.scheduling_gap_ns_max else { return "none in virtual time".into() };
    style.own(&format!(
        "this host delayed drivescope by up to {} before the run; shorter stalls may be the host's",
        rough_time(Nanos::new(gap_ns))
    ))
}

fn sentences(sentences: &[String], style: Style) -> String {
    let shown: Vec<String> = sentences.iter().map(|sentence| style.sentence(sentence)).collect();
    shown.join(" ")
}

/// Longest command that is shown whole; it stands on one line, so that it can be copied.
const COMMAND_COLUMNS_MAX: usize = 400;

pub(super) fn what_next(run: &Run, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint(Tone::Heading, "Next commands")];
    for (label, command) in commands(run, style) {
        lines.push(format!("  {}   {command}", pad_end(label, 7)));
    }
    lines
}

/// The commands that go on with the run, repeat it and show more of it: what each is for, and the command.
pub(crate) fn commands(run: &Run, style: Style) -> Vec<(&'static str, String)> {
    let id = style.name(&run.id);
    let mut commands = Vec::new();
    if let Some(words) = going_on(run) {
        commands.push(("resume", format!("{} {id}", style.own(&words))));
    }
    commands.extend([
        ("again", style.own(&harmless(&run.command, COMMAND_COLUMNS_MAX))),
        ("more", format!("drivescope show {id} --verbose")),
        ("as JSON", format!("drivescope show {id} --json -")),
    ]);
    commands
}

/// The words before the name of a run that was interrupted, which go on with it. Consents to write are given again.
fn going_on(run: &Run) -> Option<String> {
    if run.status != RunStatus::Interrupted {
        return None;
    }
    let first = &run.phases.first()?.phase;
    // A run on a scratch file begins with filling it, and it is gone when the run ends.
    if run.target.kind == TargetKind::File && first.kind == PhaseKind::Precondition {
        return None;
    }
    // The phases of one that was asked for may be those of several.
    let (experiment, consent) = match &run.asked {
        Some(Asked { experiment, consent: Consent::Read }) => (experiment, ""),
        Some(Asked { experiment, .. }) => (experiment, " --write"),
        None => (&first.experiment, ""),
    };
    let experiment = harmless(experiment.name(), COMMAND_COLUMNS_MAX);
    Some(format!("drivescope {experiment}{consent} --resume"))
}
