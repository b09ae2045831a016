//! The rate over position, and the time of a stretch from it.

use super::falling::Falling;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A hundredth that is missing at an end is overlooked: blocks that do not fit are left out there, and the first visit
/// begins somewhat after the start.
pub(super) const EDGE_SHARE: u64 = 100;

/// A thousandth of a stretch says nothing of it.
const SLIVER_SHARE: u64 = 1000;

/// Seconds per byte over a stretch of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct RateCurve {
    pub(super) covered: ByteRange,
    pub(super) shape: Shape,
}

/// How the rate goes over what is covered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Of one rate each, in order, without gaps. The whole is known to `whole`, and no part of it better.
    Zones { pieces: Vec<Piece>, whole: Option<Estimate> },
    /// The same everywhere.
    Even(Estimate),
    /// Falling from the start to the end.
    Falling(Falling),
    /// Somewhere between the fastest and the slowest, with that mean.
    Between { mean: Estimate, fastest: f64, slowest: f64 },
    /// The mean of all of it, and nothing else.
    MeanOnly(Estimate),
}

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub range: ByteRange,
    pub seconds_per_byte: Estimate,
}

/// What a curve rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// That many zones.
    Zones(usize),
    /// Start, end and mean are the same within their intervals.
    Even,
    /// The rates at both ends and the mean.
    Ends,
    /// The mean; not which part is how fast.
    Mean,
}

impl RateCurve {
    /// A curve that is known exactly: of one rate each, in bytes per second. Empty when there is no rate, or one is not
    /// a positive number.
    pub fn exact(zones: &[(ByteRange, f64)]) -> Option<RateCurve> {
        let piece = |&(range, rate): &(ByteRange, f64)| {
            let is_rate = rate.is_finite() && rate > 0.0;
            is_rate.then(|| Piece { range, seconds_per_byte: Estimate::exact(1.0 / rate) })
        };
        let pieces: Vec<Piece> = zones.iter().map(piece).collect::<Option<_>>()?;
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

    /// The stretch that it tells of.
    pub fn covered(&self) -> ByteRange {
        self.covered
    }

    /// What it rests on.
    pub fn basis(&self) -> Basis {
        match &self.shape {
            Shape::Zones { pieces, .. } => Basis::Zones(pieces.len()),
            Shape::Even(_) => Basis::Even,
            Shape::Falling(_) => Basis::Ends,
            Shape::Between { .. } | Shape::MeanOnly(_) => Basis::Mean,
        }
    }

    /// Where one zone ends and the next begins, in order.
    pub fn borders(&self) -> Vec<Offset> {
        match &self.shape {
            Shape::Zones { pieces, .. } => pieces.iter().skip(1).map(|piece| piece.range.first()).collect(),
            _ => Vec::new(),
        }
    }

    /// Seconds that the stretch takes.
    ///
    /// # Errors
    /// When it is not covered, or only the mean of more than it is known: a sentence.
    pub fn time_of(&self, range: ByteRange) -> Result<Estimate, String> {
        if range.is_empty() {
            return Ok(Estimate::exact(0.0));
        }
        if !self.covered.contains(&range) {
            return Err(format!(
                "Only bytes {} to {} of the drive were measured. Measure all of it: drivescope surface TARGET.",
                self.covered.first().0,
                self.covered.end().0
            ));
        }
        let bytes = self.covered.bytes().0 as f64;
        let (a, b) = (self.place(range.first()), self.place(range.end()));
        Ok(match &self.shape {
            Shape::Zones { pieces, whole } => zones_time(pieces, *whole, range),
            Shape::Even(seconds) => seconds.map_monotonic(|seconds| seconds * range.bytes().0 as f64),
            Shape::Falling(falling) => falling.time(a, b).map_monotonic(|seconds| seconds * bytes),
            Shape::Between { mean, fastest, slowest } => {
                between(mean, *fastest, *slowest, b - a).map_monotonic(|seconds| seconds * bytes)
            }
            Shape::MeanOnly(mean) if is_nearly(range, self.covered) => {
                mean.map_monotonic(|seconds| seconds * range.bytes().0 as f64)
            }
            Shape::MeanOnly(_) => {
                return Err("Only the mean rate of all of it is known, and not which part is how fast. Find that out: \
                            drivescope surface TARGET."
                    .into());
            }
        })
    }

    /// Bytes over the time of the stretch, in bytes per second.
    ///
    /// # Errors
    /// As those of [`RateCurve::time_of`].
    pub fn mean_rate(&self, range: ByteRange) -> Result<Estimate, String> {
        let bytes = range.bytes().0 as f64;
        Ok(self.time_of(range)?.map_monotonic(|seconds| bytes / seconds))
    }

    /// The rates of the fastest and of the slowest place of the stretch, in bytes per second.
    ///
    /// # Errors
    /// When not even one place of it is known: a sentence.
    pub fn rates_in(&self, range: ByteRange) -> Result<(Estimate, Estimate), String> {
        let mean = self.mean_rate(range)?;
        let as_rate = |seconds: Estimate| seconds.map_monotonic(|seconds| 1.0 / seconds);
        Ok(match &self.shape {
            Shape::Zones { pieces, .. } => {
                let inside = pieces.iter().filter(|piece| is_worth_naming(piece.range, range));
                let rates: Vec<Estimate> = inside.map(|piece| as_rate(piece.seconds_per_byte)).collect();
                let by_value = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
                let fastest = rates.iter().max_by(by_value).copied().unwrap_or(mean);
                (fastest, rates.iter().min_by(by_value).copied().unwrap_or(mean))
            }
            Shape::Falling(falling) => {
                (as_rate(falling.at(self.place(range.first()))), as_rate(falling.at(self.place(range.end()))))
            }
            _ => (mean, mean),
        })
    }

    /// Runs of zones of at least that rate, in order; or the stretch up to where a falling curve reaches it.
    pub fn at_least(&self, bytes_per_second: f64) -> Vec<ByteRange> {
        let is_fast = |seconds: f64| 1.0 / seconds >= bytes_per_second;
        match &self.shape {
            Shape::Zones { pieces, .. } => {
                let mut found: Vec<ByteRange> = Vec::new();
                for piece in pieces.iter().filter(|piece| is_fast(piece.seconds_per_byte.value)) {
                    match found.last_mut() {
                        Some(last) if last.end() == piece.range.first() => {
                            *last = joined(*last, piece.range);
                        }
                        _ => found.push(piece.range),
                    }
                }
                found
            }
            Shape::Falling(falling) => {
                let bytes = self.covered.bytes().0;
                let cells = 1024;
                let fast =
                    (0..cells).take_while(|cell| is_fast(falling.at((*cell as f64 + 0.5) / 1024.0).value));
                let length = (u128::from(bytes) * fast.count() as u128 / cells as u128) as u64;
                let range = ByteRange::new(self.covered.first(), Bytes(length));
                range.filter(|range| !range.is_empty()).into_iter().collect()
            }
            Shape::Even(seconds) | Shape::MeanOnly(seconds) | Shape::Between { mean: seconds, .. } => {
                is_fast(seconds.value).then_some(self.covered).into_iter().collect()
            }
        }
    }

    /// Where it lies in what is covered, from 0 to 1.
    fn place(&self, offset: Offset) -> f64 {
        (offset - self.covered.first()).0 as f64 / self.covered.bytes().0 as f64
    }
}

/// Whether the zone is more than a sliver of the range, which alignment leaves at its ends.
fn is_worth_naming(zone: ByteRange, range: ByteRange) -> bool {
    let (first, end) = (zone.first().max(range.first()), zone.end().min(range.end()));
    end > first && (end - first).0 > range.bytes().0 / SLIVER_SHARE
}

/// Both together, when the second begins where the first ends.
fn joined(first: ByteRange, second: ByteRange) -> ByteRange {
    ByteRange::new(first.first(), second.end() - first.first()).unwrap_or(first)
}

/// Whether at most a hundredth of `whole` is missing.
fn is_nearly(range: ByteRange, whole: ByteRange) -> bool {
    range.bytes().0 >= whole.bytes().0 - whole.bytes().0 / EDGE_SHARE
}

/// The zones' times added up. What is not known of each is added in quadrature, for each was visited by itself; but no part
/// is known to a smaller share than the whole, whose visits are the same.
fn zones_time(pieces: &[Piece], whole: Option<Estimate>, range: ByteRange) -> Estimate {
    let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
    let (mut confidence, mut count) = (1.0_f64, f64::INFINITY);
    for Piece { range: zone, seconds_per_byte } in pieces.iter().filter(|piece| piece.range.overlaps(&range))
    {
        let bytes = (zone.end().min(range.end()) - zone.first().max(range.first())).0 as f64;
        value += bytes * seconds_per_byte.value;
        below += (bytes * (seconds_per_byte.value - seconds_per_byte.low)).powi(2);
        above += (bytes * (seconds_per_byte.high - seconds_per_byte.value)).powi(2);
        confidence = confidence.min(seconds_per_byte.confidence);
        count = count.min(seconds_per_byte.effective_count);
    }
    let share = |end: f64, whole: Estimate| (end - whole.value).abs() / whole.value;
    let (least_below, least_above) =
        whole.map_or((0.0, 0.0), |whole| (share(whole.low, whole), share(whole.high, whole)));
    Estimate {
        value,
        low: value - below.sqrt().max(least_below * value),
        high: value + above.sqrt().max(least_above * value),
        confidence: whole.map_or(confidence, |whole| confidence.min(whole.confidence)),
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
