//! `surface --adaptive`: short visits to random places, as many as it takes.
//!
//! A disk's surfaces differ by some percent and follow each other in stripes of 80 to 200 MB, so a single visit says little of its place; the
//! mean of many says how fast that part of the drive is. The range is cut into equal strata. A round visits each of them once, and each edge
//! some times, at random places and in random order, so that neither stripes nor drift look like places. After each round the map decides what
//! the next one adds: what looked slow is visited again, and once rates are known, visits go where borders of zones are least certain
//! (fixed-confidence search for change points: samples belong next to the changes).

use super::visit::{FILLS_MIN, Visitor};
use crate::error::PlanError;
use crate::precision::is_narrow;
use crate::preparation::{self, Filling, WARM_UP, filled, is_mechanical, random_block, reads_only};
use crate::rate_limit::{Rest, deciding};
use crate::setup::check_room;
use crate::streaming::StreamSearch;
use crate::{Experiment, Remaining, Setup, Step};
use analysis::limit::limits;
use analysis::streaming::{Calibration, ONE_DISK_RATE_MAX, USUAL};
use analysis::surface::{SlowPlace, SurfaceMap};
use model::experiment_name::ExperimentName;
use model::finding::StreamSetting;
use model::plan::Phase;
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Nanos, Offset};
use model::workload::OperationMix;
use std::collections::VecDeque;

const PLACES_STREAM: u64 = u64::MAX;
/// The time of a full pass is known to this share unless another precision is asked for.
const PRECISION: f64 = 0.01;
/// How exactly a border of zones is looked for, as a share of the range.
const BORDER_PRECISION: f64 = 0.005;
/// A step of the rate between zones that is missed one time in ten, so that one of 2 % hardly ever is; and the share of the
/// range that a zone has: one of 40, as disks have 15 to 60.
const STEP: f64 = 0.015;
const ZONE_SHARE: f64 = 0.025;
/// Reads take no longer than this unless it is asked for, and neither do writes: the drive is known in a minute.
const TIME_MAX: Nanos = Nanos::from_secs(59);
/// Nor do they read more than so many times all of it: what visits to the same places again do not agree on is no matter of
/// places. A small file is visited thousands of times in a minute otherwise.
const PASSES_MAX: u64 = 4;
/// Strata, and visits to each edge in a round.
const STRATA: u64 = 48;
const EDGE_VISITS: u64 = 12;
/// Edges are visited in all rounds until each is known to this share of the precision: √2 · 0.5 of it for their ratio.
const EDGE_PRECISION_SHARE: f64 = 0.5;
const EDGE_PARTS: u64 = 100;
/// Rounds before anything is concluded: four visits to a stratum tell how it scatters.
const ROUNDS_MIN: u32 = 4;
/// And after that without hope: a drive whose rate wanders all the time is not better known by going on.
const ROUNDS_MAX: u32 = 2000;
/// In rounds that look for borders: visits all over the range, and at the borders.
const SPREAD_VISITS: u64 = 24;
const BORDER_VISITS: usize = 40;
/// Visits to the same place in a round that checks it, and how many places a round checks.
const AGAIN_VISITS: usize = 2;
const AGAIN_PLACES_MAX: usize = 12;
/// Slow places whose ends are looked for. A drive with more of them is unsound wherever they end.
const SLOW_PLACES_MAX: usize = 8;
/// An end is known well enough when it is known to this share of what is slow.
const EXTENT_PRECISION: f64 = 0.1;
/// A visit to a disk: some four tracks. Longer ones cost more time than they tell, since the surface stays the same.
const VISIT_BYTES: Bytes = Bytes::from_mib(8);
/// A visit to a drive without moving parts takes about this long, and no more than so much.
const VISIT_TIME: Nanos = Nanos::from_millis(60);
const VISIT_BYTES_MAX: Bytes = Bytes::from_mib(64);
/// Of each of several disks a visit takes but a part. It lasts longer by this: what each waits for at its start is a hundredth of it.
const ARRAY_VISIT_TIMES: u64 = 3;
const ARRAY_VISIT_BYTES_MAX: Bytes = Bytes::from_mib(512);
/// Probes of an array are made again when visits are to be so many times as long.
const PROBE_AGAIN_TIMES: u64 = 2;
/// A visit that writes: what a drive's own memory takes at once is a small part of it.
const WRITE_VISIT_BYTES: Bytes = Bytes::from_mib(64);
const WRITE_STRATA: u64 = 16;
const WRITE_EDGE_VISITS: u64 = 3;
/// A visit that takes longer is cut short: it is slow, and that is known by then.
const VISIT_TIME_MAX: Nanos = Nanos::from_secs(3);
/// Visits that find out how fast the drive is at all.
const PROBES: u64 = 3;
/// What a visit takes with getting there, before any has been made.
const VISIT_TIME_EXPECTED: Nanos = Nanos::from_millis(75);

/// Visits that are slower by such a factor and differ by this share for so long: surfaces and zones of a disk differ by more.
const SLOWER: f64 = 1.2;
const ALIKE_SHARE: f64 = 0.01;
const ALIKE_S: f64 = 2.5;
/// Of the credit that came back, what visits use before they meet the limit again.
const CREDIT_SHARE: f64 = 0.8;

const RANGE_MIN: Bytes = Bytes::from_mib(1);

#[derive(Clone)]
pub struct Adaptive {
    setup: Setup,
    prng: Prng,
    stage: Stage,
    range: ByteRange,
    mechanical: bool,
    mixes: VecDeque<OperationMix>,
    survey: Survey,
    search: Option<StreamSearch>,
    queue: VecDeque<Phase>,
    now: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fill,
    WarmUp,
    Calibrate,
    Probe,
    Rounds,
    Done,
}

#[derive(Clone, Debug)]
struct Survey {
    visitor: Visitor,
    round: u32,
    ends: Nanos,
    bytes_left: u64,
    /// Bytes per second of the fastest visit and of the last, and for how long they have been slower and alike.
    fastest: f64,
    latest: f64,
    alike_s: f64,
    latest_end_ns: Option<u64>,
    at_limit: AtLimit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtLimit {
    Deciding,
    Resting,
    Done,
}

impl Survey {
    fn new(visitor: Visitor, ends: Nanos, bytes_left: u64) -> Survey {
        Survey {
            visitor,
            round: 0,
            ends,
            bytes_left,
            fastest: 0.0,
            latest: 0.0,
            alike_s: 0.0,
            latest_end_ns: None,
            at_limit: AtLimit::Deciding,
        }
    }

    /// Takes note of a visit; whether visits have become slower and even for long enough that a rate limit would show.
    fn may_be_limited(&mut self, visit: &PhaseSummary) -> bool {
        self.bytes_left = self.bytes_left.saturating_sub(visit.bytes());
        // What the host takes between visits counts as well: credit comes back meanwhile.
        let end_ns = visit.end_ns();
        let since_ns = self.latest_end_ns.replace(end_ns).unwrap_or(visit.start_ns);
        let seconds = end_ns.saturating_sub(since_ns) as f64 / 1e9;
        let rate = visit.bytes() as f64 / seconds.max(1e-9);
        self.fastest = self.fastest.max(rate);
        let is_alike = (rate - self.latest).abs() <= ALIKE_SHARE * rate && rate * SLOWER < self.fastest;
        self.latest = rate;
        self.alike_s = if is_alike { self.alike_s + seconds } else { 0.0 };
        if self.alike_s < ALIKE_S {
            return false;
        }
        self.alike_s = 0.0;
        true
    }
}

impl Adaptive {
    pub fn new(setup: Setup, mixes: Vec<OperationMix>) -> Result<Adaptive, PlanError> {
        let grid = random_block(&setup.facts);
        let range = setup.range.align_inward(grid);
        check_room(ExperimentName::Surface, range.bytes(), RANGE_MIN)?;
        let mechanical = setup.facts.rotational.unwrap_or(false);
        let visitor = Visitor::new(&setup, range, VISIT_BYTES, mechanical, USUAL);
        let mut adaptive = Adaptive {
            prng: Prng::new(setup.seed, PLACES_STREAM),
            stage: Stage::Fill,
            range,
            mechanical,
            mixes: mixes.into(),
            survey: Survey::new(visitor, Nanos::ZERO, 0),
            search: None,
            queue: VecDeque::new(),
            now: Nanos::ZERO,
            setup,
        };
        if adaptive.setup.empty {
            let Filling { time, settle } = Filling::BRIEF;
            let filling = Filling { time: adaptive.shortened(time), settle: adaptive.shortened(settle) };
            adaptive.queue.extend(preparation::fill(ExperimentName::Surface, &adaptive.setup, filling));
        } else {
            adaptive.plan_warm_up();
        }
        Ok(adaptive)
    }

    fn plan_warm_up(&mut self) {
        self.stage = Stage::WarmUp;
        let (grid, time) = (random_block(&self.setup.facts), self.shortened(WARM_UP));
        self.queue.push_back(preparation::warm_up(ExperimentName::Surface, self.range, grid, time));
    }

    /// What comes before the first survey takes its usual share of a time limit that is too short for all.
    fn shortened(&self, time: Nanos) -> Nanos {
        let usual = self.usual_preparation_time() + TIME_MAX * self.mixes.len() as u64;
        let share = match self.setup.time_limit {
            Some(limit) => (limit.as_f64() / usual.as_f64()).min(1.0),
            None => 1.0,
        };
        Nanos::new((time.as_f64() * share) as u64)
    }

    fn usual_preparation_time(&self) -> Nanos {
        let filling =
            if self.setup.empty { Filling::BRIEF.time + Filling::BRIEF.settle } else { Nanos::ZERO };
        filling + WARM_UP
    }

    fn preparation_time(&self) -> Nanos {
        self.shortened(self.usual_preparation_time())
    }

    fn mix(&self) -> OperationMix {
        self.mixes.front().copied().unwrap_or(OperationMix::Read)
    }

    fn precision(&self) -> f64 {
        self.setup.precision.unwrap_or(PRECISION)
    }

    fn begin(&mut self, now: Nanos) {
        let time = self.time_max(now);
        self.survey = Survey::new(self.visitor(VISIT_BYTES, USUAL), now + time, self.bytes_max());
        self.stage = Stage::Calibrate;
        if self.mix() == OperationMix::Read {
            let (name, range, moves) = (ExperimentName::Surface, self.range, self.mechanical);
            self.search = Some(StreamSearch::new(name, &self.setup, range, moves, now, time));
        }
    }

    fn visitor(&self, bytes: Bytes, setting: StreamSetting) -> Visitor {
        Visitor::new(&self.setup, self.range, bytes, self.mechanical, setting)
    }

    /// Writes go to a cache first, and what streams reads best says nothing of them.
    fn setting(&self, so_far: &RunView<'_>) -> StreamSetting {
        if self.mix() == OperationMix::Read { Calibration::of(so_far).best() } else { USUAL }
    }

    fn calibrate(&mut self, so_far: &RunView<'_>) {
        match self.search.as_mut().and_then(|search| search.next(so_far)) {
            Some(phase) => self.queue.push_back(phase),
            None => self.plan_probes(VISIT_BYTES, self.setting(so_far)),
        }
    }

    fn plan_probes(&mut self, bytes: Bytes, setting: StreamSetting) {
        self.stage = Stage::Probe;
        self.search = None;
        self.survey.visitor = self.visitor(bytes, setting);
        for index in 0..PROBES {
            let part = self.range.part(index, PROBES);
            let stretch = self.survey.visitor.place(part, &mut self.prng);
            self.visit(stretch, format!("probe {} of {PROBES}", index + 1));
        }
    }

    /// What reads or writes that begin now may take: of what is left of a time limit, each survey to come gets the same.
    fn time_max(&self, now: Nanos) -> Nanos {
        match self.setup.time_limit {
            None if self.setup.precision.is_some() => TIME_MAX * 10,
            None => TIME_MAX,
            Some(limit) => limit.saturating_sub(now) / self.mixes.len().max(1) as u64,
        }
    }

    fn bytes_max(&self) -> u64 {
        match (self.setup.time_limit, self.setup.precision) {
            (None, None) => self.range.bytes().get().saturating_mul(PASSES_MAX),
            _ => u64::MAX,
        }
    }

    /// How long visits are, by how fast the probes were. Those to an array waited for one arm after the other most of the time: where
    /// visits are to be much longer than they were, longer ones tell how fast it is.
    fn plan_visits(&mut self, so_far: &RunView<'_>) {
        let (time, setting) = (self.visit_time(so_far.elapsed()), self.setting(so_far));
        let bytes = match (self.mix(), self.mechanical) {
            (OperationMix::Write, _) => WRITE_VISIT_BYTES,
            (_, true) => array_visit_bytes(so_far, time * ARRAY_VISIT_TIMES, setting).unwrap_or(VISIT_BYTES),
            (_, false) => visit_bytes_by_rate(so_far, time),
        };
        let smallest_area = Bytes::new(self.range.bytes().get() / (2 * self.strata()).max(2 * EDGE_PARTS));
        let bytes = bytes.min(smallest_area);
        let is_array = self.mechanical && self.mix() == OperationMix::Read;
        if is_array && bytes >= self.survey.visitor.bytes() * PROBE_AGAIN_TIMES {
            return self.plan_probes(bytes, setting);
        }
        self.stage = Stage::Rounds;
        self.survey.visitor = self.visitor(bytes, setting);
        self.plan_round(self.edge_visits(), &[], &[]);
    }

    /// Shorter than usual where a time limit has no room for the first rounds otherwise.
    fn visit_time(&self, now: Nanos) -> Nanos {
        let left = self.survey.ends.saturating_sub(now);
        let visits = u64::from(ROUNDS_MIN) * (STRATA + 2 * EDGE_VISITS);
        let room = left.as_f64() / visits as f64 * (VISIT_TIME.seconds() / VISIT_TIME_EXPECTED.seconds());
        VISIT_TIME.min(Nanos::new(room as u64))
    }

    fn strata(&self) -> u64 {
        let most = if self.mix() == OperationMix::Write { WRITE_STRATA } else { STRATA };
        let room = self.range.bytes().get() / (2 * self.survey.visitor.bytes().get());
        most.min(room).max(1)
    }

    fn visit(&mut self, stretch: ByteRange, purpose: String) {
        let phase = self.survey.visitor.phase(self.mix(), stretch, VISIT_TIME_MAX, &purpose);
        self.queue.push_back(phase);
    }

    /// One round: visits all over the range, so many at each edge, some at uncertain borders, and those to slow places.
    fn plan_round(&mut self, edge_visits: u64, borders: &[ByteRange], again: &[ByteRange]) {
        self.survey.round += 1;
        let strata = if borders.is_empty() { self.strata() } else { self.strata().min(SPREAD_VISITS) };
        let visitor = self.survey.visitor.clone();
        let mut stretches = Vec::new();
        for index in 0..strata {
            stretches.push(visitor.place(self.range.part(index, strata), &mut self.prng));
        }
        stretches.extend(self.edge_places(edge_visits));
        if !borders.is_empty() {
            for visit in 0..BORDER_VISITS {
                stretches.push(visitor.place(borders[visit % borders.len()], &mut self.prng));
            }
        }
        stretches.extend_from_slice(again);
        self.visit_all(stretches);
    }

    fn visit_all(&mut self, mut stretches: Vec<ByteRange>) {
        self.prng.shuffle(&mut stretches);
        let count = stretches.len();
        for (index, stretch) in stretches.into_iter().enumerate() {
            self.visit(stretch, format!("round {}, offset {} of {count}", self.survey.round, index + 1));
        }
    }

    fn edge_places(&mut self, visits: u64) -> Vec<ByteRange> {
        let visitor = self.survey.visitor.clone();
        let bytes = Bytes::new(self.range.bytes().get() / EDGE_PARTS).max(visitor.bytes());
        let starts = [self.range.first(), Offset::new(self.range.end().get() - bytes.get())];
        let mut places = Vec::new();
        for start in starts {
            let edge = ByteRange::new(start, Bytes::new(bytes.get() - visitor.bytes().get() + 1));
            let edge = edge.expect("an edge is no shorter than a visit");
            let visits = visits.min(edge.bytes().get());
            for part in 0..visits {
                places.push(visitor.place(edge.part(part, visits), &mut self.prng));
            }
        }
        places
    }

    fn after_round(&mut self, so_far: &RunView<'_>) {
        let asks = self.survey.round >= ROUNDS_MIN || self.survey.at_limit != AtLimit::Deciding;
        if asks && !limits(so_far).is_empty() {
            // More samples would show the limit, not the drive.
            return self.decide_limit(so_far);
        }
        if self.survey.round < ROUNDS_MIN {
            return self.plan_round(self.edge_visits(), &[], &[]);
        }
        let Ok(map) = SurfaceMap::of(so_far, operation_of(self.mix())) else {
            self.survey.round = ROUNDS_MAX;
            return;
        };
        let mut again = Vec::new();
        let late = map.late_once();
        let late_apart = late.iter().step_by(late.len() / AGAIN_PLACES_MAX + 1);
        for place in map.suspects().iter().chain(late_apart).take(AGAIN_PLACES_MAX) {
            again.extend([*place; AGAIN_VISITS]);
        }
        again.extend(self.ends_of_slow_places(&map));
        if !self.is_known(&map) {
            return self.plan_round(self.edge_visits(), &[], &again);
        }
        let borders = if self.mechanical { map.uncertain_borders(BORDER_PRECISION) } else { Vec::new() };
        let may_miss_a_zone = self.mechanical && map.step_found(ZONE_SHARE) > STEP;
        if again.is_empty() && borders.is_empty() && !may_miss_a_zone {
            self.survey.round = ROUNDS_MAX;
        } else {
            let are_edges_known = !self.mechanical || self.are_edges_known(&map, EDGE_PRECISION_SHARE);
            let edge_visits = if are_edges_known { 0 } else { self.edge_visits() };
            self.plan_round(edge_visits, &borders, &again);
        }
    }

    /// Ends the survey, after what tells how the limit counts, and after a rest and visits to the edges at the drive's own speed.
    fn decide_limit(&mut self, so_far: &RunView<'_>) {
        match self.survey.at_limit {
            AtLimit::Deciding | AtLimit::Resting => {
                let phase = deciding(ExperimentName::Surface, so_far, self.range);
                if phase.is_none() && self.survey.at_limit == AtLimit::Resting {
                    self.survey.at_limit = AtLimit::Done;
                    return self.rest(so_far);
                }
                self.survey.at_limit = AtLimit::Resting;
                self.queue.extend(phase);
            }
            AtLimit::Done => self.survey.round = ROUNDS_MAX,
        }
    }

    /// Reads only: what a survey writes was announced, and rounds have written it.
    fn rest(&mut self, so_far: &RunView<'_>) {
        if self.mix() != OperationMix::Read {
            return;
        }
        let left = self.survey.ends.saturating_sub(so_far.elapsed());
        let Some(rest) = Rest::of(so_far, left / 2) else { return };
        let block = self.setting(so_far).block_bytes;
        let credit = (CREDIT_SHARE * rest.bytes(block).as_f64()) as u64;
        let each = Bytes::new(credit / (2 * EDGE_VISITS)).min(self.survey.visitor.bytes());
        let visitor = self.visitor(each, self.setting(so_far));
        if visitor.bytes() > each {
            return;
        }
        self.survey.visitor = visitor;
        self.survey.round += 1;
        self.queue.push_back(rest.phase(ExperimentName::Surface));
        let edges = self.edge_places(EDGE_VISITS);
        self.visit_all(edges);
    }

    /// In the middle of each gap between what is slow and the next place that is not: halving finds where it ends.
    fn ends_of_slow_places(&self, map: &SurfaceMap) -> Vec<ByteRange> {
        let mut visits = Vec::new();
        for place in map.slow_places.iter().take(SLOW_PLACES_MAX) {
            let end = place.first_byte + place.bytes;
            let gaps = [(place.within_first_byte, place.first_byte), (end, place.within_end_byte)];
            for (from, to) in gaps {
                if let Some(middle) = self.middle(place, from, to) {
                    visits.extend([middle; AGAIN_VISITS + 1]);
                }
            }
        }
        visits
    }

    /// None where the gap is known well enough.
    fn middle(&self, place: &SlowPlace, from: u64, to: u64) -> Option<ByteRange> {
        let visitor = &self.survey.visitor;
        let enough = (place.bytes as f64 * EXTENT_PRECISION).max(2.0 * visitor.bytes().as_f64());
        let gap = to.saturating_sub(from);
        if gap as f64 <= enough {
            return None;
        }
        Some(visitor.aligned(Offset::new(from + gap.saturating_sub(visitor.bytes().get()) / 2)))
    }

    fn edge_visits(&self) -> u64 {
        if self.mix() == OperationMix::Write { WRITE_EDGE_VISITS } else { EDGE_VISITS }
    }

    fn is_known(&self, map: &SurfaceMap) -> bool {
        is_narrow(map.pass_time(), self.precision()) && self.are_edges_known(map, 1.0)
    }

    /// Whether they are to that share of the precision. A range so small that a visit is longer than its edges has none.
    fn are_edges_known(&self, map: &SurfaceMap, share: f64) -> bool {
        let has_edges = self.survey.visitor.bytes().get() <= self.range.bytes().get() / EDGE_PARTS;
        let precision = share * self.precision();
        let is_edge_known =
            |is_start| is_narrow(map.edge(is_start).map(|edge| edge.seconds_per_byte), precision);
        !has_edges || is_edge_known(true) && is_edge_known(false)
    }

    fn next_survey(&mut self, now: Nanos) {
        self.queue.clear();
        self.mixes.pop_front();
        if self.mixes.is_empty() {
            self.stage = Stage::Done;
        } else {
            self.begin(now);
        }
    }

    fn plan(&mut self, so_far: &RunView<'_>, now: Nanos) -> Option<()> {
        while self.queue.is_empty() && self.stage != Stage::Done {
            match self.stage {
                Stage::Fill => {
                    self.range = filled(self.range, so_far)?;
                    self.plan_warm_up();
                }
                Stage::WarmUp => {
                    if let Some(warm_up) = so_far.phases.last() {
                        self.mechanical = is_mechanical(warm_up);
                    }
                    self.begin(now);
                }
                Stage::Calibrate => self.calibrate(so_far),
                Stage::Probe => self.plan_visits(so_far),
                Stage::Rounds if self.survey.round >= ROUNDS_MAX => self.next_survey(now),
                Stage::Rounds => self.after_round(so_far),
                Stage::Done => {}
            }
        }
        Some(())
    }

    /// Whether the survey has used up what it may; not before the first rounds are over, unless a limit was asked for.
    fn is_used_up(&self, now: Nanos) -> bool {
        let in_survey = matches!(self.stage, Stage::Probe | Stage::Rounds);
        let first_rounds =
            self.survey.round < ROUNDS_MIN || (self.survey.round == ROUNDS_MIN && !self.queue.is_empty());
        // Another visit would go past what may be moved.
        let is_full = self.survey.bytes_left < self.survey.visitor.bytes().get();
        in_survey && (now >= self.survey.ends || (is_full && !first_rounds))
    }
}

impl Experiment for Adaptive {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let now = so_far.elapsed();
        self.now = now;
        let may_be_limited = match (self.stage, so_far.phases.last()) {
            (Stage::Probe | Stage::Rounds, Some(last)) => self.survey.may_be_limited(last),
            _ => false,
        };
        if self.is_used_up(now) {
            self.next_survey(now);
        } else if may_be_limited && self.survey.at_limit != AtLimit::Done && !limits(so_far).is_empty() {
            self.queue.clear();
            self.decide_limit(so_far);
        }
        self.plan(so_far, now)?;
        self.queue.pop_front()
    }

    /// When each read of a sample completed tells whether others used a disk meanwhile.
    fn needs_trace(&self, phase: &Phase) -> bool {
        self.mechanical && reads_only(phase)
    }

    fn remaining(&self) -> Remaining {
        let mut ahead = self.clone();
        if ahead.stage == Stage::Fill {
            ahead.plan_warm_up();
        }
        let mut phases: Vec<Phase> = ahead.queue.into();
        for phase in &mut phases {
            let is_visit = phase.stop.time == Some(VISIT_TIME_MAX);
            phase.stop.time = if is_visit { Some(VISIT_TIME_EXPECTED) } else { phase.stop.time };
        }
        let mut remaining = Remaining::of(&phases);
        remaining.steps.extend(self.rounds_ahead());
        remaining
    }
}

impl Adaptive {
    /// The rounds that are not planned yet: those that are sure to come are likely all, and the survey's limits are the most.
    fn rounds_ahead(&self) -> Vec<Step> {
        if self.stage == Stage::Done {
            return Vec::new();
        }
        let under_way = matches!(self.stage, Stage::Calibrate | Stage::Probe | Stage::Rounds);
        let mut steps = Vec::new();
        for (index, &mix) in self.mixes.iter().enumerate() {
            let done = if under_way && index == 0 { self.survey.round } else { 0 };
            let writes = mix == OperationMix::Write;
            let (strata, edges, bytes) = match writes {
                true => (WRITE_STRATA, WRITE_EDGE_VISITS, WRITE_VISIT_BYTES),
                false => (STRATA, EDGE_VISITS, self.survey.visitor.bytes()),
            };
            let visits = u64::from(ROUNDS_MIN.saturating_sub(done)) * (strata + 2 * edges);
            // On a disk there is always a border of zones to look for.
            let looks_for_borders = self.mechanical && !writes;
            if visits == 0 && !looks_for_borders {
                continue;
            }
            let time = match under_way && index == 0 {
                true => self.survey.ends.saturating_sub(self.now),
                false => self.time_max(self.preparation_time()),
            };
            // The visit that reaches a limit is finished.
            let most = self.bytes_max().max(visits * bytes.get()).checked_add(bytes.get());
            let (none, moved) = (Some(Bytes::ZERO), most.map(Bytes::new));
            let (reads, writes) = if writes { (none, moved) } else { (moved, none) };
            let planned = VISIT_TIME_EXPECTED * self.queue.len() as u64;
            let likely = match looks_for_borders {
                true => time.saturating_sub(planned),
                false => (VISIT_TIME_EXPECTED * visits).min(time),
            };
            let what = format!("{} samples of {bytes} at random offsets", preparation::verb(mix));
            steps.push(Step { what, phases: visits as u32, time, likely, slow: likely, reads, writes });
        }
        steps
    }
}

fn operation_of(mix: OperationMix) -> Operation {
    if mix == OperationMix::Write { Operation::Write } else { Operation::Read }
}

fn visit_bytes_by_rate(so_far: &RunView<'_>, time: Nanos) -> Bytes {
    let [_, slowest] = probes_s_per_byte(so_far);
    // All of a probe that shows no rate was answered together.
    let bytes = if slowest > 0.0 { time.seconds() / slowest } else { VISIT_BYTES_MAX.as_f64() };
    Bytes::new(bytes as u64).max(VISIT_BYTES).min(VISIT_BYTES_MAX)
}

/// None where nothing tells of several disks: no probe was faster than a single one, and samples gain nothing by their length.
fn array_visit_bytes(so_far: &RunView<'_>, time: Nanos, setting: StreamSetting) -> Option<Bytes> {
    let [quickest, slowest] = probes_s_per_byte(so_far);
    let is_array = quickest < 1.0 / ONE_DISK_RATE_MAX || Calibration::of(so_far).is_of_array();
    if slowest <= 0.0 || !is_array {
        return None;
    }
    let fill = setting.block_bytes * u64::from(setting.queue_depth);
    let bytes = Bytes::new((time.seconds() / slowest) as u64).min(ARRAY_VISIT_BYTES_MAX);
    Some(bytes.round_down_to(fill).max(fill * FILLS_MIN))
}

/// Of the quickest probe and of the slowest; 0 where none shows a rate.
fn probes_s_per_byte(so_far: &RunView<'_>) -> [f64; 2] {
    let probes = so_far.phases.iter().rev().take(PROBES as usize);
    let mut found: Option<[f64; 2]> = None;
    for totals in probes.flat_map(|probe| &probe.totals) {
        if let Some(seconds) = totals.seconds_per_byte() {
            let [quickest, slowest] = found.unwrap_or([seconds; 2]);
            found = Some([quickest.min(seconds), slowest.max(seconds)]);
        }
    }
    found.unwrap_or_default()
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
