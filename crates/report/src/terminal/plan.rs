//! What a run will do, shown before it starts and for `--dry-run`.

use crate::quantity::{capacity, rough_rate, rough_share, rough_time};
use crate::style::{Style, Tone, columns_of, pad_end, pad_start, paragraph};
use crate::terminal::{heading, page};
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};

/// From so many times as long on a slow drive it is told: what is said is good to a factor of two.
const SLOWER_TO_TELL: f64 = 2.0;

/// What a run will do.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanPage {
    /// What it will be done to.
    pub target: TargetFacts,
    /// The steps, like ones together.
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

/// Steps of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanGroup {
    /// "Read 24 areas of 1 GiB from start to end".
    pub what: String,
    /// How many phases.
    pub phases: u32,
    /// How long they will likely take, if that can be said; nothing if they may not come at all.
    pub time: Option<Nanos>,
    /// How long they will take at most, likewise.
    pub time_max: Option<Nanos>,
}

/// The page: target, warnings, steps, and what they cost.
pub fn plan_page(plan: &PlanPage, style: Style) -> String {
    let warnings = plan.warnings.iter().map(|warning| style.sentence(warning));
    let caveats = plan.target.caveats.iter().map(|caveat| style.own(caveat.statement()));
    let notices = warnings.chain(caveats).flat_map(|text| paragraph("! ", &text, style.columns()));
    page([
        heading::target(&plan.target, style),
        notices.map(|line| style.paint(Tone::Warning, &line)).collect(),
        steps(plan, style),
        cost(plan, style),
    ])
}

fn steps(plan: &PlanPage, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint(Tone::Heading, "What will be done")];
    if plan.groups.is_empty() {
        lines.push("  Nothing.".into());
    }
    let counts: Vec<String> = plan.groups.iter().map(|group| phases(group.phases)).collect();
    let times: Vec<String> =
        plan.groups.iter().map(|group| about(group.time, group.time_max, style)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| columns_of(text)).max().unwrap_or(0);
    let (count_columns, time_columns) = (widest(&counts), widest(&times));
    for (index, group) in plan.groups.iter().enumerate() {
        let first = format!(
            "  {}  {}  ",
            pad_start(&counts[index], count_columns),
            pad_end(&times[index], time_columns)
        );
        lines.extend(paragraph(&first, &style.sentence(&group.what), style.columns()));
    }
    lines
}

fn phases(count: u32) -> String {
    if count == 1 { "1 phase ".into() } else { format!("{count} phases") }
}

fn about(time: Option<Nanos>, time_max: Option<Nanos>, style: Style) -> String {
    let time_max = time_max.filter(|most| time != Some(*most)).map(rough_time);
    let text = match (time, time_max) {
        (None, None) => "time not known".into(),
        (None | Some(Nanos::ZERO), Some(most)) => format!("at most {most}"),
        (Some(time), Some(most)) if rough_time(time) != most => {
            format!("about {}, at most {most}", rough_time(time))
        }
        (Some(time), _) => format!("about {}", rough_time(time)),
    };
    style.own(&text)
}

/// How long all of it takes, and what is not known of that.
fn time(plan: &PlanPage, style: Style) -> String {
    let usual = plan.time.unwrap_or_default();
    let slower = plan.time_slow.filter(|(slow, _)| slow.0 as f64 > SLOWER_TO_TELL * usual.0 as f64);
    let Some((slow, rate)) = slower.filter(|_| plan.time.is_some()) else {
        return about(plan.time, plan.time_max, style) + unbounded(plan);
    };
    // A time that is guessed in the same way is no bound.
    let most = plan
        .time_max
        .filter(|most| *most != usual)
        .map_or(String::new(), |most| format!(", at most {}", rough_time(most)));
    format!(
        "about {} on a usual drive, about {} on a stick or card of {}{most}{}. How fast this one is shows while it is measured; the \
         time left goes by that",
        rough_time(usual),
        rough_time(slow),
        rough_rate(rate),
        unbounded(plan)
    )
}

fn unbounded(plan: &PlanPage) -> &'static str {
    match (plan.time, plan.time_max) {
        (Some(_), None) => "; what is written bounds it, and no time: --time-limit sets one",
        _ => "",
    }
}

fn cost(plan: &PlanPage, style: Style) -> Vec<String> {
    let at_most = |bytes: Option<Bytes>| match bytes {
        None => "as much as the drive moves in that time".into(),
        Some(Bytes::ZERO) => "nothing".into(),
        Some(bytes) => format!("at most {}", capacity(bytes)),
    };
    let mut written = at_most(plan.bytes_written);
    if let Some(share) = plan.endurance_share {
        written += &format!(", {} of all the writes that its maker promises", rough_share(share));
    }
    let facts = [
        ("reads ", at_most(plan.bytes_read)),
        ("writes", written),
        ("takes ", style.own(&time(plan, style))),
    ];
    let mut lines = vec![style.paint(Tone::Heading, "What it costs")];
    for (label, text) in facts {
        lines.extend(paragraph(&format!("  {label}  "), &text, style.columns()));
    }
    lines
}
