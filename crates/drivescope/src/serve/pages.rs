//! Our own pages: the list of drives and runs, a run that goes on, the way in, and what went wrong.

use super::live::Standing;
use super::page_text::{escaped, framed, query_escaped};
use super::response::Response;
use crate::store::{RunListing, StoredRun};
use model::request::Operation;
use model::run::{Run, RunStatus};
use model::units::Bytes;
use report::chart::svg::{self, Theme};
use report::chart::{Chart, ChartedRun, rate_over_position};
use report::quantity;
use report::style::Style;
use std::collections::HashMap;
use std::path::Path;

/// Runs on one page of the list.
const RUNS_ON_PAGE: usize = 100;
/// Drives that are listed above the runs, those measured last.
const DRIVES_MAX: usize = 24;

/// How pages of a terminal are taken over.
const STYLE: Style = Style { width: 110, colour: false, unicode: true };

/// What the list shows.
pub(super) struct ListPage<'page> {
    /// All runs, newest first.
    pub runs: &'page [RunListing],
    /// Which page, from 1.
    pub number: usize,
    /// Only of this drive; empty for all.
    pub drive: &'page str,
    /// Where they are.
    pub store: &'page Path,
    /// The path below which all pages lie.
    pub root: &'page str,
}

/// A page that takes the browser from the link with the token to an address without, which is safe to keep and to show.
pub(super) fn entrance(root: &str, cookie: &str) -> Response {
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"0; url={root}\">\n");
    Response::page(framed("drivescope", &refresh, Some(root), &back(root))).with_cookie(cookie)
}

fn back(root: &str) -> String {
    format!("<p><a href=\"{root}\">To the runs</a></p>\n")
}

/// What went wrong; the words are markup already. With a way back for whoever was let in.
pub(super) fn problem(why: &str, root: Option<&str>) -> String {
    let back = root.map(back).unwrap_or_default();
    framed("drivescope", "", root, &format!("<h1>That did not work</h1>\n<p>{why}</p>\n{back}"))
}

/// The list of drives and runs.
pub(super) fn list(page: &ListPage<'_>) -> String {
    let of_drive = |run: &&RunListing| page.drive.is_empty() || drive_key(run) == page.drive;
    let runs: Vec<&RunListing> = page.runs.iter().filter(of_drive).collect();
    let pages = runs.len().div_ceil(RUNS_ON_PAGE).max(1);
    let number = page.number.clamp(1, pages);
    let shown = runs.iter().skip((number - 1) * RUNS_ON_PAGE).take(RUNS_ON_PAGE);

    let mut text = String::new();
    text.push_str(&format!("<p class=\"where\">Runs kept in {}</p>\n", escaped(&absolute(page.store))));
    if page.runs.is_empty() {
        text.push_str("<h1>No runs yet</h1>\n<p>Make one: <code>drivescope check .</code></p>\n");
        return framed("drivescope: runs", "", Some(page.root), &text);
    }
    text.push_str(&drives(page));
    let heading =
        if page.drive.is_empty() { "Runs".to_owned() } else { format!("Runs of {}", name_of(&runs, page)) };
    let root = page.root;
    text.push_str(&format!("<h1>{heading}</h1>\n<form action=\"{root}/compare\" method=\"get\">\n"));
    text.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th><span class=\"hidden\">Compare</span></th><th>Run</th>\
        <th>Began (UTC)</th><th>State</th><th>What</th><th>Drive</th><th>Data</th></tr></thead>\n<tbody>\n",
    );
    shown.for_each(|run| text.push_str(&row(run, root)));
    text.push_str("</tbody>\n</table></div>\n<p><button>Compare the chosen runs</button></p>\n</form>\n");
    text.push_str(&turn_pages(number, pages, page));
    framed("drivescope: runs", "", Some(root), &text)
}

fn absolute(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

fn name_of(runs: &[&RunListing], page: &ListPage<'_>) -> String {
    runs.first().map_or_else(|| escaped(page.drive), |run| escaped(&drive_name(run)))
}

/// Drives, those measured last first.
fn drives(page: &ListPage<'_>) -> String {
    let mut drives: Vec<(&RunListing, usize)> = Vec::new();
    let mut places = HashMap::new();
    for run in page.runs.iter().filter(|run| run.damage.is_none()) {
        let place = *places.entry(drive_key(run)).or_insert_with(|| {
            drives.push((run, 0));
            drives.len() - 1
        });
        drives[place].1 += 1;
    }
    let item = |(run, runs): &(&RunListing, usize)| {
        let key = drive_key(run);
        let root = page.root;
        let link = match key == page.drive {
            true => root.to_owned(),
            false => format!("{root}?drive={}", query_escaped(&key)),
        };
        let class = if key == page.drive { " class=\"chosen\"" } else { "" };
        let plural = if *runs == 1 { "" } else { "s" };
        format!(
            "<li{class}><a href=\"{link}\">{}</a> <span>{runs} run{plural}</span></li>\n",
            escaped(&drive_name(run))
        )
    };
    let items: String = drives.iter().take(DRIVES_MAX).map(item).collect();
    let more = match drives.len().saturating_sub(DRIVES_MAX) {
        0 => String::new(),
        more => format!("<p class=\"where\">and {more} more, further down in the list</p>\n"),
    };
    format!("<h2>Drives</h2>\n<ul class=\"drives\">\n{items}</ul>\n{more}")
}

/// What tells drives apart: the serial number, else where it was.
fn drive_key(run: &RunListing) -> String {
    let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    said(&run.target_serial).or_else(|| said(&run.target_path)).unwrap_or_default()
}

fn drive_name(run: &RunListing) -> String {
    let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    said(&run.target_model).or_else(|| said(&run.target_path)).unwrap_or_else(|| "unknown".into())
}

fn row(run: &RunListing, root: &str) -> String {
    let id = escaped(&run.id);
    if let Some(damage) = &run.damage {
        return format!(
            "<tr class=\"damaged\"><td></td><td>{id}</td><td></td><td>damaged</td><td colspan=\"3\">{}</td></tr>\n",
            escaped(damage)
        );
    }
    // The names of runs are letters, digits and four signs that mean nothing in an address.
    let (state, link) = match (run.under_way, run.status) {
        (true, _) => ("running now", format!("{root}/live/{id}")),
        (_, Some(RunStatus::Complete)) => ("complete", format!("{root}/run/{id}")),
        (_, Some(RunStatus::Interrupted)) => ("interrupted", format!("{root}/run/{id}")),
        (_, Some(RunStatus::Failed) | None) => ("failed", format!("{root}/run/{id}")),
    };
    format!(
        "<tr{}><td><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"Compare {id}\"></td>\
         <td><a href=\"{link}\">{id}</a></td><td>{}</td><td>{state}</td><td>{}</td><td>{}</td>\
         <td><a href=\"{root}/run/{id}.json\">JSON</a></td></tr>\n",
        if run.under_way { " class=\"running\"" } else { "" },
        escaped(&began(run)),
        escaped(&run.experiments.join(", ")),
        escaped(&drive_name(run)),
    )
}

/// To the minute. A virtual drive has its own time, which says nothing to a person.
fn began(run: &RunListing) -> String {
    let is_virtual = run.target_path.as_deref().is_some_and(|path| path.starts_with("sim:"));
    match run.started.as_deref() {
        Some(_) if is_virtual => "virtual time".into(),
        Some(started) => started.get(..16).unwrap_or(started).replace('T', " "),
        None => "unknown".into(),
    }
}

fn turn_pages(number: usize, pages: usize, page: &ListPage<'_>) -> String {
    if pages == 1 {
        return String::new();
    }
    let (root, drive) = (page.root, query_escaped(page.drive));
    let drive = if drive.is_empty() { drive } else { format!("&amp;drive={drive}") };
    let link = |to: usize, words: &str| format!("<a href=\"{root}?page={to}{drive}\">{words}</a> ");
    let newer = if number > 1 { link(number - 1, "Newer") } else { String::new() };
    let older = if number < pages { link(number + 1, "Older") } else { String::new() };
    format!("<nav aria-label=\"Pages\">{newer}<span>Page {number} of {pages}</span> {older}</nav>\n")
}

/// The page of a run that goes on; its script fetches what changes.
pub(super) fn live(listing: &RunListing, state: &str, root: &str) -> String {
    let id = escaped(&listing.id);
    let content = format!(
        "<h1>{}</h1>\n<p><code>{id}</code></p>\n\
         <p id=\"connection\" role=\"status\"></p>\n<div id=\"live\" data-source=\"{root}/live/{id}/state\">\n{state}</div>\n",
        escaped(&drive_name(listing))
    );
    framed(
        &format!("drivescope: {}", drive_name(listing)),
        "<script src=\"/live.js\" defer></script>\n",
        Some(root),
        &content,
    )
}

/// What changes on it: where it is, how fast it goes, what is known so far.
pub(super) fn live_state(id: &str, standing: &Standing, known: &Known, root: &str) -> String {
    let state = match (standing.under_way, standing.status) {
        (true, _) => "running",
        (false, RunStatus::Complete) => "ended",
        (false, RunStatus::Interrupted) => "interrupted",
        (false, RunStatus::Failed) => "failed",
    };
    let step = standing.step.as_deref().map_or_else(|| "preparing".into(), escaped);
    let mut facts = vec![
        ("State", state.to_owned()),
        ("Step", format!("{step} ({} begun so far)", standing.steps)),
        ("Measured for", quantity::rough_time(standing.elapsed)),
        ("Read", quantity::capacity(Bytes(standing.bytes_read))),
        ("Written", quantity::capacity(Bytes(standing.bytes_written))),
        ("Failed requests", standing.failed.to_string()),
    ];
    if let Some(now) = &standing.now {
        facts.insert(3, ("Now", now.clone()));
    }
    let facts: String =
        facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n")).collect();
    let id = escaped(id);
    let ended = match standing.under_way {
        true => String::new(),
        false => format!("<p data-ended=\"yes\"><a href=\"{root}/run/{id}\">To its report</a></p>\n"),
    };
    format!(
        "{ended}<dl>\n{facts}</dl>\n{}<h2>What is known so far</h2>\n<pre>{}</pre>\n",
        picture(&id, known, root),
        known.page
    )
}

/// What is known of a run so far: what its records say when all of them are looked at, which is not done at each glance.
pub(super) struct Known {
    /// The page of a terminal, as markup.
    pub page: String,
    /// The chart on light and on dark ground; empty where there is nothing to draw yet.
    pub charts: [String; 2],
}

/// Between the parts of what is known; no text of ours or of a drive has it.
const PART: char = '\0';

impl Known {
    pub(super) fn of(stored: &StoredRun) -> Known {
        let chart = live_chart(stored);
        let drawn = |theme| chart.as_ref().map_or(String::new(), |chart| svg::document(chart, theme));
        Known { page: known(stored), charts: [drawn(Theme::Light), drawn(Theme::Dark)] }
    }

    /// As one text, to be kept.
    pub(super) fn text(&self) -> String {
        [self.page.as_str(), &self.charts[0], &self.charts[1]].join(&PART.to_string())
    }

    /// From the text that was kept.
    pub(super) fn from_text(text: &str) -> Known {
        let mut parts = text.split(PART).map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Known { page: part(), charts: [part(), part()] }
    }
}

/// What there is to see so far.
fn live_chart(stored: &StoredRun) -> Option<Chart> {
    let charted = ChartedRun { run: &stored.run, series: Some(&stored.series), letter: None };
    rate_over_position(&[charted], &[Operation::Read, Operation::Write])
}

/// Its chart; its checksum makes the browser fetch it anew when it is another.
fn picture(id: &str, known: &Known, root: &str) -> String {
    let [light, _] = &known.charts;
    if light.is_empty() {
        return String::new();
    }
    let source = format!("{root}/live/{id}/chart.svg?is={:08x}", crc32fast::hash(light.as_bytes()));
    format!(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{source}&amp;theme=dark\">\
         <img src=\"{source}\" alt=\"Rate over position, so far\"></picture>\n"
    )
}

/// The page of a terminal, from its answers on: where it was measured stands above, and that it has no end yet too. Its lines
/// are harmless already, and their spaces stay.
fn known(stored: &StoredRun) -> String {
    let run = Run {
        status: if stored.under_way { RunStatus::Complete } else { stored.run.status },
        ..stored.run.clone()
    };
    let page: Vec<String> =
        report::terminal::run_page(&run, STYLE).lines().map(report::hostile::escaped).collect();
    page.join("\n")
}
