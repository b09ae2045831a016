//! `geometry`: how a hard disk turns and seeks, and where its tracks lie, from the moments at which single reads end.
//!
//! Stages, each planned from what the ones before it have shown:
//! 1. *Rounds*: places all over the drive twice each, at random, and again if a cache answered: the time of a turn, the angle of each place.
//! 2. *Strata*: probes of a track in every part of the drive, closer if none fits: how dense cylinders lie over its bytes.
//! 3. *Ways*: the same places as in the rounds on ways on which each next one passes just when the arm should get there: seeks.
//! 4. *Places*: a few places whose tracks become known sector by sector, and pairs of sectors there: what a command costs alone,
//!    and a seek to the next track.
//! 5. *Tracks*: probes of tracks until the time is over: zones, surfaces, skew.
//! 6. *Ends of cylinders*: on disks that switch heads from track to track, places and pairs once more where the skew is another one, before the
//!    time is over: a seek to the next cylinder.
//!
//! Where a cache answers reads of the strata, since the drive reads from where it arrives on a track, probes go up from there on.
//!
//! Sectors of an array may look like tracks: behind the rounds, reads at a higher QD show how many actuators answer, and several end it.
//! Where completion times scatter too much, both ends of a track are looked for by halving, in batches: one way first, others behind the pairs.

mod anchors;
mod probes;
mod route;

use super::preparation::{self, random_block};
use super::stripe::Stripe;
use super::{Experiment, Remaining, Setup, Step};
use crate::error::PlanError;
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use analysis::geometry::{
    Density, Layout, NearMaps, NearSeeks, Reading, Rotation, SeekCurve, TrackCount, TrackEnds, counts_of,
    hops_of, is_answered_by_cache, locates_sectors, near_maps, other_borders, probe_count, readings_of,
    scatters, served_by_actuator, track_ends,
};
use analysis::stripe::has_several_arms;
use clap::{Arg, Args};
use model::experiment_name::ExperimentName;
use model::finding::NoGeometry;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use route::Router;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const RANGE_MIN: Bytes = Bytes::from_mib(1);
const PLACES_STREAM: u64 = u64::MAX - 2;
/// What a read takes at most on average, and a drive that has to wake up before: a phase that takes longer is given up.
const READ_TIME_MAX: Nanos = Nanos::from_millis(100);
const WAKE_UP_MAX: Nanos = Nanos::from_secs(30);
const READ_TIME_EXPECTED: Nanos = Nanos::from_millis(13);
pub(crate) const TIME: Nanos = Nanos::from_secs(54);
/// The same where completion times scatter: a track takes a third of a second. Seeks are known half way, and 150 tracks at the end.
const TIME_OF_ENDS: Nanos = Nanos::from_secs(110);
/// What rounds and strata took in vain where smaller blocks show tracks.
const TIME_ANEW: Nanos = Nanos::from_secs(12);
const STRATA: u64 = 48;
/// Caches of large disks hold some hundred reads with what was read ahead; a disk that sorts its queue makes some 200 reads a second.
const DISPLACING_READS: u64 = 2000;
const DISPLACING_DEPTH: u32 = 32;
const DISPLACING_TIME: Nanos = Nanos::from_secs(10);
/// The share of these probes that must tell a track. The detectors ask for half of all, and of 48 no disk has so few by chance.
const TRACKS_SHARE_MIN: f64 = 0.25;
/// Tracks whose numbers of sectors are all multiples of eight by chance once in 8⁸ = 17 million times.
const TRACKS_MIN: usize = 8;
/// The 800 hops tell the mean seek to 1 % and the longest to 3 %, which is what data sheets are compared by.
const WAYS: u32 = 3;
const WAY_READS: usize = 300;
/// Places that become known sector by sector, spread over the drive. Pairs at more of them are no more in all.
const PLACES: u64 = 12;
/// The same where a cache answers what lies near: with three tracks of each in between, no cache holds any when its pairs are read.
const PLACES_UPWARDS: u64 = 96;
/// More reads near each end of a track there, to know it closer.
const CLOSER_READS: u32 = 5;
/// Where cylinders end is looked at when this much time is left: 800 reads of the slowest disks.
const TIME_OF_CYLINDER_ENDS: Nanos = Nanos::from_secs(10);
/// A place begins that many tracks above a border that it is to hold between two whole tracks.
const ABOVE_BORDER: f64 = 1.35;
const BATCH: u64 = 20;
/// The same where the ends of tracks are looked for: two reads a round leave one of 5000 sectors after 8 rounds, the last ones confirm.
const BATCH_OF_ENDS: u64 = 48;
/// What each of them takes, in turns: 17 reads in detail and some 40 at its ends.
const TURNS_OF_ENDS: f64 = 52.0;
/// With fewer of them open no round is made: a drive with 32 cache segments still holds what the last one read.
const OPEN_MIN: usize = 12;
const ROUNDS_OF_ENDS: u32 = 16;
const PAIRS_OF_ENDS: usize = 2;

/// What `geometry` is asked for. It only reads, so that its help has no options for writing.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[allow(clippy::duplicated_attributes, reason = "each option is hidden by its own attribute")]
#[command(
    mut_arg("write", hidden),
    mut_arg("destroy_data", hidden),
    mut_arg("confirm", hidden),
    mut_arg("preserve", hidden),
    mut_arg("journal", hidden),
    mut_arg("journal_anyway", hidden)
)]
#[serde(default)]
pub struct GeometryRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,
}

fn hidden(option: Arg) -> Arg {
    option.hide(true)
}

impl DriveRequest for GeometryRequest {
    has_drive_options!(ExperimentName::Geometry);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        if self.drive.writing.write {
            return Err(PlanError::OnlyReads(ExperimentName::Geometry));
        }
        Ok(Box::new(Geometry::new(setup)?))
    }
}

pub struct Geometry {
    block: Bytes,
    logical_block: Bytes,
    range: ByteRange,
    times: Times,
    /// Of that time, at the end of the phase under way.
    spent: Nanos,
    prng: Prng,
    queue: VecDeque<Phase>,
    stage: Stage,
    readings: Vec<Reading>,
    rotation: Option<Rotation>,
    /// Of `readings`, how many have been searched for probes, and what they held.
    searched: usize,
    counts: Vec<TrackCount>,
    /// Whether completion times scatter too much for probes, and the first of `readings` of the places whose ends are looked for.
    scatters: bool,
    /// Asks whether one drive answers or several; none where an earlier part of the run has asked it.
    stripe: Option<Stripe>,
    knows_drives: bool,
    /// Whether probes go up, since a drive that reads on arrival answers what lies below from its cache.
    upwards: bool,
    batch_from: usize,
    at_cylinder_ends: bool,
    ways: u32,
}

/// When to end, since the run began: usually, and where ends of tracks have to be looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub usual: Nanos,
    pub of_ends: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    WarmUp,
    Rounds,
    Displaced,
    Strata,
    Lengths,
    ShortStrata,
    Ways(u32),
    Places,
    Closer,
    EndsOfPlaces(u32),
    Pairs,
    ClosePairs,
    Tracks,
    EndsOfTracks(u32),
    Done,
}

impl Geometry {
    pub fn new(setup: Setup) -> Result<Geometry, PlanError> {
        let block = random_block(&setup.facts);
        let limit = setup.time_limit;
        let times = Times { usual: limit.unwrap_or(TIME), of_ends: limit.unwrap_or(TIME_OF_ENDS) };
        let stripe = Stripe::new(&setup, ExperimentName::Geometry);
        let mut geometry = Geometry { stripe, ..Geometry::of_woken(setup, times)? };
        let (range, block) = (geometry.range, block.max(geometry.block));
        let warm_up = preparation::warm_up(ExperimentName::Geometry, range, block, preparation::WARM_UP);
        geometry.queue.push_back(warm_up);
        Ok(geometry)
    }

    pub(crate) fn of_woken(setup: Setup, times: Times) -> Result<Geometry, PlanError> {
        if setup.empty {
            return Err(PlanError::ScratchHasNoPlace);
        }
        let block = setup.facts.physical_block.max(setup.facts.logical_block);
        let range = setup.range.align_inward(block);
        check_room(ExperimentName::Geometry, range.bytes(), RANGE_MIN)?;
        Ok(Geometry {
            block,
            logical_block: setup.facts.logical_block,
            range,
            times,
            spent: Nanos::ZERO,
            prng: Prng::new(setup.seed, PLACES_STREAM),
            queue: VecDeque::new(),
            stage: Stage::WarmUp,
            readings: Vec::new(),
            rotation: None,
            searched: 0,
            counts: Vec::new(),
            scatters: false,
            stripe: None,
            knows_drives: false,
            upwards: false,
            batch_from: 0,
            at_cylinder_ends: false,
            ways: 0,
        })
    }

    fn reads(&self, what: &str, places: &[u64]) -> Phase {
        let offsets = places.iter().copied().map(Offset::new).collect();
        let pattern = Pattern::Listed { offsets };
        let workload = Workload::new(self.range, pattern, OperationMix::Read, self.block, 1);
        let count = places.len() as u64;
        let stop = StopCondition::after(READ_TIME_MAX * count + WAKE_UP_MAX).or_operations(count);
        preparation::measure(ExperimentName::Geometry, what.into(), workload, stop)
    }

    fn plan(&mut self) {
        if self.stage == Stage::WarmUp {
            self.stage = self.plan_rounds();
            return;
        }
        // The places that are read again on ways make the time of a turn more exact; what comes later adds nothing to it.
        if self.rotation.is_none() || matches!(self.stage, Stage::Ways(_)) {
            match Rotation::of(&self.readings) {
                Ok(rotation) => self.rotation = Some(rotation),
                Err(NoGeometry::TooFewRepeatedReads) if self.stage == Stage::Rounds => {
                    self.stage = self.plan_displaced();
                    return;
                }
                Err(_) => self.rotation = None,
            }
        }
        let Some(rotation) = self.rotation.clone() else {
            self.stage = Stage::Done;
            return;
        };
        if !self.scatters {
            self.counts.extend(counts_of(&self.readings[self.searched..], &rotation, self.block.get()));
        }
        self.searched = self.readings.len();
        self.stage = match self.stage {
            Stage::Rounds | Stage::Displaced => self.plan_strata(&rotation),
            Stage::Strata => self.plan_after_strata(&rotation),
            Stage::Lengths if self.follows_tracks(&self.counts, &rotation) => {
                self.plan_probes("a track in each part of the drive, upwards", STRATA, Stage::Strata)
            }
            Stage::Lengths => self.plan_anew(&rotation),
            Stage::ShortStrata if self.follows_tracks(&self.counts, &rotation) => self.plan_way(&rotation, 1),
            Stage::ShortStrata => Stage::Done,
            Stage::Ways(1) if self.scatters => self.plan_places(BATCH_OF_ENDS, Stage::Places),
            Stage::Ways(_) if self.scatters => self.plan_more_ends(&rotation),
            Stage::Ways(done) if done < WAYS => self.plan_way(&rotation, done + 1),
            Stage::Ways(_) => {
                self.scatters = scatters(&self.counts, &rotation);
                let places = if self.scatters { BATCH_OF_ENDS } else { self.places() };
                self.plan_places(places, Stage::Places)
            }
            Stage::Places if self.scatters => self.plan_ends(&rotation, 1, Stage::EndsOfPlaces),
            Stage::EndsOfPlaces(done) if done <= ROUNDS_OF_ENDS => {
                self.plan_ends(&rotation, done + 1, Stage::EndsOfPlaces)
            }
            Stage::Places => self.plan_closer(&rotation),
            Stage::Closer | Stage::EndsOfPlaces(_) => self.plan_pairs(&rotation),
            Stage::Pairs => self.plan_close_pairs(&rotation),
            Stage::Tracks if self.scatters => self.plan_ends(&rotation, 1, Stage::EndsOfTracks),
            Stage::EndsOfTracks(done) if done <= ROUNDS_OF_ENDS => {
                self.plan_ends(&rotation, done + 1, Stage::EndsOfTracks)
            }
            Stage::ClosePairs | Stage::EndsOfTracks(_) if self.scatters => self.plan_more_ends(&rotation),
            Stage::Tracks if self.wants_cylinder_ends(&rotation) => self.plan_cylinder_ends(&rotation),
            Stage::ClosePairs | Stage::Tracks | Stage::EndsOfTracks(_) => {
                self.plan_probes("tracks at random offsets", BATCH, Stage::Tracks)
            }
            Stage::WarmUp | Stage::Done => Stage::Done,
        };
    }

    fn plan_after_strata(&mut self, rotation: &Rotation) -> Stage {
        self.scatters = scatters(&self.counts, rotation);
        if !self.scatters && !self.upwards && is_answered_by_cache(&self.readings, rotation) {
            self.upwards = true;
            self.counts.clear();
            self.plan_probes("tracks of several lengths, upwards", STRATA, Stage::Lengths)
        } else if self.has_larger_sectors() {
            self.begin_anew(Bytes::new(probes::LARGE_SECTOR))
        } else if self.scatters || self.follows_tracks(&self.counts, rotation) {
            self.plan_way(rotation, 1)
        } else {
            self.plan_anew(rotation)
        }
    }

    /// Whether sectors of 512 bytes are parts of larger ones, as behind many USB bridges: all tracks hold whole ones.
    fn has_larger_sectors(&self) -> bool {
        let mut exact: Vec<u32> = self.counts.iter().filter_map(TrackCount::exact).collect();
        let all = exact.len();
        exact.retain(|sectors| sectors.is_multiple_of(probes::SMALL_IN_LARGE));
        self.block.get() < probes::LARGE_SECTOR && all >= TRACKS_MIN && exact.len() == all
    }

    /// Begins anew without what an SSD answers at the ends of the range, if any.
    fn plan_strata(&mut self, rotation: &Rotation) -> Stage {
        let served = served_by_actuator(self.range, &self.readings, rotation);
        if served != self.range {
            self.range = served;
            return self.begin_anew(self.block);
        }
        self.plan_probes("a track in each part of the drive", STRATA, Stage::Strata)
    }

    /// What rounds and strata took is given once more.
    fn begin_anew(&mut self, block: Bytes) -> Stage {
        self.block = block;
        self.range = self.range.align_inward(block);
        self.times.usual = self.times.of_ends.min(self.times.usual + TIME_ANEW);
        (self.rotation, self.searched, self.upwards) = (None, 0, false);
        self.readings.clear();
        self.counts.clear();
        self.plan_rounds()
    }

    fn plan_rounds(&mut self) -> Stage {
        let anchors = anchors::draw(self.range, self.block.get(), &mut self.prng);
        let order = anchors::rounds(&anchors, 2, &mut self.prng);
        self.queue.push_back(self.reads("offsets over the range, twice each", &order));
        Stage::Rounds
    }

    /// Once more, behind reads that leave nothing of these places in the cache that answered them; a stream would take one segment.
    fn plan_displaced(&mut self) -> Stage {
        let others =
            Workload::new(self.range, Pattern::RandomOnce, OperationMix::Read, self.block, DISPLACING_DEPTH);
        let stop = StopCondition::after(DISPLACING_TIME).or_operations(DISPLACING_READS);
        let name = "reads that displace cached data".into();
        self.queue.push_back(preparation::phase(
            ExperimentName::Geometry,
            name,
            PhaseKind::WarmUp,
            others,
            stop,
        ));
        let mut places: Vec<u64> = self.readings.iter().map(|reading| reading.offset).collect();
        places.sort_unstable();
        places.dedup();
        let order = anchors::rounds(&places, 1, &mut self.prng);
        self.queue.push_back(self.reads("the same offsets once more", &order));
        Stage::Displaced
    }

    fn time(&self) -> Nanos {
        if self.scatters { self.times.of_ends } else { self.times.usual }
    }

    /// Whether addresses follow the tracks of one disk, by the first probes. On a disk nearly all of them tell a number of sectors.
    fn follows_tracks(&self, counts: &[TrackCount], rotation: &Rotation) -> bool {
        let lengths = if self.upwards { probes::LENGTHS_UPWARDS as f64 } else { 1.0 };
        counts.len() as f64 >= TRACKS_SHARE_MIN / lengths * probe_count(&self.readings, rotation) as f64
    }

    /// Begins anew with smaller blocks where these show tracks, and looks for shorter tracks where they do not: a target that claims sectors of
    /// 4096 bytes may have sectors of 512, and its tracks need not hold a whole number of the larger ones.
    fn plan_anew(&mut self, rotation: &Rotation) -> Stage {
        let counts = counts_of(&self.readings, rotation, self.logical_block.get());
        if self.block == self.logical_block || !self.follows_tracks(&counts, rotation) {
            let reads = self.probes(STRATA, |_, _| probes::OF_SHORT_TRACKS.to_vec());
            self.queue.push_back(self.reads("a short track in each part of the drive", &reads));
            return Stage::ShortStrata;
        }
        self.begin_anew(self.logical_block)
    }

    fn plan_probes(&mut self, what: &str, count: u64, stage: Stage) -> Stage {
        let block = self.block.get();
        let reads = if self.upwards {
            self.probes(count, probes::below_upwards)
        } else {
            self.probes(count, |sectors, _| probes::below(sectors, block))
        };
        self.queue.push_back(self.reads(what, &reads));
        stage
    }

    /// Reads at so many places, as far below each as the tracks near it say.
    fn probes(&mut self, count: u64, below: impl Fn(Option<f64>, u64) -> Vec<u64>) -> Vec<u64> {
        let mut reads = Vec::new();
        for (number, place) in (0..).zip(probes::strata(self.range, count, &mut self.prng)) {
            let below = below(probes::sectors_near(&self.counts, place), number);
            reads.extend(self.probe_at(place, &below));
        }
        reads
    }

    fn probe_at(&self, place: u64, below: &[u64]) -> Vec<u64> {
        let mut reads = probes::reads_at(self.range, self.block.get(), place, below);
        if self.upwards {
            reads.reverse();
        }
        reads
    }

    /// A way on which each next sector passes when the arm should get there.
    fn plan_way(&mut self, rotation: &Rotation, number: u32) -> Stage {
        self.ways = number;
        let density = Density::of(self.range.first().get(), self.range.bytes().get(), &self.counts);
        let hops = hops_of(&self.readings, rotation);
        if let Some(curve) = SeekCurve::of(&hops, rotation, &density) {
            let before: Vec<u64> = self.readings.iter().map(|reading| reading.offset).collect();
            let way = Router::new(rotation, &density, &curve).way(WAY_READS, &before, &mut self.prng);
            if !way.is_empty() {
                self.queue.push_back(self.reads("offsets as they pass the head", &way));
            }
        }
        Stage::Ways(number)
    }

    /// Behind the places: further ways and tracks, what is still open first.
    fn plan_more_ends(&mut self, rotation: &Rotation) -> Stage {
        let batch = self.batch_in_time(rotation);
        let layout = Layout::of(&self.counts, rotation);
        let is_surface_open = matches!(layout, Some(Layout { keeps_surface: None, .. }));
        match batch {
            Some(places) if is_surface_open || self.ways == WAYS => self.plan_places(places, Stage::Tracks),
            _ if self.ways < WAYS => self.plan_way(rotation, self.ways + 1),
            _ => Stage::Done,
        }
    }

    /// How many places can be known to their ends in the time that is left: of a batch that is not, nothing is.
    fn batch_in_time(&self, rotation: &Rotation) -> Option<u64> {
        let left = self.time().saturating_sub(self.spent);
        let places = (left.seconds() / (TURNS_OF_ENDS * rotation.turn_s())) as u64;
        (places >= OPEN_MIN as u64).then_some(places.min(BATCH_OF_ENDS))
    }

    fn places(&self) -> u64 {
        if self.upwards { PLACES_UPWARDS } else { PLACES }
    }

    fn plan_places(&mut self, count: u64, stage: Stage) -> Stage {
        self.batch_from = self.readings.len();
        let reads = self.probes(count, |sectors, _| probes::below_close(sectors));
        if reads.is_empty() {
            return if stage == Stage::Tracks { Stage::Done } else { Stage::Pairs };
        }
        self.queue.push_back(self.reads("some tracks in detail", &reads));
        stage
    }

    /// Reads that halve where the tracks of a batch may end; behind the last round, when all are known, what they count.
    fn plan_ends(&mut self, rotation: &Rotation, round: u32, stage: fn(u32) -> Stage) -> Stage {
        let places = track_ends(&self.readings[self.batch_from..], rotation, self.block.get());
        // In turns: reads of one place after the other are probes, and of these no drive shall hold the next.
        let pairs: Vec<Vec<[u64; 2]>> = places.iter().map(TrackEnds::closer_places).collect();
        let mut reads = Vec::new();
        for turn in 0..PAIRS_OF_ENDS {
            for pairs in &pairs {
                reads.extend(pairs.get(turn).into_iter().flatten());
            }
        }
        let open = pairs.iter().filter(|pairs| !pairs.is_empty()).count();
        if open < OPEN_MIN || round > ROUNDS_OF_ENDS {
            self.counts.retain(|count| count.exact().is_some());
            self.counts.extend(places.iter().map(TrackEnds::count));
            return stage(ROUNDS_OF_ENDS + 1);
        }
        self.queue.push_back(self.reads("the ends of these tracks", &reads));
        stage(round)
    }

    fn plan_closer(&mut self, rotation: &Rotation) -> Stage {
        let maps = self.near_maps(rotation);
        let mut reads = Vec::new();
        for map in if self.at_cylinder_ends { &maps.others } else { &maps.usual } {
            let mut places = map.closer_places(CLOSER_READS);
            if self.upwards {
                places.reverse();
            }
            reads.extend(places);
        }
        if !reads.is_empty() {
            self.queue.push_back(self.reads("the ends of these tracks", &reads));
        }
        Stage::Closer
    }

    fn plan_pairs(&mut self, rotation: &Rotation) -> Stage {
        let same = probes::evenly(probes::SAME_TRACK_TURNS, probes::PAIRS_FIRST);
        let next = probes::evenly(probes::NEXT_TRACK_TURNS, probes::PAIRS_FIRST);
        self.queue_pairs(rotation, &same, &next, &next);
        Stage::Pairs
    }

    /// The same around the times that the first pairs showed.
    fn plan_close_pairs(&mut self, rotation: &Rotation) -> Stage {
        let maps = self.near_maps(rotation);
        if let Some(seeks) = NearSeeks::of(&self.readings, &maps, rotation) {
            let overhead = seeks.overhead.value / rotation.turn_s();
            let [mut next, mut other] = [const { Vec::new() }; 2];
            for (seek, turns) in [(seeks.next_track, &mut next), (seeks.other_track, &mut other)] {
                if let Some(seek) = seek {
                    *turns = probes::around(overhead + seek.value / rotation.turn_s());
                }
            }
            self.queue_pairs(rotation, &probes::around(overhead), &next, &other);
        }
        Stage::ClosePairs
    }

    fn switches_heads(&self, rotation: &Rotation) -> bool {
        let layout = Layout::of(&self.counts, rotation);
        matches!(layout, Some(Layout { keeps_surface: Some(false), .. }))
    }

    /// Whether the time has come to look at the ends of cylinders. Of places whose ends were looked for, enough are some.
    fn wants_cylinder_ends(&self, rotation: &Rotation) -> bool {
        let left = self.time().saturating_sub(self.spent);
        let is_time = !self.scatters && !self.at_cylinder_ends && left <= TIME_OF_CYLINDER_ENDS;
        is_time && self.switches_heads(rotation)
    }

    fn plan_cylinder_ends(&mut self, rotation: &Rotation) -> Stage {
        self.at_cylinder_ends = true;
        let mut borders = other_borders(&self.counts, rotation);
        self.prng.shuffle(&mut borders);
        borders.truncate(self.places() as usize);
        let mut reads = Vec::new();
        for border in borders {
            let sectors = probes::sectors_near(&self.counts, border.offset);
            let above = (ABOVE_BORDER * sectors.unwrap_or(0.0)) as u64 * self.block.get();
            let below = probes::below_close(sectors);
            reads.extend(self.probe_at(border.offset + above, &below));
        }
        if !reads.is_empty() {
            self.queue.push_back(self.reads("tracks where cylinders end", &reads));
        }
        Stage::Places
    }

    fn ask_for_drives(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.rotation.is_none() || self.knows_drives {
            return None;
        }
        if let Some(stripe) = &mut self.stripe
            && let Some(phase) = stripe.next(so_far)
        {
            return Some(phase);
        }
        self.knows_drives = true;
        if has_several_arms(so_far) {
            self.queue.clear();
            self.stage = Stage::Done;
        }
        None
    }

    fn near_maps(&self, rotation: &Rotation) -> NearMaps {
        near_maps(&self.readings, &self.counts, rotation, self.block.get())
    }

    fn queue_pairs(&mut self, rotation: &Rotation, same: &[f64], next: &[f64], other: &[f64]) {
        let NearMaps { usual, others } = self.near_maps(rotation);
        let mut kinds = Vec::new();
        // What a command costs is known when cylinders are looked for.
        if !self.at_cylinder_ends {
            kinds.extend([(&usual, 0, same), (&usual, 1, next)]);
        }
        if self.at_cylinder_ends || self.scatters && self.switches_heads(rotation) {
            kinds.push((&others, 1, other));
        }
        for (maps, tracks, turns) in kinds {
            let rounds = (turns.len() * PLACES as usize).div_ceil(maps.len().max(1)).min(turns.len());
            let reads = probes::pairs(maps, tracks, turns, rounds, &mut self.prng);
            if !reads.is_empty() {
                self.queue.push_back(self.reads("pairs of adjacent sectors", &reads));
            }
        }
    }
}

impl Experiment for Geometry {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.spent = so_far.elapsed();
        if let Some(newest) = so_far.phases.len().checked_sub(1)
            && locates_sectors(&so_far.phases[newest], self.block)
        {
            self.readings.extend(readings_of(so_far.series.ios(newest as u32)));
        }
        while self.queue.is_empty() && self.stage != Stage::Done {
            if so_far.elapsed() >= self.time() {
                return None;
            }
            self.plan();
        }
        if let Some(phase) = self.ask_for_drives(so_far) {
            return Some(phase);
        }
        let next = self.queue.pop_front()?;
        self.spent += READ_TIME_EXPECTED * next.stop.operations.unwrap_or(0);
        Some(next)
    }

    fn remaining(&self) -> Remaining {
        let waking = if self.stage == Stage::WarmUp { Vec::from(self.queue.clone()) } else { Vec::new() };
        let mut remaining = Remaining::of(&waking);
        let left = self.time().saturating_sub(self.spent);
        // A host that turns out to be late takes the longer time.
        let most = self.times.of_ends.max(self.time()).saturating_sub(self.spent);
        if self.stage != Stage::Done && left > Nanos::ZERO {
            let what = format!("reads of {} at QD 1 that locate sectors", self.block);
            let reads = Some(self.block * (most.get() / READ_TIME_EXPECTED.get()));
            remaining.steps.push(Step { likely: left, slow: left, reads, ..Step::lasting(what, 0, most) });
        }
        remaining
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}
