//! Steady state by SNIA's Performance Test Specification (2.0): over five rounds the rates lie within 20 % of their mean, and the
//! line through them moves by at most 10 % of it. fio's slope is per round, four times as much over the window.

use super::batch::{Batch, bytes_of};
use crate::stats::mean::Mean;
use model::units::Bytes;

/// Rounds in the window, and what they may differ by.
const ROUNDS: usize = 5;
const RANGE_MAX: f64 = 0.2;
const SLOPE_MAX: f64 = 0.1;
/// The rounds are the last half of all that was written: the rate stayed as it is while as much again was written.
const WINDOW_SHARE: f64 = 0.5;
/// So often a flash drive is written over before its rate can be the lasting one (SNIA: twice the capacity before the first round).
pub const WRITTEN_OVER_MIN: f64 = 2.0;
/// SNIA writes twice the capacity first (PTS 2.0), and then up to four times for write saturation.
const FILLS_MAX: f64 = 5.0;
/// On a disk with moving parts it depends on its media cache: more than six times the largest one (25 GB; Skylight, 2015).
const DISK_BYTES_MAX: Bytes = Bytes::new(160_000_000_000);

/// Before so much was written, or to a smaller range, a disk is not taken to be steady: the largest media cache measured, twice, for data are
/// overwritten (25 GB; Skylight, 2015).
pub const DISK_SETTLED: f64 = 50e9;

/// How much is written to a range to come to a steady rate, unless somebody says how much.
pub fn steady_bytes_max(range: Bytes, is_mechanical: bool) -> Bytes {
    if is_mechanical { DISK_BYTES_MAX } else { Bytes::new((range.as_f64() * FILLS_MAX) as u64) }
}

/// The last half of what was written, in five rounds of as many bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    pub bytes_per_second: Vec<f64>,
    pub mean: Mean,
    pub range_ratio: f64,
    /// How far the line through them rises or drops over the mean.
    pub slope_ratio: f64,
}

impl Rounds {
    pub fn are_steady(&self) -> bool {
        self.range_ratio <= RANGE_MAX && self.slope_ratio <= SLOPE_MAX
    }
}

/// The rounds of a stream; none when it is too short to have any.
pub fn rounds(batches: &[Batch]) -> Option<Rounds> {
    if batches.len() < 2 * ROUNDS {
        return None;
    }
    let total = bytes_of(batches);
    let from = total * (1.0 - WINDOW_SHARE);
    let size = (total - from) / ROUNDS as f64;
    let at: Vec<f64> = (0..=ROUNDS).map(|round| seconds_to(batches, from + size * round as f64)).collect();
    let rates: Vec<f64> = at.windows(2).map(|pair| size / (pair[1] - pair[0])).collect();
    let count = rates.len() as f64;
    let average = rates.iter().sum::<f64>() / count;
    let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = Mean { value: (total - from) / (at[ROUNDS] - at[0]), ..Mean::about(average, &rates) };
    let slope_ratio = slope(&rates).abs() * (count - 1.0) / average;
    Some(Rounds { bytes_per_second: rates, mean, range_ratio: (most - least) / average, slope_ratio })
}

/// How long it took to write so much; within a batch as long as its rate says.
fn seconds_to(batches: &[Batch], bytes: f64) -> f64 {
    let (mut written, mut seconds) = (0.0, 0.0);
    for batch in batches {
        if written + batch.bytes >= bytes {
            return seconds + (bytes - written) * batch.seconds_per_byte();
        }
        written += batch.bytes;
        seconds += batch.seconds;
    }
    seconds
}

fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (mut products, mut squares) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let at = index as f64 - middle;
        products += at * (value - mean);
        squares += at * at;
    }
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(rate: impl Fn(usize) -> f64) -> Vec<Batch> {
        (0..100)
            .map(|index| Batch {
                phase: index as u32,
                start_s: 0.0,
                bytes: 1e6,
                seconds: 1e6 / rate(index),
                flush_s: 0.0,
            })
            .collect()
    }

    #[test]
    fn a_level_is_steady_and_a_decline_is_not() {
        let level = rounds(&batches(|index| if index < 40 { 9e6 } else { 1e6 })).unwrap();
        assert!(level.are_steady() && (level.mean.value / 1e6 - 1.0).abs() < 1e-9, "{level:?}");
        // From 100 to 80 over the rounds: the range is less than 20 %, the slope more than 10 %.
        let falling = rounds(&batches(|index| 100e6 - 0.4e6 * (index as f64 - 50.0))).unwrap();
        assert!(
            !falling.are_steady() && falling.range_ratio < 0.2 && falling.slope_ratio > 0.1,
            "{falling:?}"
        );
        assert_eq!(rounds(&batches(|_| 1.0)[..9]), None);
    }
}
