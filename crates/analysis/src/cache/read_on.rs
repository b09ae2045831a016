//! How far a drive prefetches: of two reads with a pause between, whether the second, so far behind the first, hits its cache.
//!
//! What memory takes is learned from reads of what was just read. A drive that drops what it delivered does not answer those from
//! memory; then it is learned from the bytes right behind the first read of a pair.

use super::answers::{NotTold, Probe, Step, step, threshold_ns};
use super::interleaved::is_of_streams;
use crate::measured::{EXPERIMENT_ACCESS, phases_where};
use crate::stripe::Layout;
use model::plan::PhaseKind;
use model::record::IoRecord;
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{Arrival, Pattern};

/// What is known of it. Of a stripe of disks it is how far each of them reads on, by pairs that lie on one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadOn {
    NotAsked,
    NotTold(NotTold),
    /// Memory answers up to `low` bytes behind a read and no more from `high` on; in either way none where no read lay there.
    Found {
        low: Option<Bytes>,
        high: Option<Bytes>,
        /// The same with 95 % confidence.
        lowest: Option<Bytes>,
        highest: Option<Bytes>,
        /// Reads that this does not explain, as a share.
        stray_share: f64,
        /// The share of reads that took longer though memory surely could answer.
        late_share: f64,
        /// Whether memory answers what was just read once more; none where it does now and then.
        keeps_delivered: Option<bool>,
        phases: Vec<u32>,
    },
}

/// The nearest distances of pairs, which a drive that prefetches has surely prefetched: powers of four from a block on, up to 64 KiB.
const NEAREST_DISTANCES: usize = 3;
/// Of rereads, so many may differ from the others: eight are made, and the head is over one in time for one in twenty.
const ODD_SHARE_MAX: f64 = 0.2;

pub fn read_on(run: &RunView<'_>, layout: Option<Layout>) -> ReadOn {
    let phases = phases_where(run, is_of_pairs);
    if phases.is_empty() {
        return ReadOn::NotAsked;
    }
    let pairs = pairs_of(run, &phases, layout);
    let threshold = match hit_ns_max(&pairs) {
        Ok(threshold) => threshold,
        Err(why) => return ReadOn::NotTold(why),
    };
    let keeps_delivered = keeps_delivered(&pairs, threshold);
    let mut probes = Vec::new();
    for pair in &pairs {
        if pair.distance > 0 {
            probes.push(Probe { distance: pair.distance, is_hit: pair.second_ns as f64 <= threshold });
        }
    }
    let Some(Step { low, high, lowest, highest, stray_share }) = step(&probes) else {
        return ReadOn::NotTold(NotTold::TooFew);
    };
    let (mut sure, mut late) = (0u32, 0u32);
    for pair in &pairs {
        let is_sure = pair.distance > 0 || keeps_delivered != Some(false);
        if is_sure && pair.distance <= low.unwrap_or(0) {
            sure += 1;
            late += u32::from(pair.second_ns as f64 > threshold);
        }
    }
    let late_share = f64::from(late) / f64::from(sure.max(1));
    let [low, high, lowest, highest] = [low, high, lowest, highest].map(|distance| distance.map(Bytes::new));
    ReadOn::Found { low, high, lowest, highest, stray_share, late_share, keeps_delivered, phases }
}

/// How long the first reads of all pairs took, in nanoseconds: at places where nothing was read before.
pub(crate) fn first_reads_ns(run: &RunView<'_>) -> Vec<u64> {
    again_and_first(&pairs_of(run, &phases_where(run, is_of_pairs), None)).1
}

/// What an answer from the drive's own memory takes, in seconds: what a command costs without seek and turn. None if not told apart.
pub(crate) fn memory_answer_s(run: &RunView<'_>) -> Option<f64> {
    let pairs = pairs_of(run, &phases_where(run, is_of_pairs), None);
    let threshold = hit_ns_max(&pairs).ok()?;
    let (again, _) = again_and_first(&pairs);
    let mut hits = if keeps_delivered(&pairs, threshold) == Some(false) { nearest(&pairs) } else { again };
    hits.sort_unstable();
    Some(hits[hits.len() / 2] as f64 / 1e9)
}

/// Reads up to this long came from memory, in nanoseconds.
pub(super) fn hit_ns(run: &RunView<'_>) -> Option<f64> {
    hit_ns_max(&pairs_of(run, &phases_where(run, is_of_pairs), None)).ok()
}

/// Answers up to this long came from memory, in nanoseconds; or why rereads do not show it, where nothing else does either.
fn hit_ns_max(pairs: &[Pair]) -> Result<f64, NotTold> {
    let (again, first) = again_and_first(pairs);
    let why = match threshold_ns(again, first.clone()) {
        Ok(threshold) => return Ok(threshold),
        Err(why @ (NotTold::TooFew | NotTold::AllOfMemory)) => return Err(why),
        Err(why) => why,
    };
    threshold_ns(nearest(pairs), first).map_err(|_| why)
}

/// What second reads right behind the first took, in nanoseconds.
fn nearest(pairs: &[Pair]) -> Vec<u64> {
    let mut distances: Vec<u64> =
        pairs.iter().map(|pair| pair.distance).filter(|distance| *distance > 0).collect();
    distances.sort_unstable();
    distances.dedup();
    let farthest = distances.get(NEAREST_DISTANCES - 1).copied().unwrap_or(0);
    let mut behind = Vec::new();
    for pair in pairs {
        if (1..=farthest).contains(&pair.distance) {
            behind.push(pair.second_ns);
        }
    }
    behind
}

fn keeps_delivered(pairs: &[Pair], threshold_ns: f64) -> Option<bool> {
    let (again, _) = again_and_first(pairs);
    let hits = again.iter().filter(|ns| **ns as f64 <= threshold_ns).count();
    match hits as f64 / again.len().max(1) as f64 {
        share if share <= ODD_SHARE_MAX => Some(false),
        share if share >= 1.0 - ODD_SHARE_MAX => Some(true),
        _ => None,
    }
}

struct Pair {
    distance: u64,
    first_ns: u64,
    second_ns: u64,
}

fn is_of_pairs(summary: &PhaseSummary) -> bool {
    let Some(workload) = &summary.phase.workload else { return false };
    summary.phase.experiment == EXPERIMENT_ACCESS
        && summary.phase.kind == PhaseKind::Measure
        && matches!(workload.pattern, Pattern::Listed { .. })
        && matches!(workload.arrival, Arrival::OpenLoop { .. })
        && workload.in_flight_max() == 1
        && !is_of_streams(workload)
}

/// What second reads of the same place took, and all first reads, in nanoseconds.
fn again_and_first(pairs: &[Pair]) -> (Vec<u64>, Vec<u64>) {
    let (mut again, mut first) = (Vec::new(), Vec::new());
    for pair in pairs {
        first.push(pair.first_ns);
        if pair.distance == 0 {
            again.push(pair.second_ns);
        }
    }
    (again, first)
}

/// Pairs that go on upwards; on a stripe, those on one drive.
fn pairs_of(run: &RunView<'_>, phases: &[u32], layout: Option<Layout>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for phase in phases {
        let mut ios: Vec<IoRecord> = run.series.ios(*phase).collect();
        ios.sort_by_key(|io| io.intended_ns);
        for two in ios.chunks_exact(2) {
            pairs.extend(pair(&two[0], &two[1], layout));
        }
    }
    pairs
}

fn pair(first: &IoRecord, second: &IoRecord, layout: Option<Layout>) -> Option<Pair> {
    let ((one_drive, one), (other_drive, other)) =
        (place(first.offset_bytes, layout), place(second.offset_bytes, layout));
    let distance = other.checked_sub(one)?;
    let is_pair = one_drive == other_drive && first.status.is_done() && second.status.is_done();
    is_pair.then_some(Pair { distance, first_ns: first.service_ns(), second_ns: second.service_ns() })
}

/// The drive that holds a byte, and the byte of that drive.
fn place(offset: u64, layout: Option<Layout>) -> (usize, u64) {
    match layout {
        Some(layout) => layout.place_of(offset),
        None => (0, offset),
    }
}
