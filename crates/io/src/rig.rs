//! A rig: a target, the engine in front of it and the clock beside it. It runs phases, on a real drive or a virtual one.

use crate::clock::{Clock, MonotonicClock, VirtualClock};
use crate::engine::Engine;
use crate::engine::choice::{EngineFacts, EngineOptions, tried};
use crate::engine::commit::CommitEngine;
use crate::engine::null::NullEngine;
use crate::engine::psync::PsyncEngine;
use crate::engine::sim::SimEngine;
use crate::engine::uring::UringEngine;
use crate::engine::waiting::{RequestShape, WaitingWays};
use crate::error::IoError;
use crate::flushing::{Extent, Flushing, unless_ended};
use crate::load::collect::{PhaseObserver, Verdict};
use crate::load::generate::Share;
use crate::load::phase::{Load, LoadOutcome, depth_of, run_threads, run_virtual, workers_for};
use crate::load::presence::PresenceWatch;
use crate::permit_watch::PermitWatch;
use crate::targets::preserve::TargetMedium;
use crate::targets::purge::{PurgeEnd, PurgeError, PurgeMethod, purge};
use crate::targets::{LogFile, ScratchFile, Target, WritePermit, unsplit_bytes_max};
use model::commit::{Commits, Log};
use model::experiment_name::{EngineName, ExperimentName};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, StopReason};
use model::record::{ErrorRecord, HistogramRecord, INTERVAL_NS};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::run::OperationTotals;
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos};
use model::workload::{Arrival, Caching, DataPattern, Workload, WorkloadError};
use sim::Drive;
use sim::contents::Contents;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A flush is asked after again after this long, for as long as it takes: a disk empties its cache in seconds.
const FLUSH_PATIENCE: Nanos = Nanos::from_secs(1);
/// The most memory that the buffers of one phase may take.
const BUFFERS_MAX: Bytes = Bytes::from_gib(1);

#[derive(Clone, Debug)]
pub enum RigClock {
    Real(MonotonicClock),
    Virtual(VirtualClock),
}

impl RigClock {
    pub fn now(&self) -> Instant {
        match self {
            RigClock::Real(clock) => clock.now(),
            RigClock::Virtual(clock) => clock.now(),
        }
    }
}

pub struct Rig {
    place: Place,
    engine: EngineFacts,
    /// The largest request that is polled for; zero when none is.
    polled_bytes_max: u64,
    ways: WaitingWays,
}

enum Place {
    Real { source: Box<Source>, clock: MonotonicClock },
    Virtual { drive: Box<dyn Drive>, contents: Option<Contents>, clock: VirtualClock },
}

enum Source {
    Reading(Target),
    Writing(Target, WritePermit),
    Scratch(ScratchFile),
}

impl Rig {
    /// A target that is only read. No descriptor of this rig can write.
    pub fn for_reading(target: Target, options: EngineOptions) -> Result<Rig, IoError> {
        Rig::real(Source::Reading(target), options)
    }

    pub fn for_writing(target: Target, permit: WritePermit, options: EngineOptions) -> Result<Rig, IoError> {
        if permit.identity() != target.identity() {
            let why = "the permit to write is one for another target".into();
            return Err(IoError::WriteRefused { target: target.path().into(), why });
        }
        Rig::real(Source::Writing(target, permit), options)
    }

    pub fn on_scratch(scratch: ScratchFile, options: EngineOptions) -> Result<Rig, IoError> {
        Rig::real(Source::Scratch(scratch), options)
    }

    /// A virtual drive in virtual time. It may be written to.
    pub fn on_virtual_drive(drive: Box<dyn Drive>) -> Rig {
        Rig {
            place: Place::Virtual { drive, contents: None, clock: VirtualClock::default() },
            engine: EngineFacts { name: EngineName::Sim, features: vec!["virtual time".into()] },
            polled_bytes_max: 0,
            ways: WaitingWays::default(),
        }
    }

    /// The same with what the drive holds, so that reads can be compared with what was written. Only the requests of
    /// workloads with marked data get there. Nothing happens to a rig on a real target.
    #[must_use]
    pub fn with_contents(mut self, held: Contents) -> Rig {
        if let Place::Virtual { contents, .. } = &mut self.place {
            *contents = Some(held);
        }
        self
    }

    fn real(source: Source, options: EngineOptions) -> Result<Rig, IoError> {
        let clock = MonotonicClock::start();
        let polled_bytes_max = if options.polled { unsplit_bytes_max(source.target().disks()) } else { 0 };
        let engine = tried(source.target(), options, polled_bytes_max, clock)?;
        let ways = WaitingWays::default();
        Ok(Rig { place: Place::Real { source: Box::new(source), clock }, engine, polled_bytes_max, ways })
    }

    pub fn facts(&self) -> &TargetFacts {
        match &self.place {
            Place::Real { source, .. } => source.target().facts(),
            Place::Virtual { drive, .. } => drive.facts(),
        }
    }

    pub fn target(&self) -> Option<&Target> {
        match &self.place {
            Place::Real { source, .. } => Some(source.target()),
            Place::Virtual { .. } => None,
        }
    }

    pub fn may_write(&self) -> bool {
        match &self.place {
            Place::Real { source, .. } => source.permit().is_some(),
            Place::Virtual { .. } => true,
        }
    }

    pub fn is_direct(&self) -> bool {
        self.target().is_none_or(Target::is_direct)
    }

    pub fn engine(&self) -> &EngineFacts {
        &self.engine
    }

    pub fn clock(&self) -> RigClock {
        match &self.place {
            Place::Real { clock, .. } => RigClock::Real(*clock),
            Place::Virtual { clock, .. } => RigClock::Virtual(clock.clone()),
        }
    }

    pub fn now(&self) -> Instant {
        self.clock().now()
    }

    /// Lets its clock show `moment` now, so that a run that is resumed has one time. Before the first phase.
    pub fn go_on_from(&mut self, moment: Instant) {
        match &mut self.place {
            Place::Real { clock, .. } => *clock = MonotonicClock::going_on_from(moment),
            Place::Virtual { clock, .. } => clock.advance_to(moment.max(clock.now())),
        }
    }

    /// Runs one phase. Its number is its place in the run; the same number and seed give the same requests. Fails when the workload does not
    /// fit the target, a write has no permit or it has lapsed, or the engine breaks. What the device answers is in the records.
    pub fn run_phase(
        &mut self,
        phase: &Phase,
        number: u32,
        seed: u64,
        trace: bool,
        observer: &mut dyn PhaseObserver,
    ) -> Result<LoadOutcome, IoError> {
        let Some(workload) = &phase.workload else {
            return Ok(self.idle(phase.stop.time.unwrap_or_default(), observer));
        };
        if !phase.stop.is_bounded() {
            return Err(
                WorkloadError("a phase needs a time, bytes, operations or passes to end by".into()).into()
            );
        }
        let facts = self.facts();
        workload.validate(facts.capacity, facts.logical_block)?;
        check_memory(workload)?;
        let load = Load { workload, stop: phase.stop, phase: number, seed, trace };
        match &mut self.place {
            Place::Virtual { drive, contents, clock } => {
                let contents = match workload.data {
                    DataPattern::Marked(_) => contents.as_mut(),
                    _ => None,
                };
                let mut outcome = run_virtual(&load, clock, drive.as_mut(), contents, observer)?;
                if workload.mix.changes_data() {
                    let mut engine = SimEngine::new(drive.as_mut(), clock.clone(), 1);
                    flush_virtual(&mut engine, clock, number, &mut outcome, observer)?;
                }
                Ok(outcome)
            }
            Place::Real { .. } => {
                // A pace hides what waits cost, and a commit beside which reads and writes are measured sleeps.
                let may_spin =
                    workload.arrival == Arrival::ClosedLoop && phase.experiment != ExperimentName::Commit;
                self.run_on_target(&load, may_spin, observer)
            }
        }
    }

    /// Runs a load that has been checked on a real target, and watches over target and permit meanwhile.
    fn run_on_target(
        &self,
        load: &Load<'_>,
        may_spin: bool,
        observer: &mut dyn PhaseObserver,
    ) -> Result<LoadOutcome, IoError> {
        let Place::Real { source, clock } = &self.place else { unreachable!("the caller has looked") };
        let is_gone = || source.target().is_gone();
        if is_gone() {
            return Ok(ended_at_once(clock.now(), StopReason::DeviceGone));
        }
        let descriptor = source.descriptor_for(load.workload)?;
        let writes = load.workload.mix.changes_data();
        let polled = load.workload.largest_request().get() <= self.polled_bytes_max;
        let permit = if writes { source.permit() } else { None };
        assert!(!writes || permit.is_some(), "what changes data goes through a permit");
        let mut permit_watch = PermitWatch::new(observer, permit, *clock);
        let mut watch = PresenceWatch::new(&mut permit_watch, &is_gone, *clock);
        let raw = descriptor.borrowed().as_raw_fd();
        let commits = load.workload.mix.commits();
        let mut outcome = match commits {
            Some(commits) => {
                let logs = source.logs(load.workload, commits)?;
                run_commits(load, commits, &logs, raw, *clock, &mut watch)?
            }
            None => self.run_load(load, polled, may_spin, raw, *clock, &mut watch)?,
        };
        if writes && commits.is_none() && self.engine.name != EngineName::Null {
            flush_target(&descriptor, *clock, load.phase, &mut outcome, &mut watch);
        }
        // A flush may succeed where nothing can be written.
        let failed = outcome.totals.iter().any(|totals| totals.errors > 0);
        let has_moved = outcome.totals.iter().any(|totals| totals.bytes > 0);
        let all_failed = outcome.reason == StopReason::Errors || failed && !has_moved;
        if watch.settle() || all_failed && !source.target().answers_anywhere() {
            outcome.reason = StopReason::DeviceGone;
        }
        permit_watch.lapsed(outcome.reason == StopReason::DeviceGone)?;
        Ok(outcome)
    }

    fn run_load(
        &self,
        load: &Load<'_>,
        polled: bool,
        may_spin: bool,
        descriptor: RawFd,
        clock: MonotonicClock,
        observer: &mut dyn PhaseObserver,
    ) -> Result<LoadOutcome, IoError> {
        let workers = workers_for(load.workload);
        let largest = load.workload.block_sizes.largest();
        let buffer_bytes = largest.get() as usize;
        let depth = |share| depth_of(load.workload, share);
        let ways = &self.ways;
        match self.engine.name {
            EngineName::Uring => {
                let open = |share| {
                    let engine = UringEngine::open(descriptor, depth(share), buffer_bytes, polled, clock)?;
                    let shape = RequestShape { depth: depth(share), largest, mix: load.workload.mix };
                    Ok(if may_spin { engine.waiting(ways, shape, workers) } else { engine })
                };
                let outcome = run_threads(load, clock, workers, open, observer)?;
                Ok(LoadOutcome { spun: ways.take_spun(), ..outcome })
            }
            EngineName::Psync => {
                let open = |share| PsyncEngine::open(descriptor, depth(share), buffer_bytes, clock);
                run_threads(load, clock, workers, open, observer)
            }
            _ => {
                let open = |share| Ok(NullEngine::new(depth(share), clock));
                run_threads(load, clock, workers, open, observer)
            }
        }
    }

    /// What is on the target, to be saved and given back; through the permit, which must still hold.
    /// Fails when there is none: the target may only be read, or is virtual; or the permit has lapsed.
    pub fn medium(&self) -> Result<TargetMedium<'_>, IoError> {
        if let Place::Real { source, .. } = &self.place
            && let Some(permit) = source.permit()
        {
            return TargetMedium::new(source.target(), permit);
        }
        let why = "its data cannot be saved and restored: there is no permission to write, or it is virtual";
        Err(IoError::WriteRefused { target: self.facts().path.clone().into(), why: why.into() })
    }

    /// Empties all of the target by a command, which is no workload. `go_on` is asked now and then, with how much is done.
    pub fn purge(
        &mut self,
        method: PurgeMethod,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<PurgeEnd, PurgeError> {
        let path = self.facts().path.clone().into();
        match &self.place {
            Place::Real { source, .. } => match &**source {
                Source::Writing(target, permit) => purge(target, permit, method, go_on),
                _ => {
                    let why = "there is no permission to purge it. Add --write".into();
                    Err(PurgeError::broken(IoError::WriteRefused { target: path, why }))
                }
            },
            Place::Virtual { .. } => {
                let why = "a virtual drive cannot be purged".into();
                Err(PurgeError::broken(IoError::WriteRefused { target: path, why }))
            }
        }
    }

    fn idle(&mut self, time: Nanos, observer: &mut dyn PhaseObserver) -> LoadOutcome {
        let began = self.now();
        let end = began + time;
        let mut reason = StopReason::Time;
        while self.now() < end {
            if observer.verdict() != Verdict::GoOn {
                reason = StopReason::Interrupted;
                break;
            }
            let step = Nanos::new(INTERVAL_NS.min(end.since(self.now()).get()));
            match &self.place {
                Place::Real { clock, .. } => clock.pass(step),
                Place::Virtual { clock, .. } => clock.pass(step),
            }
        }
        LoadOutcome { ended: self.now(), ..ended_at_once(began, reason) }
    }
}

fn check_memory(workload: &Workload) -> Result<(), WorkloadError> {
    let (requests, block) = (workload.in_flight_max(), workload.largest_request());
    match block.checked_mul(requests) {
        Some(bytes) if bytes <= BUFFERS_MAX => Ok(()),
        _ => Err(WorkloadError(format!(
            "{requests} requests of {block} need more than {BUFFERS_MAX} of memory; ask for a smaller block size, depth or \
             number of threads"
        ))),
    }
}

fn ended_at_once(now: Instant, reason: StopReason) -> LoadOutcome {
    LoadOutcome {
        began: now,
        ended: now,
        reason,
        totals: Vec::new(),
        dropped: 0,
        late_bytes: 0,
        submission_lag: Nanos::ZERO,
        waited: Nanos::ZERO,
        spun: Nanos::ZERO,
    }
}

impl Source {
    fn target(&self) -> &Target {
        match self {
            Source::Reading(target) | Source::Writing(target, _) => target,
            Source::Scratch(scratch) => scratch.target(),
        }
    }

    fn permit(&self) -> Option<&WritePermit> {
        match self {
            Source::Reading(_) => None,
            Source::Writing(_, permit) => Some(permit),
            Source::Scratch(scratch) => Some(scratch.permit()),
        }
    }

    /// The files that commits go to, of our own beside a scratch file; none where they go to the target itself.
    fn logs(&self, workload: &Workload, commits: Commits) -> Result<Vec<LogFile>, IoError> {
        let Source::Scratch(scratch) = self else { return Ok(Vec::new()) };
        let count = match commits.log {
            Log::Target => 0,
            Log::OverwriteEach => workload.threads,
            Log::Extend | Log::Preallocated | Log::Overwrite => 1,
        };
        let (size, write) = (workload.range.end().from_start(), workload.block_sizes.largest());
        let mut logs = Vec::new();
        for _ in 0..count {
            logs.push(scratch.log(size, write, commits)?);
        }
        Ok(logs)
    }

    /// The descriptor that a workload may use: one that can write only if it has to, and only through the permit.
    fn descriptor_for(&self, workload: &Workload) -> Result<Descriptor<'_>, IoError> {
        if workload.mix.changes_data() {
            let Some(permit) = self.permit() else {
                return Err(IoError::WriteRefused {
                    target: self.target().path().to_path_buf(),
                    why: "there is no permission. Add --write".into(),
                });
            };
            permit.revalidate()?;
            return Ok(Descriptor::Borrowed(permit.descriptor()));
        }
        match workload.caching {
            Caching::Direct => Ok(Descriptor::Borrowed(self.target().descriptor())),
            Caching::Buffered => Ok(Descriptor::Owned(self.target().buffered_descriptor()?)),
        }
    }
}

enum Descriptor<'target> {
    Borrowed(BorrowedFd<'target>),
    Owned(OwnedFd),
}

impl Descriptor<'_> {
    fn borrowed(&self) -> BorrowedFd<'_> {
        match self {
            Descriptor::Borrowed(descriptor) => *descriptor,
            Descriptor::Owned(descriptor) => descriptor.as_fd(),
        }
    }
}

/// Commits, each committer on a thread, to `logs`: one for all or one for each; none stands for the target.
fn run_commits(
    load: &Load<'_>,
    commits: Commits,
    logs: &[LogFile],
    target: RawFd,
    clock: MonotonicClock,
    observer: &mut dyn PhaseObserver,
) -> Result<LoadOutcome, IoError> {
    let buffer_bytes = load.workload.largest_request().get() as usize;
    let open = |share: Share| {
        let log = match logs.get(share.index as usize).or(logs.first()) {
            Some(log) => log.descriptor().as_raw_fd(),
            None => target,
        };
        CommitEngine::open(log, target, commits.method, buffer_bytes, clock)
    };
    run_threads(load, clock, workers_for(load.workload), open, observer)
}

/// Makes what a phase wrote to a real target lasting, and counts it as one more operation: what is only in a cache is not yet
/// written. Somebody who wants the end is not kept waiting: the flush then goes on alone, and has no time.
fn flush_target(
    descriptor: &Descriptor<'_>,
    clock: MonotonicClock,
    phase: u32,
    outcome: &mut LoadOutcome,
    observer: &mut dyn PhaseObserver,
) {
    let start = clock.now();
    observer.flushing(start);
    let mut flushing = Flushing::begin(descriptor.borrowed(), Extent::Data);
    let is_to_end = || observer.verdict() == Verdict::Interrupt;
    match unless_ended(|patience| flushing.wait(patience), || clock.now(), is_to_end) {
        Some(Ok(flushed)) => count_flush(phase, start, Ok(flushed.took), outcome, observer),
        Some(Err(error)) => {
            let status = Status::from_errno(error.raw_os_error().unwrap_or(libc::EIO));
            count_flush(phase, start, Err((status, clock.now())), outcome, observer);
        }
        None => outcome.reason = StopReason::Interrupted,
    }
}

/// The same for a virtual drive, in its time.
fn flush_virtual(
    engine: &mut dyn Engine,
    clock: &VirtualClock,
    phase: u32,
    outcome: &mut LoadOutcome,
    observer: &mut dyn PhaseObserver,
) -> Result<(), IoError> {
    let start = clock.now();
    let request = Request { tag: Tag(0), operation: Operation::Flush, offset_bytes: 0, length_bytes: 0 };
    assert!(engine.queue(request).is_ok(), "an engine with nothing under way has room");
    engine.commit()?;
    let mut completions = Vec::with_capacity(1);
    while completions.is_empty() {
        engine.reap(&mut completions, 1, clock.now() + FLUSH_PATIENCE)?;
    }
    let Completion { status, completed_ns, .. } = completions[0];
    let end = Instant::new(completed_ns);
    assert!(completions.len() == 1 && end >= start, "one flush is answered once, and after it began");
    let took = if status.is_done() { Ok(end.since(start)) } else { Err((status, end)) };
    count_flush(phase, start, took, outcome, observer);
    Ok(())
}

fn count_flush(
    phase: u32,
    start: Instant,
    took: Result<Nanos, (Status, Instant)>,
    outcome: &mut LoadOutcome,
    observer: &mut dyn PhaseObserver,
) {
    let operation = Operation::Flush;
    let mut histogram = LatencyHistogram::default();
    match took {
        Ok(took) => {
            histogram.record(took.get());
            let histogram = histogram.clone();
            observer.histogram(&HistogramRecord {
                phase,
                operation,
                start_ns: start.get(),
                duration_ns: took.get(),
                histogram,
            });
        }
        Err((status, at)) => {
            observer.error(&ErrorRecord {
                phase,
                at_ns: at.get(),
                operation,
                offset_bytes: 0,
                length_bytes: 0,
                status,
            });
        }
    }
    histogram.shrink();
    let (operations, errors) = if took.is_ok() { (1, 0) } else { (0, 1) };
    outcome.totals.push(OperationTotals {
        operation,
        operations,
        bytes: 0,
        errors,
        histogram,
        stretch: None,
    });
}
