//! The media cache: a log on the platter, and the map that says which stretches of the drive have their newest copy there.
//!
//! The map lists contiguous stretches. Overwriting a part of one shortens it, or cuts it in two; writing on where the
//! last append ended lengthens it. So the map's size is that of the fragmentation, not of the data, and the cache is
//! full by entries long before it is by bytes when what is written is small.

use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaim {
    /// Wherever it was: the log goes on in what is free.
    Anywhere,
    /// Behind the oldest that is still in it: the log is a ring.
    BehindOldest,
}

#[derive(Clone, Debug)]
pub struct MediaCache {
    capacity_bytes: u64,
    entries_max: usize,
    reclaim: Reclaim,
    /// By the first byte on the drive; they do not overlap.
    extents: BTreeMap<u64, Extent>,
    /// By position in the log: the first byte on the drive.
    log: BTreeMap<u64, u64>,
    live_bytes: u64,
    /// How much was ever appended: the position of the next append.
    head: u64,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    end_byte: u64,
    position: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub first_byte: u64,
    pub end_byte: u64,
    /// Where in the log it begins; none when it is in its band.
    pub position: Option<u64>,
}

impl MediaCache {
    pub fn new(capacity_bytes: u64, entries_max: u64, reclaim: Reclaim) -> MediaCache {
        MediaCache {
            capacity_bytes,
            entries_max: entries_max as usize,
            reclaim,
            extents: BTreeMap::new(),
            log: BTreeMap::new(),
            live_bytes: 0,
            head: 0,
        }
    }

    pub fn entries(&self) -> usize {
        self.extents.len()
    }

    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// How much of the cache cannot be written: what is live, and in a ring what lies between.
    pub fn used_bytes(&self) -> u64 {
        match self.reclaim {
            Reclaim::Anywhere => self.live_bytes,
            Reclaim::BehindOldest => self.log.first_key_value().map_or(0, |(oldest, _)| self.head - oldest),
        }
    }

    /// How full it is, by bytes or by entries, whichever is more.
    pub fn fullness(&self) -> f64 {
        let by_bytes = self.used_bytes() as f64 / self.capacity_bytes as f64;
        by_bytes.max(self.extents.len() as f64 / self.entries_max as f64)
    }

    pub fn head(&self) -> u64 {
        self.head
    }

    /// Where on the platter a position of the log is, from the start of the cache.
    pub fn platter_byte(&self, position: u64) -> u64 {
        position % self.capacity_bytes
    }

    pub fn oldest(&self) -> Option<u64> {
        self.log.first_key_value().map(|(_, &first_byte)| first_byte)
    }

    pub fn has_room_for(&self, first_byte: u64, end_byte: u64) -> bool {
        let (mut covered_bytes, mut entries) = (0, self.extents.len() + 1);
        for (first, extent) in self.overlapping(first_byte, end_byte) {
            covered_bytes += extent.end_byte.min(end_byte) - first.max(first_byte);
            match (first < first_byte, extent.end_byte > end_byte) {
                (true, true) => entries += 1,
                (false, false) => entries -= 1,
                _ => {}
            }
        }
        let freed_bytes = if self.reclaim == Reclaim::Anywhere { covered_bytes } else { 0 };
        let used_bytes = self.used_bytes() - freed_bytes + (end_byte - first_byte);
        used_bytes <= self.capacity_bytes && entries <= self.entries_max
    }

    /// Whether taking a stretch away would need an entry that there is no room for: it cuts one in two.
    pub fn can_forget(&self, first_byte: u64, end_byte: u64) -> bool {
        let cut = |(first, extent): (u64, Extent)| first < first_byte && extent.end_byte > end_byte;
        self.extents.len() < self.entries_max || !self.overlapping(first_byte, end_byte).any(cut)
    }

    /// Appends a stretch, which must have room; its older copies are forgotten. `may_join` says whether it may become
    /// one entry with what lies before it: not across the border of a band. Answers by how much more is live now.
    pub fn append(&mut self, first_byte: u64, end_byte: u64, may_join: bool) -> u64 {
        debug_assert!(self.has_room_for(first_byte, end_byte), "there is room");
        let bytes = end_byte - first_byte;
        let overwritten = self.forget(first_byte, end_byte);
        let position = self.head;
        self.head += bytes;
        self.live_bytes += bytes;
        if may_join
            && let Some((&before, extent)) = self.extents.range_mut(..first_byte).next_back()
            && extent.end_byte == first_byte
            && extent.position + (first_byte - before) == position
        {
            extent.end_byte = end_byte;
        } else {
            self.extents.insert(first_byte, Extent { end_byte, position });
            self.log.insert(position, first_byte);
        }
        debug_assert!(self.used_bytes() <= self.capacity_bytes, "the log does not overtake itself");
        debug_assert!(
            self.extents.len() <= self.entries_max,
            "the map holds no more than it has entries for"
        );
        debug_assert!(overwritten <= bytes, "no more is overwritten than is written");
        bytes - overwritten
    }

    pub fn forget(&mut self, first_byte: u64, end_byte: u64) -> u64 {
        let mut forgotten = 0;
        loop {
            let next = self.overlapping(first_byte, end_byte).next();
            let Some((first, extent)) = next else { break };
            self.extents.remove(&first);
            self.log.remove(&extent.position);
            let cut = first.max(first_byte)..extent.end_byte.min(end_byte);
            forgotten += cut.end - cut.start;
            self.keep(first, first..cut.start, extent.position);
            self.keep(first, cut.end..extent.end_byte, extent.position);
        }
        debug_assert!(forgotten <= self.live_bytes, "only what is here is forgotten");
        debug_assert_eq!(self.extents.len(), self.log.len(), "each extent has one place in the log");
        self.live_bytes -= forgotten;
        forgotten
    }

    /// Lists what is left of a stretch that was at `position` and began at `first_byte`.
    fn keep(&mut self, first_byte: u64, left: Range<u64>, position: u64) {
        if !left.is_empty() {
            let position = position + (left.start - first_byte);
            self.extents.insert(left.start, Extent { end_byte: left.end, position });
            self.log.insert(position, left.start);
        }
    }

    fn overlapping(&self, first_byte: u64, end_byte: u64) -> impl Iterator<Item = (u64, Extent)> + '_ {
        let before = self.extents.range(..first_byte).next_back();
        let before = before.filter(|(_, extent)| extent.end_byte > first_byte);
        before
            .into_iter()
            .chain(self.extents.range(first_byte..end_byte))
            .map(|(&first, &extent)| (first, extent))
    }

    /// Where a stretch has its newest copies, in order: what is here, and between it what is in the bands.
    pub fn fragments(&self, first_byte: u64, end_byte: u64) -> impl Iterator<Item = Fragment> + '_ {
        let mut overlapping = self.overlapping(first_byte, end_byte).peekable();
        let mut at = first_byte;
        std::iter::from_fn(move || {
            if at >= end_byte {
                return None;
            }
            let next = overlapping.next_if(|(first, _)| *first <= at);
            let fragment = match next {
                Some((first, extent)) => Fragment {
                    first_byte: at,
                    end_byte: extent.end_byte.min(end_byte),
                    position: Some(extent.position + (at - first)),
                },
                None => {
                    let until = overlapping.peek().map_or(end_byte, |(first, _)| *first);
                    Fragment { first_byte: at, end_byte: until, position: None }
                }
            };
            at = fragment.end_byte;
            Some(fragment)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn where_is(cache: &MediaCache, first_byte: u64, end_byte: u64) -> Vec<(u64, u64, Option<u64>)> {
        cache
            .fragments(first_byte, end_byte)
            .map(|fragment| (fragment.first_byte, fragment.end_byte, fragment.position))
            .collect()
    }

    #[test]
    fn an_overwrite_in_the_middle_cuts_in_two() {
        let mut cache = MediaCache::new(1 << 20, 100, Reclaim::Anywhere);
        assert_eq!(cache.append(100, 200, true), 100);
        assert_eq!(cache.append(140, 150, true), 0);
        let expected = [
            (90, 100, None),
            (100, 140, Some(0)),
            (140, 150, Some(100)),
            (150, 200, Some(50)),
            (200, 210, None),
        ];
        assert_eq!(where_is(&cache, 90, 210), expected);
        assert_eq!((cache.entries(), cache.live_bytes(), cache.head()), (3, 100, 110));
        assert_eq!(cache.forget(120, 160), 40);
        assert_eq!(where_is(&cache, 100, 200), [(100, 120, Some(0)), (120, 160, None), (160, 200, Some(60))]);
    }

    #[test]
    fn what_goes_on_where_the_log_ends_is_one_entry() {
        let mut cache = MediaCache::new(1 << 20, 100, Reclaim::Anywhere);
        cache.append(0, 10, true);
        cache.append(10, 20, true);
        assert_eq!(cache.entries(), 1);
        cache.append(20, 30, false);
        cache.append(50, 60, true);
        cache.append(30, 40, true);
        assert_eq!(cache.entries(), 4, "not across a band's border, nor when something came between");
    }

    #[test]
    fn a_full_map_is_full_however_few_its_bytes() {
        let mut cache = MediaCache::new(1 << 20, 3, Reclaim::Anywhere);
        cache.append(0, 10, true);
        cache.append(20, 30, true);
        cache.append(40, 50, true);
        assert!(!cache.has_room_for(60, 70));
        assert!(cache.has_room_for(20, 30), "replaces an entry");
        assert!(cache.has_room_for(15, 60), "replaces two");
        assert!(!cache.has_room_for(22, 28), "cuts one in two");
        assert!(!cache.can_forget(22, 28) && cache.can_forget(20, 28));
    }

    #[test]
    fn a_ring_wins_room_only_behind_its_oldest() {
        let mut ring = MediaCache::new(40, 100, Reclaim::BehindOldest);
        let mut heap = MediaCache::new(40, 100, Reclaim::Anywhere);
        for cache in [&mut ring, &mut heap] {
            for first in [0, 100, 200, 300] {
                cache.append(first, first + 10, true);
            }
            cache.forget(100, 110);
        }
        assert!(!ring.has_room_for(500, 510) && heap.has_room_for(500, 510));
        ring.forget(0, 10);
        assert_eq!(ring.used_bytes(), 20, "the next oldest is the third");
        assert!(ring.has_room_for(500, 520));
        assert_eq!(ring.oldest(), Some(200));
    }
}
