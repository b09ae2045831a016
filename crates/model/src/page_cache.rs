//! What was in the system's page cache after a phase that read through it: how far the system had read on by itself.

use crate::range::ByteRange;
use crate::units::{Bytes, Offset};
use crate::workload::{Pattern, Workload};
use serde::{Deserialize, Serialize};

/// Blocks that a phase read one behind the other, and what of them and behind them was in memory. Nothing was asked for between the
/// end of the row and the end of what was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CachedRow {
    #[serde(rename = "first_byte")]
    pub first: Offset,
    pub reads: u64,
    #[serde(rename = "asked_bytes")]
    pub asked: Bytes,
    /// How far from its beginning was looked.
    #[serde(rename = "looked_at_bytes")]
    pub looked_at: Bytes,
    /// How much of that was in memory before the phase, and should not have been.
    #[serde(rename = "cached_before_bytes")]
    pub cached_before: Bytes,
    /// How much was in memory after the phase, from the beginning of the row without a gap.
    #[serde(rename = "cached_bytes")]
    pub cached: Bytes,
}

/// Every row of a phase, in the order in which they were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CachedRows {
    pub rows: Vec<CachedRow>,
}

/// Where systems read on by more than 128 KiB, no farther behind the beginning of a row is looked: four times 16 MiB at most.
const LOOK_MAX: Bytes = Bytes::from_mib(64);

impl CachedRow {
    /// The rows that a list of reads consists of, as they are read; nothing is known of them yet. None without a list of one size.
    pub fn all(workload: &Workload) -> Vec<CachedRow> {
        let (Pattern::Listed { offsets }, Some(block)) = (&workload.pattern, workload.block_sizes.single())
        else {
            return Vec::new();
        };
        let mut rows: Vec<CachedRow> = Vec::new();
        for offset in offsets {
            match rows.last_mut() {
                Some(row) if row.first + row.asked == *offset => {
                    row.reads += 1;
                    row.asked += block;
                }
                _ => rows.push(CachedRow::begun(*offset, block)),
            }
        }
        let mut firsts: Vec<u64> = rows.iter().map(|row| row.first.get()).collect();
        firsts.sort_unstable();
        for row in &mut rows {
            let next = firsts[firsts.partition_point(|first| *first <= row.first.get())..].first();
            let end = next.copied().unwrap_or(workload.range.end().get());
            row.looked_at = Bytes::new(end.saturating_sub(row.first.get())).min(LOOK_MAX).max(row.asked);
        }
        rows
    }

    fn begun(first: Offset, block: Bytes) -> CachedRow {
        let (cached_before, cached) = (Bytes::ZERO, Bytes::ZERO);
        CachedRow { first, reads: 1, asked: block, looked_at: block, cached_before, cached }
    }

    pub fn stretch(&self) -> ByteRange {
        ByteRange::new(self.first, self.looked_at).expect("a row lies inside a target")
    }

    /// What the system had read behind what was asked for; none where some was in memory before, or what was asked for did not stay.
    pub fn ahead(&self) -> Option<Bytes> {
        if !self.cached_before.is_zero() {
            return None;
        }
        self.cached.checked_sub(self.asked)
    }

    /// Whether it reaches as far as was looked, and perhaps further.
    pub fn is_open(&self) -> bool {
        self.cached >= self.looked_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::OperationMix;

    #[test]
    fn a_list_is_cut_where_it_jumps() {
        let offsets = [100, 101, 102, 40, 7, 8].map(|block| Offset::new(block * 4096)).to_vec();
        let range = ByteRange::whole(Bytes::new(4096 * 200));
        let listed = Pattern::Listed { offsets };
        let reads = Workload::new(range, listed, OperationMix::Read, Bytes::new(4096), 1);
        let blocks = |row: &CachedRow| (row.first.get() / 4096, row.reads, row.looked_at.get() / 4096);
        let rows: Vec<_> = CachedRow::all(&reads).iter().map(blocks).collect();
        assert_eq!(rows, [(100, 3, 100), (40, 1, 60), (7, 2, 33)]);
        let random = Workload { pattern: Pattern::RandomOnce, ..reads };
        assert_eq!(CachedRow::all(&random), []);
    }

    #[test]
    fn what_is_behind_a_row_was_read_by_the_system() {
        let row = CachedRow {
            first: Offset::new(1 << 20),
            reads: 2,
            asked: Bytes::new(8192),
            looked_at: Bytes::new(1 << 20),
            cached_before: Bytes::ZERO,
            cached: Bytes::new(20_480),
        };
        assert_eq!((row.ahead(), row.is_open()), (Some(Bytes::new(12_288)), false));
        assert_eq!(CachedRow { cached: Bytes::new(8192), ..row }.ahead(), Some(Bytes::ZERO));
        assert_eq!(
            CachedRow { cached: Bytes::new(4096), ..row }.ahead(),
            None,
            "what was read is gone again"
        );
        assert_eq!(CachedRow { cached_before: Bytes::new(4096), ..row }.ahead(), None);
        assert!(CachedRow { cached: row.looked_at, ..row }.is_open());
    }
}
