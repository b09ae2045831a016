//! Verdicts on volumes of a few lines: arms that serve one read after the other in the order in which they came.

use super::read;
use super::*;
use model::prng::Prng;
use model::units::{Bytes, KIB};
use model::workload::OperationMix;
use proptest::prelude::*;

const RANGE: u64 = 1 << 40;
const DEPTH: u64 = 16;

#[derive(Clone, Copy, Debug)]
enum Routing {
    Stripe(Layout),
    /// The next of so many that share all.
    Turns(u32),
    /// Of two that share all an idle one, else the one that was nearer last.
    Nearest,
    /// Of two, the one that has that quarter of the range.
    Pieces,
}

impl Routing {
    fn arms(self) -> u32 {
        match self {
            Routing::Stripe(layout) => layout.members,
            Routing::Turns(arms) => arms,
            Routing::Nearest | Routing::Pieces => 2,
        }
    }
}

fn listed(bytes: u64) -> Workload {
    let range = ByteRange::whole(Bytes::new(bytes));
    let pattern = Pattern::Listed { offsets: Vec::new() };
    Workload::new(range, pattern, OperationMix::Read, Bytes::new(4096), DEPTH as u32)
}

/// So many reads, `depth` at a time, each 5 to 15 ms of its arm.
fn phase(routing: Routing, depth: u64, count: u64, prng: &mut Prng) -> Vec<IoRecord> {
    phase_within(RANGE, routing, depth, count, prng)
}

fn phase_within(range: u64, routing: Routing, depth: u64, count: u64, prng: &mut Prng) -> Vec<IoRecord> {
    let mut heads = [0u64; 2];
    let mut free_ns = vec![0u64; routing.arms() as usize];
    // When each of the places in the queue is free for the next read.
    let mut places_ns = vec![0u64; depth as usize];
    let mut reads = Vec::new();
    for number in 0..count {
        let offset = prng.below(range / 4096) * 4096;
        let place = (0..places_ns.len()).min_by_key(|&place| places_ns[place]).expect("a place");
        let submitted_ns = places_ns[place];
        let arm = match routing {
            Routing::Stripe(layout) => layout.member_of(offset),
            Routing::Turns(arms) => (number % u64::from(arms)) as usize,
            Routing::Nearest => {
                let cost = |arm: &usize| (free_ns[*arm] > submitted_ns, heads[*arm].abs_diff(offset));
                (0..2).min_by_key(cost).expect("two arms")
            }
            Routing::Pieces => (offset / (RANGE / 4) % 2) as usize,
        };
        heads[arm % 2] = offset;
        let completed_ns = free_ns[arm].max(submitted_ns) + 5_000_000 + prng.below(10_000_000);
        (free_ns[arm], places_ns[place]) = (completed_ns, completed_ns);
        reads.push(read(offset, submitted_ns, completed_ns));
    }
    reads
}

fn verdict(routing: Routing, answers: u64, seed: u64) -> Verdict {
    let mut prng = Prng::new(seed, 0);
    let crowd = phase(routing, DEPTH, answers, &mut prng);
    verdict_on(phase(routing, 1, 64, &mut prng), crowd)
}

fn verdict_on(singles: Vec<IoRecord>, crowd: Vec<IoRecord>) -> Verdict {
    let mut reads = Reads::over(ByteRange::whole(Bytes::new(RANGE)));
    reads.add_singles(0, singles.into_iter());
    reads.add_crowd(1, &listed(RANGE), crowd.into_iter());
    reads.verdict()
}

/// Two disks that sort their queues: of k that wait a read is answered the sooner the more there are, in 1/√k of the time, so
/// that only a little of the waiting shows on which of them it lies.
fn sorting_stripe(layout: Layout, count: u64, prng: &mut Prng) -> Vec<IoRecord> {
    let draw = |prng: &mut Prng| prng.below(RANGE / 4096) * 4096;
    let mut waiting: [Vec<(u64, u64)>; 2] = [Vec::new(), Vec::new()];
    // When the read that each disk is at ends, and which it is.
    let mut under_way: [Option<(u64, IoRecord)>; 2] = [None, None];
    for _ in 0..DEPTH {
        let offset = draw(prng);
        waiting[layout.member_of(offset)].push((offset, 0));
    }
    let (mut now_ns, mut reads) = (0, Vec::new());
    while (reads.len() as u64) < count {
        for arm in 0..2 {
            if under_way[arm].is_none() && !waiting[arm].is_empty() {
                let among = waiting[arm].len();
                let (offset, asked_ns) = waiting[arm].swap_remove(prng.below(among as u64) as usize);
                let alone_ns = (5_000_000 + prng.below(10_000_000)) as f64;
                let end_ns = now_ns + (alone_ns / (among as f64).sqrt()) as u64;
                under_way[arm] = Some((end_ns, read(offset, asked_ns, end_ns)));
            }
        }
        let ends = |arm: &usize| under_way[*arm].as_ref().map_or(u64::MAX, |(end_ns, _)| *end_ns);
        let next = (0..2).min_by_key(ends).expect("one of two");
        let (end_ns, answered) = under_way[next].take().expect("something is under way");
        now_ns = end_ns;
        reads.push(answered);
        let offset = draw(prng);
        waiting[layout.member_of(offset)].push((offset, now_ns));
    }
    reads
}

/// Who waits for whom says nothing on such disks, however long one looks, and no more on a mirror: but two places of one of the
/// disks are never answered within a moment.
#[test]
fn a_stripe_of_disks_that_sort_their_queues_is_no_mirror() {
    let layout = Layout { members: 2, chunk_bytes: 512 * KIB };
    for seed in 0..12 {
        let mut prng = Prng::new(seed, 1);
        let singles = phase(Routing::Turns(1), 1, 64, &mut prng);
        match verdict_on(singles, sorting_stripe(layout, 2500, &mut prng)) {
            Verdict::Stripe { layout: found, .. } if found == layout => {}
            Verdict::Open { more_helps: true, .. } => {}
            other => panic!("{seed}: {other:?}"),
        }
    }
}

#[test]
fn one_arm_is_one_drive() {
    assert_eq!(verdict(Routing::Turns(1), 384, 1), Verdict::One);
}

#[test]
fn arms_that_share_all_are_a_mirror() {
    assert_eq!(verdict(Routing::Turns(2), 4000, 1), Verdict::Mirror { members: 2 });
    assert_eq!(verdict(Routing::Turns(3), 10_000, 1), Verdict::Mirror { members: 3 });
}

/// Linux sends reads of a busy mirror to the nearest head. In a small part either arm answers; of pieces one does.
#[test]
fn a_small_part_tells_a_mirror_from_pieces() {
    for (routing, expected) in [(Routing::Nearest, Some(2)), (Routing::Pieces, None)] {
        let mut prng = Prng::new(1, 0);
        let mut reads = Reads::over(ByteRange::whole(Bytes::new(RANGE)));
        reads.add_singles(0, phase(routing, 1, 64, &mut prng).into_iter());
        reads.add_crowd(1, &listed(RANGE), phase(routing, DEPTH, 6000, &mut prng).into_iter());
        let open = reads.verdict();
        assert!(reads.needs_narrow(&open), "{routing:?}: {open:?}");
        let part = RANGE / 100;
        reads.add_crowd(2, &listed(part), phase_within(part, routing, DEPTH, 1024, &mut prng).into_iter());
        match reads.verdict() {
            Verdict::Mirror { members } => assert_eq!(Some(members), expected),
            verdict => {
                assert!(expected.is_none() && !reads.needs_narrow(&verdict), "{routing:?}: {verdict:?}")
            }
        }
    }
}

/// Two arms of which each serves in order. Within a fifth of the quickest accesses too few pairs fall to tell them from three.
#[test]
fn arms_that_serve_in_order_are_counted_by_pairs_within_half_an_access() {
    let (mut by_short, mut by_both) = (0, 0);
    for seed in 0..12 {
        let mut prng = Prng::new(seed, 0);
        let crowd = phase(Routing::Turns(2), DEPTH, 1200, &mut prng);
        let singles = phase(Routing::Turns(2), 1, 64, &mut prng);
        let mut reads = Reads::over(ByteRange::whole(Bytes::new(RANGE)));
        reads.add_singles(0, singles.into_iter());
        reads.add_crowd(1, &listed(RANGE), crowd.into_iter());
        let short = reads.coincidence().expect("pairs");
        by_short += u32::from(count_of_arms(&short.all) == Some(2));
        match reads.verdict() {
            Verdict::Mirror { members: 2 } => by_both += 1,
            Verdict::Open { more_helps: true, .. } => {}
            other => panic!("{seed}: {other:?}"),
        }
    }
    assert!(by_both >= by_short + 3, "{by_short} and {by_both} of 12");
}

#[test]
fn too_few_reads_leave_it_open() {
    let layout = Layout { members: 4, chunk_bytes: 64 * KIB };
    assert!(matches!(verdict(Routing::Stripe(layout), 100, 1), Verdict::Open { more_helps: true, .. }));
    let none = Reads::over(ByteRange::whole(Bytes::new(RANGE)));
    assert!(matches!(none.verdict(), Verdict::Open { more_helps: false, .. }));
}

#[test]
fn what_takes_no_time_or_always_the_same_has_no_arm() {
    let of = |latency_ns: u64| {
        let mut reads = Reads::over(ByteRange::whole(Bytes::new(RANGE)));
        let io = |number: u64| read(number * 4096, number * latency_ns, (number + 1) * latency_ns);
        reads.add_singles(0, (0..64).map(io));
        reads.add_crowd(1, &listed(RANGE), (0..999).map(io));
        reads.verdict()
    };
    assert!(matches!(of(1000), Verdict::Open { more_helps: false, .. }));
    assert!(matches!(of(5_000_000), Verdict::Still { layout: None, .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_stripe_is_told_exactly(members in 2u32..=8, power in 2u32..=8, seed in any::<u64>()) {
        let layout = Layout { members, chunk_bytes: (4 * KIB) << power };
        match verdict(Routing::Stripe(layout), 6000, seed) {
            Verdict::Stripe { layout: found, .. } => prop_assert_eq!(found, layout),
            other => prop_assert!(false, "{:?} for {:?}", other, layout),
        }
    }
}
