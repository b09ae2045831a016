//! How far a drive reads on: two reads with a pause between them, the second so far behind the first. If memory answers it, the
//! drive had read that far meanwhile.

use super::answers::{NotTold, Probe, Step, step, threshold_ns};
use crate::measured::EXPERIMENT_ACCESS;
use crate::stripe::{Arms, Layout};
use model::plan::PhaseKind;
use model::run::RunView;
use model::units::Bytes;
use model::workload::{Arrival, Pattern};

/// What is known of it. Of a stripe of disks it is how far each of them reads on, by pairs that lie on one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadOn {
    /// No such reads were made.
    NotAsked,
    /// It cannot be told.
    NotTold(NotTold),
    /// Memory answers up to `low` bytes behind a read and no more from `high` on; in either way none where no read lay there.
    Found {
        /// Between these it ends.
        low: Option<Bytes>,
        /// See above.
        high: Option<Bytes>,
        /// The same with 95 % confidence.
        lowest: Option<Bytes>,
        /// See above.
        highest: Option<Bytes>,
        /// Reads that this does not explain, as a share.
        stray_share: f64,
        /// Reads that memory surely could answer and that took longer, as a share: of what was just read, and of what lies before
        /// the end.
        late_share: f64,
        /// The phases.
        phases: Vec<u32>,
    },
}

/// From all pairs of reads of the run so far.
pub fn read_on(run: &RunView<'_>) -> ReadOn {
    let phases: Vec<u32> =
        (0u32..).zip(run.phases).filter(|(_, phase)| is_of_pairs(phase)).map(|(n, _)| n).collect();
    if phases.is_empty() {
        return ReadOn::NotAsked;
    }
    let layout = Arms::of(run, EXPERIMENT_ACCESS).stripe();
    let pairs = phases.iter().flat_map(|&phase| pairs(run, phase, layout)).collect::<Vec<_>>();
    let again = pairs.iter().filter(|pair| pair.distance == 0).map(|pair| pair.second_ns).collect();
    let first = pairs.iter().map(|pair| pair.first_ns).collect();
    let threshold = match threshold_ns(again, first) {
        Ok(threshold) => threshold,
        Err(why) => return ReadOn::NotTold(why),
    };
    let probes: Vec<Probe> = pairs
        .iter()
        .filter(|pair| pair.distance > 0)
        .map(|pair| Probe { distance: pair.distance, is_hit: pair.second_ns as f64 <= threshold })
        .collect();
    let Some(Step { low, high, lowest, highest, stray_share }) = step(&probes) else {
        return ReadOn::NotTold(NotTold::TooFew);
    };
    let sure = pairs.iter().filter(|pair| low.is_some_and(|low| pair.distance <= low) || pair.distance == 0);
    let (sure, late) = sure.fold((0u32, 0u32), |(sure, late), pair| {
        (sure + 1, late + u32::from(pair.second_ns as f64 > threshold))
    });
    let late_share = f64::from(late) / f64::from(sure.max(1));
    let [low, high, lowest, highest] = [low, high, lowest, highest].map(|distance| distance.map(Bytes));
    ReadOn::Found { low, high, lowest, highest, stray_share, late_share, phases }
}

/// How long the first reads of all pairs took, in nanoseconds: at places where nothing was read before.
pub(crate) fn first_reads_ns(run: &RunView<'_>) -> Vec<u64> {
    let phases = (0u32..).zip(run.phases).filter(|(_, phase)| is_of_pairs(phase));
    phases.flat_map(|(number, _)| pairs(run, number, None)).map(|pair| pair.first_ns).collect()
}

/// What an answer from the drive's own memory takes, in seconds: the median of reads of what was just read. None where memory cannot be
/// told from the medium. It is what a command costs without seek and turn.
pub(crate) fn memory_answer_s(run: &RunView<'_>) -> Option<f64> {
    let pairs: Vec<Pair> = (0u32..)
        .zip(run.phases)
        .filter(|(_, phase)| is_of_pairs(phase))
        .flat_map(|(number, _)| pairs(run, number, None))
        .collect();
    let mut again: Vec<u64> =
        pairs.iter().filter(|pair| pair.distance == 0).map(|pair| pair.second_ns).collect();
    threshold_ns(again.clone(), pairs.iter().map(|pair| pair.first_ns).collect()).ok()?;
    again.sort_unstable();
    Some(again[again.len() / 2] as f64 / 1e9)
}

/// Two reads and how they were answered.
struct Pair {
    distance: u64,
    first_ns: u64,
    second_ns: u64,
}

fn is_of_pairs(summary: &model::run::PhaseSummary) -> bool {
    let workload = summary.phase.workload.as_ref();
    summary.phase.experiment == EXPERIMENT_ACCESS
        && summary.phase.kind == PhaseKind::Measure
        && workload.is_some_and(|workload| {
            matches!(workload.pattern, Pattern::Listed { .. })
                && matches!(workload.arrival, Arrival::OpenLoop { .. })
                && workload.in_flight_max() == 1
        })
}

/// Pairs that go on upwards; on a stripe, those on one drive.
fn pairs(run: &RunView<'_>, phase: u32, layout: Option<Layout>) -> Vec<Pair> {
    let place = |offset: u64| layout.map_or((0, offset), |layout| layout.place_of(offset));
    let mut ios: Vec<_> = run.series.ios(phase).collect();
    ios.sort_by_key(|io| io.intended_ns);
    let pair = |two: &[model::record::IoRecord]| {
        let both_done = two.iter().all(|io| io.status.is_done());
        let ((one_drive, one), (other_drive, other)) =
            (place(two[0].offset_bytes), place(two[1].offset_bytes));
        let distance = other.checked_sub(one).filter(|_| one_drive == other_drive)?;
        both_done.then(|| Pair { distance, first_ns: two[0].service_ns(), second_ns: two[1].service_ns() })
    };
    ios.chunks_exact(2).filter_map(pair).collect()
}
