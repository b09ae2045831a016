//! The words of drivescope, in reading order. Everything else is built from them.
//!
//! | word | meaning |
//! |---|---|
//! | target | what is measured: device, partition, volume, file, or `sim:` drive |
//! | drive | the thing under the target; several, if the target is striped or mirrored |
//! | request / completion | one I/O handed to an engine / its answer with status and times |
//! | workload | access pattern, block sizes, read/write mix, queue depth, threads, arrival, range |
//! | phase | one step of a plan: purge, precondition, warm-up, measure, idle, verify |
//! | experiment | a question put to a drive: it yields phases and may choose the next by their records |
//! | run | one execution of one or more experiments on one target; the unit that is stored |
//! | interval record | one time slice of a phase: offset span, operations, bytes, latency quantiles, errors |
//! | finding | a code, a value with unit and interval, evidence, a sentence, advice; or *unknown* and why |
//!
//! This crate has no dependencies, does no I/O, reads no clock and derives no serialisation:
//! what is stored or printed has its own structs where it is stored or printed.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod estimate;
pub mod file_work;
pub mod finding;
pub mod histogram;
pub mod latency_map;
pub mod page_cache;
pub mod payload;
pub mod permutation;
pub mod plan;
pub mod prng;
pub mod quantity_text;
pub mod range;
pub mod record;
pub mod request;
pub mod run;
pub mod target;
pub mod units;
pub mod workload;
