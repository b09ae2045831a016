//! Whole phases through a rig: each condition to stop counts right, a pass makes each block once, an open loop charges
//! a stall to all whom it kept waiting, a trace is complete, and an interruption is soon obeyed.

mod loopdev;

use io::clock::{Clock, MonotonicClock};
use io::engine::choice::{EngineKind, EngineOptions};
use io::engine::{Engine, Full};
use io::error::IoError;
use io::load::collect::{PhaseObserver, Verdict};
use io::load::phase::{Load, LoadOutcome, run_threads};
use io::rig::Rig;
use io::targets::Target;
use loopdev::{Image, LoopDevice, alone_with_loop_devices};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::{Completion, Request, Status, Tag};
use model::units::{Bytes, Instant, Nanos, Quantile};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};
use sim::fault::{Fault, FaultyDrive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BLOCK: Bytes = Bytes::from_kib(4);
const IMAGE_MIB: u64 = 8;
const BLOCKS: u64 = IMAGE_MIB << 8;

/// Keeps what it is shown, and asks for the end after a while.
#[derive(Default)]
struct Seen {
    traced: Vec<IoRecord>,
    intervals: Vec<IntervalRecord>,
    histograms: Vec<HistogramRecord>,
    errors: usize,
    interrupt_after: Option<Duration>,
    began: Option<std::time::Instant>,
    asked: Option<std::time::Instant>,
}

impl PhaseObserver for Seen {
    fn interval(&mut self, record: &IntervalRecord) {
        self.intervals.push(*record);
    }
    fn histogram(&mut self, record: &HistogramRecord) {
        self.histograms.push(record.clone());
    }
    fn error(&mut self, _: &ErrorRecord) {
        self.errors += 1;
    }
    fn trace(&mut self, records: &[IoRecord]) {
        self.traced.extend_from_slice(records);
    }
    fn verdict(&mut self) -> Verdict {
        let began = *self.began.get_or_insert_with(std::time::Instant::now);
        if self.interrupt_after.is_some_and(|after| began.elapsed() >= after) {
            self.asked.get_or_insert_with(std::time::Instant::now);
            return Verdict::Interrupt;
        }
        Verdict::GoOn
    }
}

fn workload(pattern: Pattern, depth: u32, threads: u32) -> Workload {
    let range = ByteRange::whole(Bytes::from_mib(IMAGE_MIB));
    Workload { threads, ..Workload::new(range, pattern, OperationMix::Read, BLOCK, depth) }
}

fn run_on(rig: &mut Rig, workload: Workload, stop: StopCondition, seen: &mut Seen) -> LoadOutcome {
    let phase = Phase {
        name: "reads".into(),
        experiment: "test".into(),
        kind: PhaseKind::Measure,
        workload: Some(workload),
        stop,
    };
    let outcome = rig.run_phase(&phase, 0, 7, true, seen).expect("the phase runs");
    assert_eq!(outcome.dropped, 0, "nothing was dropped");
    assert_eq!(seen.errors, 0);
    let in_intervals: u64 = seen.intervals.iter().map(|interval| interval.operations).sum();
    let in_histograms: u64 = seen.histograms.iter().map(|record| record.histogram.count()).sum();
    assert_eq!((in_intervals, in_histograms), (operations(&outcome), operations(&outcome)));
    outcome
}

fn operations(outcome: &LoadOutcome) -> u64 {
    outcome.totals.iter().map(|totals| totals.operations).sum()
}

fn bytes(outcome: &LoadOutcome) -> u64 {
    outcome.totals.iter().map(|totals| totals.bytes).sum()
}

/// A rig for each engine over a loop device, in turn.
fn on_loop_devices(test: &str, check: impl Fn(EngineKind, &mut Rig)) {
    let Some(_alone) = alone_with_loop_devices(test) else { return };
    for kind in [EngineKind::Uring, EngineKind::Psync] {
        let image = Image::new(IMAGE_MIB);
        let device = LoopDevice::over(&image.path);
        let target = Target::open(&device.path).expect("a loop device is a target");
        let options = EngineOptions { kind, polled: false };
        check(kind, &mut Rig::for_reading(target, options).expect("a rig"));
    }
}

fn virtual_rig(fault: Option<Fault>) -> Rig {
    let drive = sim::open("constant", 1).expect("a drive that ships");
    Rig::on_virtual_drive(Box::new(FaultyDrive::new(drive, fault.into_iter().collect())))
}

/// Each condition alone, with one worker and with several.
fn conditions_count_right(name: &str, rig: &mut Rig) {
    for (depth, threads) in [(1, 1), (8, 1), (4, 3)] {
        let mut run = |stop| {
            run_on(rig, workload(Pattern::RandomWithReplacement, depth, threads), stop, &mut Seen::default())
        };
        let case = format!("{name}, depth {depth}, threads {threads}");
        let outcome = run(StopCondition { operations: Some(1001), ..StopCondition::default() });
        assert_eq!((operations(&outcome), outcome.reason), (1001, StopReason::Operations), "{case}");
        let outcome = run(StopCondition { passes: Some(2), ..StopCondition::default() });
        assert_eq!((operations(&outcome), outcome.reason), (2 * BLOCKS, StopReason::Passes), "{case}");
        let outcome = run(StopCondition::after(Nanos::from_millis(100)));
        assert_eq!(outcome.reason, StopReason::Time, "{case}");
        assert_eq!(outcome.ended.since(outcome.began), Nanos::from_millis(100), "{case}");
        let outcome = run(StopCondition { bytes: Some(Bytes::from_kib(600)), ..StopCondition::default() });
        assert_eq!((bytes(&outcome), outcome.reason), (600 << 10, StopReason::Bytes), "{case}");
    }
}

#[test]
fn conditions_count_right_on_loop_devices() {
    on_loop_devices("conditions_count_right_on_loop_devices", |kind, rig| {
        conditions_count_right(&format!("{kind:?}"), rig);
    });
}

#[test]
fn conditions_count_right_on_a_virtual_drive() {
    conditions_count_right("sim", &mut virtual_rig(None));
}

/// Several workers share a pass: together they make each block once, each time in another order.
fn passes_make_each_block_once(name: &str, rig: &mut Rig) {
    for pattern in [Pattern::Sequential, Pattern::RandomOnce] {
        let mut seen = Seen::default();
        let stop = StopCondition { passes: Some(3), ..StopCondition::default() };
        run_on(rig, workload(pattern.clone(), 4, 2), stop, &mut seen);
        let mut times = vec![0u32; BLOCKS as usize];
        seen.traced.iter().for_each(|io| times[(io.offset_bytes / BLOCK.get()) as usize] += 1);
        assert!(times.iter().all(|&count| count == 3), "{name}, {pattern:?}");
        assert!(
            seen.traced.iter().all(|io| u64::from(io.length_bytes) == BLOCK.get()),
            "{name}, {pattern:?}"
        );
    }
}

#[test]
fn a_pass_makes_each_block_once() {
    passes_make_each_block_once("sim", &mut virtual_rig(None));
    on_loop_devices("a_pass_makes_each_block_once", |kind, rig| {
        passes_make_each_block_once(&format!("{kind:?}"), rig);
    });
}

fn open_loop(per_second: f64, depth: u32) -> Workload {
    let arrival = Arrival::OpenLoop { per_second, spacing: Spacing::Even };
    Workload { arrival, ..workload(Pattern::RandomWithReplacement, depth, 1) }
}

#[test]
fn an_open_loop_keeps_its_rate_and_traces_all() {
    on_loop_devices("an_open_loop_keeps_its_rate_and_traces_all", |kind, rig| {
        let mut seen = Seen::default();
        // Ended by number, not by time: what a busy machine has not sent yet when the time is up is not sent at all.
        let stop = StopCondition { operations: Some(500), ..StopCondition::default() };
        let outcome = run_on(rig, open_loop(1000.0, 8), stop, &mut seen);
        assert_eq!((seen.traced.len(), operations(&outcome)), (500, 500), "{kind:?}");
        let mut intended: Vec<u64> =
            seen.traced.iter().map(|io| io.intended_ns - outcome.began.get()).collect();
        intended.sort_unstable();
        assert!((0..500).eq(intended.iter().map(|ns| ns / 1_000_000)), "{kind:?}: one each millisecond");
        let in_order =
            |io: &IoRecord| io.intended_ns <= io.submitted_ns && io.submitted_ns <= io.completed_ns;
        assert!(seen.traced.iter().all(in_order), "{kind:?}");
    });
}

/// A drive of 100 µs stalls for 100 ms in the middle of 500 ms. Whoever counts from submission sees a few slow requests;
/// whoever counts from the intended start sees that a fifth of them waited, most for tens of milliseconds.
#[test]
fn a_stall_is_charged_to_all_whom_it_kept_waiting() {
    let stall = Fault::Stall { at: Instant::new(200_000_000), duration: Nanos::from_millis(100) };
    let mut seen = Seen::default();
    let stop = StopCondition::after(Nanos::from_millis(500));
    let outcome = run_on(&mut virtual_rig(Some(stall)), open_loop(1000.0, 4), stop, &mut seen);
    assert!((495..=500).contains(&operations(&outcome)), "{}", operations(&outcome));
    let p99_ms = outcome.totals[0].histogram.quantile(Quantile::P99).expect("there were some").as_f64() / 1e6;
    assert!((92.0..=100.0).contains(&p99_ms), "p99 {p99_ms} ms");
    let slow =
        |latency: fn(&IoRecord) -> u64| seen.traced.iter().filter(|io| latency(io) > 10_000_000).count();
    assert_eq!(slow(|io| io.completed_ns - io.submitted_ns), 4, "by submission only the queue's depth");
    // Those of 200 to 292 ms: the 93rd of those that waited is served, four each 100 µs, 2.3 ms after the stall's end.
    assert_eq!(
        slow(|io| io.completed_ns - io.intended_ns),
        93,
        "by intention all that the stall kept waiting"
    );
}

#[test]
fn an_interruption_ends_a_phase_within_100_ms() {
    on_loop_devices("an_interruption_ends_a_phase_within_100_ms", |kind, rig| {
        let mut seen = Seen { interrupt_after: Some(Duration::from_millis(60)), ..Seen::default() };
        let stop = StopCondition::after(Nanos::from_secs(3600));
        let outcome = run_on(rig, open_loop(2000.0, 8), stop, &mut seen);
        let took = seen.asked.expect("it asked").elapsed();
        assert_eq!(outcome.reason, StopReason::Interrupted, "{kind:?}");
        assert!(took < Duration::from_millis(100), "{kind:?}: it took {took:?}");
        assert!(operations(&outcome) > 0, "{kind:?}: what was read before counts");
    });
}

/// A drive that answers nothing before it is let go, as in a flush that hangs. Whoever watches lets it go when it is told.
struct Hanging {
    is_free: Arc<AtomicBool>,
    clock: MonotonicClock,
    under_way: Option<Request>,
}

impl Engine for Hanging {
    fn depth(&self) -> u32 {
        1
    }
    fn queue(&mut self, request: Request) -> Result<(), Full> {
        self.under_way = Some(request);
        Ok(())
    }
    fn commit(&mut self) -> Result<u32, IoError> {
        Ok(1)
    }
    fn reap(&mut self, into: &mut Vec<Completion>, _: u32, _: Instant) -> Result<(), IoError> {
        while !self.is_free.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let Some(Request { tag, length_bytes, .. }) = self.under_way.take() else { return Ok(()) };
        let (status, completed_ns) = (Status::Done, self.clock.now().get());
        into.push(Completion { tag, status, transferred_bytes: length_bytes, completed_ns });
        Ok(())
    }
    fn buffer(&mut self, _: Tag) -> &mut [u8] {
        &mut []
    }
}

struct WantsTheEnd {
    is_free: Arc<AtomicBool>,
    waited: Option<Nanos>,
}

impl PhaseObserver for WantsTheEnd {
    fn interval(&mut self, _: &IntervalRecord) {}
    fn histogram(&mut self, _: &HistogramRecord) {}
    fn error(&mut self, _: &ErrorRecord) {}
    fn trace(&mut self, _: &[IoRecord]) {}
    fn verdict(&mut self) -> Verdict {
        Verdict::Interrupt
    }
    fn unanswered(&mut self, waited: Nanos) {
        self.waited = self.waited.or(Some(waited));
        self.is_free.store(true, Ordering::Relaxed);
    }
}

#[test]
fn who_wants_the_end_is_told_that_the_drive_does_not_answer() {
    let workload = workload(Pattern::RandomWithReplacement, 1, 1);
    let load = Load {
        workload: &workload,
        stop: StopCondition::after(Nanos::from_secs(60)),
        phase: 0,
        seed: 7,
        trace: false,
    };
    let is_free = Arc::new(AtomicBool::new(false));
    let clock = MonotonicClock::start();
    let open = |_| Ok(Hanging { is_free: Arc::clone(&is_free), clock, under_way: None });
    let mut observer = WantsTheEnd { is_free: Arc::clone(&is_free), waited: None };
    let outcome = run_threads(&load, clock, 1, open, &mut observer).unwrap();
    assert_eq!(outcome.reason, StopReason::Interrupted);
    let waited = observer.waited.expect("it is told");
    assert!(waited >= Nanos::from_secs(2), "{waited:?}");
}
