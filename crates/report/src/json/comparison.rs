//! Runs set side by side as JSON, schema `drivescope.compare/1`. Keys may be added; none is renamed or changes its meaning.

use super::finite;
use model::comparison::{Change, ChangedRegion, ComparedFigure, Comparison, Difference};
use model::estimate::Estimate;
use model::request::Operation;
use model::run::Run;
use serde::Serialize;

#[derive(Serialize)]
struct ComparisonDocument<'run> {
    schema: &'static str,
    /// Everywhere else a run is its place in this list, from 0.
    runs: Vec<RunEntry<'run>>,
    caveats: &'run [String],
    figures: Vec<FigureDocument<'run>>,
    changes: Vec<ChangeDocument<'run>>,
}

#[derive(Serialize)]
struct RunEntry<'run> {
    id: &'run str,
    started: &'run str,
    path: &'run str,
    model: Option<&'run str>,
    serial: Option<&'run str>,
    capacity_bytes: u64,
}

#[derive(Serialize)]
struct FigureDocument<'run> {
    code: &'static str,
    unit: &'run str,
    /// One for each run; null where it is not known.
    values: Vec<Option<EstimateDocument>>,
    differences: Vec<DifferenceDocument>,
}

/// A number with its interval; what is not finite is null.
#[derive(Serialize)]
struct EstimateDocument {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: f64,
}

#[derive(Serialize)]
struct DifferenceDocument {
    first: usize,
    second: usize,
    /// Second over first.
    ratio: EstimateDocument,
    /// Of a difference as large as this when there is none.
    probability: Option<f64>,
    /// Whether it stands among all that were looked at.
    significant: bool,
}

#[derive(Serialize)]
struct ChangeDocument<'run> {
    earlier: usize,
    later: usize,
    operation: &'static str,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'run str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<Vec<RegionDocument>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// The share by which half of the cells must have changed at least to be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_seen: Option<f64>,
}

#[derive(Serialize)]
struct RegionDocument {
    first_byte: u64,
    bytes: u64,
    /// The later rate over the earlier one.
    rate_ratio: EstimateDocument,
}

/// The document, with a line end.
pub fn comparison_document(comparison: &Comparison, runs: &[&Run]) -> String {
    let document = ComparisonDocument {
        schema: "drivescope.compare/1",
        runs: runs.iter().map(|run| run_entry(run)).collect(),
        caveats: &comparison.caveats,
        figures: comparison.figures.iter().map(figure).collect(),
        changes: comparison.changes.iter().map(change).collect(),
    };
    let text = serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON");
    text + "\n"
}

fn run_entry(run: &Run) -> RunEntry<'_> {
    RunEntry {
        id: &run.id,
        started: &run.started,
        path: &run.target.path,
        model: run.target.model.as_deref(),
        serial: run.target.serial.as_deref(),
        capacity_bytes: run.target.capacity.0,
    }
}

fn estimate(estimate: &Estimate) -> EstimateDocument {
    EstimateDocument {
        value: finite(estimate.value),
        low: finite(estimate.low),
        high: finite(estimate.high),
        confidence: estimate.confidence,
    }
}

fn figure(figure: &ComparedFigure) -> FigureDocument<'_> {
    FigureDocument {
        code: figure.code.name(),
        unit: &figure.unit,
        values: figure.values.iter().map(|value| value.as_ref().map(estimate)).collect(),
        differences: figure.differences.iter().map(difference).collect(),
    }
}

fn difference(difference: &Difference) -> DifferenceDocument {
    DifferenceDocument {
        first: difference.first,
        second: difference.second,
        ratio: estimate(&difference.ratio),
        probability: finite(difference.probability),
        significant: difference.is_significant,
    }
}

fn change(change: &Change) -> ChangeDocument<'_> {
    let found = change.outcome.as_ref().ok();
    ChangeDocument {
        earlier: change.earlier,
        later: change.later,
        operation: if change.operation == Operation::Write { "write" } else { "read" },
        unknown: change.outcome.as_ref().err().map(String::as_str),
        regions: found.map(|found| found.regions.iter().map(region).collect()),
        cells: found.map(|found| found.cells),
        smallest_seen: found.and_then(|found| finite(found.smallest_seen)),
    }
}

fn region(region: &ChangedRegion) -> RegionDocument {
    RegionDocument {
        first_byte: region.range.first().0,
        bytes: region.range.bytes().0,
        rate_ratio: estimate(&region.rate_ratio),
    }
}
