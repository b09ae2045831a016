//! The words of drivescope, in reading order. Everything else is built from them.
//!
//! | word | meaning |
//! |---|---|
//! | target | what is measured: device, partition, volume, file, or `sim:` drive |
//! | drive | the thing under the target; several, if the target is striped or mirrored |
//! | request / completion | one I/O handed to an engine / its answer with status and times |
//! | workload | access pattern, block sizes, read/write mix, queue depth, threads, arrival, range |
//! | phase | one step of a plan: purge, precondition, warm-up, measure, idle, verify, reread |
//! | experiment | a question put to a drive: it yields phases and may choose the next by their records |
//! | run | one execution of one or more experiments on one target; the unit that is stored |
//! | interval record | one time slice of a phase: offset span, operations, bytes, latency quantiles, errors |
//! | finding | a code, a value with unit and interval, evidence, a sentence, advice; or *unknown* and why |
//!
//! This crate does no I/O and reads no clock. It serialises itself: names and order of fields that serde sees are the
//! contract with every reader of our files.
#![forbid(unsafe_code)]

#[cfg(feature = "schema")]
#[doc(hidden)]
pub use schemars;
#[doc(hidden)]
pub use serde;

mod hexadecimal;
mod null_number;
mod phase_document;
mod words;

pub mod application;
pub mod commit;
pub mod comparison;
pub mod criterion;
pub mod estimate;
pub mod experiment_name;
pub mod file_work;
pub mod finding;
pub mod histogram;
pub mod latency_map;
pub mod page_cache;
pub mod payload;
pub mod permutation;
pub mod phase_row;
pub mod plan;
pub mod planning;
pub mod power_cut;
pub mod prng;
pub mod quantity_text;
pub mod range;
pub mod range_choice;
pub mod record;
pub mod request;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod share;
pub mod target;
pub mod units;
pub mod untold;
pub mod workload;
