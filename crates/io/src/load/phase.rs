//! Runs one phase: workers on their threads, the collector on the caller's; in virtual time all on the caller's.

use crate::clock::{Clock, MonotonicClock, VirtualClock};
use crate::engine::Engine;
use crate::engine::sim::SimEngine;
use crate::error::IoError;
use crate::flushing::PATIENCE_AT_THE_END;
use crate::load::collect::{Collector, PhaseObserver, Verdict};
use crate::load::data::WriteData;
use crate::load::frame::{Frame, FrameSink};
use crate::load::generate::{RequestStream, Share};
use crate::load::issue::{Limits, Worker, WorkerOutcome, issue_loop};
use crate::load::processor_wait::waited_by_this_thread;
use model::plan::{StopCondition, StopReason};
use model::record::{ErrorRecord, IoRecord};
use model::request::Tag;
use model::run::OperationTotals;
use model::units::{Instant, Nanos};
use model::workload::Workload;
use sim::contents::Contents;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Frames that go round between a worker and the collector: the collector may be a third of a second late.
const FRAMES: usize = 8;
const ERRORS_WAITING: usize = 4096;
/// Traced I/Os that wait for the collector: 60 ms at a million a second.
const TRACED_WAITING: usize = 1 << 16;
const COLLECTOR_PAUSE: Duration = Duration::from_millis(4);

pub struct Load<'run> {
    pub workload: &'run Workload,
    pub stop: StopCondition,
    /// The phase's number, for records and as stream of the generator.
    pub phase: u32,
    pub seed: u64,
    pub trace: bool,
}

#[derive(Clone, Debug)]
pub struct LoadOutcome {
    pub began: Instant,
    pub ended: Instant,
    pub reason: StopReason,
    pub totals: Vec<OperationTotals>,
    /// Traced I/Os and errors for which there was no room.
    pub dropped: u64,
    /// What was moved by requests that were answered after the phase's time, and so are in no record.
    pub late_bytes: u64,
    /// The longest that a request of an open loop waited for us, not for the drive.
    pub submission_lag: Nanos,
    /// The longest that a worker was ready to go on and waited for a processor, in all. What a busy machine adds.
    pub waited: Nanos,
    /// The time that its worker spun instead of sleeping while it waited for completions.
    pub spun: Nanos,
}

/// Runs a load on real time. `open` makes the engine of a worker, on the worker's thread.
pub fn run_threads<E: Engine>(
    load: &Load<'_>,
    clock: MonotonicClock,
    workers: u32,
    open: impl Fn(Share) -> Result<E, IoError> + Sync,
    observer: &mut dyn PhaseObserver,
) -> Result<LoadOutcome, IoError> {
    let stop = AtomicBool::new(false);
    let start = Start {
        ready: Barrier::new(workers as usize + 1),
        go: Barrier::new(workers as usize + 1),
        began_ns: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        let mut lines = Vec::new();
        let mut threads = Vec::new();
        for index in 0..workers {
            let (sink, line) = connect(load, &stop);
            lines.push(line);
            let share = Share { index, count: workers };
            let (start, open) = (&start, &open);
            threads.push(scope.spawn(move || work(load, clock, share, start, open, sink)));
        }
        let began = start.announce(&clock);
        let operations = load.workload.mix.operations();
        let mut collector = Collector::new(observer, load.phase, began, lines.len(), operations);
        let (mut verdict, mut stopped) = (Verdict::GoOn, began);
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            drain_all(&mut lines, &mut collector);
            if verdict == Verdict::GoOn {
                verdict = collector.verdict();
                if verdict != Verdict::GoOn {
                    stopped = clock.now();
                    stop.store(true, Ordering::Relaxed);
                }
            } else if clock.now().since(stopped) >= PATIENCE_AT_THE_END {
                collector.unanswered(clock.now().since(stopped));
            }
            std::thread::sleep(COLLECTOR_PAUSE);
        }
        drain_all(&mut lines, &mut collector);
        let mut outcomes = Vec::new();
        for thread in threads {
            outcomes.push(thread.join().expect("a worker does not panic")?);
        }
        Ok(conclude(began, &outcomes, verdict, collector))
    })
}

pub fn run_virtual(
    load: &Load<'_>,
    clock: &VirtualClock,
    drive: &mut dyn sim::Drive,
    contents: Option<&mut Contents>,
    observer: &mut dyn PhaseObserver,
) -> Result<LoadOutcome, IoError> {
    let began = clock.now();
    let operations = load.workload.mix.operations();
    let share = Share { index: 0, count: 1 };
    let delay_before = drive.host_delay();
    let mut engine = SimEngine::new(&mut *drive, clock.clone(), depth_of(load.workload, share));
    if let Some(contents) = contents {
        engine = engine.with_contents(contents, load.workload.largest_request().get() as usize)?;
    }
    let mut sink = InlineSink {
        collector: Collector::new(observer, load.phase, began, 1, operations),
        traces: load.trace,
        verdict: Verdict::GoOn,
    };
    let worker = Worker {
        engine: &mut engine,
        clock,
        stream: RequestStream::new(load.workload, load.seed, load.phase, share),
        data: WriteData::new(&load.workload.data, load.seed),
        sink: &mut sink,
        phase: load.phase,
        began,
        limits: limits(load, began, share),
    };
    let outcome = issue_loop(worker, Frame::new(operations))?;
    drop(engine);
    let outcome = WorkerOutcome { waited: drive.host_delay().saturating_sub(delay_before), ..outcome };
    let verdict = sink.verdict;
    Ok(conclude(began, &[outcome], verdict, sink.collector))
}

/// How many workers serve a workload: no more than processors, but one for each request of a blocking engine.
pub fn workers_for(workload: &Workload) -> u32 {
    if workload.mix.commits().is_some() {
        return workload.in_flight_max() as u32;
    }
    match std::thread::available_parallelism() {
        Ok(processors) => workload.threads.min(processors.get() as u32),
        Err(_) => 1,
    }
}

struct Start {
    ready: Barrier,
    go: Barrier,
    began_ns: AtomicU64,
}

impl Start {
    fn announce(&self, clock: &MonotonicClock) -> Instant {
        self.ready.wait();
        let began = clock.now();
        self.began_ns.store(began.get(), Ordering::Release);
        self.go.wait();
        began
    }

    fn wait(&self) -> Instant {
        self.ready.wait();
        self.go.wait();
        Instant::new(self.began_ns.load(Ordering::Acquire))
    }
}

fn work<E: Engine>(
    load: &Load<'_>,
    clock: MonotonicClock,
    share: Share,
    start: &Start,
    open: &(impl Fn(Share) -> Result<E, IoError> + Sync),
    mut sink: RingSink<'_>,
) -> Result<WorkerOutcome, IoError> {
    let depth = depth_of(load.workload, share);
    let mut data = WriteData::new(&load.workload.data, load.seed ^ u64::from(share.index));
    let mut opened = open(share);
    if let Ok(engine) = &mut opened
        && load.workload.mix.operations().iter().any(|operation| operation.sends_data())
    {
        for tag in 0..depth {
            data.fill(&load.workload.data, engine.buffer(Tag(tag)));
        }
    }
    let stream = RequestStream::new(load.workload, load.seed, load.phase, share);
    let frame = Frame::new(load.workload.mix.operations());
    let waited_before = waited_by_this_thread();
    // Whoever could not open its engine still comes to the start, since the others wait for it.
    let began = start.wait();
    let mut engine = opened?;
    let limits = limits(load, began, share);
    let worker = Worker {
        engine: &mut engine,
        clock: &clock,
        stream,
        data,
        sink: &mut sink,
        phase: load.phase,
        began,
        limits,
    };
    let outcome = issue_loop(worker, frame)?;
    match (waited_by_this_thread(), waited_before) {
        (Some(now), Some(before)) => Ok(WorkerOutcome { waited: now.saturating_sub(before), ..outcome }),
        _ => Ok(outcome),
    }
}

pub fn depth_of(workload: &Workload, share: Share) -> u32 {
    share.of(workload.in_flight_max().min(u64::from(u32::MAX))) as u32
}

fn limits(load: &Load<'_>, began: Instant, share: Share) -> Limits {
    // The load beside commits goes on until the phase ends.
    let is_beside = load.workload.mix.commits().is_some() && share.index >= load.workload.threads;
    let mut limits = Limits { end: None, operations: None, bytes: None };
    if let Some(time) = load.stop.time {
        limits.end = Some(began.saturating_add(time));
    }
    if is_beside {
        return limits;
    }
    if let Some(bytes) = load.stop.bytes {
        limits.bytes = Some(share.of(bytes.get()));
    }
    if let Some(count) = load.stop.operations {
        limits.operations = Some((share.of(count), StopReason::Operations));
    }
    if let Some(passes) = load.stop.passes {
        let all = passes.saturating_mul(RequestStream::requests_per_pass(load.workload));
        match limits.operations {
            Some((count, _)) if count <= share.of(all) => {}
            _ => limits.operations = Some((share.of(all), StopReason::Passes)),
        }
    }
    limits
}

fn conclude(
    began: Instant,
    outcomes: &[WorkerOutcome],
    verdict: Verdict,
    collector: Collector<'_>,
) -> LoadOutcome {
    assert!(!outcomes.is_empty(), "a load has a worker");
    let (mut ended, mut reason) = (outcomes[0].ended, outcomes[0].reason);
    let (mut dropped, mut late_bytes) = (0, 0);
    let (mut submission_lag, mut waited) = (Nanos::ZERO, Nanos::ZERO);
    for outcome in outcomes {
        ended = ended.max(outcome.ended);
        if severity(outcome.reason) >= severity(reason) {
            reason = outcome.reason;
        }
        dropped += outcome.dropped;
        late_bytes += outcome.late_bytes;
        submission_lag = submission_lag.max(outcome.submission_lag);
        waited = waited.max(outcome.waited);
    }
    assert!(ended >= began, "a phase ends after it began");
    if reason == StopReason::Interrupted && verdict == Verdict::PreciseEnough {
        reason = StopReason::Precision;
    }
    let totals = collector.finish(ended);
    LoadOutcome {
        began,
        ended,
        reason,
        totals,
        dropped,
        late_bytes,
        submission_lag,
        waited,
        spun: Nanos::ZERO,
    }
}

fn severity(reason: StopReason) -> u32 {
    match reason {
        StopReason::DeviceGone => 3,
        StopReason::Errors => 2,
        StopReason::Interrupted => 1,
        _ => 0,
    }
}

struct RingSink<'run> {
    full: rtrb::Producer<Frame>,
    empty: rtrb::Consumer<Frame>,
    errors: rtrb::Producer<ErrorRecord>,
    traced: Option<rtrb::Producer<IoRecord>>,
    stop: &'run AtomicBool,
}

struct Line {
    full: rtrb::Consumer<Frame>,
    empty: rtrb::Producer<Frame>,
    errors: rtrb::Consumer<ErrorRecord>,
    traced: Option<rtrb::Consumer<IoRecord>>,
}

fn connect<'run>(load: &Load<'_>, stop: &'run AtomicBool) -> (RingSink<'run>, Line) {
    let operations = load.workload.mix.operations();
    // One more place than there are frames in the rings, for the frame that the worker brings.
    let (full_in, full_out) = rtrb::RingBuffer::new(FRAMES + 1);
    let (mut empty_in, empty_out) = rtrb::RingBuffer::new(FRAMES + 1);
    for _ in 0..FRAMES {
        let pushed = empty_in.push(Frame::new(operations));
        assert!(pushed.is_ok(), "the ring has room for all frames");
    }
    let (errors_in, errors_out) = rtrb::RingBuffer::new(ERRORS_WAITING);
    let (mut traced_in, mut traced_out) = (None, None);
    if load.trace {
        let (producer, consumer) = rtrb::RingBuffer::new(TRACED_WAITING);
        (traced_in, traced_out) = (Some(producer), Some(consumer));
    }
    let sink = RingSink { full: full_in, empty: empty_out, errors: errors_in, traced: traced_in, stop };
    (sink, Line { full: full_out, empty: empty_in, errors: errors_out, traced: traced_out })
}

fn drain_all(lines: &mut [Line], collector: &mut Collector<'_>) {
    for (worker, line) in lines.iter_mut().enumerate() {
        line.drain(worker, collector);
    }
}

impl Line {
    fn drain(&mut self, worker: usize, collector: &mut Collector<'_>) {
        while let Ok(frame) = self.full.pop() {
            collector.take(worker, &frame);
            let returned = self.empty.push(frame);
            assert!(returned.is_ok(), "the ring has room for all frames");
        }
        while let Ok(record) = self.errors.pop() {
            collector.error(&record);
        }
        if let Some(traced) = &mut self.traced
            && let Ok(chunk) = traced.read_chunk(traced.slots())
        {
            let (first, second) = chunk.as_slices();
            collector.trace(first);
            collector.trace(second);
            chunk.commit_all();
        }
    }
}

impl FrameSink for RingSink<'_> {
    fn exchange(&mut self, full: Frame) -> Result<Frame, Frame> {
        match self.empty.pop() {
            Ok(empty) => {
                self.last(full);
                Ok(empty)
            }
            Err(_) => Err(full),
        }
    }

    fn last(&mut self, full: Frame) {
        let pushed = self.full.push(full);
        assert!(pushed.is_ok(), "the ring has room for all frames");
    }

    fn error(&mut self, record: ErrorRecord) -> bool {
        self.errors.push(record).is_ok()
    }

    fn trace(&mut self, record: IoRecord) -> bool {
        match &mut self.traced {
            Some(traced) => traced.push(record).is_ok(),
            None => true,
        }
    }

    fn traces(&self) -> bool {
        self.traced.is_some()
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// In virtual time the collector sits behind the sink, and nothing is ever late.
struct InlineSink<'run> {
    collector: Collector<'run>,
    traces: bool,
    verdict: Verdict,
}

impl FrameSink for InlineSink<'_> {
    fn exchange(&mut self, full: Frame) -> Result<Frame, Frame> {
        self.collector.take(0, &full);
        if self.verdict == Verdict::GoOn {
            self.verdict = self.collector.verdict();
        }
        Ok(full)
    }

    fn last(&mut self, full: Frame) {
        self.collector.take(0, &full);
    }

    fn error(&mut self, record: ErrorRecord) -> bool {
        self.collector.error(&record);
        true
    }

    fn trace(&mut self, record: IoRecord) -> bool {
        self.collector.trace(&[record]);
        true
    }

    fn traces(&self) -> bool {
        self.traces
    }

    fn stop_requested(&self) -> bool {
        self.verdict != Verdict::GoOn
    }
}
