//! What a run wrote, piece by piece: phases that follow each other with one workload, each with its flush, so that what is only in the
//! drive's memory has not been written yet.

use crate::measured::{Visit, in_no_time};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::workload::{Arrival, Pattern, Workload};

/// A phase of writing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its number in the run.
    pub phase: u32,
    /// When it began, in seconds since the run began.
    pub start_s: f64,
    /// What was written, in bytes.
    pub bytes: f64,
    /// How long that took until it lasted, in seconds.
    pub seconds: f64,
    /// How much of that the flush in the end took, in seconds.
    pub flush_s: f64,
}

/// Pieces that follow each other with nothing in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// The pieces, in the order of time. None is empty.
    pub pieces: Vec<Piece>,
    /// The phases between it and the stream before it.
    pub before: Vec<u32>,
}

/// Everything that a run wrote with the workload that it wrote most with over the widest range.
#[derive(Clone, Debug, PartialEq)]
pub struct History<'run> {
    /// That workload. Where it writes in order, its range is that of the first piece.
    pub workload: &'run Workload,
    /// How wide the range is, in bytes.
    pub span: u64,
    /// The streams, in the order of time: the first until the rate fell, the others after a rest or whatever else was done.
    pub streams: Vec<Stream>,
}

impl Piece {
    /// What that phase wrote, if it wrote anything.
    pub fn of(phase: u32, summary: &PhaseSummary) -> Option<Piece> {
        let bytes = summary.totals_of(Operation::Write)?.bytes as f64;
        let flush_s = summary.flush_ns() as f64 / 1e9;
        let seconds = summary.duration_ns as f64 / 1e9 + flush_s;
        let start_s = summary.start_ns as f64 / 1e9;
        // What took no time at all took less than the clock shows.
        (bytes > 0.0).then_some(Piece { phase, start_s, bytes, seconds: seconds.max(1e-9), flush_s })
    }

    /// What a byte took, in seconds.
    pub fn seconds_per_byte(&self) -> f64 {
        self.seconds / self.bytes
    }
}

impl Stream {
    /// What it wrote, in bytes.
    pub fn bytes(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.seconds).sum()
    }
}

impl<'run> History<'run> {
    /// What that run wrote; none when it wrote nothing that could be measured.
    pub fn of(run: &RunView<'run>) -> Option<History<'run>> {
        let mut kinds: Vec<WritingKind<'run>> = Vec::new();
        for (_, _, workload, piece) in writings(run) {
            match kinds.iter_mut().find(|kind| is_same(kind.workload, workload)) {
                Some(kind) => kind.add(workload, piece.bytes),
                None => kinds.push(WritingKind::new(workload, piece.bytes)),
            }
        }
        let widest = kinds.iter().map(WritingKind::span).max()?;
        let is_wide = |kind: &&WritingKind<'_>| kind.span() == widest;
        let kind = kinds.iter().filter(is_wide).max_by(|one, other| one.bytes.total_cmp(&other.bytes))?;
        let mut history = History { workload: kind.workload, span: kind.span(), streams: Vec::new() };
        let mut last: Option<u32> = None;
        for (phase, _, _, piece) in
            writings(run).filter(|(_, _, workload, _)| is_same(kind.workload, workload))
        {
            match (last, history.streams.last_mut()) {
                (Some(before), Some(stream)) if before + 1 == phase => stream.pieces.push(piece),
                (before, _) => {
                    let from = before.map_or(phase, |before| before + 1);
                    history.streams.push(Stream { pieces: vec![piece], before: (from..phase).collect() });
                }
            }
            last = Some(phase);
        }
        Some(history)
    }

    /// The stream until the rate fell.
    pub fn first(&self) -> &[Piece] {
        self.streams.first().map_or(&[], |stream| &stream.pieces)
    }

    /// The phases of that stream, for evidence.
    pub(crate) fn first_phases(&self) -> Vec<u32> {
        self.first().iter().map(|piece| piece.phase).collect()
    }

    /// Whether all of that stream took no time, as on a drive that is none.
    pub(crate) fn is_in_no_time(&self, run: &RunView<'run>) -> bool {
        let visit = |phase: u32| {
            let summary = run.phases.get(phase as usize)?;
            Some(Visit { phase, summary, workload: self.workload })
        };
        let visits: Vec<Visit<'run>> = self.first_phases().into_iter().filter_map(visit).collect();
        in_no_time(run, &visits)
    }
}

/// The measured phases that write as fast as they can and where they like, with what they wrote, until the drive is prepared anew: what comes then has
/// another beginning.
fn writings<'run>(
    run: &RunView<'run>,
) -> impl Iterator<Item = (u32, &'run PhaseSummary, &'run Workload, Piece)> {
    let is_anew =
        |summary: &PhaseSummary| matches!(summary.phase.kind, PhaseKind::Purge | PhaseKind::Precondition);
    let is_measured = |summary: &PhaseSummary| summary.phase.kind == PhaseKind::Measure;
    let first = run.phases.iter().position(is_measured).unwrap_or(run.phases.len());
    let anew = run.phases[first..].iter().position(is_anew).map_or(run.phases.len(), |after| first + after);
    (0..).zip(&run.phases[..anew]).filter_map(|(number, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        // Listed places are those of probes, which say nothing of writes that go on however widely they lie.
        let fits = summary.phase.kind == PhaseKind::Measure
            && !matches!(workload.pattern, Pattern::Listed { .. })
            && workload.mix.operations().contains(&Operation::Write)
            && workload.arrival == Arrival::ClosedLoop;
        Some((number, summary, workload, Piece::of(number, summary).filter(|_| fits)?))
    })
}

/// Workloads of one kind. Those in order go on where the one before ended.
struct WritingKind<'run> {
    workload: &'run Workload,
    first: u64,
    end: u64,
    bytes: f64,
}

impl<'run> WritingKind<'run> {
    fn new(workload: &'run Workload, bytes: f64) -> WritingKind<'run> {
        WritingKind { workload, first: workload.range.first().0, end: workload.range.end().0, bytes }
    }

    fn add(&mut self, workload: &Workload, bytes: f64) {
        self.first = self.first.min(workload.range.first().0);
        self.end = self.end.max(workload.range.end().0);
        self.bytes += bytes;
    }

    fn span(&self) -> u64 {
        self.end - self.first
    }
}

fn is_same(one: &Workload, other: &Workload) -> bool {
    let in_order = one.pattern == Pattern::Sequential;
    one.pattern == other.pattern
        && one.block_sizes == other.block_sizes
        && one.mix == other.mix
        && one.queue_depth == other.queue_depth
        && one.threads == other.threads
        && (in_order || one.range == other.range)
}
