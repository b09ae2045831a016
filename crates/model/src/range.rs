//! A stretch of a target: where it begins and how long it is. Never empty by accident, never past 64 bits.

use crate::units::{Bytes, Offset};

/// A half-open stretch of a target, `first..first + bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRange {
    first: Offset,
    bytes: Bytes,
}

impl ByteRange {
    /// `None` when its end would be past 64 bits.
    pub fn new(first: Offset, bytes: Bytes) -> Option<ByteRange> {
        first.checked_add(bytes).map(|_| ByteRange { first, bytes })
    }

    /// From the start of the target, `capacity` long.
    pub fn whole(capacity: Bytes) -> ByteRange {
        ByteRange { first: Offset::START, bytes: capacity }
    }

    /// Where it begins.
    pub fn first(&self) -> Offset {
        self.first
    }

    /// How long it is.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The first position past it.
    pub fn end(&self) -> Offset {
        self.first + self.bytes
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes.0 == 0
    }

    /// Whether all of `other` lies inside.
    pub fn contains(&self, other: &ByteRange) -> bool {
        other.first >= self.first && other.end() <= self.end()
    }

    /// Whether a byte belongs to both.
    pub fn overlaps(&self, other: &ByteRange) -> bool {
        self.first < other.end() && other.first < self.end()
    }

    /// The largest range inside whose ends are multiples of `unit`; empty when none fits.
    pub fn align_inward(&self, unit: Bytes) -> ByteRange {
        let first = self.first.0.div_ceil(unit.0).saturating_mul(unit.0);
        let end = Bytes(self.end().0).round_down_to(unit).0;
        ByteRange { first: Offset(first.min(end)), bytes: Bytes(end.saturating_sub(first)) }
    }

    /// Part `index` of `count` parts whose sizes differ by at most a byte. Panics unless `index < count`.
    pub fn part(&self, index: u64, count: u64) -> ByteRange {
        assert!(index < count, "a part is one of its whole");
        let cut = |i: u64| (u128::from(self.bytes.0) * u128::from(i) / u128::from(count)) as u64;
        ByteRange { first: self.first + Bytes(cut(index)), bytes: Bytes(cut(index + 1) - cut(index)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(first: u64, bytes: u64) -> ByteRange {
        ByteRange::new(Offset(first), Bytes(bytes)).unwrap()
    }

    #[test]
    fn ends_are_exclusive() {
        assert!(range(0, 10).contains(&range(0, 10)));
        assert!(!range(0, 10).contains(&range(1, 10)));
        assert!(!range(0, 10).overlaps(&range(10, 5)));
        assert_eq!(ByteRange::new(Offset(u64::MAX), Bytes(1)), None);
    }

    #[test]
    fn alignment_only_shrinks() {
        assert_eq!(range(1, 8190).align_inward(Bytes(4096)), range(4096, 0));
        assert_eq!(range(1, 8192).align_inward(Bytes(4096)), range(4096, 4096));
        assert!(range(1, 4000).align_inward(Bytes(4096)).is_empty());
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
            let aligned = whole.align_inward(Bytes(unit));
            prop_assert!(aligned.is_empty() || whole.contains(&aligned));
        }
    }
}
