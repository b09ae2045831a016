//! What a run will do, shown before it starts and for `--dry-run`.

use crate::quantity::{capacity, rough_rate, rough_share, rough_time};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, paragraph};
use crate::terminal::heading;
use crate::terminal::section::{notes, page, toned};
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};

/// From so many times as long on a slow drive it is told: what is said is good to a factor of two.
const SLOWER_TO_TELL: f64 = 2.0;

#[derive(Clone, Debug, PartialEq)]
pub struct PlanPage {
    pub target: TargetFacts,
    pub groups: Vec<PlanGroup>,
    /// All that is read at most; none when that can't be said.
    pub bytes_read: Option<Bytes>,
    /// All that is written at most; none when that can't be said.
    pub bytes_written: Option<Bytes>,
    /// How long it will likely take; none when that can't be said.
    pub time: Option<Nanos>,
    /// How long it will likely take on a drive as slow as that; none where drives of this kind are not so slow.
    pub time_slow: Option<(Nanos, f64)>,
    /// How long it will take at most; none when that can't be said.
    pub time_max: Option<Nanos>,
    /// Share of the writes that the drive's maker promises it to endure, in [0, 1], if known.
    pub endurance_share: Option<f64>,
    /// What the reader should know first, as sentences: data that will be lost, what can't be had.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanGroup {
    pub what: String,
    pub phases: u32,
    /// How long they will likely take, if that can be said; nothing if they may not come at all.
    pub time: Option<Nanos>,
    /// How long they will take at most, likewise.
    pub time_max: Option<Nanos>,
}

pub fn plan_page(plan: &PlanPage, style: Style) -> String {
    let mut notices = notes(Tone::Warning, "! ", &plan.warnings, style);
    for caveat in &plan.target.caveats {
        notices.extend(toned(Tone::Warning, "! ", &style.own(caveat.statement()), style));
    }
    page([heading::target(&plan.target, style), notices, steps(plan, style), cost(plan, style)])
}

fn steps(plan: &PlanPage, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint(Tone::Heading, "Plan")];
    if plan.groups.is_empty() {
        lines.push("  Nothing.".into());
    }
    let (mut count_columns, mut time_columns) = (0, 0);
    for group in &plan.groups {
        count_columns = count_columns.max(columns_of(&phases(group.phases)));
        time_columns = time_columns.max(columns_of(&about(group.time, group.time_max, style)));
    }
    for group in &plan.groups {
        let count = pad_start(&phases(group.phases), count_columns);
        let time = pad_end(&about(group.time, group.time_max, style), time_columns);
        let first = format!("  {count}  {time}  ");
        lines.extend(paragraph(&first, &style.sentence(&group.what), style.columns()));
    }
    lines
}

fn phases(count: u32) -> String {
    match count {
        // How many follows from what they find.
        0 => "adaptive".into(),
        1 => "1 phase ".into(),
        _ => format!("{count} phases"),
    }
}

fn about(time: Option<Nanos>, time_max: Option<Nanos>, style: Style) -> String {
    let time_max = time_max.filter(|most| time != Some(*most)).map(rough_time);
    let text = match (time, time_max) {
        (None, None) => "duration unknown".into(),
        (None | Some(Nanos::ZERO), Some(most)) => format!("at most {most}"),
        (Some(time), Some(most)) if rough_time(time) != most => {
            format!("about {}, at most {most}", rough_time(time))
        }
        (Some(time), _) => format!("about {}", rough_time(time)),
    };
    style.own(&text)
}

fn time(plan: &PlanPage, style: Style) -> String {
    let (usual, slow, rate) = match (plan.time, plan.time_slow) {
        (Some(usual), Some((slow, rate))) if slow.as_f64() > SLOWER_TO_TELL * usual.as_f64() => {
            (usual, slow, rate)
        }
        _ => return about(plan.time, plan.time_max, style) + unbounded(plan),
    };
    // A time that is guessed in the same way is no bound.
    let most = match plan.time_max {
        Some(most) if most != usual => format!(", at most {}", rough_time(most)),
        _ => String::new(),
    };
    format!(
        "about {} on a typical drive, about {} on a stick or card at {}{most}{}; the ETA follows the measured throughput",
        rough_time(usual),
        rough_time(slow),
        rough_rate(rate),
        unbounded(plan)
    )
}

fn unbounded(plan: &PlanPage) -> &'static str {
    match (plan.time, plan.time_max) {
        (Some(_), None) => "; bounded by bytes written, not by time: --time-limit sets a limit",
        _ => "",
    }
}

fn cost(plan: &PlanPage, style: Style) -> Vec<String> {
    let mut written = at_most(plan.bytes_written);
    if let Some(share) = plan.endurance_share {
        written += &format!(", {} of the rated endurance", rough_share(share));
    }
    let facts = [
        ("reads ", at_most(plan.bytes_read)),
        ("writes", written),
        ("takes ", style.own(&time(plan, style))),
    ];
    let mut lines = vec![style.paint(Tone::Heading, "Cost")];
    for (label, text) in facts {
        lines.extend(paragraph(&format!("  {label}  "), &text, style.columns()));
    }
    lines
}

fn at_most(bytes: Option<Bytes>) -> String {
    match bytes {
        None => "bounded by time, not by bytes".into(),
        Some(Bytes::ZERO) => "nothing".into(),
        Some(bytes) => format!("at most {}", capacity(bytes)),
    }
}
