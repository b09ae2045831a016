//! What a rest gives back: how much is written at the full rate after it, until the rate is down again.

use super::fall::Fall;
use super::history::{History, Stream};
use model::plan::PhaseKind;
use model::run::RunView;

/// No rate of some pieces is known better than this, as a share.
const RATE_ERROR_MIN: f64 = 0.01;

/// What one rest gave back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regained {
    /// How long the drive was left alone, in seconds.
    pub rest_s: f64,
    /// What was written at the full rate after it, in bytes.
    pub bytes: f64,
    /// What that is known to, in bytes.
    pub error_bytes: f64,
    /// Whether the rate was down again in the end.
    pub is_down: bool,
}

impl Regained {
    /// Whether it is more than nothing.
    pub fn is_some(&self) -> bool {
        self.bytes > 3.0 * self.error_bytes
    }

    /// Whether it is known to a tenth.
    pub fn is_known(&self) -> bool {
        self.bytes > 10.0 * self.error_bytes
    }
}

/// What each rest gave back, in the order of time.
pub fn regained(run: &RunView<'_>, history: &History<'_>, fall: &Fall) -> Vec<Regained> {
    let of = |stream: &Stream| {
        let phases = stream.before.iter().filter_map(|&phase| run.phases.get(phase as usize));
        let (idle, other): (Vec<_>, Vec<_>) =
            phases.partition(|summary| summary.phase.kind == PhaseKind::Idle);
        let rest_s = idle.iter().map(|summary| summary.duration_ns as f64 / 1e9).sum::<f64>();
        (rest_s > 0.0 && other.is_empty()).then(|| of_stream(rest_s, stream, fall))
    };
    history.streams.iter().skip(1).filter_map(of).collect()
}

/// Of all that was written after the rest, as much at the full rate as explains the time it took.
fn of_stream(rest_s: f64, stream: &Stream, fall: &Fall) -> Regained {
    let (fast, slow) = (fall.before.seconds_per_byte(), fall.after.seconds_per_byte());
    let (bytes, seconds) = (stream.bytes(), stream.seconds());
    let share_of_time = 1.0 - fast / slow;
    let regained = (bytes - seconds / slow) / share_of_time;
    let at_full_rate = regained.clamp(0.0, bytes);
    let slow_bytes = bytes - at_full_rate;
    let slow_error = slow_bytes * fall.after.error_over(slow_bytes).max(RATE_ERROR_MIN);
    let fast_error = at_full_rate * fall.before.error_over(at_full_rate).max(RATE_ERROR_MIN) * fast / slow;
    let halfway = f64::midpoint(fall.before.cost.value, fall.after.cost.value);
    let is_down = stream.pieces.last().is_some_and(|piece| piece.seconds_per_byte().ln() > halfway);
    Regained {
        rest_s,
        bytes: regained.max(0.0),
        error_bytes: slow_error.hypot(fast_error) / share_of_time,
        is_down,
    }
}
