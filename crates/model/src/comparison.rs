//! What several runs have in common and where they differ: figures side by side, and where a drive changed.

use crate::estimate::Estimate;
use crate::finding::{Contradicting, FindingCode, Name, SurveyUnknown};
use crate::range::ByteRange;
use crate::request::Operation;
use serde::Serialize;

/// Runs set side by side. Runs are numbered from 0 in the order given.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Why they can only be compared in part: sentences. Empty when nothing speaks against it.
    pub caveats: Vec<String>,
    /// What was found in at least one of them, in the order of the codes.
    pub figures: Vec<ComparedFigure>,
    /// What runs of one drive under the same conditions say that cannot all be true.
    pub contradictions: Vec<RunContradiction>,
    /// Each drive that was measured more than once, then and now.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunContradiction {
    pub first: usize,
    pub second: usize,
    pub between: [Contradicting; 2],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FigureDocument"))]
pub struct ComparedFigure {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: FindingCode,
    pub unit: Name,
    /// One for each run; null where it is not known.
    pub values: Vec<Option<Estimate>>,
    // Every pair of runs whose uncertainty is known.
    pub differences: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DifferenceDocument"))]
pub struct Difference {
    pub first: usize,
    pub second: usize,
    pub ratio: Estimate,
    /// Of a difference as large as this when there is none.
    pub probability: f64,
    /// Whether it stands among all that were looked at.
    #[serde(rename = "significant")]
    pub is_significant: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub earlier: usize,
    pub later: usize,
    pub operation: Operation,
    pub outcome: Result<SurfaceChange, ChangeUnknown>,
}

/// Why two runs cannot be compared by position.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeUnknown {
    /// One of them gives no map.
    Run {
        name: String,
        reason: SurveyUnknown,
    },
    DifferentRanges,
    /// Samples in common that are far enough apart.
    TooFewSamples {
        earlier: usize,
        later: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceChange {
    /// The regions, in order; empty when nothing changed that could be seen.
    pub regions: Vec<ChangedRegion>,
    /// In how many cells the range was compared.
    pub cells: usize,
    /// The share by which half of the cells must have changed at least to be seen.
    pub smallest_seen: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RegionDocument"))]
pub struct ChangedRegion {
    // Where it is, to within a cell.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RangeKeys"))]
    pub range: ByteRange,
    pub rate_ratio: Estimate,
}
