//! Which page an address asks for. A path is compared with names that are known, and the name of a run with those in the
//! list of runs: nothing of it ever becomes a path of a file.

use super::Served;
use super::pages::{self, Known, ListPage};
use super::request::Request;
use super::response::Response;
use crate::store::{LOOK_AGAIN_BYTES_MAX, RunListing, StoreError, StoredRun, bytes_in, is_run_name};
use report::json::document;
use std::os::unix::fs::MetadataExt;

/// More in one picture are not told apart.
const COMPARED_MAX: usize = 10;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");
const ICON: &str = include_str!("icon.svg");
const SVG: &str = "image/svg+xml";

/// Why there is no page, in words, and the status.
struct Problem {
    status: u16,
    why: String,
}

type Answer = Result<Response, Problem>;

/// The answer to a request that the gate let in.
pub(super) fn answer(served: &Served, request: &Request) -> Response {
    let path: Vec<&str> = served.gate.parts(request).iter().map(String::as_str).collect();
    let answer = match path.as_slice() {
        [] => list(served, request),
        ["style.css"] => Ok(Response::file("text/css; charset=utf-8", STYLE)),
        ["live.js"] => Ok(Response::file("text/javascript; charset=utf-8", SCRIPT)),
        ["compare"] => compare(served, request),
        ["run", name] => match name.strip_suffix(".json") {
            Some(name) => json(served, name),
            None => report(served, name),
        },
        ["live", name] => live(served, name),
        ["live", name, "state"] => live_state(served, name),
        ["live", name, "chart.svg"] => live_chart(served, name, request.query_value("theme") == Some("dark")),
        ["favicon.ico"] => Ok(Response::file(SVG, ICON)),
        _ => Err(Problem { status: 404, why: "there is no such page".into() }),
    };
    answer
        .unwrap_or_else(|problem| Response::problem(problem.status, &problem.why, Some(&served.gate.root())))
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let status = if matches!(error, StoreError::NoSuchRun { .. }) { 404 } else { 500 };
        Problem { status, why: error.to_string() }
    }
}

/// The run with exactly that name.
fn listed(served: &Served, name: &str) -> Result<RunListing, Problem> {
    let none = || Problem { status: 404, why: format!("there is no run {name} in this store") };
    if !is_run_name(name) {
        return Err(none());
    }
    let listing = served.store.runs()?.into_iter().find(|run| run.id == name).ok_or_else(none)?;
    match listing.damage {
        Some(damage) => Err(Problem { status: 500, why: damage }),
        None => Ok(listing),
    }
}

/// The run, analysed anew.
fn read(served: &Served, listing: &RunListing) -> Result<StoredRun, StoreError> {
    let mut stored = served.store.read(&listing.id)?;
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    Ok(stored)
}

/// Changes whenever the facts of the run change.
pub(super) fn state(listing: &RunListing) -> String {
    let facts = std::fs::metadata(listing.folder.join("run.json"));
    let stamp = facts.map(|facts| (facts.ino(), facts.mtime(), facts.mtime_nsec(), facts.len()));
    format!("{stamp:?}{}", listing.under_way)
}

fn list(served: &Served, request: &Request) -> Answer {
    let number = request.query_value("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let drive = request.query_value("drive").unwrap_or_default();
    let make = |_: Option<&str>| -> Result<String, Problem> {
        let runs = served.store.runs()?;
        let (store, root) = (served.store.folder(), served.gate.root());
        Ok(pages::list(&ListPage { runs: &runs, number, drive, store, root: &root }))
    };
    Ok(Response::shared_page(served.cache.live(&format!("list {number} {drive}"), make)?))
}

/// The report of a run; while it goes on, what is known so far.
fn report(served: &Served, name: &str) -> Answer {
    let listing = listed(served, name)?;
    if listing.under_way {
        return live(served, name);
    }
    let make =
        |_: Option<&str>| -> Result<String, Problem> { Ok(report_of(served, &[read(served, &listing)?])) };
    Ok(Response::report(served.cache.page(&format!("report {name}"), &state(&listing), make)?))
}

/// The report, with its name as the way back to the list.
fn report_of(served: &Served, runs: &[StoredRun]) -> String {
    let page = (served.report)(runs);
    page.replacen(
        "<span class=\"brand\">drivescope</span>",
        &format!("<a class=\"brand\" href=\"{}\">drivescope</a>", served.gate.root()),
        1,
    )
}

fn json(served: &Served, name: &str) -> Answer {
    let listing = listed(served, name)?;
    Ok(Response::file("application/json", document(&read(served, &listing)?.run).to_json_pretty()))
}

fn compare(served: &Served, request: &Request) -> Answer {
    let chosen: Vec<&str> =
        request.query.iter().filter(|(name, _)| name == "run").map(|(_, value)| value.as_str()).collect();
    let mut names: Vec<&str> = Vec::new();
    chosen.into_iter().for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    if !(2..=COMPARED_MAX).contains(&names.len()) {
        let why = format!("choose 2 to {COMPARED_MAX} runs to compare; {} are chosen", names.len());
        return Err(Problem { status: 400, why });
    }
    let listings = names.iter().map(|name| listed(served, name)).collect::<Result<Vec<_>, _>>()?;
    let make = |_: Option<&str>| -> Result<String, Problem> {
        let runs = listings.iter().map(|listing| read(served, listing)).collect::<Result<Vec<_>, _>>()?;
        Ok(report_of(served, &runs))
    };
    let state: Vec<String> = listings.iter().map(state).collect();
    let page = served.cache.page(&format!("compare {}", names.join(" ")), &state.join(" "), make)?;
    Ok(Response::report(page))
}

fn live(served: &Served, name: &str) -> Answer {
    let listing = listed(served, name)?;
    Ok(Response::page(pages::live(&listing, &live_text(served, &listing)?, &served.gate.root())))
}

fn live_state(served: &Served, name: &str) -> Answer {
    let listing = listed(served, name)?;
    Ok(Response::page(live_text(served, &listing)?))
}

fn live_chart(served: &Served, name: &str, dark: bool) -> Answer {
    let listing = listed(served, name)?;
    let known = known(served, &listing)?;
    match &known.charts[usize::from(dark)] {
        none if none.is_empty() => Err(Problem { status: 404, why: "there is nothing to draw yet".into() }),
        picture => Ok(Response::file(SVG, picture.as_bytes())),
    }
}

/// What changes on the page of a run that goes on: what was added is little to read, and what is known is kept for a while.
fn live_text(served: &Served, listing: &RunListing) -> Result<String, Problem> {
    let standing = served.live.standing(&served.store, listing)?;
    Ok(pages::live_state(&listing.id, &standing, &known(served, listing)?, &served.gate.root()))
}

/// What is known of a run so far. While it goes on all its records are looked at now and then, as long as they are few; then what was known last
/// stays.
fn known(served: &Served, listing: &RunListing) -> Result<Known, Problem> {
    let make = |before: Option<&str>| -> Result<String, Problem> {
        match before.filter(|_| listing.under_way && bytes_in(&listing.folder) > LOOK_AGAIN_BYTES_MAX) {
            Some(before) => Ok(before.to_owned()),
            None => Ok(Known::of(&read(served, listing)?).text()),
        }
    };
    let key = format!("known {}", listing.id);
    let text = match listing.under_way {
        true => served.cache.live(&key, make),
        false => served.cache.page(&key, &state(listing), make),
    };
    Ok(Known::from_text(&text?))
}
