//! The parts of a screen that are text: phases, latencies, the drive and the host, findings, warnings, keys.

use super::plot::{faint, heading};
use super::state::{PhaseGroup, Quantiles, ScreenState, Subject};
use super::view::{Playing, View};
use crate::console::Look;
use model::latency_map::LatencyMap;
use model::units::{Bytes, Nanos};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use report::quantity::{binary_capacity, capacity, count, rough_rate, rough_share, rough_time};
use report::style::{columns_of, pad_end, pad_start, paragraph};
use report::terminal::{brief_finding, latency_map};

pub const LATENCY_COLUMNS: u16 = 36;
/// Steal time below this share is not shown.
const STEAL_SHARE_MIN: f64 = 0.01;
/// Background load below this is what a file system writes for itself; B/s.
const BACKGROUND_MIN: f64 = 100_000.0;
const WARNINGS_SHOWN: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub text: String,
    pub tone: Tone,
}

/// How a line looks. It carries no meaning of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Heading,
    Faint,
    Bad,
}

pub fn style_of(tone: Tone, look: Look) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Heading => heading(),
        Tone::Faint => faint(look),
        Tone::Bad if look.colour => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        Tone::Bad => heading(),
    }
}

pub fn warning_style(look: Look) -> Style {
    if look.colour { Style::new().fg(Color::Yellow) } else { Style::new() }
}

fn line(tone: Tone, text: impl Into<String>) -> Line {
    Line { text: text.into(), tone }
}

fn panel(title: impl Into<String>, rows: impl IntoIterator<Item = String>) -> Vec<Line> {
    let mut panel = vec![line(Tone::Heading, title)];
    panel.extend(rows.into_iter().map(|text| line(Tone::Plain, text)));
    panel
}

pub fn capacity_of(subject: &Subject) -> String {
    match (subject.capacity, subject.is_file) {
        (0, _) => String::new(),
        (bytes, true) => binary_capacity(Bytes::new(bytes)),
        (bytes, false) => capacity(Bytes::new(bytes)),
    }
}

pub fn factor(factor: f64) -> String {
    if factor >= 1.0 { count(factor.round() as u64) } else { format!("{factor:.2}") }
}

pub fn phases(state: &ScreenState, look: Look, columns: usize, rows: usize) -> Vec<Line> {
    let mut panel = vec![line(Tone::Heading, "Phases")];
    let room = rows.saturating_sub(1);
    let current = state.current.unwrap_or(0);
    let first = current.saturating_sub(1).min(state.groups.len().saturating_sub(room));
    for (index, group) in state.groups.iter().enumerate().skip(first).take(room) {
        let is_current = state.current == Some(index) && state.ended.is_none();
        panel.push(group_line(group, is_current, look, columns));
    }
    panel
}

fn group_line(group: &PhaseGroup, is_current: bool, look: Look, columns: usize) -> Line {
    let is_done = group.left == 0 && !is_current;
    let (mark, tone) = match (is_current, is_done) {
        (true, _) => (if look.unicode { "▶" } else { ">" }, Tone::Plain),
        (_, true) => (if look.unicode { "✓" } else { "x" }, Tone::Faint),
        _ => (if look.unicode { "·" } else { "-" }, Tone::Plain),
    };
    let begun = group.of.saturating_sub(group.left);
    let share = match group.of {
        1 if is_done => "done".to_string(),
        _ if is_current => format!("{} of {}", count(begun.into()), count(group.of.into())),
        _ if is_done => format!("{} done", count(group.of.into())),
        _ if group.time > Nanos::ZERO => format!("up to {}", rough_time(group.time)),
        _ => String::new(),
    };
    let room = columns.saturating_sub(columns_of(&share) + 4);
    let what = shortened(&group.what, room);
    line(tone, format!("{mark} {}  {share}", pad_end(&what, room)))
}

pub fn shortened(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_string();
    }
    let mut short = String::new();
    for character in text.chars() {
        if columns_of(&short) + 4 > columns {
            break;
        }
        short.push(character);
    }
    short + "..."
}

pub fn latency(state: &ScreenState) -> Vec<Line> {
    let shown = &state.latency;
    let columns = [shown.now, Quantiles::of(&shown.phase), Quantiles::of(&shown.run)];
    let rows = [
        latency_row("median", columns, |quantiles| quantiles.median),
        latency_row("99 %", columns, |quantiles| quantiles.p99),
        latency_row("max", columns, |quantiles| quantiles.max),
    ];
    panel(table_row("Latency", ["now", "this phase", "run"].map(String::from)), rows)
}

fn latency_row(name: &str, columns: [Option<Quantiles>; 3], value: fn(Quantiles) -> Nanos) -> String {
    table_row(name, columns.map(|column| column.map_or("-".into(), |all| rough_time(value(all)))))
}

fn table_row(name: &str, [now, phase, run]: [String; 3]) -> String {
    format!("{} {} {} {}", pad_end(name, 7), pad_start(&now, 8), pad_start(&phase, 10), pad_start(&run, 8))
}

pub fn drive(state: &ScreenState) -> Vec<Line> {
    let mut panel = Vec::new();
    for fact in facts(state) {
        panel.push(line(fact.tone, format!("{} {}{}", pad_end(fact.name, 16), fact.short, fact.more)));
    }
    if !panel.is_empty() {
        panel.insert(0, line(Tone::Heading, "Drive and host"));
    }
    panel
}

pub fn drive_in_a_line(state: &ScreenState, columns: usize) -> Line {
    let mut facts = facts(state);
    facts.sort_by_key(|fact| fact.tone != Tone::Bad);
    let parts: Vec<String> = facts.iter().map(|fact| format!("{} {}", fact.name, fact.short)).collect();
    let tone = facts.first().map_or(Tone::Plain, |fact| fact.tone);
    line(tone, joined_within(&parts, columns))
}

fn joined_within(parts: &[impl AsRef<str>], columns: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let gap = if text.is_empty() { "" } else { "   " };
        if columns_of(&text) + gap.len() + columns_of(part.as_ref()) <= columns {
            text += gap;
            text += part.as_ref();
        }
    }
    text
}

struct Fact {
    name: &'static str,
    short: String,
    more: String,
    tone: Tone,
}

fn facts(state: &ScreenState) -> Vec<Fact> {
    let host = &state.host;
    let mut facts = Vec::new();
    if let Some(celsius) = host.last.temperature_celsius {
        let more = match host.celsius_max {
            Some(max) if max > celsius + 0.5 => format!(" (up to {max:.0})"),
            _ => String::new(),
        };
        facts.push(Fact { name: "Temperature", short: format!("{celsius:.0} °C"), more, tone: Tone::Plain });
    }
    if let Some(background) = host.background {
        let (short, tone) = match background < BACKGROUND_MIN {
            true => ("none".into(), Tone::Plain),
            false => (rough_rate(background), Tone::Bad),
        };
        facts.push(Fact { name: "Background load", short, more: String::new(), tone });
    }
    if let Some(busy) = host.last.cpu_busy_share {
        let more = match host.last.own_cpu_share {
            Some(own) => format!(", {} by drivescope", rough_share(own)),
            None => String::new(),
        };
        facts.push(Fact {
            name: "CPU",
            short: format!("{} busy", rough_share(busy)),
            more,
            tone: Tone::Plain,
        });
    }
    if host.steal_max >= STEAL_SHARE_MIN {
        let now = rough_share(host.last.cpu_steal_share.unwrap_or(0.0));
        let short = format!("up to {}", rough_share(host.steal_max));
        facts.push(Fact { name: "Steal time", short, more: format!(", now {now}"), tone: Tone::Bad });
    }
    if state.errors > 0 {
        let more = match &state.last_error {
            Some(error) => {
                format!(", last {} at {}", error.operation.name(), capacity(Bytes::new(error.offset_bytes)))
            }
            None => String::new(),
        };
        facts.push(Fact { name: "Failed requests", short: count(state.errors), more, tone: Tone::Bad });
    }
    facts
}

pub fn warnings(state: &ScreenState, columns: usize) -> Vec<Line> {
    if state.warnings.is_empty() {
        return Vec::new();
    }
    let newest = state.warnings.iter().rev().take(WARNINGS_SHOWN);
    panel("Warnings", newest.flat_map(|text| paragraph("! ", text, columns)))
}

pub fn findings(state: &ScreenState, columns: usize, rows: usize) -> Vec<Line> {
    let mut known: Vec<_> = state.findings.iter().filter_map(brief_finding).collect();
    if known.is_empty() || rows < 2 {
        return Vec::new();
    }
    known.sort_by_key(|finding| !finding.is_bad);
    let mut heading = String::from(if state.ended.is_some() { "Findings" } else { "Findings so far" });
    let unknown = state.findings.len() - known.len();
    if unknown > 0 {
        heading += &format!(", {} inconclusive", count(unknown as u64));
    }
    let mut panel = vec![line(Tone::Heading, heading)];
    let name_columns = known.iter().map(|finding| columns_of(&finding.label)).max().unwrap_or(0);
    let all = known.len();
    // One row for the heading, and one for the number of those left out.
    let shown = if all < rows { all } else { (rows - 2).max(1) };
    for finding in known.into_iter().take(shown) {
        let (mark, tone) = if finding.is_bad { ("!", Tone::Bad) } else { (" ", Tone::Plain) };
        let text = format!("{mark} {}  {}", pad_end(&finding.label, name_columns), finding.value);
        panel.push(line(tone, shortened(&text, columns)));
    }
    if shown < all && rows > 2 {
        panel.push(line(Tone::Faint, format!("  and {} more", count((all - shown) as u64))));
    }
    panel
}

pub fn map(map: &LatencyMap, area: Rect) -> Vec<Line> {
    // A page is never narrower than 40 columns, and its legend takes up to three lines.
    let style =
        report::style::Style { width: usize::from(area.width), colour: false, unicode: false, draws: true };
    let rows = usize::from(area.height).saturating_sub(4).max(1);
    panel("Max latency by region", latency_map(map, rows, style))
}

pub fn keys(view: &View, columns: usize) -> String {
    let keys: &[&str] = match (&view.replay, view.can) {
        (Some(Playing { is_paused: true, .. }), _) => {
            &["space go on", "←→ jump", "q leave", "+- speed", "c chart", "? help"]
        }
        (Some(_), _) => &["space pause", "←→ jump", "q leave", "+- speed", "c chart", "? help"],
        (None, (true, true)) => &["p pause", "s skip", "q stop", "c chart", "? help"],
        (None, (true, false)) => &["p pause", "q stop", "c chart", "? help"],
        (None, (false, true)) => &["s skip", "q stop", "c chart", "? help"],
        (None, (false, false)) => &["q stop", "c chart", "? help"],
    };
    joined_within(keys, columns)
}

const CHART_KEYS: [(&str, &str); 7] = [
    ("1", "chart: sequential throughput by LBA"),
    ("2", "chart: throughput over time"),
    ("3", "chart: latency over time"),
    ("4", "chart: access time by LBA"),
    ("5", "chart: map of a full pass"),
    ("c, tab", "next chart; 0 the one that fits the phase"),
    ("?", "back"),
];
const REPLAY_KEYS: [(&str, &str); 5] = [
    ("space", "pause, or go on"),
    ("left, right", "5 % back or forward; Page Up, Page Down 25 %"),
    ("Home, End", "to the beginning, to the end"),
    ("+, -", "twice or half the speed"),
    ("q", "leave"),
];

pub fn help(view: &View) -> Vec<Line> {
    let pause = match view.can.0 {
        true => "pause after this phase, or go on",
        false => "no pause: idle times are part of this measurement",
    };
    let skip = match view.can.1 {
        true => "end this phase early; it counts as skipped",
        false => "no skip: the phase would be repeated",
    };
    let live = [
        ("p, space", pause),
        ("s", skip),
        ("q", "stop: what was measured is kept"),
        ("Ctrl-C", "stop at once; twice: end the program"),
    ];
    let of_mode: &[(&str, &str)] = if view.replay.is_some() { &REPLAY_KEYS } else { &live };
    let rows = of_mode.iter().chain(&CHART_KEYS);
    panel("Keys", rows.map(|(key, what)| format!("{} {what}", pad_end(key, 12))))
}
