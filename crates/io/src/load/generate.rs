//! Turns a workload and a seed into requests and the moments at which they are meant to arrive.
//!
//! Several workers share one workload: each has its own stream, and together they make every request of a pass
//! exactly once. What a stream yields depends on workload, seed and worker alone, never on the drive.

use model::commit::{Beside, BesideLoad, Commits, Log};
use model::permutation::Permutation;
use model::prng::Prng;
use model::range::ByteRange;
use model::request::{Operation, Tag};
use model::units::{Bytes, NANOS_PER_SECOND};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub operation: Operation,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub index: u32,
    pub count: u32,
}

impl Share {
    pub fn of(self, whole: u64) -> u64 {
        assert!(self.index < self.count, "a worker is one of all");
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        whole / count + u64::from(index < whole % count)
    }
}

pub struct RequestStream {
    places: Places,
    sizes: Sizes,
    mix: OperationMix,
    prng: Prng,
    arrivals: Option<Arrivals>,
    range_first: u64,
    range_bytes: u64,
    beside: Option<Box<OtherStream>>,
}

/// The load beside commits, of a worker that serves both: its requests have the tags from the first on.
struct OtherStream {
    first: Tag,
    stream: RequestStream,
}

enum Places {
    /// By the number of the request: worker `index` makes numbers index, index + count, …
    Counted {
        walk: Walk,
        next: u64,
        step: u64,
        per_pass: u64,
    },
    Drawn {
        zones: Vec<(f64, ByteRange)>,
        alignment: u64,
        largest: u64,
    },
    Runs {
        range: ByteRange,
        alignment: u64,
        largest: u64,
        random_share: f64,
        at: u64,
    },
}

enum Walk {
    Sequential { first: u64, block: u64 },
    Permuted { first: u64, block: u64, permutation: Permutation, pass: u64, seed: u64 },
    Strided { first: u64, block: u64, blocks_per_stride: u64, columns: u64, blocks: u64 },
    Listed { offsets: Vec<u64> },
}

enum Sizes {
    One(u32),
    Mix(Vec<(f64, u32)>),
}

struct Arrivals {
    mean_ns: f64,
    spacing: Spacing,
    at_ns: f64,
}

impl RequestStream {
    /// The stream of one worker. The workload has been validated; the stream of the PRNG is the phase's number.
    pub fn new(workload: &Workload, seed: u64, phase: u32, share: Share) -> RequestStream {
        let Some((commits, beside)) = parts(workload) else {
            return RequestStream::plain(workload, seed, phase, share);
        };
        let committers = workload.threads;
        if share.count == 1 {
            let mut stream = RequestStream::plain(workload, seed, phase, share);
            if let Some(beside) = &beside {
                let other = RequestStream::plain(beside, seed ^ BESIDE, phase, share);
                stream.beside = Some(Box::new(OtherStream { first: Tag(committers), stream: other }));
            }
            return stream;
        }
        match beside {
            Some(beside) if share.index >= committers => {
                let share = Share { index: share.index - committers, count: beside.queue_depth };
                RequestStream::plain(&beside, seed ^ BESIDE, phase, share)
            }
            _ if commits.log == Log::OverwriteEach => {
                let alone = Share { index: 0, count: 1 };
                RequestStream::plain(workload, seed ^ u64::from(share.index), phase, alone)
            }
            _ => RequestStream::plain(workload, seed, phase, Share { count: committers, ..share }),
        }
    }

    fn plain(workload: &Workload, seed: u64, phase: u32, share: Share) -> RequestStream {
        let stream = (u64::from(phase) << 32) | u64::from(share.index);
        let mut prng = Prng::new(seed, stream);
        // All workers need the same order of blocks, so it has a stream of its own.
        let pass_seed = Prng::new(seed, (u64::from(phase) << 32) | u64::from(u32::MAX)).next_u64();
        RequestStream {
            places: Places::new(workload, pass_seed, share, &mut prng),
            sizes: Sizes::new(workload),
            mix: workload.mix,
            arrivals: Arrivals::new(workload.arrival, share, &mut prng),
            prng,
            range_first: workload.range.first().get(),
            range_bytes: workload.range.bytes().get(),
            beside: None,
        }
    }

    /// How many requests a pass of the whole workload has; without an order, as many as move the range's size.
    pub fn requests_per_pass(workload: &Workload) -> u64 {
        let mean: f64 = workload.block_sizes.parts().iter().map(|(size, share)| size.as_f64() * share).sum();
        match &workload.pattern {
            Pattern::Listed { offsets } => offsets.len() as u64,
            _ => ((workload.range.align_inward(workload.alignment).bytes().as_f64() / mean) as u64).max(1),
        }
    }

    /// The next request. Panics rather than touch a byte outside the range of the workload.
    #[inline]
    pub fn next_request(&mut self, tag: Tag) -> Planned {
        if self.beside.is_some() {
            return self.next_beside_commits(tag);
        }
        self.planned()
    }

    /// Kept out of the way of all other requests.
    #[cold]
    #[inline(never)]
    fn next_beside_commits(&mut self, tag: Tag) -> Planned {
        match &mut self.beside {
            Some(other) if tag >= other.first => other.stream.planned(),
            _ => self.planned(),
        }
    }

    #[inline]
    fn planned(&mut self) -> Planned {
        let length_bytes = match &self.sizes {
            Sizes::One(size) => *size,
            Sizes::Mix(parts) => draw(parts, self.prng.unit()),
        };
        let offset_bytes = self.places.next(u64::from(length_bytes), &mut self.prng);
        // Offsets before the range wrap round, and are too far as well.
        let end = offset_bytes.wrapping_sub(self.range_first).saturating_add(u64::from(length_bytes));
        assert!(end <= self.range_bytes, "a request lies within the range of its workload");
        let operation = match self.mix {
            OperationMix::Read => Operation::Read,
            OperationMix::Write => Operation::Write,
            OperationMix::Discard => Operation::Discard,
            OperationMix::ReadWrite { read_share } if self.prng.unit() < read_share => Operation::Read,
            OperationMix::ReadWrite { .. } => Operation::Write,
            OperationMix::Commit(_) => Operation::Commit,
        };
        Planned { operation, offset_bytes, length_bytes }
    }

    /// When the next request is meant to arrive, in nanoseconds since the phase began; none in a closed loop.
    #[inline]
    pub fn next_arrival_ns(&self) -> Option<u64> {
        self.arrivals.as_ref().map(|arrivals| arrivals.at_ns as u64)
    }

    #[inline]
    pub fn pass_arrival(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            let spacing = match arrivals.spacing {
                Spacing::Even => 1.0,
                Spacing::Poisson => self.prng.exponential(),
            };
            arrivals.at_ns += arrivals.mean_ns * spacing;
        }
    }
}

/// Changes the seed of the load beside commits.
const BESIDE: u64 = u64::from_le_bytes(*b"besides!");

/// Of a workload of commits: what they are, and the workload beside them.
fn parts(workload: &Workload) -> Option<(Commits, Option<Workload>)> {
    let commits = workload.mix.commits()?;
    let beside = commits.beside.map(|Beside { load, range }| {
        let (pattern, mix) = match load {
            BesideLoad::RandomReads => (Pattern::RandomWithReplacement, OperationMix::Read),
            BesideLoad::SequentialWrites => (Pattern::Sequential, OperationMix::Write),
        };
        Workload::new(range, pattern, mix, load.block(), load.depth())
    });
    Some((commits, beside))
}

impl Arrivals {
    fn new(arrival: Arrival, share: Share, prng: &mut Prng) -> Option<Arrivals> {
        let Arrival::OpenLoop { per_second, spacing } = arrival else { return None };
        let overall_ns = NANOS_PER_SECOND as f64 / per_second;
        let mean_ns = overall_ns * f64::from(share.count);
        let at_ns = match spacing {
            Spacing::Even => overall_ns * f64::from(share.index),
            Spacing::Poisson => mean_ns * prng.exponential(),
        };
        Some(Arrivals { mean_ns, spacing, at_ns })
    }
}

impl Sizes {
    fn new(workload: &Workload) -> Sizes {
        let size_of = |size: Bytes| u32::try_from(size.get()).expect("a validated block is at most 64 MiB");
        if let Some(size) = workload.block_sizes.single() {
            return Sizes::One(size_of(size));
        }
        Sizes::Mix(cumulative(
            workload.block_sizes.parts().iter().map(|(size, share)| (*share, size_of(*size))),
        ))
    }
}

impl Places {
    fn new(workload: &Workload, pass_seed: u64, share: Share, prng: &mut Prng) -> Places {
        let alignment = workload.alignment;
        let range = workload.range.align_inward(alignment);
        let block = workload.block_sizes.largest();
        let blocks = range.bytes().get() / block.get();
        let counted = |walk, per_pass| Places::Counted {
            walk,
            next: u64::from(share.index),
            step: u64::from(share.count),
            per_pass,
        };
        let first = range.first().get();
        match &workload.pattern {
            Pattern::Sequential => counted(Walk::Sequential { first, block: block.get() }, blocks),
            Pattern::RandomOnce => counted(Walk::permuted(first, block.get(), blocks, pass_seed), blocks),
            Pattern::Strided { stride } => {
                let blocks_per_stride = (stride.get() / block.get()).max(1);
                let columns = blocks.div_ceil(blocks_per_stride);
                let walk = Walk::Strided { first, block: block.get(), blocks_per_stride, columns, blocks };
                counted(walk, columns * blocks_per_stride)
            }
            Pattern::Listed { offsets } => {
                let offsets: Vec<u64> = offsets.iter().map(|offset| offset.get()).collect();
                let per_pass = offsets.len() as u64;
                counted(Walk::Listed { offsets }, per_pass)
            }
            Pattern::RandomWithReplacement => {
                Places::Drawn { zones: vec![(1.0, range)], alignment: alignment.get(), largest: block.get() }
            }
            Pattern::Zoned { zones } => {
                let mut from = 0.0;
                let parts = zones.iter().map(|zone| {
                    let part = slice(&range, from, from + zone.share_of_range, alignment, block);
                    from += zone.share_of_range;
                    (zone.share_of_requests, part)
                });
                Places::Drawn { zones: cumulative(parts), alignment: alignment.get(), largest: block.get() }
            }
            Pattern::Mixed { random_share } => Places::Runs {
                range,
                alignment: alignment.get(),
                largest: block.get(),
                random_share: *random_share,
                at: place_in(&range, alignment.get(), block.get(), prng),
            },
        }
    }

    #[inline]
    fn next(&mut self, length: u64, prng: &mut Prng) -> u64 {
        match self {
            Places::Counted { walk, next, step, per_pass } => loop {
                let number = *next;
                *next += *step;
                if let Some(offset) = walk.offset(number / *per_pass, number % *per_pass) {
                    return offset;
                }
            },
            Places::Drawn { zones, alignment, largest } => {
                let range = draw(zones, prng.unit());
                place_in(&range, *alignment, *largest, prng)
            }
            Places::Runs { range, alignment, largest, random_share, at } => {
                if prng.unit() < *random_share || *at + length > range.end().get() {
                    *at = place_in(range, *alignment, *largest, prng);
                }
                let offset = *at;
                *at = (offset + length).next_multiple_of(*alignment);
                offset
            }
        }
    }
}

impl Walk {
    fn permuted(first: u64, block: u64, blocks: u64, seed: u64) -> Walk {
        let permutation = Permutation::new(blocks, &mut Prng::new(seed, 0));
        Walk::Permuted { first, block, permutation, pass: 0, seed }
    }

    /// The place of block `number` of a pass; none for a gap of a stride that the range does not fill.
    #[inline]
    fn offset(&mut self, pass: u64, number: u64) -> Option<u64> {
        match self {
            Walk::Sequential { first, block } => Some(*first + number * *block),
            Walk::Permuted { first, block, permutation, pass: current, seed } => {
                if pass != *current {
                    *permutation = Permutation::new(permutation.count(), &mut Prng::new(*seed, pass));
                    *current = pass;
                }
                Some(*first + permutation.apply(number) * *block)
            }
            Walk::Strided { first, block, blocks_per_stride, columns, blocks } => {
                let (row, column) = (number / *columns, number % *columns);
                let index = column * *blocks_per_stride + row;
                if index < *blocks { Some(*first + index * *block) } else { None }
            }
            Walk::Listed { offsets } => Some(offsets[number as usize]),
        }
    }
}

/// A place for a block of `largest` in `range`, on the grid of `alignment`. The range has room for one.
#[inline]
fn place_in(range: &ByteRange, alignment: u64, largest: u64, prng: &mut Prng) -> u64 {
    debug_assert!(range.bytes().get() >= largest, "the range has room for a request");
    debug_assert!(range.first().get().is_multiple_of(alignment), "a range begins on its grid");
    let places = range.bytes().get().saturating_sub(largest) / alignment + 1;
    range.first().get() + prng.below(places) * alignment
}

/// The part of `range` between two shares of it, its start moved to the grid. It has room for a block of `largest`,
/// as the range has: a smaller part grows, backwards where it would otherwise grow past the end of the range.
fn slice(range: &ByteRange, from: f64, to: f64, alignment: Bytes, largest: Bytes) -> ByteRange {
    let at =
        |share: f64| Bytes::new((range.bytes().as_f64() * share.min(1.0)) as u64).round_down_to(alignment);
    let last = Bytes::new(range.bytes().get().saturating_sub(largest.get())).round_down_to(alignment);
    let first = at(from).min(last);
    let end = if to > 1.0 - 1e-9 { range.bytes() } else { at(to).max(first + largest) };
    ByteRange::new(range.first() + first, end - first).expect("a part of a range is a range")
}

/// Shares to cumulative shares; the last is 1 whatever rounding left.
fn cumulative<T>(parts: impl Iterator<Item = (f64, T)>) -> Vec<(f64, T)> {
    let mut sum = 0.0;
    let mut all: Vec<(f64, T)> = parts
        .map(|(share, value)| {
            sum += share;
            (sum, value)
        })
        .collect();
    if let Some(last) = all.last_mut() {
        last.0 = 1.0;
    }
    all
}

#[inline]
fn draw<T: Copy>(cumulative: &[(f64, T)], unit: f64) -> T {
    // Of one there is nothing to search, and most workloads have one range.
    if let [(_, only)] = cumulative {
        return *only;
    }
    let index = cumulative.partition_point(|(sum, _)| *sum <= unit).min(cumulative.len() - 1);
    cumulative[index].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Offset;
    use model::workload::{BlockSizes, ZoneShare};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const BLOCK: u64 = 4096;
    const ALONE: Share = Share { index: 0, count: 1 };

    fn workload(pattern: Pattern, first: u64, blocks: u64) -> Workload {
        let range = ByteRange::new(Offset::new(first), Bytes::new(blocks * BLOCK)).unwrap();
        Workload::new(range, pattern, OperationMix::Read, Bytes::new(BLOCK), 1)
    }

    fn offsets(workload: &Workload, seed: u64, share: Share, count: usize) -> Vec<u64> {
        let mut stream = RequestStream::new(workload, seed, 0, share);
        (0..count).map(|_| stream.next_request(Tag(0)).offset_bytes).collect()
    }

    #[test]
    fn sequential_goes_on_and_begins_again() {
        let seen = offsets(&workload(Pattern::Sequential, 8192, 3), 1, ALONE, 5);
        assert_eq!(seen, [8192, 12288, 16384, 8192, 12288]);
    }

    #[test]
    fn a_stride_wraps_into_its_gaps() {
        let pattern = Pattern::Strided { stride: Bytes::new(2 * BLOCK) };
        let seen: Vec<u64> =
            offsets(&workload(pattern, 0, 5), 1, ALONE, 6).iter().map(|o| o / BLOCK).collect();
        assert_eq!(seen, [0, 2, 4, 1, 3, 0]);
    }

    #[test]
    fn a_list_is_followed() {
        let offsets_given = vec![Offset::new(8192), Offset::START, Offset::new(4096)];
        let seen = offsets(&workload(Pattern::Listed { offsets: offsets_given }, 0, 9), 1, ALONE, 4);
        assert_eq!(seen, [8192, 0, 4096, 8192]);
    }

    #[test]
    fn a_second_pass_has_another_order() {
        let seen = offsets(&workload(Pattern::RandomOnce, 0, 64), 1, ALONE, 128);
        let sets: Vec<BTreeSet<_>> = seen.chunks(64).map(|pass| pass.iter().collect()).collect();
        assert!(sets.iter().all(|set| set.len() == 64));
        assert_ne!(seen[..64], seen[64..]);
    }

    #[test]
    fn zones_get_their_share() {
        let zones = vec![
            ZoneShare { share_of_range: 0.05, share_of_requests: 0.5 },
            ZoneShare { share_of_range: 0.95, share_of_requests: 0.5 },
        ];
        let seen = offsets(&workload(Pattern::Zoned { zones }, 0, 10_000), 1, ALONE, 10_000);
        let hot = seen.iter().filter(|&&offset| offset < 500 * BLOCK).count();
        // 5 standard deviations of a binomial with n = 10000, p = 0.5 are 250.
        assert!(hot.abs_diff(5000) < 250, "{hot}");
    }

    #[test]
    fn a_mixed_pattern_runs_and_jumps() {
        let seen = offsets(&workload(Pattern::Mixed { random_share: 0.25 }, 0, 100_000), 1, ALONE, 10_000);
        let runs = seen.windows(2).filter(|pair| pair[1] == pair[0] + BLOCK).count();
        // 5 standard deviations of a binomial with n = 10000, p = 0.75 are 217.
        assert!(runs.abs_diff(7500) < 217, "{runs}");
    }

    #[test]
    fn arrivals_keep_their_rate() {
        for spacing in [Spacing::Even, Spacing::Poisson] {
            let mut workload = workload(Pattern::Sequential, 0, 10);
            workload.arrival = Arrival::OpenLoop { per_second: 1000.0, spacing };
            let mut stream = RequestStream::new(&workload, 3, 0, Share { index: 1, count: 4 });
            (0..10_000).for_each(|_| stream.pass_arrival());
            let seconds = stream.next_arrival_ns().unwrap() as f64 / 1e9;
            // A quarter of 1000/s: 10000 arrivals take 40 s; 5 standard deviations of their sum are 2 s.
            assert!((seconds - 40.0).abs() < 2.0, "{spacing:?} {seconds}");
        }
    }

    fn any_pattern() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            Just(Pattern::Sequential),
            Just(Pattern::RandomOnce),
            Just(Pattern::RandomWithReplacement),
            (1u64..20).prop_map(|blocks| Pattern::Strided { stride: Bytes::new(blocks * BLOCK) }),
            (0.0f64..=1.0).prop_map(|random_share| Pattern::Mixed { random_share }),
        ]
    }

    proptest! {
        #[test]
        fn nothing_outside_the_range_is_touched(
            pattern in any_pattern(), first in 0u64..1 << 40, bytes in 3 * BLOCK..1 << 30, seed in any::<u64>(),
            mixed_sizes in any::<bool>(),
        ) {
            let mut load = workload(pattern, 0, 1);
            load.range = ByteRange::new(Offset::new(first), Bytes::new(bytes)).unwrap();
            if mixed_sizes && load.pattern != Pattern::RandomOnce {
                load.block_sizes = BlockSizes::mix(vec![(Bytes::new(BLOCK), 1.0), (Bytes::new(2 * BLOCK), 1.0)]).unwrap();
            }
            let capacity = Bytes::new(first + bytes);
            prop_assume!(load.validate(capacity, Bytes::new(512)).is_ok());
            let mut stream = RequestStream::new(&load, seed, 7, ALONE);
            for _ in 0..200 {
                let planned = stream.next_request(Tag(0));
                let block = ByteRange::new(Offset::new(planned.offset_bytes), Bytes::new(u64::from(planned.length_bytes))).unwrap();
                prop_assert!(load.range.contains(&block), "{block:?} in {:?}", load.range);
                prop_assert_eq!(planned.offset_bytes % BLOCK, 0);
            }
        }

        #[test]
        fn workers_make_a_pass_together(
            blocks in 1u64..200, workers in 1u32..8, random in any::<bool>(), seed in any::<u64>(),
        ) {
            let pattern = if random { Pattern::RandomOnce } else { Pattern::Sequential };
            let load = workload(pattern, 0, blocks);
            let mut seen = Vec::new();
            for index in 0..workers {
                let mine = (u64::from(index)..blocks).step_by(workers as usize).count();
                seen.extend(offsets(&load, seed, Share { index, count: workers }, mine));
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..blocks).map(|block| block * BLOCK).collect::<Vec<_>>());
        }
    }
}
