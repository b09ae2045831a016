//! What of the drive holds nothing since it was trimmed: reading it needs no platter.

use std::collections::BTreeMap;

/// Stretches without data. Trim is a hint: when there are too many stretches to keep, no more are taken note of.
#[derive(Clone, Debug)]
pub struct Unmapped {
    /// By first byte: the end. They neither overlap nor touch.
    stretches: BTreeMap<u64, u64>,
    stretches_max: usize,
}

impl Unmapped {
    pub fn new(stretches_max: usize) -> Unmapped {
        Unmapped { stretches: BTreeMap::new(), stretches_max }
    }

    pub fn count(&self) -> usize {
        self.stretches.len()
    }

    pub fn add(&mut self, mut first_byte: u64, mut end_byte: u64) -> bool {
        if self.stretches.len() >= self.stretches_max {
            return false;
        }
        while let Some((first, end)) = self.touching(first_byte, end_byte) {
            self.stretches.remove(&first);
            (first_byte, end_byte) = (first_byte.min(first), end_byte.max(end));
        }
        self.stretches.insert(first_byte, end_byte);
        true
    }

    /// A stretch was written. What cannot be kept of a stretch that is cut in two counts as holding data.
    pub fn remove(&mut self, first_byte: u64, end_byte: u64) {
        while let Some((first, end)) = self.touching(first_byte + 1, end_byte - 1) {
            self.stretches.remove(&first);
            if first < first_byte {
                self.stretches.insert(first, first_byte);
            }
            if end > end_byte && self.stretches.len() < self.stretches_max {
                self.stretches.insert(end_byte, end);
            }
        }
    }

    pub fn covers(&self, first_byte: u64, end_byte: u64) -> bool {
        let before = self.stretches.range(..=first_byte).next_back();
        before.is_some_and(|(_, &end)| end >= end_byte)
    }

    fn touching(&self, first_byte: u64, end_byte: u64) -> Option<(u64, u64)> {
        let last = self.stretches.range(..=end_byte).next_back();
        last.map(|(&first, &end)| (first, end)).filter(|(_, end)| *end >= first_byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_join_and_are_cut() {
        let mut unmapped = Unmapped::new(10);
        assert!(unmapped.add(0, 10) && unmapped.add(20, 30) && unmapped.add(10, 20));
        assert_eq!(unmapped.count(), 1);
        assert!(unmapped.covers(0, 30) && !unmapped.covers(0, 31));
        unmapped.remove(5, 6);
        assert!(unmapped.covers(0, 5) && !unmapped.covers(5, 6) && unmapped.covers(6, 30));
        unmapped.remove(6, 30);
        assert_eq!(unmapped.count(), 1);
        unmapped.remove(10, 12);
        assert!(unmapped.covers(0, 5));
    }

    #[test]
    fn what_is_too_much_counts_as_data() {
        let mut unmapped = Unmapped::new(2);
        assert!(unmapped.add(0, 10) && unmapped.add(20, 30) && !unmapped.add(40, 50));
        unmapped.remove(4, 5);
        assert_eq!(unmapped.count(), 2);
        assert!(unmapped.covers(0, 4) && !unmapped.covers(5, 10));
    }
}
