//! How long the rest of a pass takes, by how long the part took that is done.

use super::pass::Pass;
use crate::experiment::SLOW_BYTES_PER_SECOND;
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};

/// What a drive is taken to do before it has shown it: a hard disk of today at its outer edge, and a SATA SSD.
const ROTATIONAL_BYTES_PER_SECOND: f64 = 200e6;
const FLASH_BYTES_PER_SECOND: f64 = 500e6;

/// The pace of a pass.
pub struct Pace {
    capacity: f64,
    is_rotational: bool,
    /// Seconds for each byte at the outer edge.
    seconds_per_byte: f64,
    slow_seconds_per_byte: f64,
}

impl Pace {
    /// The pace of a pass so far; before anything was moved, that of a drive of its kind.
    pub fn new(facts: &TargetFacts, pass: &Pass) -> Pace {
        let is_rotational = facts.rotational.unwrap_or(false);
        let usual = if is_rotational { ROTATIONAL_BYTES_PER_SECOND } else { FLASH_BYTES_PER_SECOND };
        // A link carries no more than so much, and that hardly.
        let link = facts.link.as_ref().and_then(|link| link.bytes_per_second_max);
        let usual = link.map_or(usual, |most| usual.min(most));
        let mut pace = Pace {
            capacity: facts.capacity.0 as f64,
            is_rotational,
            seconds_per_byte: usual.recip(),
            slow_seconds_per_byte: SLOW_BYTES_PER_SECOND.recip(),
        };
        let (moved, spent) = pass.moved();
        // Which bytes they were follows from where the pass began, but for what was passed over.
        let done = ByteRange::new(pass.range().first(), moved.min(pass.range().bytes()));
        let weight = done.map_or(0.0, |done| pace.weight(done));
        if moved > Bytes::ZERO && weight > 0.0 {
            pace.seconds_per_byte = spent.seconds() / weight;
            pace.slow_seconds_per_byte = pace.seconds_per_byte;
        }
        pace
    }

    /// A range in bytes of the outer edge that take as long. The rate of a disk falls to about half, evenly with the
    /// place: 1 / (1 − x / 2) integrated over the share x.
    fn weight(&self, range: ByteRange) -> f64 {
        if !self.is_rotational {
            return range.bytes().0 as f64;
        }
        let rate = |at: u64| 1.0 - (at as f64 / self.capacity).min(1.0) / 2.0;
        2.0 * self.capacity * (rate(range.first().0) / rate(range.end().0)).ln()
    }

    /// How long these ranges take together; and on a slow drive, as long as this one has not shown how fast it is.
    pub fn times_for(&self, ranges: impl Iterator<Item = ByteRange>) -> (Nanos, Nanos) {
        let weight = ranges.map(|range| self.weight(range)).sum::<f64>();
        let taking = |per_byte| Nanos::from_secs_f64(weight * per_byte).unwrap_or(Nanos(u64::MAX / 2));
        (taking(self.seconds_per_byte), taking(self.slow_seconds_per_byte))
    }
}
