//! The map against a model that keeps a version of every slot wherever there is a copy of it.

use super::*;
use crate::smr::profile::{BandZone, SLOT_BYTES};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SLOTS: u64 = 512;
const CAPACITY: u64 = SLOTS * SLOT_BYTES;
const ENTRIES: u64 = 40;
const CACHE_SLOTS: u64 = 200;

fn profile(cleaning_order: CleaningOrder) -> SmrProfile {
    let zone = |first_slot: u64, slots: u64| BandZone {
        first_byte: first_slot * SLOT_BYTES,
        band_bytes: slots * SLOT_BYTES,
    };
    SmrProfile {
        packet_bytes: 8 * SLOT_BYTES,
        band_zones: vec![zone(0, 24), zone(300, 16)],
        stream_threshold_bytes: 20 * SLOT_BYTES,
        stream_count: 3,
        cleaning_order,
        ..SmrProfile::plain(CACHE_SLOTS * SLOT_BYTES, ENTRIES, SLOT_BYTES)
    }
}

/// What a disk with this map would hold: versions of slots, in the bands and by position in the log.
#[derive(Default)]
struct Platter {
    in_bands: BTreeMap<u64, u64>,
    in_log: BTreeMap<u64, u64>,
}

/// The map under test, the platter that it directs, and what a reader must find.
struct Checked {
    map: ShingledMap,
    platter: Platter,
    expected: BTreeMap<u64, u64>,
    version: u64,
}

impl Checked {
    fn new(order: CleaningOrder) -> Checked {
        let profile = profile(order);
        assert_eq!(profile.check(CAPACITY), Ok(()));
        Checked {
            map: ShingledMap::new(&profile, CAPACITY),
            platter: Platter::default(),
            expected: BTreeMap::new(),
            version: 0,
        }
    }

    fn write(&mut self, first_slot: u64, slots: u64) {
        let (first, end) = (first_slot * SLOT_BYTES, (first_slot + slots) * SLOT_BYTES);
        self.version += 1;
        let direct = self.map.is_stream(first, end - first);
        if let Some(band) = self.map.note_run(first, end, direct) {
            self.clean(band);
        }
        let pieces: Vec<Piece> = self.map.bands().pieces(first, end).collect();
        for piece in pieces {
            if direct { self.write_band(piece) } else { self.append(piece) }
        }
        for slot in first_slot..first_slot + slots {
            self.expected.insert(slot, self.version);
        }
    }

    fn append(&mut self, piece: Piece) {
        while let Some(band) = self.map.blocked_by(piece) {
            self.clean(band);
        }
        let position = self.map.append(piece);
        for slot in 0..(piece.end_byte - piece.first_byte) / SLOT_BYTES {
            self.platter.in_log.insert(position + slot * SLOT_BYTES, self.version);
        }
    }

    fn write_band(&mut self, piece: Piece) {
        if let Some(band) = self.map.direct_blocked_by(piece) {
            self.clean(band);
        }
        self.map.write_band(piece);
        for slot in piece.first_byte / SLOT_BYTES..piece.end_byte / SLOT_BYTES {
            self.platter.in_bands.insert(slot, self.version);
        }
    }

    /// Copies what the map says is in the log to the band, then lets the map clean it.
    fn clean(&mut self, band: u32) {
        let range = self.map.bands().range(band);
        for fragment in self.map.fragments(range.start, range.end) {
            let Some(position) = fragment.position else { continue };
            for slot in 0..(fragment.end_byte - fragment.first_byte) / SLOT_BYTES {
                let version = self.platter.in_log[&(position + slot * SLOT_BYTES)];
                self.platter.in_bands.insert(fragment.first_byte / SLOT_BYTES + slot, version);
            }
        }
        self.map.clean(band);
    }

    fn discard(&mut self, first_slot: u64, slots: u64) {
        let (first, end) = (first_slot * SLOT_BYTES, (first_slot + slots) * SLOT_BYTES);
        self.map.discard(first, end);
        // Whatever a reader finds after a trim is right; the model takes what is there.
        for slot in first_slot..first_slot + slots {
            match self.found(slot) {
                Some(version) => self.expected.insert(slot, version),
                None => self.expected.remove(&slot),
            };
        }
    }

    /// What a reader of a slot finds; none when nothing was ever written there or it was trimmed.
    fn found(&self, slot: u64) -> Option<u64> {
        let byte = slot * SLOT_BYTES;
        if self.map.is_unmapped(byte, byte + SLOT_BYTES) {
            return None;
        }
        let fragment = self.map.fragments(byte, byte + SLOT_BYTES).next().expect("a slot is somewhere");
        assert_eq!(fragment.end_byte - fragment.first_byte, SLOT_BYTES, "a slot is in one place");
        match fragment.position {
            Some(position) => Some(self.platter.in_log[&position]),
            None => self.platter.in_bands.get(&slot).copied(),
        }
    }

    fn check(&self) {
        for slot in 0..SLOTS {
            assert_eq!(self.found(slot), self.expected.get(&slot).copied(), "slot {slot}");
        }
        let cache = self.map.cache();
        assert!(cache.entries() as u64 <= ENTRIES && cache.used_bytes() <= CACHE_SLOTS * SLOT_BYTES);
        assert!(self.map.unmapped_count() <= self.map.bands().count() as usize);
        let in_cache = self.map.fragments(0, CAPACITY).filter(|fragment| fragment.position.is_some());
        let cached_bytes: u64 = in_cache.map(|fragment| fragment.end_byte - fragment.first_byte).sum();
        let bands = 0..self.map.bands().count();
        let dirty_bytes: Vec<u64> = bands.map(|band| self.map.dirty.dirty_bytes(band)).collect();
        assert_eq!((cache.live_bytes(), dirty_bytes.iter().sum()), (cached_bytes, cached_bytes));
        let dirty_count = dirty_bytes.iter().filter(|&&bytes| bytes > 0).count();
        assert_eq!(self.map.dirty_band_count(), dirty_count);
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u64, u64),
    /// Writes on where the last write ended.
    WriteOn(u64),
    Clean,
    EndStream,
    Discard(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..SLOTS - 8, 1u64..8).prop_map(|(first, slots)| Step::Write(first, slots)),
        4 => (1u64..12).prop_map(Step::WriteOn),
        1 => (0..SLOTS - 64, 20u64..64).prop_map(|(first, slots)| Step::Write(first, slots)),
        2 => Just(Step::Clean),
        1 => Just(Step::EndStream),
        1 => (0..SLOTS - 64, 1u64..64).prop_map(|(first, slots)| Step::Discard(first, slots)),
    ]
}

fn order() -> impl Strategy<Value = CleaningOrder> {
    prop_oneof![Just(CleaningOrder::Fifo), Just(CleaningOrder::RoundRobin), Just(CleaningOrder::MostDirty)]
}

proptest! {
    #[test]
    fn the_newest_copy_is_never_lost(order in order(), steps in prop::collection::vec(step(), 1..150)) {
        let mut checked = Checked::new(order);
        let mut next_slot = 0;
        for step in steps {
            match step {
                Step::Write(first, slots) => {
                    checked.write(first, slots);
                    next_slot = first + slots;
                }
                Step::WriteOn(slots) => {
                    let slots = slots.min(SLOTS - next_slot);
                    if slots > 0 {
                        checked.write(next_slot, slots);
                    }
                    next_slot += slots;
                }
                Step::Clean => {
                    if let Some(band) = checked.map.next_to_clean() {
                        checked.clean(band);
                    }
                }
                Step::EndStream => {
                    if let Some(band) = checked.map.end_stream() {
                        checked.clean(band);
                    }
                }
                Step::Discard(first, slots) => checked.discard(first, slots),
            }
            checked.check();
        }
        while let Some(band) = checked.map.next_to_clean() {
            checked.clean(band);
        }
        checked.check();
        prop_assert_eq!(checked.map.cache().used_bytes(), 0);
    }
}

#[test]
fn overwriting_a_window_in_order_drains_it() {
    let mut checked = Checked::new(CleaningOrder::Fifo);
    [40, 45, 60, 77, 90].into_iter().for_each(|slot| checked.write(slot, 1));
    assert_eq!(checked.map.dirty_band_count(), 3);
    (0..6).for_each(|step| checked.write(24 + step * 16, 16));
    checked.check();
    // The first 16 slots were not yet a stream and lie in the cache; what they covered of the old is none.
    assert_eq!(checked.map.cache().live_bytes(), 16 * SLOT_BYTES);
    assert_eq!(checked.map.cache().entries(), 1);
}

#[test]
fn a_stream_that_ends_within_a_band_leaves_a_band_to_put_in_order() {
    let mut map = ShingledMap::new(&profile(CleaningOrder::Fifo), CAPACITY);
    assert_eq!(map.note_run(0, 30 * SLOT_BYTES, true), None);
    assert_eq!(map.end_stream(), Some(1));
    map.note_run(0, 48 * SLOT_BYTES, true);
    assert_eq!(map.end_stream(), None, "it ended where the band does");
}
