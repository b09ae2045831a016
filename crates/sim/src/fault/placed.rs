//! Faults that have a place, found without looking at all of them: weak spots may be many, and each request asks.

use crate::fault::kind::Fault;
use model::range::ByteRange;
use model::request::{Request, Status};
use model::units::{Bytes, Instant, Offset};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fate {
    /// What it is answered instead of what the drive says.
    pub answer: Option<(Status, u32)>,
    pub longer_ns: u64,
}

struct Placed {
    range: ByteRange,
    fault: Fault,
    /// Its place in the list that it comes from: of several answers the first one's counts.
    rank: usize,
    /// How far this and all that begin before it reach.
    reach: u64,
}

pub(super) struct PlacedFaults(Vec<Placed>);

impl PlacedFaults {
    pub fn new(faults: &[Fault]) -> PlacedFaults {
        let placed = faults.iter().enumerate().filter_map(|(rank, fault)| {
            let range = range_of(fault)?;
            Some(Placed { range, fault: *fault, rank, reach: 0 })
        });
        let mut placed: Vec<Placed> = placed.collect();
        placed.sort_by_key(|one| one.range.first());
        let mut reach = 0;
        for one in &mut placed {
            reach = reach.max(one.range.end().get());
            one.reach = reach;
        }
        PlacedFaults(placed)
    }

    pub fn fate(&self, request: &Request, now: Instant) -> Fate {
        let mut fate = Fate::default();
        if self.0.is_empty() {
            return fate;
        }
        let length = Bytes::new(u64::from(request.length_bytes));
        let Some(stretch) = ByteRange::new(Offset::new(request.offset_bytes), length) else { return fate };
        let mut first_rank = usize::MAX;
        let begun = self.0.partition_point(|one| one.range.first() < stretch.end());
        let reaching = self.0[..begun].iter().rev().take_while(|one| one.reach > stretch.first().get());
        for one in reaching {
            if !(one.range.overlaps(&stretch)) {
                continue;
            }
            let (answer, longer_ns) = met(&one.fault, request, now);
            fate.longer_ns = fate.longer_ns.saturating_add(longer_ns);
            if answer.is_some() && one.rank < first_rank {
                (fate.answer, first_rank) = (answer, one.rank);
            }
        }
        fate
    }
}

fn range_of(fault: &Fault) -> Option<ByteRange> {
    match fault {
        Fault::Unreadable(range)
        | Fault::Slow { range, .. }
        | Fault::SlowFor { range, .. }
        | Fault::TimesOut { range, .. } => Some(*range),
        _ => None,
    }
}

/// What meeting a fault of a place does to a request: another answer, and how much longer it takes.
fn met(fault: &Fault, request: &Request, now: Instant) -> (Option<(Status, u32)>, u64) {
    match fault {
        Fault::Unreadable(bad) => {
            let before = bad.first().get().saturating_sub(request.offset_bytes);
            (Some((Status::MediumError, before as u32)), 0)
        }
        Fault::Slow { longer, .. } => (None, longer.get()),
        Fault::SlowFor { longer, at, duration, .. } => {
            let is_now = (*at..at.saturating_add(*duration)).contains(&now);
            (None, if is_now { longer.get() } else { 0 })
        }
        Fault::TimesOut { after, .. } => (Some((Status::TimedOut, 0)), after.get()),
        _ => (None, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::{Operation, Tag};
    use model::units::Nanos;
    use proptest::prelude::*;

    fn any_fault() -> impl Strategy<Value = Fault> {
        let range = (0u64..2000, 1u64..300).prop_map(|(first, bytes)| {
            ByteRange::new(Offset::new(first), Bytes::new(bytes)).expect("it does not wrap")
        });
        prop_oneof![
            range.clone().prop_map(Fault::Unreadable),
            (range.clone(), 0u64..99)
                .prop_map(|(range, longer)| Fault::Slow { range, longer: Nanos::new(longer) }),
            (range.clone(), 0u64..99).prop_map(|(range, longer)| Fault::SlowFor {
                range,
                longer: Nanos::new(longer),
                at: Instant::new(5),
                duration: Nanos::new(10),
            }),
            range.prop_map(|range| Fault::TimesOut { range, after: Nanos::new(7) }),
            Just(Fault::GoneAfter(3)),
        ]
    }

    proptest! {
        /// What the search finds is what looking at every fault in turn finds.
        #[test]
        fn the_search_finds_all(
            faults in proptest::collection::vec(any_fault(), 0..40),
            offset_bytes in 0u64..2500,
            length_bytes in 1u32..600,
            now in 0u64..20,
        ) {
            let request = Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes };
            let end = offset_bytes + u64::from(length_bytes);
            let mut expected = Fate::default();
            for fault in &faults {
                let Some(range) = range_of(fault) else { continue };
                if range.first().get() < end && range.end().get() > offset_bytes {
                    let (answer, longer_ns) = met(fault, &request, Instant::new(now));
                    expected.answer = expected.answer.or(answer);
                    expected.longer_ns += longer_ns;
                }
            }
            prop_assert_eq!(PlacedFaults::new(&faults).fate(&request, Instant::new(now)), expected);
        }
    }
}
