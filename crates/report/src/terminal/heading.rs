//! The head of a page: what was measured, and what must be known before the rest is believed.

use super::section::toned;
use crate::hostile::harmless;
use crate::quantity::{capacity, rough_rate, size};
use crate::style::{Style, Tone, paragraph, wrap};
use model::experiment_name::EngineName;
use model::finding::{CacheInfluence, CacheSign, known};
use model::plan::StopReason;
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::target::{Caveat, TargetFacts, TargetKind};

pub(super) fn target(target: &TargetFacts, style: Style) -> Vec<String> {
    let path = path(target, style);
    let (title, place) = match identity(target, style) {
        // A virtual drive without a model of its own is called after its path.
        Some(title) if !title.ends_with(&path) => (title, format!("{path}: ")),
        None if target.kind == TargetKind::Folder => (format!("Folder {path}"), String::new()),
        Some(_) | None => (path.clone(), String::new()),
    };
    let mut lines = Vec::new();
    for line in wrap(&title, style.columns()) {
        lines.push(style.paint(Tone::Heading, &line));
    }
    lines.extend(paragraph("  ", &format!("{place}{}", description(target, style)), style.columns()));
    let layers: Vec<String> = target.stack.iter().map(|layer| style.sentence(layer)).collect();
    let is_news = match layers.as_slice() {
        [] => false,
        [only] => !path.ends_with(only),
        _ => true,
    };
    if is_news {
        lines.extend(paragraph("  ", &format!("Storage stack: {}.", layers.join(", on ")), style.columns()));
    }
    lines
}

/// Where it is. Only a scratch file goes by the name of its folder.
pub(crate) fn path(target: &TargetFacts, style: Style) -> String {
    let is_scratch = target.kind == TargetKind::File && target.path == ".";
    if is_scratch { "Scratch file in this folder".into() } else { style.name(&target.path) }
}

/// ATA and NVMe give a model at most 40 characters, and serial number and firmware fewer.
const IDENTITY_COLUMNS_MAX: usize = 48;

pub(crate) fn identity(target: &TargetFacts, style: Style) -> Option<String> {
    let mut title = said(target.model.as_deref()?, style)?;
    for (word, text) in [("serial number", &target.serial), ("firmware", &target.firmware)] {
        if let Some(text) = text
            && let Some(text) = said(text, style)
        {
            title += &format!(", {word} {text}");
        }
    }
    Some(title)
}

fn said(text: &str, style: Style) -> Option<String> {
    let text = style.own(&harmless(text, IDENTITY_COLUMNS_MAX));
    if text.is_empty() { None } else { Some(text) }
}

pub(crate) fn description(target: &TargetFacts, style: Style) -> String {
    let size = match (target.capacity.get(), target.kind) {
        (0, _) => "size unknown".into(),
        (_, TargetKind::File) => size(target.capacity),
        (_, TargetKind::Folder) => format!("on a {} file system", capacity(target.capacity)),
        _ => capacity(target.capacity),
    };
    let mut text = format!("{}, {size}", kind(target));
    if let Some(model) = &target.zoned
        && model != "none"
    {
        text += &format!(", zoned ({})", style.name(model));
    }
    if let Some(link) = &target.link {
        text += &format!(", link: {}", style.name(&link.name));
        if let Some(limit) = link.bytes_per_second_max {
            text += &format!(" (at most {})", rough_rate(limit));
        }
    }
    text
}

fn kind(target: &TargetFacts) -> &'static str {
    match (target.kind, target.rotational) {
        (TargetKind::File, _) => "file",
        (TargetKind::Folder, _) => "folder",
        (TargetKind::Sim, _) => "simulated drive",
        (TargetKind::Device, _) if target.caveats.contains(&Caveat::VirtualDisk) => "virtual disk",
        (TargetKind::Device, _) if target.caveats.contains(&Caveat::LoopOverFile) => "loop device",
        (TargetKind::Device, Some(true)) => "hard disk",
        (TargetKind::Device, Some(false)) => "solid-state drive",
        (TargetKind::Device, None) => "block device",
    }
}

/// What must be known before the rest is believed: an early end, caveats of the target, warnings of the run.
pub(super) fn notices(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (tone, text) in notices_of(run, style) {
        lines.extend(toned(tone, "! ", &text, style));
    }
    lines
}

fn was_left_unflushed(phase: &PhaseSummary) -> bool {
    phase.stopped == Some(StopReason::Interrupted)
        && phase.totals_of(Operation::Write).is_some_and(|writes| writes.bytes > 0)
        && phase.totals_of(Operation::Flush).is_none()
        && phase.phase.workload.as_ref().is_some_and(|workload| workload.mix.commits().is_none())
}

pub(crate) fn notices_of(run: &Run, style: Style) -> Vec<(Tone, String)> {
    let mut all = Vec::new();
    let ended = match run.status {
        RunStatus::Complete => None,
        RunStatus::Interrupted => Some("INTERRUPTED: stopped before its end."),
        RunStatus::Failed => Some("FAILED: the run could not continue."),
    };
    if let Some(ended) = ended {
        all.push((Tone::Bad, format!("{ended} Findings use what was measured until then.")));
    }
    let has_drive = run.environment.engine != EngineName::Null;
    if has_drive && run.phases.last().is_some_and(was_left_unflushed) {
        let text = "The last flush was not waited for: some of the data may be in a volatile cache only, and throughput excludes it.";
        all.push((Tone::Warning, text.into()));
    }
    let told = known::<CacheInfluence>(&run.findings).map(|known| &known.conclusion.reasons);
    for caveat in &run.target.caveats {
        // It is about reads, and then the finding tells it.
        if *caveat != Caveat::Unmapped
            && !told.is_some_and(|reasons| reasons.contains(&CacheSign::Target(*caveat)))
        {
            all.push((Tone::Warning, style.own(caveat.statement())));
        }
    }
    for warning in &run.environment.warnings {
        all.push((Tone::Warning, style.sentence(warning)));
    }
    all
}
