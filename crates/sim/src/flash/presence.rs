//! Which pages hold data: one bit a page, exactly, in pieces that are made when they are first needed.
//!
//! Up to 2³⁰ pages have a bit each (4 TB of 4 KiB pages: 128 MiB when all is written in patches, next to nothing while
//! whole pieces are full or empty). On a larger drive a bit stands for several pages and is set when any is written.

/// Bits of a piece; 4 KiB of memory.
const PIECE_BITS: u64 = 1 << 15;
const PIECE_WORDS: usize = (PIECE_BITS / 64) as usize;
const BITS_MAX: u64 = 1 << 30;

#[derive(Clone, Debug)]
enum Piece {
    Empty,
    Full,
    Mixed(Box<[u64; PIECE_WORDS]>),
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
        pieces * (PIECE_BITS / 8 + size_of::<Piece>() as u64)
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let mixed = self.pieces.iter().filter(|piece| matches!(piece, Piece::Mixed(_))).count() as u64;
        mixed * PIECE_BITS / 8 + (self.pieces.len() * size_of::<Piece>()) as u64
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
                Piece::Mixed(words) => {
                    masks(at, until).map(|(word, mask)| u64::from((words[word] & mask).count_ones())).sum()
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
            (Piece::Empty, true) => *piece = Piece::Mixed(Box::new([0; PIECE_WORDS])),
            (Piece::Full, false) => *piece = Piece::Mixed(Box::new([u64::MAX; PIECE_WORDS])),
        }
        let Piece::Mixed(words) = piece else { return };
        for (word, mask) in masks(at, until) {
            let old = words[word];
            words[word] = if value { old | mask } else { old & !mask };
            let changed = u64::from((old ^ words[word]).count_ones());
            self.set = if value { self.set + changed } else { self.set - changed };
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

/// The words of a piece that bits `at..until` of the whole map touch, and which bits of them.
fn masks(at: u64, until: u64) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (at % PIECE_BITS, (until - 1) % PIECE_BITS);
    (first / 64..=last / 64).map(move |word| {
        let low = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let high = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        (word as usize, low & high)
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
