//! Pages as JSON documents, each with a schema of its own. The document of a run is the store's.
//!
//! Keys may be added; none is renamed or changes its meaning or unit.

mod choice;
mod comparison;
mod document;
mod estimate;
mod partitions;
mod power_cut;
mod state;
mod truth;

pub use choice::choice_document;
pub use comparison::comparison_document;
pub use document::text_of;
pub use estimate::estimate_document;
pub use partitions::partition_document;
pub use power_cut::power_cut_document;
pub use state::state_document;
pub use truth::{TruthEntry, TruthEntryValue, truth_document};

/// That of the truth of a drive, whose details have the keys of `Data`, and those of all pages.
#[cfg(feature = "schema")]
pub fn schemas<Data: schemars::JsonSchema>() -> Vec<schemars::Schema> {
    use model::schema::of;
    vec![
        of::<truth::TruthDocument<'_, Data>>("drivescope.truth/1"),
        of::<choice::ChoiceDocument>("drivescope.choice/1"),
        of::<comparison::ComparisonDocument>("drivescope.compare/1"),
        of::<estimate::EstimateDocument>("drivescope.estimate/1"),
        of::<partitions::PlanDocument>("drivescope.plan/1"),
        of::<power_cut::PowerCutDocument>("drivescope.power-cut/1"),
        of::<state::StateDocument>("drivescope.state/1"),
    ]
}
