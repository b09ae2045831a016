//! From a state to cells of a terminal: a pure function, for any size.
//! ```text
//! wide                                  narrow
//! title                                 title
//! progress                              progress
//! phases     │ chart                    chart
//! latency    │                          phases │ latency
//! drive      │ findings                 drive
//! warnings   │                          findings
//! keys                                  keys
//! ```

use super::charts::{self, ChartKind};
use super::panels::{self, Line};
use super::plot::{self, faint, heading};
use super::state::ScreenState;
use super::view::{Command, View};
use crate::console::Look;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use report::progress::{Progress, progress_line};
use report::quantity::rough_time;
use report::style::columns_of;

/// On a smaller screen only the progress is shown.
pub const COLUMNS_MIN: u16 = 40;
pub const ROWS_MIN: u16 = 10;
/// From here on the panels are beside the chart.
const WIDE_COLUMNS: u16 = 110;
const SIDE_COLUMNS: u16 = 46;
const CHART_ROWS_MIN: u16 = 8;
const TWO_CHARTS_ROWS: u16 = 27;
const FINDINGS_ROWS_MAX: usize = 8;
/// From here on phases and latencies are side by side.
const PAIR_COLUMNS: u16 = 72;

pub fn draw(state: &ScreenState, view: &View, look: Look, area: Rect, buffer: &mut Buffer) {
    buffer.reset();
    if area.is_empty() {
        return;
    }
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        progress(state, look, area, area.y, buffer);
        return;
    }
    title(state, view, look, area, buffer);
    progress(state, look, area, area.y + 1, buffer);
    foot(state, view, look, area, buffer);
    let body = Rect { y: area.y + 3, height: area.height - 5, ..area };
    if view.help {
        lines(&panels::help(view), look, body, buffer);
    } else if area.width >= WIDE_COLUMNS {
        wide(state, view, look, body, buffer);
    } else {
        narrow(state, view, look, body, buffer);
    }
}

fn title(state: &ScreenState, view: &View, look: Look, area: Rect, buffer: &mut Buffer) {
    let subject = &state.subject;
    let sign = status(state, view);
    let room = usize::from(area.width).saturating_sub(columns_of(&sign) + 2);
    let name = if subject.experiment.is_empty() { String::new() } else { format!(" {}", subject.experiment) };
    let text = format!("drivescope{name}  {}  {}", subject.drive, panels::capacity_of(subject));
    let shown = look.own(&text);
    buffer.set_stringn(area.x, area.y, shown, room, heading());
    let style = Style::new().add_modifier(if look.colour { Modifier::REVERSED } else { Modifier::BOLD });
    if !sign.is_empty() {
        let sign = look.own(&format!(" {sign} "));
        let columns = columns_of(&sign) as u16;
        buffer.set_stringn(area.right().saturating_sub(columns), area.y, sign, usize::from(columns), style);
    }
}

fn status(state: &ScreenState, view: &View) -> String {
    match (&view.replay, state.ended) {
        (Some(_), Some(status)) => format!("replay: the end, {}", status.name()),
        (Some(playing), None) if playing.is_paused => "replay: paused".into(),
        (Some(playing), None) => format!("replay x{}", panels::factor(playing.speed)),
        (None, Some(_)) => "concluding".into(),
        (None, None) if view.stopping => "stopping".into(),
        (None, None) if state.is_paused => "paused".into(),
        (None, None) if view.pausing => "pause after this phase".into(),
        _ => String::new(),
    }
}

fn progress(state: &ScreenState, look: Look, area: Rect, y: u16, buffer: &mut Buffer) {
    if let Some(progress) = &state.progress {
        let text = look.own(&progress_line(progress, usize::from(area.width)));
        buffer.set_stringn(area.x, y, text, usize::from(area.width), Style::new());
    }
}

fn foot(state: &ScreenState, view: &View, look: Look, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let (message, style) = message(state, view, look, area.width >= WIDE_COLUMNS);
    let message = panels::shortened(&look.own(&message), width);
    buffer.set_stringn(area.x, area.bottom() - 2, message, width, style);
    let keys = panels::keys(view, width);
    buffer.set_stringn(area.x, area.bottom() - 1, look.own(&keys), width, faint(look));
}

/// The question asked, else when a pause begins, else the last warning.
fn message(state: &ScreenState, view: &View, look: Look, is_wide: bool) -> (String, Style) {
    let warning = panels::warning_style(look);
    match view.asked {
        Some(Command::Stop) => {
            let question = "Stop the run? What was measured is kept. q again: stop; any other key: go on";
            return (question.into(), heading());
        }
        Some(Command::Skip) => {
            let question = "End this phase early and run the next? s again: yes; any other key: no";
            return (question.into(), heading());
        }
        _ => {}
    }
    if view.replay.is_none() && view.pausing && !state.is_paused {
        return (pause_to_come(state), heading());
    }
    match state.warnings.back() {
        Some(text) if !is_wide => (format!("! {text}"), warning),
        _ => (String::new(), warning),
    }
}

fn pause_to_come(state: &ScreenState) -> String {
    let left = match &state.progress {
        Some(Progress { phase_left: Some(left), .. }) => format!(", in {} at most", rough_time(*left)),
        _ => String::new(),
    };
    format!("The run pauses after this phase{left}: a pause within would change what is measured")
}

fn wide(state: &ScreenState, view: &View, look: Look, body: Rect, buffer: &mut Buffer) {
    let side = Rect { width: SIDE_COLUMNS, ..body };
    let main = Rect { x: body.x + SIDE_COLUMNS + 2, width: body.width - SIDE_COLUMNS - 2, ..body };
    let latency = panels::latency(state);
    let drive = panels::drive(state);
    let warnings = panels::warnings(state, usize::from(side.width));
    let fixed = latency.len() + drive.len() + warnings.len() + 3;
    let phases_room = usize::from(side.height).saturating_sub(fixed).max(3);
    let mut column = panels::phases(state, look, usize::from(side.width), phases_room);
    for panel in [latency, drive, warnings] {
        if panel.is_empty() {
            continue;
        }
        column.push(Line::default());
        column.extend(panel);
    }
    lines(&column, look, side, buffer);
    let findings = panels::findings(state, usize::from(main.width), usize::MAX);
    let findings_rows = (findings.len() as u16).min(main.height / 2);
    let chart_rows = main.height - findings_rows - u16::from(findings_rows > 0);
    charts(state, view, look, Rect { height: chart_rows, ..main }, buffer);
    let below = Rect { y: main.bottom() - findings_rows, height: findings_rows, ..main };
    let findings = panels::findings(state, usize::from(main.width), usize::from(findings_rows));
    lines(&findings, look, below, buffer);
}

fn narrow(state: &ScreenState, view: &View, look: Look, body: Rect, buffer: &mut Buffer) {
    let width = usize::from(body.width);
    let latency = panels::latency(state);
    let drive = panels::drive_in_a_line(state, width);
    let findings = panels::findings(state, width, usize::MAX);
    // Each part has the rows that it needs as long as enough are left for the chart, which has the rest.
    let mut left = body.height.saturating_sub(CHART_ROWS_MIN);
    let panel_rows = take_rows(&mut left, latency.len());
    let drive_rows = take_rows(&mut left, usize::from(!drive.text.is_empty()));
    let findings_rows = take_rows(&mut left, findings.len().min(FINDINGS_ROWS_MAX));
    let chart_rows = body.height - panel_rows - drive_rows - findings_rows;
    let charts_area = Rect { height: chart_rows, ..body };
    charts(state, view, look, charts_area, buffer);
    let panels_area = Rect { y: charts_area.bottom(), height: panel_rows, ..body };
    let drive_area = Rect { y: panels_area.bottom(), height: drive_rows, ..body };
    let findings_area = Rect { y: drive_area.bottom(), height: findings_rows, ..body };
    if body.width >= PAIR_COLUMNS {
        let left = Rect { width: body.width - panels::LATENCY_COLUMNS - 2, ..panels_area };
        let right = Rect { x: left.right() + 2, width: panels::LATENCY_COLUMNS, ..panels_area };
        let phases = panels::phases(state, look, usize::from(left.width), usize::from(left.height));
        lines(&phases, look, left, buffer);
        lines(&latency, look, right, buffer);
    } else {
        lines(&latency, look, panels_area, buffer);
    }
    lines(&[drive], look, drive_area, buffer);
    let findings = panels::findings(state, width, usize::from(findings_rows));
    lines(&findings, look, findings_area, buffer);
}

fn take_rows(left: &mut u16, wanted: usize) -> u16 {
    let rows = (wanted as u16).min(*left);
    *left -= rows;
    rows
}

/// The chart that was chosen or fits, and where there is room for two, one over time.
fn charts(state: &ScreenState, view: &View, look: Look, area: Rect, buffer: &mut Buffer) {
    let kind = view.chart.unwrap_or_else(|| ChartKind::fitting(state));
    if area.height < TWO_CHARTS_ROWS {
        return chart(kind, state, look, area, buffer);
    }
    let above = Rect { height: area.height / 2, ..area };
    chart(kind, state, look, above, buffer);
    let below = Rect { y: above.bottom() + 1, height: area.height - above.height - 1, ..area };
    let other = if kind == ChartKind::Times { ChartKind::Latency } else { ChartKind::Times };
    chart(other, state, look, below, buffer);
}

fn chart(kind: ChartKind, state: &ScreenState, look: Look, area: Rect, buffer: &mut Buffer) {
    match &state.map {
        Some(map) if kind == ChartKind::Map => lines(&panels::map(map, area), look, area, buffer),
        _ => plot::draw(&charts::plot(kind, state), look, area, buffer),
    }
}

fn lines(lines: &[Line], look: Look, area: Rect, buffer: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        let style = panels::style_of(line.tone, look);
        buffer.set_stringn(area.x, y, look.own(&line.text), usize::from(area.width), style);
    }
}
