//! How many streams a drive prefetches side by side: single reads at unrelated offsets, then the block behind each, the newest
//! first. Each stream that came after it may have taken its segment, so hits end where the segments do.

use super::answers::{Probe, Step, step};
use super::interleaved::is_of_streams;
use super::read_on::hit_ns;
use crate::measured::EXPERIMENT_ACCESS;
use model::finding::PrefetchStreams;
use model::plan::PhaseKind;
use model::record::IoRecord;
use model::run::{PhaseSummary, RunView};

/// With more reads unexplained by an end, segments are not replaced in the order of their use, or other I/O took some.
const STRAY_SHARE_MAX: f64 = 0.2;

pub fn streams(run: &RunView<'_>) -> Option<PrefetchStreams> {
    let hit_ns = hit_ns(run)?;
    let mut probes = Vec::new();
    for (phase, summary) in (0u32..).zip(run.phases) {
        if is_of_interleaved_streams(summary) {
            let mut ios: Vec<IoRecord> = run.series.ios(phase).collect();
            ios.sort_by_key(|io| io.intended_ns);
            for (since, io) in (1u64..).zip(&ios[ios.len() / 2..]) {
                probes.push(Probe { distance: since, is_hit: io.service_ns() as f64 <= hit_ns });
            }
        }
    }
    let Step { low, lowest, highest, stray_share, .. } = step(&probes)?;
    if stray_share > STRAY_SHARE_MAX {
        return None;
    }
    Some(PrefetchStreams { value: low?, low: lowest?, high: highest.map(|miss| miss - 1) })
}

fn is_of_interleaved_streams(summary: &PhaseSummary) -> bool {
    summary.phase.experiment == EXPERIMENT_ACCESS
        && summary.phase.kind == PhaseKind::Measure
        && summary.phase.workload.as_ref().is_some_and(is_of_streams)
}
