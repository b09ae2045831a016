//! The rate over position, and the time of a stretch from it.

use super::falling::Falling;
use super::unknown::RateUnknown;
use crate::stats::scaled;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A hundredth that is missing at an end is overlooked: blocks that do not fit, and where the first visit began.
pub(super) const EDGE_SHARE: u64 = 100;

/// Steps in which the place is looked for where a falling rate becomes too low.
const CELLS: u32 = 1024;

const SLIVER_SHARE: u64 = 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct RateCurve {
    pub(super) covered: ByteRange,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Of one rate each, in order, without gaps. The whole is known to `whole`, and no part of it better.
    Zones {
        pieces: Vec<Piece>,
        whole: Option<Estimate>,
    },
    Even(Estimate),
    Falling(Falling),
    /// Somewhere between the fastest and the slowest, with that mean.
    Between {
        mean: Estimate,
        fastest: f64,
        slowest: f64,
    },
    MeanOnly(Estimate),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub range: ByteRange,
    pub seconds_per_byte: Estimate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    Zones(usize),
    /// Start, end and mean are the same within their intervals.
    Even,
    Ends,
    /// The mean; not which part is how fast.
    Mean,
}

impl RateCurve {
    /// A curve that is known exactly: zones of one rate in bytes per second. Empty when a rate is not positive.
    pub fn exact(zones: &[(ByteRange, f64)]) -> Option<RateCurve> {
        let mut pieces = Vec::new();
        for &(range, rate) in zones {
            if !(rate.is_finite() && rate > 0.0) {
                return None;
            }
            pieces.push(Piece { range, seconds_per_byte: Estimate::exact(1.0 / rate) });
        }
        RateCurve::of_pieces(pieces, None)
    }

    pub(super) fn of_pieces(pieces: Vec<Piece>, whole: Option<Estimate>) -> Option<RateCurve> {
        let (first, last) = (pieces.first()?, pieces.last()?);
        let covered = ByteRange::new(first.range.first(), last.range.end() - first.range.first())?;
        let shape = match pieces.as_slice() {
            [only] => Shape::Even(whole.unwrap_or(only.seconds_per_byte)),
            _ => Shape::Zones { pieces, whole },
        };
        Some(RateCurve { covered, shape })
    }

    pub fn covered(&self) -> ByteRange {
        self.covered
    }

    pub fn basis(&self) -> Basis {
        match &self.shape {
            Shape::Zones { pieces, .. } => Basis::Zones(pieces.len()),
            Shape::Even(_) => Basis::Even,
            Shape::Falling(_) => Basis::Ends,
            Shape::Between { .. } | Shape::MeanOnly(_) => Basis::Mean,
        }
    }

    pub fn borders(&self) -> Vec<Offset> {
        match &self.shape {
            Shape::Zones { pieces, .. } => pieces.iter().skip(1).map(|piece| piece.range.first()).collect(),
            _ => Vec::new(),
        }
    }

    pub fn time_of(&self, range: ByteRange) -> Result<Estimate, RateUnknown> {
        if range.is_empty() {
            return Ok(Estimate::exact(0.0));
        }
        if !self.covered.contains(&range) {
            return Err(RateUnknown::NotCovered { covered: self.covered });
        }
        let bytes = self.covered.bytes().as_f64();
        let (a, b) = (self.place(range.first()), self.place(range.end()));
        Ok(match &self.shape {
            Shape::Zones { pieces, whole } => zones_time(pieces, *whole, range),
            Shape::Even(seconds) => scaled(seconds, range.bytes().as_f64()),
            Shape::Falling(falling) => scaled(&falling.time(a, b), bytes),
            Shape::Between { mean, fastest, slowest } => {
                scaled(&between(mean, *fastest, *slowest, b - a), bytes)
            }
            Shape::MeanOnly(mean) if is_nearly(range, self.covered) => scaled(mean, range.bytes().as_f64()),
            Shape::MeanOnly(_) => return Err(RateUnknown::MeanOnly),
        })
    }

    /// Bytes over the time of the stretch, in bytes per second.
    pub fn mean_rate(&self, range: ByteRange) -> Result<Estimate, RateUnknown> {
        Ok(rate_over(range.bytes().as_f64(), &self.time_of(range)?))
    }

    /// The rates of the fastest and of the slowest place of the stretch, in bytes per second.
    pub fn rates_in(&self, range: ByteRange) -> Result<(Estimate, Estimate), RateUnknown> {
        let mean = self.mean_rate(range)?;
        let (mut fastest, mut slowest) = (None, None);
        match &self.shape {
            Shape::Zones { pieces, .. } => {
                for piece in pieces {
                    if !is_worth_naming(piece.range, range) {
                        continue;
                    }
                    let rate = inverse(piece.seconds_per_byte);
                    let value = rate.value;
                    if fastest.is_none_or(|fastest: Estimate| value >= fastest.value) {
                        fastest = Some(rate);
                    }
                    if slowest.is_none_or(|slowest: Estimate| value < slowest.value) {
                        slowest = Some(rate);
                    }
                }
            }
            Shape::Falling(falling) => {
                fastest = Some(inverse(falling.at(self.place(range.first()))));
                slowest = Some(inverse(falling.at(self.place(range.end()))));
            }
            _ => {}
        }
        Ok((fastest.unwrap_or(mean), slowest.unwrap_or(mean)))
    }

    /// Runs of zones of at least that rate, in order; or the stretch up to where a falling curve reaches it.
    pub fn at_least(&self, bytes_per_second: f64) -> Vec<ByteRange> {
        let mut found: Vec<ByteRange> = Vec::new();
        match &self.shape {
            Shape::Zones { pieces, .. } => {
                for piece in pieces {
                    if 1.0 / piece.seconds_per_byte.value < bytes_per_second {
                        continue;
                    }
                    match found.last_mut() {
                        Some(last) if last.end() == piece.range.first() => *last = joined(*last, piece.range),
                        _ => found.push(piece.range),
                    }
                }
            }
            Shape::Falling(falling) => {
                let mut fast: u32 = 0;
                while fast < CELLS && {
                    let middle = (f64::from(fast) + 0.5) / f64::from(CELLS);
                    1.0 / falling.at(middle).value >= bytes_per_second
                } {
                    fast += 1;
                }
                let bytes = u128::from(self.covered.bytes().get()) * u128::from(fast) / u128::from(CELLS);
                let range = ByteRange::new(self.covered.first(), Bytes::new(bytes as u64));
                found.extend(range.filter(|range| !range.is_empty()));
            }
            Shape::Even(seconds) | Shape::MeanOnly(seconds) | Shape::Between { mean: seconds, .. } => {
                if 1.0 / seconds.value >= bytes_per_second {
                    found.push(self.covered);
                }
            }
        }
        found
    }

    fn place(&self, offset: Offset) -> f64 {
        (offset - self.covered.first()).as_f64() / self.covered.bytes().as_f64()
    }
}

pub(super) fn rate_over(bytes: f64, seconds: &Estimate) -> Estimate {
    seconds.map_monotonic(|seconds| bytes / seconds)
}

pub(super) fn inverse(estimate: Estimate) -> Estimate {
    estimate.map_monotonic(f64::recip)
}

/// Whether the zone is more than a sliver of the range, which alignment leaves at its ends.
fn is_worth_naming(zone: ByteRange, range: ByteRange) -> bool {
    let (first, end) = (zone.first().max(range.first()), zone.end().min(range.end()));
    end > first && (end - first).get() > range.bytes().get() / SLIVER_SHARE
}

/// Both together, when the second begins where the first ends.
fn joined(first: ByteRange, second: ByteRange) -> ByteRange {
    ByteRange::new(first.first(), second.end() - first.first()).unwrap_or(first)
}

/// Whether at most a hundredth of `whole` is missing.
fn is_nearly(range: ByteRange, whole: ByteRange) -> bool {
    range.bytes().get() >= whole.bytes().get() - whole.bytes().get() / EDGE_SHARE
}

/// The zones' times added up, errors in quadrature, as each was visited by itself; none is better known than the whole.
fn zones_time(pieces: &[Piece], whole: Option<Estimate>, range: ByteRange) -> Estimate {
    let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
    let (mut confidence, mut count) = (1.0_f64, f64::INFINITY);
    for Piece { range: zone, seconds_per_byte } in pieces {
        if !zone.overlaps(&range) {
            continue;
        }
        let bytes = (zone.end().min(range.end()) - zone.first().max(range.first())).as_f64();
        value += bytes * seconds_per_byte.value;
        below += (bytes * (seconds_per_byte.value - seconds_per_byte.low)).powi(2);
        above += (bytes * (seconds_per_byte.high - seconds_per_byte.value)).powi(2);
        confidence = confidence.min(seconds_per_byte.confidence);
        count = count.min(seconds_per_byte.effective_count);
    }
    let (mut least_below, mut least_above) = (0.0, 0.0);
    if let Some(whole) = whole {
        least_below = (whole.low - whole.value).abs() / whole.value;
        least_above = (whole.high - whole.value).abs() / whole.value;
        confidence = confidence.min(whole.confidence);
    }
    Estimate {
        value,
        low: value - below.sqrt().max(least_below * value),
        high: value + above.sqrt().max(least_above * value),
        confidence,
        effective_count: count,
    }
}

/// The time of a share of the whole, wherever its fast and slow places are.
fn between(mean: &Estimate, fastest: f64, slowest: f64, share: f64) -> Estimate {
    let rest = 1.0 - share;
    Estimate {
        value: mean.value * share,
        low: (fastest * share).max(mean.low - slowest * rest).min(mean.value * share),
        high: (slowest * share).min(mean.high - fastest * rest).max(mean.value * share),
        ..*mean
    }
}
