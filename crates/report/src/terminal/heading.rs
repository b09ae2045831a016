//! The head of a page: what was measured, and what must be known before the rest is believed.

use crate::quantity::{capacity, rough_rate, size};
use crate::style::{Style, Tone, paragraph, wrap};
use model::run::{Run, RunStatus};
use model::target::{Caveat, TargetFacts, TargetKind};

/// What is or was measured: name, serial number, path, capacity, link, and what lies under it.
pub(super) fn target(target: &TargetFacts, style: Style) -> Vec<String> {
    let mut lines: Vec<String> = wrap(&title(target, style), style.columns())
        .iter()
        .map(|line| style.paint(Tone::Heading, line))
        .collect();
    lines.extend(paragraph("  ", &description(target, style), style.columns()));
    if !target.stack.is_empty() {
        let stack: Vec<String> = target.stack.iter().map(|layer| style.sentence(layer)).collect();
        lines.extend(paragraph("  ", &format!("It is a {}.", stack.join(", on ")), style.columns()));
    }
    lines
}

fn title(target: &TargetFacts, style: Style) -> String {
    let Some(model) = target.model.as_deref().filter(|model| !model.trim().is_empty()) else {
        return style.name(&target.path);
    };
    let mut title = style.name(model);
    for (word, text) in [("serial number", &target.serial), ("firmware", &target.firmware)] {
        if let Some(text) = text.as_deref().filter(|text| !text.trim().is_empty()) {
            title += &format!(", {word} {}", style.name(text));
        }
    }
    title
}

fn description(target: &TargetFacts, style: Style) -> String {
    let size =
        if target.kind == TargetKind::File { size(target.capacity) } else { capacity(target.capacity) };
    let mut text = format!("{}: {}, {size}", style.name(&target.path), kind(target));
    if let Some(link) = &target.link {
        text += &format!(", connected by {}", style.name(&link.name));
        if let Some(limit) = link.bytes_per_second_max {
            text += &format!(", which carries {} at most", rough_rate(limit));
        }
    }
    text + "."
}

fn kind(target: &TargetFacts) -> &'static str {
    match (target.kind, target.rotational) {
        (TargetKind::File, _) => "file",
        (TargetKind::Sim, _) => "simulated drive",
        (TargetKind::Device, _) if target.caveats.contains(&Caveat::VirtualDisk) => "virtual disk",
        (TargetKind::Device, _) if target.caveats.contains(&Caveat::LoopOverFile) => "loop device",
        (TargetKind::Device, Some(true)) => "hard disk that turns",
        (TargetKind::Device, Some(false)) => "drive without turning parts",
        (TargetKind::Device, None) => "device",
    }
}

/// What must be known before the rest is believed: an early end, caveats of the target, warnings of the run.
pub(super) fn notices(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut notice = |tone, text: &str| {
        let painted = paragraph("! ", text, style.columns());
        lines.extend(painted.iter().map(|line| style.paint(tone, line)));
    };
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
    lines
}
