//! Levels of rate, by what had been written.

use super::batch::{Batch, bytes_of, seconds_of};
use crate::stats::CONFIDENCE;
use crate::stats::change_point::{noise, stretches, without_outliers};
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use crate::stats::series::effective_count;
use model::estimate::Estimate;

/// A level has so many batches at least: one that was begun in the level before, one that is in it, and one that confirms that.
const PIECES_MIN: usize = 3;
/// Levels closer than this, as a logarithm, are one: a third of the smallest known drop, 480 to 400 MB/s (870 EVO, TechPowerUp).
pub(super) const STEP_MIN: f64 = 0.06;
/// Batches are never taken for steadier than this, as a share: a sixth of that step.
const NOISE_MIN: f64 = 0.01;

/// This many stalls recur and are a part of the rate; two may be chance.
const STALLS_MIN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub first: usize,
    pub end: usize,
    pub from_bytes: f64,
    pub bytes: f64,
    pub seconds: f64,
    /// What had been written before the batches by which its rate is judged, in bytes.
    pub judged_from_bytes: f64,
    pub judged_bytes: f64,
    /// The logarithm of what a byte took, in seconds, with how well that is known.
    pub cost: Mean,
    /// The same of all of them, stalls that were left out as well.
    pub(super) whole_cost: f64,
    /// The same of the batch in the middle, of which some stalls change nothing.
    pub(super) typical_cost: f64,
    /// The standard deviation of single batches, as a share.
    pub(super) noise: f64,
}

impl Level {
    pub fn bytes_per_second(&self) -> f64 {
        (-self.cost.value).exp()
    }

    /// Its rate in bytes per second, with its interval. One stall or two may be the drive's own or not: it holds the rate with them, too.
    pub fn rate(&self) -> Estimate {
        let cost = self.cost.interval(CONFIDENCE);
        let stalled = cost.high + (self.whole_cost - cost.value).max(0.0);
        Estimate { high: stalled, ..cost }.map_monotonic(|cost| (-cost).exp())
    }

    pub fn seconds_per_byte(&self) -> f64 {
        self.cost.value.exp()
    }

    /// By how many standard errors another level differs. Recurring stalls of that many seconds are counted to one.
    pub(super) fn errors_from(&self, other: &Level, stall_s: f64) -> f64 {
        let variance = self.variance(self.noise, stall_s) + other.variance(self.noise, stall_s);
        (other.cost.value - self.cost.value).abs() / variance.sqrt()
    }

    fn variance(&self, noise: f64, stall_s: f64) -> f64 {
        noise * noise / self.batches() as f64 + (stall_s / self.seconds).powi(2)
    }

    /// By how much a byte takes longer in another level, as logarithms: in the mean or the median, whichever is less, for stalls.
    pub(super) fn step_to(&self, other: &Level) -> f64 {
        let (whole, typical) = (other.cost.value - self.cost.value, other.typical_cost - self.typical_cost);
        if whole.abs() < typical.abs() { whole } else { typical }
    }

    /// By how much the rate over so many bytes of it may differ from its own, as a share: the more, the fewer they are.
    pub(super) fn error_over(&self, bytes: f64) -> f64 {
        // The variance of its mean, as that of the sum of independent parts.
        (self.cost.variance * self.judged_bytes / bytes.max(1.0)).sqrt()
    }

    /// By how much its second half differs from the first, as logarithms, without the batches at its borders.
    pub(super) fn trend(&self, batches: &[Batch]) -> f64 {
        let own = &batches[self.first..self.end];
        let inner = if own.len() > 3 { &own[1..own.len() - 1] } else { own };
        let half = inner.len() / 2;
        typical_cost(&inner[inner.len() - half..]) - typical_cost(&inner[..half])
    }

    /// By how much a byte takes longer in the next level's first `count` batches than in this one's last, the border's two left out.
    pub(super) fn step_at_border(&self, next: &Level, batches: &[Batch], count: usize) -> f64 {
        let last = self.end - usize::from(self.batches() > 1);
        let first = next.first + usize::from(next.batches() > 1);
        let before = &batches[last.saturating_sub(count).max(self.first)..last];
        let behind = &batches[first..(first + count).min(next.end)];
        typical_cost(behind) - typical_cost(before)
    }

    pub fn batches(&self) -> usize {
        self.end - self.first
    }

    /// This one and the next as one, of the stream that both are of. By how much the rate drifts in it, as logarithms, is no stall.
    pub(super) fn joined(&self, next: &Level, batches: &[Batch], drift: f64) -> Level {
        Level::within(batches, self.first, next.end, self.noise, drift)
    }

    /// Of a stream the batches from `first` to `end`, without those at a border and without stalls unless they recur.
    pub(super) fn of(batches: &[Batch], first: usize, end: usize, noise: f64) -> Level {
        Level::within(batches, first, end, noise, noise)
    }

    /// The same, with batches that lie that far from its middle being no stalls.
    fn within(batches: &[Batch], first: usize, end: usize, noise: f64, spread: f64) -> Level {
        let own = &batches[first..end];
        let from = usize::from(first > 0);
        let to = usize::from(end < batches.len());
        let (from, to) = if own.len() > from + to { (from, own.len() - to) } else { (0, own.len()) };
        let inner = &own[from..to];
        Level {
            first,
            end,
            from_bytes: bytes_of(&batches[..first]),
            bytes: bytes_of(own),
            judged_from_bytes: bytes_of(&batches[..first + from]),
            judged_bytes: bytes_of(inner),
            seconds: seconds_of(own),
            cost: cost(inner, noise, spread),
            whole_cost: (seconds_of(inner) / bytes_of(inner)).ln(),
            typical_cost: typical_cost(inner),
            noise,
        }
    }
}

fn logs_of(batches: &[Batch]) -> Vec<f64> {
    batches.iter().map(|batch| batch.seconds_per_byte().ln()).collect()
}

/// The logarithm of what a byte takes in the batch in the middle.
fn typical_cost(batches: &[Batch]) -> f64 {
    let logs = logs_of(batches);
    let alone = logs.first().copied().unwrap_or(0.0);
    Sample::new(logs).as_ref().map_or(alone, Sample::median)
}

/// The logarithm of what a byte takes. Batches are of different sizes, and the small ones come first: each counts by what it wrote.
fn cost(batches: &[Batch], noise: f64, spread: f64) -> Mean {
    let logs = logs_of(batches);
    let alone = Mean {
        value: logs.first().copied().unwrap_or(0.0),
        variance: noise * noise,
        degrees_of_freedom: 1.0,
    };
    let Some(sample) = Sample::new(logs.clone()) else { return alone };
    let median = sample.median();
    let spread = sample.scaled_mad().max(spread);
    let stalls = logs.iter().filter(|log| *log - median > 3.0 * spread).count();
    let (mut bytes, mut seconds) = (0.0, 0.0);
    let mut kept = Vec::new();
    for (batch, &log) in batches.iter().zip(&logs) {
        if stalls < STALLS_MIN && (log - median).abs() > 3.0 * spread {
            continue;
        }
        bytes += batch.bytes;
        seconds += batch.seconds;
        kept.push(log);
    }
    let value = if bytes > 0.0 { (seconds / bytes).ln() } else { median };
    let kept = Sample::new(kept).unwrap_or(sample);
    let effective = effective_count(&kept);
    let variance = kept.variance().max(noise * noise) / effective;
    Mean { value, variance, degrees_of_freedom: (effective - 1.0).max(1.0) }
}

/// How long a stall takes if stalls recur in these batches, in seconds; else nothing.
pub(super) fn recurring_stall_s(batches: &[Batch], noise: f64) -> f64 {
    let logs = logs_of(batches);
    let calm = without_outliers(&logs, noise);
    let mut stalls = Vec::new();
    for (batch, (log, calm)) in batches.iter().zip(logs.iter().zip(&calm)) {
        if log > calm {
            stalls.push(batch.seconds - batch.bytes * calm.exp());
        }
    }
    if stalls.len() < STALLS_MIN {
        return 0.0;
    }
    Sample::median_or_zero(stalls)
}

/// The levels of a stream, in the order of time; empty for a stream that is too short to tell.
pub fn levels(batches: &[Batch]) -> Vec<Level> {
    let logs = logs_of(batches);
    let Some(noise) = noise(&logs) else { return Vec::new() };
    let noise = noise.max(NOISE_MIN);
    let calm = without_outliers(&logs, noise);
    let mut starts = stretches(&calm, noise, PIECES_MIN);
    loop {
        let mut found: Vec<Level> = Vec::new();
        for (index, &first) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(batches.len());
            found.push(Level::of(batches, first, end, noise));
        }
        let (mut smallest, mut joined) = (STEP_MIN, None);
        for (index, pair) in found.windows(2).enumerate() {
            let step = pair[0].step_to(&pair[1]).abs();
            if step < smallest {
                (smallest, joined) = (step, Some(index + 1));
            }
        }
        match joined {
            Some(index) => drop(starts.remove(index)),
            None => return found,
        }
    }
}
