//! Detectors: each a pure function from the records of a run to findings, one file each.
//!
//! A detector knows a phase by what it did, never by its name. It says nothing when its question was not asked.

mod access_time;
mod analyse;
mod bad_blocks;
mod band_size;
mod block_latency;
mod cache_influence;
mod capacity_true;
mod clipping_effect;
mod commit;
mod concurrency_gain;
mod concurrency_knee;
mod contradiction;
mod data_integrity;
mod datasheet_claims;
mod detect;
mod device_lost;
mod drive_cache;
mod file_layout;
mod file_place_effect;
mod file_rates;
mod flush_honoured;
mod full_pass_time;
mod idle_recovery;
mod interface_limit;
mod latency_modes;
mod limited_pass;
mod rate_limit;
mod read_ahead;
mod read_latency;
mod recording_kind;
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
mod write_cache;
mod write_cliff;
mod write_steady_state;
mod write_valleys;
mod zone_ratio;
mod zone_table;
mod zones;

pub use analyse::{Detected, analyse, concluded, detected};
pub use detect::{Detector, Need};

/// All detectors, in the order in which their findings are shown.
pub const REGISTRY: &[Detector] = &[
    device_lost::DETECTOR,
    wake_up::DETECTOR,
    bad_blocks::DETECTOR,
    block_latency::DETECTOR,
    cache_influence::DETECTOR,
    capacity_true::DETECTOR,
    data_integrity::DETECTOR,
    sequential_rate::READ,
    sequential_rate::WRITE,
    zone_ratio::DETECTOR,
    zone_table::DETECTOR,
    full_pass_time::DETECTOR,
    interface_limit::DETECTOR,
    slow_regions::DETECTOR,
    unmapped_ranges::DETECTOR,
    access_time::DETECTOR,
    commit::DETECTOR,
    flush_honoured::DETECTOR,
    read_latency::DETECTOR,
    latency_modes::DETECTOR,
    concurrency_gain::DETECTOR,
    concurrency_knee::DETECTOR,
    span_effect::DETECTOR,
    stripe_layout::DETECTOR,
    drive_cache::DETECTOR,
    read_ahead::DETECTOR,
    system_read_ahead::DETECTOR,
    rotation_period::DETECTOR,
    seek::DETECTOR,
    track_layout::DETECTOR,
    recording_kind::DETECTOR,
    band_size::DETECTOR,
    clipping_effect::DETECTOR,
    write_cache::DETECTOR,
    write_cliff::DETECTOR,
    write_steady_state::DETECTOR,
    idle_recovery::DETECTOR,
    write_valleys::DETECTOR,
    valley_cure::DETECTOR,
    size_profile::DETECTOR,
    suspect_points::DETECTOR,
    file_rates::DETECTOR,
    file_layout::DETECTOR,
    file_place_effect::DETECTOR,
];

#[cfg(test)]
mod tests {
    use super::*;
    use model::finding::FindingCode;

    #[test]
    fn each_code_has_one_detector() {
        let mut codes: Vec<FindingCode> =
            REGISTRY.iter().flat_map(|detector| detector.codes).copied().collect();
        let count = codes.len();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), count);
        assert!(REGISTRY.iter().all(|detector| !detector.codes.is_empty() && !detector.needs.is_empty()));
    }
}
