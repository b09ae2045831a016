//! Runs one phase: workers on their threads, the collector on the caller's; or everything on the caller's thread in
//! virtual time.

use crate::clock::{Clock, MonotonicClock, VirtualClock};
use crate::engine::Engine;
use crate::engine::sim::SimEngine;
use crate::error::IoError;
use crate::load::collect::{Collector, PhaseObserver, Verdict};
use crate::load::data::WriteData;
use crate::load::frame::{Frame, FrameSink};
use crate::load::generate::{RequestStream, Share};
use crate::load::issue::{Limits, Worker, WorkerOutcome, issue_loop};
use crate::load::processor_wait::waited_by_this_thread;
use model::plan::{StopCondition, StopReason};
use model::record::{ErrorRecord, IoRecord};
use model::request::{Operation, Tag};
use model::run::OperationTotals;
use model::units::{Instant, Nanos};
use model::workload::Workload;
use sim::contents::Contents;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Frames that go round between a worker and the collector: the collector may be a third of a second late.
const FRAMES: usize = 8;
/// Errors that wait for the collector.
const ERRORS_WAITING: usize = 4096;
/// Traced I/Os that wait for the collector: 60 ms at a million a second.
const TRACED_WAITING: usize = 1 << 16;
/// How often the collector looks.
const COLLECTOR_PAUSE: Duration = Duration::from_millis(4);

/// One phase to run.
pub struct Load<'run> {
    /// What is asked for. It has been validated against the target.
    pub workload: &'run Workload,
    /// When to stop. It is bounded.
    pub stop: StopCondition,
    /// The phase's number, for records and as stream of the generator.
    pub phase: u32,
    /// The run's seed.
    pub seed: u64,
    /// Whether to keep every I/O.
    pub trace: bool,
}

/// What a phase came to, beside its records.
#[derive(Clone, Debug)]
pub struct LoadOutcome {
    /// When the first request was submitted.
    pub began: Instant,
    /// When what was counted ended.
    pub ended: Instant,
    /// Why it ended.
    pub reason: StopReason,
    /// Totals for each operation.
    pub totals: Vec<OperationTotals>,
    /// Traced I/Os and errors for which there was no room.
    pub dropped: u64,
    /// What was moved by requests that were answered after the phase's time, and so are in no record.
    pub late_bytes: u64,
    /// The longest that a request of an open loop waited for us, not for the drive.
    pub submission_lag: Nanos,
    /// The longest that a worker was ready to go on and waited for a processor, in all. What a busy machine adds.
    pub waited: Nanos,
}

/// Runs a load on real time. `open` makes the engine of a worker for that many requests, on the worker's thread.
///
/// # Errors
/// When an engine cannot be opened or breaks.
pub fn run_threads<E: Engine>(
    load: &Load<'_>,
    clock: MonotonicClock,
    workers: u32,
    open: impl Fn(u32) -> Result<E, IoError> + Sync,
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
        let mut verdict = Verdict::GoOn;
        while !threads.iter().all(|thread| thread.is_finished()) {
            lines.iter_mut().enumerate().for_each(|(worker, line)| line.drain(worker, &mut collector));
            if verdict == Verdict::GoOn {
                verdict = collector.verdict();
                stop.store(verdict != Verdict::GoOn, Ordering::Relaxed);
            }
            std::thread::sleep(COLLECTOR_PAUSE);
        }
        lines.iter_mut().enumerate().for_each(|(worker, line)| line.drain(worker, &mut collector));
        let mut outcomes = Vec::new();
        for thread in threads {
            outcomes.push(thread.join().expect("a worker does not panic")?);
        }
        Ok(conclude(began, &outcomes, verdict, collector))
    })
}

/// Runs a load on a virtual drive, in virtual time; with `contents` data are moved too.
///
/// # Errors
/// When the engine breaks.
pub fn run_virtual(
    load: &Load<'_>,
    clock: &VirtualClock,
    drive: &mut dyn sim::Drive,
    contents: Option<&mut Contents>,
    observer: &mut dyn PhaseObserver,
) -> Result<LoadOutcome, IoError> {
    let began = clock.now();
    let operations = load.workload.mix.operations();
    let mut engine =
        SimEngine::new(drive, clock.clone(), depth_of(load.workload, Share { index: 0, count: 1 }));
    if let Some(contents) = contents {
        engine = engine.with_contents(contents, load.workload.block_sizes.largest().0 as usize)?;
    }
    let mut sink = InlineSink {
        collector: Collector::new(observer, load.phase, began, 1, operations),
        traces: load.trace,
        verdict: Verdict::GoOn,
    };
    let share = Share { index: 0, count: 1 };
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
    let verdict = sink.verdict;
    Ok(conclude(began, &[outcome], verdict, sink.collector))
}

/// How many workers serve a workload: more than there are processors would only take turns. A blocking engine has a
/// thread for each request under way whatever this is.
pub fn workers_for(workload: &Workload) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    workload.threads.min(processors)
}

/// The moment at which all workers begin together.
struct Start {
    ready: Barrier,
    go: Barrier,
    began_ns: AtomicU64,
}

impl Start {
    /// Waits until all workers are ready, and lets them go.
    fn announce(&self, clock: &MonotonicClock) -> Instant {
        self.ready.wait();
        let began = clock.now();
        self.began_ns.store(began.0, Ordering::Release);
        self.go.wait();
        began
    }

    /// Says that a worker is ready, and waits for the moment to begin.
    fn wait(&self) -> Instant {
        self.ready.wait();
        self.go.wait();
        Instant(self.began_ns.load(Ordering::Acquire))
    }
}

fn work<E: Engine>(
    load: &Load<'_>,
    clock: MonotonicClock,
    share: Share,
    start: &Start,
    open: &(impl Fn(u32) -> Result<E, IoError> + Sync),
    mut sink: RingSink<'_>,
) -> Result<WorkerOutcome, IoError> {
    let depth = depth_of(load.workload, share);
    let opened = open(depth).map(|mut engine| {
        let mut data = WriteData::new(&load.workload.data, load.seed ^ u64::from(share.index));
        if load.workload.mix.operations().contains(&Operation::Write) {
            (0..depth).for_each(|tag| data.fill(&load.workload.data, engine.buffer(Tag(tag))));
        }
        (engine, data)
    });
    let stream = RequestStream::new(load.workload, load.seed, load.phase, share);
    let frame = Frame::new(load.workload.mix.operations());
    let waited_before = waited_by_this_thread();
    // Whoever could not open its engine still comes to the start, since the others wait for it.
    let began = start.wait();
    let (mut engine, data) = opened?;
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
    let waited = waited_by_this_thread().zip(waited_before).map(|(now, before)| now.saturating_sub(before));
    Ok(WorkerOutcome { waited: waited.unwrap_or_default(), ..outcome })
}

/// A worker's part of the requests under way.
fn depth_of(workload: &Workload, share: Share) -> u32 {
    let all = workload.in_flight_max().min(u64::from(u32::MAX)) as u32;
    let (each, rest) = (all / share.count, all % share.count);
    each + u32::from(share.index < rest)
}

/// A worker's part of the limits.
fn limits(load: &Load<'_>, began: Instant, share: Share) -> Limits {
    let part = |whole: u64| {
        let (index, count) = (u64::from(share.index), u64::from(share.count));
        whole / count + u64::from(index < whole % count)
    };
    let by_passes =
        load.stop.passes.map(|passes| passes.saturating_mul(RequestStream::requests_per_pass(load.workload)));
    let by_count = load.stop.operations.map(|count| (part(count), StopReason::Operations));
    let by_passes = by_passes.map(|count| (part(count), StopReason::Passes));
    Limits {
        end: load.stop.time.map(|time| began.saturating_add(time)),
        operations: [by_count, by_passes].into_iter().flatten().min_by_key(|(count, _)| *count),
        bytes: load.stop.bytes.map(|bytes| part(bytes.0)),
    }
}

fn conclude(
    began: Instant,
    outcomes: &[WorkerOutcome],
    verdict: Verdict,
    collector: Collector<'_>,
) -> LoadOutcome {
    let ended = outcomes.iter().map(|outcome| outcome.ended).max().unwrap_or(began);
    let worst = |reason: &StopReason| match reason {
        StopReason::DeviceGone => 3,
        StopReason::Errors => 2,
        StopReason::Interrupted => 1,
        _ => 0,
    };
    let reason =
        outcomes.iter().map(|outcome| outcome.reason).max_by_key(worst).unwrap_or(StopReason::Interrupted);
    let reason = match (reason, verdict) {
        (StopReason::Interrupted, Verdict::PreciseEnough) => StopReason::Precision,
        (reason, _) => reason,
    };
    LoadOutcome {
        began,
        ended,
        reason,
        totals: collector.finish(ended),
        dropped: outcomes.iter().map(|outcome| outcome.dropped).sum(),
        late_bytes: outcomes.iter().map(|outcome| outcome.late_bytes).sum(),
        submission_lag: outcomes.iter().map(|outcome| outcome.submission_lag).max().unwrap_or_default(),
        waited: outcomes.iter().map(|outcome| outcome.waited).max().unwrap_or_default(),
    }
}

/// The worker's end of the rings to the collector.
struct RingSink<'run> {
    full: rtrb::Producer<Frame>,
    empty: rtrb::Consumer<Frame>,
    errors: rtrb::Producer<ErrorRecord>,
    traced: Option<rtrb::Producer<IoRecord>>,
    stop: &'run AtomicBool,
}

/// The collector's end.
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
    let (traced_in, traced_out) = match load.trace.then(|| rtrb::RingBuffer::new(TRACED_WAITING)) {
        Some((producer, consumer)) => (Some(producer), Some(consumer)),
        None => (None, None),
    };
    let sink = RingSink { full: full_in, empty: empty_out, errors: errors_in, traced: traced_in, stop };
    (sink, Line { full: full_out, empty: empty_in, errors: errors_out, traced: traced_out })
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
        self.traced.as_mut().is_none_or(|traced| traced.push(record).is_ok())
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
