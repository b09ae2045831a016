//! What the drive's own memory answers: how far it reads on, by pairs of reads with a pause between them, for how many streams side by
//! side, and how much it keeps, by looking back over a stream that was just read.

use crate::preparation::{SEQUENTIAL_DEPTH, measure, phase, random_block};
use crate::{Experiment, Remaining, Setup};
use analysis::cache::{Kept, ReadOn, kept, read_on};
use analysis::stripe::{Arms, Layout, has_several_arms};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};

const PLACES_STREAM: u64 = u64::MAX - 1;
/// From one read of a pair to the other: time for the slowest access, and to read on some MiB after it.
const PAUSE: Nanos = Nanos::from_millis(80);
/// The same where only the next block is asked for: a slow access of 25 ms, and two revolutions of prefetch.
const PAUSE_FOR_NEXT: Nanos = Nanos::from_millis(50);
/// Reads of what was just read, which say how long memory takes.
const READS_AGAIN: usize = 8;
/// Distances that are tried first: powers of four from a block on.
const DISTANCE_MAX: u64 = 64 * MIB;
const REPEATS_FIRST: usize = 2;
/// Then between the two where it ends, three times: of two octaves' width a quarter is left each time, 5 % in the end. Each pair costs
/// two pauses, and fewer distances at a time need fewer pairs for the same end.
const QUARTERINGS: u32 = 3;
const BETWEEN: u64 = 3;
const REPEATS_BETWEEN: usize = 3;
/// Reads at unrelated offsets, whose next blocks are read then: more than the 16 to 32 segments that are usual.
const INTERLEAVED: usize = 48;
/// Streams to look back over, each longer than the last; four that are longer than what is kept. Of each, up to an eighth is left off at
/// random: a cache is given up piece by piece, and where in a piece a stream ends must not be always the same. The reads
/// stay of one size, a power of two: of others some lie half within what was read on, and what is read twice is kept twice.
const STREAMS: [u64; 3] = [64 * MIB, 256 * MIB, 1024 * MIB];
const LEFT_OFF_PARTS: u64 = 8;
const STREAM_BLOCK: Bytes = Bytes::from_kib(128);
const LOOKS: usize = 4;
/// Reads back over a stream: each so much farther than the one before, from the first on.
const FARTHER: f64 = 1.025;
const NEAREST: u64 = MIB / 4;
/// A stream that takes longer is cut short, and not looked back over.
const STREAM_TIME_MAX: Nanos = Nanos::from_secs(20);

/// The part of `access` that asks for the drive's own memory.
const LOOK_TIME_MAX: Nanos = Nanos::from_secs(10);

pub(super) struct Cache {
    setup: Setup,
    prng: Prng,
    stage: Stage,
    layout: Option<Layout>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pairs(u32),
    Interleaved,
    /// A stream of that size number is to be read, and then looked back over.
    Stream {
        size: usize,
        looks: usize,
    },
    /// The look back over the stream that was read last.
    Look {
        size: usize,
        looks: usize,
    },
    Done,
}

impl Cache {
    /// The questions for a range that has room for them.
    pub fn new(setup: &Setup) -> Option<Cache> {
        if setup.range.bytes().get() < 4 * STREAMS[0] {
            return None;
        }
        let prng = Prng::new(setup.seed, PLACES_STREAM);
        Some(Cache { prng, setup: setup.clone(), stage: Stage::Pairs(0), layout: None })
    }

    fn block(&self) -> Bytes {
        random_block(&self.setup.facts)
    }

    fn place(&mut self, room: u64) -> Offset {
        let range = self.setup.range;
        let places = (range.bytes().get() - room) / self.block().get();
        Offset::new(range.first().get() + self.prng.below(places.max(1)) * self.block().get())
    }

    /// What a pair may take, with as much again to spare: on a stripe the second lies on the drive of the first.
    fn room_of_pairs(&self) -> u64 {
        match self.layout {
            Some(layout) => 2 * DISTANCE_MAX * u64::from(layout.members),
            None => 2 * DISTANCE_MAX,
        }
    }

    fn pairs(&mut self, mut distances: Vec<u64>, name: &str) -> Phase {
        self.prng.shuffle(&mut distances);
        let mut offsets = Vec::new();
        for distance in distances {
            let first = self.place(self.room_of_pairs());
            let second = match self.layout {
                Some(layout) => layout.farther(first.get(), distance),
                None => first.get() + distance,
            };
            offsets.extend([first, Offset::new(second)]);
        }
        self.paused(offsets, PAUSE, name.into())
    }

    fn paused(&self, offsets: Vec<Offset>, pause: Nanos, name: String) -> Phase {
        let count = offsets.len() as u64;
        let listed = Pattern::Listed { offsets };
        let spacing = Spacing::Even;
        let reads = Workload {
            arrival: Arrival::OpenLoop { per_second: 1.0 / pause.seconds(), spacing },
            ..Workload::new(self.setup.range, listed, OperationMix::Read, self.block(), 1)
        };
        let stop = StopCondition::after(pause * (count + 1) * 2).or_operations(count);
        measure(ExperimentName::Access, name, reads, stop)
    }

    fn first_pairs(&mut self) -> Phase {
        let block = self.block().get();
        let mut distances = Vec::new();
        let mut distance = block;
        while distance <= DISTANCE_MAX {
            distances.extend([distance; REPEATS_FIRST]);
            distance <<= 2;
        }
        distances.extend([0; READS_AGAIN]);
        self.pairs(distances, "pairs of reads, up to 64 MiB apart")
    }

    /// A read in each of many places, then the block behind each, the newest first: what a hit touches is not what the next one needs.
    fn interleaved(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let prefetches =
            matches!(read_on(so_far, self.layout), ReadOn::Found { low: Some(low), .. } if low > Bytes::ZERO);
        // A stripe keeps the streams of each member apart.
        if !prefetches || has_several_arms(so_far) {
            return None;
        }
        let mut offsets: Vec<Offset> = (0..INTERLEAVED).map(|_| self.place(2 * self.block().get())).collect();
        for stream in (0..INTERLEAVED).rev() {
            offsets.push(Offset::new(offsets[stream].get() + self.block().get()));
        }
        Some(self.paused(offsets, PAUSE_FOR_NEXT, "interleaved streams".into()))
    }

    fn pairs_between(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let ReadOn::Found { low: Some(low), high: Some(high), .. } = read_on(so_far, self.layout) else {
            return None;
        };
        let (block, room) = (self.block().get(), high.get() - low.get());
        let count = (room / block).saturating_sub(1).min(BETWEEN);
        let mut distances: Vec<u64> =
            (0..count).map(|index| (low.get() + room * (index + 1) / (count + 1)) / block * block).collect();
        distances.dedup();
        if distances.is_empty() {
            return None;
        }
        let mut repeated = Vec::new();
        for distance in distances {
            repeated.extend([distance; REPEATS_BETWEEN]);
        }
        Some(self.pairs(repeated, &format!("pairs of reads, {low} to {high} apart")))
    }

    /// Of a drive that prefetches less than usual requests ask for: the largest power of two that lies within it.
    fn stream_block(&self, so_far: &RunView<'_>) -> Bytes {
        match read_on(so_far, self.layout) {
            ReadOn::Found { low: Some(low), .. } if low >= self.block() && low < STREAM_BLOCK => {
                Bytes::new(1 << low.get().ilog2())
            }
            _ => STREAM_BLOCK,
        }
    }

    fn stream(&mut self, size: usize, stream_block: Bytes) -> Phase {
        let left_off =
            self.prng.below(STREAMS[size] / LEFT_OFF_PARTS / STREAM_BLOCK.get()) * STREAM_BLOCK.get();
        let bytes = Bytes::new(STREAMS[size] - left_off);
        let range = ByteRange::new(self.place(bytes.get()), bytes).expect("a stream lies inside the range");
        let alignment = self.block();
        let reads = Workload {
            alignment,
            ..Workload::new(range, Pattern::Sequential, OperationMix::Read, stream_block, SEQUENTIAL_DEPTH)
        };
        let stop = StopCondition { time: Some(STREAM_TIME_MAX), ..StopCondition::one_pass() };
        phase(ExperimentName::Access, "fill the drive's cache".into(), PhaseKind::WarmUp, reads, stop)
    }

    /// Single reads back over a stream, ever farther from its end.
    fn look(&self, stream: ByteRange) -> Phase {
        let block = self.block().get();
        let mut distance = NEAREST.max(block) as f64;
        let mut offsets = Vec::new();
        while (distance as u64) < stream.bytes().get() {
            offsets.push(Offset::new((stream.end().get() - distance as u64) / block * block));
            distance *= FARTHER;
        }
        offsets.dedup();
        let count = offsets.len() as u64;
        let reads = Workload::new(stream, Pattern::Listed { offsets }, OperationMix::Read, self.block(), 1);
        let stop = StopCondition::after(LOOK_TIME_MAX).or_operations(count);
        measure(ExperimentName::Access, "reread earlier reads".into(), reads, stop)
    }

    fn fits(&self, size: usize) -> bool {
        size < STREAMS.len() && 4 * STREAMS[size] <= self.setup.range.bytes().get()
    }

    /// After a look: the same again, a longer stream, or no more.
    fn after_look(&self, so_far: &RunView<'_>, size: usize, looks: usize) -> Stage {
        match kept(so_far) {
            // Streams that memory holds as a whole say no more than that: longer ones do.
            Kept::Found { ends, .. } if ends.len() < LOOKS && looks < LOOKS => Stage::Stream { size, looks },
            Kept::Found { ends, .. } if ends.len() < LOOKS && self.fits(size + 1) => {
                Stage::Stream { size: size + 1, looks: ends.len() }
            }
            Kept::AtLeast(_) if self.fits(size + 1) => Stage::Stream { size: size + 1, looks: 0 },
            _ => Stage::Done,
        }
    }
}

impl Experiment for Cache {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        loop {
            match self.stage {
                Stage::Pairs(0) => {
                    self.stage = Stage::Pairs(1);
                    self.layout = Arms::of(so_far).stripe();
                    if 2 * self.room_of_pairs() > self.setup.range.bytes().get() {
                        self.layout = None;
                    }
                    return Some(self.first_pairs());
                }
                Stage::Pairs(done) if done <= QUARTERINGS => {
                    self.stage = Stage::Pairs(done + 1);
                    if let Some(phase) = self.pairs_between(so_far) {
                        return Some(phase);
                    }
                }
                Stage::Pairs(_) => self.stage = Stage::Interleaved,
                Stage::Interleaved => {
                    self.stage = Stage::Stream { size: 0, looks: 0 };
                    if let Some(phase) = self.interleaved(so_far) {
                        return Some(phase);
                    }
                }
                Stage::Stream { size, looks } => {
                    self.stage = Stage::Look { size, looks: looks + 1 };
                    let block = self.stream_block(so_far);
                    return Some(self.stream(size, block));
                }
                Stage::Look { size, looks } => {
                    let last = so_far.phases.last()?;
                    let stream = last.phase.workload.as_ref()?.range;
                    let is_stream = last.phase.kind == PhaseKind::WarmUp;
                    if is_stream && last.bytes() < stream.bytes().get() {
                        self.stage = Stage::Done;
                    } else if is_stream {
                        return Some(self.look(stream));
                    } else {
                        self.stage = self.after_look(so_far, size, looks);
                    }
                }
                Stage::Done => return None,
            }
        }
    }

    fn remaining(&self) -> Remaining {
        let mut ahead =
            Cache { setup: self.setup.clone(), prng: self.prng.clone(), stage: self.stage, ..*self };
        let phases = match self.stage {
            Stage::Pairs(0) => vec![ahead.first_pairs(), ahead.stream(0, STREAM_BLOCK)],
            Stage::Pairs(_) | Stage::Interleaved => vec![ahead.stream(0, STREAM_BLOCK)],
            Stage::Stream { size, .. } => vec![ahead.stream(size, STREAM_BLOCK)],
            Stage::Look { .. } | Stage::Done => Vec::new(),
        };
        Remaining::of(&phases)
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}
