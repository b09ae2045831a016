//! How long the rest of a pass takes, by how long the part took that is done.

use super::pass::Pass;
use crate::SLOW_BYTES_PER_SECOND;
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos, Offset};

/// What a drive is taken to do before it has shown it: a hard disk of today at its outer edge, and a SATA SSD.
const ROTATIONAL_BYTES_PER_SECOND: f64 = 200e6;
const FLASH_BYTES_PER_SECOND: f64 = 500e6;

pub struct Pace {
    capacity: f64,
    is_rotational: bool,
    seconds_per_byte: f64,
    slow_seconds_per_byte: f64,
}

impl Pace {
    /// The pace of a pass so far; before anything was moved, that of a drive of its kind.
    pub fn new(facts: &TargetFacts, pass: &Pass) -> Pace {
        let is_rotational = facts.rotational.unwrap_or(false);
        let usual = if is_rotational { ROTATIONAL_BYTES_PER_SECOND } else { FLASH_BYTES_PER_SECOND };
        // A link carries no more than so much, and that hardly.
        let usual = match facts.link.as_ref().and_then(|link| link.bytes_per_second_max) {
            Some(most) => usual.min(most),
            None => usual,
        };
        let mut pace = Pace {
            capacity: facts.capacity.as_f64(),
            is_rotational,
            seconds_per_byte: usual.recip(),
            slow_seconds_per_byte: SLOW_BYTES_PER_SECOND.recip(),
        };
        let (moved, spent) = pass.moved();
        // Which bytes they were follows from where the pass began, but for what was passed over.
        let weight = match ByteRange::new(pass.range().first(), moved.min(pass.range().bytes())) {
            Some(done) => pace.weight(done),
            None => 0.0,
        };
        if moved > Bytes::ZERO && weight > 0.0 {
            pace.seconds_per_byte = spent.seconds() / weight;
            pace.slow_seconds_per_byte = pace.seconds_per_byte;
        }
        pace
    }

    /// A range in bytes of the outer edge that take as long: 1 / (1 − x / 2) over x, as rates fall to half.
    fn weight(&self, range: ByteRange) -> f64 {
        if !self.is_rotational {
            return range.bytes().as_f64();
        }
        2.0 * self.capacity * (self.rate_at(range.first()) / self.rate_at(range.end())).ln()
    }

    fn rate_at(&self, at: Offset) -> f64 {
        1.0 - (at.as_f64() / self.capacity).min(1.0) / 2.0
    }

    /// How long these ranges take together; and on a slow drive, as long as this one has not shown how fast it is.
    pub fn times_for(&self, ranges: impl Iterator<Item = ByteRange>) -> (Nanos, Nanos) {
        let mut weight = 0.0;
        for range in ranges {
            weight += self.weight(range);
        }
        (taking(weight * self.seconds_per_byte), taking(weight * self.slow_seconds_per_byte))
    }
}

fn taking(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX / 2)
}
