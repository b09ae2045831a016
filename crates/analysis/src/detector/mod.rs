//! Detectors: each a pure function from the records of a run to findings, one file each.
//!
//! A detector knows a phase by what it did, never by its name. It answers with a value and its interval, or with
//! *unknown* and why; it says nothing when the question was not asked.

mod access_time;
mod bad_blocks;
mod band_size;
mod block_latency;
mod cache_influence;
mod capacity_true;
mod clipping_effect;
mod concurrency_gain;
mod concurrency_knee;
mod data_integrity;
mod datasheet_claims;
mod detect;
mod device_lost;
mod drive_cache;
mod file_layout;
mod file_place_effect;
mod file_rates;
mod full_pass_time;
mod idle_recovery;
mod interface_limit;
mod latency_modes;
mod rate_limit;
mod read_ahead;
mod read_latency;
mod recording_kind;
mod registry;
mod rotation_period;
mod seek;
mod sequential_rate;
mod size_profile;
mod slow_regions;
mod span_effect;
mod stated;
mod stripe_layout;
mod suspect_points;
mod system_read_ahead;
mod track_layout;
mod trust;
mod unmapped_ranges;
mod valley_cure;
mod wake_up;
mod write_cliff;
mod write_steady_state;
mod write_valleys;
mod zone_ratio;
mod zone_table;
mod zones;

pub use detect::{Detector, Need};
pub use registry::{REGISTRY, analyse};
