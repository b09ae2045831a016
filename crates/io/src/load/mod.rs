//! The load: from a workload to requests, through an engine, to records.

pub mod collect;
pub mod data;
pub mod frame;
pub mod generate;
pub mod issue;
pub mod overhead;
pub mod phase;
pub(crate) mod presence;
mod processor_wait;
