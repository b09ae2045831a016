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
pub use estimate::estimate_document;
pub use partitions::partition_document;
pub use power_cut::power_cut_document;
pub use state::state_document;
pub use truth::{TruthEntry, TruthEntryValue, truth_document};
