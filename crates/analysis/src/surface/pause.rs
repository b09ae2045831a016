//! Pauses of a stream in which the actuator of a disk served other I/O.

use super::visit::is_of_several_disks;
use crate::measured::{Visit, sequential_visits};
use crate::moving_parts::{is_as_slow_nearby, is_disk};
use crate::stats::sample::middle;
use crate::streaming::USUAL;
use model::finding::Slowed;
use model::range::ByteRange;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;

/// With a larger share of visits slow for a moment, what looks like a zone may be a time at which the drive was busy.
pub(super) const LATE_SHARE_MAX: f64 = 0.05;
/// From this share on it is more than a retry now and then, so that rates may be too low.
pub(super) const SOME_LATE_SHARE_MAX: f64 = 0.01;
/// What surfaces explain between samples that are shorter than four tracks, as a share of the time.
pub(super) const SURFACES_DIFFER_MAX: f64 = 0.06;
/// What a change of surface takes at most, on the slowest disks sold (5400 rpm).
pub(super) const QUARTER_TURN_S: f64 = 0.25 * 60.0 / 5400.0;
/// No change of tracks takes half a revolution of the slowest disks sold. An actuator that went elsewhere finds the next sector a whole
/// revolution later at the earliest, of which read-ahead hides a part: in none of 26,291 samples of 48 random disks alone.
const PAUSE_MIN_S: f64 = 2.0 * QUARTER_TURN_S;
/// Between fewer completions a pause does not stand out.
const SPACINGS_MIN: usize = 3;

/// The second half of a sample is looked at, where half of other I/O shows. Where this share paused, the quickest twentieth did too.
const MOSTLY: f64 = 0.5;

/// Sequential reads of a disk of which each was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pauses {
    pub paused: usize,
    pub of: usize,
    /// The share of the time of all that the pauses took.
    pub lost_share: f64,
}

impl Pauses {
    /// Smaller requests than usual are answered in groups, from what was prefetched: between these such a drive loses a revolution without other I/O.
    /// A slow place, which the drive reads again and again, is left out.
    pub(crate) fn of(run: &RunView<'_>, slow: &[ByteRange]) -> Pauses {
        let mut visits = sequential_visits(run, Operation::Read);
        visits.retain(|visit| {
            visit.workload.block_sizes.largest() >= USUAL.block_bytes
                && !slow.iter().any(|place| place.overlaps(&visit.workload.range))
        });
        if !is_disk(run) || is_of_several_disks(run, &visits, Operation::Read, Some(true)) {
            return Pauses::default();
        }
        let mut pauses = Pauses { of: visits.len(), ..Pauses::default() };
        let (mut lost_s, mut all_s) = (0.0, 0.0);
        for visit in visits {
            let paused_s = paused_s(run, &visit);
            pauses.paused += usize::from(paused_s > 0.0);
            lost_s += paused_s;
            all_s += visit.summary.duration_ns as f64 / 1e9;
        }
        if pauses.paused > 0 {
            pauses.lost_share = lost_s / all_s;
        }
        pauses
    }

    fn exceed(&self, share: f64) -> bool {
        self.paused as f64 > share * self.of as f64
    }

    pub(super) fn are_in_some(&self) -> bool {
        self.exceed(SOME_LATE_SHARE_MAX)
    }

    pub(crate) fn are_in_many(&self) -> bool {
        self.exceed(LATE_SHARE_MAX)
    }

    pub(crate) fn slowed(&self) -> Option<Slowed> {
        self.are_in_many().then_some(Slowed::ByLostRevolutions)
    }

    pub(crate) fn are_in_most(&self) -> bool {
        self.exceed(MOSTLY)
    }
}

/// Whether something else moves the actuator of a disk between any two reads. Then 17 to 31 % of the samples pause; at most 1 % do where
/// firmware reads each track to its end before it moves the actuator, which makes nearby reads as slow.
pub(crate) fn is_used_constantly(run: &RunView<'_>) -> bool {
    if !is_disk(run) || !is_as_slow_nearby(run) {
        return false;
    }
    let pauses = Pauses::of(run, &[]);
    pauses.of == 0 || pauses.are_in_many()
}

/// For how long the sequential reads of a sample paused. The first fill of the queue waits for a seek.
fn paused_s(run: &RunView<'_>, visit: &Visit<'_>) -> f64 {
    let done = run.series.ios(visit.phase).filter(IoRecord::is_done);
    let mut completed_ns: Vec<u64> = done.map(|io| io.completed_ns).collect();
    completed_ns.sort_unstable();
    paused_between_s(&completed_ns, visit.workload.in_flight_max())
}

fn paused_between_s(completed_ns: &[u64], in_flight: u64) -> f64 {
    let steady = completed_ns.get(in_flight as usize - 1..).unwrap_or_default();
    let mut spacings_s = Vec::new();
    for pair in steady.windows(2) {
        spacings_s.push(pair[1].saturating_sub(pair[0]) as f64 / 1e9);
    }
    if spacings_s.len() < SPACINGS_MIN {
        return 0.0;
    }
    let usual_s = middle(&mut spacings_s);
    let longest_s = usual_s * (1.0 + SURFACES_DIFFER_MAX) + PAUSE_MIN_S;
    let mut paused_s = 0.0;
    for spacing_s in spacings_s {
        if spacing_s > longest_s {
            paused_s += spacing_s - usual_s;
        }
    }
    paused_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moving_parts::tests::phase_of_single_reads;
    use crate::stripe::read;
    use model::histogram::LatencyHistogram;
    use model::plan::Phase;
    use model::prng::Prng;
    use model::run::{CompletionStretch, Environment, MemorySeries, OperationTotals, PhaseSummary};
    use model::target::{TargetFacts, TargetKind};
    use model::units::Bytes;
    use model::workload::{OperationMix, Pattern, Workload};

    const CAPACITY: Bytes = Bytes::new(1 << 40);
    const TURN_NS: u64 = 11_111_111;

    /// Single reads of 40 places, each at its angle whenever it is read, after a seek and up to a revolution.
    fn single_reads(series: &mut MemorySeries, phase: u32, range: ByteRange) -> PhaseSummary {
        let from_ns = u64::from(phase) * 20_000_000_000;
        let (mut now_ns, mut histogram) = (from_ns, LatencyHistogram::default());
        let mut prng = Prng::new(u64::from(phase), 1);
        for _ in 0..400 {
            let place = prng.below(40);
            let (moved_ns, angle_ns) = (now_ns + 6_000_000 + prng.below(4_000_000), place * 271_828);
            let done_ns = moved_ns + (angle_ns + TURN_NS - moved_ns % TURN_NS) % TURN_NS;
            let single = read(range.bytes().get() / 40 * place, now_ns, done_ns);
            series.ios.push(IoRecord { phase, ..single });
            histogram.record(done_ns - now_ns);
            now_ns = done_ns;
        }
        let totals = OperationTotals { operations: 400, histogram, ..OperationTotals::none(Operation::Read) };
        let phase = phase_of_single_reads(range, Bytes::new(4096));
        PhaseSummary {
            totals: vec![totals],
            duration_ns: now_ns - from_ns,
            ..PhaseSummary::begun(phase, from_ns)
        }
    }

    /// 12 requests of 1 MiB, each 11 ms after the one before; where paused, each third 20 ms later.
    fn sample(series: &mut MemorySeries, phase: u32, from_ns: u64, is_paused: bool) -> PhaseSummary {
        let mut now_ns = from_ns;
        for number in 0..12 {
            now_ns += if is_paused && number % 3 == 2 { 31_000_000 } else { 11_000_000 };
            series.ios.push(IoRecord { phase, ..read(u64::from(phase) << 34, from_ns, now_ns) });
        }
        let range = ByteRange::whole(CAPACITY);
        let single = phase_of_single_reads(range, Bytes::new(4096));
        let workload = Workload::new(range, Pattern::Sequential, OperationMix::Read, USUAL.block_bytes, 4);
        let totals = OperationTotals {
            operations: 12,
            bytes: 12 << 20,
            stretch: Some(CompletionStretch {
                first_ns: from_ns,
                first_bytes: 1 << 20,
                last_ns: now_ns,
                second: None,
                drained: None,
            }),
            ..OperationTotals::none(Operation::Read)
        };
        PhaseSummary {
            totals: vec![totals],
            duration_ns: now_ns - from_ns,
            ..PhaseSummary::begun(Phase { workload: Some(workload), ..single }, from_ns)
        }
    }

    /// Reads within a hundredth take as long as over all. With firmware that reads a track to its end first, "other load fell into most samples".
    #[test]
    fn a_disk_whose_samples_do_not_pause_is_not_used_constantly() {
        for is_used in [true, false] {
            let mut series = MemorySeries::default();
            let (all, near) = (ByteRange::whole(CAPACITY), ByteRange::whole(CAPACITY / 128));
            let mut phases = vec![
                single_reads(&mut series, 0, all),
                single_reads(&mut series, 1, near),
                single_reads(&mut series, 2, all),
            ];
            let reread = phases[2].phase.workload.as_mut().expect("of reads");
            reread.pattern = Pattern::Listed { offsets: Vec::new() };
            for phase in 3..9 {
                let from_ns = u64::from(phase) * 20_000_000_000;
                phases.push(sample(&mut series, phase, from_ns, is_used));
            }
            let mut target = TargetFacts::unidentified(TargetKind::Sim, "a disk".into(), CAPACITY);
            target.rotational = Some(true);
            let environment = Environment::default();
            let run =
                RunView { target: &target, environment: &environment, phases: &phases, series: &series };
            assert!(is_disk(&run) && is_as_slow_nearby(&run));
            assert_eq!(is_used_constantly(&run), is_used);
        }
    }

    /// 1 MiB at 94 MB/s, QD 4, on a disk of 5400 rpm: a change of tracks takes 2.5 ms, another's read 14 ms.
    #[test]
    fn a_read_of_somebody_else_is_a_pause_and_a_change_of_tracks_none() {
        let completed = |spacings_us: [u64; 9]| {
            let mut at_us = 0;
            spacings_us.map(|spacing_us| {
                at_us += spacing_us;
                1000 * at_us
            })
        };
        let alone = completed([31_000, 11_100, 11_100, 11_100, 11_100, 13_600, 11_100, 11_100, 11_100]);
        assert_eq!(paused_between_s(&alone, 4), 0.0, "the first waits for a seek");
        let shared = completed([31_000, 11_100, 11_100, 11_100, 11_100, 13_600, 25_200, 11_100, 11_100]);
        assert!((paused_between_s(&shared, 4) - 0.0141).abs() < 1e-12);
        assert_eq!(paused_between_s(&shared, 7), 0.0, "two spacings do not show what is usual");
        assert_eq!(paused_between_s(&[], 4), 0.0, "not recorded");
    }
}
