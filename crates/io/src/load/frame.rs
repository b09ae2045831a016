//! What a worker counts in one slice of time, and how it hands that on without allocating or locking.

use model::histogram::LatencyHistogram;
use model::record::{ErrorRecord, IoRecord};
use model::request::Operation;
use model::run::{CompletionStretch, Drained, SecondCompletion};

/// The counts of one worker over one slice of time. A fixed set of them goes round between worker and collector.
#[derive(Clone, Debug)]
pub struct Frame {
    pub slice: u64,
    pub lanes: Vec<Lane>,
}

#[derive(Clone, Debug)]
pub struct Lane {
    pub operation: Operation,
    pub operations: u64,
    pub bytes: u64,
    pub errors: u64,
    pub offset_first: u64,
    pub offset_end: u64,
    pub histogram: LatencyHistogram,
    first: FirstOnes,
    /// Those of the moment behind it.
    second: FirstOnes,
    last_ns: u64,
    last: LastOnes,
}

/// The completions of the last moment so far, which begins with the first that is no part of the moment before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastOnes {
    until_ns: u64,
    /// When the one before them was completed; 0 when there was none.
    before_ns: u64,
    bytes: u64,
}

/// The completions of the first moment. The block layer puts neighbouring requests together and answers them at once: whoever took
/// only one of them for the first would count the others into the time behind it, in which they were not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FirstOnes {
    /// What is completed up to this moment is one of them; all that comes while there is none.
    until_ns: u64,
    completed_ns: u64,
    bytes: u64,
}

/// How long the first moment is, and the last: two reads of 512 KiB that a loop device had been given as one were seen to end 50 to 63 µs apart, since
/// the pages of each are let go one by one; at most five go together. A disk takes 1.7 ms for as much, and no more is lost by a longer
/// moment than what it holds, since what follows counts from its last completion on.
const MOMENT_NS: u64 = 250_000;

impl FirstOnes {
    const NONE: FirstOnes = FirstOnes { until_ns: u64::MAX, completed_ns: 0, bytes: 0 };

    fn add(&mut self, completed_ns: u64, bytes: u64) {
        if *self == FirstOnes::NONE {
            self.until_ns = completed_ns.saturating_add(MOMENT_NS);
        }
        self.completed_ns = completed_ns;
        self.bytes += bytes;
    }

    /// Those of both when the later are of the same moment.
    fn joined(self, later: FirstOnes) -> Option<FirstOnes> {
        let is_one_moment = later.until_ns.saturating_sub(MOMENT_NS) <= self.until_ns;
        (later != FirstOnes::NONE && is_one_moment).then(|| FirstOnes {
            completed_ns: self.completed_ns.max(later.completed_ns),
            bytes: self.bytes + later.bytes,
            ..self
        })
    }

    /// The first two moments of several.
    fn first_two(mut moments: [FirstOnes; 4]) -> [FirstOnes; 2] {
        moments.sort_unstable_by_key(|ones| ones.until_ns);
        let (mut two, mut last) = ([moments[0], FirstOnes::NONE], 0);
        for ones in &moments[1..] {
            match two[last].joined(*ones) {
                Some(both) => two[last] = both,
                None if last == 0 => (two[1], last) = (*ones, 1),
                None => break,
            }
        }
        two
    }
}

impl LastOnes {
    const NONE: LastOnes = LastOnes { until_ns: 0, before_ns: 0, bytes: 0 };
}

/// Where a worker's frames, errors and traced I/Os go. Nothing here may allocate, lock or wait.
pub trait FrameSink {
    /// Takes a full frame and gives an empty one; none when all are under way: the worker then keeps its own.
    fn exchange(&mut self, full: Frame) -> Result<Frame, Frame>;

    fn last(&mut self, full: Frame);

    fn error(&mut self, record: ErrorRecord) -> bool;

    fn trace(&mut self, record: IoRecord) -> bool;

    fn traces(&self) -> bool;

    fn stop_requested(&self) -> bool;
}

impl Frame {
    pub fn new(operations: &[Operation]) -> Frame {
        Frame { slice: 0, lanes: operations.iter().copied().map(Lane::new).collect() }
    }

    pub fn clear(&mut self, slice: u64) {
        self.slice = slice;
        self.lanes.iter_mut().for_each(Lane::clear);
    }

    pub fn merge(&mut self, other: &Frame) {
        assert_eq!(self.lanes.len(), other.lanes.len(), "all workers count the same operations");
        for (lane, more) in self.lanes.iter_mut().zip(&other.lanes) {
            assert_eq!(lane.operation, more.operation, "an operation is counted in its own lane");
            lane.merge(more);
        }
    }

    #[inline]
    pub fn lane(&mut self, operation: Operation) -> &mut Lane {
        if self.lanes[0].operation == operation {
            return &mut self.lanes[0];
        }
        self.lanes.iter_mut().find(|lane| lane.operation == operation).expect("a lane for each operation")
    }
}

impl Lane {
    pub fn new(operation: Operation) -> Lane {
        Lane {
            operation,
            operations: 0,
            bytes: 0,
            errors: 0,
            offset_first: u64::MAX,
            offset_end: 0,
            histogram: LatencyHistogram::default(),
            first: FirstOnes::NONE,
            second: FirstOnes::NONE,
            last_ns: 0,
            last: LastOnes::NONE,
        }
    }

    #[inline]
    pub fn count(&mut self, offset_bytes: u64, length_bytes: u32, latency_ns: u64, completed_ns: u64) {
        // A worker sees its completions in the order of time.
        if completed_ns <= self.second.until_ns {
            self.count_lead(completed_ns, u64::from(length_bytes));
        }
        if completed_ns > self.last.until_ns {
            let until_ns = completed_ns.saturating_add(MOMENT_NS);
            self.last = LastOnes { until_ns, before_ns: self.last_ns, bytes: 0 };
        }
        self.last.bytes += u64::from(length_bytes);
        self.last_ns = completed_ns;
        self.operations += 1;
        self.bytes += u64::from(length_bytes);
        self.offset_first = self.offset_first.min(offset_bytes);
        self.offset_end = self.offset_end.max(offset_bytes + u64::from(length_bytes));
        self.histogram.record(latency_ns);
    }

    #[cold]
    fn count_lead(&mut self, completed_ns: u64, bytes: u64) {
        let is_first = completed_ns <= self.first.until_ns;
        if is_first { &mut self.first } else { &mut self.second }.add(completed_ns, bytes);
    }

    pub fn stretch(&self) -> Option<CompletionStretch> {
        let second = SecondCompletion { at_ns: self.second.completed_ns, bytes: self.second.bytes };
        let FirstOnes { completed_ns, bytes, .. } = self.first;
        let LastOnes { before_ns, bytes: last_bytes, .. } = self.last;
        let drained = Drained { from_ns: before_ns, bytes: last_bytes };
        (self.operations > 0).then_some(CompletionStretch {
            first_ns: completed_ns,
            last_ns: self.last_ns,
            first_bytes: bytes,
            second: (self.second != FirstOnes::NONE).then_some(second),
            drained: (before_ns > 0).then_some(drained),
        })
    }

    pub fn merge(&mut self, more: &Lane) {
        [self.first, self.second] = FirstOnes::first_two([self.first, self.second, more.first, more.second]);
        self.merge_last(more);
        self.operations += more.operations;
        self.bytes += more.bytes;
        self.errors += more.errors;
        self.offset_first = self.offset_first.min(more.offset_first);
        self.offset_end = self.offset_end.max(more.offset_end);
        self.histogram.merge(&more.histogram);
    }

    /// The last of two workers is that of the later, and before it is what the other completed last.
    fn merge_last(&mut self, more: &Lane) {
        let (earlier, later) = if more.last_ns < self.last_ns { (more, &*self) } else { (&*self, more) };
        let last = LastOnes { before_ns: later.last.before_ns.max(earlier.last_ns), ..later.last };
        (self.last_ns, self.last) = (later.last_ns, last);
    }

    pub fn clear(&mut self) {
        self.operations = 0;
        self.bytes = 0;
        self.errors = 0;
        self.offset_first = u64::MAX;
        self.offset_end = 0;
        self.histogram.clear();
        self.first = FirstOnes::NONE;
        self.second = FirstOnes::NONE;
        self.last_ns = 0;
        self.last = LastOnes::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::OperationTotals;
    use proptest::prelude::*;

    /// Five requests of 512 KiB at 150 MB/s, two of which the block layer put together at a time, as a queue that takes 1280 KiB does:
    /// what comes behind the first two is 1.5 MiB in the time of 1.5 MiB.
    #[test]
    fn requests_that_are_answered_together_are_first_together() {
        let mut lane = Lane::new(Operation::Read);
        let (block, block_ns) = (512 * 1024u32, 3_495_253u64);
        for (index, blocks_before) in [2, 2, 4, 4, 5].into_iter().enumerate() {
            let completed_ns = 9_000_000 + blocks_before * block_ns + 60_000 * (index as u64 % 2);
            lane.count(index as u64 * u64::from(block), block, 5_000_000, completed_ns);
        }
        let stretch = lane.stretch().expect("something was completed");
        assert_eq!(stretch.first_bytes, 2 * u64::from(block));
        let rate =
            (lane.bytes - stretch.first_bytes) as f64 / ((stretch.last_ns - stretch.first_ns) as f64 / 1e9);
        assert!((rate / 150e6 - 1.0).abs() < 0.01, "{rate}");
    }

    /// Completions of 1 MiB as they were seen at 560 MB/s behind a loop device, which sends the parts of four in turns: the last had no
    /// other beside it. Slices of 40 ms cut none of them off.
    #[test]
    fn the_last_that_drains_the_queue_is_no_part_of_the_rate() {
        let mut lane = Lane::new(Operation::Read);
        for (index, completed_us) in [0, 1870, 3770, 5650, 7480, 9390, 11_260, 12_890].into_iter().enumerate()
        {
            lane.count(index as u64 * (1 << 20), 1 << 20, 7_500_000, 2_500_000 + 1000 * completed_us);
        }
        let mut totals = OperationTotals::none(Operation::Read);
        (totals.bytes, totals.stretch) = (lane.bytes, lane.stretch());
        let rate = 1.0 / totals.seconds_per_byte().expect("eight were completed");
        assert!((rate / 558.7e6 - 1.0).abs() < 0.001, "{rate}");
        let (mut early, mut late) = (Lane::new(Operation::Read), Lane::new(Operation::Read));
        early.count(0, 1 << 20, 1, 5_000_000);
        late.count(1 << 20, 1 << 20, 1, 41_000_000);
        let both = early.stretch().zip(late.stretch()).map(|(early, late)| early.joined(late));
        let drained = both.and_then(|both| both.drained);
        assert_eq!(drained, Some(Drained { from_ns: 5_000_000, bytes: 1 << 20 }));
        let second = Some(SecondCompletion { at_ns: 41_000_000, bytes: 1 << 20 });
        assert_eq!(both.and_then(|both| both.second), second);
        early.merge(&late);
        assert_eq!(early.stretch().and_then(|stretch| stretch.second), second);
    }

    proptest! {
        #[test]
        fn merging_parts_equals_the_whole(
            requests in prop::collection::vec((0u64..1 << 40, 1u32..1 << 20, 1u64..1 << 40, any::<bool>()), 0..50),
            began_ns in 0u64..1 << 40,
        ) {
            let (mut whole, mut a, mut b) =
                (Lane::new(Operation::Read), Lane::new(Operation::Read), Lane::new(Operation::Read));
            for ((offset, length, latency, first), completed_ns) in requests.into_iter().zip(began_ns..) {
                whole.count(offset, length, latency, completed_ns);
                if first { &mut a } else { &mut b }.count(offset, length, latency, completed_ns);
            }
            a.merge(&b);
            // Workers do not know which of their completions the other's came between.
            (a.last, whole.last) = (LastOnes::NONE, LastOnes::NONE);
            prop_assert_eq!(format!("{a:?}"), format!("{whole:?}"));
        }
    }
}
