//! Faults around any virtual drive: unreadable and slow ranges, short reads, stalls, going away, addresses that wrap.
//!
//! A drive that retries or never answers does nothing else meanwhile: its own time stands still. So the time inside
//! runs behind the time outside by all that it stood still. A stall is another thing: only answers are held back.

use crate::fault::kind::{Fault, Wrap};
use crate::fault::placed::{Fate, PlacedFaults};
use crate::fault::profile::FaultProfile;
use crate::{Drive, answer_within, first_at, take_ready};
use model::request::{Completion, Operation, Request, Status};
use model::target::TargetFacts;
use model::units::{Instant, Nanos};
use std::collections::VecDeque;

pub struct FaultyDrive {
    inner: Box<dyn Drive + Send>,
    placed: PlacedFaults,
    stalls: Vec<Fault>,
    /// Of how many reads one is short, for each such fault.
    short_reads: Vec<u64>,
    gone_after: Option<u64>,
    wrap: Option<Wrap>,
    /// How many in flight the drive holds, and how long the system waits for those that it loses.
    hangs_past: Option<(usize, Nanos)>,
    in_flight: usize,
    requests: u64,
    reads: u64,
    gone_at: Option<Instant>,
    fates: Vec<Fate>,
    behind_ns: u64,
    inner_now: u64,
    /// What the drive answered, by when it gets out; if it is gone then, it is changed on its way.
    answered: VecDeque<Completion>,
    /// Answers to requests that came when it was gone.
    refused: VecDeque<Completion>,
}

impl FaultyDrive {
    pub fn new(inner: Box<dyn Drive + Send>, faults: Vec<Fault>) -> FaultyDrive {
        let mut drive = FaultyDrive {
            inner,
            placed: PlacedFaults::new(&faults),
            stalls: Vec::new(),
            short_reads: Vec::new(),
            gone_after: None,
            wrap: None,
            hangs_past: None,
            in_flight: 0,
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
                    drive.gone_after = Some(count.min(drive.gone_after.unwrap_or(count)));
                }
                Fault::GoneAt(at) => drive.gone_at = Some(at.min(drive.gone_at.unwrap_or(at))),
                Fault::Wraps(wrap)
                    if drive.wrap.is_none_or(|other: Wrap| wrap.real_bytes < other.real_bytes) =>
                {
                    drive.wrap = Some(wrap);
                }
                Fault::HangsPastDepth { depth, after } => drive.hangs_past = Some((depth, after)),
                Fault::ShortReads { .. }
                | Fault::Wraps(_)
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
        matches!(self.gone_at, Some(at) if at <= now)
    }

    fn fate(&self, request: &Request, now: Instant) -> Fate {
        let mut fate = self.placed.fate(request, now);
        if let Some((depth, after)) = self.hangs_past
            && self.in_flight > depth
        {
            fate = Fate { answer: Some((Status::TimedOut, 0)), longer_ns: after.get() };
        }
        for every in &self.short_reads {
            if request.operation == Operation::Read && self.reads.is_multiple_of(*every) {
                fate.answer = fate.answer.or(Some((Status::Short, request.length_bytes / 2)));
            }
        }
        fate
    }

    /// Moves a request to where it goes on a drive that holds less than it says, and cuts it off at the stated end.
    fn wrap(&self, request: &mut Request) -> Option<(Status, u32)> {
        let wrap = self.wrap?;
        let (status, moved) = answer_within(self.facts().capacity, request);
        request.offset_bytes = wrap.address(request.offset_bytes);
        request.length_bytes = moved;
        (status != Status::Done).then_some((status, moved))
    }

    /// When an answer that is ready at `ready` gets out.
    fn released_at(&self, ready: Instant) -> Instant {
        let mut released = ready;
        for fault in &self.stalls {
            match *fault {
                Fault::Stall { at, duration } if released >= at => {
                    released = released.max(at.saturating_add(duration));
                }
                Fault::Stalls { at, duration, every } if released >= at && every.get() > 0 => {
                    let into = (released.get() - at.get()) % every.get();
                    released = released.saturating_add(Nanos::new(duration.get().saturating_sub(into)));
                }
                _ => {}
            }
        }
        debug_assert!(released >= ready, "a stall holds back");
        released
    }

    /// When the drive is to be looked at next, by the time outside.
    fn inner_next(&mut self) -> Option<Instant> {
        let at = self.inner.next_completion_at()?;
        Some(Instant::new(at.get().max(self.inner_now).saturating_add(self.behind_ns)))
    }

    /// Takes what the drive has answered by `now`, in the order of time.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.inner_next()
            && at <= now
        {
            debug_assert!(at.get() >= self.behind_ns, "the time inside began at 0");
            self.inner_now = self.inner_now.max(at.get() - self.behind_ns);
            let Some(mut completion) = self.inner.take_completion(Instant::new(self.inner_now)) else {
                continue;
            };
            self.in_flight = self.in_flight.saturating_sub(1);
            let fate = self.fates.get_mut(completion.tag.0 as usize).map(std::mem::take).unwrap_or_default();
            self.behind_ns = self.behind_ns.saturating_add(fate.longer_ns);
            // What the drive itself did not get to, no fault can be met in.
            if let Some((status, bytes)) = fate.answer
                && bytes <= completion.transferred_bytes
            {
                (completion.status, completion.transferred_bytes) = (status, bytes);
            }
            let ready = Instant::new(completion.completed_ns.saturating_add(self.behind_ns));
            completion.completed_ns = self.released_at(ready).get();
            self.answered.push_back(completion);
        }
    }

    fn take_answered(&mut self, now: Instant) -> Option<Completion> {
        let mut completion = take_ready(&mut self.answered, now)?;
        if self.is_gone(Instant::new(completion.completed_ns)) {
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
        if self.gone_at.is_none()
            && let Some(count) = self.gone_after
            && self.requests > count
        {
            self.gone_at = Some(now);
        }
        if self.is_gone(now) {
            self.refused.push_back(Completion {
                tag: request.tag,
                status: Status::DeviceGone,
                transferred_bytes: 0,
                completed_ns: now.get(),
            });
            return;
        }
        self.in_flight += 1;
        let past_end = self.wrap(&mut request);
        let slot = request.tag.0 as usize;
        if self.fates.len() <= slot {
            self.fates.resize(slot + 1, Fate::default());
        }
        let fate = self.fate(&request, now);
        self.fates[slot] = Fate { answer: fate.answer.or(past_end), ..fate };
        self.inner_now = self.inner_now.max(now.get().saturating_sub(self.behind_ns));
        self.inner.submit(request, Instant::new(self.inner_now));
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        let mut next = first_at(&self.answered);
        if next.is_none()
            && let Some(ready) = self.inner_next()
        {
            next = Some(self.released_at(ready));
        }
        [next, first_at(&self.refused)].into_iter().flatten().min()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.advance(now);
        match (first_at(&self.answered), first_at(&self.refused)) {
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
    use model::range::ByteRange;
    use model::request::Tag;
    use model::units::{Bytes, Offset};
    use proptest::prelude::*;

    fn with(fault: Fault) -> FaultyDrive {
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        FaultyDrive::new(Box::new(ConstantDrive::new(facts, Nanos::new(100), 1)), vec![fault])
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
        let bad = ByteRange::new(Offset::new(6000), Bytes::new(1000)).unwrap();
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
        let answers = read_at(&mut with(Fault::GoneAt(Instant::new(150))), &[0, 0, 0]);
        assert_eq!(answers, [(Status::Done, 4096, 100), (gone.0, 0, 200), (gone.0, 0, 200)]);
    }

    #[test]
    fn every_second_read_is_short() {
        let answers = read_at(&mut with(Fault::ShortReads { every: 2 }), &[0, 0]);
        assert_eq!(answers, [(Status::Done, 4096, 100), (Status::Short, 2048, 200)]);
    }

    #[test]
    fn a_stall_holds_back_what_was_due_in_it() {
        let stall = Fault::Stall { at: Instant::new(150), duration: Nanos::new(1000) };
        let answers = read_at(&mut with(stall), &[0, 0, 0]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        assert_eq!(ends, [100, 1150, 1250]);
    }

    #[test]
    fn a_slow_range_holds_the_drive() {
        let range = ByteRange::new(Offset::new(4096), Bytes::new(1)).unwrap();
        let slow = Fault::Slow { range, longer: Nanos::new(5000) };
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
        drive.submit(read(0, 4096), Instant::START);
        drive.submit(read(1, 0), Instant::new(50));
        let ends: Vec<u64> = std::iter::from_fn(|| drive.take_completion(Instant::new(9000)))
            .map(|c| c.completed_ns)
            .collect();
        assert_eq!(ends, [5100, 5200]);
    }

    #[test]
    fn a_drive_may_be_slow_for_a_while() {
        let range = ByteRange::new(Offset::new(4096), Bytes::new(1 << 20)).unwrap();
        let (at, duration) = (Instant::new(150), Nanos::new(5000));
        let slow = Fault::SlowFor { range, longer: Nanos::new(3000), at, duration };
        let answers = read_at(&mut with(slow), &[4096, 4096, 4096, 0, 4096, 4096]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        // Those that come at 100 and at 6500 are not in it, and the fourth is at another place.
        assert_eq!(ends, [100, 200, 3300, 3400, 6500, 6600]);
    }

    #[test]
    fn what_is_never_answered_is_given_up() {
        let range = ByteRange::new(Offset::new(4096), Bytes::new(1)).unwrap();
        let lost = Fault::TimesOut { range, after: Nanos::new(1_000_000) };
        let answers = read_at(&mut with(lost), &[0, 4096, 8192]);
        let expected =
            [(Status::Done, 4096, 100), (Status::TimedOut, 0, 1_000_200), (Status::Done, 4096, 1_000_300)];
        assert_eq!(answers, expected);
    }

    /// Two at once at a drive that holds one: the second is given up, and the third is alone again.
    #[test]
    fn what_comes_while_another_is_in_flight_is_lost() {
        let mut drive = with(Fault::HangsPastDepth { depth: 1, after: Nanos::new(1_000_000) });
        let read =
            |tag| Request { tag: Tag(tag), operation: Operation::Read, offset_bytes: 0, length_bytes: 512 };
        drive.submit(read(0), Instant::START);
        drive.submit(read(1), Instant::START);
        let mut answers = Vec::new();
        while let Some(at) = drive.next_completion_at() {
            answers.extend(drive.take_completion(at).map(|c| (c.status, c.completed_ns)));
        }
        assert_eq!(answers, [(Status::Done, 100), (Status::TimedOut, 1_000_200)]);
        drive.submit(read(2), Instant::new(2_000_000));
        let done = std::iter::from_fn(|| drive.take_completion(Instant::new(9_000_000))).next().unwrap();
        assert_eq!(done.status, Status::Done);
    }

    #[test]
    fn past_the_end_that_it_says_nothing_wraps() {
        const GIB: u64 = 1 << 30;
        let mut drive = with(Fault::Wraps(Wrap { real_bytes: 1 << 20, spared_bytes: 0 }));
        let answers = read_at(&mut drive, &[GIB - 4096, GIB - 512, GIB, GIB + (5 << 20)]);
        let expected = [
            (Status::Done, 4096, 100),
            (Status::Short, 512, 200),
            (Status::Short, 0, 300),
            (Status::Short, 0, 400),
        ];
        assert_eq!(answers, expected);
        let past = Request { tag: Tag(0), operation: Operation::Write, offset_bytes: GIB, length_bytes: 512 };
        drive.submit(past, Instant::new(400));
        assert_eq!(
            drive.take_completion(Instant::new(500)).map(|answer| answer.status),
            Some(Status::NoSpace)
        );
    }

    #[test]
    fn a_short_read_moves_no_more_than_there_is() {
        let mut drive = with(Fault::ShortReads { every: 1 });
        let answers = read_at(&mut drive, &[(1 << 30) - 512, 0]);
        assert_eq!(answers, [(Status::Short, 512, 100), (Status::Short, 2048, 200)]);
    }

    #[test]
    fn a_stall_comes_again() {
        let stalls =
            Fault::Stalls { at: Instant::new(150), duration: Nanos::new(1000), every: Nanos::new(2000) };
        let answers = read_at(&mut with(stalls), &[0; 14]);
        let ends: Vec<u64> = answers.iter().map(|answer| answer.2).collect();
        let expected = [100, 1150, 1250, 1350, 1450, 1550, 1650, 1750, 1850, 1950, 2050, 3150, 3250, 3350];
        assert_eq!(ends, expected);
    }

    #[test]
    fn wrapped_addresses_are_those_of_the_start() {
        let bad = ByteRange::new(Offset::new(4096), Bytes::new(4096)).unwrap();
        let facts = plain_facts("sim:test", Bytes::from_gib(1));
        let inner = Box::new(ConstantDrive::new(facts, Nanos::new(100), 1));
        let mut drive = FaultyDrive::new(
            inner,
            vec![Fault::Wraps(Wrap { real_bytes: 1 << 20, spared_bytes: 0 }), Fault::Unreadable(bad)],
        );
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
                Fault::Stall { at: Instant::new(stall_at * 100_000), duration: Nanos::new(stall * 100_000) },
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
                prop_assert!(completion.completed_ns <= now.get());
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
