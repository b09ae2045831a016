//! Engines: what carries requests to a drive. Four of them behind one contract, held by one conformance suite.

pub mod buffer;
pub mod choice;
pub mod commit;
#[cfg(test)]
mod conformance;
pub mod null;
pub mod psync;
mod ring_call;
pub mod sim;
pub mod uring;
pub mod waiting;

use crate::error::IoError;
use model::request::{Completion, Operation, Request, Status, Tag};
use model::units::Instant;

/// Queues, commits and reaps requests. An engine owns its ring and its buffers; it does not own the time.
///
/// The contract:
/// - A tag is below [`Engine::depth`], and not used again before its completion was reaped.
/// - `queue` only notes the request. After `commit` it is under way, at the latest when `reap` is called: an engine
///   may hand requests over and wait for completions in one call to the system.
/// - `reap` answers every committed request exactly once, in the order in which it saw them done.
/// - An error of the device is a completion with its status. `Err` means that the engine itself is broken.
/// - Dropping an engine waits for what is under way, since the drive still writes into its buffers.
pub trait Engine {
    fn depth(&self) -> u32;

    /// Takes the request, or gives it back when the engine is full.
    fn queue(&mut self, request: Request) -> Result<(), Full>;

    /// Hands queued requests to the drive; returns how many.
    fn commit(&mut self) -> Result<u32, IoError>;

    /// Appends completions to `into`: waits until there are at least `min` or it is `deadline`, and takes
    /// what is there. With `min` zero it does not wait. Never appends more than `depth` at once.
    fn reap(&mut self, into: &mut Vec<Completion>, min: u32, deadline: Instant) -> Result<(), IoError>;

    /// The data of a free tag, for the caller to fill before a write or to look at after a read.
    /// Empty in engines that move no data.
    fn buffer(&mut self, tag: Tag) -> &mut [u8];
}

/// The engine has no room; reap first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full(pub Request);

/// The completion of `request` that the system answered with a byte count or a negative error number.
fn completion_of(request: Request, answer: i32, completed_ns: u64) -> Completion {
    let moves_data = request.operation == Operation::Read || request.operation.sends_data();
    let transferred_bytes = if moves_data { answer.max(0) as u32 } else { 0 };
    debug_assert!(transferred_bytes <= request.length_bytes, "no more is moved than was asked for");
    let status = match answer {
        errno if errno < 0 => Status::from_errno(-errno),
        _ if moves_data && transferred_bytes < request.length_bytes => Status::Short,
        _ => Status::Done,
    };
    Completion { tag: request.tag, status, transferred_bytes, completed_ns }
}
