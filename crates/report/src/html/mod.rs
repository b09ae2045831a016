//! A report as one HTML file that needs nothing else: no network, no font, no other file.
//! ```text
//! answer       what drive, is it sound, the findings that matter, what to do     answer.rs, comparison.rs
//! charts       each as a picture that can be read and printed, and its numbers    figure.rs, chart_data.rs, value_table.rs
//! findings     all, each with the stretches of the charts that it rests on        findings.rs, evidence.rs
//! method       how it was measured, every step, the commands                      method.rs
//! ```
//! Without its script the page shows everything. With it the charts can be zoomed and read off, and a finding shows what it
//! rests on. Style and script are made of the sources in `web/`; the page allows these two, by their checksums, and nothing
//! else: nothing is fetched, and what a drive says of itself cannot run.

mod answer;
mod chart_data;
mod comparison;
mod content;
mod evidence;
mod figure;
mod findings;
mod method;
mod value_table;

pub use content::ReportPage;

use crate::chart::{chart_names, timeline};
use content::STYLE;
use evidence::Marked;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::run::Run;
/// Made of `web/src` by `npm run build` in `web/`.
const SCRIPT: &str = include_str!("bundle/page.js");
const SHEET: &str = include_str!("bundle/page.css");
const POLICY: &str = include_str!("bundle/content-security-policy.txt");

/// What the page may do: run the script and use the style that are in it, and reach nothing. A server sends the same in a header.
pub fn content_security_policy() -> &'static str {
    POLICY.trim()
}

pub fn page(content: &ReportPage<'_>) -> String {
    let runs: Vec<&Run> = content.runs.iter().map(|charted| charted.run).collect();
    let names = chart_names(&runs);
    let mut charts = content.charts.to_vec();
    charts.extend(timeline::timeline(content.runs));
    let marked: Vec<Vec<Marked>> =
        charts.iter().map(|chart| evidence::marked_in(chart, content.runs)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&names))
            body {
                (bar(content, !charts.is_empty()))
                main {
                    (answer::section(content, &names))
                    @if let Some(comparison) = content.comparison { (comparison::section(comparison, &names)) }
                    @if !charts.is_empty() { (figure::section(&charts, &marked)) }
                    (findings::section(content, &marked, &names))
                    (method::section(content, &names))
                }
                (foot(&runs))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn head(names: &[String]) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(content_security_policy());
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title {
                @match names {
                    [only] => { (only) },
                    _ => { (names.len()) " runs" },
                }
                ": drivescope report"
            }
            style { (PreEscaped(SHEET)) }
        }
    }
}

fn bar(content: &ReportPage<'_>, has_charts: bool) -> Markup {
    html! {
        a class="skip" href="#answer" { "Skip to the verdict" }
        header class="bar" {
            div class="inner" {
                @if let Some(home) = content.home {
                    a class="brand" href=(home) { "drivescope" }
                } @else {
                    span class="brand" { "drivescope" }
                }
                nav aria-label="Sections" {
                    a href="#answer" { "Answer" }
                    @if content.comparison.is_some() { a href="#comparison" { "Differences" } }
                    @if has_charts { a href="#charts" { "Charts" } }
                    a href="#findings" { "Findings" }
                    a href="#method" { "Method" }
                }
                button type="button" id="theme" class="quiet" hidden { "Dark" }
            }
        }
    }
}

fn foot(runs: &[&Run]) -> Markup {
    let mut versions: Vec<String> = runs.iter().map(|run| STYLE.name(&run.version)).collect();
    versions.sort_unstable();
    versions.dedup();
    html! {
        footer {
            p { "Measured by drivescope " (versions.join(", ")) ". This page is one file and loads nothing." }
        }
    }
}
