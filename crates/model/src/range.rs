//! An extent of a target. It never ends past 64 bits.

use crate::units::{Bytes, Offset};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "UncheckedRange")]
pub struct ByteRange {
    #[serde(rename = "first_byte")]
    first: Offset,
    bytes: Bytes,
}

/// A range as it is read.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UncheckedRange {
    first_byte: Offset,
    bytes: Bytes,
}

impl TryFrom<UncheckedRange> for ByteRange {
    type Error = &'static str;

    fn try_from(read: UncheckedRange) -> Result<ByteRange, &'static str> {
        ByteRange::new(read.first_byte, read.bytes).ok_or("a range that ends past 64 bits")
    }
}

impl ByteRange {
    /// `None` when its end would be past 64 bits.
    pub fn new(first: Offset, bytes: Bytes) -> Option<ByteRange> {
        first.checked_add(bytes).map(|_| ByteRange { first, bytes })
    }

    pub fn from_bytes(first: u64, bytes: u64) -> Option<ByteRange> {
        ByteRange::new(Offset::new(first), Bytes::new(bytes))
    }

    /// From the start of the target, `capacity` long.
    pub fn whole(capacity: Bytes) -> ByteRange {
        ByteRange { first: Offset::START, bytes: capacity }
    }

    pub fn first(&self) -> Offset {
        self.first
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub fn end(&self) -> Offset {
        self.first + self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_zero()
    }

    pub fn contains(&self, other: &ByteRange) -> bool {
        other.first >= self.first && other.end() <= self.end()
    }

    pub fn contains_offset(&self, offset: Offset) -> bool {
        (self.first..self.end()).contains(&offset)
    }

    pub fn overlaps(&self, other: &ByteRange) -> bool {
        self.first < other.end() && other.first < self.end()
    }

    /// The largest range inside whose ends are multiples of `unit`; empty when none fits.
    pub fn align_inward(&self, unit: Bytes) -> ByteRange {
        let first = self.first.get().div_ceil(unit.get()).saturating_mul(unit.get());
        let end = self.end().round_down_to(unit).get();
        ByteRange { first: Offset::new(first.min(end)), bytes: Bytes::new(end.saturating_sub(first)) }
    }

    /// Part `index` of `count` parts whose sizes differ by at most a byte. Panics unless `index < count`.
    pub fn part(&self, index: u64, count: u64) -> ByteRange {
        assert!(index < count, "a part is one of its whole");
        let (from, until) = (self.cut(index, count), self.cut(index + 1, count));
        ByteRange { first: self.first + from, bytes: until - from }
    }

    /// What ranges cover together, from the lowest up: those that touch are one.
    pub fn union(ranges: &[ByteRange]) -> Vec<ByteRange> {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable_by_key(ByteRange::first);
        let mut joined = Vec::<ByteRange>::new();
        for range in sorted {
            match joined.last_mut() {
                Some(last) if range.first <= last.end() => {
                    last.bytes = last.end().max(range.end()) - last.first;
                }
                _ => joined.push(range),
            }
        }
        joined
    }

    fn cut(&self, index: u64, count: u64) -> Bytes {
        Bytes::new((u128::from(self.bytes.get()) * u128::from(index) / u128::from(count)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(first: u64, bytes: u64) -> ByteRange {
        ByteRange::new(Offset::new(first), Bytes::new(bytes)).unwrap()
    }

    #[test]
    fn ends_are_exclusive() {
        assert!(range(0, 10).contains(&range(0, 10)));
        assert!(!range(0, 10).contains(&range(1, 10)));
        assert!(!range(0, 10).overlaps(&range(10, 5)));
        assert_eq!(ByteRange::new(Offset::new(u64::MAX), Bytes::new(1)), None);
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let parts = [range(30, 10), range(0, 10), range(5, 5), range(10, 10)];
        assert_eq!(ByteRange::union(&parts), [range(0, 20), range(30, 10)]);
        assert_eq!(ByteRange::union(&[]), []);
    }

    #[test]
    fn alignment_only_shrinks() {
        assert_eq!(range(1, 8190).align_inward(Bytes::new(4096)), range(4096, 0));
        assert_eq!(range(1, 8192).align_inward(Bytes::new(4096)), range(4096, 4096));
        assert!(range(1, 4000).align_inward(Bytes::new(4096)).is_empty());
    }

    proptest! {
        #[test]
        fn parts_cover_the_whole_once(first in 0u64..1 << 40, bytes in 0u64..1 << 60, count in 1u64..100) {
            let whole = range(first, bytes);
            let mut at = whole.first();
            for index in 0..count {
                let part = whole.part(index, count);
                prop_assert_eq!(part.first(), at);
                at = part.end();
            }
            prop_assert_eq!(at, whole.end());
        }

        #[test]
        fn an_aligned_range_lies_inside(first in 0u64..1 << 40, bytes in 0u64..1 << 40, unit in 1u64..1 << 20) {
            let whole = range(first, bytes);
            let aligned = whole.align_inward(Bytes::new(unit));
            prop_assert!(aligned.is_empty() || whole.contains(&aligned));
        }
    }
}
