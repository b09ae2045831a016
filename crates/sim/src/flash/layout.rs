//! How a drive's pages are counted, and how many of them the model keeps an eye on.
//!
//! A 2 TB drive maps 488 million pages of 4 KiB. The model follows **one page in `2^shift`** instead: the shown capacity is cut into units of
//! `2^shift` pages, and one page of each, at a place that is drawn by the unit's number, stands for the whole unit. What happens to that page is
//! exact (it is written, moved and trimmed when, and only when, a request covers it), and each superblock holds as many watched pages as it
//! holds units. This is a systematic sample, so sequential fills, whole rewrites and trims come out exactly, and the shares of valid pages, thus
//! write amplification, in expectation.
//!
//! What it costs: a range with `n` units has a relative noise of about 1/√n in how much of it is overwritten, and a hot spot smaller than a unit
//! is seen whole or not at all. At most 2²² units are kept (2 TB: 512 KiB each; 80 GB: 32 KiB each; up to 16 GB: every page), so a range of 1
//! GiB on a 2 TB drive is 2048 units, 2 %. Which pages hold data is kept apart, exactly, in [`crate::flash::presence`].

use crate::flaw::Flaw;
use model::units::Bytes;

const UNITS_MAX: u64 = 1 << 22;
/// A superblock with fewer watched pages would make its share of valid ones too coarse.
const SLOTS_MIN: u64 = 32;
/// Superblocks beyond those that the data fill: two being written, one free, and some for garbage to gather in.
const SPARE_SUPERBLOCKS_MIN: u64 = 6;
const CAPACITY_BYTES_MAX: u64 = 1 << 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub page_bytes: u64,
    /// What the drive shows, in pages; the last may be a part of one.
    pub pages: u64,
    pub unit_shift: u32,
    /// What the drive shows, in units; the last may be a part of one.
    pub units: u32,
    pub slots: u32,
    pub superblocks: u32,
    pub kept_free: u32,
}

fn small(number: u64, what: &str) -> Result<u32, Flaw> {
    match u32::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => Err(Flaw::new("over_provisioning", format!("makes {what} uncountable"))),
    }
}

impl Layout {
    pub(super) fn new(
        capacity: Bytes,
        page: Bytes,
        superblock_bytes: u64,
        over_provisioning: f64,
        kept_free: u32,
    ) -> Result<Layout, Flaw> {
        let page_bytes = page.get();
        if capacity.get() < page_bytes || capacity.get() > CAPACITY_BYTES_MAX {
            return Err(Flaw::new("", format!("a flash drive of {} bytes is not made", capacity.get())));
        }
        if superblock_bytes > CAPACITY_BYTES_MAX {
            return Err(Flaw::new("pages_per_block", "makes superblocks larger than any drive"));
        }
        let pages = capacity.get().div_ceil(page_bytes);
        let superblock_pages = superblock_bytes / page_bytes;
        let mut unit_shift = 0;
        while pages >> unit_shift > UNITS_MAX {
            unit_shift += 1;
        }
        let slots = superblock_pages >> unit_shift;
        if slots < SLOTS_MIN {
            let least = (SLOTS_MIN << unit_shift) * page_bytes;
            let reason = format!("a superblock (all dies) has {} bytes, too few", superblock_bytes);
            return Err(Flaw::new("pages_per_block", format!("{reason}: at this capacity {least} at least")));
        }
        let units = pages.div_ceil(1 << unit_shift);
        let physical = (units as f64 * (1.0 + over_provisioning)).round() as u64;
        let superblocks = physical / slots;
        let needed = units.div_ceil(slots) + SPARE_SUPERBLOCKS_MIN + u64::from(kept_free);
        if superblocks < needed {
            let reason = format!(
                "leaves {superblocks} superblocks where {needed} are needed at least: \
                 {} hold the data",
                units.div_ceil(slots)
            );
            return Err(Flaw::new("over_provisioning", reason));
        }
        small(physical.saturating_mul(2), "the spare space")?;
        Ok(Layout {
            page_bytes,
            pages,
            unit_shift,
            units: small(units, "the units")?,
            slots: small(slots, "the pages of a superblock")?,
            superblocks: small(superblocks, "the superblocks")?,
            kept_free,
        })
    }

    pub fn unit_bytes(&self) -> u64 {
        self.page_bytes << self.unit_shift
    }

    /// The page that stands for a unit, drawn by the unit's number: no stride of requests hits all or none.
    #[inline]
    pub fn watched_page(&self, unit: u64) -> u64 {
        if self.unit_shift == 0 {
            return unit;
        }
        // The high bits of a product with an odd constant (Knuth's multiplicative hash).
        let drawn = unit.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.unit_shift);
        ((unit << self.unit_shift) + drawn).min(self.pages - 1)
    }

    #[inline]
    pub fn units_of(&self, first_page: u64, end_page: u64) -> std::ops::Range<u64> {
        if first_page >= end_page {
            return 0..0;
        }
        let (first, last) = (first_page >> self.unit_shift, (end_page - 1) >> self.unit_shift);
        let from = if self.watched_page(first) >= first_page { first } else { first + 1 };
        let until = if self.watched_page(last) < end_page { last + 1 } else { last };
        from..until.max(from)
    }

    /// What the maps of such a drive take at most, in bytes: page tables, counts and lists, and one bit a page.
    pub fn memory_bytes_max(&self) -> u64 {
        let slots = u64::from(self.superblocks) * u64::from(self.slots);
        let tables = 4 * (u64::from(self.units) + slots);
        let lists = 4 * (4 * u64::from(self.superblocks) + u64::from(self.slots));
        tables + lists + crate::flash::presence::Presence::memory_bytes_max(self.pages)
    }
}
