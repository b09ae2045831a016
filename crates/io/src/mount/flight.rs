//! Requests that the drive has and the kernel waits for.

use model::request::{Completion, Operation, Request, Status, Tag};

/// The largest part of a discard that is one request of the drive.
const DISCARD_PART_BYTES_MAX: u64 = 1 << 30;
/// Memory for data that is kept for the next reads.
const SPARE_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub(super) enum Errand {
    /// The data asked for begins `head` bytes into the blocks that are read.
    Read {
        head: u32,
        data: Vec<u8>,
    },
    /// The same for a write of `length` bytes.
    Write {
        head: u32,
        length: u32,
    },
    /// Ends with this number of the system, however well the drive did.
    Refused(i32),
    Flush,
    /// The rest of it is still to be given to the drive.
    Discard {
        next: u64,
        end: u64,
    },
}

#[derive(Debug)]
pub(super) struct Flight {
    pub unique: u64,
    pub errand: Errand,
}

impl Flight {
    fn answer_bytes(&self) -> u32 {
        match &self.errand {
            Errand::Read { data, .. } => data.len() as u32,
            Errand::Write { .. } => 8,
            Errand::Flush | Errand::Discard { .. } | Errand::Refused(_) => 0,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// So many bytes of the data were read.
    Read(u32),
    Written(u32),
    Done,
    Failed(i32),
}

#[derive(Default)]
pub(super) struct Flights {
    slots: Vec<Option<Flight>>,
    free: Vec<u32>,
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

impl Flights {
    /// Gives the request a tag, the lowest that is free but for those just freed.
    pub(super) fn board(&mut self, flight: Flight) -> Tag {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(flight);
        Tag(slot)
    }

    /// Takes out the request that the drive has done; none when it was never given one with that tag.
    pub(super) fn land(&mut self, tag: Tag) -> Option<Flight> {
        let flight = self.slots.get_mut(tag.0 as usize)?.take()?;
        self.free.push(tag.0);
        Some(flight)
    }

    pub(super) fn errand(&mut self, tag: Tag) -> Option<&mut Errand> {
        self.slots.get_mut(tag.0 as usize)?.as_mut().map(|flight| &mut flight.errand)
    }

    /// The request will fail, though not before the drive is done with it.
    pub(super) fn refuse(&mut self, tag: Tag, errno: i32) {
        if let Some(errand) = self.errand(tag) {
            *errand = Errand::Refused(errno);
        }
    }

    fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The data of the next answer, in bytes: exactly when only one request is under way, else the least it can be.
    pub(super) fn next_answer_bytes(&self) -> u32 {
        match self.count() {
            1 => self.slots.iter().flatten().next().map_or(0, Flight::answer_bytes),
            _ => 0,
        }
    }

    pub(super) fn memory(&mut self, length: u32) -> Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= memory.capacity();
        memory.resize(length as usize, 0);
        memory
    }

    pub(super) fn give_back(&mut self, memory: Vec<u8>) {
        if self.spare_bytes + memory.capacity() <= SPARE_BYTES_MAX {
            self.spare_bytes += memory.capacity();
            self.spare.push(memory);
        }
    }
}

/// The next part of a discard, and where the part after it begins.
pub(super) fn discard_part(next: u64, end: u64) -> (Request, u64) {
    let length = (end - next).min(DISCARD_PART_BYTES_MAX);
    let request = Request {
        tag: Tag(0),
        operation: Operation::Discard,
        offset_bytes: next,
        length_bytes: length as u32,
    };
    (request, next + length)
}

/// What the drive's answer means for whoever asked: a block device does not tell what it moved of a failed read.
pub(super) fn outcome(errand: &Errand, completion: &Completion) -> Outcome {
    let moved = |head: u32, wanted: u32| completion.transferred_bytes.saturating_sub(head).min(wanted);
    match completion.status {
        Status::Done | Status::Short => match errand {
            Errand::Read { head, data } => Outcome::Read(moved(*head, data.len() as u32)),
            Errand::Write { head, length } => match moved(*head, *length) {
                0 => Outcome::Failed(libc::ENOSPC),
                bytes => Outcome::Written(bytes),
            },
            Errand::Refused(errno) => Outcome::Failed(*errno),
            Errand::Flush | Errand::Discard { .. } => Outcome::Done,
        },
        failure => Outcome::Failed(errno(failure)),
    }
}

fn errno(status: Status) -> i32 {
    match status {
        Status::Done | Status::Short => 0,
        Status::MediumError => libc::EIO,
        Status::WrongData
        | Status::StaleData
        | Status::MisplacedData
        | Status::BlankData
        | Status::FlippedBits
        | Status::PlaceOfData => libc::EIO,
        Status::DeviceGone => libc::ENODEV,
        Status::TimedOut => libc::ETIMEDOUT,
        Status::NoSpace => libc::ENOSPC,
        Status::NotSupported => libc::EOPNOTSUPP,
        Status::Misaligned => libc::EINVAL,
        Status::Refused => libc::EPERM,
        // The protocol carries 1 to 511.
        Status::Other(errno) if (1..512).contains(&errno) => errno,
        Status::Other(_) => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn completion(status: Status, transferred_bytes: u32) -> Completion {
        Completion { tag: Tag(0), status, transferred_bytes, completed_ns: 0 }
    }

    fn read(head: u32, length: usize) -> Errand {
        Errand::Read { head, data: vec![0; length] }
    }

    #[test]
    fn only_what_was_asked_for_is_told() {
        let done = |bytes| completion(Status::Done, bytes);
        assert_eq!(outcome(&read(0, 4096), &done(4096)), Outcome::Read(4096));
        assert_eq!(outcome(&read(100, 300), &done(512)), Outcome::Read(300));
        assert_eq!(outcome(&read(100, 900), &completion(Status::Short, 512)), Outcome::Read(412));
        assert_eq!(outcome(&Errand::Refused(28), &done(512)), Outcome::Failed(28));
        let write = Errand::Write { head: 100, length: 300 };
        assert_eq!(outcome(&write, &done(512)), Outcome::Written(300));
        assert_eq!(outcome(&write, &completion(Status::Short, 0)), Outcome::Failed(libc::ENOSPC));
    }

    #[test]
    fn failures_become_numbers_of_the_system_that_mean_the_same() {
        for status in [
            Status::MediumError,
            Status::DeviceGone,
            Status::TimedOut,
            Status::NoSpace,
            Status::NotSupported,
            Status::Misaligned,
            Status::Refused,
            Status::Other(12),
        ] {
            assert_eq!(Status::from_errno(errno(status)), status);
        }
        assert_eq!(outcome(&read(0, 512), &completion(Status::MediumError, 256)), Outcome::Failed(5));
        assert_eq!(errno(Status::Other(4242)), libc::EIO);
    }

    #[test]
    fn a_discard_of_a_terabyte_has_parts() {
        let (first, next) = discard_part(512, 1 << 40);
        assert_eq!((first.offset_bytes, first.length_bytes, next), (512, 1 << 30, 512 + (1 << 30)));
        let (last, next) = discard_part((1 << 40) - 1024, 1 << 40);
        assert_eq!((last.length_bytes, next), (1024, 1 << 40));
    }

    proptest! {
        #[test]
        fn no_two_under_way_have_the_same_tag(steps in prop::collection::vec(any::<Option<u8>>(), 0..100)) {
            let mut flights = Flights::default();
            let mut under_way: Vec<(Tag, u64)> = Vec::new();
            for (unique, step) in steps.into_iter().enumerate() {
                match step {
                    Some(choice) if !under_way.is_empty() => {
                        let (tag, unique) = under_way.swap_remove(usize::from(choice) % under_way.len());
                        prop_assert_eq!(flights.land(tag).unwrap().unique, unique);
                        prop_assert!(flights.land(tag).is_none());
                    }
                    _ => {
                        let tag = flights.board(Flight { unique: unique as u64, errand: Errand::Flush });
                        prop_assert!(under_way.iter().all(|(other, _)| *other != tag));
                        under_way.push((tag, unique as u64));
                    }
                }
                prop_assert_eq!(flights.count(), under_way.len());
            }
        }
    }
}
