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
use model::range::ByteRange;
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

/// What comes first: of the smallest requests a slow drive, too, completes several in the time of a sample.
pub const SMALLEST: StreamSetting = StreamSetting { queue_depth: 1, block_bytes: Bytes::from_kib(64) };
/// A disk that reads nothing ahead waits a revolution for the next request, and at a random place half of one and a seek: 0.75 of it
/// at 15,000 rpm and 3.5 ms, 0.65 at 7,200 and 8.5 ms.
const IN_ORDER_SHARE_MAX: f64 = 0.8;

/// Of drives that share the work, each has but a part of what is in flight: more of it than any single disk needs.
pub const OF_ARRAYS: StreamSetting = StreamSetting { queue_depth: 8, block_bytes: Bytes::from_mib(2) };
/// As much in requests that each member reads ahead: where its part of a request is longer than that, it loses a revolution for each.
pub const SMALL_OF_ARRAYS: [StreamSetting; 2] = [
    StreamSetting { queue_depth: 64, block_bytes: Bytes::from_kib(256) },
    StreamSetting { queue_depth: 128, block_bytes: Bytes::from_kib(128) },
];
/// Longer samples are compared with longer ones only. In a short one, a drive that shares the work waits for the last arm most of the time.
pub const SHORT_SAMPLE_BYTES_MAX: Bytes = Bytes::from_mib(64);

/// No disk alone reads as fast, in bytes per second: the fastest of 2024 reach 285 MB/s.
pub const ONE_DISK_RATE_MAX: f64 = 300e6;

/// Short and long samples, which are compared among themselves only.
pub struct Calibration {
    short: Samples,
    long: Samples,
}

/// By area, in the order in which they were taken.
#[derive(Default)]
struct Samples {
    areas: [Vec<StreamSample>; AREAS],
}

struct StreamSample {
    setting: StreamSetting,
    s_per_byte: f64,
}

impl Calibration {
    pub fn of(run: &RunView<'_>) -> Calibration {
        let middle = run.target.capacity.get() / 2;
        let starts: Vec<u64> = samples(run).map(|(_, _, range)| range.first().get()).collect();
        let (least, most) = (starts.iter().min(), starts.iter().max());
        let border = least.zip(most).map_or(middle, |(least, most)| least + (most - least) / 2);
        let (mut short, mut long) = (Samples::default(), Samples::default());
        for (summary, setting, range) in samples(run) {
            let seconds =
                summary.totals_of(Operation::Read).and_then(OperationTotals::seconds_per_byte_to_the_last);
            if let (Some(s_per_byte), 0) = (seconds, summary.errors()) {
                let samples = if range.bytes() > SHORT_SAMPLE_BYTES_MAX { &mut long } else { &mut short };
                let area = usize::from(range.first().get() > border);
                samples.areas[area].push(StreamSample { setting, s_per_byte });
            }
        }
        Calibration { short, long }
    }

    pub fn quickest_s_per_byte(&self) -> Option<f64> {
        let all = self.short.areas.iter().chain(&self.long.areas).flatten();
        all.map(|sample| sample.s_per_byte).min_by(f64::total_cmp)
    }

    /// What a byte takes at QD 1, where nothing overlaps, in the slower area.
    pub fn serial_s_per_byte(&self) -> Option<f64> {
        let setting = StreamSetting { queue_depth: 1, ..USUAL };
        let areas = self.short.areas.iter();
        areas.filter_map(|area| of_setting(area, setting).next()).max_by(f64::total_cmp)
    }

    /// The setting whose first samples were quickest, if they gain more in each area than places differ.
    pub fn candidate(&self) -> Option<StreamSetting> {
        self.short.best_of(&self.gaining())
    }

    /// Those whose first samples gain more in each area than places differ.
    pub fn gaining(&self) -> Vec<StreamSetting> {
        let mut gaining = self.short.settings();
        gaining.retain(|setting| {
            matches!(self.short.first_ratios(*setting), Some([first, second]) if is_gain(first.max(second)))
        });
        gaining
    }

    /// Whether reads in order take less than those at random places: what answers each in even time has no arms that could share the work,
    /// and gains by what is in flight as each of its requests does.
    pub fn is_quicker_in_order(&self, run: &RunView<'_>) -> bool {
        let Some(random_s) = random_read_s(run) else { return false };
        self.short.areas.iter().all(|area| {
            let in_order = area.iter().find(|sample| sample.setting == SMALLEST);
            let s_per_byte = in_order.map(|sample| sample.s_per_byte);
            s_per_byte.is_some_and(|s_per_byte| {
                s_per_byte * SMALLEST.block_bytes.as_f64() < IN_ORDER_SHARE_MAX * random_s
            })
        })
    }

    /// Whether several drives share the work: more in flight gains, or long samples are quicker than short ones in each area by more than
    /// places differ, since arms that wait for each other are a part of a short one. A single disk streams when its first request is through.
    pub fn is_of_array(&self) -> bool {
        self.of_array().is_some() || self.gains_by_length()
    }

    /// By how much more in flight gains depends on where chunks lie on tracks: more than places of one area differ, and nothing lost in the other.
    pub fn gains_as_array(&self) -> bool {
        let setting = self.setting_of_array();
        let mut others = self.long.settings();
        others.retain(|other| *other == USUAL || setting != OF_ARRAYS && !is_of_arrays(*other));
        // A disk alone that streams small requests only does so with few in flight.
        others.into_iter().all(|other| {
            let ratios = self.long.ratios(setting, other);
            matches!(ratios, Some([first, second]) if is_gain(first.min(second)) && !is_loss(first.max(second)))
        })
    }

    /// Whether requests in flight gain, so that many small ones may gain more.
    pub fn gains_in_flight(&self) -> bool {
        let setting = StreamSetting { queue_depth: 1, ..USUAL };
        matches!(self.short.ratios(USUAL, setting), Some([first, second]) if is_gain(first.min(second)))
    }

    /// Of the settings with much in flight, the one with small requests if these gain more than places differ.
    pub fn setting_of_array(&self) -> StreamSetting {
        let Some(small) = self.long.best_of(&SMALL_OF_ARRAYS) else { return OF_ARRAYS };
        match self.long.ratios(small, OF_ARRAYS) {
            Some([first, second]) if is_gain(first.max(second)) => small,
            _ => OF_ARRAYS,
        }
    }

    /// The first of those with small requests that has no long samples.
    pub fn untried_small(&self) -> Option<StreamSetting> {
        let tried = self.long.settings();
        SMALL_OF_ARRAYS.into_iter().find(|setting| !tried.contains(setting))
    }

    fn of_array(&self) -> Option<StreamSetting> {
        let setting = self.setting_of_array();
        if !self.gains_as_array() || !self.long.is_confirmed(setting) {
            return None;
        }
        let best = self.best_of_long();
        Some(if self.long.is_confirmed(best) { best } else { setting })
    }

    /// More in flight, unless smaller requests gain more than places differ beside it: those that a member answers from what it reads ahead.
    pub fn best_of_long(&self) -> StreamSetting {
        let setting = self.setting_of_array();
        let Some(best) = self.long.best_of(&self.long.settings()) else { return setting };
        match self.long.ratios(best, setting) {
            Some([first, second]) if is_gain(first.max(second)) => best,
            _ => setting,
        }
    }

    fn gains_by_length(&self) -> bool {
        self.long.areas.iter().zip(&self.short.areas).all(|(long, short)| {
            let first = [long, short].map(|area| of_setting(area, USUAL).next());
            matches!(first, [Some(long), Some(short)] if long < (1.0 - GAIN_MIN) * short)
        })
    }

    /// Whether as many bytes in flight in half as large requests, or more of them, stream slower in each area than places differ:
    /// a link costs a request some microseconds, a target of even latency all of its time.
    pub(crate) fn is_slower_with_smaller_requests(&self) -> bool {
        let smaller = StreamSetting { queue_depth: 8, block_bytes: Bytes::from_kib(512) };
        matches!(self.short.first_ratios(smaller), Some([first, second]) if first.min(second) > 1.0 + GAIN_MIN)
    }

    /// What samples are to be read with: the usual setting unless another is quicker for certain.
    pub fn best(&self) -> StreamSetting {
        if let Some(best) = self.of_array() {
            return best;
        }
        match self.found() {
            Some(streaming) => streaming.best,
            None if self.is_of_fast_array() => OF_ARRAYS,
            None => USUAL,
        }
    }

    /// Whether more in flight streams faster than one disk and loses nothing: with less, members fall out of step where no sample was.
    fn is_of_fast_array(&self) -> bool {
        let mut with_more = self.long.areas.iter().flat_map(|area| of_setting(area, OF_ARRAYS));
        with_more.any(|s_per_byte| s_per_byte < 1.0 / ONE_DISK_RATE_MAX)
            && matches!(self.long.first_ratios(OF_ARRAYS), Some([first, second]) if !is_loss(first.max(second)))
    }

    /// What streams better than the usual setting, and by how much; none where nothing does for certain.
    pub fn found(&self) -> Option<Streaming> {
        let (samples, best) = match self.of_array() {
            Some(best) => (&self.long, best),
            None => (&self.short, self.candidate()?),
        };
        let mut losses = Vec::new();
        for area in 0..AREAS {
            losses.extend(samples.pairs(area, best).into_iter().map(|ratio| 1.0 - ratio));
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

impl Samples {
    /// The time of a byte in the first sample of each area, as a share of what it takes with the usual setting.
    fn first_ratios(&self, setting: StreamSetting) -> Option<[f64; AREAS]> {
        self.ratios(setting, USUAL)
    }

    /// The same as a share of what it takes with another.
    fn ratios(&self, setting: StreamSetting, other: StreamSetting) -> Option<[f64; AREAS]> {
        let mut ratios = [0.0; AREAS];
        for (area, ratio) in self.areas.iter().zip(&mut ratios) {
            *ratio = of_setting(area, setting).next()? / of_setting(area, other).next()?;
        }
        Some(ratios)
    }

    /// The same ratios of the samples after the first of each, which took part in the choice.
    fn pairs(&self, area: usize, setting: StreamSetting) -> Vec<f64> {
        let area = &self.areas[area];
        let pairs = of_setting(area, setting).zip(of_setting(area, USUAL));
        pairs.skip(1).map(|(seconds, usual)| seconds / usual).collect()
    }

    /// Whether what its first samples gained is so in all pairs of an area, and nothing is lost in any.
    fn is_confirmed(&self, setting: StreamSetting) -> bool {
        let mut is_confirmed = false;
        for area in 0..AREAS {
            let ratios = self.pairs(area, setting);
            if ratios.iter().copied().any(is_loss) {
                return false;
            }
            is_confirmed |= !ratios.is_empty() && ratios.iter().copied().all(is_gain);
        }
        is_confirmed
    }

    fn settings(&self) -> Vec<StreamSetting> {
        let mut settings: Vec<StreamSetting> = self.areas[0].iter().map(|sample| sample.setting).collect();
        settings.sort_unstable();
        settings.dedup();
        settings
    }

    /// Of these, the one whose first samples were quickest in both areas together.
    fn best_of(&self, settings: &[StreamSetting]) -> Option<StreamSetting> {
        let mut best: Option<(StreamSetting, f64)> = None;
        for &setting in settings {
            let Some([first, second]) = self.first_ratios(setting) else { continue };
            if best.is_none_or(|(_, least)| first + second < least) {
                best = Some((setting, first + second));
            }
        }
        Some(best?.0)
    }
}

fn is_of_arrays(setting: StreamSetting) -> bool {
    setting == OF_ARRAYS || SMALL_OF_ARRAYS.contains(&setting)
}

fn is_gain(ratio: f64) -> bool {
    ratio < 1.0 - GAIN_MIN
}

fn is_loss(ratio: f64) -> bool {
    ratio > 1.0 + GAIN_MIN / 2.0
}

/// Seconds for each byte, in the order in which they were taken.
fn of_setting(area: &[StreamSample], wanted: StreamSetting) -> impl Iterator<Item = f64> {
    area.iter().filter(move |sample| sample.setting == wanted).map(|sample| sample.s_per_byte)
}

/// The mean time of a read of the last warm-up at random places.
fn random_read_s(run: &RunView<'_>) -> Option<f64> {
    let warm_ups = run.phases.iter().rev().filter(|summary| summary.phase.kind == PhaseKind::WarmUp);
    for summary in warm_ups {
        let Some(workload) = &summary.phase.workload else { continue };
        if workload.pattern == Pattern::RandomWithReplacement {
            return Some(summary.totals_of(Operation::Read)?.histogram.mean_ns()? / 1e9);
        }
    }
    None
}

/// Sequential warm-ups of one pass: what they read is no sample of the drive's surface.
fn samples<'run>(
    run: &RunView<'run>,
) -> impl Iterator<Item = (&'run PhaseSummary, StreamSetting, ByteRange)> {
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
        is_sample.then_some((summary, setting, workload.range))
    })
}
