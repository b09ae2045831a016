//! The parts of a screen that are text: steps, latencies, the drive and the machine, findings, messages, keys.

use super::Look;
use super::plot::{faint, heading};
use super::state::{Quantiles, ScreenState, StepShown, Subject};
use super::view::{Playing, View};
use model::latency_map::LatencyMap;
use model::record::ErrorRecord;
use model::units::{Bytes, Nanos, Offset};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use report::quantity::{binary_capacity, capacity, count, rough_rate, rough_share, rough_time};
use report::style::{columns_of, pad_end, pad_start};
use report::terminal::{brief_finding, latency_map};

/// The columns of the table of latencies.
pub const LATENCY_COLUMNS: u16 = 36;
/// A machine that is kept from running for more than this is worth a word.
const STOLEN_SHARE_MIN: f64 = 0.01;
/// Less than this of other traffic is none: what a file system notes for itself.
const OTHERS_MIN: f64 = 100_000.0;

/// A line of text, all of one tone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
}

/// How a line looks. No meaning rests on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// The first line of a panel.
    Heading,
    /// Of less interest.
    Faint,
    /// Bad news.
    Bad,
}

/// The style of a tone.
pub fn style_of(tone: Tone, look: Look) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Heading => heading(),
        Tone::Faint => faint(look),
        Tone::Bad if look.colour => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        Tone::Bad => heading(),
    }
}

/// Of what the reader should know before believing the rest.
pub fn warning_style(look: Look) -> Style {
    if look.colour { Style::new().fg(Color::Yellow) } else { Style::new() }
}

fn line(tone: Tone, text: impl Into<String>) -> Line {
    Line { text: text.into(), tone }
}

/// The size of what is measured.
pub fn capacity_of(subject: &Subject) -> String {
    match (subject.capacity, subject.is_file) {
        (0, _) => String::new(),
        (bytes, true) => binary_capacity(Bytes(bytes)),
        (bytes, false) => capacity(Bytes(bytes)),
    }
}

/// A factor: "10", "0.5".
pub fn factor(factor: f64) -> String {
    if factor >= 1.0 { count(factor.round() as u64) } else { format!("{factor:.2}") }
}

/// What is done, under way and to come, in no more than so many rows.
pub fn steps(state: &ScreenState, look: Look, columns: usize, rows: usize) -> Vec<Line> {
    let mut panel = vec![line(Tone::Heading, "Steps")];
    let room = rows.saturating_sub(1);
    // The one that is under way, one before it, and those after it.
    let current = state.current.unwrap_or(0);
    let first = current.saturating_sub(1).min(state.steps.len().saturating_sub(room));
    for (index, step) in state.steps.iter().enumerate().skip(first).take(room) {
        let is_current = state.current == Some(index) && state.ended.is_none();
        panel.push(step_line(step, is_current, look, columns));
    }
    panel
}

fn step_line(step: &StepShown, is_current: bool, look: Look, columns: usize) -> Line {
    let is_done = step.left == 0 && !is_current;
    let (mark, tone) = match (is_current, is_done) {
        (true, _) => (if look.unicode { "▶" } else { ">" }, Tone::Plain),
        (_, true) => (if look.unicode { "✓" } else { "x" }, Tone::Faint),
        _ => (if look.unicode { "·" } else { "-" }, Tone::Plain),
    };
    let begun = step.of.saturating_sub(step.left);
    let share = match step.of {
        1 if is_done => "done".to_string(),
        _ if is_current => format!("{} of {}", count(begun.into()), count(step.of.into())),
        _ if is_done => format!("{} done", count(step.of.into())),
        _ if step.time > Nanos::ZERO => format!("up to {}", rough_time(step.time)),
        _ => String::new(),
    };
    let room = columns.saturating_sub(columns_of(&share) + 4);
    let what = shortened(&step.what, room);
    line(tone, format!("{mark} {}  {share}", pad_end(&what, room)))
}

/// A text cut to so many columns. It is harmless already.
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

/// Latencies now, in the phase and in the run.
pub fn latency(state: &ScreenState) -> Vec<Line> {
    let shown = &state.latency;
    let columns = [shown.now, Quantiles::of(&shown.phase), Quantiles::of(&shown.run)];
    let row = |name: &str, value: fn(&Quantiles) -> Nanos| {
        let cells = columns.map(|quantiles| quantiles.map_or("-".into(), |all| rough_time(value(&all))));
        line(Tone::Plain, row_of(name, &cells))
    };
    let names = ["now", "this phase", "run"].map(str::to_string);
    vec![
        line(Tone::Heading, row_of("Latency", &names)),
        row("median", |all| all.median),
        row("99 %", |all| all.p99),
        row("worst", |all| all.worst),
    ]
}

fn row_of(name: &str, cells: &[String; 3]) -> String {
    let [now, phase, run] = cells;
    format!("{} {} {} {}", pad_end(name, 7), pad_start(now, 8), pad_start(phase, 10), pad_start(run, 8))
}

/// The drive and the machine, a line for each fact that they tell.
pub fn drive(state: &ScreenState) -> Vec<Line> {
    let facts = facts(state);
    if facts.is_empty() {
        return Vec::new();
    }
    let rows = facts
        .into_iter()
        .map(|fact| line(fact.tone, format!("{} {}{}", pad_end(fact.name, 16), fact.short, fact.more)));
    std::iter::once(line(Tone::Heading, "Drive and machine")).chain(rows).collect()
}

/// The same in one line: bad news first, and what fits.
pub fn drive_in_a_line(state: &ScreenState, columns: usize) -> Line {
    let mut facts = facts(state);
    facts.sort_by_key(|fact| fact.tone != Tone::Bad);
    let tone = facts.first().map_or(Tone::Plain, |fact| fact.tone);
    let mut text = String::new();
    for fact in &facts {
        let gap = if text.is_empty() { "" } else { "   " };
        let part = format!("{gap}{} {}", fact.name, fact.short);
        if columns_of(&text) + columns_of(&part) <= columns {
            text += &part;
        }
    }
    line(tone, text)
}

/// A fact about the drive or the machine.
struct Fact {
    name: &'static str,
    /// Where there is little room.
    short: String,
    /// What more there is to it.
    more: String,
    tone: Tone,
}

fn facts(state: &ScreenState) -> Vec<Fact> {
    let host = &state.host;
    let fact = |name, short, more, tone| Fact { name, short, more, tone };
    let mut facts = Vec::new();
    if let Some(celsius) = host.last.temperature_celsius {
        let max = host.celsius_max.filter(|max| *max > celsius + 0.5);
        let max = max.map_or(String::new(), |max| format!(" (up to {max:.0})"));
        facts.push(fact("Temperature", format!("{celsius:.0} °C"), max, Tone::Plain));
    }
    if let Some(others) = host.others {
        let (text, tone) =
            if others < OTHERS_MIN { ("none".into(), Tone::Plain) } else { (rough_rate(others), Tone::Bad) };
        facts.push(fact("Others' load", text, String::new(), tone));
    }
    if let Some(busy) = host.last.cpu_busy_share {
        let own =
            host.last.own_cpu_share.map_or(String::new(), |own| format!(", {} by this", rough_share(own)));
        facts.push(fact("Processors", format!("{} busy", rough_share(busy)), own, Tone::Plain));
    }
    if host.stolen_max >= STOLEN_SHARE_MIN {
        let now = rough_share(host.last.cpu_steal_share.unwrap_or(0.0));
        let max = format!("up to {}", rough_share(host.stolen_max));
        facts.push(fact("Held up", max, format!(", now {now}"), Tone::Bad));
    }
    if state.errors > 0 {
        let last =
            state.last_error.as_ref().map_or(String::new(), |error| format!(", last {}", place_of(error)));
        facts.push(fact("Failed requests", count(state.errors), last, Tone::Bad));
    }
    facts
}

fn place_of(error: &ErrorRecord) -> String {
    format!("{} at {}", error.operation.name(), capacity(Bytes(Offset(error.offset_bytes).0)))
}

/// What the reader should know, the last first.
pub fn messages(state: &ScreenState, columns: usize) -> Vec<Line> {
    let wrapped = state.warnings.iter().rev().take(3);
    let lines = wrapped.flat_map(|text| report::style::paragraph("! ", text, columns));
    let lines: Vec<Line> = lines.map(|text| line(Tone::Plain, text)).collect();
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(line(Tone::Heading, "To know")).chain(lines).collect()
}

/// What would be concluded, one line each, bad news first, in no more than so many rows.
pub fn findings(state: &ScreenState, columns: usize, rows: usize) -> Vec<Line> {
    let mut known: Vec<_> = state.findings.iter().filter_map(brief_finding).collect();
    if known.is_empty() || rows < 2 {
        return Vec::new();
    }
    known.sort_by_key(|finding| !finding.is_bad);
    let unknown = state.findings.len() - known.len();
    let of = match unknown {
        0 => String::new(),
        unknown => format!(", {} still unknown", count(unknown as u64)),
    };
    let heading = if state.ended.is_some() { "Findings" } else { "Findings so far" };
    let mut panel = vec![line(Tone::Heading, format!("{heading}{of}"))];
    let name_columns = known.iter().map(|finding| columns_of(&finding.label)).max().unwrap_or(0);
    let all = known.len();
    let shown = if all < rows { all } else { rows - 1 };
    let shown = if shown < all && shown > 1 { shown - 1 } else { shown };
    for finding in known.into_iter().take(shown) {
        let mark = if finding.is_bad { "!" } else { " " };
        let text = format!("{mark} {}  {}", pad_end(&finding.label, name_columns), finding.value);
        panel.push(line(if finding.is_bad { Tone::Bad } else { Tone::Plain }, shortened(&text, columns)));
    }
    if shown < all && rows > 2 {
        panel.push(line(Tone::Faint, format!("  and {} more", count((all - shown) as u64))));
    }
    panel
}

/// The map of a full pass, as on the page.
pub fn map(map: &LatencyMap, area: Rect) -> Vec<Line> {
    // A page is never narrower than 40 columns, and its legend takes up to three lines.
    let style = report::style::Style { width: usize::from(area.width), colour: false, unicode: false };
    let rows = usize::from(area.height).saturating_sub(4).max(1);
    let lines = latency_map(map, rows, style).into_iter().map(|text| line(Tone::Plain, text));
    std::iter::once(line(Tone::Heading, "Slowest request of each stretch")).chain(lines).collect()
}

/// The last line: what can be pressed, as much of it as fits.
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
    let mut text = String::new();
    for key in keys {
        let gap = if text.is_empty() { "" } else { "   " };
        if columns_of(&text) + columns_of(gap) + columns_of(key) <= columns {
            text += gap;
            text += key;
        }
    }
    text
}

/// What the keys do.
pub fn help(view: &View) -> Vec<Line> {
    let charts = [
        ("1", "chart: rate by position"),
        ("2", "chart: rate over time"),
        ("3", "chart: latency over time"),
        ("4", "chart: access time by position"),
        ("5", "chart: map of a full pass"),
        ("c, tab", "the next chart; 0 the one that fits"),
        ("?", "back"),
    ];
    let live = [
        (
            "p, space",
            if view.can.0 {
                "rest after this phase, or go on"
            } else {
                "no pause: rests are part of what this measures"
            },
        ),
        (
            "s",
            if view.can.1 {
                "end this phase early; it counts as skipped"
            } else {
                "no skip: this would be asked for again"
            },
        ),
        ("q", "stop: what was measured is kept"),
        ("Ctrl-C", "stop at once; twice: end the program"),
    ];
    let replay = [
        ("space", "stand still, or go on"),
        ("left, right", "5 % back or on; Page Up, Page Down 25 %"),
        ("Home, End", "to the beginning, to the end"),
        ("+, -", "twice or half as fast"),
        ("q", "leave"),
    ];
    let of_mode: &[(&str, &str)] = if view.replay.is_some() { &replay } else { &live };
    let rows = of_mode
        .iter()
        .chain(&charts)
        .map(|(key, what)| line(Tone::Plain, format!("{} {what}", pad_end(key, 12))));
    std::iter::once(line(Tone::Heading, "Keys")).chain(rows).collect()
}
