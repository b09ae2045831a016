//! Many reads under way at once, as the order in which they were asked and answered.

use model::record::IoRecord;
use model::request::Status;

#[derive(Clone, Debug, Default)]
pub struct Crowd {
    reads: Vec<IoRecord>,
    /// Begins and ends of requests, in the order of time.
    events: Vec<Event>,
}

/// A read, by its index in `reads`, is asked or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Asked(usize),
    Answered(usize),
}

impl Crowd {
    /// Of the reads of one phase. Failed ones are left out: how long a failure takes says nothing of who waits for whom.
    pub fn new(ios: impl IntoIterator<Item = IoRecord>) -> Crowd {
        let mut reads: Vec<IoRecord> = ios.into_iter().filter(|io| io.status == Status::Done).collect();
        reads.sort_by_key(|io| io.completed_ns);
        // At one moment answers come before requests, which follow them; a read of no time is asked first.
        let mut order: Vec<(u64, u8, usize)> = Vec::with_capacity(2 * reads.len());
        for (index, read) in reads.iter().enumerate() {
            let in_no_time = read.completed_ns <= read.submitted_ns;
            order.push((read.submitted_ns, if in_no_time { 0 } else { 2 }, index));
            order.push((read.completed_ns.max(read.submitted_ns), if in_no_time { 2 } else { 1 }, index));
        }
        let mut seen = vec![false; reads.len()];
        order.sort_unstable();
        let events = order.into_iter().map(|(_, _, index)| {
            let event = if seen[index] { Event::Answered(index) } else { Event::Asked(index) };
            seen[index] = true;
            event
        });
        Crowd { events: events.collect(), reads }
    }

    pub fn reads(&self) -> &[IoRecord] {
        &self.reads
    }

    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The reads answered first, so many, and the others. A read at the cut is not seen to wait for those of the other side.
    pub(super) fn cut(&self, count: usize) -> (Crowd, Crowd) {
        let (first, second) = self.reads.split_at(count.min(self.reads.len()));
        (Crowd::new(first.iter().copied()), Crowd::new(second.iter().copied()))
    }

    /// Reads a second from the first answer to the last; none where there is no time between them.
    pub fn per_second(&self) -> Option<f64> {
        let (first, last) = (self.reads.first()?, self.reads.last()?);
        let nanos = last.completed_ns.checked_sub(first.completed_ns).filter(|nanos| *nanos > 0)?;
        Some((self.reads.len() - 1) as f64 * 1e9 / nanos as f64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::request::Operation;

    pub(crate) fn read(offset_bytes: u64, submitted_ns: u64, completed_ns: u64) -> IoRecord {
        IoRecord {
            intended_ns: submitted_ns,
            submitted_ns,
            completed_ns,
            offset_bytes,
            length_bytes: 4096,
            phase: 0,
            status: Status::Done,
            operation: Operation::Read,
        }
    }

    #[test]
    fn answers_come_before_what_they_make_room_for() {
        let failed = IoRecord { status: Status::MediumError, ..read(9, 0, 9) };
        let crowd = Crowd::new([read(1, 0, 10), read(2, 0, 20), read(3, 10, 30), failed, read(4, 30, 30)]);
        use Event::{Answered, Asked};
        let expected =
            [Asked(0), Asked(1), Answered(0), Asked(2), Answered(1), Asked(3), Answered(2), Answered(3)];
        assert_eq!(crowd.events(), expected);
        assert_eq!(crowd.per_second(), Some(3.0 / 20e-9));
    }
}
