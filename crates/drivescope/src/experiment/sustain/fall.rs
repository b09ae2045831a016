//! Writes until it is known whether the rate falls: piece after piece, each a small share of what was written before, so that their
//! number stays small and the end comes in time.

use super::{Budget, NAME, SustainWish, Until};
use crate::experiment::preparation::phase;
use crate::experiment::{Experiment, Outlook, Question, SLOW_BYTES_PER_SECOND, Step};
use analysis::datasheet::{self, Recording};
use analysis::recording::{Probes, Writing};
use analysis::sustained::{History, Piece, Standing, WRITTEN_OVER_MIN, memory_bytes, rounds, standing};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::target::TargetFacts;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// The first pieces. Of flash that is a twentieth of the smallest caches and more than a request's noise; of a disk, some hundred
/// requests at random places, and no less than its arm needs for an even rate.
const FLASH_PIECE: u64 = 16 * MIB;
const DISK_PIECE: u64 = 128 * MIB;
/// A piece is this share of all that was written: the place of a fall is found within it, and 2 TB are written in 260.
const PIECE_SHARE: f64 = 0.04;
/// When all levels are looked for, it is no more than this share of all that will be: a level of a thirtieth has pieces
/// enough.
const LEVEL_PIECE_SHARE: f64 = 0.005;
/// After a fall a piece takes no longer than so many before it.
const TIMES_SLOWER: f64 = 3.0;
/// And is no smaller than this share of all that was written, so that there are hundreds of them and not thousands.
const SLOW_PIECE_SHARE: f64 = 0.005;
/// A piece that takes so many times as long as the one before, and at least this long, is cut short.
const TIMES_CUT: f64 = 10.0;
const CUT: Nanos = Nanos::from_secs(60);
/// When a fall was seen near the end of what may be written, it goes on for this share of that to see whether it lasts.
const LONGER_SHARE: f64 = 0.4;
/// A disk whose small writes go to their places has no cache to fill but its memory of 512 MiB at most: four times that shows the
/// rate behind it.
const IN_PLACE_BYTES: u64 = 2048 * MIB;
/// Nothing that carries data to a drive is as fast as 100 GB/s (16 lanes of PCIe 5 carry 63): what seems to be is none, and so many
/// pieces show it.
const NO_TIME: f64 = 1e-11;
const PIECES_TO_TELL: usize = 8;
/// Before so much was written a disk is not taken to be steady: the largest media cache measured, twice (25 GB; Skylight, 2015).
const DISK_SETTLED: f64 = 50e9;
/// What is guessed of rates before any was measured, in bytes per second: of random writes to a disk, and to a SATA drive.
const DISK_RATE: f64 = 12e6;
const FLASH_RATE: f64 = 300e6;

/// Behind the fall of a shingled disk it is written until the rate is known, which takes up to twice as long as all before: it writes so
/// little then.
const BEHIND_FALL_TIMES: f64 = 2.0;
/// The middle of the caches of six drives that were measured by reviewers, from 2 % of an 870 QVO to 34 % of an SN580, as a share of
/// the drive, and what is written in all until their end is certain, as a multiple.
const FLASH_CACHE_SHARE: f64 = 0.125;
const UNTIL_CERTAIN: f64 = 1.3;
/// The largest media cache that was measured (Skylight, 2015).
const MEDIA_CACHE: f64 = 25e9;
/// Into its cache a flash drive writes nearly as fast as its link, behind it some times slower: over both about half.
const LINK_SHARE: f64 = 0.5;

/// The part of `sustain` that writes until the rate has fallen.
pub(super) struct Fall {
    question: Question,
    wish: SustainWish,
    mechanical: bool,
    budget: Budget,
    /// What was written and how long it took, when it was last asked.
    written: f64,
    rate: f64,
    /// Whether small writes go to their places; none as long as that is not known.
    in_place: Option<bool>,
    is_over: bool,
}

impl Fall {
    /// The question.
    pub fn new(question: &Question, wish: &SustainWish, mechanical: bool) -> Fall {
        Fall {
            question: question.clone(),
            wish: wish.clone(),
            mechanical,
            budget: Budget::of(question, wish, mechanical),
            written: 0.0,
            rate: if mechanical { DISK_RATE } else { flash_rate(question) },
            in_place: None,
            is_over: false,
        }
    }

    /// What is still written, and how often the time that takes: likely, and at most.
    fn ahead(&self) -> [(f64, f64); 2] {
        let most = self.may_write(self.in_place == Some(true)) as f64;
        let is_shingled =
            self.in_place.map_or_else(|| says_shingled(&self.question.facts), |in_place| !in_place);
        let (likely, times) = match (self.wish.until, self.mechanical) {
            (Until::Steady | Until::Levels, _) => (most, 1.0),
            (Until::Fall, true) if is_shingled => (MEDIA_CACHE, 1.0 + BEHIND_FALL_TIMES),
            (Until::Fall, true) => (IN_PLACE_BYTES as f64, 1.0),
            (Until::Fall, false) => {
                (FLASH_CACHE_SHARE * UNTIL_CERTAIN * self.question.range.bytes().0 as f64, 1.0)
            }
        };
        // Where a cache is larger than most nobody knows how much.
        let likely = if likely > self.written { likely.min(most) } else { most };
        let times_most =
            if self.mechanical && self.in_place != Some(true) { 1.0 + BEHIND_FALL_TIMES } else { 1.0 };
        [(likely, times), (most, times_most)].map(|(bytes, times)| ((bytes - self.written).max(0.0), times))
    }

    /// Whether to go on, by what was written.
    fn goes_on(&self, pieces: &[Piece], elapsed: Nanos, in_place: bool) -> bool {
        if self.question.time_limit.is_some_and(|limit| elapsed >= limit) {
            return false;
        }
        if pieces.len() >= PIECES_TO_TELL && pieces.iter().all(|piece| piece.seconds_per_byte() < NO_TIME) {
            return false;
        }
        let standing = standing(pieces, memory_bytes(self.mechanical));
        let may_write = self.may_write(in_place) as f64;
        let longer = if self.budget.is_asked { 0.0 } else { LONGER_SHARE };
        match (self.wish.until, standing) {
            (Until::Steady, Standing::Falling) => self.written < may_write,
            (Until::Steady, _) => self.written < may_write && !self.is_steady(pieces, in_place),
            (Until::Fall, Standing::Fell(_)) => false,
            (_, Standing::Falling) => self.written < may_write * (1.0 + longer),
            (_, Standing::Fell(_) | Standing::Even) => self.written < may_write,
        }
    }

    /// What may be written until it is known whether the rate falls.
    fn may_write(&self, in_place: bool) -> u64 {
        match in_place && self.wish.until != Until::Steady {
            true => self.budget.bytes.0.min(IN_PLACE_BYTES),
            false => self.budget.bytes.0,
        }
    }

    /// Whether the rate is what it will stay.
    fn is_steady(&self, pieces: &[Piece], in_place: bool) -> bool {
        let over = self.written / self.question.range.bytes().0 as f64;
        // A disk may hold a media cache until as much was written as the largest of them takes, and as much again.
        let is_settled = match (self.mechanical, in_place) {
            (true, true) => self.written >= IN_PLACE_BYTES as f64,
            (true, false) => self.written >= DISK_SETTLED,
            (false, _) => over >= WRITTEN_OVER_MIN,
        };
        is_settled && rounds(pieces).is_some_and(|rounds| rounds.are_steady())
    }

    fn piece(&self, pieces: &[Piece], elapsed: Nanos) -> Phase {
        let (bytes, time) = self.piece_size(pieces);
        let left = self.question.time_limit.map(|limit| limit.saturating_sub(elapsed));
        let workload = workload(&self.question, &self.wish, self.written, bytes);
        let bytes = bytes.min(workload.range.bytes().0.max(bytes / 2));
        let stop = StopCondition {
            time: Some(left.map_or(time, |left| left.min(time))),
            bytes: Some(Bytes(bytes)),
            ..StopCondition::default()
        };
        phase(NAME, format!("write, piece {}", pieces.len() + 1), PhaseKind::Measure, Some(workload), stop)
    }

    /// How much, and how long at most.
    fn piece_size(&self, pieces: &[Piece]) -> (u64, Nanos) {
        let least = if self.mechanical { DISK_PIECE } else { FLASH_PIECE } as f64;
        let least = least.min(self.question.range.bytes().0 as f64 / 8.0);
        let share = if self.wish.until == Until::Levels { LEVEL_PIECE_SHARE } else { f64::INFINITY };
        let full = (self.written * PIECE_SHARE).min(self.budget.bytes.0 as f64 * share).max(least);
        let left = self.budget.bytes.0 as f64 - self.written;
        let full = if self.budget.is_asked { full.min(left.max(self.wish.block.0 as f64)) } else { full };
        let Some(last) = pieces.last() else { return (self.blocks(full), Nanos::from_secs(600)) };
        let usual_s = full * median_cost(pieces);
        let by_time = TIMES_SLOWER * usual_s / last.seconds_per_byte();
        let bytes = full.min(by_time.max(least / 8.0).max(self.written * SLOW_PIECE_SHARE));
        let expected_s = bytes * last.seconds_per_byte();
        let time = Nanos::from_secs_f64(TIMES_CUT * expected_s).unwrap_or(CUT).max(CUT);
        (self.blocks(bytes), time)
    }

    fn blocks(&self, bytes: f64) -> u64 {
        (bytes / self.wish.block.0 as f64).ceil().max(1.0) as u64 * self.wish.block.0
    }
}

/// What is guessed of a flash drive's rate.
fn flash_rate(question: &Question) -> f64 {
    let link = question.facts.link.as_ref().and_then(|link| link.bytes_per_second_max);
    link.map_or(FLASH_RATE, |most| LINK_SHARE * most)
}

/// Whether the drive or its maker says that tracks overlap.
fn says_shingled(facts: &TargetFacts) -> bool {
    let sheet = facts.model.as_deref().and_then(datasheet::find);
    sheet.is_some_and(|sheet| sheet.recording == Recording::Shingled)
        || facts.zoned.as_deref().is_some_and(|zoned| zoned != "none")
        || facts.rotational == Some(true) && facts.discard_max.is_some_and(|most| most.0 > 0)
}

/// What is written at most until the rate has fallen: beyond its budget, to see whether it lasts, and the piece under way.
pub(super) fn written_max(question: &Question, wish: &SustainWish, mechanical: bool) -> Bytes {
    let budget = Budget::of(question, wish, mechanical);
    if budget.is_asked {
        return budget.bytes;
    }
    let longer = if wish.until == Until::Steady { 0.0 } else { LONGER_SHARE };
    let until = budget.bytes.0 as f64 * (1.0 + longer);
    let last = (until * PIECE_SHARE).max(if mechanical { DISK_PIECE } else { FLASH_PIECE } as f64);
    Bytes((until + last) as u64 + wish.block.0)
}

/// The workload of a piece. Writes in order go on where the last piece ended.
fn workload(question: &Question, wish: &SustainWish, written: f64, bytes: u64) -> Workload {
    let whole = question.range;
    let range = if wish.pattern == Pattern::Sequential && wish.mix == OperationMix::Write {
        let at = (written as u64 % whole.bytes().0) / wish.block.0 * wish.block.0;
        let room = whole.bytes().0 - at;
        ByteRange::new(Offset(whole.first().0 + at), Bytes(bytes.min(room))).unwrap_or(whole)
    } else {
        whole
    };
    Workload::new(range, wish.pattern.clone(), wish.mix, wish.block, wish.depth)
}

/// What a byte took in the middle of all that was written so far: after a fall pieces are small, and count for little.
fn median_cost(pieces: &[Piece]) -> f64 {
    let mut costs: Vec<(f64, f64)> =
        pieces.iter().map(|piece| (piece.seconds_per_byte(), piece.bytes)).collect();
    costs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = costs.iter().map(|(_, bytes)| bytes).sum::<f64>() / 2.0;
    let mut written = 0.0;
    let middle = costs.iter().find(|(_, bytes)| {
        written += bytes;
        written >= half
    });
    middle.map_or(0.0, |(cost, _)| *cost)
}

impl Experiment for Fall {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let history = History::of(so_far).filter(|history| self.wish.is_of(history.workload));
        let pieces = history.as_ref().map_or(&[][..], |history| history.first());
        self.written = pieces.iter().map(|piece| piece.bytes).sum();
        let seconds: f64 = pieces.iter().map(|piece| piece.seconds).sum();
        if seconds > 0.0 {
            self.rate = self.written / seconds;
        }
        let writes_in_place =
            || Probes::of(so_far, NAME).is_some_and(|probes| probes.writing() == Writing::InPlace);
        let in_place = !self.budget.is_asked && writes_in_place();
        self.in_place = Some(in_place);
        self.is_over = !self.goes_on(pieces, so_far.elapsed(), in_place);
        (!self.is_over).then(|| self.piece(pieces, so_far.elapsed()))
    }

    fn outlook(&self) -> Outlook {
        if self.is_over {
            return Outlook::default();
        }
        let [likely, (left, times)] = self.ahead();
        let most = written_max(&self.question, &self.wish, self.mechanical);
        let no_longer = self.question.time_limit.unwrap_or(Outlook::UNBOUNDED);
        let taking = |bytes: f64, times: f64, rate: f64| {
            Nanos::from_secs_f64(bytes / rate * times).unwrap_or(Outlook::UNBOUNDED).min(no_longer)
        };
        // How slow a drive is nobody knows before it was written to, nor how far its rate falls: what is written bounds it, and no time.
        let is_known = self.written > 0.0 && self.mechanical;
        let time = if is_known { taking(left, times, self.rate) } else { no_longer };
        let slow_rate = if self.written > 0.0 { self.rate } else { self.rate.min(SLOW_BYTES_PER_SECOND) };
        let least = if self.mechanical { DISK_PIECE } else { FLASH_PIECE } as f64;
        let from = self.written.max(least / PIECE_SHARE);
        let growing = ((from + left) / from).ln() / (1.0 + PIECE_SHARE).ln();
        let small = ((from - self.written) / least).max(0.0);
        let of_levels = if self.wish.until == Until::Levels { 1.0 / LEVEL_PIECE_SHARE } else { 0.0 };
        Outlook {
            steps: vec![Step {
                what: format!(
                    "writes of {}, {} at a time, until the rate falls and stays down, or {} are written",
                    self.wish.block,
                    self.wish.depth,
                    self.budget.describe(&self.question)
                ),
                phases: (growing + small + of_levels).ceil() as u32,
                time,
                likely: taking(likely.0, likely.1, self.rate).min(time),
                slow: taking(likely.0, likely.1, slow_rate).min(time),
                reads: (self.wish.mix == OperationMix::Write).then_some(Bytes::ZERO),
                writes: Some(Bytes(most.0.saturating_sub(self.written as u64))),
            }],
        }
    }
}
