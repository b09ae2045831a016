//! How a drive streams best: short reads at several depths and sizes, before anything is measured.
//!
//! Most drives stream alike with whatever is in flight. Some controllers and bridges let a command wait until the one under
//! way is over, when its sector has passed; others read nothing ahead. Two areas are compared, and the choice is confirmed
//! by pairs that had no part in it: the quickest of many is quick by chance, too.

use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use model::experiment_name::ExperimentName;
use model::finding::{StreamSetting, Streaming};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{OperationMix, Pattern};

/// What experiments stream with unless something else is better.
pub const USUAL: StreamSetting = StreamSetting { queue_depth: 4, block_bytes: Bytes::from_mib(1) };
/// A smaller gain may be one of place: surfaces differ by up to 6 % (8thway 2013, HTS541010A9E680).
const GAIN_MIN: f64 = 0.06;
/// A drive is compared in so many areas, and each must show the gain.
pub const AREAS: usize = 2;

/// No disk alone reads as fast, in bytes per second: the fastest of 2024 reach 285 MB/s.
pub const ONE_DISK_RATE_MAX: f64 = 300e6;

pub struct Calibration {
    /// By area, in the order in which they were taken: seconds for each byte.
    areas: [Vec<(StreamSetting, f64)>; AREAS],
}

impl Calibration {
    pub fn of(run: &RunView<'_>) -> Calibration {
        let middle = run.target.capacity.get() / 2;
        let starts: Vec<u64> = samples(run).map(|(_, _, first_byte)| first_byte).collect();
        let (least, most) = (starts.iter().min(), starts.iter().max());
        let border = least.zip(most).map_or(middle, |(least, most)| least + (most - least) / 2);
        let mut areas = [Vec::new(), Vec::new()];
        for (summary, setting, first_byte) in samples(run) {
            let seconds =
                summary.totals_of(Operation::Read).and_then(OperationTotals::seconds_per_byte_to_the_last);
            if let (Some(seconds), 0) = (seconds, summary.errors()) {
                areas[usize::from(first_byte > border)].push((setting, seconds));
            }
        }
        Calibration { areas }
    }

    pub fn quickest_s_per_byte(&self) -> Option<f64> {
        let all = self.areas.iter().flatten().map(|(_, seconds)| *seconds);
        all.min_by(f64::total_cmp)
    }

    /// The setting whose first samples were quickest, if they gain more in each area than places differ.
    pub fn candidate(&self) -> Option<StreamSetting> {
        let mut settings: Vec<StreamSetting> = self.areas[0].iter().map(|(setting, _)| *setting).collect();
        settings.sort_unstable();
        settings.dedup();
        let mut best: Option<(StreamSetting, f64)> = None;
        for setting in settings {
            let Some([first, second]) = self.first_ratios(setting) else { continue };
            let is_gain = first.max(second) < 1.0 - GAIN_MIN;
            if is_gain && best.is_none_or(|(_, least)| first + second < least) {
                best = Some((setting, first + second));
            }
        }
        Some(best?.0)
    }

    /// Whether as many bytes in flight in half as large requests, or more of them, stream slower in each area than places differ:
    /// a link costs a request some microseconds, a target of even latency all of its time.
    pub(crate) fn is_slower_with_smaller_requests(&self) -> bool {
        let smaller = StreamSetting { queue_depth: 8, block_bytes: Bytes::from_kib(512) };
        matches!(self.first_ratios(smaller), Some([first, second]) if first.min(second) > 1.0 + GAIN_MIN)
    }

    /// The time of a byte in the first sample of each area, as a share of that of the usual setting.
    fn first_ratios(&self, setting: StreamSetting) -> Option<[f64; AREAS]> {
        let mut ratios = [0.0; AREAS];
        for (area, ratio) in ratios.iter_mut().enumerate() {
            *ratio = self.of_setting(area, setting).next()? / self.of_setting(area, USUAL).next()?;
        }
        Some(ratios)
    }

    fn of_setting(&self, area: usize, wanted: StreamSetting) -> impl Iterator<Item = f64> {
        self.areas[area].iter().filter(move |(setting, _)| *setting == wanted).map(|(_, seconds)| *seconds)
    }

    /// What streams better than the usual setting, and by how much; none where nothing does for certain.
    pub fn found(&self) -> Option<Streaming> {
        let best = self.candidate()?;
        let mut losses = Vec::new();
        for area in 0..AREAS {
            // The first of each took part in the choice.
            let pairs = self.of_setting(area, best).zip(self.of_setting(area, USUAL)).skip(1);
            losses.extend(pairs.map(|(seconds, usual)| 1.0 - seconds / usual));
        }
        let losses = Sample::new(losses)?;
        let loss = Mean::about(losses.mean(), losses.values()).interval(CONFIDENCE);
        (loss.low > 0.0 && loss.is_conclusive()).then_some(Streaming {
            best,
            usual: USUAL,
            usual_loss: loss.value,
            usual_loss_low: loss.low,
            usual_loss_high: loss.high.min(1.0),
        })
    }
}

/// Sequential warm-ups of one pass: what they read is no sample of the drive's surface.
fn samples<'run>(run: &RunView<'run>) -> impl Iterator<Item = (&'run PhaseSummary, StreamSetting, u64)> {
    run.phases.iter().filter_map(|summary| {
        let phase = &summary.phase;
        let workload = phase.workload.as_ref()?;
        let is_sample = phase.kind == PhaseKind::WarmUp
            && matches!(phase.experiment, ExperimentName::Surface | ExperimentName::Check)
            && phase.stop.passes == Some(1)
            && workload.pattern == Pattern::Sequential
            && workload.mix == OperationMix::Read;
        let setting =
            StreamSetting { queue_depth: workload.queue_depth, block_bytes: workload.block_sizes.single()? };
        is_sample.then_some((summary, setting, workload.range.first().get()))
    })
}
