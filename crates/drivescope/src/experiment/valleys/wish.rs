//! What `valleys` is asked for.

use crate::pattern_file::{PatternFile, Shape};
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValleysWish {
    /// What is done to the drive before passes, one after the other. Nothing when empty.
    pub conditions: Vec<Condition>,
    /// The sizes of requests of passes; 64 KiB when empty.
    pub blocks: Vec<Bytes>,
    /// Passes over each area; until they are stable when none is given.
    pub passes: Option<u32>,
    /// The areas.
    pub over: Over,
    /// How a pass goes over its area; by its size when none is given.
    pub way: Option<Way>,
}

/// What is done to the drive before passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Nothing.
    None,
    /// Half random, half sequential writes of 4 to 64 KiB.
    Mixed(Amount),
    /// Random writes of 16 KiB.
    Random(Amount),
    /// All of it once in order, in blocks of that size.
    Sequential(Bytes),
    /// Discarded, or overwritten with zeroes where it takes no discards.
    Erase,
    /// Mixed writes on the first half, the other in order in large blocks.
    Halves,
    /// The steps of a file of patterns, each for so long if it says of no end itself.
    File(PatternFile, Option<Nanos>),
}

impl Condition {
    /// Whether it is among what brings valleys: writes that are not all in order.
    pub(super) fn brings(&self) -> bool {
        match self {
            Condition::Mixed(_) | Condition::Random(_) => true,
            Condition::File(file, _) => {
                let loads = || file.steps.iter().filter_map(|step| step.load.as_ref());
                loads().any(|load| {
                    load.shape != Shape::Sequential && load.reads.is_some_and(|reads| reads < 1.0)
                })
            }
            _ => false,
        }
    }
}

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Half of what the area holds: after it, more changes little.
    HalfOfArea,
    /// So much.
    Bytes(Bytes),
    /// For so long.
    Time(Nanos),
}

impl Amount {
    /// That share of it.
    pub(super) fn part(self, share: f64) -> Amount {
        match self {
            Amount::HalfOfArea => Amount::HalfOfArea,
            Amount::Bytes(bytes) => Amount::Bytes(Bytes((bytes.0 as f64 * share) as u64)),
            Amount::Time(time) => Amount::Time(Nanos((time.0 as f64 * share) as u64)),
        }
    }
}

/// Which areas passes go over, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Over {
    /// All of it.
    #[default]
    Whole,
    /// One half and then the other.
    Halves,
    /// These parts.
    Parts(Vec<Part>),
}

/// A part of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// From one byte of the target to another.
    Bytes(Bytes, Bytes),
    /// From one share of the range to another.
    Shares(f64, f64),
}

/// How a pass goes over its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It crosses the area and touches the first third of each stretch of it, as HD Tune does.
    Crossing,
    /// It writes everything, as HD Tach does.
    Everything,
}

impl Part {
    /// Where that is, shares at multiples of `grid`; none when it is not within the range.
    pub(super) fn within(self, range: ByteRange, grid: Bytes) -> Option<ByteRange> {
        let (from, to) = match self {
            Part::Bytes(from, to) => (from.0, to.0),
            Part::Shares(from, to) => {
                let at = |share: f64| {
                    let at = range.first().0 + (range.bytes().0 as f64 * share) as u64;
                    Bytes(at).round_down_to(grid).0.max(range.first().0)
                };
                (at(from), if to >= 1.0 { range.end().0 } else { at(to) })
            }
        };
        let part = ByteRange::new(Offset(from), Bytes(to.checked_sub(from)?))?;
        range.contains(&part).then_some(part)
    }
}
