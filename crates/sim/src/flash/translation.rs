//! The flash translation layer: where the newest copy of each unit lies, and how space is won back.
//!
//! Flash is written page by page and erased superblock by superblock, so a rewritten unit goes to the next free slot and its old slot becomes
//! garbage. What the host writes and what garbage collection moves fill superblocks of their own, so that what is rewritten often does not mix
//! with what is not. When the last free superblocks but a few are in use, the fullest of garbage is emptied and erased (greedy; Desnoyers 2012).
//!
//! Units are samples of pages, see [`crate::flash::layout`].

use crate::flash::garbage_collection::Victims;
use crate::flash::layout::Layout;
use std::collections::VecDeque;

const NONE: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Frontier {
    superblock: u32,
    filled: u32,
}

/// The maps.
///
/// Between calls: every mapped unit's slot says that unit back, `valid` counts each superblock's such slots, every
/// superblock is free, a frontier, or among the victims, and at least `kept_free` are free.
#[derive(Clone, Debug)]
pub(crate) struct Translation {
    layout: Layout,
    /// By unit: its slot + 1.
    slot_of: Vec<u32>,
    /// By slot: the unit whose newest copy is there, + 1.
    unit_at: Vec<u32>,
    valid: Vec<u32>,
    victims: Victims,
    free: VecDeque<u32>,
    host: Frontier,
    moving: Frontier,
    /// Units written by the host, and moved by garbage collection, since the start.
    written: u64,
    moved: u64,
}

impl Translation {
    /// Erased, or with every unit written once in their order.
    pub(crate) fn new(layout: Layout, filled: bool) -> Translation {
        let slots = u64::from(layout.superblocks) * u64::from(layout.slots);
        let mut translation = Translation {
            layout,
            slot_of: vec![NONE; layout.units as usize],
            unit_at: vec![NONE; slots as usize],
            valid: vec![0; layout.superblocks as usize],
            victims: Victims::new(layout.superblocks, layout.slots),
            free: (2..layout.superblocks).collect(),
            host: Frontier { superblock: 0, filled: 0 },
            moving: Frontier { superblock: 1, filled: 0 },
            written: 0,
            moved: 0,
        };
        if filled {
            (0..layout.units).for_each(|unit| translation.write(unit));
            translation.written = 0;
        }
        translation
    }

    pub(crate) fn write_units(&mut self, units: std::ops::Range<u64>) -> u64 {
        let before = self.moved;
        units.for_each(|unit| self.write(unit as u32));
        self.moved - before
    }

    pub(crate) fn trim_units(&mut self, units: std::ops::Range<u64>) {
        units.for_each(|unit| self.invalidate(unit as u32));
    }

    #[cfg(test)]
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    #[cfg(test)]
    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    pub(crate) fn writable_units(&self) -> u64 {
        let free = (self.free.len() as u64).saturating_sub(u64::from(self.layout.kept_free));
        free * u64::from(self.layout.slots) + u64::from(self.layout.slots - self.host.filled)
    }

    #[inline]
    fn write(&mut self, unit: u32) {
        self.invalidate(unit);
        if self.host.filled == self.layout.slots {
            self.victims.insert(self.host.superblock, self.valid[self.host.superblock as usize]);
            self.win_space();
            self.host = self.next_frontier();
        }
        let frontier = self.host;
        self.host.filled += 1;
        self.place(unit, frontier);
        self.written += 1;
    }

    #[inline]
    fn place(&mut self, unit: u32, frontier: Frontier) {
        let slot = frontier.superblock * self.layout.slots + frontier.filled;
        debug_assert!(frontier.filled < self.layout.slots, "a superblock has room for what it takes");
        debug_assert_eq!(self.unit_at[slot as usize], NONE, "a slot is written once before it is erased");
        self.unit_at[slot as usize] = unit + 1;
        self.slot_of[unit as usize] = slot + 1;
        self.valid[frontier.superblock as usize] += 1;
    }

    #[inline]
    fn invalidate(&mut self, unit: u32) {
        let slot = std::mem::replace(&mut self.slot_of[unit as usize], NONE);
        if slot == NONE {
            return;
        }
        self.unit_at[(slot - 1) as usize] = NONE;
        let superblock = (slot - 1) / self.layout.slots;
        let valid = self.valid[superblock as usize];
        debug_assert!(valid > 0, "a superblock with a mapped unit has one that is valid");
        self.valid[superblock as usize] = valid - 1;
        if superblock != self.host.superblock && superblock != self.moving.superblock {
            self.victims.lose_one(superblock, valid);
        }
    }

    fn next_frontier(&mut self) -> Frontier {
        let superblock = self.free.pop_front().expect("a superblock is kept free at all times");
        Frontier { superblock, filled: 0 }
    }

    fn win_space(&mut self) {
        while self.free.len() <= self.layout.kept_free as usize {
            let (victim, valid) = self.victims.fewest().expect("full superblocks exist when few are free");
            self.collect(victim, valid);
        }
    }

    /// Moves what is valid in a full superblock and erases it.
    ///
    /// There is always room: at least one superblock is free, and what is moved fills no more than one.
    fn collect(&mut self, victim: u32, valid: u32) {
        self.victims.remove(victim, valid);
        let first = victim as usize * self.layout.slots as usize;
        for slot in first..first + self.layout.slots as usize {
            let unit = std::mem::replace(&mut self.unit_at[slot], NONE);
            if unit != NONE {
                self.move_unit(unit - 1);
            }
        }
        debug_assert_eq!(self.valid[victim as usize], valid, "lists know how many units are valid");
        self.moved += u64::from(valid);
        self.valid[victim as usize] = 0;
        self.free.push_back(victim);
    }

    #[inline]
    fn move_unit(&mut self, unit: u32) {
        if self.moving.filled == self.layout.slots {
            self.victims.insert(self.moving.superblock, self.valid[self.moving.superblock as usize]);
            self.moving = self.next_frontier();
        }
        let frontier = self.moving;
        self.moving.filled += 1;
        self.place(unit, frontier);
    }

    /// Collects in idle time, moving at most so many units, until that many superblocks are free; units moved.
    pub(crate) fn collect_idle(&mut self, units_max: u64, free_wanted: u64) -> u64 {
        let before = self.moved;
        while (self.free.len() as u64) < free_wanted {
            let Some((victim, valid)) = self.victims.fewest() else { break };
            let worthwhile = valid < self.layout.slots - self.layout.slots / 32;
            if !worthwhile || self.moved - before + u64::from(valid) > units_max {
                break;
            }
            self.collect(victim, valid);
        }
        self.moved - before
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let tables = self.slot_of.len() + self.unit_at.len() + self.valid.len() + self.free.capacity();
        4 * tables as u64 + self.victims.memory_bytes()
    }

    /// Whether all that is said of [`Translation`] holds. For tests.
    #[cfg(test)]
    fn assert_sound(&self) {
        let slots = self.layout.slots as usize;
        for (unit, &slot) in self.slot_of.iter().enumerate().filter(|(_, slot)| **slot != NONE) {
            assert_eq!(self.unit_at[slot as usize - 1], unit as u32 + 1);
        }
        for (superblock, valid) in self.valid.iter().enumerate() {
            let there = self.unit_at[superblock * slots..(superblock + 1) * slots].iter();
            assert_eq!(*valid, there.filter(|unit| **unit != NONE).count() as u32);
        }
        let mapped = self.slot_of.iter().filter(|slot| **slot != NONE).count() as u32;
        assert_eq!(mapped, self.valid.iter().sum::<u32>());
        assert!(self.free.len() >= self.layout.kept_free as usize);
        assert!(self.free.iter().all(|free| self.valid[*free as usize] == 0));
    }
}

#[cfg(test)]
#[path = "translation_tests.rs"]
mod translation_tests;
