//! Which page an address asks for. Paths are compared with known names and listed runs: no part becomes the path of a file.

use super::cache::Freshness;
use super::live::facts_stamp;
use super::pages::{self, ListPage, Preview};
use super::problem::Problem;
use super::request::Request;
use super::response::Response;
use super::site::Site;
use crate::export::document;
use crate::store::{LOOK_AGAIN_BYTES_MAX, RunListing, StoreError, StoredRun, bytes_in, is_run_name};

/// More runs in one chart cannot be told apart.
const COMPARED_MAX: usize = 10;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");
const ICON: &str = include_str!("icon.svg");
const SVG: &str = "image/svg+xml";

pub(super) fn respond(site: &Site, request: &Request) -> Response {
    let path: Vec<&str> = site.gate.parts(request).iter().map(String::as_str).collect();
    let page = match path.as_slice() {
        [] => list(site, request),
        ["style.css"] => Ok(Response::file("text/css; charset=utf-8", STYLE)),
        ["live.js"] => Ok(Response::file("text/javascript; charset=utf-8", SCRIPT)),
        ["compare"] => compare(site, request),
        ["run", name] => match name.strip_suffix(".json") {
            Some(name) => json(site, name),
            None => report(site, name),
        },
        ["live", name] => live(site, name),
        ["live", name, "state"] => live_state(site, name),
        ["live", name, "chart.svg"] => live_chart(site, name, request.query_value("theme") == Some("dark")),
        ["favicon.ico"] => Ok(Response::file(SVG, ICON)),
        _ => Err(Problem::new(404, "there is no such page")),
    };
    match page {
        Ok(response) => response,
        Err(problem) => pages::problem(&problem, Some(&site.gate.root())),
    }
}

fn listed(site: &Site, name: &str) -> Result<RunListing, Problem> {
    let mut runs = if is_run_name(name) { site.store.runs()? } else { Vec::new() };
    runs.retain(|run| run.id == name);
    match runs.pop() {
        None => Err(Problem::of(404, format!("there is no run {name} in this store"))),
        Some(RunListing { damage: Some(damage), .. }) => Err(Problem::of(500, damage)),
        Some(listing) => Ok(listing),
    }
}

fn read(site: &Site, listing: &RunListing) -> Result<StoredRun, StoreError> {
    let mut stored = site.store.read(&listing.id)?;
    stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
    Ok(stored)
}

fn list(site: &Site, request: &Request) -> Result<Response, Problem> {
    let number = request.query_value("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let drive = request.query_value("drive").unwrap_or_default();
    let key = format!("list {number} {drive}");
    let page = site.cache.page(&key, Freshness::Recent, |_| -> Result<String, Problem> {
        let runs = site.store.runs()?;
        let (store, root) = (site.store.folder(), site.gate.root());
        Ok(pages::list(&ListPage { runs: &runs, number, drive, store, root: &root }))
    })?;
    Ok(Response::shared_page(page))
}

fn report(site: &Site, name: &str) -> Result<Response, Problem> {
    let listing = listed(site, name)?;
    if listing.under_way {
        return live(site, name);
    }
    let stamp = facts_stamp(&listing);
    let key = format!("report {name}");
    let page = site.cache.page(&key, Freshness::State(&stamp), |_| -> Result<String, Problem> {
        Ok(report_of(site, &[read(site, &listing)?]))
    })?;
    Ok(Response::report(page))
}

fn report_of(site: &Site, runs: &[StoredRun]) -> String {
    (site.report)(runs, &site.gate.root())
}

fn json(site: &Site, name: &str) -> Result<Response, Problem> {
    let listing = listed(site, name)?;
    Ok(Response::file("application/json", document(&read(site, &listing)?.run)))
}

fn compare(site: &Site, request: &Request) -> Result<Response, Problem> {
    let mut names: Vec<&str> = Vec::new();
    for (key, name) in &request.query {
        if key == "run" && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if !(2..=COMPARED_MAX).contains(&names.len()) {
        let why = format!("choose 2 to {COMPARED_MAX} runs to compare; {} are chosen", names.len());
        return Err(Problem::of(400, why));
    }
    let mut listings = Vec::new();
    for name in &names {
        listings.push(listed(site, name)?);
    }
    let stamps = listings.iter().map(facts_stamp).collect::<Vec<_>>().join(" ");
    let key = format!("compare {}", names.join(" "));
    let page = site.cache.page(&key, Freshness::State(&stamps), |_| -> Result<String, Problem> {
        let mut runs = Vec::new();
        for listing in &listings {
            runs.push(read(site, listing)?);
        }
        Ok(report_of(site, &runs))
    })?;
    Ok(Response::report(page))
}

fn live(site: &Site, name: &str) -> Result<Response, Problem> {
    let listing = listed(site, name)?;
    Ok(Response::page(pages::live(&listing, &live_text(site, &listing)?, &site.gate.root())))
}

fn live_state(site: &Site, name: &str) -> Result<Response, Problem> {
    let listing = listed(site, name)?;
    Ok(Response::page(live_text(site, &listing)?))
}

fn live_chart(site: &Site, name: &str, dark: bool) -> Result<Response, Problem> {
    let listing = listed(site, name)?;
    let [light_chart, dark_chart] = preview(site, &listing)?.charts;
    let chart = if dark { dark_chart } else { light_chart };
    if chart.is_empty() {
        return Err(Problem::new(404, "there is nothing to draw yet"));
    }
    Ok(Response::file(SVG, chart))
}

fn live_text(site: &Site, listing: &RunListing) -> Result<String, Problem> {
    let state = site.live.state(&site.store, listing)?;
    Ok(pages::live_state(&listing.id, &state, &preview(site, listing)?, &site.gate.root()))
}

/// What the records of a run show so far. Of a run in progress that has grown too large to read again, the last preview.
fn preview(site: &Site, listing: &RunListing) -> Result<Preview, Problem> {
    let stamp = facts_stamp(listing);
    let freshness = if listing.under_way { Freshness::Recent } else { Freshness::State(&stamp) };
    let key = format!("preview {}", listing.id);
    let text = site.cache.page(&key, freshness, |before| -> Result<String, Problem> {
        match before {
            Some(before) if listing.under_way && bytes_in(&listing.folder) > LOOK_AGAIN_BYTES_MAX => {
                Ok(before.to_owned())
            }
            _ => Ok(Preview::of(&read(site, listing)?).into_text()),
        }
    })?;
    Ok(Preview::from_text(&text))
}
