//! A report as one HTML file that needs nothing else: no network, no font, no other file.

mod markup;

use crate::chart::svg::{self, Theme};
use crate::chart::{Chart, ChartedRun};
use crate::style::Style;
use crate::terminal::run_page;
use markup::escaped;
use model::comparison::Comparison;

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

/// What the page may do, for its own head and for a server that sends it: run and show what is in it, and reach nothing.
pub fn content_security_policy() -> String {
    "default-src 'none'; base-uri 'none'; form-action 'none'".into()
}

/// The page as a document.
pub fn page(content: &ReportPage<'_>) -> String {
    let style = Style { width: 100, colour: false, unicode: true };
    let pages: String = content
        .runs
        .iter()
        .map(|charted| format!("<pre>{}</pre>\n", escaped(&run_page(charted.run, style))))
        .collect();
    let charts: String = content.charts.iter().map(|chart| svg::document(chart, Theme::Light)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>drivescope</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n{charts}{pages}</html>\n",
        escaped(&content_security_policy())
    )
}
