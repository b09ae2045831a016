//! A host for tests: so many requests always under way, each answered one followed by the next at the same moment.

use crate::Drive;
use model::request::{Operation, Request, Status, Tag};
use model::units::Instant;

pub(crate) struct ClosedLoop {
    pub(crate) depth: u32,
    pub(crate) count: usize,
    pub(crate) operation: Operation,
    pub(crate) length_bytes: u32,
}

impl ClosedLoop {
    pub(crate) fn reads(depth: u32, count: usize) -> ClosedLoop {
        ClosedLoop { depth, count, operation: Operation::Read, length_bytes: 4096 }
    }

    /// Runs it from `now` on, the places drawn by `place` from the number of the request. Operations per second, and
    /// latencies in seconds in the order of the answers.
    pub(crate) fn run(&self, drive: &mut dyn Drive, mut place: impl FnMut(usize) -> u64) -> (f64, Vec<f64>) {
        let (operation, length_bytes) = (self.operation, self.length_bytes);
        let mut now = Instant::START;
        let mut submitted_ns = vec![0u64; self.depth as usize];
        let mut latencies = Vec::with_capacity(self.count);
        for tag in 0..self.depth {
            let offset_bytes = place(tag as usize);
            drive.submit(Request { tag: Tag(tag), operation, offset_bytes, length_bytes }, now);
        }
        let mut issued = self.depth as usize;
        while latencies.len() < self.count {
            now = drive.next_completion_at().expect("requests are under way").max(now);
            while let Some(done) = drive.take_completion(now) {
                assert_eq!(done.status, Status::Done);
                let slot = done.tag.0 as usize;
                latencies.push((done.completed_ns - submitted_ns[slot]) as f64 / 1e9);
                submitted_ns[slot] = now.get();
                let offset_bytes = place(issued);
                issued += 1;
                drive.submit(Request { tag: done.tag, operation, offset_bytes, length_bytes }, now);
            }
        }
        (latencies.len() as f64 / (now.as_f64() / 1e9), latencies)
    }
}

/// Submits one request at `now` and waits for its answer: its status and how long it took, in seconds.
pub(crate) fn alone(drive: &mut dyn Drive, now: &mut Instant, request: Request) -> (Status, f64) {
    let begun = *now;
    drive.submit(request, *now);
    loop {
        *now = drive.next_completion_at().expect("a request is under way").max(*now);
        if let Some(done) = drive.take_completion(*now) {
            return (done.status, now.since(begun).seconds());
        }
    }
}
