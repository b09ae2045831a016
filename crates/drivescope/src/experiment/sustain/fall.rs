//! Writes until it is known whether the rate falls: piece after piece, each a small share of what was written before, so that their
//! number stays small and the end comes in time.

use super::{Budget, NAME, SustainWish};
use crate::experiment::preparation::phase;
use crate::experiment::{Experiment, Outlook, Question, Step};
use analysis::recording::{Probes, Writing};
use analysis::sustained::{History, Piece, Standing, WRITTEN_OVER_MIN, memory_bytes, rounds, standing};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// The first pieces. Of flash that is a twentieth of the smallest caches and more than a request's noise; of a disk, some hundred
/// requests at random places, and no less than its arm needs for an even rate.
const FLASH_PIECE: u64 = 16 * MIB;
const DISK_PIECE: u64 = 128 * MIB;
/// A piece is this share of all that was written: the place of a fall is found within it, and 2 TB are written in 260.
const PIECE_SHARE: f64 = 0.04;
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

/// The part of `sustain` that writes until the rate has fallen.
pub(super) struct Fall {
    question: Question,
    wish: SustainWish,
    mechanical: bool,
    budget: Budget,
    /// What was written and how long it took, when it was last asked.
    written: f64,
    rate: f64,
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
            rate: if mechanical { DISK_RATE } else { FLASH_RATE },
            is_over: false,
        }
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
        let may_write = match in_place && !self.wish.until_steady {
            true => self.budget.bytes.0.min(IN_PLACE_BYTES),
            false => self.budget.bytes.0,
        } as f64;
        let longer = if self.budget.is_asked { 0.0 } else { LONGER_SHARE };
        if self.wish.until_steady {
            return self.written < may_write
                && !(standing != Standing::Falling && self.is_steady(pieces, in_place));
        }
        match standing {
            Standing::Fell(_) => false,
            Standing::Falling => self.written < may_write * (1.0 + longer),
            Standing::Even => self.written < may_write,
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
        let full = (self.written * PIECE_SHARE).max(least);
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

/// What is written at most until the rate has fallen: beyond its budget, to see whether it lasts, and the piece under way.
pub(super) fn written_max(question: &Question, wish: &SustainWish, mechanical: bool) -> Bytes {
    let budget = Budget::of(question, wish, mechanical);
    if budget.is_asked {
        return budget.bytes;
    }
    let longer = if wish.until_steady { 0.0 } else { LONGER_SHARE };
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
        self.is_over = !self.goes_on(pieces, so_far.elapsed(), in_place);
        (!self.is_over).then(|| self.piece(pieces, so_far.elapsed()))
    }

    fn outlook(&self) -> Outlook {
        if self.is_over {
            return Outlook::default();
        }
        let left = (self.budget.bytes.0 as f64 - self.written).max(0.0);
        let most = written_max(&self.question, &self.wish, self.mechanical);
        let time = Nanos::from_secs_f64(left / self.rate).unwrap_or(Nanos(u64::MAX));
        let time = self.question.time_limit.map_or(time, |limit| limit.min(time));
        let least = if self.mechanical { DISK_PIECE } else { FLASH_PIECE } as f64;
        let from = self.written.max(least / PIECE_SHARE);
        let growing = ((from + left) / from).ln() / (1.0 + PIECE_SHARE).ln();
        let small = ((from - self.written) / least).max(0.0);
        Outlook {
            steps: vec![Step {
                what: format!(
                    "writes of {}, {} at a time, until the rate falls and stays down, or {} are written",
                    self.wish.block,
                    self.wish.depth,
                    self.budget.describe(&self.question)
                ),
                phases: (growing + small).ceil() as u32,
                time,
                likely: time,
                reads: (self.wish.mix == OperationMix::Write).then_some(Bytes::ZERO),
                writes: Some(Bytes(most.0.saturating_sub(self.written as u64))),
            }],
        }
    }
}
