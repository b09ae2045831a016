//! All detectors, and what they conclude together.

use super::detect::Detector;
use super::{
    access_time, bad_blocks, band_size, block_latency, cache_influence, capacity_true, clipping_effect,
    concurrency_gain, concurrency_knee, data_integrity, datasheet_claims, device_lost, drive_cache,
    file_layout, file_place_effect, file_rates, full_pass_time, idle_recovery, interface_limit,
    latency_modes, rate_limit, read_ahead, read_latency, recording_kind, rotation_period, seek,
    sequential_rate, size_profile, slow_regions, span_effect, stripe_layout, suspect_points,
    system_read_ahead, track_layout, unmapped_ranges, valley_cure, wake_up, write_cliff, write_steady_state,
    write_valleys, zone_ratio, zone_table,
};
use crate::limit;
use crate::measured::random_groups;
use model::finding::{Finding, FindingCode};
use model::request::Operation;
use model::run::{PhaseSummary, RunView};

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
    &rate_limit::RateLimitDetector,
    &slow_regions::SlowRegionsDetector,
    &unmapped_ranges::UnmappedRangesDetector,
    &access_time::AccessTimeDetector,
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

/// Everything that can be concluded from a run: what the detectors find, and then what follows from their findings
/// together.
pub fn analyse(run: &RunView<'_>) -> Vec<Finding> {
    let apart = limit::apart(run);
    let mut findings: Vec<Finding> = Vec::new();
    for detector in REGISTRY {
        if !detector.needs().iter().any(|need| need.is_met(run)) {
            continue;
        }
        match &apart {
            None => findings.extend(detector.detect(run)),
            Some(phases) => findings.extend(detected_apart(*detector, run, phases)),
        }
    }
    findings.extend(datasheet_claims::compared(run, &findings));
    findings
}

/// What a pass takes is neither what the burst shows nor what the limit allows.
const OF_A_PASS: [FindingCode; 3] =
    [FindingCode::ReadRateMean, FindingCode::WriteRateMean, FindingCode::FullPassTime];

/// What the best of all depths is, is not known where one of them was measured at the limit only.
const OF_ALL_DEPTHS: [FindingCode; 2] = [FindingCode::ConcurrencyGain, FindingCode::ConcurrencyKnee];

/// What a detector finds in the phases before a rate limit was met, which are given, if it looks for what a limit changes.
/// Where it finds other things in all of them and nothing in these, the limit is the reason.
fn detected_apart(detector: &dyn Detector, run: &RunView<'_>, before: &[PhaseSummary]) -> Vec<Finding> {
    let of_all = detector.detect(run);
    if !detector.codes().iter().any(|&code| Finding::rate_limited(code).is_some()) {
        return of_all;
    }
    let before = RunView { phases: before, ..*run };
    let has_all_depths = [Operation::Read, Operation::Write]
        .into_iter()
        .all(|operation| random_groups(&before, operation).keys().eq(random_groups(run, operation).keys()));
    let mut findings = detector.detect(&before);
    for of_all in of_all {
        let code = of_all.code();
        let Some(limited) = Finding::rate_limited(code) else { continue };
        match findings.iter_mut().find(|finding| finding.code() == code) {
            None => findings.push(limited),
            Some(found)
                if OF_A_PASS.contains(&code)
                    || OF_ALL_DEPTHS.contains(&code) && !has_all_depths
                    || !found.is_known() && *found != of_all =>
            {
                *found = limited;
            }
            Some(_) => {}
        }
    }
    findings
}

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
