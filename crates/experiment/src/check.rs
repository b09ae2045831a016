//! `check`: what is this drive, is it sound, what should I know? Sequential rates over the whole range, and random
//! requests, one and many at a time; the same for writes where they are allowed.
//!
//! Places are drawn so that the mean over the range can be estimated with an interval: the range is cut into equal
//! strata, and in every round each stratum is visited once at a random place, in random order. Two places in a
//! stratum tell how even it is (stratified sampling; Cochran, "Sampling Techniques", 3rd ed., ch. 5), and since rounds
//! follow each other, a drive that warms up or gets busy is seen as such and not as a place that is slow.

use crate::deep::Deep;
use crate::error::PlanError;
use crate::precision::Known;
use crate::preparation::{self, Filling, filled, is_mechanical, measure, reads_only, streaming_block, verb};
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::reread::Reread;
use crate::setup::check_room;
use crate::streaming::StreamSearch;
use crate::{Experiment, Remaining, Setup, rate_limit};
use analysis::streaming::{Calibration, USUAL};
use clap::Args;
use model::experiment_name::ExperimentName;
use model::finding::{FindingCode, StreamSetting};
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const RANGE_MIN: Bytes = Bytes::from_kib(64);
/// The stream of the seed that draws places and orders; phases have the streams of their numbers.
const PLACES_STREAM: u64 = u64::MAX;
/// Requests at once in random phases. Past 32 lie the queues of NVMe only; SATA ends at 32.
const READ_DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const WRITE_DEPTHS: [u32; 3] = [1, 4, 32];
/// Strata of a drive, and of what is as small as a zone or two of a disk.
const STRATA_MAX: u64 = 24;
const STRATA_MIN: u64 = 8;
/// A stratum is no smaller than this if it need not be: a fast drive is through with less in no time.
const STRATUM_BYTES_MIN: Bytes = Bytes::from_gib(1);
const SEQUENTIAL_ROUNDS: u32 = 2;
/// Rounds of random requests: few give a wide interval (Student's t), and 64 under way take a disk half a second.
const RANDOM_ROUNDS: u32 = 6;
const RANDOM_ROUNDS_MECHANICAL: u32 = 3;
/// A visit to the edge covers a hundredth of the range, but at least what a fast drive moves in 100 ms.
const EDGE_PARTS: u64 = 100;
const EDGE_BYTES_MIN: Bytes = Bytes::from_mib(256);
const EDGE_VISITS: usize = 3;
/// What one visit writes at most. A drive that takes it within the visit's time is known well enough, and flash wears.
const WRITE_VISIT_BYTES: Bytes = Bytes::from_mib(128);
/// What all rounds of random writes at one depth write at most together, for the same reason.
const RANDOM_WRITE_BYTES: Bytes = Bytes::from_mib(384);

/// What a check without a time limit takes at most: a newcomer waits for two minutes, the last phase included.
const TIME_MAX: Nanos = Nanos::from_secs(110);
const TIME_MAX_PRECISE: Nanos = Nanos::from_secs(600);

#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Surface, random access and disk mechanics in one run of three minutes at most (read-only)
    #[arg(long, conflicts_with_all = ["write", "precision"])]
    pub deep: bool,
}

impl DriveRequest for CheckRequest {
    has_drive_options!(ExperimentName::Check);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        if self.deep {
            return Ok(Reread::after(Deep::new(setup)?));
        }
        Ok(Reread::after(Check::new(setup)?))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Timing {
    fill: Nanos,
    settle: Nanos,
    warm_up: Nanos,
    visit: Nanos,
    single: Nanos,
    several: Nanos,
}

const TIMING: Timing = Timing {
    fill: Filling::BRIEF.time,
    settle: Filling::BRIEF.settle,
    warm_up: preparation::WARM_UP,
    visit: Nanos::from_millis(400),
    single: Nanos::from_millis(1000),
    several: Nanos::from_millis(400),
};
/// On a drive with moving parts rounds are fewer and this much longer.
const MECHANICAL_FACTOR: u64 = 2;

#[derive(Clone)]
pub struct Check {
    setup: Setup,
    timing: Timing,
    prng: Prng,
    queue: VecDeque<Phase>,
    stage: Stage,
    /// Where it measures; for a scratch file, once it is filled, what has been.
    range: ByteRange,
    mechanical: bool,
    rounds_more: u32,
    search: Option<StreamSearch>,
    setting: StreamSetting,
    has_asked_limit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fill,
    WarmUp,
    Calibrate,
    Measurements,
}

impl Check {
    pub fn new(setup: Setup) -> Result<Check, PlanError> {
        let room = setup.range.align_inward(preparation::random_block(&setup.facts)).bytes();
        check_room(ExperimentName::Check, room, RANGE_MIN)?;
        let mut check = Check {
            prng: Prng::new(setup.seed, PLACES_STREAM),
            timing: Timing::within(&setup),
            queue: VecDeque::new(),
            stage: Stage::Fill,
            range: setup.range,
            mechanical: setup.facts.rotational.unwrap_or(false),
            rounds_more: 0,
            search: None,
            setting: USUAL,
            has_asked_limit: false,
            setup,
        };
        if check.setup.empty {
            let timing = check.timing;
            check.queue.extend(preparation::fill(
                ExperimentName::Check,
                &check.setup,
                Filling { time: timing.fill, settle: timing.settle },
            ));
        } else {
            check.plan_warm_up();
        }
        Ok(check)
    }

    fn plan_warm_up(&mut self) {
        self.stage = Stage::WarmUp;
        self.range = self.range.align_inward(self.random_block());
        let reads =
            preparation::warm_up(ExperimentName::Check, self.range, self.random_block(), self.timing.warm_up);
        self.queue.push_back(reads);
    }

    fn calibrate(&mut self, so_far: &RunView<'_>) {
        match self.search.as_mut().and_then(|search| search.next(so_far)) {
            Some(phase) => self.queue.push_back(phase),
            None => {
                self.search = None;
                self.setting = Calibration::of(so_far).best();
                self.plan_measurements();
            }
        }
    }

    fn plan_measurements(&mut self) {
        self.stage = Stage::Measurements;
        let mixes: &[OperationMix] = if self.setup.may_write {
            &[OperationMix::Read, OperationMix::Write]
        } else {
            &[OperationMix::Read]
        };
        for &mix in mixes {
            for round in 1..=SEQUENTIAL_ROUNDS {
                self.plan_sequential(mix, round);
            }
            for round in 1..=self.random_rounds() {
                self.plan_random(mix, round);
            }
        }
    }

    fn random_rounds(&self) -> u32 {
        if self.mechanical { RANDOM_ROUNDS_MECHANICAL } else { RANDOM_ROUNDS }
    }

    fn plan_sequential(&mut self, mix: OperationMix, round: u32) {
        let range = self.range;
        let setting = if mix == OperationMix::Read { self.setting } else { USUAL };
        let block = streaming_block(range, self.setup.facts.logical_block, setting);
        let strata = self.strata(range, block * u64::from(setting.queue_depth));
        let mut visits = Vec::new();
        for index in 0..strata {
            let place = self.place(range, range.part(index, strata), block * u64::from(setting.queue_depth));
            visits.push((format!("area {} of {strata}", index + 1), place));
        }
        let edge = Bytes::new(range.bytes().get() / EDGE_PARTS)
            .max(EDGE_BYTES_MIN)
            .min(Bytes::new(range.bytes().get() / strata));
        let edge = edge.round_down_to(block).max(block);
        let start = ByteRange::new(range.first(), edge).expect("an edge lies inside its range");
        let end = ByteRange::new(Offset::new(range.end().get() - edge.get()), edge)
            .expect("an edge lies inside its range");
        self.prng.shuffle(&mut visits);
        // In the middle of each third of the round: in between a disk reads more than its cache holds.
        let places = visits.len();
        for part in (0..EDGE_VISITS).rev() {
            let mut edges = [
                ("the start".to_string(), self.half_of(start, block)),
                ("the end".to_string(), self.half_of(end, block)),
            ];
            self.prng.shuffle(&mut edges);
            let middle = places * (2 * part + 1) / (2 * EDGE_VISITS);
            visits.splice(middle..middle, edges);
        }
        let verb = verb(mix);
        for (place, stretch) in visits {
            let workload = Workload {
                alignment: self.random_block(),
                ..Workload::new(stretch, Pattern::Sequential, mix, block, setting.queue_depth)
            };
            let stop = StopCondition { time: Some(self.timing.visit), ..StopCondition::one_pass() };
            let stop = if mix == OperationMix::Write { stop.or_bytes(WRITE_VISIT_BYTES) } else { stop };
            let name = format!("{verb} {place}, round {round}");
            self.queue.push_back(measure(ExperimentName::Check, name, workload, stop));
        }
    }

    /// Half of an edge, from a random place in its first half on, so that not always the same surface of a disk is met.
    fn half_of(&mut self, edge: ByteRange, block: Bytes) -> ByteRange {
        let grid = self.random_block();
        let half = Bytes::new(edge.bytes().get() / 2).round_down_to(grid);
        if half < block {
            return edge;
        }
        let first = edge.first() + Bytes::new(self.prng.below(half.get() / grid.get()) * grid.get());
        ByteRange::new(first, half).expect("a part of an edge lies inside it")
    }

    /// A stretch as long as a stratum that begins at a random place in it; at the end of the range, one that ends there.
    fn place(&mut self, range: ByteRange, stratum: ByteRange, in_flight: Bytes) -> ByteRange {
        let grid = self.random_block();
        let places = (stratum.bytes().get() / grid.get()).max(1);
        let first = Offset::new(stratum.first().get() + self.prng.below(places) * grid.get());
        let shortest = in_flight.min(range.bytes());
        let first = Offset::new(first.get().min(range.end().get() - shortest.get())).max(range.first());
        let aligned =
            Offset::new(range.first().get() + (first.get() - range.first().get()) / grid.get() * grid.get());
        let bytes = stratum.bytes().max(shortest).min(range.end() - aligned);
        ByteRange::new(aligned, bytes).expect("a stretch of a range lies inside it")
    }

    fn plan_random(&mut self, mix: OperationMix, round: u32) {
        let depths: &[u32] = if mix == OperationMix::Write { &WRITE_DEPTHS } else { &READ_DEPTHS };
        let mut depths = depths.to_vec();
        self.prng.shuffle(&mut depths);
        for depth in depths {
            let block = self.random_block();
            let workload = Workload::new(self.range, Pattern::RandomWithReplacement, mix, block, depth);
            let stop = StopCondition::after(self.timing.random(depth, self.mechanical));
            let share = Bytes::new(RANDOM_WRITE_BYTES.get() / u64::from(self.random_rounds()));
            let stop = if mix == OperationMix::Write { stop.or_bytes(share) } else { stop };
            let name = format!("{} QD {depth}, round {round}", verb(mix));
            self.queue.push_back(measure(ExperimentName::Check, name, workload, stop));
        }
    }

    fn strata(&self, range: ByteRange, in_flight: Bytes) -> u64 {
        let wished = (range.bytes().get() / STRATUM_BYTES_MIN.get()).clamp(STRATA_MIN, STRATA_MAX);
        let room = range.bytes().get() / (in_flight.get() * 2);
        wished.min(room).max(1)
    }

    fn random_block(&self) -> Bytes {
        preparation::random_block(&self.setup.facts)
    }

    fn plan_more(&mut self, so_far: &RunView<'_>) {
        let Some(precision) = self.setup.precision else { return };
        let known = Known::of(so_far, precision);
        self.rounds_more += 1;
        if known.is_wide(FindingCode::ReadRateMean) {
            self.plan_sequential(OperationMix::Read, SEQUENTIAL_ROUNDS + self.rounds_more);
        }
        if known.is_wide(FindingCode::AccessTime) || known.is_wide(FindingCode::ConcurrencyGain) {
            self.plan_random(OperationMix::Read, self.random_rounds() + self.rounds_more);
        }
        if self.setup.may_write && known.is_wide(FindingCode::WriteRateMean) {
            self.plan_sequential(OperationMix::Write, SEQUENTIAL_ROUNDS + self.rounds_more);
        }
    }
}

impl Experiment for Check {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let spent = so_far.elapsed();
        let usual = if self.setup.precision.is_some() { TIME_MAX_PRECISE } else { TIME_MAX };
        if spent >= self.setup.time_limit.unwrap_or(usual) {
            return None;
        }
        if self.queue.is_empty() {
            match self.stage {
                Stage::Fill => {
                    self.range = filled(self.range, so_far)?;
                    self.plan_warm_up();
                }
                Stage::WarmUp => {
                    if let Some(warm_up) = so_far.phases.last() {
                        self.mechanical = is_mechanical(warm_up);
                    }
                    let time = self.setup.time_limit.unwrap_or(TIME_MAX);
                    let (name, range, moves) = (ExperimentName::Check, self.range, self.mechanical);
                    self.search = Some(StreamSearch::new(name, &self.setup, range, moves, spent, time));
                    self.stage = Stage::Calibrate;
                    self.calibrate(so_far);
                }
                Stage::Calibrate => self.calibrate(so_far),
                Stage::Measurements if !self.has_asked_limit => {
                    self.queue.extend(rate_limit::deciding(ExperimentName::Check, so_far, self.range));
                    if self.queue.is_empty() {
                        self.has_asked_limit = true;
                        self.plan_more(so_far);
                    }
                }
                Stage::Measurements => self.plan_more(so_far),
            }
        }
        self.queue.pop_front()
    }

    /// When each read completed tells whether others used a disk meanwhile.
    fn needs_trace(&self, phase: &Phase) -> bool {
        self.mechanical && reads_only(phase)
    }

    fn remaining(&self) -> Remaining {
        // What is measured once a file is filled and the drive known to move parts is taken as of now.
        let mut ahead = self.clone();
        if ahead.stage == Stage::Fill {
            ahead.plan_warm_up();
        }
        if matches!(ahead.stage, Stage::WarmUp | Stage::Calibrate) {
            ahead.plan_measurements();
        }
        let planned: Vec<Phase> = ahead.queue.into();
        Remaining::of(&planned)
    }
}

impl Timing {
    /// The usual times, all shortened alike when they do not fit into the time limit.
    fn within(setup: &Setup) -> Timing {
        let Some(limit) = setup.time_limit else { return TIMING };
        let operations = if setup.may_write { 2 } else { 1 };
        let visits = operations * u64::from(SEQUENTIAL_ROUNDS) * (STRATA_MAX + 2 * EDGE_VISITS as u64);
        let rounds = u64::from(RANDOM_ROUNDS_MECHANICAL);
        let reads = round_of(&READ_DEPTHS);
        let writes = if setup.may_write { round_of(&WRITE_DEPTHS) } else { 0 };
        let filling = if setup.empty { TIMING.fill.get() + TIMING.settle.get() } else { 0 };
        let usual = filling + TIMING.warm_up.get() + visits * TIMING.visit.get() + rounds * (reads + writes);
        let scale = (limit.as_f64() / usual as f64).min(1.0);
        Timing {
            fill: Timing::scaled(TIMING.fill, scale),
            settle: Timing::scaled(TIMING.settle, scale),
            warm_up: Timing::scaled(TIMING.warm_up, scale),
            visit: Timing::scaled(TIMING.visit, scale),
            single: Timing::scaled(TIMING.single, scale),
            several: Timing::scaled(TIMING.several, scale),
        }
    }

    fn scaled(time: Nanos, scale: f64) -> Nanos {
        Nanos::new((time.as_f64() * scale) as u64)
    }

    /// How long a random phase of that depth takes. With moving parts each request under way adds some milliseconds
    /// before the queue is served as it will be, so deep queues get longer: 25 ms for each place.
    fn random(&self, depth: u32, mechanical: bool) -> Nanos {
        let usual = if depth == 1 { self.single } else { self.several };
        if !mechanical {
            return usual;
        }
        let deep = self.several.get() * u64::from(depth) / 16;
        Nanos::new((usual.get() * MECHANICAL_FACTOR).max(deep))
    }
}

fn round_of(depths: &[u32]) -> u64 {
    let mut time = Nanos::ZERO;
    for &depth in depths {
        time += TIMING.random(depth, true);
    }
    time.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::histogram::LatencyHistogram;
    use model::record::ErrorRecord;
    use model::request::Operation;
    use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary};
    use proptest::prelude::*;

    fn setup(capacity: u64, may_write: bool, empty: bool) -> Setup {
        let drive = sim::open("zoned", 1).expect("a drive that ships");
        let mut facts = drive.facts().clone();
        facts.capacity = Bytes::new(capacity);
        let range = ByteRange::whole(facts.capacity);
        Setup { facts, range, may_write, empty, seed: 1, time_limit: None, precision: None }
    }

    /// Every phase of a check on a drive that fills this much and answers after that long.
    fn all(mut check: Check, filled: u64, latency_ns: u64) -> Vec<Phase> {
        let facts = check.setup.facts.clone();
        let environment = Environment::default();
        let series = MemorySeries { errors: Vec::<ErrorRecord>::new(), ..MemorySeries::default() };
        let mut histogram = LatencyHistogram::default();
        histogram.record(latency_ns);
        let totals = [Operation::Read, Operation::Write].map(|operation| {
            let bytes = if operation == Operation::Write { filled } else { 0 };
            OperationTotals {
                operation,
                operations: 1,
                bytes,
                errors: 0,
                histogram: histogram.clone(),
                stretch: None,
            }
        });
        let mut done: Vec<PhaseSummary> = Vec::new();
        let mut phases = Vec::new();
        loop {
            let view = RunView { target: &facts, environment: &environment, phases: &done, series: &series };
            let Some(phase) = check.next(&view) else { return phases };
            let totals = totals.to_vec();
            done.push(PhaseSummary { duration_ns: 1, totals, ..PhaseSummary::begun(phase.clone(), 0) });
            phases.push(phase);
        }
    }

    #[test]
    fn a_drive_that_may_only_be_read_is_only_read() {
        let phases = all(Check::new(setup(1 << 40, false, false)).unwrap(), 0, 8_000_000);
        let writes = |phase: &Phase| phase.workload.as_ref().is_some_and(|w| w.mix.changes_data());
        assert!(!phases.iter().any(writes));
        // A warm-up, a calibration that shows no rate in two areas, two sequential rounds and three random ones.
        assert_eq!(phases.len(), 1 + 2 + 2 * (24 + 6) + 3 * 7);
    }

    #[test]
    fn an_edge_is_visited_again_only_after_many_other_places() {
        let phases = all(Check::new(setup(1 << 40, false, false)).unwrap(), 0, 8_000_000);
        for edge in ["the start", "the end"] {
            let visits = phases.iter().enumerate().filter(|(_, phase)| phase.name.contains(edge));
            let numbers: Vec<usize> = visits.map(|(number, _)| number).collect();
            assert_eq!(numbers.len(), 6);
            assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{edge}: {numbers:?}");
        }
    }

    #[test]
    fn flash_gets_more_and_shorter_rounds() {
        let random = |latency_ns| {
            let phases = all(Check::new(setup(1 << 40, false, false)).unwrap(), 0, latency_ns);
            let is_random = |phase: &&Phase| phase.name.contains("QD ");
            let seconds: f64 = phases.iter().filter(is_random).map(|p| p.stop.time.unwrap().seconds()).sum();
            (phases.iter().filter(is_random).count(), seconds)
        };
        let ((flash, flash_s), (disk, disk_s)) = (random(80_000), random(8_000_000));
        assert_eq!((flash, disk), (6 * 7, 3 * 7));
        assert!(flash_s < disk_s && disk_s < 30.0, "{flash_s} {disk_s}");
    }

    #[test]
    fn no_more_is_written_than_was_said() {
        for (rotational, latency_ns) in
            [(true, 50_000), (false, 8_000_000), (true, 8_000_000), (false, 50_000)]
        {
            let mut setup = setup(4 << 30, true, true);
            setup.facts.rotational = Some(rotational);
            let check = Check::new(setup).unwrap();
            let said = check.remaining().writes().expect("writes are bounded by bytes");
            let phases = all(check, 4 << 30, latency_ns);
            let writes = phases.iter().filter(|p| p.workload.as_ref().is_some_and(|w| w.mix.changes_data()));
            let planned: u64 =
                writes.map(|p| p.stop.bytes_max(p.workload.as_ref().unwrap()).unwrap().get()).sum();
            assert!(planned <= said.get(), "{rotational} {latency_ns}: {planned} of {}", said.get());
        }
    }

    #[test]
    fn the_usual_check_takes_about_a_minute() {
        for (may_write, empty, seconds) in
            [(false, false, 20..60), (true, true, 30..100), (true, false, 40..100)]
        {
            let time = Check::new(setup(4 << 30, may_write, empty)).unwrap().remaining().time().seconds();
            assert!(seconds.contains(&(time as u64)), "{may_write} {empty}: {time} s");
        }
    }

    #[test]
    fn a_time_limit_shortens_all_steps() {
        let mut short = setup(4 << 30, true, true);
        short.time_limit = Some(Nanos::from_secs(10));
        let time = Check::new(short).unwrap().remaining().time().seconds();
        assert!((4.0..=10.0).contains(&time), "{time}");
    }

    #[test]
    fn a_drive_that_holds_everything_up_ends_the_check_in_time() {
        let mut check = Check::new(setup(1 << 40, false, false)).unwrap();
        let facts = check.setup.facts.clone();
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let first =
            check.next(&RunView { target: &facts, environment: &environment, phases: &[], series: &series });
        let stalled = PhaseSummary { duration_ns: 111_000_000_000, ..PhaseSummary::begun(first.unwrap(), 0) };
        let done = [stalled];
        let view = RunView { target: &facts, environment: &environment, phases: &done, series: &series };
        assert_eq!(check.next(&view), None);
    }

    #[test]
    fn only_what_was_filled_is_measured() {
        let filled = 100 << 20;
        for phase in &all(Check::new(setup(1 << 30, true, true)).unwrap(), filled, 1)[2..] {
            let workload = phase.workload.as_ref().expect("all later phases do something");
            assert!(workload.range.end().get() <= filled - (4 << 20), "{}", phase.name);
        }
    }

    #[test]
    fn every_stratum_is_visited_once_in_a_round() {
        let capacity = 1u64 << 40;
        let phases = all(Check::new(setup(capacity, false, false)).unwrap(), 0, 1);
        let round: Vec<u64> = phases
            .iter()
            .filter(|phase| phase.name.contains("area") && phase.name.ends_with("round 1"))
            .map(|phase| phase.workload.as_ref().unwrap().range.first().get())
            .collect();
        let mut strata: Vec<u64> =
            round.iter().map(|first| (u128::from(*first) * 24 / u128::from(capacity)) as u64).collect();
        assert_ne!(strata, (0..24).collect::<Vec<_>>(), "the order is random");
        strata.sort_unstable();
        assert_eq!(strata, (0..24).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn every_phase_fits_its_target(
            capacity in 64u64 << 10..1 << 45, may_write in any::<bool>(), empty in any::<bool>(), seed in any::<u64>(),
            sector in prop_oneof![Just(512u64), Just(4096)],
        ) {
            let capacity = capacity / sector * sector;
            let mut setup = setup(capacity, may_write || empty, empty);
            setup.facts.logical_block = Bytes::new(sector);
            setup.seed = seed;
            let Ok(check) = Check::new(setup) else { return Ok(()) };
            for phase in all(check, capacity / 2, 1) {
                prop_assert!(phase.stop.is_bounded(), "{}", phase.name);
                if let Some(workload) = &phase.workload {
                    let fits = workload.validate(Bytes::new(capacity), Bytes::new(sector));
                    prop_assert!(fits.is_ok(), "{}: {fits:?}", phase.name);
                }
            }
        }
    }
}
