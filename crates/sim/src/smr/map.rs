//! Where the newest copy of everything is, and what moves it: the state of a drive-managed SMR disk without its time.
//! ```text
//! a write that is part of a stream ──► its band, in place; copies in the media cache are forgotten
//! any other write ─────────────────► the media cache; its band is dirty
//! cleaning a band ─────────────────► what the cache has of it is merged into it; the band is clean, the cache has room
//! a trim ──────────────────────────► neither has it any more
//! ```
//! What this needs of memory is bounded by the map's entries, the bands, and the runs that are followed.

use crate::smr::bands::{Bands, Piece};
use crate::smr::cleaning::DirtyBands;
use crate::smr::media_cache::{Fragment, MediaCache, Reclaim};
use crate::smr::profile::{CleaningOrder, SmrProfile};
use crate::smr::streams::Streams;
use crate::smr::unmapped::Unmapped;

#[derive(Clone, Debug)]
pub struct ShingledMap {
    bands: Bands,
    cache: MediaCache,
    dirty: DirtyBands,
    streams: Streams,
    unmapped: Unmapped,
}

impl ShingledMap {
    /// An empty media cache before bands that all hold data, of a checked profile.
    pub fn new(profile: &SmrProfile, capacity_bytes: u64) -> ShingledMap {
        let bands = Bands::new(&profile.band_zones, capacity_bytes);
        let reclaim = match profile.cleaning_order {
            CleaningOrder::Fifo => Reclaim::BehindOldest,
            CleaningOrder::RoundRobin | CleaningOrder::MostDirty => Reclaim::Anywhere,
        };
        ShingledMap {
            cache: MediaCache::new(profile.media_cache_bytes, profile.map_entries, reclaim),
            dirty: DirtyBands::new(profile.cleaning_order, bands.count()),
            streams: Streams::new(profile.stream_threshold_bytes, profile.stream_count),
            unmapped: Unmapped::new(bands.count() as usize),
            bands,
        }
    }

    pub fn bands(&self) -> &Bands {
        &self.bands
    }

    pub fn cache(&self) -> &MediaCache {
        &self.cache
    }

    #[cfg(test)]
    pub fn dirty_band_count(&self) -> usize {
        self.dirty.count()
    }

    #[cfg(test)]
    pub fn unmapped_count(&self) -> usize {
        self.unmapped.count()
    }

    /// Whether a write at `first_byte`, of which `known_bytes` are there already, goes straight to its band.
    pub fn is_stream(&self, first_byte: u64, known_bytes: u64) -> bool {
        self.streams.is_stream(first_byte, known_bytes)
    }

    /// Notes that a write goes straight to its band or not. Answers with a band in which another stream ended before
    /// the band did, of which the drive now loses track: it has to be put in order, which is what cleaning does.
    pub fn note_run(&mut self, first_byte: u64, end_byte: u64, direct: bool) -> Option<u32> {
        let ended = self.streams.note(first_byte, end_byte, direct);
        ended.and_then(|byte| self.begun_band(byte))
    }

    /// Ends a stream while the drive is idle. Answers with its band as [`ShingledMap::note_run`] does.
    pub fn end_stream(&mut self) -> Option<u32> {
        while let Some(byte) = self.streams.forget_stream() {
            if let Some(band) = self.begun_band(byte) {
                return Some(band);
            }
        }
        None
    }

    /// The band that ends behind `byte` and not at it.
    fn begun_band(&self, byte: u64) -> Option<u32> {
        let inside = byte < self.bands.capacity_bytes();
        let band = inside.then(|| self.bands.of(byte))?;
        (self.bands.range(band).start != byte).then_some(band)
    }

    /// The band to be cleaned before there is room in the media cache for a piece; none when there is room.
    pub fn blocked_by(&self, piece: Piece) -> Option<u32> {
        if self.cache.has_room_for(piece.first_byte, piece.end_byte) { None } else { self.next_to_clean() }
    }

    pub fn append(&mut self, piece: Piece) -> u64 {
        let may_join = piece.first_byte != self.bands.range(piece.band).start;
        let position = self.cache.head();
        let more_bytes = self.cache.append(piece.first_byte, piece.end_byte, may_join);
        self.dirty.add(piece.band, more_bytes);
        self.unmapped.remove(piece.first_byte, piece.end_byte);
        position
    }

    /// The band to be cleaned before a piece is written straight to it: it would cut an entry in two in a full map.
    pub fn direct_blocked_by(&self, piece: Piece) -> Option<u32> {
        (!self.cache.can_forget(piece.first_byte, piece.end_byte)).then_some(piece.band)
    }

    pub fn write_band(&mut self, piece: Piece) {
        let forgotten = self.cache.forget(piece.first_byte, piece.end_byte);
        self.dirty.take(piece.band, forgotten);
        self.unmapped.remove(piece.first_byte, piece.end_byte);
    }

    /// Which band is to be cleaned next; none when none is dirty.
    pub fn next_to_clean(&self) -> Option<u32> {
        self.dirty.next(self.cache.oldest().map(|byte| self.bands.of(byte)))
    }

    pub fn clean(&mut self, band: u32) -> u64 {
        let range = self.bands.range(band);
        let merged = self.cache.forget(range.start, range.end);
        self.dirty.take(band, merged);
        if merged > 0 {
            self.dirty.cleaned(band);
        }
        merged
    }

    /// Takes a trim of whole slots as a hint: what there is no room to remember stays as it was.
    pub fn discard(&mut self, first_byte: u64, end_byte: u64) {
        if first_byte >= end_byte || !self.cache.can_forget(first_byte, end_byte) {
            return;
        }
        if !self.unmapped.add(first_byte, end_byte) {
            return;
        }
        let bands = &self.bands;
        for piece in bands.pieces(first_byte, end_byte) {
            self.dirty.take(piece.band, self.cache.forget(piece.first_byte, piece.end_byte));
        }
    }

    pub fn fragments(&self, first_byte: u64, end_byte: u64) -> impl Iterator<Item = Fragment> + '_ {
        self.cache.fragments(first_byte, end_byte)
    }

    pub fn is_unmapped(&self, first_byte: u64, end_byte: u64) -> bool {
        self.unmapped.covers(first_byte, end_byte)
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
