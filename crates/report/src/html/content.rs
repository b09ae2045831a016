//! What the sections of a page share.

use crate::chart::{Chart, ChartedRun};
use crate::style::Style;
use maud::{Markup, html};
use model::comparison::Comparison;

/// How sentences are taken over: they wrap in the browser, so the width is of no account.
pub(super) const STYLE: Style = Style { width: 120, colour: false, unicode: true, draws: true };

#[derive(Clone, Copy)]
pub struct ReportPage<'page> {
    pub runs: &'page [ChartedRun<'page>],
    pub charts: &'page [Chart],
    pub comparison: Option<&'page Comparison>,
    /// Where the program's name leads, if the page is served.
    pub home: Option<&'page str>,
}

#[derive(Clone, Copy)]
pub(super) enum Heading {
    Second,
    Third,
    Fourth,
}

impl Heading {
    pub(super) fn with(self, class: Option<&str>, text: &str) -> Markup {
        match self {
            Heading::Second => html! { h2 class=[class] { (text) } },
            Heading::Third => html! { h3 class=[class] { (text) } },
            Heading::Fourth => html! { h4 class=[class] { (text) } },
        }
    }
}

pub(super) fn table_head(names: &[&str]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}
