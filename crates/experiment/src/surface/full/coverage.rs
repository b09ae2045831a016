//! Which bytes are done with: stretches that do not touch each other, in order.

use model::range::ByteRange;
use model::units::{Bytes, Offset};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    stretches: BTreeMap<u64, u64>,
}

impl Coverage {
    pub fn add(&mut self, range: ByteRange) {
        if range.is_empty() {
            return;
        }
        let (mut first, mut end) = (range.first().get(), range.end().get());
        // From the last stretch that begins at or before the range on, all that overlap or touch it become one.
        let from = self.stretches.range(..=first).next_back().map_or(first, |(&start, _)| start);
        let touching: Vec<(u64, u64)> =
            self.stretches.range(from..=end).map(|(&start, &stop)| (start, stop)).collect();
        for (start, stop) in touching.into_iter().filter(|(_, stop)| *stop >= range.first().get()) {
            self.stretches.remove(&start);
            first = first.min(start);
            end = end.max(stop);
        }
        self.stretches.insert(first, end);
    }

    pub fn first_gap(&self, range: ByteRange) -> Option<ByteRange> {
        self.gaps(range).next()
    }

    pub fn gaps(&self, range: ByteRange) -> impl Iterator<Item = ByteRange> + '_ {
        let mut at = range.first().get();
        let before = self.stretches.range(..=at).next_back();
        if let Some((_, &stop)) = before {
            at = at.max(stop);
        }
        let end = range.end().get();
        let mut later = self.stretches.range(range.first().get().saturating_add(1)..);
        std::iter::from_fn(move || {
            while at < end {
                let (start, stop) = later.next().map_or((end, end), |(&start, &stop)| (start, stop));
                let gap = (at, start.min(end));
                at = at.max(stop);
                if gap.0 < gap.1 {
                    return ByteRange::new(Offset::new(gap.0), Bytes::new(gap.1 - gap.0));
                }
            }
            None
        })
    }

    pub fn missing(&self, range: ByteRange) -> Bytes {
        self.gaps(range).map(|gap| gap.bytes()).sum()
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
    fn what_touches_is_one_stretch() {
        let mut coverage = Coverage::default();
        coverage.add(range(0, 10));
        coverage.add(range(20, 10));
        assert_eq!(coverage.first_gap(range(0, 40)), Some(range(10, 10)));
        assert_eq!(coverage.missing(range(5, 40)), Bytes::new(25));
        coverage.add(range(10, 10));
        assert_eq!(coverage.stretches, BTreeMap::from([(0, 30)]));
        assert_eq!(coverage.first_gap(range(0, 30)), None);
        assert_eq!(coverage.first_gap(range(30, 1)), Some(range(30, 1)));
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_its_bytes(
            added in prop::collection::vec((0u64..100, 0u64..20), 0..20),
            first in 0u64..100,
            bytes in 0u64..60,
        ) {
            let mut coverage = Coverage::default();
            let mut known = [false; 200];
            for (start, length) in added {
                coverage.add(range(start, length));
                (start..start + length).for_each(|byte| known[byte as usize] = true);
            }
            let mut missing: Vec<u64> = Vec::new();
            coverage.gaps(range(first, bytes)).for_each(|gap| missing.extend(gap.first().get()..gap.end().get()));
            let expected: Vec<u64> = (first..first + bytes).filter(|byte| !known[*byte as usize]).collect();
            prop_assert_eq!(missing, expected);
        }
    }
}
