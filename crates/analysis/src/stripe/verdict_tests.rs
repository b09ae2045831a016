//! Verdicts on volumes of a few lines: arms that serve one read after the other in the order in which they came.

use super::crowd::tests::read;
use super::*;
use model::prng::Prng;
use model::units::{Bytes, KIB};
use proptest::prelude::*;

const RANGE: u64 = 1 << 40;
const DEPTH: u64 = 16;

/// Which arm a read goes to.
#[derive(Clone, Copy, Debug)]
enum Routing {
    Stripe(Layout),
    /// The next of so many that share all.
    Turns(u32),
}

impl Routing {
    fn arms(self) -> u32 {
        match self {
            Routing::Stripe(layout) => layout.members,
            Routing::Turns(arms) => arms,
        }
    }
}

/// So many reads, `depth` at a time, each 5 to 15 ms of its arm.
fn phase(routing: Routing, depth: u64, count: u64, prng: &mut Prng) -> Vec<IoRecord> {
    let mut free_ns = vec![0u64; routing.arms() as usize];
    // When each of the places in the queue is free for the next read.
    let mut places_ns = vec![0u64; depth as usize];
    let mut reads = Vec::new();
    for number in 0..count {
        let offset = prng.below(RANGE / 4096) * 4096;
        let arm = match routing {
            Routing::Stripe(layout) => layout.member_of(offset),
            Routing::Turns(arms) => (number % u64::from(arms)) as usize,
        };
        let place = (0..places_ns.len()).min_by_key(|&place| places_ns[place]).expect("a place");
        let submitted_ns = places_ns[place];
        let completed_ns = free_ns[arm].max(submitted_ns) + 5_000_000 + prng.below(10_000_000);
        (free_ns[arm], places_ns[place]) = (completed_ns, completed_ns);
        reads.push(read(offset, submitted_ns, completed_ns));
    }
    reads
}

fn verdict(routing: Routing, answers: u64, seed: u64) -> Verdict {
    let mut prng = Prng::new(seed, 0);
    let mut reads = Reads::over(ByteRange::whole(Bytes(RANGE)));
    reads.add_singles(0, phase(routing, 1, 64, &mut prng).into_iter());
    reads.add_crowd(1, DEPTH, phase(routing, DEPTH, answers, &mut prng).into_iter());
    reads.verdict()
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

#[test]
fn too_few_reads_leave_it_open() {
    let layout = Layout { members: 4, chunk_bytes: 64 * KIB };
    assert!(matches!(verdict(Routing::Stripe(layout), 100, 1), Verdict::Open { more_helps: true, .. }));
    let none = Reads::over(ByteRange::whole(Bytes(RANGE)));
    assert!(matches!(none.verdict(), Verdict::Open { more_helps: false, .. }));
}

#[test]
fn what_takes_no_time_or_always_the_same_has_no_arm() {
    let of = |latency_ns: u64| {
        let mut reads = Reads::over(ByteRange::whole(Bytes(RANGE)));
        let io = |number: u64| read(number * 4096, number * latency_ns, (number + 1) * latency_ns);
        reads.add_singles(0, (0..64).map(io));
        reads.add_crowd(1, DEPTH, (0..999).map(io));
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
