//! Puts the frames of all workers together and turns them into records, in the order of time.

use crate::load::frame::Frame;
use model::histogram::LatencyHistogram;
use model::record::{
    ERROR_RECORDS_MAX, ErrorRecord, HistogramRecord, INTERVAL_NS, IntervalLatency, IntervalRecord, IoRecord,
};
use model::request::Operation;
use model::run::OperationTotals;
use model::units::{Instant, NANOS_PER_SECOND, Nanos};
use std::collections::VecDeque;

/// Slices that wait for a slow worker: 64 of 40 ms. One that is later is counted into the oldest slice kept.
const PENDING_SLICES_MAX: usize = 64;

/// Who sees the records of a phase as they come, and says whether to go on.
pub trait PhaseObserver {
    fn interval(&mut self, record: &IntervalRecord);
    fn histogram(&mut self, record: &HistogramRecord);
    fn error(&mut self, record: &ErrorRecord);
    fn trace(&mut self, records: &[IoRecord]);
    fn verdict(&mut self) -> Verdict;
    /// From that moment on what was written is flushed, and nothing else is done until the phase ends.
    fn flushing(&mut self, _since: Instant) {}
    /// The phase is to end, and the drive has not answered what is under way for so long since.
    fn unanswered(&mut self, _waited: Nanos) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    PreciseEnough,
    Interrupt,
}

/// Keeps no record and lets the phase run to its end, for whom the totals are enough.
pub struct Unobserved;

impl PhaseObserver for Unobserved {
    fn interval(&mut self, _: &IntervalRecord) {}
    fn histogram(&mut self, _: &HistogramRecord) {}
    fn error(&mut self, _: &ErrorRecord) {}
    fn trace(&mut self, _: &[IoRecord]) {}
    fn verdict(&mut self) -> Verdict {
        Verdict::GoOn
    }
}

pub struct Collector<'run> {
    observer: &'run mut dyn PhaseObserver,
    phase: u32,
    began: Instant,
    /// For each worker, the last slice that it sent: the phase may have ended within it, which is known at the end.
    open_slices: Vec<u64>,
    pending: VecDeque<Option<Frame>>,
    first_pending: u64,
    spare: Vec<Frame>,
    empty: Frame,
    seconds: Vec<LatencyHistogram>,
    second_start_ns: u64,
    totals: Vec<OperationTotals>,
    errors_kept: usize,
}

impl<'run> Collector<'run> {
    pub fn new(
        observer: &'run mut dyn PhaseObserver,
        phase: u32,
        began: Instant,
        workers: usize,
        operations: &[Operation],
    ) -> Collector<'run> {
        Collector {
            observer,
            phase,
            began,
            open_slices: vec![0; workers],
            pending: VecDeque::with_capacity(PENDING_SLICES_MAX + 1),
            first_pending: 0,
            spare: Vec::new(),
            empty: Frame::new(operations),
            seconds: operations.iter().map(|_| LatencyHistogram::default()).collect(),
            second_start_ns: began.get(),
            totals: operations.iter().copied().map(OperationTotals::none).collect(),
            errors_kept: 0,
        }
    }

    pub fn take(&mut self, worker: usize, frame: &Frame) {
        let slice = frame.slice.max(self.first_pending);
        self.open_slices[worker] = self.open_slices[worker].max(slice);
        let index = (slice - self.first_pending) as usize;
        if index >= PENDING_SLICES_MAX {
            // The slices in between are empty, or belong to a worker that is too late for them.
            self.emit_until(slice - PENDING_SLICES_MAX as u64 + 1);
        }
        let index = (slice - self.first_pending) as usize;
        while self.pending.len() <= index {
            self.pending.push_back(None);
        }
        match &mut self.pending[index] {
            Some(merged) => merged.merge(frame),
            place => {
                let mut fresh = self.spare.pop().unwrap_or_else(|| self.empty.clone());
                fresh.clear(slice);
                fresh.merge(frame);
                *place = Some(fresh);
            }
        }
        let through = self.open_slices.iter().copied().min().unwrap_or(0);
        self.emit_until(through);
    }

    pub fn error(&mut self, record: &ErrorRecord) {
        if self.errors_kept < ERROR_RECORDS_MAX {
            self.errors_kept += 1;
            self.observer.error(record);
        }
    }

    pub fn trace(&mut self, records: &[IoRecord]) {
        if !records.is_empty() {
            self.observer.trace(records);
        }
    }

    pub fn verdict(&mut self) -> Verdict {
        self.observer.verdict()
    }

    pub fn unanswered(&mut self, waited: Nanos) {
        self.observer.unanswered(waited);
    }

    /// Emits what is left; the last slice is cut where the phase ended. Gives the totals of the phase.
    pub fn finish(mut self, ended: Instant) -> Vec<OperationTotals> {
        let last_slice = ended.since(self.began).get().saturating_sub(1) / INTERVAL_NS;
        self.emit_until(last_slice);
        // A drive that answers in no time leaves counts in a slice of no length.
        if !self.pending.is_empty() || (ended > self.began && self.first_pending <= last_slice) {
            let start_ns = self.slice_start_ns(self.first_pending);
            self.emit_front(ended.get().max(start_ns + 1) - start_ns);
        }
        self.emit_seconds();
        for totals in &mut self.totals {
            totals.histogram.shrink();
        }
        self.totals
    }

    fn emit_until(&mut self, slice: u64) {
        while self.first_pending < slice {
            self.emit_front(INTERVAL_NS);
        }
    }

    fn slice_start_ns(&self, slice: u64) -> u64 {
        self.began.get() + slice * INTERVAL_NS
    }

    fn emit_front(&mut self, duration_ns: u64) {
        assert!((1..=INTERVAL_NS).contains(&duration_ns), "intervals take time and do not overlap");
        let start_ns = self.slice_start_ns(self.first_pending);
        let merged = self.pending.pop_front().flatten();
        let frame = merged.as_ref().unwrap_or(&self.empty);
        for (index, lane) in frame.lanes.iter().enumerate() {
            assert_eq!(lane.histogram.count(), lane.operations, "each operation has a latency");
            let touched = lane.offset_end > 0;
            self.observer.interval(&IntervalRecord {
                phase: self.phase,
                operation: lane.operation,
                start_ns,
                duration_ns,
                operations: lane.operations,
                bytes: lane.bytes,
                errors: lane.errors,
                offset_first: if touched { lane.offset_first } else { 0 },
                offset_end: lane.offset_end,
                latency: IntervalLatency::of(&lane.histogram),
            });
            let total = &mut self.totals[index];
            total.operations += lane.operations;
            total.bytes += lane.bytes;
            total.errors += lane.errors;
            total.histogram.merge(&lane.histogram);
            total.stretch = match (total.stretch, lane.stretch()) {
                (Some(so_far), Some(more)) => Some(so_far.joined(more)),
                (so_far, more) => so_far.or(more),
            };
            self.seconds[index].merge(&lane.histogram);
        }
        self.spare.extend(merged);
        self.first_pending += 1;
        if start_ns + duration_ns >= self.second_start_ns + NANOS_PER_SECOND {
            self.emit_seconds();
        }
    }

    fn emit_seconds(&mut self) {
        let end_ns = self.slice_start_ns(self.first_pending);
        assert!(end_ns >= self.second_start_ns, "seconds do not go back in time");
        for (histogram, total) in self.seconds.iter_mut().zip(&self.totals) {
            if histogram.count() > 0 {
                self.observer.histogram(&HistogramRecord {
                    phase: self.phase,
                    operation: total.operation,
                    start_ns: self.second_start_ns,
                    duration_ns: end_ns - self.second_start_ns,
                    histogram: histogram.clone(),
                });
                histogram.clear();
            }
        }
        self.second_start_ns = end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        intervals: Vec<IntervalRecord>,
        histograms: Vec<HistogramRecord>,
    }

    impl PhaseObserver for Seen {
        fn interval(&mut self, record: &IntervalRecord) {
            self.intervals.push(*record);
        }
        fn histogram(&mut self, record: &HistogramRecord) {
            self.histograms.push(record.clone());
        }
        fn error(&mut self, _: &ErrorRecord) {}
        fn trace(&mut self, _: &[IoRecord]) {}
        fn verdict(&mut self) -> Verdict {
            Verdict::GoOn
        }
    }

    fn frame(slice: u64, latencies: &[u64]) -> Frame {
        let mut frame = Frame::new(&[Operation::Read]);
        frame.clear(slice);
        latencies.iter().for_each(|&latency| frame.lanes[0].count(4096, 512, latency, 0));
        frame
    }

    fn operations(seen: &Seen) -> Vec<u64> {
        seen.intervals.iter().map(|interval| interval.operations).collect()
    }

    #[test]
    fn a_slice_waits_for_all_workers() {
        let mut seen = Seen::default();
        let mut collector = Collector::new(&mut seen, 3, Instant::new(100), 2, &[Operation::Read]);
        collector.take(0, &frame(0, &[1, 2]));
        collector.take(0, &frame(1, &[3]));
        collector.take(1, &frame(0, &[4]));
        assert_eq!(collector.first_pending, 0);
        collector.take(1, &frame(1, &[]));
        assert_eq!(collector.first_pending, 1);
        let totals = collector.finish(Instant::new(100 + 2 * INTERVAL_NS));
        assert_eq!(totals[0].operations, 4);
        assert_eq!(operations(&seen), [3, 1]);
        assert_eq!(seen.intervals[1].start_ns, 100 + INTERVAL_NS);
        assert_eq!(seen.histograms.len(), 1);
        assert_eq!(seen.histograms[0].histogram.count(), 4);
    }

    #[test]
    fn a_stall_leaves_empty_slices_and_the_last_is_cut() {
        let mut seen = Seen::default();
        let mut collector = Collector::new(&mut seen, 0, Instant::START, 1, &[Operation::Read]);
        collector.take(0, &frame(0, &[1]));
        collector.take(0, &frame(3, &[1]));
        collector.finish(Instant::new(4 * INTERVAL_NS + 7));
        assert_eq!(operations(&seen), [1, 0, 0, 1, 0]);
        assert_eq!(seen.intervals[1].latency, None);
        assert_eq!(seen.intervals[4].duration_ns, 7);
    }

    #[test]
    fn a_phase_that_ends_within_a_slice_cuts_it() {
        let mut seen = Seen::default();
        let mut collector = Collector::new(&mut seen, 0, Instant::START, 1, &[Operation::Read]);
        collector.take(0, &frame(0, &[1]));
        collector.take(0, &frame(1, &[1]));
        collector.finish(Instant::new(INTERVAL_NS + 9));
        let durations: Vec<u64> = seen.intervals.iter().map(|interval| interval.duration_ns).collect();
        assert_eq!(durations, [INTERVAL_NS, 9]);
    }

    #[test]
    fn what_comes_late_is_not_lost() {
        let mut seen = Seen::default();
        let mut collector = Collector::new(&mut seen, 0, Instant::START, 2, &[Operation::Read]);
        for slice in 0..200 {
            collector.take(0, &frame(slice, &[1]));
        }
        assert!(collector.pending.len() <= PENDING_SLICES_MAX);
        collector.take(1, &frame(0, &[1, 1, 1]));
        let totals = collector.finish(Instant::new(200 * INTERVAL_NS));
        assert_eq!(totals[0].operations, 203);
        assert_eq!(operations(&seen).iter().sum::<u64>(), 203);
        assert_eq!(seen.intervals.len(), 200);
    }
}
