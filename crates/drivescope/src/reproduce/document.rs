//! A re-enactment as a document.

use super::article::Reproduction;
use super::figure::{Figure, Published, Table, Unit, Verdict};
use serde::Serialize;

/// Schema `drivescope.reproduction/1`. Keys may be added; none is renamed or changes its meaning or unit.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproductionDocument<'all> {
    schema: &'static str,
    article: &'static str,
    title: &'all str,
    setting: &'all str,
    tables: Vec<TableDocument<'all>>,
    conclusion: &'all str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TableDocument<'all> {
    title: &'all str,
    method: &'all str,
    figures: Vec<FigureDocument<'all>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FigureDocument<'all> {
    name: &'all str,
    unit: Unit,
    published: Option<f64>,
    /// Whether the article gives the published value itself or a limit.
    published_is: Option<PublishedWord>,
    reproduced: Option<f64>,
    /// The largest deviation that still agrees, as a share of the published value.
    tolerance: f64,
    verdict: Verdict,
    reason: Option<&'all str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum PublishedWord {
    Value,
    AtMost,
    AtLeast,
}

pub fn document(reproduction: &Reproduction) -> ReproductionDocument<'_> {
    ReproductionDocument {
        schema: "drivescope.reproduction/1",
        article: reproduction.article.name(),
        title: reproduction.title,
        setting: &reproduction.setting,
        tables: reproduction.tables.iter().map(table).collect(),
        conclusion: &reproduction.conclusion,
    }
}

fn table(table: &Table) -> TableDocument<'_> {
    let figures = table.figures.iter().map(figure).collect();
    TableDocument { title: &table.title, method: &table.method, figures }
}

fn figure(figure: &Figure) -> FigureDocument<'_> {
    let (published, published_is) = match figure.published {
        Published::Value(value) => (Some(value), Some(PublishedWord::Value)),
        Published::AtMost(value) => (Some(value), Some(PublishedWord::AtMost)),
        Published::AtLeast(value) => (Some(value), Some(PublishedWord::AtLeast)),
        Published::Nothing => (None, None),
    };
    FigureDocument {
        name: &figure.name,
        unit: figure.unit,
        published,
        published_is,
        reproduced: figure.reproduced,
        tolerance: figure.tolerance,
        verdict: figure.verdict(),
        reason: figure.reason.as_deref(),
    }
}
