//! Which pages hold data: exactly, in pieces that are made when they are first needed.
//!
//! Up to 2³⁰ pages have a bit each; on a larger drive a bit stands for several pages and is set when any is written.
//! A piece knows of each granule of 32 bits whether all or none are set, and keeps the bits themselves only where some
//! are: writes of 128 KiB all over a drive of 1 TB touch 2 MB, which a processor's cache holds, instead of 32 MB.

/// Bits of a granule: with pages of 4 KiB the 128 KiB that most drives are written with.
const GRANULE_BITS: u64 = 32;
/// Granules of a piece, and the words that hold a bit for each.
const GRANULES: usize = 1024;
const GRANULE_WORDS: usize = GRANULES / 64;
const PIECE_BITS: u64 = GRANULE_BITS * GRANULES as u64;
const BITS_MAX: u64 = 1 << 30;

#[derive(Clone, Debug)]
enum Piece {
    Empty,
    Full,
    Mixed(Box<Granules>),
}

#[derive(Clone, Debug)]
struct Granules {
    /// Whether any bit of a granule is set, and whether all are.
    any: [u64; GRANULE_WORDS],
    all: [u64; GRANULE_WORDS],
    /// The bits; of a granule with all or none set they are not kept up.
    bits: Option<Box<[u32; GRANULES]>>,
}

impl Granules {
    fn new(filled: bool) -> Granules {
        let words = [if filled { u64::MAX } else { 0 }; GRANULE_WORDS];
        Granules { any: words, all: words, bits: None }
    }

    fn granule(&self, granule: usize) -> u32 {
        let (word, bit) = (granule / 64, 1 << (granule % 64));
        match &self.bits {
            _ if self.all[word] & bit != 0 => u32::MAX,
            Some(bits) if self.any[word] & bit != 0 => bits[granule],
            _ => 0,
        }
    }

    fn set_granule(&mut self, granule: usize, value: u32) {
        let (word, bit) = (granule / 64, 1 << (granule % 64));
        self.any[word] = if value == 0 { self.any[word] & !bit } else { self.any[word] | bit };
        self.all[word] = if value == u32::MAX { self.all[word] | bit } else { self.all[word] & !bit };
        if value != 0 && value != u32::MAX {
            self.bits.get_or_insert_with(|| Box::new([0; GRANULES]))[granule] = value;
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Presence {
    pieces: Vec<Piece>,
    pages: u64,
    /// A bit stands for `2^shift` pages.
    shift: u32,
    set: u64,
}

impl Presence {
    pub(crate) fn new(pages: u64, filled: bool) -> Presence {
        let shift = shift_of(pages);
        let bits = pages.div_ceil(1 << shift);
        let piece = if filled { Piece::Full } else { Piece::Empty };
        let pieces = vec![piece; bits.div_ceil(PIECE_BITS) as usize];
        Presence { pieces, pages, shift, set: if filled { bits } else { 0 } }
    }

    pub(crate) fn memory_bytes_max(pages: u64) -> u64 {
        let pieces = pages.div_ceil(1 << shift_of(pages)).div_ceil(PIECE_BITS);
        pieces * (PIECE_BITS / 8 + (size_of::<Granules>() + size_of::<Piece>()) as u64)
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let mut bytes = self.pieces.len() * size_of::<Piece>();
        for piece in &self.pieces {
            if let Piece::Mixed(granules) = piece {
                let bits = if granules.bits.is_some() { size_of::<[u32; GRANULES]>() } else { 0 };
                bytes += size_of::<Granules>() + bits;
            }
        }
        bytes as u64
    }

    pub(crate) fn count(&self) -> u64 {
        (self.set << self.shift).min(self.pages)
    }

    pub(crate) fn insert(&mut self, first_page: u64, end_page: u64) -> u64 {
        let before = self.set;
        self.visit(first_page, end_page, true);
        (self.set - before) << self.shift
    }

    /// Marks pages as holding nothing; how many did before. A bit for several pages is only cleared as a whole.
    pub(crate) fn remove(&mut self, first_page: u64, end_page: u64) -> u64 {
        let before = self.set;
        self.visit(first_page, end_page, false);
        (before - self.set) << self.shift
    }

    pub(crate) fn count_in(&self, first_page: u64, end_page: u64) -> u64 {
        if first_page >= end_page {
            return 0;
        }
        let (first, end) = (first_page >> self.shift, ((end_page - 1) >> self.shift) + 1);
        let mut found = 0;
        let mut at = first;
        while at < end {
            let until = end.min((at / PIECE_BITS + 1) * PIECE_BITS);
            found += match &self.pieces[(at / PIECE_BITS) as usize] {
                Piece::Empty => 0,
                Piece::Full => until - at,
                Piece::Mixed(granules) => {
                    let mut found = 0;
                    for (granule, mask) in masks(at, until) {
                        found += u64::from((granules.granule(granule) & mask).count_ones());
                    }
                    found
                }
            };
            at = until;
        }
        (found << self.shift).min(end_page - first_page)
    }

    fn visit(&mut self, first_page: u64, end_page: u64, value: bool) {
        if first_page >= end_page {
            return;
        }
        let (mut at, end) = if value || end_page == self.pages {
            let round_up = if value { 0 } else { (1 << self.shift) - 1 };
            ((first_page + round_up) >> self.shift, ((end_page - 1) >> self.shift) + 1)
        } else {
            (first_page.div_ceil(1 << self.shift), end_page >> self.shift)
        };
        while at < end {
            let until = end.min((at / PIECE_BITS + 1) * PIECE_BITS);
            self.visit_piece(at, until, value);
            at = until;
        }
    }

    fn visit_piece(&mut self, at: u64, until: u64, value: bool) {
        let piece = &mut self.pieces[(at / PIECE_BITS) as usize];
        match (&mut *piece, value) {
            (Piece::Full, true) | (Piece::Empty, false) => return,
            (Piece::Mixed(_), _) => {}
            (Piece::Empty, true) if until - at == PIECE_BITS => {
                *piece = Piece::Full;
                self.set += PIECE_BITS;
                return;
            }
            (Piece::Full, false) if until - at == PIECE_BITS => {
                *piece = Piece::Empty;
                self.set -= PIECE_BITS;
                return;
            }
            (Piece::Empty | Piece::Full, _) => *piece = Piece::Mixed(Box::new(Granules::new(!value))),
        }
        let Piece::Mixed(granules) = piece else { return };
        for (granule, mask) in masks(at, until) {
            let old = granules.granule(granule);
            let new = if value { old | mask } else { old & !mask };
            if new != old {
                let changed = u64::from((old ^ new).count_ones());
                self.set = if value { self.set + changed } else { self.set - changed };
                granules.set_granule(granule, new);
            }
        }
    }
}

fn shift_of(pages: u64) -> u32 {
    let mut shift = 0;
    while pages >> shift > BITS_MAX {
        shift += 1;
    }
    shift
}

/// The granules of a piece that bits `at..until` of the whole map touch, and which bits of them.
fn masks(at: u64, until: u64) -> impl Iterator<Item = (usize, u32)> {
    let (first, last) = (at % PIECE_BITS, (until - 1) % PIECE_BITS);
    (first / GRANULE_BITS..=last / GRANULE_BITS).map(move |granule| {
        let low = if granule == first / GRANULE_BITS { u32::MAX << (first % GRANULE_BITS) } else { u32::MAX };
        let high =
            if granule == last / GRANULE_BITS { u32::MAX >> (31 - last % GRANULE_BITS) } else { u32::MAX };
        (granule as usize, low & high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list of flags.
        #[test]
        fn it_is_a_set_of_pages(steps in prop::collection::vec((0u64..70_000, 0u64..70_000, any::<bool>()), 1..20), filled: bool) {
            let mut presence = Presence::new(70_000, filled);
            let mut plain = vec![filled; 70_000];
            for (a, b, value) in steps {
                let (first, end) = (a.min(b), a.max(b));
                let range = first as usize..end as usize;
                let there = plain[range.clone()].iter().filter(|flag| **flag).count() as u64;
                prop_assert_eq!(presence.count_in(first, end), there);
                let changed = if value { presence.insert(first, end) } else { presence.remove(first, end) };
                prop_assert_eq!(changed, if value { end - first - there } else { there });
                plain[range].fill(value);
                prop_assert_eq!(presence.count(), plain.iter().filter(|flag| **flag).count() as u64);
            }
        }
    }

    #[test]
    fn whole_pieces_take_no_memory() {
        let pages = 2_000_000_000_000 / 4096;
        let mut presence = Presence::new(pages, false);
        assert_eq!(presence.insert(0, pages), pages);
        assert!(presence.memory_bytes() < 1 << 20, "{}", presence.memory_bytes());
        presence.remove(12_345, 12_346);
        assert_eq!(presence.count(), pages - 1);
        assert_eq!(presence.count_in(12_340, 12_350), 9);
        assert!(presence.memory_bytes() < 1 << 20);
        assert!(Presence::memory_bytes_max(pages) < 64 << 20);
    }
}
