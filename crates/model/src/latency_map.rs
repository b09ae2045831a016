//! A map of a range: for each stretch of it the worst latency that was seen there, in classes. Its size does not depend
//! on the range, so that it can be kept, stored and drawn whatever the size of the drive.

use crate::plan::{Phase, PhaseKind};
use crate::range::ByteRange;
use crate::record::{ErrorRecord, IntervalRecord};
use crate::request::Status;
use crate::units::{Bytes, Nanos, Offset};
use crate::words;
use crate::workload::Pattern;
use serde::Serialize;

pub const CELLS_MAX: usize = 4096;

words! {
    /// How long a request took, with the bounds of surface tests: a few turns, a retry, a recovery, a drive that gives up.
    pub enum LatencyClass {
        Under10Ms = "under 10 ms",
        Under50Ms = "under 50 ms",
        Under200Ms = "under 200 ms",
        Under500Ms = "under 500 ms",
        Slower = "500 ms or more",
        Failed = "error",
    }
}

impl LatencyClass {
    /// From which latency on one belongs to the next class; none for the last two.
    pub fn bound(self) -> Option<Nanos> {
        let millis = match self {
            LatencyClass::Under10Ms => 10,
            LatencyClass::Under50Ms => 50,
            LatencyClass::Under200Ms => 200,
            LatencyClass::Under500Ms => 500,
            LatencyClass::Slower | LatencyClass::Failed => return None,
        };
        Some(Nanos::from_millis(millis))
    }

    /// The class of a request that took so long.
    pub fn of(latency: Nanos) -> LatencyClass {
        for class in LatencyClass::ALL {
            if let Some(bound) = class.bound()
                && latency < bound
            {
                return class;
            }
        }
        LatencyClass::Slower
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "MapDocument")]
pub struct LatencyMap {
    range: ByteRange,
    /// None where nothing was asked for yet.
    cells: Vec<Option<LatencyClass>>,
}

impl LatencyMap {
    /// A map of a range in which nothing was asked for yet, with a cell for each `block`, or as many as there may be.
    pub fn new(range: ByteRange, block: Bytes) -> LatencyMap {
        let blocks = range.bytes().get().div_ceil(block.get().max(1)).clamp(1, CELLS_MAX as u64);
        LatencyMap { range, cells: vec![None; blocks as usize] }
    }

    pub fn range(&self) -> ByteRange {
        self.range
    }

    /// The worst class of each stretch; all are equally long.
    pub fn cells(&self) -> &[Option<LatencyClass>] {
        &self.cells
    }

    /// Whether a phase goes over its range in order, so that it can be said which stretch a slice of time belongs to.
    pub fn is_of(phase: &Phase) -> bool {
        let in_order = matches!(&phase.workload, Some(workload) if workload.pattern == Pattern::Sequential);
        in_order && matches!(phase.kind, PhaseKind::Measure | PhaseKind::Verify)
    }

    /// Takes in a slice of time: its longest latency counts for all that it touched.
    pub fn add_interval(&mut self, slice: &IntervalRecord) {
        if let Some(latency) = slice.latency {
            self.mark(slice.offset_first, slice.offset_end, LatencyClass::of(Nanos::new(latency.max_ns)));
        }
    }

    pub fn add_error(&mut self, error: &ErrorRecord) {
        // That is where what was found belongs, not where it was found.
        if error.status == Status::PlaceOfData {
            return;
        }
        let end = error.offset_bytes.saturating_add(u64::from(error.length_bytes));
        self.mark(error.offset_bytes, end, LatencyClass::Failed);
    }

    fn mark(&mut self, first: u64, end: u64, class: LatencyClass) {
        let (first, end) = (first.max(self.range.first().get()), end.min(self.range.end().get()));
        if first >= end {
            return;
        }
        let (from, to) = (self.cell_at(first), self.cell_at(end - 1));
        for cell in &mut self.cells[from..=to] {
            *cell = (*cell).max(Some(class));
        }
    }

    fn cell_at(&self, byte: u64) -> usize {
        let inside = u128::from(byte - self.range.first().get());
        (inside * self.cells.len() as u128 / u128::from(self.range.bytes().get())) as usize
    }

    /// The same in fewer cells, each with the worst of those that it stands for.
    pub fn coarser(&self, cells: usize) -> Vec<Option<LatencyClass>> {
        let (all, count) = (self.cells.len(), cells.clamp(1, self.cells.len()));
        let part = |index: usize| &self.cells[index * all / count..(index + 1) * all / count];
        (0..count).map(|index| part(index).iter().copied().max().flatten()).collect()
    }

    /// One character for each cell: `.` or the number of its class.
    pub fn to_text(&self) -> String {
        let digit = |class: LatencyClass| char::from(b'0' + class as u8);
        self.cells.iter().map(|cell| cell.map_or('.', digit)).collect()
    }

    /// The map of that text; none when it is no map.
    pub fn from_text(range: ByteRange, text: &str) -> Option<LatencyMap> {
        let cell = |character: char| match character {
            '.' => Some(None),
            digit => {
                let number = digit.to_digit(10)? as usize;
                LatencyClass::ALL.get(number).copied().map(Some)
            }
        };
        let cells: Option<Vec<_>> = text.chars().take(CELLS_MAX + 1).map(cell).collect();
        let cells = cells.filter(|cells| (1..=CELLS_MAX).contains(&cells.len()))?;
        (!range.is_empty()).then_some(LatencyMap { range, cells })
    }

    /// Where a cell of a map in `count` cells begins.
    pub fn begin_of(&self, index: usize, count: usize) -> Offset {
        let share = u128::from(self.range.bytes().get()) * index as u128 / count.max(1) as u128;
        self.range.first() + Bytes::new(share as u64)
    }
}

/// The range, and one character for each cell.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MapDocument {
    first_byte: Offset,
    bytes: Bytes,
    cells: String,
}

impl From<LatencyMap> for MapDocument {
    fn from(map: LatencyMap) -> MapDocument {
        MapDocument { first_byte: map.range.first(), bytes: map.range.bytes(), cells: map.to_text() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::IntervalLatency;
    use crate::request::Operation;
    use crate::units::GIB;
    use proptest::prelude::*;

    fn slice(first: u64, end: u64, max_ns: u64) -> IntervalRecord {
        let latency = IntervalLatency { min_ns: 1, mean_ns: 1.0, p50_ns: 1, p99_ns: 1, max_ns };
        IntervalRecord {
            phase: 0,
            operation: Operation::Read,
            start_ns: 0,
            duration_ns: 1,
            operations: 1,
            bytes: end - first,
            errors: 0,
            offset_first: first,
            offset_end: end,
            latency: Some(latency),
        }
    }

    #[test]
    fn classes_begin_at_their_bounds() {
        let of = |millis| LatencyClass::of(Nanos::from_millis(millis));
        let found = [0, 10, 50, 200, 500, 60_000].map(of);
        assert_eq!(found[..5], LatencyClass::ALL[..5]);
        assert_eq!(found[5], LatencyClass::Slower);
        assert_eq!(LatencyClass::of(Nanos::new(9_999_999)), LatencyClass::Under10Ms);
    }

    #[test]
    fn each_stretch_has_its_worst() {
        let mut map =
            LatencyMap::new(ByteRange::new(Offset::new(1000), Bytes::new(100)).unwrap(), Bytes::new(10));
        map.add_interval(&slice(1000, 1035, 1));
        map.add_interval(&slice(1030, 1040, 300_000_000));
        map.add_interval(&slice(0, 5000, 0));
        map.add_error(&ErrorRecord {
            phase: 0,
            at_ns: 0,
            operation: Operation::Read,
            offset_bytes: 1099,
            length_bytes: 512,
            status: Status::MediumError,
        });
        assert_eq!(map.to_text(), "0003000005");
        assert_eq!(LatencyMap::from_text(map.range(), "0003000005"), Some(map.clone()));
        assert_eq!(
            map.coarser(3),
            [Some(0), Some(3), Some(5)].map(|n| n.map(|n: usize| LatencyClass::ALL[n]))
        );
    }

    #[test]
    fn a_large_drive_has_a_bounded_map() {
        let map = LatencyMap::new(ByteRange::whole(Bytes::new(30_000 * GIB)), Bytes::from_mib(1));
        assert_eq!(map.cells().len(), 4096);
        assert_eq!(map.begin_of(2048, 4096), Offset::new(15_000 * GIB));
    }

    proptest! {
        #[test]
        fn no_text_and_no_record_panics(
            text in "\\PC{0,50}", first in any::<u64>(), bytes in 0u64..1 << 50, end in any::<u64>(), cells in 0usize..9,
        ) {
            let range = ByteRange::whole(Bytes::new(bytes));
            let _ = LatencyMap::from_text(range, &text);
            let mut map = LatencyMap::new(range, Bytes::new(4096));
            map.add_interval(&slice(first.min(end), end, 1));
            prop_assert!(map.coarser(cells).len() <= map.cells().len());
        }
    }
}
