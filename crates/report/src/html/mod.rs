//! A report as one HTML file that needs nothing else: no network, no font, no other file.
//!
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
mod course;
mod evidence;
mod figure;
mod findings;
mod markup;
mod method;
mod value_table;

use crate::chart::{Chart, ChartedRun, chart_names};
use crate::hostile::escaped;
use crate::style::Style;
use evidence::Marked;
use markup::Markup;
use model::comparison::Comparison;
use model::run::Run;

/// How sentences are taken over: they wrap in the browser, so the width is of no account.
const STYLE: Style = Style { width: 120, colour: false, unicode: true };
/// Made of `web/src` by `npm run build` in `web/`.
const SCRIPT: &str = include_str!("bundle/page.js");
const SHEET: &str = include_str!("bundle/page.css");
const POLICY: &str = include_str!("bundle/content-security-policy.txt");

/// What the page shows.
#[derive(Clone, Copy)]
pub struct ReportPage<'page> {
    /// The runs, in the order in which the comparison numbers them.
    pub runs: &'page [ChartedRun<'page>],
    /// What is drawn of them, in that order.
    pub charts: &'page [Chart],
    /// What came of setting them side by side; none of a single run.
    pub comparison: Option<&'page Comparison>,
}

/// What the page may do, as its own head says it: run the script and use the style that are in it, and reach nothing. A
/// server sends the same in a header.
pub fn content_security_policy() -> &'static str {
    POLICY.trim()
}

/// The page as a document.
pub fn page(content: &ReportPage<'_>) -> String {
    let runs: Vec<&Run> = content.runs.iter().map(|charted| charted.run).collect();
    let names = chart_names(&runs);
    let mut charts = content.charts.to_vec();
    charts.extend(course::chart(content.runs));
    let marked: Vec<Vec<Marked>> =
        charts.iter().map(|chart| evidence::marked_in(chart, content.runs)).collect();
    let mut page = Markup::default();
    head(&mut page, &names);
    bar(&mut page, content.comparison.is_some(), !charts.is_empty());
    page.put("<main>");
    answer::section(&mut page, content, &names);
    if let Some(comparison) = content.comparison {
        comparison::section(&mut page, comparison, &names);
    }
    figure::section(&mut page, &charts, &marked);
    findings::section(&mut page, content, &marked, &names);
    method::section(&mut page, content, &names);
    page.put("</main>");
    foot(&mut page, &runs);
    page.put(format_args!("<script>{SCRIPT}</script>"));
    page.put("</body>\n</html>");
    page.text()
}

fn head(page: &mut Markup, names: &[String]) {
    let title = match names {
        [only] => format!("{only}: drivescope report"),
        _ => format!("{} runs: drivescope report", names.len()),
    };
    page.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">");
    page.put(format_args!(
        r#"<meta http-equiv="Content-Security-Policy" content="{}">"#,
        escaped(content_security_policy())
    ));
    page.put(r#"<meta name="viewport" content="width=device-width, initial-scale=1">"#);
    page.put(r#"<meta name="color-scheme" content="light dark">"#);
    page.put(format_args!("<title>{}</title>", escaped(&title)));
    page.put(format_args!("<style>{SHEET}</style>\n</head>\n<body>"));
}

fn bar(page: &mut Markup, has_comparison: bool, has_charts: bool) {
    page.put(r##"<a class="skip" href="#answer">Skip to the answer</a>"##);
    page.put(r#"<header class="bar"><div class="inner"><span class="brand">drivescope</span><nav aria-label="Sections">"#);
    page.put(r##"<a href="#answer">Answer</a>"##);
    if has_comparison {
        page.put(r##"<a href="#comparison">Differences</a>"##);
    }
    if has_charts {
        page.put(r##"<a href="#charts">Charts</a>"##);
    }
    page.put(r##"<a href="#findings">Findings</a><a href="#method">Method</a></nav>"##);
    page.put(r#"<button type="button" id="theme" class="quiet" hidden>Dark</button></div></header>"#);
}

fn foot(page: &mut Markup, runs: &[&Run]) {
    let mut versions: Vec<String> = runs.iter().map(|run| STYLE.name(&run.version)).collect();
    versions.sort_unstable();
    versions.dedup();
    page.put(format_args!(
        r#"<footer><p>Measured by drivescope {}. This page is one file, and reaches nothing outside itself.</p></footer>"#,
        escaped(&versions.join(", "))
    ));
}
