//! Pages as JSON documents, each with a schema of its own. The document of a run is the store's.
//!
//! Keys may be added; none is renamed or changes its meaning or unit.

mod choice;
mod comparison;
mod document;
mod estimate;
mod partitions;

pub use choice::choice_document;
pub use comparison::comparison_document;
pub use document::text_of;
pub use estimate::estimate_document;
pub use partitions::partition_document;

#[cfg(feature = "schema")]
pub fn schemas() -> Vec<schemars::Schema> {
    use crate::terminal::{PowerCutPage, StatePage};
    use model::schema::of;
    vec![
        of::<choice::ChoiceDocument>("drivescope.choice/1"),
        of::<comparison::ComparisonDocument>("drivescope.compare/1"),
        of::<estimate::EstimateDocument>("drivescope.estimate/1"),
        of::<partitions::PlanDocument>("drivescope.plan/1"),
        of::<PowerCutPage>("drivescope.power-cut/1"),
        of::<StatePage>("drivescope.state/1"),
    ]
}
