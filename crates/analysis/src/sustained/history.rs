//! What a run wrote: consecutive phases of one workload, each with its flush, without which it is only in the drive's memory.

use super::batch::{Batch, Stream, bytes_of};
use super::drop::{Standing, standing};
use crate::measured::phases_in_no_time;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::RunView;
use model::units::Offset;
use model::workload::{Arrival, Pattern, Workload};

/// Everything that a run wrote with the workload that it wrote most with over the widest range.
#[derive(Clone, Debug, PartialEq)]
pub struct History<'run> {
    /// That workload. Where it writes in order, its range is that of the first batch.
    pub workload: &'run Workload,
    pub span: u64,
    /// The streams, in the order of time: the first until the rate fell, the others after a rest or whatever else was done.
    pub streams: Vec<Stream>,
}

impl<'run> History<'run> {
    pub fn of(run: &RunView<'run>) -> Option<History<'run>> {
        let mut kinds: Vec<WritingKind<'run>> = Vec::new();
        for (workload, batch) in writings(run) {
            match kinds.iter_mut().find(|kind| is_same(kind.workload, workload)) {
                Some(kind) => kind.add(workload, batch.bytes),
                None => kinds.push(WritingKind::new(workload, batch.bytes)),
            }
        }
        let mut most: Option<&WritingKind<'_>> = None;
        for kind in &kinds {
            let is_more = match most {
                None => true,
                Some(most) if kind.span() == most.span() => kind.bytes.total_cmp(&most.bytes).is_ge(),
                Some(most) => kind.span() > most.span(),
            };
            if is_more {
                most = Some(kind);
            }
        }
        let kind = most?;
        let mut history = History { workload: kind.workload, span: kind.span(), streams: Vec::new() };
        let mut last: Option<u32> = None;
        for (workload, batch) in writings(run) {
            if !is_same(kind.workload, workload) {
                continue;
            }
            let phase = batch.phase;
            match (last, history.streams.last_mut()) {
                (Some(before), Some(stream)) if before + 1 == phase => stream.batches.push(batch),
                (before, _) => {
                    let from = if let Some(before) = before { before + 1 } else { phase };
                    history.streams.push(Stream { batches: vec![batch], before: (from..phase).collect() });
                }
            }
            last = Some(phase);
        }
        Some(history)
    }

    pub fn first(&self) -> &[Batch] {
        match self.streams.first() {
            Some(stream) => &stream.batches,
            None => &[],
        }
    }

    /// How many of its batches were written in order from the start of the range again, behind others; 0 as long as it did not go back.
    pub fn batches_again(&self, run: &RunView<'_>) -> usize {
        if self.workload.pattern != Pattern::Sequential {
            return 0;
        }
        let mut again = 0;
        for pair in self.first().windows(2) {
            if first_byte(run, &pair[1]) < first_byte(run, &pair[0]) {
                again = 1;
            } else if again > 0 {
                again += 1;
            }
        }
        again
    }

    pub fn written(&self) -> f64 {
        bytes_of(self.first())
    }

    pub(crate) fn went_on(&self) -> bool {
        let batches = self.first();
        let before_last = &batches[..batches.len().saturating_sub(1)];
        matches!(standing(before_last), Standing::Fell(_))
    }

    pub(crate) fn phases_between(&self) -> Vec<u32> {
        self.streams.iter().skip(1).flat_map(|stream| &stream.before).copied().collect()
    }

    pub(crate) fn first_phases(&self) -> Vec<u32> {
        self.first().iter().map(|batch| batch.phase).collect()
    }

    /// Whether all of that stream took no time, as on a drive that is none.
    pub(crate) fn is_in_no_time(&self, run: &RunView<'run>) -> bool {
        let written = self.first().iter().filter_map(|batch| run.phases.get(batch.phase as usize));
        phases_in_no_time(run, written)
    }
}

fn first_byte(run: &RunView<'_>, batch: &Batch) -> Option<Offset> {
    Some(run.phases.get(batch.phase as usize)?.phase.workload.as_ref()?.range.first())
}

/// The measured phases that write as fast as they can and where they like, with what they wrote, until the drive is prepared anew.
fn writings<'run>(run: &RunView<'run>) -> impl Iterator<Item = (&'run Workload, Batch)> {
    let mut is_measured = false;
    let until_anew = (0..).zip(run.phases).take_while(move |(_, summary)| {
        // Reads before the first preparation change nothing.
        is_measured |=
            summary.phase.kind == PhaseKind::Measure && summary.totals_of(Operation::Write).is_some();
        !is_measured || !matches!(summary.phase.kind, PhaseKind::Purge | PhaseKind::Precondition)
    });
    until_anew.filter_map(|(number, summary)| {
        let workload = summary.phase.workload.as_ref()?;
        // Listed places are those of probes, which say nothing of writes that go on however widely they lie.
        let fits = summary.phase.kind == PhaseKind::Measure
            && !matches!(workload.pattern, Pattern::Listed { .. })
            && workload.mix.operations().contains(&Operation::Write)
            && workload.arrival == Arrival::ClosedLoop;
        if fits { Some((workload, Batch::of(number, summary)?)) } else { None }
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
        WritingKind { workload, first: workload.range.first().get(), end: workload.range.end().get(), bytes }
    }

    fn add(&mut self, workload: &Workload, bytes: f64) {
        self.first = self.first.min(workload.range.first().get());
        self.end = self.end.max(workload.range.end().get());
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
