//! What was answered but is not yet on the platter, and what was written last, which can still be read from here.
//!
//! Stretches that touch are joined. The arm takes the one that continues what it wrote last, else the one of the oldest
//! few that can be reached soonest: disks write at random from their cache about as fast as they read at a depth of 64.

use crate::disk::geometry::Place;
use crate::disk::mechanism::Mechanism;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The arm writes no more than this before it looks up: two tracks of a disk of today.
const WRITE_BACK_BYTES_MAX: u64 = 4 << 20;
/// Of what is to be written, this many stretches are weighed against each other.
const SORTED_STRETCHES: usize = 64;
/// This many stretches are remembered after they were written.
const WRITTEN_STRETCHES: usize = 64;

#[derive(Clone, Debug)]
pub struct WriteCache {
    capacity_bytes: u64,
    dirty: BTreeMap<u64, u64>,
    dirty_bytes: u64,
    /// First bytes of stretches, oldest first; some have been written or joined to others since.
    ages: VecDeque<u64>,
    /// The oldest few, with their places; some of them stale as well.
    weighed: Vec<(u64, Place)>,
    written_end: u64,
    /// Stretches that were written and are still here, the latest last, in the room that dirty ones leave.
    written: VecDeque<(u64, u64)>,
    written_bytes: u64,
}

impl WriteCache {
    pub fn new(capacity_bytes: u64) -> WriteCache {
        WriteCache {
            capacity_bytes,
            dirty: BTreeMap::new(),
            dirty_bytes: 0,
            ages: VecDeque::new(),
            weighed: Vec::with_capacity(SORTED_STRETCHES),
            written_end: 0,
            written: VecDeque::with_capacity(WRITTEN_STRETCHES + 1),
            written_bytes: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.dirty_bytes == 0
    }

    pub fn takes(&self, length_bytes: u64) -> bool {
        length_bytes <= self.capacity_bytes
    }

    pub fn has_room(&self, length_bytes: u64) -> bool {
        self.dirty_bytes + length_bytes <= self.capacity_bytes
    }

    /// Whether all of a stretch is in the cache, dirty or just written.
    pub fn holds(&self, first_byte: u64, end_byte: u64) -> bool {
        let before = self.dirty.range(..=first_byte).next_back();
        matches!(before, Some((_, &end)) if end >= end_byte)
            || self.written.iter().any(|&(first, end)| first <= first_byte && end >= end_byte)
    }

    fn remember(&mut self, first: u64, end: u64) {
        match self.written.back_mut() {
            Some((_, before_end)) if *before_end == first => *before_end = end,
            _ => self.written.push_back((first, end)),
        }
        self.written_bytes += end - first;
        if self.written.len() > WRITTEN_STRETCHES
            && let Some((first, end)) = self.written.pop_front()
        {
            self.written_bytes -= end - first;
        }
        self.give_way();
    }

    fn give_way(&mut self) {
        let room = self.capacity_bytes.saturating_sub(self.dirty_bytes);
        while self.written_bytes > room
            && let Some((first, end)) = self.written.front_mut()
        {
            let forgotten = (self.written_bytes - room).min(*end - *first);
            *first += forgotten;
            self.written_bytes -= forgotten;
            if first == end {
                self.written.pop_front();
            }
        }
    }

    pub fn add(&mut self, mut first: u64, mut end: u64) {
        let mut is_known = false;
        if let Some((&before, before_end)) = self.dirty.range_mut(..=first).next_back()
            && *before_end >= first
        {
            if *before_end >= end {
                return;
            }
            self.dirty_bytes -= *before_end - before;
            (first, is_known) = (before, true);
        }
        while let Some((&covered, &covered_end)) = self.dirty.range(first + u64::from(is_known)..=end).next()
        {
            self.dirty.remove(&covered);
            self.dirty_bytes -= covered_end - covered;
            end = end.max(covered_end);
        }
        self.dirty.insert(first, end);
        self.dirty_bytes += end - first;
        self.give_way();
        if !is_known {
            self.ages.push_back(first);
            self.forget_stale();
        }
    }

    fn forget_stale(&mut self) {
        if self.ages.len() > 2 * self.dirty.len() + SORTED_STRETCHES {
            let mut seen = BTreeSet::new();
            self.ages.retain(|first| self.dirty.contains_key(first) && seen.insert(*first));
        }
    }

    /// Takes what the arm writes next at a moment: first byte, length, and where it begins.
    pub fn take(&mut self, mechanism: &Mechanism, at_s: f64) -> Option<(u64, u64, Place)> {
        let (first, place) = self.choose(mechanism, at_s)?;
        let end = self.dirty.remove(&first).expect("what was chosen is there");
        let taken_end = end.min(first + WRITE_BACK_BYTES_MAX);
        if taken_end < end {
            self.dirty.insert(taken_end, end);
            self.ages.push_front(taken_end);
        }
        debug_assert!(
            first < taken_end && self.dirty_bytes <= self.capacity_bytes,
            "it held no more than fits"
        );
        self.dirty_bytes -= taken_end - first;
        self.written_end = taken_end;
        self.remember(first, taken_end);
        Some((first, taken_end - first, place))
    }

    fn choose(&mut self, mechanism: &Mechanism, at_s: f64) -> Option<(u64, Place)> {
        if self.is_empty() {
            return None;
        }
        if self.dirty.contains_key(&self.written_end) {
            return Some((self.written_end, mechanism.place_of(self.written_end)));
        }
        loop {
            self.fill_weighed(mechanism);
            let phase_turns = mechanism.phase_turns(at_s);
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (index, (_, place)) in self.weighed.iter().enumerate() {
                let cost = mechanism.positioning_from(place, phase_turns, true);
                if cost < least {
                    (nearest, least) = (index, cost);
                }
            }
            assert!(!self.weighed.is_empty(), "each stretch has an age");
            let (first, place) = self.weighed.swap_remove(nearest);
            if self.dirty.contains_key(&first) {
                return Some((first, place));
            }
        }
    }

    fn fill_weighed(&mut self, mechanism: &Mechanism) {
        while self.weighed.len() < SORTED_STRETCHES
            && let Some(first) = self.ages.pop_front()
        {
            if self.dirty.contains_key(&first) {
                self.weighed.push((first, mechanism.place_of(first)));
            }
        }
    }
}
