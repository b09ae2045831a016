//! Finds out how a drive streams best before something is measured with it: analysis::streaming says why.
//!
//! Extremes of depth and size come first, in two areas of the drive; where they are no quicker than the usual requests,
//! that is all. Else what lies between them follows, and pairs that confirm the quickest. Of what moves parts, long samples
//! tell at the end whether several drives share the work, which stream together only when much is in flight.

use crate::Setup;
use crate::preparation::{self, SEQUENTIAL_BLOCK, SEQUENTIAL_DEPTH, random_block};
use analysis::streaming::{
    AREAS, Calibration, OF_ARRAYS, ONE_DISK_RATE_MAX, SHORT_SAMPLE_BYTES_MAX, SMALL_OF_ARRAYS, SMALLEST,
    USUAL,
};
use model::experiment_name::ExperimentName;
use model::finding::StreamSetting;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, KIB, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use std::collections::VecDeque;

const _: () =
    assert!(USUAL.queue_depth == SEQUENTIAL_DEPTH && USUAL.block_bytes.get() == SEQUENTIAL_BLOCK.get());

const ORDER_STREAM: u64 = u64::MAX - 2;
const DEPTHS: [u32; 4] = [1, 2, 4, 8];
const BLOCKS_KIB: [u64; 6] = [64, 128, 256, 512, 1024, 2048];
/// No more is in flight than usual: a drive for which that is too little is no slower than its host asks.
const IN_FLIGHT_MAX: Bytes = Bytes::new(4 * MIB);
/// Depth and KiB of the settings between which all others lie, with the smallest and the usual one.
const EXTREMES: [(u32, u64); 4] = [(4, 1024), (1, 1024), (8, 64), (8, 512)];
/// Some tracks of a disk; where nothing moves, many fills of the queue: what is in flight at the end counts little.
const SAMPLE_BYTES: Bytes = Bytes::from_mib(8);
const STILL_SAMPLE_BYTES: Bytes = SHORT_SAMPLE_BYTES_MAX;
const LONG_SAMPLE_BYTES: Bytes = Bytes::from_mib(80);
const _: () = assert!(LONG_SAMPLE_BYTES.get() > SHORT_SAMPLE_BYTES_MAX.get());
const SAMPLE_TIME: Nanos = Nanos::from_millis(60);
/// But no fewer requests than these after the first fill of the queue.
const REQUESTS_MIN: u64 = 2;
/// Left out between two samples, so that the drive has not read ahead what the next one asks for: the largest segments have so much.
const GAP: Bytes = Bytes::from_mib(16);
const PAIRS: usize = 2;
/// Each area is a quarter of the range. All settings and pairs have room there, so that nothing is read twice.
const SAMPLES_MAX: u64 = (DEPTHS.len() * BLOCKS_KIB.len() + 2 * PAIRS) as u64;
const LONG_SAMPLES_MAX: u64 = (1 + SMALL_OF_ARRAYS.len() + EXTREMES.len() + 3 * PAIRS) as u64;
const QUARTERS: u64 = 2 * AREAS as u64;
/// What it takes at most, and the share of a survey.
const TIME_MAX: Nanos = Nanos::from_secs(6);
const TIME_PART: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    First,
    Extremes,
    Between,
    Pairs,
    Long,
    LongSmall,
    LongPairs,
    Done,
}

/// How much one sample reads, which decides what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// Before any rate of the drive is known.
    First,
    /// What takes [`SAMPLE_TIME`], within the bounds of short samples.
    Short(Bytes),
    Long,
}

#[derive(Clone)]
pub struct StreamSearch {
    experiment: ExperimentName,
    range: ByteRange,
    grid: Bytes,
    prng: Prng,
    stage: Stage,
    queue: VecDeque<Phase>,
    moves_parts: bool,
    /// Which reads any sector alike, where others read one page group or shard more of requests that are not aligned.
    is_disk: bool,
    has_explored: bool,
    has_long: bool,
    /// Where the next sample begins in each area.
    within: Bytes,
    began: Nanos,
    time: Nanos,
}

impl StreamSearch {
    /// A search in `range`, within its share of what may take `time`.
    pub fn new(
        experiment: ExperimentName,
        setup: &Setup,
        range: ByteRange,
        moves_parts: bool,
        began: Nanos,
        time: Nanos,
    ) -> StreamSearch {
        let mut search = StreamSearch {
            experiment,
            range,
            grid: random_block(&setup.facts),
            prng: Prng::new(setup.seed, ORDER_STREAM),
            stage: Stage::First,
            queue: VecDeque::new(),
            moves_parts,
            is_disk: moves_parts && setup.facts.rotational == Some(true),
            has_explored: false,
            has_long: false,
            within: Bytes::ZERO,
            began,
            time: TIME_MAX.min(time / TIME_PART),
        };
        let room = (search.sample_bytes_max() + GAP) * SAMPLES_MAX * QUARTERS;
        if range.bytes() < room || setup.facts.logical_block > Bytes::new(BLOCKS_KIB[0] * KIB) {
            search.stage = Stage::Done;
        } else {
            search.plan(&[SMALLEST], Length::First);
        }
        search
    }

    pub fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let spent = so_far.elapsed().saturating_sub(self.began);
        // What lies between the extremes leaves time to confirm what they showed.
        let may_explore = spent < self.time / 2;
        // What gained in both areas is confirmed, however slowly: all that follows is measured with it.
        let is_over = spent >= self.time && self.stage != Stage::LongPairs;
        if is_over || (self.stage == Stage::Between && !may_explore) {
            self.queue.clear();
        }
        while self.queue.is_empty() && self.stage != Stage::Done {
            self.stage = self.stage_after(so_far, spent);
        }
        self.queue.pop_front()
    }

    fn stage_after(&mut self, so_far: &RunView<'_>, spent: Nanos) -> Stage {
        let samples = Calibration::of(so_far);
        let Some(quickest) = samples.quickest_s_per_byte() else { return Stage::Done };
        let short = Length::Short(Bytes::new((SAMPLE_TIME.seconds() / quickest) as u64));
        let may_be_array =
            !self.has_long && self.has_room_for_long(quickest, spent) && samples.is_quicker_in_order(so_far);
        match (self.stage, samples.candidate()) {
            (Stage::Long | Stage::LongSmall, _) if self.may_try_small(&samples, spent) => {
                self.plan(samples.untried_small().as_slice(), Length::Long);
                Stage::LongSmall
            }
            (Stage::Long | Stage::LongSmall, _) if samples.gains_as_array() => {
                let mut settings = vec![samples.setting_of_array(), USUAL];
                let best = samples.best_of_long();
                if !settings.contains(&best) {
                    settings.push(best);
                }
                for _ in 0..PAIRS {
                    self.plan(&settings, Length::Long);
                }
                Stage::LongPairs
            }
            _ if spent >= self.time => Stage::Done,
            (Stage::First, _) => {
                self.plan(&EXTREMES.map(|(depth, kib)| setting(depth, kib)), short);
                Stage::Extremes
            }
            (Stage::Extremes, Some(_)) if quickest < 1.0 / ONE_DISK_RATE_MAX && may_be_array => {
                self.plan_long(&samples.gaining());
                Stage::Long
            }
            (Stage::Extremes | Stage::Long | Stage::LongSmall, Some(_)) if !self.has_explored => {
                self.has_explored = true;
                self.plan(&between(), short);
                Stage::Between
            }
            (Stage::Between, Some(best)) => {
                for _ in 0..PAIRS {
                    self.plan(&[best, USUAL], short);
                }
                Stage::Pairs
            }
            (Stage::Long | Stage::LongSmall | Stage::LongPairs | Stage::Done, _) => Stage::Done,
            _ if may_be_array => {
                self.plan_long(&samples.gaining());
                Stage::Long
            }
            _ => Stage::Done,
        }
    }

    /// Beside more in flight and the usual: others that gained in short samples, each of which may ask for less than a member reads ahead.
    fn plan_long(&mut self, others: &[StreamSetting]) {
        self.has_long = true;
        self.plan(&[&[OF_ARRAYS, USUAL], others].concat(), Length::Long);
    }

    /// The smallest of all are for members that gain by nothing else.
    fn may_try_small(&self, samples: &Calibration, spent: Nanos) -> bool {
        samples.untried_small().is_some()
            && samples.gains_in_flight()
            && spent < self.time / 2
            && (self.stage == Stage::Long || !samples.gains_as_array())
    }

    /// In the range, beside all short ones, and in time at the rate that the quickest short sample had: an array is no slower.
    fn has_room_for_long(&self, seconds_per_byte: f64, spent: Nanos) -> bool {
        let samples = 2 * AREAS as u64;
        let takes = (LONG_SAMPLE_BYTES * samples).as_f64() * seconds_per_byte;
        let room =
            (self.sample_bytes_max() + GAP) * SAMPLES_MAX + (LONG_SAMPLE_BYTES + GAP) * LONG_SAMPLES_MAX;
        self.moves_parts
            && room * QUARTERS <= self.range.bytes()
            && takes <= self.time.saturating_sub(spent).seconds()
    }

    fn sample_bytes_max(&self) -> Bytes {
        if self.moves_parts { SAMPLE_BYTES } else { STILL_SAMPLE_BYTES }
    }

    fn plan(&mut self, settings: &[StreamSetting], length: Length) {
        let mut settings = settings.to_vec();
        self.prng.shuffle(&mut settings);
        for setting in settings {
            let within = self.within.get();
            self.within += if length == Length::Long { LONG_SAMPLE_BYTES } else { self.sample_bytes_max() };
            self.within += GAP;
            for area in 0..AREAS as u64 {
                let start = self.range.part(2 * area + 1, QUARTERS).first().get();
                let grid = if self.is_disk { self.grid } else { setting.block_bytes }.get();
                let first = ((start + within) / grid * grid).max(self.range.first().get());
                self.queue.push_back(self.sample(setting, Offset::new(first), length));
            }
        }
    }

    fn sample(&self, setting: StreamSetting, first: Offset, length: Length) -> Phase {
        let StreamSetting { queue_depth, block_bytes } = setting;
        let least = block_bytes * (u64::from(queue_depth) + REQUESTS_MIN);
        let bytes = match length {
            Length::First => SAMPLE_BYTES,
            Length::Short(bytes) => bytes.clamp(least, self.sample_bytes_max()),
            Length::Long => LONG_SAMPLE_BYTES,
        };
        let stretch =
            ByteRange::new(first, bytes.round_down_to(block_bytes)).expect("a sample holds something");
        let workload = Workload {
            alignment: self.grid,
            ..Workload::new(stretch, Pattern::Sequential, OperationMix::Read, block_bytes, queue_depth)
        };
        // A drive that needs longer is not worth the search.
        let time = if setting == SMALLEST { SAMPLE_TIME } else { self.time };
        let stop = StopCondition { time: Some(time), ..StopCondition::one_pass() };
        let name = format!("calibrate {queue_depth} × {block_bytes}");
        preparation::phase(self.experiment.clone(), name, PhaseKind::WarmUp, workload, stop)
    }
}

fn setting(queue_depth: u32, kib: u64) -> StreamSetting {
    StreamSetting { queue_depth, block_bytes: Bytes::new(kib * KIB) }
}

fn between() -> Vec<StreamSetting> {
    let mut settings = Vec::new();
    for depth in DEPTHS {
        for kib in BLOCKS_KIB {
            let setting = setting(depth, kib);
            if setting.block_bytes * u64::from(depth) <= IN_FLIGHT_MAX
                && setting != SMALLEST
                && !EXTREMES.contains(&(depth, kib))
            {
                settings.push(setting);
            }
        }
    }
    settings
}
