//! How much a drive keeps: behind a long stream, single reads ever farther back from its end, which memory answers up to its size.

use super::answers::{NotTold, Probe, Step, step, threshold_ns};
use super::read_on::first_reads_ns;
use crate::measured::EXPERIMENT_ACCESS;
use model::plan::{PhaseKind, StopReason};
use model::record::IoRecord;
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{Arrival, Pattern, Workload};

#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    NotAsked,
    NotTold(NotTold),
    /// Memory answers all of the longest stream: the cache holds at least so much.
    AtLeast(Bytes),
    /// Each stream that was longer than what is kept, with how far back memory answered.
    Found {
        /// Of each stream, in bytes from its end: the last read that memory answered and the first that it did not.
        ends: Vec<(f64, f64)>,
        phases: Vec<u32>,
    },
}

/// With more reads unexplained by a step, a stream says nothing: something else used the drive, or its cache is not kept in order.
const STRAY_SHARE_MAX: f64 = 0.2;

/// A disk that reads as soon as its head is on a track holds what lies below a read of the medium; no track holds more (30 TB: 2.4 MB).
const TRACK_BYTES_MAX: u64 = 4 << 20;

pub fn kept(run: &RunView<'_>) -> Kept {
    let looks = looks(run);
    if looks.is_empty() {
        return Kept::NotAsked;
    }
    // The reads nearest to the end are surely kept by a drive that keeps anything; random single reads are surely not.
    let mut near = Vec::new();
    for look in &looks {
        near.extend(look.ios.iter().take(NEAR).map(IoRecord::service_ns));
    }
    let threshold = match threshold_ns(near, elsewhere(run)) {
        Ok(threshold) => threshold,
        Err(why) => return Kept::NotTold(why),
    };
    let (mut ends, mut phases) = (Vec::new(), Vec::new());
    let mut whole: Option<Bytes> = None;
    for look in &looks {
        let (mut probes, mut missed) = (Vec::new(), u64::MAX);
        for io in &look.ios {
            let is_hit = io.service_ns() as f64 <= threshold;
            if is_hit && missed.saturating_sub(io.offset_bytes) <= TRACK_BYTES_MAX {
                continue;
            }
            missed = if is_hit { missed } else { io.offset_bytes };
            let distance = look.stream_end.saturating_sub(io.offset_bytes);
            probes.push(Probe { distance, is_hit });
        }
        match step(&probes) {
            Some(Step { stray_share, .. }) if stray_share > STRAY_SHARE_MAX => {}
            Some(Step { low: Some(low), high: Some(high), .. }) => {
                ends.push((low as f64, high as f64));
                phases.push(look.phase);
            }
            Some(Step { low: Some(_), high: None, .. }) => whole = whole.max(Some(look.stream_bytes)),
            _ => {}
        }
    }
    match (ends.is_empty(), whole) {
        (false, _) => Kept::Found { ends, phases },
        (true, Some(stream)) => Kept::AtLeast(stream),
        (true, None) => Kept::NotTold(NotTold::Disorder),
    }
}

/// Reads of each look that are nearest to the end of its stream: within some MiB.
const NEAR: usize = 8;

struct Look {
    phase: u32,
    stream_end: u64,
    stream_bytes: Bytes,
    /// In the order in which they were made: from the end of the stream backwards.
    ios: Vec<IoRecord>,
}

fn looks(run: &RunView<'_>) -> Vec<Look> {
    let pairs = (1u32..).zip(run.phases.windows(2));
    pairs.filter_map(|(phase, pair)| look(run, phase, &pair[0], &pair[1])).collect()
}

fn look(run: &RunView<'_>, phase: u32, streamed: &PhaseSummary, looked: &PhaseSummary) -> Option<Look> {
    let stream = streamed.phase.workload.as_ref()?;
    let reads = looked.phase.workload.as_ref()?;
    let is_look = looked.phase.experiment == EXPERIMENT_ACCESS
        && streamed.phase.kind == PhaseKind::WarmUp
        && stream.pattern == Pattern::Sequential
        && is_of_single_reads(reads)
        && stream.range.contains(&reads.range);
    if !is_look || matches!(looked.stopped, None | Some(StopReason::Interrupted | StopReason::Skipped)) {
        return None;
    }
    let mut ios: Vec<IoRecord> = run.series.ios(phase).filter(IoRecord::is_done).collect();
    ios.sort_by_key(|io| io.submitted_ns);
    Some(Look { phase, stream_end: stream.range.end().get(), stream_bytes: stream.range.bytes(), ios })
}

fn is_of_single_reads(workload: &Workload) -> bool {
    matches!(workload.pattern, Pattern::Listed { .. })
        && workload.arrival == Arrival::ClosedLoop
        && workload.in_flight_max() == 1
}

/// The latencies of single random reads elsewhere: those that woke the drive, and the first of each pair.
fn elsewhere(run: &RunView<'_>) -> Vec<u64> {
    let mut latencies = Vec::new();
    if let Some((phase, _)) = (0u32..).zip(run.phases).find(|(_, summary)| wakes(summary)) {
        let answered = run.series.ios(phase).filter(IoRecord::is_done);
        latencies.extend(answered.map(|io| io.service_ns()));
    }
    latencies.extend(first_reads_ns(run));
    latencies
}

fn wakes(summary: &PhaseSummary) -> bool {
    let Some(workload) = &summary.phase.workload else { return false };
    summary.phase.kind == PhaseKind::WarmUp
        && workload.pattern == Pattern::RandomWithReplacement
        && workload.in_flight_max() == 1
}
