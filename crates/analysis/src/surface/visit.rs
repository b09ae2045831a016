//! From the phases of a run to visits: whole short phases, and pieces of long ones.

use crate::measured::{self, extent, in_no_time, is_measurement, sequential_visits, single_access_s};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::quantile::interval_ranks;
use crate::stats::sample::middle;
use crate::streaming::{Calibration, ONE_DISK_RATE_MAX};
use crate::stripe;
use crate::surface::in_step::InStep;
use model::finding::SurveyUnknown;
use model::plan::{PhaseKind, StopReason};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{OperationTotals, RunView};
use model::units::{Bytes, MIB};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    pub phase: u32,
    pub first_byte: u64,
    pub bytes: u64,
    pub seconds_per_byte: f64,
    pub start_ns: u64,
    /// The longest that a request of its phase took; 0 when that is not known.
    pub longest_ns: u64,
}

pub(super) struct Gathered {
    pub range: ByteRange,
    pub visits: Vec<Visit>,
    pub with_errors: usize,
    pub too_short: usize,
    /// Of the requests of visits that are whole phases; none where most are pieces of long ones.
    pub block: Option<Bytes>,
    /// By what share the time of each visit that is a whole phase may be off, where nothing moves, for what its start takes.
    pub start_shares: Vec<f64>,
    pub several_disks: bool,
}

/// Fewer requests than this, of which four follow the first, show a rate only roughly.
const OPERATIONS_MIN: u64 = 5;
/// A long phase is cut into pieces of at least this, and of 64 times what completes together: slices of time cut 0.4 of that, 0.6 %.
const PIECE_BYTES_MIN: u64 = 64 * MIB;
const PIECE_TIMES_MIN: u64 = 64;
/// And into about so many over the whole target, which bounds memory: 4096 of 1 GB on 4 TB are finer than any zone.
const PIECES: u64 = 4096;
const PIECES_MIN: u64 = 4;

/// First visits, which find out how long samples must be, do not count where they were shorter than such a part of most: what a drive
/// takes to begin is more of them, so that they look slow.
const SHORT_PART: u64 = 2;

/// Half a revolution of the fastest disks, which turn 15,000 times a minute: tracks and surfaces make requests differ by less.
const MISSED_S_MIN: f64 = 2e-3;

/// Visits are spread over nearly all of a range if no more than a two-hundredth of it is left out at an end.
const NEARLY_ALL_PART: u64 = 200;

impl Visit {
    pub fn end_byte(&self) -> u64 {
        self.first_byte.saturating_add(self.bytes)
    }

    pub(super) fn range(&self) -> ByteRange {
        let range = ByteRange::from_bytes(self.first_byte, self.bytes);
        range.expect("a visit reads something, and ends within the drive")
    }

    pub(super) fn seconds(&self) -> f64 {
        self.bytes as f64 * self.seconds_per_byte
    }

    pub(crate) fn centre(&self) -> f64 {
        self.first_byte as f64 + self.bytes as f64 / 2.0
    }
}

pub(super) fn gather(run: &RunView<'_>, operation: Operation) -> Result<Gathered, SurveyUnknown> {
    let all = sequential_visits(run, operation);
    let visited = extent(run, &all).ok_or(SurveyUnknown::NothingMeasured)?;
    let range = asked_for(run, visited);
    if in_no_time(run, &all) {
        return Err(SurveyUnknown::NoTime);
    }
    let turns = turns(run);
    let mut gathered = Gathered {
        range,
        visits: Vec::new(),
        with_errors: 0,
        too_short: 0,
        block: None,
        start_shares: Vec::new(),
        several_disks: turns != Some(false) && is_of_several_disks(run, &all, operation, turns),
    };
    let mut whole = 0;
    let piece_bytes = (run.target.capacity.get() / PIECES).max(PIECE_BYTES_MIN);
    let shortest = usual_bytes(&all) / SHORT_PART;
    let probes = all.iter().take_while(|visit| visit.workload.range.bytes() < shortest).count();
    let (probes, visits) = all.split_at(probes);
    let moves_parts = turns != Some(false);
    let goes_in_step = gathered.several_disks && operation == Operation::Read;
    let access = Access {
        in_step: goes_in_step.then(|| InStep::of(run, visits)),
        moves_parts,
        access_s: single_access_s(run),
        start_s: if moves_parts { 0.0 } else { start_s(probes, visits, operation) },
        begins_late: moves_parts && begins_late(visits, operation),
        may_be_late: run.environment.is_in_real_time(),
    };
    for visit in visits {
        if !is_measurement(visit.summary) {
            continue;
        }
        let together = if visit.is_in_turn(operation) { 1 } else { visit.workload.in_flight_max() };
        let together_bytes = visit.workload.block_sizes.largest().get().saturating_mul(together);
        let piece_bytes = piece_bytes.max(PIECE_TIMES_MIN.saturating_mul(together_bytes));
        if visit.summary.bytes() >= PIECES_MIN.saturating_mul(piece_bytes) {
            gathered.add_pieces(run, visit, operation, piece_bytes);
        } else {
            gathered.add_whole(run, visit, operation, &access);
            whole += 1;
        }
    }
    if 2 * whole > gathered.visits.len() {
        gathered.block = all.first().map(|visit| visit.workload.block_sizes.largest());
    }
    if gathered.visits.is_empty() {
        return Err(SurveyUnknown::NoneUsable { samples: all.len() });
    }
    Ok(gathered)
}

/// How long the middle one of these visits was to be: one that a slow place cut short was to be as long as the others.
fn usual_bytes(visits: &[measured::Visit<'_>]) -> Bytes {
    let mut planned: Vec<Bytes> = visits.iter().map(|visit| visit.workload.range.bytes()).collect();
    planned.sort_unstable();
    planned.get(planned.len() / 2).copied().unwrap_or(Bytes::ZERO)
}

/// Those of visits in the order of places that begin there.
pub(crate) fn visits_from_to(visits: &[Visit], first_byte: u64, end_byte: u64) -> &[Visit] {
    let from = visits.partition_point(|visit| visit.first_byte < first_byte);
    let to = visits.partition_point(|visit| visit.first_byte < end_byte);
    &visits[from..to]
}

pub(super) fn longest_bytes(visits: &[Visit]) -> u64 {
    visits.iter().map(|visit| visit.bytes).max().unwrap_or(0)
}

pub(super) fn longest_ns(visits: &[Visit]) -> u64 {
    visits.iter().map(|visit| visit.longest_ns).max().unwrap_or(0)
}

/// The range that a warm-up says was asked for, when the visits are spread over nearly all of it; else what was visited.
fn asked_for(run: &RunView<'_>, visited: ByteRange) -> ByteRange {
    let mut asked: Option<ByteRange> = None;
    for summary in run.phases {
        let (PhaseKind::WarmUp, Some(workload)) = (summary.phase.kind, &summary.phase.workload) else {
            continue;
        };
        let range = workload.range;
        let is_smaller = matches!(asked, Some(asked) if range.bytes() < asked.bytes());
        if !is_smaller && is_spread(visited, range) {
            asked = Some(range);
        }
    }
    asked.unwrap_or(visited)
}

fn is_spread(visited: ByteRange, range: ByteRange) -> bool {
    let part = range.bytes().get() / NEARLY_ALL_PART;
    range.contains(&visited)
        && visited.first().get() - range.first().get() <= part
        && range.end().get() - visited.end().get() <= part
}

/// By reads of each from its own place, or, where there are none, by how the target streams.
pub(super) fn is_of_several_disks(
    run: &RunView<'_>,
    visits: &[measured::Visit<'_>],
    operation: Operation,
    turns: Option<bool>,
) -> bool {
    if let Some(shares) = stripe::reads(run).and_then(|reads| reads.share_streams()) {
        return shares;
    }
    if Calibration::of(run).is_of_array() {
        return true;
    }
    let mut rates = Vec::new();
    for visit in visits {
        rates.extend(visit.summary.totals_of(operation).and_then(OperationTotals::seconds_per_byte));
    }
    turns == Some(true) && middle(&mut rates) < 1.0 / ONE_DISK_RATE_MAX
}

fn middle_of_alike(
    visits: &[measured::Visit<'_>],
    usual: &measured::Visit<'_>,
    operation: Operation,
) -> Option<(f64, f64)> {
    let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
    for visit in visits {
        let is_alike = visit.workload.block_sizes == usual.workload.block_sizes
            && visit.workload.in_flight_max() == usual.workload.in_flight_max();
        if is_alike && visit.summary.totals_of(operation).is_some() {
            seconds.push(visit.summary.duration_ns as f64 / 1e9);
            bytes.push(visit.summary.bytes() as f64);
        }
    }
    if seconds.is_empty() { None } else { Some((middle(&mut seconds), middle(&mut bytes))) }
}

struct Access {
    /// None where a single drive answers, or writes are measured.
    in_step: Option<InStep>,
    /// Whether it may take time, which must then be kept out of a visit's time.
    moves_parts: bool,
    access_s: f64,
    start_s: f64,
    /// Whether the second request takes longer than those behind it.
    begins_late: bool,
    /// Whether a processor that slept may have noticed the first completion late, which no virtual one does.
    may_be_late: bool,
}

/// The time of each byte of a short visit; none when too few requests followed the first.
fn seconds_per_byte(visit: &measured::Visit<'_>, operation: Operation, access: &Access) -> Option<f64> {
    let totals = visit.summary.totals_of(operation)?;
    if let Some(lasting) = visit.lasting_s_per_byte(access.access_s) {
        return Some(lasting);
    }
    if totals.operations < OPERATIONS_MIN {
        // Cut short because it took so long: what that says is how slow it was.
        let is_cut = visit.summary.stopped == Some(StopReason::Time);
        let bytes = totals.bytes.max(visit.workload.block_sizes.largest().get()) as f64;
        return is_cut.then_some(visit.summary.duration_ns as f64 / 1e9 / bytes);
    }
    if access.begins_late
        && let Some((seconds_per_byte, _)) = totals.seconds_per_byte_after_second()
    {
        return Some(seconds_per_byte);
    }
    if access.moves_parts {
        return totals.seconds_per_byte();
    }
    // Where nothing moves, requests that are under way together may be done together: then all are as late as the first, and the whole
    // time counts. Where one comes after the other, the first is the earliest by far, and what it took besides is left out with it.
    if visit.is_in_turn(operation) {
        return totals.seconds_per_byte();
    }
    Some((visit.summary.duration_ns as f64 / 1e9 - access.start_s) / totals.bytes as f64)
}

/// Whether most samples lose time before their second completion, for certain: a drive that prefetches only what is read in sequence has read
/// nothing ahead by then, and misses a revolution.
fn begins_late(visits: &[measured::Visit<'_>], operation: Operation) -> bool {
    let mut lost_s = Vec::new();
    for visit in visits {
        let totals = visit.summary.totals_of(operation);
        if let Some((_, lost)) = totals.and_then(OperationTotals::seconds_per_byte_after_second) {
            lost_s.push(lost);
        }
    }
    lost_s.sort_unstable_by(f64::total_cmp);
    match interval_ranks(lost_s.len() as u64, 0.5, CONFIDENCE) {
        Some((low, _)) => lost_s[low as usize - 1] > MISSED_S_MIN,
        None => false,
    }
}

/// What a visit takes beside its bytes, as short and long ones of the same requests tell: nothing where all in flight complete together.
fn start_s(short: &[measured::Visit<'_>], long: &[measured::Visit<'_>], operation: Operation) -> f64 {
    let Some(usual) = long.first() else { return 0.0 };
    let [Some((short_s, short_bytes)), Some((long_s, long_bytes))] =
        [short, long].map(|visits| middle_of_alike(visits, usual, operation))
    else {
        return 0.0;
    };
    let s_per_byte = (long_s - short_s) / (long_bytes - short_bytes);
    if s_per_byte > 0.0 { (short_s - s_per_byte * short_bytes).max(0.0) } else { 0.0 }
}

/// What comes before the first completion is left out or counted in; drives that work together were at other requests by then, so that half of
/// it may be too much, and all of it where the host was late: on mounted drives of one server rates were 0.2 to 0.4 % high.
fn start_share(visit: &measured::Visit<'_>, operation: Operation, access: &Access) -> f64 {
    let Some(start_s) = visit.start_s(operation) else { return 0.0 };
    let is_all_of_it = access.may_be_late || !visit.is_in_turn(operation);
    let part = if is_all_of_it { 1.0 } else { 0.5 };
    part * start_s / (visit.summary.duration_ns as f64 / 1e9)
}

impl Gathered {
    fn add_whole(
        &mut self,
        run: &RunView<'_>,
        visit: &measured::Visit<'_>,
        operation: Operation,
        access: &Access,
    ) {
        if visit.summary.errors() > 0 {
            self.with_errors += 1;
            return;
        }
        let in_step = access.in_step.as_ref().and_then(|in_step| in_step.s_per_byte(run, visit));
        let seconds = in_step.or_else(|| seconds_per_byte(visit, operation, access)).unwrap_or(0.0);
        if !(seconds.is_finite() && seconds > 0.0) {
            self.too_short += 1;
            return;
        };
        if !access.moves_parts {
            self.start_shares.push(start_share(visit, operation, access));
        }
        let longest = visit.summary.totals_of(operation).and_then(|totals| totals.histogram.max());
        self.visits.push(Visit {
            phase: visit.phase,
            first_byte: visit.workload.range.first().get(),
            bytes: visit.summary.bytes().clamp(1, visit.workload.range.bytes().get().max(1)),
            seconds_per_byte: seconds,
            start_ns: visit.summary.start_ns,
            longest_ns: longest.unwrap_or_default().get(),
        });
    }

    /// Pieces of the slices of time in which requests were completed, without those in which the queue filled.
    fn add_pieces(
        &mut self,
        run: &RunView<'_>,
        visit: &measured::Visit<'_>,
        operation: Operation,
        piece_bytes: u64,
    ) {
        let ended_ns = visit.summary.ended_ns().unwrap_or(u64::MAX);
        let mut to_fill = visit.workload.in_flight_max();
        let (mut piece, mut ends_ns) = (Piece::default(), 0);
        for record in run.slices(visit.phase, operation) {
            if to_fill > 0 {
                to_fill = to_fill.saturating_sub(record.operations);
                continue;
            }
            if piece.bytes == 0 {
                piece.first_byte = record.offset_first;
                piece.start_ns = record.start_ns;
            } else if record.bytes > 0 && record.offset_first < piece.first_byte {
                piece =
                    Piece { first_byte: record.offset_first, start_ns: record.start_ns, ..Piece::default() };
            }
            piece.bytes += record.bytes;
            piece.errors += record.errors;
            if let Some(latency) = record.latency {
                piece.longest_ns = piece.longest_ns.max(latency.max_ns);
            }
            let until_ns = record.end_ns().min(ended_ns);
            ends_ns = until_ns;
            if piece.bytes >= piece_bytes {
                self.add_piece(visit.phase, std::mem::take(&mut piece), until_ns);
            }
        }
        self.add_rest(visit.phase, piece, ends_ns, piece_bytes);
    }

    /// What is left over at the end is a piece if it is long enough to show a rate, and else part of the one before.
    fn add_rest(&mut self, phase: u32, rest: Piece, until_ns: u64, piece_bytes: u64) {
        if rest.bytes >= piece_bytes / PIECES_MIN {
            return self.add_piece(phase, rest, until_ns);
        }
        let seconds = until_ns.saturating_sub(rest.start_ns) as f64 / 1e9;
        if let Some(before) = self.visits.last_mut()
            && before.phase == phase
            && rest.errors == 0
            && before.end_byte() == rest.first_byte
        {
            let all = before.seconds_per_byte * before.bytes as f64 + seconds;
            before.bytes += rest.bytes;
            before.seconds_per_byte = all / before.bytes as f64;
            before.longest_ns = before.longest_ns.max(rest.longest_ns);
        }
    }

    fn add_piece(&mut self, phase: u32, piece: Piece, until_ns: u64) {
        if piece.errors > 0 {
            self.with_errors += 1;
            return;
        }
        let seconds = until_ns.saturating_sub(piece.start_ns) as f64 / 1e9;
        self.visits.push(Visit {
            phase,
            first_byte: piece.first_byte,
            bytes: piece.bytes,
            seconds_per_byte: seconds / piece.bytes as f64,
            start_ns: piece.start_ns,
            longest_ns: piece.longest_ns,
        });
    }
}

#[derive(Default)]
struct Piece {
    first_byte: u64,
    start_ns: u64,
    bytes: u64,
    errors: u64,
    longest_ns: u64,
}
