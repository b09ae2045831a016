//! Detectors: each a pure function from the records of a run to findings, one file each.
//!
//! A detector knows a phase by what it did, never by its name. It answers with a value and its interval, or with
//! *unknown* and why; it says nothing when the question was not asked.

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

pub use analyse::analyse;
pub use detect::{Detector, Need};

/// All detectors, in the order in which their findings are shown.
pub const REGISTRY: &[&dyn Detector] = &[
    &device_lost::DeviceLostDetector,
    &wake_up::WakeUpDetector,
    &bad_blocks::BadBlocksDetector,
    &block_latency::BlockLatencyDetector,
    &cache_influence::CacheInfluenceDetector,
    &capacity_true::CapacityTrueDetector,
    &data_integrity::DataIntegrityDetector,
    &sequential_rate::READ,
    &sequential_rate::WRITE,
    &zone_ratio::ZoneRatioDetector,
    &zone_table::ZoneTableDetector,
    &full_pass_time::FullPassTimeDetector,
    &interface_limit::InterfaceLimitDetector,
    &slow_regions::SlowRegionsDetector,
    &unmapped_ranges::UnmappedRangesDetector,
    &access_time::AccessTimeDetector,
    &commit::CommitDetector,
    &flush_honoured::FlushHonouredDetector,
    &read_latency::ReadLatencyDetector,
    &latency_modes::LatencyModesDetector,
    &concurrency_gain::ConcurrencyGainDetector,
    &concurrency_knee::ConcurrencyKneeDetector,
    &span_effect::SpanEffectDetector,
    &stripe_layout::StripeLayoutDetector,
    &drive_cache::DriveCacheDetector,
    &read_ahead::ReadAheadDetector,
    &system_read_ahead::SystemReadAheadDetector,
    &rotation_period::RotationPeriodDetector,
    &seek::SeekDetector,
    &track_layout::TrackLayoutDetector,
    &recording_kind::RecordingKindDetector,
    &band_size::BandSizeDetector,
    &clipping_effect::ClippingEffectDetector,
    &write_cache::WriteCacheDetector,
    &write_cliff::WriteCliffDetector,
    &write_steady_state::WriteSteadyStateDetector,
    &idle_recovery::IdleRecoveryDetector,
    &write_valleys::WriteValleysDetector,
    &valley_cure::ValleyCureDetector,
    &size_profile::SizeProfileDetector,
    &suspect_points::SuspectPointsDetector,
    &file_rates::FileRatesDetector,
    &file_layout::FileLayoutDetector,
    &file_place_effect::FilePlaceEffectDetector,
];

#[cfg(test)]
mod tests {
    use super::*;
    use model::finding::FindingCode;

    #[test]
    fn each_code_has_one_detector() {
        let mut codes: Vec<FindingCode> =
            REGISTRY.iter().flat_map(|detector| detector.codes()).copied().collect();
        let count = codes.len();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), count);
        assert!(REGISTRY.iter().all(|detector| !detector.codes().is_empty() && !detector.needs().is_empty()));
    }
}
