//! Which pages hold data, exactly.
//!
//! Up to 2³⁰ pages have a bit each; on a larger drive a bit stands for several pages and is set when any is written.
//! Of each granule of 32 bits it is known whether all or none are set, and the bits themselves are kept only where some
//! are: writes of 128 KiB all over a drive of 1 TB touch 2 MB, which a processor's cache holds, instead of 32 MB.

/// Bits of a granule: with pages of 4 KiB the 128 KiB that most drives are written with.
const GRANULE_BITS: u64 = 32;
const GRANULES_OF_WORD: u64 = 64;
const BITS_MAX: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub(crate) struct Presence {
    /// Whether any bit of a granule is set, and whether all are.
    any: Vec<u64>,
    all: Vec<u64>,
    /// The bits; of a granule with all or none set they are not kept up. Zeroed memory takes none before it is written to.
    bits: Vec<u32>,
    pages: u64,
    /// A bit stands for `2^shift` pages.
    shift: u32,
    set: u64,
}

impl Presence {
    pub(crate) fn new(pages: u64, filled: bool) -> Presence {
        let shift = shift_of(pages);
        let bits = pages.div_ceil(1 << shift);
        let granules = bits.div_ceil(GRANULE_BITS);
        let words = vec![if filled { u64::MAX } else { 0 }; granules.div_ceil(GRANULES_OF_WORD) as usize];
        Presence {
            any: words.clone(),
            all: words,
            bits: vec![0; granules as usize],
            pages,
            shift,
            set: if filled { bits } else { 0 },
        }
    }

    pub(crate) fn memory_bytes_max(pages: u64) -> u64 {
        let granules = pages.div_ceil(1 << shift_of(pages)).div_ceil(GRANULE_BITS);
        granules * GRANULE_BITS / 8 + 2 * granules.div_ceil(8)
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
        let mut found = 0;
        for (granule, mask) in masks(first_page >> self.shift, ((end_page - 1) >> self.shift) + 1) {
            found += u64::from((self.granule(granule) & mask).count_ones());
        }
        (found << self.shift).min(end_page - first_page)
    }

    fn visit(&mut self, first_page: u64, end_page: u64, value: bool) {
        if first_page >= end_page {
            return;
        }
        let (first, end) = if value || end_page == self.pages {
            let round_up = if value { 0 } else { (1 << self.shift) - 1 };
            ((first_page + round_up) >> self.shift, ((end_page - 1) >> self.shift) + 1)
        } else {
            (first_page.div_ceil(1 << self.shift), end_page >> self.shift)
        };
        if first >= end {
            return;
        }
        for (granule, mask) in masks(first, end) {
            let old = self.granule(granule);
            let new = if value { old | mask } else { old & !mask };
            if new != old {
                let changed = u64::from((old ^ new).count_ones());
                self.set = if value { self.set + changed } else { self.set - changed };
                self.set_granule(granule, new);
            }
        }
    }

    fn granule(&self, granule: u64) -> u32 {
        let (word, bit) = word_and_bit_of(granule);
        if self.all[word] & bit != 0 {
            u32::MAX
        } else if self.any[word] & bit != 0 {
            self.bits[granule as usize]
        } else {
            0
        }
    }

    fn set_granule(&mut self, granule: u64, value: u32) {
        let (word, bit) = word_and_bit_of(granule);
        self.any[word] = if value == 0 { self.any[word] & !bit } else { self.any[word] | bit };
        self.all[word] = if value == u32::MAX { self.all[word] | bit } else { self.all[word] & !bit };
        if value != 0 && value != u32::MAX {
            self.bits[granule as usize] = value;
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

fn word_and_bit_of(granule: u64) -> (usize, u64) {
    ((granule / GRANULES_OF_WORD) as usize, 1 << (granule % GRANULES_OF_WORD))
}

/// The granules that bits `first..end` touch, and which bits of them.
fn masks(first: u64, end: u64) -> impl Iterator<Item = (u64, u32)> {
    let last = end - 1;
    (first / GRANULE_BITS..=last / GRANULE_BITS).map(move |granule| {
        let low = if granule == first / GRANULE_BITS { u32::MAX << (first % GRANULE_BITS) } else { u32::MAX };
        let high =
            if granule == last / GRANULE_BITS { u32::MAX >> (31 - last % GRANULE_BITS) } else { u32::MAX };
        (granule, low & high)
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
    fn a_drive_of_2_tb_takes_less_than_64_mib() {
        let pages = 2_000_000_000_000 / 4096;
        let mut presence = Presence::new(pages, false);
        assert_eq!(presence.insert(0, pages), pages);
        presence.remove(12_345, 12_346);
        assert_eq!(presence.count(), pages - 1);
        assert_eq!(presence.count_in(12_340, 12_350), 9);
        assert!(Presence::memory_bytes_max(pages) < 64 << 20);
    }
}
