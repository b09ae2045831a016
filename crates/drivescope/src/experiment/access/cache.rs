//! What the drive's own memory answers: how far it reads on, by pairs of reads with a pause between them, and how much it keeps, by
//! looking back over a stream that was just read.

use super::NAME;
use crate::experiment::preparation::{SEQUENTIAL_DEPTH, phase, random_block};
use crate::experiment::{Experiment, Outlook, Question};
use analysis::cache::{Kept, ReadOn, kept, read_on};
use analysis::stripe::{Arms, Layout};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos, Offset};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};

/// The stream of the seed that draws places.
const PLACES_STREAM: u64 = u64::MAX - 1;
/// From one read of a pair to the other: time for the slowest access, and to read on some MiB after it.
const PAUSE: Nanos = Nanos::from_millis(80);
/// Reads of what was just read, which say how long memory takes.
const READS_AGAIN: usize = 8;
/// Distances that are tried first: powers of four from a block on.
const DISTANCE_MAX: u64 = 64 * MIB;
const REPEATS_FIRST: usize = 3;
/// Then between the two where it ends, twice: of the three octaves' width an eighth is left, and then an eighth of that, 5 %.
const HALVINGS: u32 = 2;
const BETWEEN: u64 = 7;
const REPEATS_BETWEEN: usize = 4;
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
pub(super) struct Cache {
    question: Question,
    prng: Prng,
    stage: Stage,
    /// How the places lie on disks, if it is a stripe of them.
    layout: Option<Layout>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Pairs of reads, with so many halvings done.
    Pairs(u32),
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
    pub fn new(question: &Question) -> Option<Cache> {
        let has_room = question.range.bytes().0 >= 4 * STREAMS[0];
        let prng = Prng::new(question.seed, PLACES_STREAM);
        has_room.then(|| Cache { prng, question: question.clone(), stage: Stage::Pairs(0), layout: None })
    }

    fn block(&self) -> Bytes {
        random_block(&self.question.facts)
    }

    /// A random place with so much behind it.
    fn place(&mut self, room: u64) -> Offset {
        let range = self.question.range;
        let places = (range.bytes().0 - room) / self.block().0;
        Offset(range.first().0 + self.prng.below(places.max(1)) * self.block().0)
    }

    /// What a pair may take, with as much again to spare: on a stripe the second lies on the drive of the first.
    fn room_of_pairs(&self) -> u64 {
        2 * DISTANCE_MAX * self.layout.map_or(1, |layout| u64::from(layout.members))
    }

    /// Pairs of reads so far apart, in random order, each at a place of its own.
    fn pairs(&mut self, mut distances: Vec<u64>, name: &str) -> Phase {
        self.prng.shuffle(&mut distances);
        let mut offsets = Vec::new();
        for distance in distances {
            let first = self.place(self.room_of_pairs());
            let second = self.layout.map_or(first.0 + distance, |layout| layout.farther(first.0, distance));
            offsets.extend([first, Offset(second)]);
        }
        let count = offsets.len() as u64;
        let listed = Pattern::Listed { offsets };
        let spacing = Spacing::Even;
        let reads = Workload {
            arrival: Arrival::OpenLoop { per_second: 1.0 / PAUSE.seconds(), spacing },
            ..Workload::new(self.question.range, listed, OperationMix::Read, self.block(), 1)
        };
        let time = Nanos(PAUSE.0 * (count + 1));
        let stop = StopCondition { operations: Some(count), ..StopCondition::after(Nanos(2 * time.0)) };
        phase(NAME, name.into(), PhaseKind::Measure, Some(reads), stop)
    }

    fn first_pairs(&mut self) -> Phase {
        let block = self.block().0;
        let powers = (0..).map(|power| block << (2 * power)).take_while(|&distance| distance <= DISTANCE_MAX);
        let mut distances: Vec<u64> = powers.flat_map(|distance| [distance; REPEATS_FIRST]).collect();
        distances.extend([0; READS_AGAIN]);
        self.pairs(distances, "pairs of reads, up to 64 MiB apart")
    }

    /// Pairs between the distances where reading on ends, if it does.
    fn pairs_between(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let ReadOn::Found { low: Some(low), high: Some(high), .. } = read_on(so_far) else { return None };
        let (block, room) = (self.block().0, high.0 - low.0);
        let count = (room / block).saturating_sub(1).min(BETWEEN);
        let distance = |index: u64| (low.0 + room * (index + 1) / (count + 1)) / block * block;
        let mut distances: Vec<u64> = (0..count).map(distance).collect();
        distances.dedup();
        let repeated: Vec<u64> =
            distances.into_iter().flat_map(|distance| [distance; REPEATS_BETWEEN]).collect();
        (!repeated.is_empty())
            .then(|| self.pairs(repeated, &format!("pairs of reads, {low} to {high} apart")))
    }

    /// Reads a stretch in order, so that the end of it is what the drive keeps.
    fn stream(&mut self, size: usize) -> Phase {
        let left_off = self.prng.below(STREAMS[size] / LEFT_OFF_PARTS / STREAM_BLOCK.0) * STREAM_BLOCK.0;
        let bytes = Bytes(STREAMS[size] - left_off);
        let range = ByteRange::new(self.place(bytes.0), bytes).expect("a stream lies inside the range");
        let alignment = self.block();
        let reads = Workload {
            alignment,
            ..Workload::new(range, Pattern::Sequential, OperationMix::Read, STREAM_BLOCK, SEQUENTIAL_DEPTH)
        };
        let stop = StopCondition { time: Some(STREAM_TIME_MAX), ..StopCondition::one_pass() };
        phase(NAME, "fill the drive's cache".to_string(), PhaseKind::WarmUp, Some(reads), stop)
    }

    /// Single reads back over a stream, ever farther from its end.
    fn look(&self, stream: ByteRange) -> Phase {
        let block = self.block().0;
        let mut distance = NEAREST.max(block) as f64;
        let mut offsets = Vec::new();
        while (distance as u64) < stream.bytes().0 {
            offsets.push(Offset((stream.end().0 - distance as u64) / block * block));
            distance *= FARTHER;
        }
        offsets.dedup();
        let count = offsets.len() as u64;
        let reads = Workload::new(stream, Pattern::Listed { offsets }, OperationMix::Read, self.block(), 1);
        let stop = StopCondition { operations: Some(count), ..StopCondition::after(Nanos::from_secs(10)) };
        phase(NAME, "look back over what was read".to_string(), PhaseKind::Measure, Some(reads), stop)
    }

    /// After a look: the same again, a longer stream, or no more.
    fn after_look(&self, so_far: &RunView<'_>, size: usize, looks: usize) -> Stage {
        let fits = |size: usize| size < STREAMS.len() && 4 * STREAMS[size] <= self.question.range.bytes().0;
        match kept(so_far) {
            // Streams that memory holds as a whole say no more than that: longer ones do.
            Kept::Found { ends, .. } if ends.len() < LOOKS && looks < LOOKS => Stage::Stream { size, looks },
            Kept::Found { ends, .. } if ends.len() < LOOKS && fits(size + 1) => {
                Stage::Stream { size: size + 1, looks: ends.len() }
            }
            Kept::AtLeast(_) if fits(size + 1) => Stage::Stream { size: size + 1, looks: 0 },
            _ => Stage::Done,
        }
    }
}

impl Experiment for Cache {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        loop {
            match self.stage {
                Stage::Pairs(0) => {
                    self.stage = Stage::Pairs(1);
                    self.layout = Arms::of(so_far, NAME).stripe();
                    if 2 * self.room_of_pairs() > self.question.range.bytes().0 {
                        self.layout = None;
                    }
                    return Some(self.first_pairs());
                }
                Stage::Pairs(done) if done <= HALVINGS => {
                    self.stage = Stage::Pairs(done + 1);
                    if let Some(phase) = self.pairs_between(so_far) {
                        return Some(phase);
                    }
                }
                Stage::Pairs(_) => self.stage = Stage::Stream { size: 0, looks: 0 },
                Stage::Stream { size, looks } => {
                    self.stage = Stage::Look { size, looks: looks + 1 };
                    return Some(self.stream(size));
                }
                Stage::Look { size, looks } => {
                    let last = so_far.phases.last()?;
                    let stream = last.phase.workload.as_ref()?.range;
                    let is_stream = last.phase.kind == PhaseKind::WarmUp;
                    if is_stream && last.bytes() < stream.bytes().0 {
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

    fn outlook(&self) -> Outlook {
        let mut ahead =
            Cache { question: self.question.clone(), prng: self.prng.clone(), stage: self.stage, ..*self };
        let phases = match self.stage {
            Stage::Pairs(0) => vec![ahead.first_pairs(), ahead.stream(0)],
            Stage::Pairs(_) => vec![ahead.stream(0)],
            Stage::Stream { size, .. } => vec![ahead.stream(size)],
            Stage::Look { .. } | Stage::Done => Vec::new(),
        };
        Outlook::of(&phases)
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}
