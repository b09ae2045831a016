//! The head of a page: what was measured, and what must be known before the rest is believed.

use crate::hostile::harmless;
use crate::quantity::{capacity, rough_rate, size};
use crate::style::{Style, Tone, paragraph, wrap};
use model::run::{Run, RunStatus};
use model::target::{Caveat, TargetFacts, TargetKind};

/// What is or was measured: name, serial number, path, capacity, link, and what lies under it.
pub(super) fn target(target: &TargetFacts, style: Style) -> Vec<String> {
    let title = identity(target, style);
    let path = path(target, style);
    let mut lines: Vec<String> = wrap(title.as_deref().unwrap_or(&path), style.columns())
        .iter()
        .map(|line| style.paint(Tone::Heading, line))
        .collect();
    let place = if title.is_some() { format!("{path}: ") } else { String::new() };
    lines.extend(paragraph("  ", &format!("{place}{}", description(target, style)), style.columns()));
    let layers: Vec<String> = target.stack.iter().map(|layer| style.sentence(layer)).collect();
    let is_news = layers.len() > 1 || layers.first().is_some_and(|only| !path.ends_with(only.as_str()));
    if is_news {
        lines.extend(paragraph("  ", &format!("Layers: {}.", layers.join(", on ")), style.columns()));
    }
    lines
}

/// Where it is. Only a scratch file goes by the name of its folder.
pub(crate) fn path(target: &TargetFacts, style: Style) -> String {
    let is_scratch = target.kind == TargetKind::File && target.path == ".";
    if is_scratch { "A scratch file in this folder".into() } else { style.name(&target.path) }
}

/// ATA and NVMe give a model at most 40 characters, and serial number and firmware fewer.
const IDENTITY_COLUMNS_MAX: usize = 48;

/// What the drive calls itself, if it does.
pub(crate) fn identity(target: &TargetFacts, style: Style) -> Option<String> {
    let said = |text: &Option<String>| {
        let text = style.own(&harmless(text.as_deref()?, IDENTITY_COLUMNS_MAX));
        (!text.is_empty()).then_some(text)
    };
    let mut title = said(&target.model)?;
    for (word, text) in [("serial number", &target.serial), ("firmware", &target.firmware)] {
        if let Some(text) = said(text) {
            title += &format!(", {word} {text}");
        }
    }
    Some(title)
}

/// What kind of thing it is, how large, and how it is connected.
pub(crate) fn description(target: &TargetFacts, style: Style) -> String {
    let size = match (target.capacity.0, target.kind) {
        (0, _) => "size not known".into(),
        (_, TargetKind::File) => size(target.capacity),
        (_, TargetKind::Folder) => format!("in file systems of {} in all", capacity(target.capacity)),
        _ => capacity(target.capacity),
    };
    let mut text = format!("{}, {size}", kind(target));
    if let Some(model) = target.zoned.as_deref().filter(|model| *model != "none") {
        text += &format!(", zoned ({})", style.name(model));
    }
    if let Some(link) = &target.link {
        text += &format!(", on {}", style.name(&link.name));
        if let Some(limit) = link.bytes_per_second_max {
            text += &format!(" (at most {})", rough_rate(limit));
        }
    }
    text
}

fn kind(target: &TargetFacts) -> &'static str {
    match (target.kind, target.rotational) {
        (TargetKind::File, _) => "file",
        (TargetKind::Folder, _) => "folders",
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
    let lines = |(tone, text): (Tone, String)| {
        let lines = paragraph("! ", &text, style.columns());
        lines.into_iter().map(move |line| style.paint(tone, &line))
    };
    notices_of(run, style).into_iter().flat_map(lines).collect()
}

/// The same as sentences, with how bad each is.
pub(crate) fn notices_of(run: &Run, style: Style) -> Vec<(Tone, String)> {
    let mut all = Vec::new();
    let mut notice = |tone, text: &str| all.push((tone, text.to_string()));
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Interrupted => notice(
            Tone::Bad,
            "INTERRUPTED. This run was stopped before its end. What follows rests on what was measured until then.",
        ),
        RunStatus::Failed => notice(
            Tone::Bad,
            "FAILED. This run could not go on. What follows rests on what was measured until then.",
        ),
    }
    for caveat in &run.target.caveats {
        notice(Tone::Warning, &style.own(caveat.statement()));
    }
    for warning in &run.environment.warnings {
        notice(Tone::Warning, &style.sentence(warning));
    }
    all
}
