//! The volatile write cache of a shingled disk: what was answered but is neither in the media cache nor in a band.
//!
//! A log takes what comes in the order in which it came, so there is no sorting; but what goes on where the arm wrote
//! last comes first, so that a stream stays one. Stretches that touch are joined.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, Debug)]
pub struct WriteBuffer {
    capacity_bytes: u64,
    dirty: BTreeMap<u64, u64>,
    dirty_bytes: u64,
    /// First bytes of stretches, oldest first; some have been taken or joined to others since.
    ages: VecDeque<u64>,
}

/// So many stale ages are borne before they are cleared away.
const STALE_AGES: usize = 64;

impl WriteBuffer {
    pub fn new(capacity_bytes: u64) -> WriteBuffer {
        WriteBuffer { capacity_bytes, dirty: BTreeMap::new(), dirty_bytes: 0, ages: VecDeque::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    pub fn takes(&self, length_bytes: u64) -> bool {
        length_bytes <= self.capacity_bytes
    }

    pub fn has_room(&self, length_bytes: u64) -> bool {
        self.dirty_bytes + length_bytes <= self.capacity_bytes
    }

    pub fn holds(&self, first_byte: u64, end_byte: u64) -> bool {
        self.dirty.range(..=first_byte).next_back().is_some_and(|(_, &end)| end >= end_byte)
    }

    pub fn add(&mut self, first_byte: u64, end_byte: u64) {
        let (mut first, mut end) = (first_byte, end_byte);
        let mut is_known = false;
        if let Some((&before, &before_end)) = self.dirty.range(..=first).next_back()
            && before_end >= first
        {
            (first, end, is_known) = (before, end.max(before_end), true);
        }
        while let Some((&covered, &covered_end)) = self.dirty.range(first..=end).next() {
            self.dirty.remove(&covered);
            self.dirty_bytes -= covered_end - covered;
            end = end.max(covered_end);
        }
        self.insert(first, end);
        if !is_known {
            self.ages.push_back(first);
            self.forget_stale_ages();
        }
    }

    fn insert(&mut self, first: u64, end: u64) {
        self.dirty.insert(first, end);
        self.dirty_bytes += end - first;
        debug_assert!(
            first < end && self.dirty_bytes <= self.capacity_bytes,
            "it takes what it has room for"
        );
    }

    pub fn next(&mut self, written_end: u64) -> Option<(u64, u64)> {
        if let Some(&end) = self.dirty.get(&written_end) {
            return Some((written_end, end));
        }
        loop {
            let first = *self.ages.front()?;
            if let Some(&end) = self.dirty.get(&first) {
                return Some((first, end));
            }
            self.ages.pop_front();
        }
    }

    /// Takes the beginning of the stretch at `first_byte`, up to `end_byte`.
    pub fn take(&mut self, first_byte: u64, end_byte: u64) {
        let Some(end) = self.dirty.remove(&first_byte) else { return };
        self.dirty_bytes -= end - first_byte;
        if end > end_byte {
            self.insert(end_byte, end);
            self.ages.push_front(end_byte);
        }
    }

    pub fn forget(&mut self, first_byte: u64, end_byte: u64) {
        while let Some((&first, &end)) = self.dirty.range(..end_byte).next_back()
            && end > first_byte
        {
            self.dirty.remove(&first);
            self.dirty_bytes -= end - first;
            if first < first_byte {
                self.insert(first, first_byte);
            }
            if end > end_byte {
                self.insert(end_byte, end);
                self.ages.push_back(end_byte);
            }
        }
    }

    fn forget_stale_ages(&mut self) {
        if self.ages.len() > 2 * self.dirty.len() + STALE_AGES {
            let mut seen = BTreeSet::new();
            self.ages.retain(|first| self.dirty.contains_key(first) && seen.insert(*first));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_oldest_comes_first_but_for_what_goes_on() {
        let mut buffer = WriteBuffer::new(1000);
        for (first, end) in [(500, 510), (100, 120), (300, 310)] {
            buffer.add(first, end);
        }
        assert_eq!(buffer.next(100), Some((100, 120)));
        buffer.take(100, 115);
        assert_eq!(buffer.next(7), Some((115, 120)), "the rest is as old as the whole");
        assert_eq!(buffer.next(115), Some((115, 120)));
        buffer.take(115, 120);
        assert_eq!(buffer.next(120), Some((500, 510)));
    }

    #[test]
    fn stretches_join() {
        let mut buffer = WriteBuffer::new(100);
        buffer.add(10, 20);
        buffer.add(30, 40);
        buffer.add(15, 32);
        assert_eq!(buffer.next(0), Some((10, 40)));
        assert!(buffer.holds(12, 40) && !buffer.holds(12, 41));
        assert!(buffer.has_room(70) && !buffer.has_room(71));
        buffer.forget(20, 25);
        assert!(buffer.holds(10, 20) && buffer.holds(25, 40) && !buffer.holds(19, 21));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_written_twice(
            steps in prop::collection::vec((0u64..60, 1u64..10, 0u8..4), 1..100),
        ) {
            let mut buffer = WriteBuffer::new(1000);
            let mut expected = BTreeSet::new();
            let mut written_end = 0;
            for (first, length, what) in steps {
                match what {
                    0 => {
                        buffer.forget(first, first + length);
                        expected.retain(|byte| !(first..first + length).contains(byte));
                    }
                    1 => if let Some((first, end)) = buffer.next(written_end) {
                        written_end = end.min(first + length);
                        buffer.take(first, written_end);
                        for byte in first..written_end {
                            prop_assert!(expected.remove(&byte));
                        }
                    }
                    _ => {
                        buffer.add(first, first + length);
                        expected.extend(first..first + length);
                    }
                }
                prop_assert!((0..80).all(|byte| buffer.holds(byte, byte + 1) == expected.contains(&byte)));
                prop_assert_eq!(buffer.dirty_bytes, expected.len() as u64);
                prop_assert_eq!(buffer.next(written_end).is_none(), expected.is_empty());
            }
        }
    }
}
