//! The hot path, alone in its file: keeps an engine's queue full and counts what comes back.
//!
//! After the first request of a phase nothing here allocates, locks, formats or logs. Time is read once for each
//! batch of requests and once for each batch of completions, and a completion is seen as soon as the engine sees it.

use crate::clock::Clock;
use crate::engine::Engine;
use crate::error::IoError;
use crate::load::data::WriteData;
use crate::load::frame::{Frame, FrameSink};
use crate::load::generate::{Planned, RequestStream};
use model::payload::Wrong;
use model::plan::StopReason;
use model::record::{ErrorRecord, INTERVAL_NS, IoRecord};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::{Instant, Nanos};

/// A phase ends when this many requests in a row have failed: 1000 errors of a drive that gives up after 30 s each
/// would be a night, and a target that refuses everything answers millions of times a second.
const ERRORS_IN_A_ROW_MAX: u64 = 1000;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// No request is submitted from here on, and completions after it are not counted.
    pub end: Option<Instant>,
    pub operations: Option<(u64, StopReason)>,
    pub bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct WorkerOutcome {
    pub reason: StopReason,
    pub ended: Instant,
    /// Traced I/Os and errors for which there was no room.
    pub dropped: u64,
    /// What was moved by requests that were answered after the phase's time, and so are in no record.
    pub late_bytes: u64,
    /// The longest that a request of an open loop waited for us, not for the drive.
    pub submission_lag: Nanos,
    pub waited: Nanos,
}

pub struct Worker<'run, E, C> {
    pub engine: &'run mut E,
    pub clock: &'run C,
    pub stream: RequestStream,
    pub data: WriteData,
    pub sink: &'run mut dyn FrameSink,
    pub phase: u32,
    pub began: Instant,
    pub limits: Limits,
}

#[derive(Clone, Copy)]
struct UnderWay {
    operation: Operation,
    intended_ns: u64,
    submitted_ns: u64,
    offset_bytes: u64,
    length_bytes: u32,
}

const NOT_UNDER_WAY: UnderWay = UnderWay {
    operation: Operation::Read,
    intended_ns: 0,
    submitted_ns: 0,
    offset_bytes: 0,
    length_bytes: 0,
};

struct State {
    frame: Frame,
    slice_end_ns: u64,
    slice_last: u64,
    under_way: Vec<UnderWay>,
    free: Vec<Tag>,
    queue_was_full: bool,
    issued_operations: u64,
    issued_bytes: u64,
    errors_in_a_row: u64,
    stop: Option<StopReason>,
    last_completion_ns: u64,
    dropped: u64,
    late_bytes: u64,
    lag_ns: u64,
}

/// Runs one worker to the end of its limits and drains what is under way.
/// Fails when the engine breaks. Errors of the device are counted and recorded.
pub fn issue_loop<E: Engine, C: Clock>(
    mut worker: Worker<'_, E, C>,
    frame: Frame,
) -> Result<WorkerOutcome, IoError> {
    let depth = worker.engine.depth();
    let mut state = State::new(frame, &worker, depth);
    let mut completions = Vec::with_capacity(depth as usize);
    let mut now = worker.clock.now();
    loop {
        if state.stop.is_none() {
            fill_queue(&mut worker, &mut state, now)?;
        }
        let under_way = depth - state.free.len() as u32;
        if under_way == 0 && state.stop.is_some() {
            break;
        }
        let deadline = next_deadline(&worker, &state);
        if under_way == 0 {
            worker.clock.pass(deadline.since(now));
        } else {
            worker.engine.reap(&mut completions, 1, deadline)?;
        }
        now = match completions.last() {
            Some(completion) => Instant::new(completion.completed_ns),
            None => worker.clock.now(),
        };
        if now.get() >= state.slice_end_ns {
            roll_slices(&mut worker, &mut state, now);
        }
        for completion in completions.drain(..) {
            count_completion(&mut worker, &mut state, completion);
        }
        if state.stop.is_none() && worker.limits.end.is_some_and(|end| now >= end) {
            state.stop = Some(StopReason::Time);
        }
    }
    Ok(finish(&mut worker, state))
}

impl State {
    fn new<E, C>(mut frame: Frame, worker: &Worker<'_, E, C>, depth: u32) -> State {
        frame.clear(0);
        let began = worker.began;
        State {
            frame,
            slice_end_ns: began.get() + INTERVAL_NS,
            slice_last: worker
                .limits
                .end
                .map_or(u64::MAX, |end| end.since(began).get().saturating_sub(1) / INTERVAL_NS),
            under_way: vec![NOT_UNDER_WAY; depth as usize],
            free: (0..depth).rev().map(Tag).collect(),
            queue_was_full: false,
            issued_operations: 0,
            issued_bytes: 0,
            errors_in_a_row: 0,
            stop: None,
            last_completion_ns: began.get(),
            dropped: 0,
            late_bytes: 0,
            lag_ns: 0,
        }
    }
}

#[inline]
fn fill_queue<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    state: &mut State,
    now: Instant,
) -> Result<(), IoError> {
    let mut any = false;
    while let Some(&tag) = state.free.last() {
        let intended_ns = match worker.stream.next_arrival_ns() {
            Some(arrival_ns) if worker.began.get() + arrival_ns > now.get() => break,
            Some(arrival_ns) => worker.began.get() + arrival_ns,
            None => now.get(),
        };
        if let Some(reason) = reached(&worker.limits, state) {
            state.stop = Some(reason);
            break;
        }
        if worker.limits.end.is_some_and(|end| now >= end) {
            state.stop = Some(StopReason::Time);
            break;
        }
        let planned = worker.stream.next_request(tag);
        worker.stream.pass_arrival();
        state.free.pop();
        submit(worker, state, tag, planned, intended_ns, now);
        any = true;
    }
    state.queue_was_full = state.free.is_empty();
    if any {
        worker.engine.commit()?;
    }
    Ok(())
}

#[inline]
fn submit<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    state: &mut State,
    tag: Tag,
    planned: Planned,
    intended_ns: u64,
    now: Instant,
) {
    let Planned { operation, offset_bytes, length_bytes } = planned;
    debug_assert!(intended_ns <= now.get(), "no request is submitted before it arrives");
    if operation.sends_data() {
        let buffer = worker.engine.buffer(tag);
        let length = buffer.len().min(length_bytes as usize);
        worker.data.stamp(&mut buffer[..length], offset_bytes);
    }
    state.under_way[tag.0 as usize] =
        UnderWay { operation, intended_ns, submitted_ns: now.get(), offset_bytes, length_bytes };
    if !state.queue_was_full {
        state.lag_ns = state.lag_ns.max(now.get() - intended_ns);
    }
    let queued = worker.engine.queue(Request { tag, operation, offset_bytes, length_bytes });
    assert!(queued.is_ok(), "an engine has room for as many requests as it has tags");
    state.issued_operations += 1;
    state.issued_bytes += u64::from(length_bytes);
}

#[inline]
fn reached(limits: &Limits, state: &State) -> Option<StopReason> {
    match limits {
        Limits { operations: Some((most, reason)), .. } if state.issued_operations >= *most => Some(*reason),
        Limits { bytes: Some(most), .. } if state.issued_bytes >= *most => Some(StopReason::Bytes),
        _ => None,
    }
}

/// Until when there is nothing to do but wait for completions. With a full queue that is until one comes: a timer for
/// each wait would cost a tenth of the processor's time at a depth of one.
#[inline]
fn next_deadline<E: Engine, C: Clock>(worker: &Worker<'_, E, C>, state: &State) -> Instant {
    let arrival_ns =
        worker.stream.next_arrival_ns().filter(|_| state.stop.is_none() && !state.free.is_empty());
    let Some(arrival_ns) = arrival_ns else { return Instant::NEVER };
    let end_ns = worker.limits.end.map_or(u64::MAX, Instant::get);
    Instant::new(state.slice_end_ns.min(end_ns).min(worker.began.get() + arrival_ns))
}

#[inline]
fn count_completion<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    state: &mut State,
    mut completion: Completion,
) {
    let request = state.under_way[completion.tag.0 as usize];
    debug_assert!(
        completion.completed_ns >= request.submitted_ns,
        "a request completes after it was submitted"
    );
    debug_assert!(state.free.len() < state.under_way.len(), "a tag that completes was under way");
    state.free.push(completion.tag);
    if worker.data.is_compared() && !holds_what_was_written(worker, completion, request) {
        completion.status = Status::WrongData;
    }
    let in_time = worker.limits.end.is_none_or(|end| completion.completed_ns <= end.get());
    if completion.status.is_done() {
        state.errors_in_a_row = 0;
        if in_time {
            let latency_ns = completion.completed_ns - request.intended_ns;
            let lane = state.frame.lane(request.operation);
            lane.count(request.offset_bytes, request.length_bytes, latency_ns, completion.completed_ns);
            state.last_completion_ns = completion.completed_ns;
        } else {
            state.late_bytes += u64::from(completion.transferred_bytes);
        }
    } else if completion.status.is_wrong_data() {
        count_wrong(worker, state, completion, request);
    } else {
        count_error(worker, state, completion, request);
    }
    if worker.sink.traces() && !worker.sink.trace(trace_record(worker.phase, completion, request)) {
        state.dropped += 1;
    }
}

/// Whether a read found what was written there. Of a drive without data, such as one in virtual time, nothing is said.
#[cold]
fn holds_what_was_written<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    completion: Completion,
    request: UnderWay,
) -> bool {
    if request.operation != Operation::Read || !completion.status.is_done() {
        return true;
    }
    let buffer = worker.engine.buffer(completion.tag);
    let length = buffer.len().min(request.length_bytes as usize);
    worker.data.matches(&buffer[..length], request.offset_bytes)
}

/// An error is data. It is recorded whenever it comes, even after the phase's time.
fn count_error<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    state: &mut State,
    completion: Completion,
    request: UnderWay,
) {
    state.frame.lane(request.operation).errors += 1;
    state.errors_in_a_row += 1;
    state.last_completion_ns = completion.completed_ns;
    let record = ErrorRecord {
        phase: worker.phase,
        at_ns: completion.completed_ns,
        operation: request.operation,
        offset_bytes: request.offset_bytes,
        length_bytes: request.length_bytes,
        status: completion.status,
    };
    if !worker.sink.error(record) {
        state.dropped += 1;
    }
    if completion.status == Status::DeviceGone {
        state.stop = Some(StopReason::DeviceGone);
    } else if request.operation == Operation::Commit && state.stop.is_none() {
        // What a failed flush has lost, no later one brings back: a second try would hide it.
        state.stop = Some(StopReason::Errors);
    } else if state.errors_in_a_row >= ERRORS_IN_A_ROW_MAX && state.stop.is_none() {
        state.stop = Some(StopReason::Errors);
    }
}

/// A read that succeeded and found something else than was written: each stretch of it that is wrong in one way is a record.
/// It is as quick as one that is right, so that nothing is given up for many in a row.
#[cold]
fn count_wrong<E: Engine, C: Clock>(
    worker: &mut Worker<'_, E, C>,
    state: &mut State,
    completion: Completion,
    request: UnderWay,
) {
    state.frame.lane(request.operation).errors += 1;
    state.errors_in_a_row = 0;
    state.last_completion_ns = completion.completed_ns;
    let mut tell = |offset_bytes, length_bytes, status| {
        let (phase, at_ns, operation) = (worker.phase, completion.completed_ns, request.operation);
        let record = ErrorRecord { phase, at_ns, operation, offset_bytes, length_bytes, status };
        if !worker.sink.error(record) {
            state.dropped += 1;
        }
    };
    let buffer = worker.engine.buffer(completion.tag);
    let length = buffer.len().min(request.length_bytes as usize);
    worker.data.each_wrong(&buffer[..length], request.offset_bytes, |first, length, wrong| match wrong {
        Wrong::Stale => tell(first, length, Status::StaleData),
        Wrong::Blank => tell(first, length, Status::BlankData),
        Wrong::Flipped => tell(first, length, Status::FlippedBits),
        Wrong::Other => tell(first, length, Status::WrongData),
        Wrong::Misplaced(further) => {
            tell(first, length, Status::MisplacedData);
            tell(first.wrapping_add_signed(further), length, Status::PlaceOfData);
        }
    });
}

fn trace_record(phase: u32, completion: Completion, request: UnderWay) -> IoRecord {
    IoRecord {
        intended_ns: request.intended_ns,
        submitted_ns: request.submitted_ns,
        completed_ns: completion.completed_ns,
        offset_bytes: request.offset_bytes,
        length_bytes: request.length_bytes,
        phase,
        status: completion.status,
        operation: request.operation,
    }
}

/// Hands on the slices that are over. When all frames are under way the slice goes on, so nothing is lost.
fn roll_slices<E: Engine, C: Clock>(worker: &mut Worker<'_, E, C>, state: &mut State, now: Instant) {
    // Errors that come while the queue is drained after the end belong to the last slice.
    let slice = (now.since(worker.began).get() / INTERVAL_NS).min(state.slice_last);
    if slice > state.frame.slice {
        exchange(worker, state, slice);
    }
    state.slice_end_ns = now.get() - now.since(worker.began).get() % INTERVAL_NS + INTERVAL_NS;
    if worker.sink.stop_requested() && state.stop.is_none() {
        state.stop = Some(StopReason::Interrupted);
    }
}

fn exchange<E: Engine, C: Clock>(worker: &mut Worker<'_, E, C>, state: &mut State, next_slice: u64) {
    let full = std::mem::replace(&mut state.frame, Frame { slice: 0, lanes: Vec::new() });
    match worker.sink.exchange(full) {
        Ok(empty) => {
            state.frame = empty;
            state.frame.clear(next_slice);
        }
        Err(full) => state.frame = full,
    }
}

fn finish<E: Engine, C: Clock>(worker: &mut Worker<'_, E, C>, state: State) -> WorkerOutcome {
    let reason = state.stop.expect("the loop ends when there is a reason to");
    let ended = match (reason, worker.limits.end) {
        (StopReason::Time, Some(end)) => end,
        _ => Instant::new(state.last_completion_ns),
    };
    worker.sink.last(state.frame);
    WorkerOutcome {
        reason,
        ended,
        dropped: state.dropped,
        late_bytes: state.late_bytes,
        submission_lag: Nanos::new(state.lag_ns),
        waited: Nanos::ZERO,
    }
}
