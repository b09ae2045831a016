//! Writes until it is known whether the rate drops: batch after batch, each a small share of what was written before.

use super::budget::Budget;
use super::request::{SustainRequest, Until};
use crate::preparation::measure;
use crate::{Experiment, Remaining, SLOW_BYTES_PER_SECOND, Setup, Step};
use analysis::recording::Probes;
use analysis::recording::signs::signs_of_shingles;
use analysis::sustained::{
    Batch, DISK_SETTLED, History, PIECES_AFTER_MIN, Standing, WRITTEN_OVER_MIN, rounds, standing,
};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// The first batches. Of flash that is a twentieth of the smallest caches and more than a request's noise; of a disk, some hundred
/// requests at random places, and no less than its arm needs for an even rate.
const FLASH_PIECE: u64 = 16 * MIB;
const DISK_PIECE: u64 = 128 * MIB;
/// A batch is this share of all that was written: the place of a drop is found within it, and 2 TB are written in 260.
const PIECE_SHARE: f64 = 0.04;
/// When all levels are looked for, a batch is no larger: a level of a thirtieth then has batches enough.
const LEVEL_PIECE_SHARE: f64 = 0.005;
const TIMES_SLOWER: f64 = 3.0;
/// And is no smaller than this share of all that was written, so that there are hundreds of them and not thousands.
const SLOW_PIECE_SHARE: f64 = 0.005;
/// A batch that takes so many times as long as the one before, and at least this long, is cut short.
const TIMES_CUT: f64 = 10.0;
const CUT: Nanos = Nanos::from_secs(60);
/// When a drop was seen near the end of what may be written, it goes on for this share of that to see whether it lasts.
const LONGER_SHARE: f64 = 0.4;
/// A disk whose small writes go in place has only its memory of 512 MiB at most to fill: four times that shows the rate behind.
const IN_PLACE_BYTES: u64 = 2048 * MIB;
/// Nothing that carries data to a drive is as fast as 100 GB/s (16 lanes of PCIe 5 carry 63): so many such batches took no time.
const NO_TIME: f64 = 1e-11;
const PIECES_TO_TELL: usize = 8;
/// What is guessed of rates before any was measured, in bytes per second: of random writes to a disk, and to a SATA drive.
const DISK_RATE: f64 = 12e6;
const FLASH_RATE: f64 = 300e6;

/// Behind the drop of an SMR disk it is written until the rate is known, which takes up to twice as long as all before.
const BEHIND_FALL_TIMES: f64 = 2.0;
/// An SLC cache may follow what may be a buffer. Those of reviewed drives fill within 40 to 140 s (22 GB at 0.5 GB/s, 700 GB at 5).
const BEHIND_BUFFER: Nanos = Nanos::from_secs(300);
/// The middle of the caches of six drives that were measured by reviewers, from 2 % of an 870 QVO to 34 % of an SN580, as a share of
/// the drive, and what is written in all until their end is certain, as a multiple.
const FLASH_CACHE_SHARE: f64 = 0.125;
const UNTIL_CERTAIN: f64 = 1.3;
/// The largest media cache that was measured (Skylight, 2015).
const MEDIA_CACHE: f64 = 25e9;
/// Into its cache a flash drive writes nearly as fast as its link, behind it some times slower: over both about half.
const LINK_SHARE: f64 = 0.5;

pub(super) struct RateDrop {
    setup: Setup,
    request: SustainRequest,
    mechanical: bool,
    budget: Budget,
    written: f64,
    rate: f64,
    /// Whether small writes go to their places; none as long as that is not known.
    in_place: Option<bool>,
    at: u64,
    /// Of writes in order, how many batches were written from the start again.
    again: usize,
    is_over: bool,
}

impl RateDrop {
    pub fn new(setup: &Setup, request: &SustainRequest, mechanical: bool) -> RateDrop {
        RateDrop {
            setup: setup.clone(),
            request: request.clone(),
            mechanical,
            budget: Budget::of(setup, request, mechanical),
            written: 0.0,
            rate: if mechanical { DISK_RATE } else { flash_rate(setup) },
            in_place: None,
            at: 0,
            again: 0,
            is_over: false,
        }
    }

    /// What is still written, and how often the time that takes: likely, and at most.
    fn ahead(&self) -> [(f64, f64); 2] {
        let most = self.may_write(self.in_place == Some(true)) as f64;
        let is_shingled = match self.in_place {
            Some(in_place) => !in_place,
            None => !signs_of_shingles(&self.setup.facts).is_empty(),
        };
        let (likely, times) = match (self.request.until, self.mechanical) {
            (Until::Steady | Until::Levels, _) => (most, 1.0),
            (Until::Cliff, true) if is_shingled => (MEDIA_CACHE, 1.0 + BEHIND_FALL_TIMES),
            (Until::Cliff, true) => (IN_PLACE_BYTES as f64, 1.0),
            (Until::Cliff, false) => {
                (FLASH_CACHE_SHARE * UNTIL_CERTAIN * self.setup.range.bytes().as_f64(), 1.0)
            }
        };
        // Where a cache is larger than most nobody knows how much.
        let likely = if likely > self.written { likely.min(most) } else { most };
        let times_most =
            if self.mechanical && self.in_place != Some(true) { 1.0 + BEHIND_FALL_TIMES } else { 1.0 };
        [((likely - self.written).max(0.0), times), ((most - self.written).max(0.0), times_most)]
    }

    fn goes_on(&self, so_far: &RunView<'_>, batches: &[Batch], in_place: bool) -> bool {
        if let Some(limit) = self.setup.time_limit
            && so_far.elapsed() >= limit
        {
            return false;
        }
        if batches.len() >= PIECES_TO_TELL && batches.iter().all(|batch| batch.seconds_per_byte() < NO_TIME) {
            return false;
        }
        let standing = standing(batches);
        let may_write = self.may_write(in_place) as f64;
        let longer = if self.budget.is_asked { 0.0 } else { LONGER_SHARE };
        match (self.request.until, standing) {
            (Until::Steady, Standing::Falling) => self.written < may_write,
            (Until::Steady, _) => self.written < may_write && !self.is_steady(batches, in_place),
            (Until::Cliff, Standing::Fell(_)) if self.looks_again() => self.again < PIECES_AFTER_MIN,
            (Until::Cliff, _) if self.looks_again() && self.again > 0 => self.again < PIECES_AFTER_MIN,
            (Until::Cliff, Standing::Fell(drop)) if !self.mechanical && drop.may_be_of_buffer() => {
                self.written < may_write && drop.after.seconds < BEHIND_BUFFER.seconds()
            }
            (Until::Cliff, Standing::Fell(drop)) if self.uses_all() => {
                self.written < may_write && !has_lasted_as_long(&drop, batches)
            }
            (Until::Cliff, Standing::Fell(_)) => self.written < may_write && !ends_search(so_far),
            (_, Standing::Falling) => self.written < may_write * (1.0 + longer),
            (_, Standing::Fell(_) | Standing::Even) => self.written < may_write,
        }
    }

    /// Whether a drop may be of the place, so that the start of the range is written again: a disk has zones.
    fn looks_again(&self) -> bool {
        self.mechanical
            && self.request.pattern() == Pattern::Sequential
            && self.request.mix() == OperationMix::Write
    }

    /// Whether somebody gave bytes or time, and nothing comes after this that needs them.
    fn uses_all(&self) -> bool {
        let is_given = self.budget.is_asked || self.setup.time_limit.is_some();
        is_given && self.request.idle.is_empty() && self.request.clip.is_empty() && !self.request.drain
    }

    fn may_write(&self, in_place: bool) -> u64 {
        match in_place && self.request.until != Until::Steady {
            true => self.budget.bytes.get().min(IN_PLACE_BYTES),
            false => self.budget.bytes.get(),
        }
    }

    fn is_steady(&self, batches: &[Batch], in_place: bool) -> bool {
        let over = self.written / self.setup.range.bytes().as_f64();
        // A disk may hold a media cache until as much was written as the largest of them takes, and as much again.
        let is_settled = match (self.mechanical, in_place) {
            (true, true) => self.written >= IN_PLACE_BYTES as f64,
            (true, false) => self.written >= DISK_SETTLED,
            (false, _) => over >= WRITTEN_OVER_MIN,
        };
        match rounds(batches) {
            Some(rounds) => is_settled && rounds.are_steady(),
            None => false,
        }
    }

    /// Where the next batch of writes in order begins: behind the last, or at the start when the range ended or a drop must be seen there.
    fn goes_on_at(&self, so_far: &RunView<'_>, batches: &[Batch]) -> u64 {
        let Some(last) = batches.last() else { return 0 };
        let Some(workload) = &so_far.phases[last.phase as usize].phase.workload else { return 0 };
        let end = workload.range.end() - self.setup.range.first();
        let fell = self.request.until == Until::Cliff && matches!(standing(batches), Standing::Fell(_));
        let looks = self.looks_again() && fell && self.again == 0;
        if looks || end >= self.setup.range.bytes() { 0 } else { end.get() }
    }

    fn batch(&self, batches: &[Batch], elapsed: Nanos) -> Phase {
        let (bytes, time) = self.batch_size(batches);
        let time = match self.setup.time_limit {
            Some(limit) => limit.saturating_sub(elapsed).min(time),
            None => time,
        };
        let workload = workload(&self.setup, &self.request, self.at, bytes);
        let bytes = bytes.min(workload.range.bytes().get().max(bytes / 2));
        let stop =
            StopCondition { time: Some(time), bytes: Some(Bytes::new(bytes)), ..StopCondition::default() };
        measure(ExperimentName::Sustain, format!("write, batch {}", batches.len() + 1), workload, stop)
    }

    fn batch_size(&self, batches: &[Batch]) -> (u64, Nanos) {
        let least = if self.mechanical { DISK_PIECE } else { FLASH_PIECE } as f64;
        let least = least.min(self.setup.range.bytes().as_f64() / 8.0);
        if self.again > 0 || self.at == 0 && !batches.is_empty() && self.looks_again() {
            return (self.blocks(least), CUT.max(Nanos::from_secs(600)));
        }
        let share = if self.request.until == Until::Levels { LEVEL_PIECE_SHARE } else { f64::INFINITY };
        let full = (self.written * PIECE_SHARE).min(self.budget.bytes.as_f64() * share).max(least);
        let left = self.budget.bytes.as_f64() - self.written;
        let full =
            if self.budget.is_asked { full.min(left.max(self.request.block().as_f64())) } else { full };
        let Some(last) = batches.last() else { return (self.blocks(full), Nanos::from_secs(600)) };
        let usual_s = full * median_cost(batches);
        let by_time = TIMES_SLOWER * usual_s / last.seconds_per_byte();
        let bytes = full.min(by_time.max(least / 8.0).max(self.written * SLOW_PIECE_SHARE));
        let expected_s = bytes * last.seconds_per_byte();
        let time = Nanos::from_secs_f64(TIMES_CUT * expected_s).unwrap_or(CUT).max(CUT);
        (self.blocks(bytes), time)
    }

    fn blocks(&self, bytes: f64) -> u64 {
        (bytes / self.request.block().as_f64()).ceil().max(1.0) as u64 * self.request.block().get()
    }
}

fn has_lasted_as_long(drop: &analysis::sustained::RateDrop, batches: &[Batch]) -> bool {
    let seconds = |batches: &[Batch]| batches.iter().map(|batch| batch.seconds).sum::<f64>();
    let (before, after) = batches.split_at(drop.after.first);
    seconds(after) >= seconds(before)
}

fn writes_in_place(so_far: &RunView<'_>) -> bool {
    match Probes::of(so_far, &ExperimentName::Sustain) {
        Some(probes) => probes.has_no_cache_to_fill(so_far.target),
        None => false,
    }
}

/// Whether a drop is the one looked for: of a disk only one behind which bands are rewritten, since other I/O slows writes, too.
fn ends_search(so_far: &RunView<'_>) -> bool {
    match Probes::of(so_far, &ExperimentName::Sustain) {
        Some(probes) if probes.has_arm() => probes.rewrites_behind_drop(so_far),
        _ => true,
    }
}

fn taking(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds).unwrap_or(Remaining::UNBOUNDED)
}

fn flash_rate(setup: &Setup) -> f64 {
    match setup.facts.link.as_ref().and_then(|link| link.bytes_per_second_max) {
        Some(most) => LINK_SHARE * most,
        None => FLASH_RATE,
    }
}

/// What is written at most until the rate has fallen: beyond its budget, to see whether it lasts, and the batch under way.
pub(super) fn written_max(setup: &Setup, request: &SustainRequest, mechanical: bool) -> Bytes {
    let budget = Budget::of(setup, request, mechanical);
    if budget.is_asked {
        return budget.bytes;
    }
    let longer = if request.until == Until::Steady { 0.0 } else { LONGER_SHARE };
    let until = budget.bytes.as_f64() * (1.0 + longer);
    let last = (until * PIECE_SHARE).max(if mechanical { DISK_PIECE } else { FLASH_PIECE } as f64);
    Bytes::new((until + last) as u64 + request.block().get())
}

pub(super) fn workload(setup: &Setup, request: &SustainRequest, at: u64, bytes: u64) -> Workload {
    let whole = setup.range;
    let range = if request.pattern() == Pattern::Sequential && request.mix() == OperationMix::Write {
        let room = whole.bytes().get() - at;
        ByteRange::new(Offset::new(whole.first().get() + at), Bytes::new(bytes.min(room))).unwrap_or(whole)
    } else {
        whole
    };
    Workload::new(range, request.pattern(), request.mix(), request.block(), request.depth())
}

/// What a byte took in the middle of all that was written so far: after a drop batches are small, and count for little.
fn median_cost(batches: &[Batch]) -> f64 {
    let mut costs = Vec::new();
    let mut half = 0.0;
    for batch in batches {
        costs.push((batch.seconds_per_byte(), batch.bytes));
        half += batch.bytes / 2.0;
    }
    costs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut written = 0.0;
    for (cost, bytes) in costs {
        written += bytes;
        if written >= half {
            return cost;
        }
    }
    0.0
}

impl Experiment for RateDrop {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let history = match History::of(so_far) {
            Some(history) if self.request.is_of(history.workload) => Some(history),
            _ => None,
        };
        let (batches, again) = match &history {
            Some(history) => (history.first(), history.batches_again(so_far)),
            None => (&[][..], 0),
        };
        let mut seconds = 0.0;
        self.written = 0.0;
        for batch in batches {
            self.written += batch.bytes;
            seconds += batch.seconds;
        }
        if seconds > 0.0 {
            self.rate = self.written / seconds;
        }
        self.again = again;
        self.at = self.goes_on_at(so_far, batches);
        let in_place = !self.budget.is_asked && writes_in_place(so_far);
        self.in_place = Some(in_place);
        self.is_over = !self.goes_on(so_far, batches, in_place);
        if self.is_over { None } else { Some(self.batch(batches, so_far.elapsed())) }
    }

    fn remaining(&self) -> Remaining {
        if self.is_over {
            return Remaining::default();
        }
        let [likely, (left, times)] = self.ahead();
        let most = written_max(&self.setup, &self.request, self.mechanical);
        let no_longer = self.setup.time_limit.unwrap_or(Remaining::UNBOUNDED);
        // How slow a drive is nobody knows before it was written to, nor how far its rate drops: what is written bounds it, and no time.
        let is_known = self.written > 0.0 && self.mechanical;
        let time = if is_known { taking(left / self.rate * times).min(no_longer) } else { no_longer };
        let slow_rate = if self.written > 0.0 { self.rate } else { self.rate.min(SLOW_BYTES_PER_SECOND) };
        let least = if self.mechanical { DISK_PIECE } else { FLASH_PIECE } as f64;
        let from = self.written.max(least / PIECE_SHARE);
        let growing = ((from + left) / from).ln() / (1.0 + PIECE_SHARE).ln();
        let small = ((from - self.written) / least).max(0.0);
        let of_levels = if self.request.until == Until::Levels { 1.0 / LEVEL_PIECE_SHARE } else { 0.0 };
        Remaining {
            steps: vec![Step {
                what: format!(
                    "writes of {} at QD {} until throughput drops for good, or {} are written",
                    self.request.block(),
                    self.request.depth(),
                    self.budget.describe(&self.setup)
                ),
                phases: (growing + small + of_levels).ceil() as u32,
                time,
                likely: taking(likely.0 / self.rate * likely.1).min(time),
                slow: taking(likely.0 / slow_rate * likely.1).min(time),
                reads: self.request.reads(),
                writes: Some(Bytes::new(most.get().saturating_sub(self.written as u64))),
            }],
        }
    }
}
