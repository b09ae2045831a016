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
mod device_lost;
mod drive_cache;
mod file_layout;
mod file_place_effect;
mod file_rates;
mod full_pass_time;
mod idle_recovery;
mod interface_limit;
mod latency_modes;
mod read_ahead;
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
mod wording;
mod write_cliff;
mod write_steady_state;
mod write_valleys;
mod zone_ratio;
mod zone_table;
mod zones;

use crate::measured::{Visit, is_surveyed, random_groups, sequential_visits};
use model::finding::{Finding, FindingCode};
use model::request::Operation;
use model::run::{PhaseSummary, RunView};

/// From a run to findings.
pub trait Detector: Sync {
    /// Every code that its findings can have.
    fn codes(&self) -> &'static [FindingCode];

    /// What the run must hold for its question to have been asked: any one of these.
    fn needs(&self) -> &'static [Need];

    /// What it finds. Called only when one of the needs is met.
    fn detect(&self, run: &RunView<'_>) -> Vec<Finding>;
}

/// Experiments whose phases change what they measure, so that how fast a drive is by itself is no question of theirs.
const OF_CHANGE: [&str; 3] = ["sustain", "valleys", "sizes"];

/// Whether a phase may tell how fast the drive is.
fn is_of_speed(visit: &Visit<'_>) -> bool {
    !OF_CHANGE.contains(&visit.summary.phase.experiment.as_ref())
}

/// What a run may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any measured phase.
    Measurement,
    /// Measured sequential phases of that operation, of an experiment that leaves the drive as it is.
    Sequential(Operation),
    /// Measured random phases of that operation, likewise.
    Random(Operation),
    /// A survey of the surface by that operation.
    Survey(Operation),
    /// Measured phases of that experiment. Whether a question was asked is known by who made the phases; what they say is
    /// known by what they did.
    Asked(&'static str),
    /// Phases that did something through a file system.
    Files,
    /// A phase of whatever kind.
    Phase,
}

impl Need {
    /// Whether the run holds it.
    pub fn is_met(self, run: &RunView<'_>) -> bool {
        match self {
            Need::Phase => !run.phases.is_empty(),
            Need::Files => run.phases.iter().any(|summary| summary.files.is_some()),
            Need::Measurement => run.phases.iter().any(crate::measured::is_measurement),
            Need::Asked(experiment) => {
                let asked = |summary: &PhaseSummary| summary.phase.experiment == experiment;
                run.phases.iter().any(|summary| asked(summary) && crate::measured::is_measurement(summary))
            }
            Need::Sequential(operation) => sequential_visits(run, operation).iter().any(is_of_speed),
            Need::Survey(operation) => is_surveyed(run, operation),
            Need::Random(operation) => random_groups(run, operation).values().flatten().any(is_of_speed),
        }
    }
}

/// All detectors, in the order in which their findings are shown.
pub const REGISTRY: &[&dyn Detector] = &[
    &device_lost::DeviceLost,
    &wake_up::WakeUp,
    &bad_blocks::BadBlocks,
    &block_latency::BlockLatency,
    &cache_influence::CacheInfluence,
    &capacity_true::CapacityTrue,
    &data_integrity::DataIntegrity,
    &sequential_rate::READ,
    &sequential_rate::WRITE,
    &zone_ratio::ZoneRatio,
    &zone_table::ZoneTable,
    &full_pass_time::FullPassTime,
    &interface_limit::InterfaceLimit,
    &slow_regions::SlowRegions,
    &unmapped_ranges::UnmappedRanges,
    &access_time::AccessTime,
    &latency_modes::LatencyModes,
    &concurrency_gain::ConcurrencyGain,
    &concurrency_knee::ConcurrencyKnee,
    &span_effect::SpanEffect,
    &stripe_layout::StripeLayout,
    &drive_cache::DriveCache,
    &read_ahead::ReadAhead,
    &system_read_ahead::SystemReadAhead,
    &rotation_period::RotationPeriod,
    &seek::Seek,
    &track_layout::TrackLayout,
    &recording_kind::RecordingKind,
    &band_size::BandSize,
    &clipping_effect::ClippingEffect,
    &write_cliff::WriteCliff,
    &write_steady_state::WriteSteadyState,
    &idle_recovery::IdleRecovery,
    &write_valleys::WriteValleys,
    &valley_cure::ValleyCure,
    &size_profile::SizeCurve,
    &suspect_points::SuspectPoints,
    &file_rates::FileRates,
    &file_layout::FileLayoutDetector,
    &file_place_effect::FilePlaceEffect,
];

/// Everything that can be concluded from a run: what the detectors find, and then what follows from their findings
/// together.
pub fn analyse(run: &RunView<'_>) -> Vec<Finding> {
    let asked = |detector: &&&dyn Detector| detector.needs().iter().any(|need| need.is_met(run));
    let mut findings: Vec<Finding> =
        REGISTRY.iter().filter(asked).flat_map(|detector| detector.detect(run)).collect();
    findings.extend(datasheet_claims::compared(run, &findings));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

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
