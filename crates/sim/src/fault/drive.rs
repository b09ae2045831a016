//! Faults around any virtual drive: unreadable and slow ranges, short reads, stalls, going away, addresses that wrap.
//!
//! A drive that retries or never answers does nothing else meanwhile: its own time stands still. So the time inside
//! runs behind the time outside by all that it stood still. A stall is another thing: the drive works on, only its
//! answers do not get out.

use crate::fault::placed::{Fate, PlacedFaults};
use crate::fault::profile::FaultProfile;
use crate::{Drive, answer_within};
use model::range::ByteRange;
use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos};
use std::collections::VecDeque;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Reading or writing there is a medium error; bytes before it are moved.
    Unreadable(ByteRange),
    /// Requests that touch the range take longer, and the drive does nothing else meanwhile.
    Slow {
        /// Where.
        range: ByteRange,
        /// By how much each takes longer.
        longer: Nanos,
    },
    /// The same, but only requests that come between `at` and `at + duration`.
    SlowFor {
        /// Where.
        range: ByteRange,
        /// By how much each takes longer.
        longer: Nanos,
        /// From when on.
        at: Instant,
        /// For how long.
        duration: Nanos,
    },
    /// Requests that touch the range are not answered until the system gives up.
    TimesOut {
        /// Where.
        range: ByteRange,
        /// How long the system waits from when the answer was due.
        after: Nanos,
    },
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
    /// A stall that comes again.
    Stalls {
        /// From when on the first.
        at: Instant,
        /// For how long each.
        duration: Nanos,
        /// From the beginning of one to the beginning of the next: longer than it lasts.
        every: Nanos,
    },
    /// After this many requests it is gone: those under way and all later ones find no device.
    GoneAfter(u64),
    /// From this moment on it is gone.
    GoneAt(Instant),
    /// It holds this much only: later addresses are those of its start again. What goes across its end goes on there
    /// as it would without, since only the data tell the difference.
    Wraps(Bytes),
}

/// A drive with faults.
pub struct FaultyDrive {
    inner: Box<dyn Drive + Send>,
    /// Those of a place.
    placed: PlacedFaults,
    /// Those that hold answers back.
    stalls: Vec<Fault>,
    /// Of how many reads one is short, for each such fault.
    short_reads: Vec<u64>,
    gone_after: Option<u64>,
    real_bytes: Option<u64>,
    requests: u64,
    reads: u64,
    gone_at: Option<Instant>,
    /// By tag.
    fates: Vec<Fate>,
    /// By how much the time inside is behind.
    behind_ns: u64,
    inner_now: u64,
    /// What the drive answered, by when it gets out; if it is gone then, it is changed on its way.
    answered: VecDeque<Completion>,
    /// Answers to requests that came when it was gone.
    refused: VecDeque<Completion>,
}

impl FaultyDrive {
    /// `inner` with these faults.
    pub fn new(inner: Box<dyn Drive + Send>, faults: Vec<Fault>) -> FaultyDrive {
        let mut drive = FaultyDrive {
            inner,
            placed: PlacedFaults::new(&faults),
            stalls: Vec::new(),
            short_reads: Vec::new(),
            gone_after: None,
            real_bytes: None,
            requests: 0,
            reads: 0,
            gone_at: None,
            fates: Vec::new(),
            behind_ns: 0,
            inner_now: 0,
            answered: VecDeque::new(),
            refused: VecDeque::new(),
        };
        for fault in faults {
            match fault {
                Fault::Stall { .. } | Fault::Stalls { .. } => drive.stalls.push(fault),
                Fault::ShortReads { every } if every > 0 => drive.short_reads.push(every),
                Fault::GoneAfter(count) => {
                    drive.gone_after = Some(drive.gone_after.map_or(count, |other| other.min(count)));
                }
                Fault::GoneAt(at) => drive.gone_at = Some(drive.gone_at.map_or(at, |other| other.min(at))),
                Fault::Wraps(real) => {
                    let real_bytes = real.0.max(1);
                    drive.real_bytes =
                        Some(drive.real_bytes.map_or(real_bytes, |other| other.min(real_bytes)));
                }
                Fault::ShortReads { .. }
                | Fault::Unreadable(_)
                | Fault::Slow { .. }
                | Fault::SlowFor { .. }
                | Fault::TimesOut { .. } => {}
            }
        }
        drive
    }

    /// `inner` with what acts around it of the entries of a profile that passed their check.
    pub fn of_profile(inner: Box<dyn Drive + Send>, faults: &[FaultProfile]) -> FaultyDrive {
        FaultyDrive::new(inner, faults.iter().flat_map(FaultProfile::faults).collect())
    }

    fn is_gone(&self, now: Instant) -> bool {
        self.gone_at.is_some_and(|at| at <= now)
    }

    fn fate(&self, request: &Request, now: Instant) -> Fate {
        let is_short = |every: &u64| self.reads.is_multiple_of(*every);
        let mut fate = self.placed.fate(request, now);
        if request.operation == Operation::Read && self.short_reads.iter().any(is_short) {
            fate.answer = fate.answer.or(Some((Status::Short, request.length_bytes / 2)));
        }
        fate
    }

    /// Moves a request to where it goes on a drive that holds less than it says. What is past the end that it says is
    /// cut off and answered so: it would not be past the end of what it holds.
    fn wrap(&self, request: &mut Request) -> Option<(Status, u32)> {
        let real_bytes = self.real_bytes?;
        let (status, moved) = answer_within(self.facts().capacity, request);
        request.offset_bytes %= real_bytes;
        request.length_bytes = moved;
        (status != Status::Done).then_some((status, moved))
    }

    /// When an answer that is ready at `ready` gets out.
    fn released_at(&self, ready: Instant) -> Instant {
        self.stalls.iter().fold(ready, |ready, fault| match fault {
            Fault::Stall { at, duration } if ready >= *at => ready.max(at.saturating_add(*duration)),
            Fault::Stalls { at, duration, every } if ready >= *at && every.0 > 0 => {
                let into = Nanos((ready.0 - at.0) % every.0);
                if into < *duration { ready.saturating_add(Nanos(duration.0 - into.0)) } else { ready }
            }
            _ => ready,
        })
    }

    /// When the drive is to be looked at next, by the time outside.
    fn inner_next(&mut self) -> Option<Instant> {
        let at = self.inner.next_completion_at()?;
        Some(Instant(at.0.max(self.inner_now).saturating_add(self.behind_ns)))
    }

    /// Takes what the drive has answered by `now`, in the order of time.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.inner_next().filter(|at| *at <= now) {
            self.inner_now = self.inner_now.max(at.0 - self.behind_ns);
            let Some(mut completion) = self.inner.take_completion(Instant(self.inner_now)) else { continue };
            let fate = self.fates.get_mut(completion.tag.0 as usize).map(std::mem::take).unwrap_or_default();
            self.behind_ns = self.behind_ns.saturating_add(fate.longer_ns);
            // What the drive itself did not get to, no fault can be met in.
            if let Some(answer) = fate.answer.filter(|answer| answer.1 <= completion.transferred_bytes) {
                (completion.status, completion.transferred_bytes) = answer;
            }
            let ready = Instant(completion.completed_ns.saturating_add(self.behind_ns));
            completion.completed_ns = self.released_at(ready).0;
            self.answered.push_back(completion);
        }
    }

    fn take_answered(&mut self, now: Instant) -> Option<Completion> {
        self.answered.front().filter(|completion| completion.completed_ns <= now.0)?;
        let mut completion = self.answered.pop_front()?;
        if self.is_gone(Instant(completion.completed_ns)) {
            (completion.status, completion.transferred_bytes) = (Status::DeviceGone, 0);
        }
        Some(completion)
    }
}

impl Drive for FaultyDrive {
    fn submit(&mut self, mut request: Request, now: Instant) {
        self.advance(now);
        self.requests += 1;
        self.reads += u64::from(request.operation == Operation::Read);
        let is_used_up = self.gone_after.is_some_and(|count| self.requests > count);
        if self.gone_at.is_none() && is_used_up {
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
        let past_end = self.wrap(&mut request);
        let slot = request.tag.0 as usize;
        if self.fates.len() <= slot {
            self.fates.resize(slot + 1, Fate::default());
        }
        let fate = self.fate(&request, now);
        self.fates[slot] = Fate { answer: fate.answer.or(past_end), ..fate };
        self.inner_now = self.inner_now.max(now.0.saturating_sub(self.behind_ns));
        self.inner.submit(request, Instant(self.inner_now));
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let next = match self.answered.front() {
            Some(completion) => Some(Instant(completion.completed_ns)),
            None => self.inner_next().map(|ready| self.released_at(ready)),
        };
        let refused = self.refused.front().map(|completion| Instant(completion.completed_ns));
        [next, refused].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.advance(now);
        let refused = self.refused.front().map(|completion| completion.completed_ns);
        let answered = self.answered.front().map(|completion| completion.completed_ns);
        match (answered, refused) {
            (Some(answered), Some(refused)) if refused < answered => self.refused.pop_front(),
            (None, Some(_)) => self.refused.pop_front(),
            _ => self.take_answered(now),
        }
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
    use model::units::Offset;
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
            let completion = std::iter::repeat_with(|| {
                now = drive.next_completion_at().unwrap();
                drive.take_completion(now)
            });
            let completion = completion.flatten().next().unwrap();
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

    #[test]
    fn a_slow_range_holds_the_drive() {
        let range = ByteRange::new(Offset(4096), Bytes(1)).unwrap();
        let slow = Fault::Slow { range, longer: Nanos(5000) };
        let answers = read_at(&mut with(slow), &[0, 4096, 8192]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        assert_eq!(ends, [100, 5200, 5300]);
        // Two at once: the one behind it waits too, and its own 100 ns come after.
        let mut drive = with(slow);
        let read = |tag, offset_bytes| Request {
            tag: Tag(tag),
            operation: Operation::Read,
            offset_bytes,
            length_bytes: 512,
        };
        drive.submit(read(0, 4096), Instant(0));
        drive.submit(read(1, 0), Instant(50));
        let ends: Vec<u64> =
            std::iter::from_fn(|| drive.take_completion(Instant(9000))).map(|c| c.completed_ns).collect();
        assert_eq!(ends, [5100, 5200]);
    }

    #[test]
    fn a_drive_may_be_slow_for_a_while() {
        let range = ByteRange::new(Offset(4096), Bytes(1 << 20)).unwrap();
        let (at, duration) = (Instant(150), Nanos(5000));
        let slow = Fault::SlowFor { range, longer: Nanos(3000), at, duration };
        let answers = read_at(&mut with(slow), &[4096, 4096, 4096, 0, 4096, 4096]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        // Those that come at 100 and at 6500 are not in it, and the fourth is at another place.
        assert_eq!(ends, [100, 200, 3300, 3400, 6500, 6600]);
    }

    #[test]
    fn what_is_never_answered_is_given_up() {
        let range = ByteRange::new(Offset(4096), Bytes(1)).unwrap();
        let lost = Fault::TimesOut { range, after: Nanos(1_000_000) };
        let answers = read_at(&mut with(lost), &[0, 4096, 8192]);
        let expected =
            [(Status::Done, 4096, 100), (Status::TimedOut, 0, 1_000_200), (Status::Done, 4096, 1_000_300)];
        assert_eq!(answers, expected);
    }

    #[test]
    fn past_the_end_that_it_says_nothing_wraps() {
        const GIB: u64 = 1 << 30;
        let mut drive = with(Fault::Wraps(Bytes(1 << 20)));
        let answers = read_at(&mut drive, &[GIB - 4096, GIB - 512, GIB, GIB + (5 << 20)]);
        let expected = [
            (Status::Done, 4096, 100),
            (Status::Short, 512, 200),
            (Status::Short, 0, 300),
            (Status::Short, 0, 400),
        ];
        assert_eq!(answers, expected);
        let past = Request { tag: Tag(0), operation: Operation::Write, offset_bytes: GIB, length_bytes: 512 };
        drive.submit(past, Instant(400));
        assert_eq!(drive.take_completion(Instant(500)).map(|answer| answer.status), Some(Status::NoSpace));
    }

    #[test]
    fn a_short_read_moves_no_more_than_there_is() {
        let mut drive = with(Fault::ShortReads { every: 1 });
        let answers = read_at(&mut drive, &[(1 << 30) - 512, 0]);
        assert_eq!(answers, [(Status::Short, 512, 100), (Status::Short, 2048, 200)]);
    }

    #[test]
    fn a_stall_comes_again() {
        let stalls = Fault::Stalls { at: Instant(150), duration: Nanos(1000), every: Nanos(2000) };
        let answers = read_at(&mut with(stalls), &[0; 14]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        let expected = [100, 1150, 1250, 1350, 1450, 1550, 1650, 1750, 1850, 1950, 2050, 3150, 3250, 3350];
        assert_eq!(ends, expected);
    }

    #[test]
    fn wrapped_addresses_are_those_of_the_start() {
        let bad = ByteRange::new(Offset(4096), Bytes(4096)).unwrap();
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        let inner = Box::new(ConstantDrive::new(facts, Nanos(100), 1));
        let mut drive = FaultyDrive::new(inner, vec![Fault::Wraps(Bytes(1 << 20)), Fault::Unreadable(bad)]);
        let statuses: Vec<Status> =
            read_at(&mut drive, &[8192, 4096, (5 << 20) + 4096]).iter().map(|answer| answer.0).collect();
        assert_eq!(statuses, [Status::Done, Status::MediumError, Status::MediumError]);
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
