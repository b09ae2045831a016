//! From calls to the records of a phase: slices of time, histograms, totals. It belongs to one thread.

use crate::clock::{Clock, MonotonicClock};
use crate::flushing::{Extent, Flushed, Flushing, unless_ended};
use crate::load::collect::{PhaseObserver, Verdict};
use model::histogram::LatencyHistogram;
use model::record::{ErrorRecord, HistogramRecord, INTERVAL_NS, IntervalLatency, IntervalRecord};
use model::request::{Operation, Status};
use model::run::{CompletionStretch, OperationTotals};
use model::units::{Instant, NANOS_PER_SECOND, Nanos};
use std::io;
use std::os::fd::BorrowedFd;

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub operation: Operation,
    pub offset: u64,
    pub bytes: u64,
    pub began: Instant,
    pub ended: Instant,
}

pub(super) struct Recorder<'phase> {
    clock: MonotonicClock,
    observer: &'phase mut dyn PhaseObserver,
    phase: u32,
    slice_end: Instant,
    second_end: Instant,
    lanes: Vec<Lane>,
    deadline: Option<Instant>,
    interrupted: bool,
    is_flushing: bool,
}

struct Lane {
    operation: Operation,
    slice: LatencyHistogram,
    bytes: u64,
    first: u64,
    end: u64,
    second: LatencyHistogram,
    totals: OperationTotals,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    On,
    TimeUp,
    Interrupted,
}

impl<'phase> Recorder<'phase> {
    pub(super) fn new(
        clock: MonotonicClock,
        observer: &'phase mut dyn PhaseObserver,
        phase: u32,
        operations: &[Operation],
        time_max: Option<Nanos>,
    ) -> Recorder<'phase> {
        let lanes = operations.iter().copied().map(Lane::new).collect();
        let now = clock.now();
        Recorder {
            clock,
            observer,
            phase,
            slice_end: now + Nanos::new(INTERVAL_NS),
            second_end: now + Nanos::new(NANOS_PER_SECOND),
            lanes,
            deadline: time_max.map(|time| now.saturating_add(time)),
            interrupted: false,
            is_flushing: false,
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    pub(super) fn count(&mut self, call: Call) -> Go {
        if call.ended >= self.slice_end {
            self.roll(call.ended);
        }
        debug_assert!(call.began <= call.ended && call.ended < self.slice_end, "a call lies in its slice");
        if let Some(lane) = self.lane(call.operation) {
            lane.count(&call);
        }
        self.go(call.ended)
    }

    #[inline]
    fn lane(&mut self, operation: Operation) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.operation == operation)
    }

    pub(super) fn wait(&mut self) -> Go {
        let now = self.now();
        if now >= self.slice_end {
            self.roll(now);
        }
        self.go(now)
    }

    #[inline]
    fn go(&self, now: Instant) -> Go {
        match self.deadline {
            _ if self.interrupted => Go::Interrupted,
            Some(deadline) if now >= deadline => Go::TimeUp,
            _ => Go::On,
        }
    }

    /// Hands out all slices that are over. A stall is handed out as the empty slices that it is.
    fn roll(&mut self, now: Instant) {
        while self.slice_end <= now {
            self.slice();
            self.slice_end += Nanos::new(INTERVAL_NS);
        }
        if now >= self.second_end {
            self.second(now);
        }
        self.interrupted |= self.observer.verdict() == Verdict::Interrupt;
    }

    fn slice(&mut self) {
        let start_ns = self.slice_end.get() - INTERVAL_NS;
        for lane in &mut self.lanes {
            let record = lane.take_slice(self.phase, start_ns);
            self.observer.interval(&record);
        }
    }

    fn second(&mut self, now: Instant) {
        let start_ns = self.second_end.get() - NANOS_PER_SECOND;
        for lane in &mut self.lanes {
            if lane.second.count() > 0 {
                let record = HistogramRecord {
                    phase: self.phase,
                    operation: lane.operation,
                    start_ns,
                    duration_ns: now.get().saturating_sub(start_ns),
                    histogram: lane.second.clone(),
                };
                self.observer.histogram(&record);
                lane.second.clear();
            }
        }
        self.second_end = now + Nanos::new(NANOS_PER_SECOND);
    }

    pub(super) fn end_calls(&mut self) {
        let now = self.now();
        self.roll(now);
        self.slice();
        self.second(now);
    }

    /// Counts the flush that makes lasting what was done, after the time of the phase; none where somebody ended it first.
    pub(super) fn flush(
        &mut self,
        descriptor: BorrowedFd<'_>,
        extent: Extent,
    ) -> Option<io::Result<Flushed>> {
        let began = self.now();
        self.observer.flushing(began);
        let outcome = self.wait_for(Flushing::begin(descriptor, extent))?;
        match &outcome {
            Ok(Flushed { took, .. }) => self.count_flush(began, took.get()),
            Err(error) => self.fail(Operation::Flush, 0, 0, error),
        }
        Some(outcome)
    }

    pub(super) fn flush_meanwhile(&mut self, file: BorrowedFd<'_>) -> io::Result<()> {
        match self.wait_for(Flushing::begin(file, Extent::Data)) {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn wait_for(&mut self, mut flushing: Flushing) -> Option<io::Result<Flushed>> {
        let (clock, observer, interrupted) = (self.clock, &mut *self.observer, &mut self.interrupted);
        let is_to_end = || {
            *interrupted |= observer.verdict() == Verdict::Interrupt;
            *interrupted
        };
        let outcome = unless_ended(|patience| flushing.wait(patience), || clock.now(), is_to_end);
        self.is_flushing |= outcome.is_none();
        outcome
    }

    pub(super) fn is_flushing(&self) -> bool {
        self.is_flushing
    }

    fn count_flush(&mut self, began: Instant, duration_ns: u64) {
        let mut lane = Lane::new(Operation::Flush);
        lane.totals.operations = 1;
        lane.totals.histogram.record(duration_ns);
        self.observer.histogram(&HistogramRecord {
            phase: self.phase,
            operation: Operation::Flush,
            start_ns: began.get(),
            duration_ns,
            histogram: lane.totals.histogram.clone(),
        });
        match self.lane(Operation::Flush) {
            Some(known) => {
                known.totals.operations += 1;
                known.totals.histogram.record(duration_ns);
            }
            None => self.lanes.push(lane),
        }
    }

    pub(super) fn fail(&mut self, operation: Operation, offset: u64, bytes: u64, error: &io::Error) {
        let status = Status::from_errno(error.raw_os_error().unwrap_or(5));
        if let Some(lane) = self.lane(operation) {
            lane.totals.errors += 1;
        }
        self.observer.error(&ErrorRecord {
            phase: self.phase,
            at_ns: self.clock.now().get(),
            operation,
            offset_bytes: offset,
            length_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            status,
        });
    }

    pub(super) fn into_totals(self) -> Vec<OperationTotals> {
        let mut totals = Vec::new();
        for Lane { totals: mut of_lane, .. } in self.lanes {
            assert_eq!(of_lane.histogram.count(), of_lane.operations, "each operation has a latency");
            if of_lane.operations + of_lane.errors > 0 {
                of_lane.histogram.shrink();
                totals.push(of_lane);
            }
        }
        totals.sort_by_key(|totals| totals.operation);
        totals
    }
}

impl Lane {
    fn new(operation: Operation) -> Lane {
        Lane {
            operation,
            slice: LatencyHistogram::default(),
            bytes: 0,
            first: u64::MAX,
            end: 0,
            second: LatencyHistogram::default(),
            totals: OperationTotals::none(operation),
        }
    }

    #[inline]
    fn count(&mut self, call: &Call) {
        let latency_ns = call.ended.since(call.began).get();
        self.slice.record(latency_ns);
        self.second.record(latency_ns);
        self.totals.histogram.record(latency_ns);
        self.totals.operations += 1;
        self.totals.bytes += call.bytes;
        self.bytes += call.bytes;
        self.first = self.first.min(call.offset);
        self.end = self.end.max(call.offset + call.bytes);
        let this = CompletionStretch::of_one(call.ended.get(), call.bytes);
        self.totals.stretch = match self.totals.stretch {
            Some(so_far) => Some(so_far.joined(this)),
            None => Some(this),
        };
    }

    fn take_slice(&mut self, phase: u32, start_ns: u64) -> IntervalRecord {
        let is_empty = self.slice.count() == 0;
        let record = IntervalRecord {
            phase,
            operation: self.operation,
            start_ns,
            duration_ns: INTERVAL_NS,
            operations: self.slice.count(),
            bytes: self.bytes,
            errors: 0,
            offset_first: if is_empty { 0 } else { self.first },
            offset_end: self.end,
            latency: IntervalLatency::of(&self.slice),
        };
        if !is_empty {
            self.slice.clear();
            (self.bytes, self.first, self.end) = (0, u64::MAX, 0);
        }
        record
    }
}
