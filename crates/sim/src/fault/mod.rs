//! Faults around any virtual drive: unreadable ranges, short reads, stalls, going away.

use crate::Drive;
use model::range::ByteRange;
use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos, Offset};
use std::collections::VecDeque;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Reading or writing there is a medium error; bytes before it are moved.
    Unreadable(ByteRange),
    /// Each `every`th read moves half of its bytes.
    ShortReads {
        /// 1 is each of them; 0 is none.
        every: u64,
    },
    /// No answer comes between `at` and `at + duration`; what was due then comes at its end. The drive itself works on.
    Stall {
        /// From when on.
        at: Instant,
        /// For how long.
        duration: Nanos,
    },
    /// After this many requests it is gone: those under way and all later ones find no device.
    GoneAfter(u64),
    /// From this moment on it is gone.
    GoneAt(Instant),
}

/// A drive with faults.
pub struct FaultyDrive {
    inner: Box<dyn Drive + Send>,
    faults: Vec<Fault>,
    requests: u64,
    reads: u64,
    gone_at: Option<Instant>,
    /// By tag: how a request that meets a fault will end.
    fates: Vec<Option<(Status, u32)>>,
    /// Answers to requests that came when it was gone.
    refused: VecDeque<Completion>,
}

impl FaultyDrive {
    /// `inner` with these faults.
    pub fn new(inner: Box<dyn Drive + Send>, faults: Vec<Fault>) -> FaultyDrive {
        let gone_at = faults.iter().filter_map(|fault| match fault {
            Fault::GoneAt(at) => Some(*at),
            _ => None,
        });
        let gone_at = gone_at.min();
        FaultyDrive {
            inner,
            faults,
            requests: 0,
            reads: 0,
            gone_at,
            fates: Vec::new(),
            refused: VecDeque::new(),
        }
    }

    fn is_gone(&self, now: Instant) -> bool {
        self.gone_at.is_some_and(|at| at <= now)
    }

    fn fate(&self, request: &Request) -> Option<(Status, u32)> {
        let stretch = ByteRange::new(Offset(request.offset_bytes), Bytes(u64::from(request.length_bytes)));
        self.faults.iter().find_map(|fault| match fault {
            Fault::Unreadable(bad) if stretch.is_some_and(|stretch| stretch.overlaps(bad)) => {
                let before = bad.first().0.saturating_sub(request.offset_bytes);
                Some((Status::MediumError, before as u32))
            }
            Fault::ShortReads { every } if request.operation == Operation::Read => (*every > 0
                && self.reads.is_multiple_of(*every))
            .then_some((Status::Short, request.length_bytes / 2)),
            _ => None,
        })
    }

    /// When an answer that is ready at `ready` gets out.
    fn released_at(&self, ready: Instant) -> Instant {
        self.faults.iter().fold(ready, |ready, fault| match fault {
            Fault::Stall { at, duration } if ready >= *at => ready.max(at.saturating_add(*duration)),
            _ => ready,
        })
    }

    fn take_inner(&mut self, now: Instant) -> Option<Completion> {
        let ready = self.inner.next_completion_at()?;
        let released = self.released_at(ready);
        if released > now {
            return None;
        }
        let mut completion = self.inner.take_completion(now)?;
        completion.completed_ns = released.0;
        let fate = self.fates.get_mut(completion.tag.0 as usize).and_then(Option::take);
        if self.is_gone(released) {
            (completion.status, completion.transferred_bytes) = (Status::DeviceGone, 0);
        } else if let Some((status, transferred_bytes)) = fate {
            (completion.status, completion.transferred_bytes) = (status, transferred_bytes);
        }
        Some(completion)
    }
}

impl Drive for FaultyDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.requests += 1;
        self.reads += u64::from(request.operation == Operation::Read);
        let used_up = |fault: &Fault| matches!(fault, Fault::GoneAfter(count) if self.requests > *count);
        if self.gone_at.is_none() && self.faults.iter().any(used_up) {
            self.gone_at = Some(now);
        }
        if self.is_gone(now) {
            self.refused.push_back(Completion {
                tag: request.tag,
                status: Status::DeviceGone,
                transferred_bytes: 0,
                completed_ns: now.0,
            });
            return;
        }
        let slot = request.tag.0 as usize;
        if self.fates.len() <= slot {
            self.fates.resize(slot + 1, None);
        }
        self.fates[slot] = self.fate(&request);
        self.inner.submit(request, now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let inner = self.inner.next_completion_at().map(|ready| self.released_at(ready));
        let refused = self.refused.front().map(|completion| Instant(completion.completed_ns));
        [inner, refused].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.take_inner(now).or_else(|| self.refused.pop_front())
    }

    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::ConstantDrive;
    use crate::profile::plain_facts;
    use model::request::Tag;
    use proptest::prelude::*;

    fn with(fault: Fault) -> FaultyDrive {
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        FaultyDrive::new(Box::new(ConstantDrive::new(facts, Nanos(100), 1)), vec![fault])
    }

    /// Reads of 4 KiB one after the other: status, bytes, end.
    fn read_at(drive: &mut FaultyDrive, offsets: &[u64]) -> Vec<(Status, u32, u64)> {
        let mut now = Instant::START;
        let mut answers = Vec::new();
        for &offset_bytes in offsets {
            let request =
                Request { tag: Tag(3), operation: Operation::Read, offset_bytes, length_bytes: 4096 };
            drive.submit(request, now);
            now = drive.next_completion_at().unwrap();
            let completion = drive.take_completion(now).unwrap();
            answers.push((completion.status, completion.transferred_bytes, completion.completed_ns));
        }
        answers
    }

    #[test]
    fn an_unreadable_range_hits_what_overlaps_it() {
        let bad = ByteRange::new(Offset(6000), Bytes(1000)).unwrap();
        let answers = read_at(&mut with(Fault::Unreadable(bad)), &[0, 4096, 8192]);
        let expected =
            [(Status::Done, 4096, 100), (Status::MediumError, 1904, 200), (Status::Done, 4096, 300)];
        assert_eq!(answers, expected);
    }

    #[test]
    fn a_gone_drive_answers_that_it_is_gone() {
        let gone = (Status::DeviceGone, 0);
        let answers = read_at(&mut with(Fault::GoneAfter(1)), &[0, 0, 0]);
        assert_eq!(answers, [(Status::Done, 4096, 100), (gone.0, 0, 100), (gone.0, 0, 100)]);
        let answers = read_at(&mut with(Fault::GoneAt(Instant(150))), &[0, 0, 0]);
        assert_eq!(answers, [(Status::Done, 4096, 100), (gone.0, 0, 200), (gone.0, 0, 200)]);
    }

    #[test]
    fn every_second_read_is_short() {
        let answers = read_at(&mut with(Fault::ShortReads { every: 2 }), &[0, 0]);
        assert_eq!(answers, [(Status::Done, 4096, 100), (Status::Short, 2048, 200)]);
    }

    #[test]
    fn a_stall_holds_back_what_was_due_in_it() {
        let stall = Fault::Stall { at: Instant(150), duration: Nanos(1000) };
        let answers = read_at(&mut with(stall), &[0, 0, 0]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        assert_eq!(ends, [100, 1150, 1250]);
    }

    proptest! {
        /// Whatever goes wrong, every request is answered once, in the order of time.
        #[test]
        fn every_request_is_answered_once(
            gone_after in 0u64..40,
            stall_at in 0u64..2000,
            stall in 0u64..2000,
            every in 0u64..5,
            depth in 1u32..9,
            seed in any::<u64>(),
        ) {
            let disk = crate::profile::open("zoned", seed).unwrap();
            let faults = vec![
                Fault::GoneAfter(gone_after),
                Fault::Stall { at: Instant(stall_at * 100_000), duration: Nanos(stall * 100_000) },
                Fault::ShortReads { every },
            ];
            let mut drive = FaultyDrive::new(disk, faults);
            let mut prng = model::prng::Prng::new(seed, 1);
            let (mut now, mut answered) = (Instant::START, vec![0u32; depth as usize]);
            let mut submit = |drive: &mut FaultyDrive, tag: Tag, now: Instant| {
                let offset_bytes = prng.below(100_000_000) * 4096;
                drive.submit(Request { tag, operation: Operation::Read, offset_bytes, length_bytes: 4096 }, now);
            };
            (0..depth).for_each(|tag| submit(&mut drive, Tag(tag), now));
            for _ in 0..30 {
                now = drive.next_completion_at().unwrap().max(now);
                let completion = drive.take_completion(now).unwrap();
                prop_assert!(completion.completed_ns <= now.0);
                answered[completion.tag.0 as usize] += 1;
                submit(&mut drive, completion.tag, now);
            }
            for _ in 0..depth {
                now = drive.next_completion_at().unwrap().max(now);
                let completion = drive.take_completion(now).unwrap();
                answered[completion.tag.0 as usize] += 1;
            }
            prop_assert_eq!(drive.next_completion_at(), None);
            prop_assert_eq!(answered.iter().sum::<u32>(), 30 + depth);
        }
    }
}
