//! Our own pages: the list of drives and runs, a run in progress, the entrance, and problems. Drive text is one visible line.

use super::live::LiveState;
use super::problem::Problem;
use super::response::Response;
use crate::store::{RunListing, StoredRun};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::request::Operation;
use model::run::{Run, RunStatus};
use model::units::Bytes;
use report::chart::svg::{self, Theme};
use report::chart::{ChartedRun, rate_over_position};
use report::hostile::harmless;
use report::quantity;
use report::style::Style;
use std::collections::HashMap;
use std::path::Path;

const RUNS_ON_PAGE: usize = 100;
const DRIVES_MAX: usize = 24;
/// A drive may call itself what it likes, at any length.
const SHOWN_COLUMNS_MAX: usize = 300;

const STYLE: Style = Style { width: 110, colour: false, unicode: true, draws: true };

pub(super) struct ListPage<'page> {
    pub runs: &'page [RunListing],
    pub number: usize,
    pub drive: &'page str,
    pub store: &'page Path,
    pub root: &'page str,
}

fn shown(text: &str) -> String {
    harmless(text, SHOWN_COLUMNS_MAX)
}

fn query_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

fn framed(title: &str, head: Markup, root: Option<&str>, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (shown(title)) }
                link rel="stylesheet" href="/style.css";
                (head)
            }
            body {
                header {
                    @if let Some(root) = root { a.brand href=(root) { "drivescope" } }
                    @else { span.brand { "drivescope" } }
                }
                main { (content) }
            }
        }
    }
    .into_string()
}

/// Takes the browser from the link with the token to an address without it, which is safe to keep and to show.
pub(super) fn entrance(root: &str, cookie: &str) -> Response {
    let refresh = html! { meta http-equiv="refresh" content={ "0; url=" (root) }; };
    Response::page(framed("drivescope", refresh, Some(root), back(root))).with_cookie(cookie)
}

fn back(root: &str) -> Markup {
    html! { p { a href=(root) { "All runs" } } }
}

pub(super) fn problem(problem: &Problem, root: Option<&str>) -> Response {
    let content = html! {
        h1 { "That did not work" }
        p { (shown(&sentence(&problem.why))) }
        @if let Some(root) = root { (back(root)) }
    };
    Response::page(framed("drivescope", html! {}, root, content)).with_status(problem.status)
}

fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if why.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

pub(super) fn list(page: &ListPage<'_>) -> String {
    let mut runs: Vec<&RunListing> = page.runs.iter().collect();
    if !page.drive.is_empty() {
        runs.retain(|run| drive_key(run) == page.drive);
    }
    let pages = runs.len().div_ceil(RUNS_ON_PAGE).max(1);
    let number = page.number.clamp(1, pages);
    let rows = runs.iter().skip((number - 1) * RUNS_ON_PAGE).take(RUNS_ON_PAGE);
    let root = page.root;
    let content = html! {
        p.where { "Store: " (shown(&absolute(page.store))) }
        @if page.runs.is_empty() {
            h1 { "No runs yet" }
            p { "Measure a drive: " code { "drivescope check ." } }
        } @else {
            (drives(page))
            h1 { (heading(&runs, page)) }
            form action={ (root) "/compare" } method="get" {
                div.wide {
                    table {
                        thead {
                            tr {
                                th { span.hidden { "Compare" } }
                                @for name in ["Run", "Began (UTC)", "Status", "Experiments", "Drive", "Data"] { th { (name) } }
                            }
                        }
                        tbody { @for run in rows { (row(run, root)) } }
                    }
                }
                p { button { "Compare the selected runs" } }
            }
            @if pages > 1 { (page_links(number, pages, page)) }
        }
    };
    framed("drivescope: runs", html! {}, Some(root), content)
}

fn absolute(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

fn heading(runs: &[&RunListing], page: &ListPage<'_>) -> String {
    match runs.first() {
        _ if page.drive.is_empty() => "Runs".into(),
        Some(run) => format!("Runs of {}", shown(&drive_name(run))),
        None => format!("Runs of {}", shown(page.drive)),
    }
}

fn drives(page: &ListPage<'_>) -> Markup {
    let mut drives: Vec<(&RunListing, String, usize)> = Vec::new();
    let mut index_of = HashMap::new();
    for run in page.runs {
        if run.damage.is_some() {
            continue;
        }
        let key = drive_key(run);
        let index = *index_of.entry(key.clone()).or_insert(drives.len());
        if index == drives.len() {
            drives.push((run, key, 0));
        }
        drives[index].2 += 1;
    }
    let more = drives.len().saturating_sub(DRIVES_MAX);
    html! {
        h2 { "Drives" }
        ul.drives {
            @for (run, key, runs) in drives.iter().take(DRIVES_MAX) {
                @let is_chosen = key == page.drive;
                @let link = if is_chosen { page.root.to_owned() } else { format!("{}?drive={}", page.root, query_encoded(key)) };
                li.chosen[is_chosen] {
                    a href=(link) { (shown(&drive_name(run))) } " "
                    span { (runs) @if *runs == 1 { " run" } @else { " runs" } }
                }
            }
        }
        @if more > 0 { p.where { "and " (more) " more, further down in the list" } }
    }
}

fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

/// What tells drives apart: the serial number, else the path.
fn drive_key(run: &RunListing) -> String {
    filled(&run.target_serial).or(filled(&run.target_path)).unwrap_or_default().to_owned()
}

fn drive_name(run: &RunListing) -> String {
    filled(&run.target_model).or(filled(&run.target_path)).unwrap_or("unknown").to_owned()
}

fn row(run: &RunListing, root: &str) -> Markup {
    let id = shown(&run.id);
    if let Some(damage) = &run.damage {
        return html! {
            tr.damaged { td {} td { (id) } td {} td { "damaged" } td colspan="3" { (shown(damage)) } }
        };
    }
    // The names of runs are letters, digits and four signs that have no meaning in an address.
    let (status, page) = match (run.under_way, run.status) {
        (true, _) => ("in progress", "live"),
        (_, Some(RunStatus::Complete)) => ("complete", "run"),
        (_, Some(RunStatus::Interrupted)) => ("interrupted", "run"),
        (_, Some(RunStatus::Failed) | None) => ("failed", "run"),
    };
    html! {
        tr.running[run.under_way] {
            td { input type="checkbox" name="run" value=(id) aria-label={ "Compare " (id) }; }
            td { a href={ (root) "/" (page) "/" (id) } { (id) } }
            td { (shown(&began(run))) }
            td { (status) }
            td { (shown(&run.experiments.join(", "))) }
            td { (shown(&drive_name(run))) }
            td { a href={ (root) "/run/" (id) ".json" } { "JSON" } }
        }
    }
}

/// To the minute. The time of a virtual drive has no date.
fn began(run: &RunListing) -> String {
    let is_virtual = run.target_path.as_deref().is_some_and(|path| path.starts_with("sim:"));
    match run.started.as_deref() {
        Some(_) if is_virtual => "virtual time".into(),
        Some(started) => started.get(..16).unwrap_or(started).replace('T', " "),
        None => "unknown".into(),
    }
}

fn page_links(number: usize, pages: usize, page: &ListPage<'_>) -> Markup {
    let mut query = format!("{}?", page.root);
    if !page.drive.is_empty() {
        query += &format!("drive={}&", query_encoded(page.drive));
    }
    html! {
        nav aria-label="Pages" {
            @if number > 1 { a href={ (query) "page=" (number - 1) } { "Newer" } " " }
            span { "Page " (number) " of " (pages) } " "
            @if number < pages { a href={ (query) "page=" (number + 1) } { "Older" } }
        }
    }
}

pub(super) fn live(listing: &RunListing, state: &str, root: &str) -> String {
    let id = shown(&listing.id);
    let name = drive_name(listing);
    let content = html! {
        h1 { (shown(&name)) }
        p { code { (id) } }
        p #connection role="status" {}
        div #live data-source={ (root) "/live/" (id) "/state" } { (PreEscaped(state)) }
    };
    let script = html! { script src="/live.js" defer {} };
    framed(&format!("drivescope: {name}"), script, Some(root), content)
}

pub(super) fn live_state(id: &str, state: &LiveState, preview: &Preview, root: &str) -> String {
    let id = shown(id);
    let status = match (state.under_way, state.status) {
        (true, _) => "running",
        (false, RunStatus::Complete) => "ended",
        (false, RunStatus::Interrupted) => "interrupted",
        (false, RunStatus::Failed) => "failed",
    };
    let phase = state.phase.as_deref().map_or_else(|| "preparing".into(), shown);
    let mut facts = vec![
        ("Status", status.to_owned()),
        ("Phase", format!("{phase} ({} begun so far)", state.phases)),
        ("Elapsed", quantity::rough_time(state.elapsed)),
        ("Read", quantity::capacity(Bytes::new(state.totals.bytes_read))),
        ("Written", quantity::capacity(Bytes::new(state.totals.bytes_written))),
        ("Failed requests", state.totals.failed.to_string()),
    ];
    if let Some(now) = &state.now {
        facts.insert(3, ("Now", now.clone()));
    }
    html! {
        @if !state.under_way { p data-ended="yes" { a href={ (root) "/run/" (id) } { "Open the report" } } }
        dl { @for (name, value) in facts { dt { (name) } dd { (value) } } }
        (picture(&id, preview, root))
        h2 { "Findings so far" }
        pre { (preview.page) }
    }
    .into_string()
}

/// What the records of a run show so far; made from all of them, so not at each look.
pub(super) struct Preview {
    pub page: String,
    pub charts: [String; 2],
}

/// Between the parts of a preview; neither a page nor an SVG contains it.
const SEPARATOR: char = '\0';

impl Preview {
    pub(super) fn of(stored: &StoredRun) -> Preview {
        let charted = ChartedRun { run: &stored.run, series: Some(&stored.series), letter: None };
        let charts = match rate_over_position(&[charted], &[Operation::Read, Operation::Write]) {
            Some(chart) => [Theme::Light, Theme::Dark].map(|theme| svg::document(&chart, theme)),
            None => [String::new(), String::new()],
        };
        Preview { page: findings_page(stored), charts }
    }

    pub(super) fn into_text(self) -> String {
        let [light, dark] = self.charts;
        [self.page, light, dark].join(&SEPARATOR.to_string())
    }

    pub(super) fn from_text(text: &str) -> Preview {
        let mut parts = text.split(SEPARATOR).map(str::to_owned);
        let (page, light, dark) = (parts.next(), parts.next(), parts.next());
        Preview {
            page: page.unwrap_or_default(),
            charts: [light.unwrap_or_default(), dark.unwrap_or_default()],
        }
    }
}

/// The chart so far. The checksum in its address makes the browser fetch it again when it has changed.
fn picture(id: &str, preview: &Preview, root: &str) -> Markup {
    let [light, _] = &preview.charts;
    if light.is_empty() {
        return html! {};
    }
    let source = format!("{root}/live/{id}/chart.svg?is={:08x}", crc32fast::hash(light.as_bytes()));
    html! {
        picture {
            source media="(prefers-color-scheme: dark)" srcset={ (source) "&theme=dark" };
            img src=(source) alt="Throughput by LBA, so far";
        }
    }
}

/// The page of a terminal. That the run is in progress is shown above it.
fn findings_page(stored: &StoredRun) -> String {
    let status = if stored.under_way { RunStatus::Complete } else { stored.run.status };
    report::terminal::run_page(&Run { status, ..stored.run.clone() }, STYLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_script_is_shown() {
        let page = framed("<script>alert('1')&\"</script>", html! {}, None, html! {});
        assert!(page.contains("&lt;script&gt;alert('1')&amp;&quot;&lt;/script&gt;"), "{page}");
        assert_eq!(query_encoded("a b&c=<ü"), "a%20b%26c%3D%3C%C3%BC");
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_markup(text in any::<String>()) {
            let page = html! { (shown(&text)) }.into_string();
            prop_assert!(!page.contains(['<', '>', '"', '\n', '\0']));
            let without = page.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").replace("&quot;", "");
            prop_assert!(!without.contains('&'));
        }
    }
}
