//! What a rest gives back: how much is written at the full rate after it, until the rate is down again.

use super::batch::Stream;
use super::drop::RateDrop;
use super::history::History;
use super::level::recurring_stall_s;
use model::plan::PhaseKind;
use model::run::RunView;

/// No rate of some batches is known better than this, as a share.
const RATE_ERROR_MIN: f64 = 0.01;
/// After one rest something else may have slowed the drive; after so many in a row it is lower.
const RESTS_BELOW_MIN: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regained {
    pub rest_s: f64,
    /// What was written at the full rate after it, in bytes.
    pub bytes: f64,
    pub error_bytes: f64,
    pub is_down: bool,
}

impl Regained {
    pub fn is_some(&self) -> bool {
        self.bytes > 3.0 * self.error_bytes
    }

    pub fn is_known(&self) -> bool {
        self.bytes > 10.0 * self.error_bytes
    }
}

/// A further drop that came while rests were left: behind them the rate comes down to less than before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Below {
    /// What had been written in all when the rate last came down to what it was after the drop, in bytes.
    pub from_bytes: f64,
    /// What had been written in all when it first came down to less.
    pub to_bytes: f64,
    first: usize,
    /// What is left of the rate then, at most, in bytes per second: some of it may still have been written faster.
    pub bytes_per_second: f64,
}

/// Whether the rate comes down to less than after the drop, from some rest on until the end.
pub fn below(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Option<Below> {
    let least = drop.own_level_from(drop.last());
    // A stall is no lower rate: of a small batch it may take much.
    let stall_s = recurring_stall_s(history.first(), drop.last().noise);
    let mut written = vec![0.0];
    for stream in &history.streams {
        written.push(written[written.len() - 1] + stream.bytes());
    }
    let is_below = |index: usize| {
        let stream = &history.streams[index];
        let Some(batch) = stream.batches.last() else { return false };
        let cost = ((batch.seconds - stall_s) / batch.bytes).max(f64::MIN_POSITIVE).ln();
        rest_s(run, stream).is_some() && cost >= least
    };
    let count = history.streams.len();
    let mut first = count;
    while first > 1 && is_below(first - 1) {
        first -= 1;
    }
    if count - first < RESTS_BELOW_MIN {
        return None;
    }
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for stream in history.streams[first..].iter() {
        let Some(batch) = stream.batches.last() else { continue };
        bytes += batch.bytes;
        seconds += batch.seconds;
    }
    let (from_bytes, to_bytes) = (written[first], written[first + 1]);
    Some(Below { from_bytes, to_bytes, first, bytes_per_second: bytes / seconds })
}

/// How long the rest right before a stream was; none where it did not begin after one. Writes before the rest are no part of it.
fn rest_s(run: &RunView<'_>, stream: &Stream) -> Option<f64> {
    let mut rest_s = 0.0;
    for phase in stream.before.iter().rev() {
        match run.phases.get(*phase as usize) {
            Some(summary) if summary.phase.kind == PhaseKind::Idle => {
                rest_s += summary.duration_ns as f64 / 1e9;
            }
            Some(_) => break,
            None => {}
        }
    }
    (rest_s > 0.0).then_some(rest_s)
}

pub fn regained(run: &RunView<'_>, history: &History<'_>, drop: &RateDrop) -> Vec<Regained> {
    let below = below(run, history, drop);
    let mut gains = Vec::new();
    for (index, stream) in history.streams.iter().enumerate().skip(1) {
        let Some(rest_s) = rest_s(run, stream) else { continue };
        let mut slow_s = drop.last().seconds_per_byte();
        if let Some(below) = below
            && index >= below.first
        {
            slow_s = 1.0 / below.bytes_per_second;
        }
        let mut gain = of_stream(rest_s, stream, drop, slow_s);
        if let Some(below) = below
            && index == below.first
        {
            // It fell while this was written: to how much it was slow at which rate nobody can say.
            gain.error_bytes = gain.error_bytes.max(stream.bytes());
        }
        gains.push(gain);
    }
    gains
}

/// As much at the full rate, of all that was written after the rest, as explains its time; `slow_s` a byte when the rate is down.
fn of_stream(rest_s: f64, stream: &Stream, drop: &RateDrop, slow: f64) -> Regained {
    let lowest = drop.last();
    let fast = drop.before.seconds_per_byte();
    let (bytes, seconds) = (stream.bytes(), stream.seconds());
    let share_of_time = 1.0 - fast / slow;
    let regained = (bytes - seconds / slow) / share_of_time;
    let at_full_rate = regained.clamp(0.0, bytes);
    let slow_bytes = bytes - at_full_rate;
    let slow_error = slow_bytes * lowest.error_over(slow_bytes).max(RATE_ERROR_MIN);
    let fast_error = at_full_rate * drop.before.error_over(at_full_rate).max(RATE_ERROR_MIN) * fast / slow;
    let halfway = f64::midpoint(drop.before.cost.value, drop.after.cost.value);
    let is_down = matches!(stream.batches.last(), Some(batch) if batch.seconds_per_byte().ln() > halfway);
    Regained {
        rest_s,
        bytes: regained.max(0.0),
        error_bytes: slow_error.hypot(fast_error) / share_of_time,
        is_down,
    }
}
